/* SPDX-License-Identifier: MIT */
/* Looking a path up in PREFIX routers: a list of patterns in the order of
 * adding, of which the first that fits is taken, with or without the method.
 *
 * The outermost router has one such list, or one for each PREFIX router that
 * was mounted into an EXACT one; they are tried by the order of scopes, the
 * deepest base first, until one has the method. Thread: any. */
#include "base/slice.h"
#include "route/router_tree.h"

void rd_router_collapse(const struct rd_uri_path *path, struct rd_uri_path *out)
{
    out->n = 0;
    for (unsigned i = 0; i < path->n; i++) {
        if (path->segments[i].len > 0 || i + 1 == path->n) {
            out->segments[out->n++] = path->segments[i];
        }
    }
}

int rd_router_match_lists(const struct restd_router *router, unsigned method,
                          const struct rd_uri_path *path,
                          struct rd_router_work *work, struct rd_match *match)
{
    for (const struct rd_scope *s = router->scopes; s; s = s->next) {
        const struct rd_router_entry *e = s->entries;
        unsigned left = s->entries_n;

        while (left > 0 && !rd_pattern_fits(e->pattern, path, work->regex)) {
            left--;
            e++;
        }
        if (left > 0) {
            match->allowed |= e->end.methods;
            match->route = rd_router_pick(&e->end, method);
            if (match->route) {
                return 1;
            }
        }
    }
    return 0;
}
