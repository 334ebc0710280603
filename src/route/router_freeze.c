/* SPDX-License-Identifier: MIT */
/* Building what matching walks: a tree of the exact routes with a hash table
 * of its text edges and of the paths without variables; the entries of PREFIX
 * routers; the wrappers of each route.
 *
 * The exact routes come in the order of their patterns, so those that share
 * nodes are neighbours, children of a node that have a class or regex arrive
 * in the order in which they are to be tried, and everything can be counted
 * before it is made. Thread: see router.h. */
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "route/router_tree.h"

static void end_add(struct restd_router *router, struct rd_router_end *end,
                    struct rd_route *route)
{
    route->next = end->routes;
    end->routes = route;
    end->methods |= 1u << route->method | 1u << RESTD_METHOD_OPTIONS;
    if (route->method == RESTD_METHOD_GET) {
        end->methods |= 1u << RESTD_METHOD_HEAD;
    }
    router->allowed |= end->methods;
}

/* Leading segments that a route has in common with the one before it. */
static unsigned shared_n(const struct rd_routes *exact, unsigned i)
{
    const struct rd_pattern *a = i > 0 ? exact->list[i - 1]->compiled : NULL;
    const struct rd_pattern *b = exact->list[i]->compiled;
    unsigned n = 0;

    while (a && n < a->n && n < b->n &&
           rd_segment_compare(&a->segments[n], &b->segments[n]) == 0) {
        n++;
    }
    return n;
}

static int is_fixed(const struct rd_pattern *p)
{
    unsigned i = 0;

    while (i < p->n && p->segments[i].kind == RD_SEGMENT_TEXT) {
        i++;
    }
    return i == p->n;
}

static void edge_add(struct rd_router_tree *tree, struct rd_router_node *from,
                     struct restd_slice text, struct rd_router_node *to)
{
    struct rd_router_edge *edge = &tree->edges[tree->edges_n++];
    uint32_t i;

    edge->from = from;
    edge->to = to;
    edge->text = text;
    edge->hash = rd_router_hash(tree, from, text);
    for (i = edge->hash & tree->mask; tree->table[i];) {
        i = (i + 1) & tree->mask;
    }
    tree->table[i] = edge;
}

static struct rd_router_node *child_add(struct rd_router_tree *tree,
                                        struct rd_router_node *parent,
                                        const struct rd_segment *segment)
{
    struct rd_router_node *node = &tree->nodes[tree->nodes_n++];
    struct rd_router_node **at = &parent->typed;

    node->segment = segment;
    if (segment->kind == RD_SEGMENT_TEXT) {
        parent->texts = 1;
        edge_add(tree, parent, segment->text, node);
    } else if (segment->kind == RD_SEGMENT_VARIABLE) {
        parent->variable = node;
    } else {
        while (*at) {
            at = &(*at)->next;
        }
        *at = node;
    }
    return node;
}

static void tree_fill(struct restd_router *router, struct rd_router_tree *tree)
{
    const struct rd_routes *exact = &router->exact;
    struct rd_router_node *way[RD_URI_SEGMENTS_MAX + 1] = {NULL};

    way[0] = &tree->nodes[tree->nodes_n++];
    for (unsigned i = 0; i < exact->n; i++) {
        struct rd_route *route = exact->list[i];
        const struct rd_pattern *p = route->compiled;
        unsigned d = shared_n(exact, i);
        int is_new = d < p->n;
        int rest = p->segments[p->n - 1].kind == RD_SEGMENT_REST;
        for (; d < p->n - (unsigned)rest; d++) {
            way[d + 1] = child_add(tree, way[d], &p->segments[d]);
        }
        if (is_new && is_fixed(p)) {
            edge_add(tree, NULL, rd_slice_str(p->text), way[p->n]);
        }
        end_add(router, rest ? &way[p->n - 1]->rest : &way[p->n]->here, route);
    }
}

static int tree_build(struct restd_router *router)
{
    const struct rd_routes *exact = &router->exact;
    size_t nodes_n = 1, edges_n = 0, slots_n = 4;

    for (unsigned i = 0; i < exact->n; i++) {
        const struct rd_pattern *p = exact->list[i]->compiled;
        unsigned d = shared_n(exact, i);
        edges_n += d < p->n && is_fixed(p);
        for (; d < p->n; d++) {
            nodes_n += p->segments[d].kind != RD_SEGMENT_REST;
            edges_n += p->segments[d].kind == RD_SEGMENT_TEXT;
        }
    }
    while (slots_n < 2 * edges_n) {
        slots_n *= 2;
    }
    size_t size = sizeof(struct rd_router_tree) +
                  nodes_n * sizeof(struct rd_router_node) +
                  edges_n * sizeof(struct rd_router_edge) +
                  slots_n * sizeof(struct rd_router_edge *);
    struct rd_router_tree *tree = rd_mem_alloc(size);
    if (!tree) {
        return RESTD_ENOMEM;
    }
    tree->nodes = (struct rd_router_node *)(void *)(tree + 1);
    tree->edges = (struct rd_router_edge *)(void *)(tree->nodes + nodes_n);
    tree->table =
        (const struct rd_router_edge **)(void *)(tree->edges + edges_n);
    tree->mask = (uint32_t)slots_n - 1;
    tree_fill(router, tree);
    router->tree = tree;
    router->bytes += size;
    return 0;
}

