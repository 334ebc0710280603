/* SPDX-License-Identifier: MIT */
/* Reload: everything that can fail comes first and touches nothing that
 * serves. The file is read and checked, the new listeners are bound, the new
 * log is opened, the routes are built; then the library takes routes and
 * options, or refuses them; only then does the log move, and are the listeners
 * closed that are not wanted any more.
 * Thread: main. */
#include "daemon/service.h"

#include <stdio.h>
#include <string.h>

#include "daemon/clock.h"
#include "daemon/fault.h"

/* Same text, or both none. */
static int same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* What only a start can change. */
static int check_fixed(const struct rd_service *s, const struct rd_config *next,
                       struct restd_error *error)
{
    const struct rd_config *now = s->config;
    const struct {
        const char *name;
        int is_same;
    } fixed[] = {{"user", same(now->user, next->user)},
                 {"group", same(now->group, next->group)},
                 {"pid_file", same(now->pid_file, next->pid_file)},
                 {"daemon", now->daemon == next->daemon},
                 {"core_dumps", now->core_dumps == next->core_dumps},
                 {"memory_budget", now->options.memory_budget_bytes ==
                                       next->options.memory_budget_bytes}};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (!fixed[i].is_same) {
            return rd_fault(error, RESTD_ESTATE, "%s: a change needs a restart",
                            fixed[i].name);
        }
    }
    return 0;
}

void rd_service_options(const struct rd_service *s,
                        const struct rd_config *config,
                        struct restd_options *options)
{
    *options = config->options;
    options->log = rd_logsink_write;
    options->log_flush = rd_logsink_flush;
    options->log_data = s->sink;
    /* Its server stays when its last listener goes. */
    int has_admin = s->config == NULL ? rd_config_has_admin(config)
                                      : s->admin.server != NULL;
    if (has_admin) {
        options->memory_budget_bytes -= RD_ADMIN_MEMORY_BYTES;
    }
}

/* Takes the configuration in any case: into the new routes, or to its end. */
static int publish(struct rd_service *s, struct rd_config *next,
                   struct restd_error *error)
{
    const char *names[RD_SERVICE_LISTENERS_MAX];
    struct rd_snapshot_parts parts;
    struct restd_options options;
    struct restd_router *router = NULL;
    rd_service_parts(s, names, &parts);
    int rc = restd_router_new(RESTD_ROUTER_EXACT, &router);
    if (rc != 0) {
        rc = rd_fault(error, rc, "out of memory");
    } else {
        rc = rd_snapshot_fill(router, next, &parts, error);
    }
    if (rc != 0) {
        restd_router_free(router);
        rd_config_free(next);
        return rc;
    }
    rd_service_options(s, next, &options);
    rc = restd_server_reload(s->server, &options, router, error);
    if (rc != 0) {
        restd_router_free(router);
        return rc;
    }
    s->config = next;
    return 0;
}

/* With the new listeners open: opens the log, publishes, moves the log. Takes
 * the configuration as publish() does. */
static int apply_with_log(struct rd_service *s, struct rd_config *next,
                          struct restd_error *error)
{
    struct rd_logsink_setup log;
    int rc =
        rd_logsink_open(s->sink, &log, &next->log, &next->access_log, error);
    if (rc != 0) {
        rd_config_free(next);
        return rc;
    }
    rc = publish(s, next, error);
    if (rc == 0) {
        rd_logsink_use(s->sink, &log);
    } else {
        rd_logsink_drop(&log);
    }
    return rc;
}

/* Everything that can fail; takes the configuration as publish() does. */
static int apply(struct rd_service *s, struct rd_config *next,
                 struct restd_error *error)
{
    int rc = check_fixed(s, next, error);
    if (rc == 0) {
        rc = rd_service_check_listens(s, next, error);
    }
    int added = rc == 0 ? rd_service_listen(s, next, error) : rc;
    if (added < 0) {
        rd_config_free(next);
        return added;
    }
    rc = apply_with_log(s, next, error);
    if (rc == 0) {
        rd_service_log_last(s, (unsigned)added);
    } else {
        rd_service_unlisten_last(s, (unsigned)added);
    }
    return rc;
}

/* --- what is said of it -------------------------------------------------- */

static void tell_failure(struct rd_service *s, const char *text)
{
    size_t len = strcspn(text, "\n");
    snprintf(s->reload_error, sizeof s->reload_error, "%.*s", (int)len, text);
    s->facts.last_reload_ok = 0;
    s->facts.last_reload_error = s->reload_error;
    rd_status_set_config(s->status, &s->facts);
    restd_server_log(s->server, RESTD_LOG_ERROR,
                     "reload refused, the old configuration goes on");
    rd_notify_send(&s->notify, "READY=1\nSTATUS=reload refused: %.200s",
                   s->reload_error);
}

void rd_service_note_loaded(struct rd_service *s)
{
    s->facts.generation++;
    s->facts.loaded_unix_ms = rd_unix_ms();
    s->facts.last_reload_ok = 1;
    s->facts.last_reload_error = NULL;
    s->facts.path = s->config->file;
    rd_status_set_config(s->status, &s->facts);
}

static void tell_success(struct rd_service *s)
{
    rd_service_note_loaded(s);
    restd_server_log(s->server, RESTD_LOG_NOTICE,
                     "configuration reloaded, generation %llu",
                     (unsigned long long)s->facts.generation);
    rd_notify_send(&s->notify, "READY=1\nSTATUS=serving");
}

static void log_errors(struct rd_service *s,
                       const struct rd_config_errors *errors)
{
    for (const char *at = errors->text; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        restd_server_log(s->server, RESTD_LOG_ERROR, "reload: %.*s", (int)len,
                         at);
        at += len + (at[len] == '\n');
    }
}

void rd_service_reload(struct rd_service *s)
{
    static struct rd_config_errors errors; /* large, main alone */
    struct rd_config *next = NULL;
    struct restd_error error = {0};
    rd_notify_reloading(&s->notify);
    errors.n = 0;
    errors.text[0] = '\0';
    int rc = rd_config_load(&next, s->args, &errors);
    if (rc == 0) {
        rc = rd_config_probe(next, 0, &errors);
        if (rc != 0) {
            rd_config_free(next);
        }
    }
    if (rc != 0) {
        log_errors(s, &errors);
        tell_failure(s, errors.text);
    } else if (apply(s, next, &error) != 0) {
        restd_server_log(s->server, RESTD_LOG_ERROR, "reload: %s",
                         error.message);
        tell_failure(s, error.message);
    } else {
        rd_service_unlisten_gone(s, s->config);
        rd_service_store(s);
        tell_success(s);
    }
}
