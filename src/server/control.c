/* SPDX-License-Identifier: MIT */
/* The control thread: 1 Hz sampling and beats, and the order of a drain or a
 * stop.
 *
 *   RUNNING --drain--> DRAINING --stop, or drain_timeout--> STOPPING
 *      |                   |                                   |
 *      +------stop---------|-----------------------------------+
 *                          +---all loops empty---> STOPPED <---+
 *
 * Drain: for shutdown_delay nothing changes but the state. After drain_silence
 * the acceptor takes what is waiting, closes the listeners and tells each loop
 * that nothing more comes; each loop ends itself when its last connection has
 * gone. Stop: the same, and the connections are closed.
 * Thread: [control]. */
#include <errno.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "server/server.h"

static int state_get(const struct restd_server *s)
{
    return atomic_load_explicit(&s->state, memory_order_relaxed);
}

static void state_set(struct restd_server *s, enum restd_state state)
{
    RD_ASSERT((int)state > state_get(s));
    atomic_store_explicit(&s->state, state, memory_order_relaxed);
    rd_log(s->log, RESTD_LOG_INFO, "state: %s", restd_state_name(state));
}

void rd_control_over(struct restd_server *s)
{
    if (state_get(s) == RESTD_STATE_STOPPED) {
        return;
    }
    rd_timer_stop(s->control, &s->sampler->timer);
    rd_timer_stop(s->control, &s->drain_timer);
    state_set(s, RESTD_STATE_STOPPED);
    if (s->drain_told) {
        uint64_t finished;
        uint64_t cut;
        rd_stats_drain(s, &finished, &cut);
        rd_log(s->log, RESTD_LOG_NOTICE,
               "drained: %llu requests finished, %llu cut",
               (unsigned long long)finished, (unsigned long long)cut);
    }
}

void rd_control_tell(struct restd_server *s)
{
    uint64_t one = 1;

    pthread_mutex_lock(&s->lock);
    s->finished = 1;
    pthread_cond_broadcast(&s->stopped);
    while (write(s->stopped_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
    /* The last: who waits may free it then. */
    pthread_mutex_unlock(&s->lock);
}

static void drained_run(struct rd_post *post)
{
    struct rd_server_loop *loop =
        RD_CONTAINER_OF(post, struct rd_server_loop, drained);
    struct restd_server *s = loop->server;

    if (++s->drained_n < rd_loops_n(s)) {
        return;
    }
    rd_control_over(s);
    if (s->plan.is_guest) {
        rd_attach_leave(s);
    } else {
        rd_control_tell(s);
        rd_loop_break(s->control);
    }
}

/* [loop] */
static void loop_drained(struct rd_reactor *reactor, void *data)
{
    struct rd_server_loop *loop = data;

    (void)reactor;
    rd_loop_post(loop->server->control, &loop->drained);
}

void rd_control_add(struct rd_server_loop *loop)
{
    rd_post_init(&loop->drained, drained_run);
    loop->reactor.ops.drained = loop_drained;
    loop->reactor.ops.data = loop;
}

static void drain_loops(struct restd_server *s, int now)
{
    for (unsigned i = 0; i < rd_loops_n(s); i++) {
        atomic_store(&s->loops[i]->reactor.drain_now, now);
        rd_loop_post(s->loops[i]->reactor.loop, &s->loops[i]->reactor.drain);
    }
}

static void drain_begin(struct restd_server *s)
{
    s->drain_begun = 1;
    drain_loops(s, 1);
    rd_loop_post(s->acceptor.loop, &s->acceptor.drain);
    rd_timer_start(s->control, &s->drain_timer, s->options.drain_timeout_ms, 0);
}

static void drain_run(struct rd_post *post)
{
    struct restd_server *s = RD_CONTAINER_OF(post, struct restd_server, drain);

    if (state_get(s) >= RESTD_STATE_DRAINING) {
        return;
    }
    state_set(s, RESTD_STATE_DRAINING);
    s->drain_told = 1;
    if (s->options.shutdown_delay_ms == 0 ||
        atomic_load(&s->acceptor.is_shared)) {
        drain_begin(s);
        return;
    }
    drain_loops(s, 0);
    rd_timer_start(s->control, &s->drain_timer, s->options.shutdown_delay_ms,
                   0);
}

static void stop_run(struct rd_post *post)
{
    struct restd_server *s = RD_CONTAINER_OF(post, struct restd_server, stop);
    int state = state_get(s);

    if (state >= RESTD_STATE_STOPPING) {
        return;
    }
    state_set(s, RESTD_STATE_STOPPING);
    for (unsigned i = 0; i < rd_loops_n(s); i++) {
        rd_loop_post(s->loops[i]->reactor.loop, &s->loops[i]->reactor.stop);
    }
    rd_loop_post(s->acceptor.loop, &s->acceptor.stop);
}

static void drain_next(struct rd_timer *timer)
{
    struct restd_server *s =
        RD_CONTAINER_OF(timer, struct restd_server, drain_timer);

    if (!s->drain_begun) {
        drain_begin(s);
        return;
    }
    rd_log(s->log, RESTD_LOG_WARNING,
           "drain took longer than %u ms, closing the rest",
           s->options.drain_timeout_ms);
    stop_run(&s->stop);
}

/* A beat that was not answered yet stays: its age tells how long the loop has
 * been away. */
static void send_beats(struct restd_server *s, uint64_t now_ns)
{
    for (unsigned i = 0; i < rd_loops_n(s); i++) {
        struct rd_reactor *r = &s->loops[i]->reactor;
        if (!atomic_load_explicit(&r->beat.queued, memory_order_acquire)) {
            atomic_store_explicit(&r->beat_sent_ns, now_ns,
                                  memory_order_relaxed);
            rd_loop_post(r->loop, &r->beat);
        }
    }
}

static void sample(struct rd_timer *timer)
{
    struct restd_server *s =
        RD_CONTAINER_OF(timer, struct rd_sampler, timer)->server;
    uint64_t now_ns = rd_clock_ns();

    rd_sampler_tick(s, now_ns);
    send_beats(s, now_ns);
}

int rd_control_init(struct restd_server *s, uint32_t fd_max)
{
    int rc = s->plan.is_guest ? 0 : rd_loop_reserve_fds(s->control, fd_max);

    if (rc != 0) {
        return rc;
    }
    s->sampler->server = s;
    s->sampler->last_ns = rd_clock_ns();
    rd_timer_init(&s->sampler->timer, sample);
    rd_timer_start(s->control, &s->sampler->timer, 1000, 1000);
    rd_timer_init(&s->drain_timer, drain_next);
    for (unsigned i = 0; i < rd_loops_n(s); i++) {
        rd_control_add(s->loops[i]);
    }
    rd_post_init(&s->drain, drain_run);
    rd_post_init(&s->stop, stop_run);
    rd_post_init(&s->reload, rd_reload_run);
    return 0;
}

void *rd_control_main(void *arg)
{
    struct restd_server *s = arg;

    rd_log_attach(s->log);
    rd_loop_run(s->control);
    return NULL;
}
