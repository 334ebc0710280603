/* SPDX-License-Identifier: MIT */
/* One configured route: its handler, what that needs, and its plugins.
 *
 * struct rd_route_data
 * Owner: the snapshot. Lifetime: until its router has been freed; immutable
 * once that serves. Thread: made by main, read by all loops. */
#ifndef RD_DAEMON_ROUTE_H
#define RD_DAEMON_ROUTE_H

#include <restd/error.h>
#include <restd/files.h>
#include <restd/response.h>
#include <restd/router.h>

#include "daemon/builtin.h"
#include "daemon/config.h"
#include "daemon/status.h"

struct rd_route_data {
    const struct rd_config_route *config;
    struct rd_status_view *view;      /* the snapshot's */
    const struct rd_builtin *builtin; /* the snapshot's */
    struct restd_prepared *prepared;  /* respond */
    struct restd_files *files;        /* file, docroot */
};

/* Adds it to the router, once for each of its methods. The first three of
 * `data` are filled in; on an error it may hold more already. */
RESTD_MUST_CHECK int rd_route_add(struct restd_router *router,
                                  struct rd_route_data *data,
                                  struct restd_error *error);
void rd_route_data_fini(struct rd_route_data *data);

/* Puts "Name: value" lines into a new set of fields. */
RESTD_MUST_CHECK int rd_route_fields(const struct rd_config_list *lines,
                                     struct restd_fields **fields,
                                     struct restd_error *error);
/* Adds those of the plugins that a route and the whole server may both have:
 * access list, rate limit, header fields; to one route, or with -1 to all.
 * `spared`, with -1: a place that lives as the router does. */
RESTD_MUST_CHECK int rd_route_plugins(struct restd_router *router, int route,
                                      const struct rd_config_plugins *plugins,
                                      struct restd_plugin *spared,
                                      struct restd_error *error);

#endif
