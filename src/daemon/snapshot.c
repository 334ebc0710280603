/* SPDX-License-Identifier: MIT */
/* Building of a snapshot: plugins of the whole server, the configured routes,
 * the modules, then those built-ins whose paths are still free.
 *
 * What has to be given back lies in struct snapshot, which is the data of a
 * plugin that does nothing but end: the first one of the outermost router,
 * which is freed after all others.
 * Thread: see snapshot.h. */
#include "daemon/snapshot.h"

#include <stdio.h>
#include <string.h>

#include <restd/restd.h>

#include "daemon/builtin.h"
#include "daemon/fault.h"
#include "daemon/module.h"
#include "daemon/route.h"

struct snapshot {
    struct rd_config *config; /* NULL: still the caller's */
    struct rd_status_view *view;
    struct rd_builtin builtin;
    struct rd_modules modules;
    struct rd_route_data *routes;
    unsigned routes_n;
    struct restd_networks *allow; /* of /status */
    struct restd_plugin limit; /* of the whole server, in that which spares */
};

static void snapshot_free(void *data)
{
    struct snapshot *s = data;
    for (unsigned i = 0; i < s->routes_n; i++) {
        rd_route_data_fini(&s->routes[i]);
    }
    rd_status_view_free(s->view);
    restd_networks_free(s->allow);
    rd_modules_unload(&s->modules);
    rd_config_free(s->config); /* and with it the memory of this struct */
}

/* --- plugins ------------------------------------------------------------- */

typedef int make_fn(const struct rd_config *config, struct restd_plugin *plugin,
                    struct restd_error *error);

static int make_gzip(const struct rd_config *config,
                     struct restd_plugin *plugin, struct restd_error *error)
{
    (void)config;
    return restd_gzip(NULL, plugin, error);
}

static int make_access_log(const struct rd_config *config,
                           struct restd_plugin *plugin,
                           struct restd_error *error)
{
    struct restd_access_log_options options;
    restd_access_log_options_init(&options);
    options.format = config->access_log.format;
    options.sample = config->access_log.sample;
    options.slow_ms = config->access_log.slow_ms;
    options.min_status = config->access_log.min_status;
    return restd_access_log(&options, plugin, error);
}

static int make_request_id(const struct rd_config *config,
                           struct restd_plugin *plugin,
                           struct restd_error *error)
{
    (void)config;
    return restd_request_id_plugin(NULL, plugin, error);
}

static int make_cors(const struct rd_config *config,
                     struct restd_plugin *plugin, struct restd_error *error)
{
    return rd_config_cors(&config->plugins.cors, plugin, error);
}

/* In the order in which they have to run: what sees every reply first, what
 * refuses last. */
static int use_plugins(struct restd_router *router, struct snapshot *s,
                       const struct rd_config *config,
                       struct restd_error *error)
{
    const struct {
        int wanted;
        make_fn *make;
    } plugins[] = {
        {config->plugins.gzip, make_gzip},
        {config->access_log.target != RD_LOG_OFF, make_access_log},
        {config->plugins.request_id, make_request_id},
        {config->plugins.cors.is_set, make_cors},
    };
    for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++) {
        struct restd_plugin plugin;
        if (!plugins[i].wanted) {
            continue;
        }
        int rc = plugins[i].make(config, &plugin, error);
        if (rc == 0) {
            rc = restd_router_use(router, &plugin, error);
        }
        if (rc != 0) {
            return rc;
        }
    }
    return rd_route_plugins(router, -1, &config->plugins, &s->limit, error);
}

/* --- status -------------------------------------------------------------- */

static int make_view(struct snapshot *s, const struct rd_config *config,
                     const struct rd_snapshot_parts *parts,
                     struct restd_error *error)
{
    struct restd_stats stats;
    restd_server_stats(parts->server, &stats);
    if (config->status.allow != NULL) {
        int rc = restd_networks_new(config->status.allow, &s->allow, error);
        if (rc != 0) {
            return rc;
        }
    }
    const struct rd_status_view_options options = {
        .places = config->options.workers > stats.workers
                      ? config->options.workers
                      : stats.workers,
        .full = config->status.full,
        .host = config->status.host,
        .allow = s->allow,
        .is_guarded = parts->has_public,
        .private_listeners = parts->private_listeners,
        .private_n = parts->private_n};
    return rd_status_view_new(parts->status, &options, &s->view, error);
}

/* --- all ----------------------------------------------------------------- */

static int add_routes(struct snapshot *s, struct restd_router *router,
                      struct rd_config *config, struct restd_error *error)
{
    s->routes = rd_config_alloc(config, config->routes_n * sizeof *s->routes);
    if (s->routes == NULL && config->routes_n > 0) {
        return rd_fault(error, RESTD_ENOMEM, "out of memory");
    }
    for (unsigned i = 0; i < config->routes_n; i++) {
        s->routes_n = i + 1;
        s->routes[i].config = &config->routes[i];
        s->routes[i].view = s->view;
        s->routes[i].builtin = &s->builtin;
        int rc = rd_route_add(router, &s->routes[i], error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int fill(struct snapshot *s, struct restd_router *router,
                struct rd_config *config, const struct rd_snapshot_parts *parts,
                struct restd_error *error)
{
    int rc = use_plugins(router, s, config, error);
    if (rc == 0) {
        rc = make_view(s, config, parts, error);
    }
    if (rc == 0) {
        s->builtin.server = parts->server;
        s->builtin.view = s->view;
        rc = add_routes(s, router, config, error);
    }
    if (rc == 0) {
        rc = rd_modules_load(&s->modules, config, router, error);
    }
    return rc != 0 ? rc
                   : rd_builtin_routes(router, &s->builtin, &config->builtins,
                                       error);
}

int rd_snapshot_fill(struct restd_router *router, struct rd_config *config,
                     const struct rd_snapshot_parts *parts,
                     struct restd_error *error)
{
    struct snapshot *s = rd_config_alloc(config, sizeof *s);
    if (s == NULL) {
        return rd_fault(error, RESTD_ENOMEM, "out of memory");
    }
    const struct restd_plugin owner = {.size = sizeof owner,
                                       .name = "snapshot",
                                       .free = snapshot_free,
                                       .data = s};
    int rc = restd_router_use(router, &owner, error);
    if (rc == 0) {
        rc = fill(s, router, config, parts, error);
    }
    if (rc == 0) {
        s->config = config;
    }
    return rc;
}
