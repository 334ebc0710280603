/* SPDX-License-Identifier: MIT */
/* A list of plugins, of a router or a route. Owner: its router. Thread: one at
 * a time until the router is frozen, then any. */
#ifndef RD_ROUTE_PLUGINS_H
#define RD_ROUTE_PLUGINS_H

#include <restd/plugin.h>

struct rd_plugins {
    struct restd_plugin *list; /* in the order of adding; moves with it */
    unsigned n;
};

/* Copies `plugin`, whose data is taken: an error frees it as well.
 * RESTD_ENOENT if `plugins` is NULL, RESTD_EINVAL, RESTD_ENOMEM. */
RESTD_MUST_CHECK int rd_plugins_add(struct rd_plugins *plugins,
                                    const struct restd_plugin *plugin,
                                    struct restd_error *error);
/* Calls its free function; NULL and one of an unknown size are left alone. */
void rd_plugin_fini(const struct restd_plugin *plugin);
/* Calls their free functions. */
void rd_plugins_free(struct rd_plugins *plugins);

#endif
