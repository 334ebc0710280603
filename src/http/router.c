/* SPDX-License-Identifier: MIT */
/* The router's building: a tree of segments, and over it a hash table of the
 * paths that have no variable, which is where nearly every request ends
 * (router_match.c). Thread: see router.h. */
#include "http/router.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/slice.h"
#include "http/field.h"
#include "http/router_tree.h"
#include "http/uri.h"

static void *counted_alloc(struct rd_router *router, size_t size)
{
    router->bytes += size;
    return rd_mem_alloc(size);
}

static struct rd_router_node *node_new(struct rd_router *router,
                                       struct restd_slice text)
{
    struct rd_router_node *node =
        counted_alloc(router, sizeof(*node) + text.len + 1);

    if (node) {
        memcpy(node->text, text.data, text.len);
        node->len = text.len;
    }
    return node;
}

static void route_free(struct rd_route *route)
{
    rd_mem_free((void *)(uintptr_t)(route ? route->pattern : NULL));
    rd_mem_free(route);
}

/* Depth is bounded by RD_URI_SEGMENTS_MAX. */
static void node_free(struct rd_router_node *node)
{
    while (node) {
        struct rd_router_node *next = node->next;
        node_free(node->children);
        node_free(node->variable);
        for (unsigned i = 0; i < RD_METHODS_MAX; i++) {
            route_free(node->routes[i]);
        }
        rd_mem_free(node);
        node = next;
    }
}

static void method_remove_last(struct rd_router *router)
{
    router->methods_n--;
    rd_mem_free((void *)(uintptr_t)router->methods[router->methods_n]);
}

int rd_router_new(struct rd_router **out)
{
    struct rd_router *router = rd_mem_alloc(sizeof(*router));

    if (router) {
        router->root = node_new(router, rd_slice("", 0));
        for (unsigned i = 1; i < RESTD_METHODS_N; i++) {
            router->methods[i] = restd_method_name((enum restd_method)i);
        }
        router->methods_n = RESTD_METHODS_N;
    }
    if (!router || !router->root) {
        rd_mem_free(router);
        return RESTD_ENOMEM;
    }
    *out = router;
    return 0;
}

void rd_router_free(struct rd_router *router)
{
    if (!router) {
        return;
    }
    node_free(router->root);
    while (router->paths) {
        struct rd_router_path *next = router->paths->next;
        rd_mem_free(router->paths);
        router->paths = next;
    }
    while (router->methods_n > RESTD_METHODS_N) {
        method_remove_last(router);
    }
    rd_mem_free(router->table);
    rd_mem_free(router);
}

unsigned rd_router_method(const struct rd_router *router,
                          struct restd_slice token)
{
    for (unsigned i = 1; i < router->methods_n; i++) {
        if (rd_slice_eq(token, rd_slice_str(router->methods[i]))) {
            return i;
        }
    }
    return 0;
}

static int method_add(struct rd_router *router, const char *token,
                      struct restd_error *error)
{
    unsigned number = rd_router_method(router, rd_slice_str(token));

