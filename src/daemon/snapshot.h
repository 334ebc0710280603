/* SPDX-License-Identifier: MIT */
/* From a configuration to the routes that serve it.
 *
 * A snapshot is a router with everything that its handlers use: the
 * configuration, whose strings they borrow, the prepared replies, folders, the
 * view of /status, and the modules. The router's end is the end of all of it,
 * when the library has let the last request go: on whatever thread that is.
 * Thread: main. */
#ifndef RD_DAEMON_SNAPSHOT_H
#define RD_DAEMON_SNAPSHOT_H

#include <restd/error.h>
#include <restd/router.h>
#include <restd/server.h>

#include "daemon/config.h"
#include "daemon/status.h"

/* What outlives all snapshots. */
struct rd_snapshot_parts {
    struct rd_status *status;
    struct restd_server *server;
    /* What the library knows the listeners by that only this machine reaches;
     * and whether there are, or were, others. */
    const char *const *private_listeners;
    unsigned private_n;
    int has_public;
};

/* Fills an empty router and takes the configuration, which then ends with the
 * router. On an error the configuration stays the caller's, and the router is
 * fit for nothing but to be freed, before the configuration. */
RESTD_MUST_CHECK int rd_snapshot_fill(struct restd_router *router,
                                      struct rd_config *config,
                                      const struct rd_snapshot_parts *parts,
                                      struct restd_error *error);

#endif
