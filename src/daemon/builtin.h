/* SPDX-License-Identifier: MIT */
/* The resources that the daemon serves without a configuration file.
 *
 * Owner: main, which embeds struct rd_builtin. Lifetime: longer than the
 * server's. Thread: [init] for rd_builtin_routes(); the handlers [loop].
 */
#ifndef RD_DAEMON_BUILTIN_H
#define RD_DAEMON_BUILTIN_H

#include <restd/error.h>
#include <restd/server.h>

#include "daemon/status.h"

struct rd_builtin {
    struct restd_server *server;
    struct rd_status *status;
    int is_public; /* failures are not explained */
};

/* Adds the routes; `builtin` must be filled in and is borrowed. */
int rd_builtin_routes(const struct rd_builtin *builtin,
                      struct restd_error *error);

#endif
