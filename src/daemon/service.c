/* SPDX-License-Identifier: MIT */
/* Start and end of the daemon: what can be refused is opened first, listeners
 * and logs with the privileges of the start, which are then dropped; then the
 * threads start. A process that takes over from another serves only after all
 * of its loops have answered, and the other has been told. Thread: main. */
#include "daemon/service.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/fault.h"
#include "daemon/privileges.h"

/* Exit code of a failed library call. */
static int exit_code(int error)
{
    switch (error) {
    case RESTD_EADDRINUSE:
        return EX_UNAVAILABLE;
    case RESTD_EACCES:
        return EX_NOPERM;
    case RESTD_EOS:
    case RESTD_ENOMEM:
        return EX_OSERR;
    case RESTD_EINVAL:
    case RESTD_ERANGE:
    case RESTD_ENOENT:
    case RESTD_EEXIST:
    case RESTD_EBUDGET:
    case RESTD_ELIMIT:
        return EX_CONFIG;
    default:
        return EXIT_FAILURE;
    }
}

/* --- start, in its order ------------------------------------------------- */

static int take_over(struct rd_service *s, struct restd_error *error)
{
    int rc = rd_takeover_begin(&s->takeover, error);
    if (rd_notify_open(&s->notify) != 0) {
        fprintf(stderr, "restdaemon: NOTIFY_SOCKET cannot be used\n");
    }
    return rc == 0 ? rd_activation_take(&s->activation, error) : rc;
}

static int make_servers(struct rd_service *s, struct rd_config *config,
                        struct restd_error *error)
{
    struct restd_options options;
    int rc =
        rd_logsink_configure(s->sink, &config->log, &config->access_log, error);
    if (rc != 0) {
        return rc;
    }
    rd_service_options(s, config, &options);
    rc = restd_server_new(&options, &s->server, error);
    if (rc == 0) {
        rc = rd_status_new(s->server, s->sink, &s->status, error);
    }
    if (rc == 0 && rd_config_has_admin(config)) {
        rc = rd_admin_new(&s->admin, s->server, &options, s->status, error);
    }
    return rc;
}

/* The names have been looked up when the configuration was checked; here it is
 * done once more, as a group may come with the user. */
static int drop_privileges(struct rd_service *s, const struct rd_config *config,
                           struct restd_error *error)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (config->user != NULL) {
        const struct passwd *user = getpwnam(config->user);
        if (user == NULL) {
            return rd_fault(error, RESTD_ENOENT, "user \"%s\" is not known",
                            config->user);
        }
        uid = user->pw_uid;
        gid = user->pw_gid;
    }
    if (config->group != NULL) {
        const struct group *group = getgrnam(config->group);
        if (group == NULL) {
            return rd_fault(error, RESTD_ENOENT, "group \"%s\" is not known",
                            config->group);
        }
        gid = group->gr_gid;
    }
    if (config->user != NULL || config->group != NULL) {
        if (geteuid() == 0) {
            rd_logsink_give(s->sink, uid, gid);
        }
        int rc = rd_privileges_drop(uid, gid, config->user, error);
        if (rc != 0) {
            return rc;
        }
    }
    rd_privileges_core_dumps(config->core_dumps);
    return 0;
}

static int fill_router(struct rd_service *s, struct rd_config *config,
                       struct restd_error *error)
{
    const char *names[RD_SERVICE_LISTENERS_MAX];
    struct rd_snapshot_parts parts;
    rd_service_parts(s, names, &parts);
    int rc =
        rd_snapshot_fill(restd_server_router(s->server), config, &parts, error);
    if (rc != 0) {
        return rc;
    }
    s->config = config;
    s->facts.backlog = config->options.backlog;
    rd_service_note_loaded(s);
    return 0;
}

/* The admin listener's connections too are the old process's until it has let
 * go. */
static void accept_all(const struct rd_service *s, int on)
{
    restd_server_accept(s->server, on);
    if (s->admin.server != NULL) {
        restd_server_accept(s->admin.server, on);
    }
}

static int start_servers(struct rd_service *s, struct restd_error *error)
{
    struct restd_stats stats;
    int rc = 0;
    accept_all(s, s->takeover.fd < 0);
    if (s->admin.server != NULL) {
        rc = restd_server_start(s->admin.server, error);
    }
    if (rc == 0) {
        rc = restd_server_start(s->server, error);
    }
    if (rc == 0 && s->takeover.fd >= 0) {
        restd_server_stats(s->server, &stats);
        rc = rd_takeover_probe(s->server, stats.workers, error);
    }
    return rc;
}

/* --- ready --------------------------------------------------------------- */

void rd_service_keep_paths(struct rd_service *s, int keep)
{
    restd_server_keep_paths(s->server, keep);
    if (s->admin.server != NULL) {
        restd_server_keep_paths(s->admin.server, keep);
    }
}

static int make_pidfile(struct rd_service *s, const struct rd_config *config,
                        struct restd_error *error)
{
    return config->pid_file == NULL || s->takeover.fd >= 0
               ? 0
               : rd_pidfile_create(&s->pidfile, config->pid_file, error);
}

static void get_ready(struct rd_service *s)
{
    struct restd_error error;
    int took_over = s->takeover.fd >= 0;
    rd_takeover_finish(&s->takeover);
    rd_service_keep_paths(s, 0);
    accept_all(s, 1);
    rd_service_log_last(s, s->listeners_n);
    rd_service_store_begin(s);
    rd_activation_fini(&s->activation);
    if (took_over && s->config->pid_file != NULL &&
        rd_pidfile_take_over(&s->pidfile, s->config->pid_file, &error) != 0) {
        restd_server_log(s->server, RESTD_LOG_WARNING, "upgrade: %s",
                         error.message);
    }
    rd_takeover_confirm(&s->takeover);
    rd_notify_send(&s->notify, "READY=1\nSTATUS=serving");
    rd_service_store(s);
    rd_daemonize_ready(s->daemonize);
}

static int start(struct rd_service *s, struct rd_config *config,
                 struct restd_error *error)
{
    int rc = take_over(s, error);
    if (rc == 0) {
        rc = make_pidfile(s, config, error);
    }
    if (rc == 0) {
        rc = make_servers(s, config, error);
    }
    if (rc == 0) {
        /* The old process's, should this one fail. */
        rd_service_keep_paths(s, s->takeover.fd >= 0);
        int n = rd_service_listen(s, config, error);
        rc = n < 0 ? n : 0;
    }
    if (rc == 0) {
        rc = drop_privileges(s, config, error);
    }
    if (rc == 0) {
        rc = fill_router(s, config, error);
    }
    if (rc == 0) {
        rc = start_servers(s, error);
    }
    if (rc == 0) {
        get_ready(s);
    }
    return rc;
}

int rd_service_run(struct rd_service *s, struct rd_config *config)
{
    struct restd_error error = {0};
    int code;
    rd_upgrade_init(&s->upgrade);
    int rc = start(s, config, &error);
    if (rc == 0) {
        code = rd_service_wait(s);
    } else {
        fprintf(stderr, "restdaemon: %s\n", error.message);
        rd_notify_send(&s->notify, "STATUS=%.200s\nERRNO=%d", error.message,
                       error.os_errno);
        code = exit_code(rc);
        if (s->server != NULL) {
            restd_server_stop(s->server);
        }
    }
    rd_admin_fini(&s->admin);
    rd_status_free(s->status);
    restd_server_free(s->server);
    if (s->config == NULL) {
        rd_config_free(config);
    }
    rd_pidfile_remove(&s->pidfile);
    rd_notify_fini(&s->notify);
    return code;
}
