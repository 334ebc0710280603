/* SPDX-License-Identifier: MIT */
/* From method and path to a route.
 *
 * A path that is not in the table of fixed paths, or whose route there has not
 * the method, walks the tree: text child first, then the variable one, going
 * back where a branch has no route. A node is reached by one path only, so a
 * walk visits at most every node once. Thread: any. */
#include <string.h>

#include "base/slice.h"
#include "http/router_tree.h"
#include "http/uri.h"

static const struct rd_route *node_route(const struct rd_router_node *node,
                                         unsigned method)
{
    const struct rd_route *route = node->routes[method];

    if (!route && method == RESTD_HEAD) {
        route = node->routes[RESTD_GET];
    }
    return route;
}

static const struct rd_router_node *find_fixed(const struct rd_router *router,
                                               struct restd_slice path)
{
    uint32_t hash = rd_router_hash(path.data, path.len);
    const struct rd_router_path *p;

    for (uint32_t i = hash & router->mask; (p = router->table[i]) != NULL;
         i = (i + 1) & router->mask) {
        if (p->hash == hash && p->len == path.len &&
            memcmp(p->text, path.data, path.len) == 0) {
            return p->node;
        }
    }
    return NULL;
}

struct walk {
    const struct rd_uri_path *path;
    unsigned method;
    struct rd_match *match;
    struct restd_slice params[RD_PARAMS_MAX];
};

static void walk_node(struct walk *w, const struct rd_router_node *node,
                      unsigned depth, unsigned params_n)
{
    if (depth == w->path->n) {
        const struct rd_route *route = node_route(node, w->method);

        w->match->allowed |= node->methods;
        if (route && !w->match->route) {
            w->match->route = route;
            w->match->params_n = params_n;
            memcpy(w->match->params, w->params,
                   params_n * sizeof(w->params[0]));
        }
        return;
    }
    struct restd_slice segment = w->path->segments[depth];
    for (const struct rd_router_node *c = node->children; c; c = c->next) {
        if (rd_slice_eq(rd_slice(c->text, c->len), segment)) {
            walk_node(w, c, depth + 1, params_n);
            break;
        }
    }
    /* An empty segment is no value: "/a/" is not "/a/{id}". */
    if (node->variable && segment.len > 0 && params_n < RD_PARAMS_MAX) {
        w->params[params_n] = segment;
        walk_node(w, node->variable, depth + 1, params_n + 1);
    }
}

int rd_router_match(const struct rd_router *router, unsigned method,
                    struct restd_slice path, int plain, char *scratch,
                    struct rd_match *match)
{
    match->route = NULL;
    match->allowed = 0;
    match->params_n = 0;
    if (plain) {
        const struct rd_router_node *node = find_fixed(router, path);
        if (node) {
            match->route = node_route(node, method);
            if (match->route) {
                return 0;
            }
        }
    }
    struct rd_uri_path split;
    int rc = rd_uri_split(path, scratch, &split);
    if (rc != 0) {
        return rc;
    }
    struct walk w = {.path = &split, .method = method, .match = match};
    walk_node(&w, router->root, 0, 0);
    if (match->route) {
        return 0;
    }
    return match->allowed ? -405 : -404;
}
