/* SPDX-License-Identifier: MIT */
/* Filling a router: methods and routes.
 *
 * Nothing is looked up here. A router is three arrays of its routes (by number,
 * by pattern, by text) and a list of scopes; what matching walks is built from
 * them by router_freeze.c, and thrown away by the next change. So a change
 * needs no undoing: it is checked and allocated first, then linked, which
 * cannot fail. Thread: see router.h. */
#include "route/router.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/slice.h"
#include "codec/field.h"
#include "route/router_tree.h"

#define METHOD_LEN_MAX 32

void rd_route_options_fini(const struct restd_route_options *options)
{
    rd_mem_free((void *)(uintptr_t)options->summary);
    rd_mem_free((void *)(uintptr_t)options->consumes);
    rd_mem_free((void *)(uintptr_t)options->produces);
}

static void route_free(struct rd_route *route)
{
    if (route) {
        rd_plugins_free(&route->plugins);
        rd_route_options_fini(&route->options);
        rd_pattern_free(route->compiled);
        rd_mem_free(route->wrappers);
        rd_mem_free(route);
    }
}

int restd_router_new(enum restd_router_mode mode, struct restd_router **out)
{
    struct restd_router *router = rd_mem_alloc(sizeof(*router));
    struct rd_scope *scope = rd_mem_alloc(sizeof(*scope));

    if (!router || !scope ||
        rd_pattern_new("", mode, 1, &scope->pattern, NULL) != 0) {
        rd_mem_free(router);
        rd_mem_free(scope);
        return RESTD_ENOMEM;
    }
    scope->mode = mode;
    scope->base = scope->pattern->text;
    router->root = router->scopes = scope;
    for (unsigned i = 1; i < RESTD_METHODS_N; i++) {
        router->methods[i] = restd_method_name((enum restd_method)i);
    }
    router->methods_n = RESTD_METHODS_N;
    *out = router;
    return 0;
}

void restd_router_free(struct restd_router *router)
{
    if (!router) {
        return;
    }
    rd_router_thaw(router);
    for (unsigned i = 0; i < router->routes.n; i++) {
        route_free(router->routes.list[i]);
    }
    while (router->scopes) {
        struct rd_scope *scope = router->scopes;
        router->scopes = scope->next;
        rd_plugins_free(&scope->plugins);
        rd_pattern_free(scope->pattern);
        rd_mem_free(scope);
    }
    rd_router_methods_cut(router, RESTD_METHODS_N);
    rd_mem_free(router->routes.list);
    rd_mem_free(router->exact.list);
    rd_mem_free(router->listed.list);
    rd_mem_free(router);
}

/* --- methods ------------------------------------------------------------ */

unsigned rd_router_method(const struct restd_router *router,
                          struct restd_slice token)
{
    for (unsigned i = 1; i < router->methods_n; i++) {
        if (rd_slice_eq(token, rd_slice_str(router->methods[i]))) {
            return i;
        }
    }
    return 0;
}

void rd_router_methods_cut(struct restd_router *router, unsigned n)
{
    while (router->methods_n > n) {
        router->methods_n--;
        rd_mem_free((void *)(uintptr_t)router->methods[router->methods_n]);
    }
}

int rd_router_method_add(struct restd_router *router, const char *token,
                         struct restd_error *error)
{
    unsigned number = rd_router_method(router, rd_slice_str(token));

