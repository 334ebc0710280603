/* SPDX-License-Identifier: MIT */
/* The listeners of the service: at start, and what a reload changes of them.
 *
 * A listener is known by its address as it is configured (with port 0 by its
 * name as well). One that stays is not touched, and keeps its name; one that the
 * old process or the service manager has handed over is taken, so that nothing
 * is bound twice.
 * Thread: main. */
#include "daemon/service.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/address.h"
#include "daemon/fault.h"

static struct restd_server *server_of(const struct rd_service *s, int admin)
{
    return admin ? s->admin.server : s->server;
}

static int is_same(const struct rd_service_listener *open,
                   const struct rd_config_listen *wanted)
{
    return open->admin == wanted->admin &&
           strcmp(open->address, wanted->address) == 0 &&
           (!rd_address_is_any_port(wanted->address) ||
            strcmp(open->name, wanted->name) == 0);
}

static const struct rd_service_listener *
find_open(const struct rd_service *s, const struct rd_config_listen *wanted)
{
    for (unsigned i = 0; i < s->listeners_n; i++) {
        if (is_same(&s->listeners[i], wanted)) {
            return &s->listeners[i];
        }
    }
    return NULL;
}

/* What the server says of it, and by which number; -1: it has gone. */
static int look_up(const struct rd_service *s,
                   const struct rd_service_listener *own,
                   struct restd_listener_info *info)
{
    const struct restd_server *server = server_of(s, own->admin);
    for (unsigned i = 0; restd_server_listener(server, i, info) == 0; i++) {
        if (strcmp(info->name, own->label) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int rd_service_check_listens(const struct rd_service *s,
                             const struct rd_config *next,
                             struct restd_error *error)
{
    for (unsigned i = 0; i < next->listens_n; i++) {
        const struct rd_config_listen *wanted = &next->listens[i];
        const struct rd_service_listener *own = find_open(s, wanted);
        if (wanted->admin && s->admin.server == NULL) {
            return rd_fault(error, RESTD_ESTATE,
                            "%s:%d: the first admin listener needs a restart",
                            wanted->origin.file, wanted->origin.line);
        }
        if (own != NULL &&
            (own->mode != wanted->mode || own->uid != wanted->uid ||
             own->gid != wanted->gid || own->backlog != wanted->backlog)) {
            return rd_fault(error, RESTD_ESTATE,
                            "%s:%d: listen \"%s\": another mode, owner, group "
                            "or backlog needs a restart",
                            wanted->origin.file, wanted->origin.line,
                            wanted->name);
        }
    }
    return 0;
}

/* --- what is handed over ------------------------------------------------- */

/* The old process's, or the service manager's: the socket that has the
 * listener's name, wherever it is bound, or else its address. -1: neither has
 * it. */
static int claim(struct rd_service *s, const struct rd_config_listen *wanted,
                 int *owns_path)
{
    struct rd_activation *a = &s->activation;
    int fd = rd_takeover_take(&s->takeover, wanted->address, owns_path);
    if (fd < 0) {
        fd = rd_activation_claim(a, wanted->name);
    }
    for (unsigned i = 0; fd < 0 && i < a->n; i++) {
        struct rd_activation_socket *socket = &a->sockets[i];
        if (socket->fd >= 0 && rd_address_is_of(wanted->address, socket->fd)) {
            fd = socket->fd;
            socket->fd = -1;
        }
    }
    return fd;
}

/* --- opening and closing ------------------------------------------------- */

/* Labels are not used twice, as connections of a listener outlive it: who is
 * told what hangs on them. */
static void note(struct rd_service *s, const struct rd_config_listen *wanted)
{
    struct rd_service_listener *own = &s->listeners[s->listeners_n];
    snprintf(own->name, sizeof own->name, "%s", wanted->name);
    snprintf(own->label, sizeof own->label, "%.40s#%u", wanted->name,
             ++s->listeners_made);
    snprintf(own->address, sizeof own->address, "%s", wanted->address);
    own->mode = wanted->mode;
    own->uid = wanted->uid;
    own->gid = wanted->gid;
    own->backlog = wanted->backlog;
    own->admin = wanted->admin;
    own->is_local = 0;
}

/* Looks where the last one is bound. */
static void note_bound(struct rd_service *s)
{
    struct rd_service_listener *own = &s->listeners[s->listeners_n - 1];
    struct restd_listener_info info;
    if (look_up(s, own, &info) >= 0) {
        own->is_local = (uint8_t)rd_address_is_local(info.address);
    }
    s->has_public |= !own->is_local;
}

/* What is bound can be changed only by giving it up first, which a reload that
 * may still fail must not do. */
static int explain_in_use(const struct rd_service *s,
                          const struct rd_config_listen *wanted,
                          struct restd_error *error)
{
    for (unsigned i = 0; i < s->listeners_n; i++) {
        const struct rd_service_listener *own = &s->listeners[i];
        if (rd_address_clashes(own->address, wanted->address)) {
            return rd_fault(error, RESTD_EADDRINUSE,
                            "%s:%d: listen \"%s\": listener \"%s\" of this "
                            "process is at %s: such a change needs a restart",
                            wanted->origin.file, wanted->origin.line,
                            wanted->name, own->name, own->address);
        }
    }
    return RESTD_EADDRINUSE;
}

static int open_one(struct rd_service *s, const struct rd_config_listen *wanted,
                    struct restd_error *error)
{
    struct restd_listen_options options;
    if (s->listeners_n == RD_SERVICE_LISTENERS_MAX) {
        return rd_fault(error, RESTD_ELIMIT, "more than %d listeners",
                        RD_SERVICE_LISTENERS_MAX);
    }
    note(s, wanted);
    restd_listen_options_init(&options);
    options.name = s->listeners[s->listeners_n].label;
    options.fd = claim(s, wanted, &options.owns_path);
    options.mode = wanted->mode;
    options.uid = wanted->uid;
    options.gid = wanted->gid;
    options.backlog = wanted->backlog;
    int rc = restd_server_listen_with(server_of(s, wanted->admin),
                                      wanted->address, &options, error);
    if (rc < 0) {
        if (options.fd >= 0) {
            close(options.fd);
        }
        return rc == RESTD_EADDRINUSE ? explain_in_use(s, wanted, error) : rc;
    }
    s->listeners_n++;
    note_bound(s);
    return 0;
}

/* `is_told`: the log has said that it is there. */
static void close_one(struct rd_service *s, unsigned index, int is_told)
{
    struct rd_service_listener *own = &s->listeners[index];
    struct restd_listener_info info;
    struct restd_error error;
    int number = look_up(s, own, &info);
    if (number >= 0) {
        if (is_told) {
            restd_server_log(s->server, RESTD_LOG_NOTICE,
                             "no longer listening on %s", info.address);
        }
        if (!own->admin && s->config != NULL) {
            rd_service_store_remove(s, info.address);
        }
        if (restd_server_unlisten(server_of(s, own->admin), (unsigned)number,
                                  &error) < 0) {
            restd_server_log(s->server, RESTD_LOG_ERROR, "cannot close it: %s",
                             error.message);
        }
    }
    memmove(own, own + 1, (s->listeners_n - index - 1) * sizeof *own);
    s->listeners_n--;
}

int rd_service_listen(struct rd_service *s, const struct rd_config *config,
                      struct restd_error *error)
{
    unsigned n = 0;
    for (unsigned i = 0; i < config->listens_n; i++) {
        const struct rd_config_listen *wanted = &config->listens[i];
        if (find_open(s, wanted) != NULL) {
            continue;
        }
        int rc = open_one(s, wanted, error);
        if (rc != 0) {
            rd_service_unlisten_last(s, n);
            return rc;
        }
        n++;
    }
    return (int)n;
}

void rd_service_unlisten_last(struct rd_service *s, unsigned n)
{
    while (n-- > 0) {
        close_one(s, s->listeners_n - 1, 0);
    }
}

static int is_wanted(const struct rd_service_listener *open,
                     const struct rd_config *config)
{
    for (unsigned i = 0; i < config->listens_n; i++) {
        if (is_same(open, &config->listens[i])) {
            return 1;
        }
    }
    return 0;
}

void rd_service_unlisten_gone(struct rd_service *s,
                              const struct rd_config *config)
{
    for (unsigned i = s->listeners_n; i-- > 0;) {
        if (!is_wanted(&s->listeners[i], config)) {
            close_one(s, i, 1);
        }
    }
}

static void log_one(const struct rd_service *s,
                    const struct rd_service_listener *own)
{
    struct restd_listener_info info;
    if (look_up(s, own, &info) < 0) {
        return;
    }
    restd_server_log(s->server, RESTD_LOG_NOTICE, "listening on %s%s%s",
                     rd_address_is_unix(info.address) ? "" : "http://",
                     info.address, own->admin ? " (admin)" : "");
    if (s->config->status.allow == NULL && s->config->builtins.status &&
        !own->is_local) {
        restd_server_log(s->server, RESTD_LOG_NOTICE,
                         "%s is not loopback and status has no allow: "
                         "there /status is the summary only, without host, "
                         "pid and load",
                         info.address);
    }
}

void rd_service_log_last(const struct rd_service *s, unsigned n)
{
    for (int admin = 0; admin <= 1; admin++) {
        for (unsigned i = s->listeners_n - n; i < s->listeners_n; i++) {
            if (s->listeners[i].admin == admin) {
                log_one(s, &s->listeners[i]);
            }
        }
    }
}

unsigned
rd_service_hand_over(const struct rd_service *s,
                     struct rd_upgrade_listener out[RD_SERVICE_LISTENERS_MAX])
{
    struct restd_listener_info info;
    unsigned n = 0;
    for (unsigned i = 0; i < s->listeners_n; i++) {
        if (look_up(s, &s->listeners[i], &info) >= 0) {
            out[n++] = (struct rd_upgrade_listener){info.fd, info.owns_path,
                                                    s->listeners[i].address};
        }
    }
    return n;
}

void rd_service_parts(const struct rd_service *s, const char **names,
                      struct rd_snapshot_parts *parts)
{
    parts->status = s->status;
    parts->server = s->server;
    parts->private_listeners = names;
    parts->private_n = 0;
    parts->has_public = s->has_public;
    for (unsigned i = 0; i < s->listeners_n; i++) {
        if (s->listeners[i].is_local) {
            names[parts->private_n++] = s->listeners[i].label;
        }
    }
}
