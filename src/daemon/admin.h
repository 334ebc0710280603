/* SPDX-License-Identifier: MIT */
/* The admin listener: a small server on the control loop of the main one, with
 * memory and descriptors of its own, so that it answers when every loop is
 * stuck and the budget is spent.
 *
 *     GET  /livez /readyz /status      as on the other listeners
 *     GET  /admin/routes               the routes that serve now
 *     GET  /admin/explain?method=&path=
 *     GET  /admin/lint
 *     POST /admin/drain, /admin/undrain    readiness false, and as it was
 *     POST /admin/reload                   as SIGHUP
 *     POST /admin/log-level?level=
 *
 * struct rd_admin
 * Owner: the service. Lifetime: within that of the main server.
 * Thread: made and ended by main while the control loop does not run; its
 * handlers run on the control loop. */
#ifndef RD_DAEMON_ADMIN_H
#define RD_DAEMON_ADMIN_H

#include <restd/server.h>

#include "daemon/builtin.h"
#include "daemon/config.h"
#include "daemon/status.h"

/* Part of memory_budget that is kept for it. */
#define RD_ADMIN_MEMORY_BYTES (1024u * 1024)
#define RD_ADMIN_CONNECTIONS 16

struct rd_admin {
    struct restd_server *server; /* its own; NULL: there is none */
    struct restd_server *main;
    struct rd_status_view *view;
    struct rd_builtin builtin;
};

/* Makes the server; its listeners and its start are the caller's. `options` are
 * those of the main server. */
RESTD_MUST_CHECK int rd_admin_new(struct rd_admin *admin,
                                  struct restd_server *main,
                                  const struct restd_options *options,
                                  struct rd_status *status,
                                  struct restd_error *error);
/* Before the main server is freed. */
void rd_admin_fini(struct rd_admin *admin);

#endif