    if (number > 0) {
        return (int)number;
    }
    if (!rd_field_is_token(rd_slice_str(token)) || strlen(token) > 32) {
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

static int is_variable(struct restd_slice s)
{
    return s.len >= 2 && s.data[0] == '{' && s.data[s.len - 1] == '}';
}

static int segment_check(struct restd_slice s, const char *pattern,
                         struct restd_error *error)
{
    /* A path never has such a segment when it is looked up. */
    int dots =
        rd_slice_eq(s, rd_slice(".", 1)) || rd_slice_eq(s, rd_slice("..", 2));

    if (is_variable(s)) {
        s.data++;
        s.len -= 2;
        dots = s.len == 0;
    }
    if (dots) {
        return rd_error(error, RESTD_EINVAL,
                        "segment without a name, or of dots: \"%s\"", pattern);
    }
    for (size_t i = 0; i < s.len; i++) {
        if (strchr("{}?#", s.data[i]) || (unsigned char)s.data[i] <= ' ') {
            return rd_error(error, RESTD_EINVAL,
                            "segment must be text or {name}: \"%s\"", pattern);
        }
    }
    return 0;
}

static struct rd_router_node *child_for(struct rd_router *router,
                                        struct rd_router_node *node,
                                        struct restd_slice segment)
{
    struct rd_router_node **at = &node->children;

    if (is_variable(segment)) {
        if (!node->variable) {
            node->variable = node_new(router, rd_slice("", 0));
        }
        return node->variable;
    }
    for (; *at; at = &(*at)->next) {
        if (rd_slice_eq(rd_slice((*at)->text, (*at)->len), segment)) {
            return *at;
        }
    }
    *at = node_new(router, segment);
    return *at;
}

static int param_add(struct rd_route *route, struct restd_slice name)
{
    for (unsigned i = 0; i < route->params_n; i++) {
        if (rd_slice_eq(route->params[i], name)) {
            return RESTD_EEXIST;
        }
    }
    route->params[route->params_n++] = name;
    return 0;
}

/* Walks, and makes, the nodes of a pattern; collects its variables. */
static int pattern_walk(struct rd_router *router, struct rd_route *route,
                        struct rd_router_node **out, struct restd_error *error)
{
    const char *at = route->pattern;
    struct rd_router_node *node = router->root;
    unsigned depth = 0;

    if (*at != '/') {
        return rd_error(error, RESTD_EINVAL,
                        "pattern must begin with '/': \"%s\"", at);
    }
    while (*at == '/') {
        const char *start = ++at;
        at += strcspn(at, "/");
        struct restd_slice s = rd_slice(start, (size_t)(at - start));
        int rc = segment_check(s, route->pattern, error);
        if (rc != 0) {
            return rc;
        }
        if (++depth > RD_URI_SEGMENTS_MAX ||
            (is_variable(s) && route->params_n == RD_PARAMS_MAX)) {
            return rd_error(error, RESTD_EINVAL,
                            "pattern has too many segments: \"%s\"",
                            route->pattern);
        }
        if (is_variable(s) &&
            param_add(route, rd_slice(s.data + 1, s.len - 2)) != 0) {
            return rd_error(error, RESTD_EINVAL,
                            "two segments of one name: \"%s\"", route->pattern);
        }
        node = child_for(router, node, s);
        if (!node) {
            return rd_error(error, RESTD_ENOMEM, "out of memory");
        }
    }
    *out = node;
    return 0;
}

static int fixed_path_add(struct rd_router *router, const char *pattern,
                          const struct rd_router_node *node)
{
    size_t len = strlen(pattern);
    struct rd_router_path *path =
        counted_alloc(router, sizeof(*path) + len + 1);

    if (!path) {
        return RESTD_ENOMEM;
    }
    memcpy(path->text, pattern, len);
    path->len = len;
    path->hash = rd_router_hash(pattern, len);
    path->node = node;
    path->next = router->paths;
    router->paths = path;
    router->paths_n++;
    return 0;
}

static int route_link(struct rd_router *router, struct rd_router_node *node,
                      unsigned number, struct rd_route *route,
                      struct restd_error *error)
{
    if (node->routes[number]) {
        return rd_error(error, RESTD_EEXIST, "%s %s is the same as %s",
                        router->methods[number], route->pattern,
                        node->routes[number]->pattern);
    }
    if (node->methods == 0 && route->params_n == 0 &&
        fixed_path_add(router, route->pattern, node) != 0) {
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    node->routes[number] = route;
    node->methods |= 1u << number | 1u << RESTD_OPTIONS;
    if (number == RESTD_GET) {
        node->methods |= 1u << RESTD_HEAD;
    }
    router->allowed |= node->methods;
    return 0;
}

int rd_router_add(struct rd_router *router, const char *method,
                  const char *pattern, restd_handler_fn *handler, void *data,
                  struct restd_error *error)
{
    struct rd_router_node *node = NULL;
    unsigned methods_n = router->methods_n;

    if (!handler) {
        return rd_error(error, RESTD_EINVAL, "no handler for %s", pattern);
    }
    int number = method_add(router, method, error);
    if (number < 0) {
        return number;
    }
    struct rd_route *route = counted_alloc(router, sizeof(*route));
    if (!route || !(route->pattern = rd_mem_strdup(pattern))) {
        rd_mem_free(route);
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    route->handler = handler;
    route->data = data;
    int rc = pattern_walk(router, route, &node, error);
    if (rc == 0) {
        RD_ASSERT(node);
        rc = route_link(router, node, (unsigned)number, route, error);
    }
    if (rc != 0) {
        route_free(route);
        /* A method that no route has must stay unknown. */
        while (router->methods_n > methods_n) {
            method_remove_last(router);
        }
    }
    return rc;
}

int rd_router_freeze(struct rd_router *router)
{
    uint32_t size = 8;

    while (size < router->paths_n * 2) {
        size <<= 1;
    }
    router->table = counted_alloc(router, size * sizeof(*router->table));
    if (!router->table) {
        return RESTD_ENOMEM;
    }
    router->mask = size - 1;
    for (struct rd_router_path *p = router->paths; p; p = p->next) {
        uint32_t i = p->hash & router->mask;
        while (router->table[i]) {
            i = (i + 1) & router->mask;
        }
        router->table[i] = p;
    }
    return 0;
}

size_t rd_router_bytes(const struct rd_router *router)
{
    return router->bytes;
}

uint32_t rd_router_allowed(const struct rd_router *router)
{
    return router->allowed;
}

int rd_router_allow_text(const struct rd_router *router, uint32_t allowed,
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
