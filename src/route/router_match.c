/* SPDX-License-Identifier: MIT */
/* From method and path to a route.
 *
 * A path that is not in the table of whole paths, or whose route there has not
 * the method, walks the tree: text child first, then those of a class or
 * regex, then the variable one, then the rest, going back where a branch has
 * no route for the method. A node is reached by one path only, so a walk
 * visits at most every node once. What the tree has not may be in a list
 * (router_prefix.c). Values are cut out of the path when the route is known.
 * Thread: any. */
#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/slice.h"
#include "route/router_tree.h"

struct walk {
    const struct rd_router_tree *tree;
    const struct rd_uri_path *path;
    unsigned method;
    struct rd_regex_work *regex;
    struct rd_match *match;
};

/* 1 to end the walk. */
static int arrive(struct walk *w, const struct rd_router_end *end)
{
    w->match->allowed |= end->methods;
    w->match->route = rd_router_pick(end, w->method);
    return w->match->route != NULL;
}

static int walk_node(struct walk *w, const struct rd_router_node *node,
                     unsigned depth)
{
    if (depth == w->path->n) {
        return arrive(w, &node->here);
    }
    struct restd_slice segment = w->path->segments[depth];
    if (node->texts) {
        const struct rd_router_edge *edge =
            rd_router_edge(w->tree, node, segment);
        if (edge && walk_node(w, edge->to, depth + 1)) {
            return 1;
        }
    }
    for (const struct rd_router_node *c = node->typed; c; c = c->next) {
        if (rd_segment_fits(c->segment, segment, w->regex) &&
            walk_node(w, c, depth + 1)) {
            return 1;
        }
    }
    /* An empty segment is no value: "/a/" is not "/a/{id}". */
    if (node->variable && segment.len > 0 &&
        walk_node(w, node->variable, depth + 1)) {
        return 1;
    }
    return arrive(w, &node->rest);
}

/* Segments from number `i` on, at `to`; a slash of their own stays escaped. */
static struct restd_slice rest_join(const struct rd_uri_path *path, unsigned i,
                                    char *to)
{
    char *start = to;

    for (unsigned first = i; i < path->n; i++) {
        struct restd_slice s = path->segments[i];
        if (i > first) {
            *to++ = '/';
        }
        for (size_t k = 0; k < s.len; k++) {
            if (s.data[k] == '/') {
                memcpy(to, "%2F", 3);
                to += 3;
            } else {
                *to++ = s.data[k];
            }
        }
    }
    return rd_slice(start, (size_t)(to - start));
}

static void fill_params(struct rd_match *match, const struct rd_uri_path *path,
                        char *scratch)
{
    const struct rd_pattern *p = match->route->compiled;

    match->params_n = p->params_n;
    for (unsigned i = 0; i < p->params_n; i++) {
        unsigned at = p->params[i];
        match->params[i] = p->segments[at].kind == RD_SEGMENT_REST
                               ? rest_join(path, at, scratch)
                               : path->segments[at];
    }
}

/* The outermost scope is the last, and fits. */
static const struct rd_scope *scope_of(const struct restd_router *router,
                                       const struct rd_uri_path *path,
                                       const struct rd_uri_path *collapsed,
                                       struct rd_regex_work *regex)
{
    const struct rd_scope *s = router->scopes;

    while (s->parent &&
           !rd_pattern_fits(s->pattern,
                            s->mode == RESTD_ROUTER_PREFIX ? collapsed : path,
                            regex)) {
        s = s->next;
    }
    return s;
}

int rd_router_match(const struct restd_router *router, unsigned method,
                    struct restd_slice raw, int plain,
                    struct rd_router_work *work, struct rd_match *match)
{
    const struct rd_router_tree *tree = router->tree;
    struct rd_uri_path path, collapsed;

    RD_ASSERT(tree && 2 * raw.len <= work->size);
    match->params_n = 0;
    if (plain) {
        const struct rd_router_edge *edge = rd_router_edge(tree, NULL, raw);
        const struct rd_route *route =
            edge ? rd_router_pick(&edge->to->here, method) : NULL;
        if (route) {
            match->route = route;
            match->scope = route->scope;
            return 0;
        }
    }
    match->route = NULL;
    match->scope = router->root;
    match->allowed = 0;
    int rc = rd_uri_split(raw, work->scratch, &path);
    if (rc != 0) {
        return rc;
    }
    struct walk w = {tree, &path, method, work->regex, match};
    if (!walk_node(&w, tree->nodes, 0)) {
        rd_router_collapse(&path, &collapsed);
        w.path = &collapsed;
        (void)rd_router_match_lists(router, method, &collapsed, work, match);
    }
    if (match->route) {
        match->scope = match->route->scope;
        fill_params(match, w.path, work->scratch + raw.len);
        return 0;
    }
    match->scope = scope_of(router, &path, &collapsed, work->regex);
    return match->allowed ? -405 : -404;
}

const struct rd_scope *rd_router_scope(const struct restd_router *router)
{
    return router->root;
}

size_t rd_router_work_bytes(const struct restd_router *router,
                            size_t target_max)
{
    return rd_page_round(2 * target_max) +
           (router && router->regexes_n > 0 ? RD_REGEX_WORK_BYTES : 0);
}

int rd_router_work_init(struct rd_router_work *work,
                        const struct restd_router *router, size_t target_max)
{
    work->size = 2 * target_max;
    work->regex = NULL;
    work->scratch = rd_page_alloc(work->size);
    if (!work->scratch || (router && router->regexes_n > 0 &&
                           rd_regex_work_new(&work->regex) != 0)) {
        rd_router_work_fini(work);
        return RESTD_ENOMEM;
    }
    return 0;
}

void rd_router_work_fini(struct rd_router_work *work)
{
    rd_page_free(work->scratch, work->size);
    rd_regex_work_free(work->regex);
    work->scratch = NULL;
    work->regex = NULL;
}

int restd_router_supports(struct restd_router *router, const char *method,
                          const char *path)
{
    unsigned number = rd_router_method(router, rd_slice_str(method));
    struct rd_router_work work;
    struct rd_match match;

    if (number == 0 || rd_router_freeze(router) != 0 ||
        rd_router_work_init(&work, router, strlen(path) + 1) != 0) {
        return 0;
    }
    int rc =
        rd_router_match(router, number, rd_slice_str(path), 0, &work, &match);
    rd_router_work_fini(&work);
    return rc == 0;
}
