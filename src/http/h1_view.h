/* SPDX-License-Identifier: MIT */
/* What one loop has of a snapshot, that is of a configuration with its routes.
 *
 * Control offers a view; the loop picks it up between two events. New requests
 * use the newest one. A request that outlives its turn stays on that in which
 * it began, and is counted in it, a plain integer; so is the loop itself as
 * long as the view is its newest. At 0 the view is posted home.
 *
 * Owner: the snapshot (server/reload.c). Lifetime: until all of its views have
 * come home. Thread: [loop] from the offer on, the first fields read only. */
#ifndef RD_HTTP_H1_VIEW_H
#define RD_HTTP_H1_VIEW_H

#include <stdalign.h>

#include "net/chunk.h"
#include "net/loop.h"
#include "route/router.h"

struct rd_h1;

struct rd_h1_view {
    alignas(64) const struct restd_router *router;
    const struct restd_options *options;
    struct rd_regex_work *regex; /* NULL: the router has no regex */
    int has_plugins;             /* any, anywhere */
    unsigned users;
    struct rd_post released;
    struct restd_loop *home; /* where that is posted; NULL: nowhere */
    void *owner;
};

/* RESTD_ENOMEM. The router is frozen. */
RESTD_MUST_CHECK int rd_h1_view_init(struct rd_h1_view *view,
                                     const struct restd_router *router,
                                     const struct restd_options *options);
void rd_h1_view_fini(struct rd_h1_view *view);

/* [control] Returns the one that was offered before and not picked up: nobody
 * has it. */
struct rd_h1_view *rd_h1_offer(struct rd_h1 *h1, struct rd_h1_view *view);
/* That post. */
void rd_h1_pick_up(struct rd_post *post);
/* From now on it is the newest. */
void rd_h1_view_set(struct rd_h1 *h1, struct rd_h1_view *view);
void rd_h1_view_unuse(struct rd_h1_view *view);
/* Memory that output refers to, and that nobody holds for it, goes with the
 * routes: until it has gone it uses the view. */
void rd_h1_view_pin(struct rd_h1_view *view, struct rd_chain *out);

#endif
