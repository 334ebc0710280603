/* SPDX-License-Identifier: MIT */
/* A loop's side of a reload: how it comes to the routes and options of a new
 * snapshot, and how it lets go of an old one. No lock, and nothing shared on
 * the way of a request: the loop learns of a view by a post, and counts by
 * itself who uses it. Thread: [loop], but for rd_h1_offer(). */
#include "http/h1_view.h"

#include "base/assert.h"
#include "http/h1.h"
#include "route/regex.h"

int rd_h1_view_init(struct rd_h1_view *view, const struct restd_router *router,
                    const struct restd_options *options)
{
    view->router = router;
    view->options = options;
    view->has_plugins = rd_router_plugins(router) > 0;
    return rd_router_work_bytes(router, 0) > 0 ? rd_regex_work_new(&view->regex)
                                               : 0;
}

void rd_h1_view_fini(struct rd_h1_view *view)
{
    rd_regex_work_free(view->regex);
}

struct rd_h1_view *rd_h1_offer(struct rd_h1 *h1, struct rd_h1_view *view)
{
    struct rd_h1_view *before =
        atomic_exchange_explicit(&h1->offered, view, memory_order_acq_rel);

    rd_loop_post(h1->reactor->loop, &h1->pick_up);
    return before;
}

void rd_h1_view_set(struct rd_h1 *h1, struct rd_h1_view *view)
{
    const struct restd_options *o = view->options;
    struct rd_reactor *r = h1->reactor;

    view->users++;
    h1->newest = h1->view = view;
    h1->work.regex = view->regex;
    h1->options = r->options = o;
    atomic_store_explicit(
        &r->share,
        rd_connections_share(o->connections_max, o->workers, r->index),
        memory_order_relaxed);
}

void rd_h1_pick_up(struct rd_post *post)
{
    struct rd_h1 *h1 = RD_CONTAINER_OF(post, struct rd_h1, pick_up);
    struct rd_h1_view *old = h1->newest;
    struct rd_h1_view *view =
        atomic_exchange_explicit(&h1->offered, NULL, memory_order_acq_rel);

    if (view) {
        rd_h1_view_set(h1, view);
        rd_h1_view_unuse(old);
    }
}

void rd_h1_view_unuse(struct rd_h1_view *view)
{
    RD_ASSERT(view->users > 0);
    if (--view->users == 0 && view->home) {
        rd_loop_post(view->home, &view->released);
    }
}

static void unpin(const struct rd_chunk_ref *ref)
{
    rd_h1_view_unuse(ref->arg);
}

void rd_h1_view_pin(struct rd_h1_view *view, struct rd_chain *out)
{
    for (struct rd_chunk *c = out->head; c; c = c->next) {
        if (c->kind == RD_CHUNK_REF && c->ref.data && !c->ref.release) {
            c->ref.release = unpin;
            c->ref.arg = view;
            view->users++;
        }
    }
}
