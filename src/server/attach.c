/* SPDX-License-Identifier: MIT */
/* Servers on a loop that others run: one reactor and the acceptor as guests of
 * the control loop of another server.
 *
 * It ends by a drain or stop of its own, in messages as with threads and then
 * one behind the last of them (`gone`), or at once when the loop has ended. From
 * then on (`detached`) it neither posts nor is it posted to, so that it can be
 * freed before its host or, if nothing else is asked of it, behind.
 * Threads: [control] of the host, or any while the loop does not run. */
#include "base/assert.h"
#include "base/error.h"
#include "base/thread.h"
#include "http/desk.h"
#include "server/server.h"

static void begin_run(struct rd_post *post)
{
    struct restd_server *s = RD_CONTAINER_OF(post, struct restd_server, begin);

    atomic_store(&s->loops[0]->reactor.tid, rd_thread_tid());
    rd_acceptor_watch(&s->acceptor);
}

static int set_detached(struct restd_server *s)
{
    pthread_mutex_lock(&s->lock);
    int was = s->detached;
    s->detached = 1;
    pthread_mutex_unlock(&s->lock);
    return was;
}

void rd_attach_cancel(struct restd_server *s)
{
    (void)rd_loop_set_guest(s->control, NULL, NULL);
}

/* Twice, as somebody may have posted until it was detached. */
static void gone_run(struct rd_post *post)
{
    struct restd_server *s = RD_CONTAINER_OF(post, struct restd_server, gone);

    if (!set_detached(s)) {
        rd_desk_close(&s->loops[0]->h1);
        rd_reactor_detach(&s->loops[0]->reactor);
        rd_loop_post(s->control, &s->gone);
    } else {
        rd_attach_cancel(s);
        rd_control_tell(s);
    }
}

void rd_attach_leave(struct restd_server *s)
{
    rd_loop_post(s->control, &s->gone);
}

static void unpost_all(struct restd_server *s)
{
    struct rd_reactor *r = &s->loops[0]->reactor;
    struct rd_acceptor *a = &s->acceptor;
    struct rd_post *posts[] = {
        &r->inbox.post, &r->beat,  &r->drain, &r->stop,
        &r->accept_end, &a->drain, &a->stop,  &a->call,
        &s->drain,      &s->stop,  &s->begin, &s->loops[0]->drained,
        &s->gone};

    for (unsigned i = 0; i < sizeof(posts) / sizeof(posts[0]); i++) {
        rd_loop_unpost(s->control, posts[i]);
    }
    rd_desk_unpost(&s->loops[0]->h1);
}

/* The loop does not run (any more). */
static void end_now(void *data)
{
    struct restd_server *s = data;

    (void)set_detached(s);
    rd_acceptor_end(&s->acceptor);
    rd_reactor_detach(&s->loops[0]->reactor);
    rd_offload_fini(&s->offload);
    rd_h1_offload_recall(&s->loops[0]->h1);
    rd_desk_close(&s->loops[0]->h1);
    rd_control_over(s);
    unpost_all(s);
    rd_control_tell(s);
}

int rd_attach_reserve(struct restd_server *s, struct restd_error *error)
{
    int rc = rd_loop_set_guest(s->control, end_now, s);

    return rc ? rd_error(error, rc,
                         rc == RESTD_EEXIST ? "the loop has a server already"
                                            : "the loop runs, or has ended")
              : 0;
}

void rd_attach_start(struct restd_server *s)
{
    rd_post_init(&s->begin, begin_run);
    rd_post_init(&s->gone, gone_run);
    rd_reactor_attach(&s->loops[0]->reactor);
    s->control_started = 1;
    rd_loop_post(s->control, &s->begin);
}

void rd_attach_post(struct restd_server *s, struct rd_post *post)
{
    pthread_mutex_lock(&s->lock);
    int here = !s->detached && rd_loop_is_fresh(s->control);
    if (!s->detached && !here) {
        rd_loop_post(s->control, post);
    }
    pthread_mutex_unlock(&s->lock);
    if (here) { /* nobody has run it yet */
        rd_attach_cancel(s);
        end_now(s);
    }
}

int restd_server_new_on(struct restd_loop *loop,
                        const struct restd_options *options,
                        struct restd_server **out, struct restd_error *error)
{
    return rd_server_make(loop, options, out, error);
}
