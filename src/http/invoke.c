/* SPDX-License-Identifier: MIT */
/* Calls plugins and handlers: `before` functions from the outermost router
 * inwards, wrappers nested, `after` functions from the outermost router
 * inwards. A router without plugins costs a few loads. Thread: [loop]. */
#include "http/invoke.h"

#include "http/h1.h"

static int before_list(const struct rd_plugins *plugins,
                       struct restd_request *request,
                       struct restd_response *response)
{
    int rc = 0;

    for (unsigned i = 0; i < plugins->n && rc == 0; i++) {
        const struct restd_plugin *p = &plugins->list[i];
        rc = p->before ? p->before(request, response, p->data) : 0;
    }
    return rc;
}

int rd_invoke_before_routing(struct restd_request *request,
                             struct restd_response *response)
{
    const struct rd_scope *root = rd_router_scope(request->h1->view->router);

    return before_list(&root->plugins, request, response);
}

/* Without the outermost router, whose turn was before. */
static int before_scopes(const struct rd_scope *scope,
                         struct restd_request *request,
                         struct restd_response *response)
{
    if (!scope->parent) {
        return 0;
    }
    int rc = before_scopes(scope->parent, request, response);
    return rc ? rc : before_list(&scope->plugins, request, response);
}

/* Of plugins that are not the outermost router's. */
static unsigned kinds_of(const struct rd_match *match)
{
    return match->route   ? match->route->has
           : match->scope ? match->scope->has
                          : 0;
}

int rd_invoke_before_handler(struct restd_request *request,
                             struct restd_response *response)
{
    const struct rd_match *match = request->match;

    if (!(kinds_of(match) & RD_HAS_BEFORE)) {
        return 0;
    }
    int rc = before_scopes(match->scope, request, response);
    if (rc == 0 && match->route) {
        rc = before_list(&match->route->plugins, request, response);
    }
    return rc;
}

/* Owner: the call that made it, on the stack. */
struct restd_next {
    const struct rd_route *route;
    unsigned index; /* of the next wrapper */
    int is_used;
    struct restd_request *request;
    struct restd_response *response;
};

static int call(const struct restd_next *next)
{
    const struct rd_route *route = next->route;

    if (next->index == route->wrappers_n) {
        return route->handler(next->request, next->response, route->data);
    }
    const struct restd_plugin *p = route->wrappers[next->index];
    struct restd_next inner = *next;
    inner.index++;
    inner.is_used = 0;
    return p->wrapper(next->request, next->response, &inner, p->data);
}

int restd_next(struct restd_next *next)
{
    if (next->is_used) {
        return RESTD_ESTATE;
    }
    next->is_used = 1;
    return call(next);
}

int rd_invoke_handler(struct restd_request *request,
                      struct restd_response *response)
{
    const struct restd_next first = {request->match->route, 0, 0, request,
                                     response};
    return call(&first);
}

static void after_list(const struct rd_plugins *plugins,
                       struct restd_request *request,
                       const struct restd_outcome *outcome)
{
    for (unsigned i = 0; i < plugins->n; i++) {
        const struct restd_plugin *p = &plugins->list[i];
        if (p->after) {
            p->after(request, outcome, p->data);
        }
    }
}

static void after_scopes(const struct rd_scope *scope,
                         struct restd_request *request,
                         const struct restd_outcome *outcome)
{
    if (scope->parent) {
        after_scopes(scope->parent, request, outcome);
    }
    after_list(&scope->plugins, request, outcome);
}

void rd_invoke_after(struct restd_request *request, int status,
                     uint64_t content_bytes, int aborted)
{
    const struct rd_match *match = request->match;
    const struct rd_scope *root = rd_router_scope(request->h1->view->router);
    const struct rd_scope *scope = match->scope ? match->scope : root;

    if (root->plugins.n == 0 && !(kinds_of(match) & RD_HAS_AFTER)) {
        return;
    }
    struct restd_outcome outcome = {.status = status,
                                    .content_bytes = content_bytes,
                                    .duration_ns =
                                        rd_reactor_clock(request->h1->reactor) -
                                        request->start_ns,
                                    .aborted = aborted};
    after_scopes(scope, request, &outcome);
    if (match->route) {
        after_list(&match->route->plugins, request, &outcome);
    }
}
