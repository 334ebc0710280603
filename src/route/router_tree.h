/* SPDX-License-Identifier: MIT */
/* What router.c fills, router_mount.c joins, router_freeze.c builds, and
 * router_match.c and router_prefix.c walk. Owner, lifetime and threads: see
 * router.h. */
#ifndef RD_ROUTE_ROUTER_TREE_H
#define RD_ROUTE_ROUTER_TREE_H

#include <string.h>

#include "route/router.h"

/* Routes whose patterns are equal. */
struct rd_router_end {
    const struct rd_route *routes; /* by rd_route.next */
    uint32_t methods;              /* HEAD with GET; OPTIONS; 0: none */
};

struct rd_router_node {
    const struct rd_segment *segment;
    struct rd_router_node *next;     /* typed sibling */
    struct rd_router_node *typed;    /* children of a class or regex */
    struct rd_router_node *variable; /* child */
    struct rd_router_end here, rest;
    int texts; /* has text children */
};

/* A text child of a node; from NULL: a whole path without variables. */
struct rd_router_edge {
    const struct rd_router_node *from;
    struct rd_router_node *to;
    uint32_t hash;
    struct restd_slice text;
};

/* The exact routes, one block. */
struct rd_router_tree {
    struct rd_router_node *nodes; /* nodes[0]: the root */
    struct rd_router_edge *edges;
    const struct rd_router_edge **table; /* open addressing */
    uint32_t mask;
    unsigned nodes_n, edges_n;
};

/* A pattern of a PREFIX router; the first that fits is taken. */
struct rd_router_entry {
    const struct rd_pattern *pattern;
    struct rd_router_end end;
};

struct rd_routes {
    struct rd_route **list;
    unsigned n, max;
};

struct restd_router {
    struct rd_scope *root;       /* its own */
    struct rd_scope *scopes;     /* all, the deeper before the others */
    struct rd_routes routes;     /* by number; NULL: replaced */
    struct rd_routes exact;      /* those of the tree, by pattern */
    struct rd_routes listed;     /* all, by text and method */
    struct rd_router_tree *tree; /* NULL: not frozen */
    unsigned regexes_n;          /* of routes and bases */
    unsigned plugins_n;          /* of routes and scopes; frozen */
    int sealed;                  /* a server runs with it */
    unsigned methods_n;
    /* Tokens by number; from RESTD_METHODS_N on they are the router's. */
    const char *methods[RD_METHODS_MAX];
    uint32_t allowed; /* frozen */
    size_t bytes;     /* frozen */
};

/* router.c, for router_mount.c and router_options.c */
RESTD_MUST_CHECK int rd_routes_reserve(struct rd_routes *routes, unsigned more);
/* RESTD_ESTATE once it is sealed. */
RESTD_MUST_CHECK int rd_router_check_open(const struct restd_router *router,
                                          struct restd_error *error);
/* The route of the tree that is the same as `route`, or NULL. */
const struct rd_route *rd_router_same(const struct restd_router *router,
                                      const struct rd_route *route);
/* Number of a token, which is given one; RESTD_EINVAL, RESTD_ELIMIT,
 * RESTD_ENOMEM. */
int rd_router_method_add(struct restd_router *router, const char *token,
                         struct restd_error *error);
void rd_router_methods_cut(struct restd_router *router, unsigned n);
/* Puts a complete route in, for which there is room; a PREFIX one replaces. */
void rd_router_link(struct restd_router *router, struct rd_route *route);

void rd_route_options_fini(const struct restd_route_options *options);

/* router_freeze.c: undoes rd_router_freeze(). */
void rd_router_thaw(struct restd_router *router);

/* router_prefix.c: as rd_router_match() for the lists, deepest base first.
 * 1: match->route. */
int rd_router_match_lists(const struct restd_router *router, unsigned method,
                          const struct rd_uri_path *path,
                          struct rd_router_work *work, struct rd_match *match);
/* `path` as a PREFIX router sees it: no empty segment but the last. */
void rd_router_collapse(const struct rd_uri_path *path,
                        struct rd_uri_path *out);

/* `from` NULL: of a whole path. */
static inline uint32_t rd_router_hash(const struct rd_router_tree *tree,
                                      const struct rd_router_node *from,
                                      struct restd_slice text)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    if (from) {
        h ^= (uint32_t)(from - tree->nodes) * 2654435761u;
    }
    for (size_t i = 0; i < text.len; i++) {
        h = (h ^ (unsigned char)text.data[i]) * 16777619u;
    }
    return h;
}

/* The edge of that text from a node (NULL: a whole path). */
static inline const struct rd_router_edge *
rd_router_edge(const struct rd_router_tree *tree,
               const struct rd_router_node *from, struct restd_slice text)
{
    uint32_t hash = rd_router_hash(tree, from, text);
    const struct rd_router_edge *e;

    for (uint32_t i = hash & tree->mask; (e = tree->table[i]) != NULL;
         i = (i + 1) & tree->mask) {
        if (e->hash == hash && e->from == from && e->text.len == text.len &&
            memcmp(e->text.data, text.data, text.len) == 0) {
            return e;
        }
    }
    return NULL;
}

static inline const struct rd_route *
rd_router_pick(const struct rd_router_end *end, unsigned method)
{
    const struct rd_route *route = NULL;

    if (end->methods & (1u << method)) {
        for (route = end->routes; route && route->method != method;) {
            route = route->next;
        }
        if (!route && method == RESTD_METHOD_HEAD) {
            return rd_router_pick(end, RESTD_METHOD_GET);
        }
    }
    return route;
}

#endif
