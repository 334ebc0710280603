/* SPDX-License-Identifier: MIT */
/* Mounting: the routes and scopes of a child become its parent's, their
 * patterns compiled anew with the base in front.
 *
 * All that can fail comes first and touches only what is new: patterns, an
 * array of them, room in the parent's arrays, method numbers (which are given
 * back). What follows moves pointers. Thread: see restd/router.h. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/slice.h"
#include "route/router_tree.h"

struct mount {
    struct restd_router *router, *child;
    const char *base;
    struct restd_error *error;
    struct rd_pattern **patterns; /* of the child's routes, then its scopes */
    unsigned patterns_n;
    uint8_t methods[RD_METHODS_MAX]; /* of the child: number here */
};

static unsigned level(const struct rd_scope *scope)
{
    unsigned n = 0;

    for (; scope->parent; scope = scope->parent) {
        n++;
    }
    return n;
}

/* Deeper, or more specific, or inside. */
static int is_before(const struct rd_scope *a, const struct rd_scope *b)
{
    if (a->pattern->n != b->pattern->n) {
        return a->pattern->n > b->pattern->n;
    }
    int order = rd_pattern_compare(a->pattern, b->pattern);
    return order ? order < 0 : level(a) > level(b);
}

static void scope_link(struct restd_router *router, struct rd_scope *scope)
{
    struct rd_scope **at = &router->scopes;

    while (!is_before(scope, *at)) {
        at = &(*at)->next;
    }
    scope->next = *at;
    *at = scope;
    router->regexes_n += scope->pattern->regexes_n;
}

static int pattern_join(struct mount *m, const char *text,
                        enum restd_router_mode mode, int base,
                        struct rd_pattern **out)
{
    size_t size = strlen(m->base) + strlen(text) + 1;
    char *joined = rd_mem_alloc(size);

    if (!joined) {
        return rd_error(m->error, RESTD_ENOMEM, "out of memory");
    }
    (void)snprintf(joined, size, "%s%s", m->base, text);
    int rc = rd_pattern_new(joined, mode, base, out, m->error);
    rd_mem_free(joined);
    return rc;
}

static int methods_map(struct mount *m)
{
    for (unsigned i = 1; i < m->child->methods_n; i++) {
        int number =
            rd_router_method_add(m->router, m->child->methods[i], m->error);
        if (number < 0) {
            return number;
        }
        m->methods[i] = (uint8_t)number;
    }
    return 0;
}

static int route_prepare(struct mount *m, unsigned i)
{
    const struct rd_route *route = m->child->routes.list[i];
    struct rd_route probe = {0};
    int rc;

    if (!route) {
        return 0;
    }
    rc = pattern_join(m, route->pattern,
                      route->list ? RESTD_ROUTER_PREFIX : RESTD_ROUTER_EXACT, 0,
                      &m->patterns[i]);
    if (rc != 0 || route->list) {
        return rc;
    }
    probe.compiled = m->patterns[i];
    probe.method = m->methods[route->method];
    const struct rd_route *same = rd_router_same(m->router, &probe);
    if (same) {
        return rd_error(m->error, RESTD_EEXIST, "%s %s is the same as %s",
                        m->router->methods[probe.method], probe.compiled->text,
                        same->pattern);
    }
    return 0;
}

static int prepare(struct mount *m)
{
    struct restd_router *child = m->child;
    unsigned n = child->routes.n;

    m->patterns_n = n;
    for (struct rd_scope *s = child->scopes; s; s = s->next) {
        m->patterns_n++;
    }
    m->patterns = rd_mem_alloc(m->patterns_n * sizeof(struct rd_pattern *));
    if (!m->patterns || rd_routes_reserve(&m->router->routes, n) != 0 ||
        rd_routes_reserve(&m->router->exact, n) != 0 ||
        rd_routes_reserve(&m->router->listed, n) != 0) {
        return rd_error(m->error, RESTD_ENOMEM, "out of memory");
    }
    int rc = methods_map(m);
    /* The base by itself first, for the clearer error. */
    for (struct rd_scope *s = child->scopes; rc == 0 && s; s = s->next) {
        rc = pattern_join(m, s->base, s->mode, 1, &m->patterns[n++]);
    }
    for (unsigned i = 0; rc == 0 && i < child->routes.n; i++) {
        rc = route_prepare(m, i);
    }
    return rc;
}

static void commit(struct mount *m)
{
    struct restd_router *router = m->router, *child = m->child;
    int joins = router->root->mode == RESTD_ROUTER_PREFIX;
    unsigned n = child->routes.n;

    rd_router_thaw(child);
    child->root->parent = router->root;
    for (unsigned i = 0; i < n; i++) {
        struct rd_route *route = child->routes.list[i];
        if (route) {
            rd_pattern_free(route->compiled);
            route->compiled = m->patterns[i];
            route->pattern = route->compiled->text;
            route->method = m->methods[route->method];
            route->list = joins ? router->root : route->list;
            rd_router_link(router, route);
        }
    }
    while (child->scopes) {
        struct rd_scope *scope = child->scopes;
        child->scopes = scope->next;
        rd_pattern_free(scope->pattern);
        scope->pattern = m->patterns[n++];
        scope->base = scope->pattern->text;
        scope_link(router, scope);
    }
    child->routes.n = 0;
    restd_router_free(child);
}

int restd_router_mount(struct restd_router *router, const char *base,
                       struct restd_router *child, struct restd_error *error)
{
    struct mount m = {
        .router = router, .child = child, .base = base, .error = error};
    unsigned methods_n = router->methods_n;
    int rc = rd_router_check_open(router, error);

    if (rc != 0) {
        return rc;
    }
    if (!base || !child || child == router) {
        return rd_error(error, RESTD_EINVAL, "no base, or no other router");
    }
    if (router->root->mode == RESTD_ROUTER_PREFIX &&
        child->root->mode == RESTD_ROUTER_EXACT) {
        return rd_error(error, RESTD_EINVAL,
                        "a PREFIX router cannot take an EXACT one, at \"%s\"",
                        base);
    }
    if (strcmp(base, "/") == 0) {
        m.base = "";
    }
    rc = prepare(&m);
    if (rc == 0) {
        commit(&m);
    } else {
        for (unsigned i = 0; m.patterns && i < m.patterns_n; i++) {
            rd_pattern_free(m.patterns[i]);
        }
        rd_router_methods_cut(router, methods_n);
    }
    rd_mem_free(m.patterns);
    return rc;
}