/* The patterns of a PREFIX router in the order of adding. */
static int entries_build(struct restd_router *router, struct rd_scope *scope)
{
    const struct rd_routes *routes = &router->routes;
    struct rd_router_entry *last = NULL;
    unsigned n = 0;

    for (unsigned i = 0; i < routes->n; i++) {
        n += routes->list[i] && routes->list[i]->list == scope;
    }
    if (n == 0) {
        return 0;
    }
    scope->entries = rd_mem_alloc(n * sizeof(*last));
    if (!scope->entries) {
        return RESTD_ENOMEM;
    }
    router->bytes += n * sizeof(*last);
    for (unsigned i = 0; i < routes->n; i++) {
        struct rd_route *route = routes->list[i];
        if (!route || route->list != scope) {
            continue;
        }
        if (!last || strcmp(last->pattern->text, route->pattern) != 0) {
            last = &scope->entries[scope->entries_n++];
            last->pattern = route->compiled;
        }
        end_add(router, &last->end, route);
    }
    return 0;
}

static unsigned wrappers_in(const struct rd_plugins *plugins)
{
    unsigned n = 0;

    for (unsigned i = 0; i < plugins->n; i++) {
        n += plugins->list[i].wrapper != NULL;
    }
    return n;
}

/* Outermost first, so filled from the end. */
static int wrappers_build(struct restd_router *router, struct rd_route *route)
{
    const struct rd_scope *scope = route->scope;
    const struct rd_plugins *plugins = &route->plugins;
    unsigned n = wrappers_in(plugins);

    for (const struct rd_scope *s = scope; s; s = s->parent) {
        n += wrappers_in(&s->plugins);
    }
    if (n == 0) {
        return 0;
    }
    route->wrappers = rd_mem_alloc(n * sizeof(plugins->list));
    if (!route->wrappers) {
        return RESTD_ENOMEM;
    }
    router->bytes += n * sizeof(plugins->list);
    route->wrappers_n = n;
    while (plugins) {
        for (unsigned i = plugins->n; i-- > 0;) {
            if (plugins->list[i].wrapper) {
                route->wrappers[--n] = &plugins->list[i];
            }
        }
        plugins = scope ? &scope->plugins : NULL;
        scope = scope ? scope->parent : NULL;
    }
    return 0;
}

static unsigned kinds_in(const struct rd_plugins *plugins)
{
    unsigned has = 0;

    for (unsigned i = 0; i < plugins->n; i++) {
        has |= plugins->list[i].before ? RD_HAS_BEFORE : 0;
        has |= plugins->list[i].after ? RD_HAS_AFTER : 0;
    }
    return has;
}

/* Those that requests call: one may have nothing but a `free`. */
static unsigned called_n(const struct rd_plugins *plugins)
{
    unsigned n = 0;

    for (unsigned i = 0; i < plugins->n; i++) {
        const struct restd_plugin *p = &plugins->list[i];
        n += p->before || p->wrapper || p->after;
    }
    return n;
}

static void scope_note(struct restd_router *router, struct rd_scope *scope)
{
    unsigned has = 0;

    for (const struct rd_scope *s = scope; s->parent; s = s->parent) {
        has |= kinds_in(&s->plugins);
    }
    scope->has = (uint8_t)has;
    router->plugins_n += called_n(&scope->plugins);
    router->bytes += sizeof(*scope) + rd_pattern_bytes(scope->pattern) +
                     scope->plugins.n * sizeof(*scope->plugins.list);
}

static void route_note(struct restd_router *router, struct rd_route *route)
{
    const struct restd_route_options *o = &route->options;

    route->has = (uint8_t)(route->scope->has | kinds_in(&route->plugins));
    router->plugins_n += called_n(&route->plugins);
    router->bytes += sizeof(*route) + rd_pattern_bytes(route->compiled) +
                     route->plugins.n * sizeof(*route->plugins.list) +
                     (o->summary ? strlen(o->summary) : 0) +
                     (o->consumes ? strlen(o->consumes) : 0) +
                     (o->produces ? strlen(o->produces) : 0);
}

int rd_router_freeze(struct restd_router *router)
{
    const struct rd_routes *routes = &router->routes;
    int rc;

    if (router->tree) {
        return 0;
    }
    router->allowed = 0;
    router->plugins_n = 0;
    router->bytes =
        sizeof(*router) + 3 * routes->max * sizeof(struct rd_route *);
    rc = tree_build(router);
    for (struct rd_scope *s = router->scopes; s && rc == 0; s = s->next) {
        scope_note(router, s);
        rc = entries_build(router, s);
    }
    for (unsigned i = 0; i < routes->n && rc == 0; i++) {
        if (routes->list[i]) {
            route_note(router, routes->list[i]);
            rc = wrappers_build(router, routes->list[i]);
        }
    }
    if (rc != 0) {
        rd_router_thaw(router);
    }
    return rc;
}

void rd_router_seal(struct restd_router *router)
{
    router->sealed = 1;
}

unsigned rd_router_plugins(const struct restd_router *router)
{
    return router->plugins_n;
}

void rd_router_thaw(struct restd_router *router)
{
    if (!router->tree) {
        return;
    }
    rd_mem_free(router->tree);
    router->tree = NULL;
    for (struct rd_scope *s = router->scopes; s; s = s->next) {
        rd_mem_free(s->entries);
        s->entries = NULL;
        s->entries_n = 0;
    }
    for (unsigned i = 0; i < router->routes.n; i++) {
        struct rd_route *route = router->routes.list[i];
        if (route) {
            rd_mem_free(route->wrappers);
            route->wrappers = NULL;
            route->wrappers_n = 0;
        }
    }
}

size_t rd_router_bytes(const struct restd_router *router)
{
    return router->bytes;
}

uint32_t rd_router_allowed(const struct restd_router *router)
{
    return router->allowed;
}
