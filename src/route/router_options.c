/* SPDX-License-Identifier: MIT */
/* What is said of a route or router once it is there: options, plugins, and
 * listing. Any of it but the listing makes a frozen router thaw. Thread: see
 * restd/router.h. */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/slice.h"
#include "codec/field.h"
#include "route/router_tree.h"

static struct rd_route *route_of(const struct restd_router *router, int number)
{
    return number >= 0 && (unsigned)number < router->routes.n
               ? router->routes.list[number]
               : NULL;
}

void restd_route_options_init_size(struct restd_route_options *options,
                                   size_t size)
{
    static const struct restd_route_options defaults = {0};

    rd_sized_init(options, size, &defaults, sizeof(defaults));
}

static int option_copy(const char **to, int empty, const char *pattern,
                       struct restd_error *error)
{
    const char *from = *to;

    *to = NULL;
    if (!from) {
        return 0;
    }
    if (!rd_field_is_value(rd_slice_str(from)) || (!empty && !*from)) {
        return rd_error(error, RESTD_EINVAL,
                        "an option of %s is empty or has a control character",
                        pattern);
    }
    *to = rd_mem_strdup(from);
    return *to ? 0 : rd_error(error, RESTD_ENOMEM, "out of memory");
}

int restd_router_configure(struct restd_router *router, int number,
                           const struct restd_route_options *options,
                           struct restd_error *error)
{
    struct rd_route *route = route_of(router, number);
    struct restd_route_options own = {0};
    const char **texts[] = {&own.summary, &own.consumes, &own.produces};
    int rc = 0;

    rc = rd_router_check_open(router, error);
    if (rc != 0) {
        return rc;
    }
    if (!route) {
        return rd_error(error, RESTD_ENOENT, "no route has number %d", number);
    }
    if (!options || rd_sized_in(&own, sizeof(own), options) != 0) {
        return rd_error(error, RESTD_EINVAL, "options without a size");
    }
    own.size = sizeof(own);
    if (own.offload && own.streaming) {
        return rd_error(error, RESTD_EINVAL,
                        "%s cannot be both offload and streaming",
                        route->pattern);
    }
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (rc == 0) {
            rc = option_copy(texts[i], i == 0, route->pattern, error);
        } else {
            *texts[i] = NULL;
        }
    }
    if (rc == 0) {
        struct restd_route_options old = route->options;
        route->options = own;
        own = old;
        rd_router_thaw(router);
    }
    rd_route_options_fini(&own);
    return rc;
}

static int use(struct restd_router *router, struct rd_plugins *plugins,
               const struct restd_plugin *plugin, struct restd_error *error)
{
    int rc = rd_router_check_open(router, error);

    if (rc != 0) {
        rd_plugin_fini(plugin);
        return rc;
    }
    rd_router_thaw(router);
    return rd_plugins_add(plugins, plugin, error);
}

int restd_router_use(struct restd_router *router,
                     const struct restd_plugin *plugin,
                     struct restd_error *error)
{
    return use(router, &router->root->plugins, plugin, error);
}

int restd_router_use_on(struct restd_router *router, int number,
                        const struct restd_plugin *plugin,
                        struct restd_error *error)
{
    struct rd_route *route = route_of(router, number);

    return use(router, route ? &route->plugins : NULL, plugin, error);
}

const struct rd_route *rd_router_route(const struct restd_router *router,
                                       unsigned index)
{
    return index < router->listed.n ? router->listed.list[index] : NULL;
}

int restd_router_route_at_size(const struct restd_router *router,
                               unsigned index, struct restd_route_info *info,
                               size_t size)
{
    const struct rd_route *route = rd_router_route(router, index);

    if (!route) {
        return RESTD_ENOENT;
    }
    const struct restd_route_info all = {
        .method = router->methods[route->method],
        .pattern = route->pattern,
        .summary = route->options.summary,
        .consumes = route->options.consumes,
        .produces = route->options.produces,
    };
    rd_sized_out(info, size, &all, sizeof(all));
    return 0;
}
