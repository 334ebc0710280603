/* SPDX-License-Identifier: MIT */
/* The running daemon: servers, configuration and signals.
 *
 * struct rd_service
 * Owner: main, one per process. Lifetime: rd_service_run().
 * Thread: main alone; it is the only one that changes what is served. */
#ifndef RD_DAEMON_SERVICE_H
#define RD_DAEMON_SERVICE_H

#include <stdint.h>

#include <restd/restd.h>

#include "daemon/activation.h"
#include "daemon/admin.h"
#include "daemon/args.h"
#include "daemon/config.h"
#include "daemon/daemonize.h"
#include "daemon/logsink.h"
#include "daemon/notify.h"
#include "daemon/pidfile.h"
#include "daemon/snapshot.h"
#include "daemon/status.h"
#include "daemon/upgrade.h"

#define RD_SERVICE_LISTENERS_MAX 32

/* A listener as it was configured when it was opened. */
struct rd_service_listener {
    char label[64]; /* what the server calls it: never used again */
    char name[40];
    char address[RD_ARGS_ADDRESS_MAX];
    int mode;
    uint32_t uid, gid, backlog;
    uint8_t admin;
    uint8_t is_local; /* where it is bound, which may be another address */
};

struct rd_service {
    const struct rd_args *args;
    char *const *argv;
    const char *program;      /* absolute; started by an upgrade */
    struct rd_config *config; /* the one that serves; its snapshot's */
    struct restd_server *server;
    struct rd_admin admin;
    struct rd_status *status;
    struct rd_logsink *sink;
    struct rd_daemonize *daemonize;
    struct rd_notify notify;
    struct rd_activation activation; /* [start] */
    struct rd_takeover takeover;     /* [start] */
    struct rd_upgrade upgrade;
    struct rd_pidfile pidfile;
    struct rd_service_listener listeners[RD_SERVICE_LISTENERS_MAX];
    unsigned listeners_n;
    unsigned listeners_made;
    int has_public; /* one that others reach has been open */
    struct rd_status_config facts;
    char reload_error[512]; /* what facts.last_reload_error points to */
    int signals;            /* signalfd */
    int stopping;
    uint64_t status_due_ms, watchdog_due_ms;
};

/* Serves until it is told to stop; returns the exit code. Takes the
 * configuration. What goes wrong before it serves is said on stderr. */
int rd_service_run(struct rd_service *service, struct rd_config *config);

/* Whether paths of unix sockets are left to another process. */
void rd_service_keep_paths(struct rd_service *service, int keep);

/* service_wait.c: returns the exit code once the server has stopped. */
int rd_service_wait(struct rd_service *service);

/* service_listen.c: opens the listeners that `config` has and the service has
 * not, from what was handed over or by binding; on an error none of them stays.
 * Returns how many. */
RESTD_MUST_CHECK int rd_service_listen(struct rd_service *service,
                                       const struct rd_config *config,
                                       struct restd_error *error);
/* RESTD_ESTATE for what only a restart can change about them. */
RESTD_MUST_CHECK int rd_service_check_listens(const struct rd_service *service,
                                              const struct rd_config *next,
                                              struct restd_error *error);
/* Closes the last `n`. */
void rd_service_unlisten_last(struct rd_service *service, unsigned n);
/* Tells the log of them. */
void rd_service_log_last(const struct rd_service *service, unsigned n);
/* Closes those that `config` has not. */
void rd_service_unlisten_gone(struct rd_service *service,
                              const struct rd_config *config);
/* All of them, as an upgrade hands them over; returns how many. */
unsigned
rd_service_hand_over(const struct rd_service *service,
                     struct rd_upgrade_listener out[RD_SERVICE_LISTENERS_MAX]);

/* service_store.c: what the service manager has handed over and no listener
 * wants is told, or given up if it was stored. */
void rd_service_store_begin(struct rd_service *service);
/* Has the service manager keep the sockets that a restart is to find open. */
void rd_service_store(struct rd_service *service);
/* It need not keep that one any more. */
void rd_service_store_remove(struct rd_service *service, const char *address);

/* What a snapshot is built from, as things are. `names` has room for
 * RD_SERVICE_LISTENERS_MAX. */
void rd_service_parts(const struct rd_service *service, const char **names,
                      struct rd_snapshot_parts *parts);

/* service_reload.c: reads the configuration again and serves by it; what is
 * wrong with it goes to the log and to /status, and nothing changes. */
void rd_service_reload(struct rd_service *service);
/* Has /status tell that its configuration has been loaded. */
void rd_service_note_loaded(struct rd_service *service);
/* The library's options for a configuration. */
void rd_service_options(const struct rd_service *service,
                        const struct rd_config *config,
                        struct restd_options *options);

#endif