    if (number > 0) {
        return (int)number;
    }
    if (!rd_field_is_token(rd_slice_str(token)) ||
        strlen(token) > METHOD_LEN_MAX) {
        return rd_error(error, RESTD_EINVAL, "no method token: \"%s\"", token);
    }
    if (router->methods_n == RD_METHODS_MAX) {
        return rd_error(error, RESTD_ELIMIT, "more than %d methods",
                        RD_METHODS_MAX - 1);
    }
    router->methods[router->methods_n] = rd_mem_strdup(token);
    if (!router->methods[router->methods_n]) {
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    return (int)router->methods_n++;
}

int rd_router_allow_text(const struct restd_router *router, uint32_t allowed,
                         char *buf, size_t size)
{
    size_t len = 0;

    for (unsigned i = 1; i < router->methods_n; i++) {
        if (!(allowed & (1u << i))) {
            continue;
        }
        const char *token = router->methods[i];
        size_t n = strlen(token);
        if (len + n + 3 > size) {
            if (size > 0) {
                buf[len] = '\0';
            }
            return RESTD_ERANGE;
        }
        if (len > 0) {
            memcpy(buf + len, ", ", 2);
            len += 2;
        }
        memcpy(buf + len, token, n);
        len += n;
    }
    buf[len] = '\0';
    return (int)len;
}

/* --- arrays of routes --------------------------------------------------- */

int rd_routes_reserve(struct rd_routes *routes, unsigned more)
{
    if (routes->max - routes->n >= more) {
        return 0;
    }
    unsigned max = routes->n + more + routes->n / 2 + 8;
    struct rd_route **list = rd_mem_alloc(max * sizeof(struct rd_route *));
    if (!list) {
        return RESTD_ENOMEM;
    }
    if (routes->n > 0) {
        memcpy(list, routes->list, routes->n * sizeof(struct rd_route *));
    }
    rd_mem_free(routes->list);
    routes->list = list;
    routes->max = max;
    return 0;
}

static int compare_text(const struct rd_route *a, const struct rd_route *b)
{
    int order = strcmp(a->pattern, b->pattern);
    return order ? order : (int)a->method - (int)b->method;
}

static int compare_exact(const struct rd_route *a, const struct rd_route *b)
{
    int order = rd_pattern_compare(a->compiled, b->compiled);
    return order ? order : (int)a->method - (int)b->method;
}

/* Index of the first one that is not before `route`. */
static unsigned
find(const struct rd_routes *routes, const struct rd_route *route,
     int (*compare)(const struct rd_route *, const struct rd_route *))
{
    unsigned low = 0;

    for (unsigned high = routes->n; low < high;) {
        unsigned middle = low + (high - low) / 2;
        if (compare(routes->list[middle], route) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void insert(struct rd_routes *routes, unsigned at,
                   struct rd_route *route)
{
    memmove(&routes->list[at + 1], &routes->list[at],
            (routes->n - at) * sizeof(route));
    routes->list[at] = route;
    routes->n++;
}

/* --- routes ------------------------------------------------------------- */

const struct rd_route *rd_router_same(const struct restd_router *router,
                                      const struct rd_route *route)
{
    const struct rd_routes *exact = &router->exact;
    unsigned at = find(exact, route, compare_exact);

    return at < exact->n && compare_exact(exact->list[at], route) == 0
               ? exact->list[at]
               : NULL;
}

static void replaced(struct restd_router *router, unsigned number)
{
    struct rd_route *route = router->routes.list[number];
    struct rd_routes *listed = &router->listed;
    unsigned at = find(listed, route, compare_text);

    while (listed->list[at] != route) {
        at++;
    }
    listed->n--;
    memmove(&listed->list[at], &listed->list[at + 1],
            (listed->n - at) * sizeof(route));
    router->routes.list[number] = NULL;
    router->regexes_n -= route->compiled->regexes_n;
    route_free(route);
}

/* Whether a PREFIX route is one more method of the pattern added just before,
 * rather than that pattern anew. */
static int is_one_more(const struct restd_router *router,
                       const struct rd_route *route)
{
    int found = 0;

    for (unsigned i = router->routes.n; i-- > 0;) {
        const struct rd_route *other = router->routes.list[i];
        if (!other || other->list != route->list) {
            continue;
        }
        if (strcmp(other->pattern, route->pattern) != 0) {
            break;
        }
        if (other->method == route->method) {
            return 0;
        }
        found = 1;
    }
    return found;
}

void rd_router_link(struct restd_router *router, struct rd_route *route)
{
    rd_router_thaw(router);
    if (!route->list) {
        insert(&router->exact, find(&router->exact, route, compare_exact),
               route);
    } else if (!is_one_more(router, route)) {
        for (unsigned i = 0; i < router->routes.n; i++) {
            const struct rd_route *old = router->routes.list[i];
            if (old && old->list == route->list &&
                strcmp(old->pattern, route->pattern) == 0) {
                replaced(router, i);
            }
        }
    }
    insert(&router->listed, find(&router->listed, route, compare_text), route);
    insert(&router->routes, router->routes.n, route);
    router->regexes_n += route->compiled->regexes_n;
}

static int route_make(struct restd_router *router, struct rd_route *route,
                      const char *pattern, struct restd_error *error)
{
    int rc =
        rd_pattern_new(pattern, router->root->mode, 0, &route->compiled, error);
    if (rc != 0) {
        return rc;
    }
    route->pattern = route->compiled->text;
    route->scope = router->root;
    route->list =
        router->root->mode == RESTD_ROUTER_PREFIX ? router->root : NULL;
    const struct rd_route *same = rd_router_same(router, route);
    if (same) {
        return rd_error(error, RESTD_EEXIST, "%s %s is the same as %s",
                        router->methods[route->method], pattern, same->pattern);
    }
    if (rd_routes_reserve(&router->routes, 1) != 0 ||
        rd_routes_reserve(&router->exact, 1) != 0 ||
        rd_routes_reserve(&router->listed, 1) != 0) {
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    return 0;
}

int rd_router_check_open(const struct restd_router *router,
                         struct restd_error *error)
{
    return router->sealed
               ? rd_error(error, RESTD_ESTATE, "a server runs with the router")
               : 0;
}

int restd_router_add(struct restd_router *router, const char *method,
                     const char *pattern, restd_handler_fn *handler, void *data,
                     struct restd_error *error)
{
    unsigned methods_n = router->methods_n;
    int number = rd_router_check_open(router, error);

    if (number != 0) {
        return number;
    }
    if (!method || !pattern || !handler) {
        return rd_error(error, RESTD_EINVAL, "no method, pattern or handler");
    }
    number = rd_router_method_add(router, method, error);
    if (number < 0) {
        return number;
    }
    struct rd_route *route = rd_mem_alloc(sizeof(*route));
    int rc = RESTD_ENOMEM;
    if (!route) {
        (void)rd_error(error, RESTD_ENOMEM, "out of memory");
        goto fail;
    }
    route->handler = handler;
    route->data = data;
    route->method = (unsigned)number;
    restd_route_options_init(&route->options);
    rc = route_make(router, route, pattern, error);
    if (rc != 0) {
        goto fail;
    }
    rd_router_link(router, route);
    return (int)router->routes.n - 1;
fail:
    route_free(route);
    /* A method that no route has must stay unknown. */
    rd_router_methods_cut(router, methods_n);
    return rc;
}
