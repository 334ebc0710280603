/* SPDX-License-Identifier: MIT */
/* The resources that the daemon serves by itself, and those of their handlers
 * that a configured route may name as well.
 *
 * struct rd_builtin
 * Owner: whoever fills a router, one for each. Lifetime: the router's.
 * Thread: rd_builtin_routes() main; the handlers [loop].
 */
#ifndef RD_DAEMON_BUILTIN_H
#define RD_DAEMON_BUILTIN_H

#include <restd/error.h>
#include <restd/http.h>
#include <restd/router.h>

#include "daemon/builtin_config.h"
#include "daemon/status.h"

struct rd_builtin {
    const struct restd_server *server; /* whose health is told */
    struct rd_status_view *view;       /* failures are told to its private
                                          requests only */
    unsigned added; /* rd_builtin_routes(): bits of what is served */
};

/* Adds those of `which` whose path has no such route yet: so call it behind
 * whatever else adds routes. `builtin` is filled in, and borrowed. */
int rd_builtin_routes(struct restd_router *router, struct rd_builtin *builtin,
                      const struct rd_config_builtins *which,
                      struct restd_error *error);

restd_handler_fn rd_builtin_livez;  /* data: struct rd_builtin */
restd_handler_fn rd_builtin_readyz; /* data: struct rd_builtin */
restd_handler_fn rd_builtin_echo;   /* data: not used */

#endif
