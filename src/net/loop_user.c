/* SPDX-License-Identifier: MIT */
/* Timers and messages for programs that use a loop, restd/loop.h. Thread: as
 * each function says. */
#include <restd/loop.h>

#include "base/assert.h"
#include "base/mem.h"
#include "net/loop.h"

struct restd_timer {
    struct rd_timer timer;
    struct restd_loop *loop;
    restd_timer_fn *fn;
    void *data;
};

static void timer_run(struct rd_timer *timer)
{
    struct restd_timer *t = RD_CONTAINER_OF(timer, struct restd_timer, timer);
    t->fn(t, t->data);
}

int restd_timer_new(struct restd_loop *loop, uint32_t first_ms,
                    uint32_t repeat_ms, restd_timer_fn *fn, void *data,
                    struct restd_timer **timer)
{
    RD_ASSERT(rd_loop_is_current(loop));
    struct restd_timer *t = rd_mem_alloc(sizeof(*t));

    if (!t) {
        return RESTD_ENOMEM;
    }
    t->loop = loop;
    t->fn = fn;
    t->data = data;
    rd_timer_init(&t->timer, timer_run);
    rd_loop_update_time(loop);
    rd_timer_start(loop, &t->timer, first_ms, repeat_ms);
    *timer = t;
    return 0;
}

void restd_timer_free(struct restd_timer *timer)
{
    if (!timer) {
        return;
    }
    RD_ASSERT(rd_loop_is_current(timer->loop));
    rd_timer_stop(timer->loop, &timer->timer);
    rd_mem_free(timer);
}

struct restd_post {
    struct rd_post post;
    struct restd_loop *loop;
    restd_post_fn *fn;
    void *data;
    int is_dead; /* [loop] freed while it was queued */
};

void rd_loop_user_post(struct rd_post *post)
{
    struct restd_post *p = RD_CONTAINER_OF(post, struct restd_post, post);

    if (p->is_dead) {
        rd_mem_free(p);
    } else {
        p->fn(p->data); /* may free it */
    }
}

void rd_loop_user_drop(struct rd_post *post)
{
    struct restd_post *p = RD_CONTAINER_OF(post, struct restd_post, post);

    if (p->is_dead) {
        rd_mem_free(p);
    }
}

int restd_post_new(struct restd_loop *loop, restd_post_fn *fn, void *data,
                   struct restd_post **post)
{
    struct restd_post *p = rd_mem_alloc(sizeof(*p));

    if (!p) {
        return RESTD_ENOMEM;
    }
    rd_post_init(&p->post, rd_loop_user_post);
    p->loop = loop;
    p->fn = fn;
    p->data = data;
    *post = p;
    return 0;
}

void restd_post_send(struct restd_post *post)
{
    rd_loop_post(post->loop, &post->post);
}

void restd_post_free(struct restd_post *post)
{
    if (!post) {
        return;
    }
    RD_ASSERT(rd_loop_is_current(post->loop));
    if (!atomic_load(&post->post.queued)) {
        rd_mem_free(post);
    } else if (rd_loop_is_running(post->loop)) {
        post->is_dead = 1;
    } else {
        rd_loop_unpost(post->loop, &post->post);
        rd_mem_free(post);
    }
}
