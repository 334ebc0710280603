/* SPDX-License-Identifier: MIT */
/* A loop thread's engine: what happens around each poll, and what others may
 * ask of it by post: new sockets, beats, drain, stop.
 *
 * A turn starts behind the poll with one clock read and ends before the next,
 * where closed slots are freed, memory pressure is answered and, in a drain,
 * the end is noticed. Thread: [loop], but for init, fini and the inbox. */
#include "net/reactor.h"

#include <string.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"

/* libev's ready lists and event array, per ready connection. */
#define READY_BYTES 32u
/* Idle connections closed per turn under pressure. */
#define PRESSURE_CLOSE_N 8
/* Of these, ones that turn out to have a request are served instead. */
#define SACRIFICE_TRIES 16

uint64_t rd_reactor_clock(struct rd_reactor *r)
{
    r->now_ns = rd_clock_ns();
    return r->now_ns;
}

static void set_tick(struct rd_reactor *r)
{
    r->tick_now = (uint32_t)(r->turn_ns / (RD_TICK_MS * 1000000u));
}

static void conn_expire(struct rd_wheel_node *node, void *data)
{
    (void)data;
    rd_conn_expire(RD_CONTAINER_OF(node, struct rd_conn, timer));
}

static void after_poll(void *data)
{
    struct rd_reactor *r = data;

    r->turn++;
    r->turn_ns = rd_reactor_clock(r);
    set_tick(r);
    atomic_store_explicit(&r->turn_start_ns, r->turn_ns, memory_order_relaxed);
    if (r->wheel.n == 0) {
        r->wheel.now = r->tick_now;
    } else if (r->wheel.now != r->tick_now) {
        rd_wheel_advance(&r->wheel, r->tick_now, conn_expire, NULL);
    }
}

static void free_dead(struct rd_reactor *r)
{
    while (r->dead) {
        struct rd_conn *conn = r->dead;
        r->dead = conn->next_dead;
        rd_count(&r->counters->states[RD_CONN_CLOSED], (uint64_t)-1);
        if (conn->flags & RD_CONN_PINNED) {
            conn->flags |= RD_CONN_REAPED;
        } else {
            rd_slab_give(&r->slots, conn);
        }
    }
}

/* What the protocol has left for the turn's end, then the slots. */
static void finish_turn(struct rd_reactor *r)
{
    while (r->work) {
        r->work = 0;
        r->protocol->turn_end(r);
    }
    free_dead(r);
}

static int pick_idle(struct rd_wheel_node *node, void *data)
{
    (void)data;
    struct rd_conn *conn = RD_CONTAINER_OF(node, struct rd_conn, timer);
    return conn->state == RD_CONN_IDLE;
}

int rd_reactor_close_oldest_idle(struct rd_reactor *r,
                                 enum rd_close_reason reason)
{
    if (rd_counter(&r->counters->states[RD_CONN_IDLE]) == 0) {
        return 0;
    }
    for (int i = 0; i < SACRIFICE_TRIES; i++) {
        struct rd_wheel_node *node = rd_wheel_pick(&r->wheel, pick_idle, NULL);
        if (!node) {
            return 0;
        }
        if (rd_conn_sacrifice(RD_CONTAINER_OF(node, struct rd_conn, timer),
                              reason)) {
            return 1;
        }
    }
    return 0;
}

static void relieve(struct rd_reactor *r)
{
    int level = rd_budget_level(r->ledger.budget);

    if (level >= RD_LEVEL_CLOSE) {
        for (int i = 0; i < PRESSURE_CLOSE_N; i++) {
            if (!rd_reactor_close_oldest_idle(r, RD_CLOSE_PRESSURE)) {
                break;
            }
        }
        finish_turn(r);
    }
    if (level >= RD_LEVEL_TRIM) {
        r->protocol->trim(r);
        rd_slab_trim(&r->chunks.slab, 0);
        rd_slab_trim(&r->slots, 0);
        rd_ledger_trim(&r->ledger);
    }
}

uint64_t rd_reactor_active(const struct rd_reactor *r)
{
    return rd_counter(&r->counters->accepted) -
           rd_counter(&r->counters->closed);
}

static void check_drained(struct rd_reactor *r)
{
    if ((r->draining || r->stopping) && r->accept_closed && !r->is_over &&
        rd_reactor_active(r) == 0 && r->away_n == 0) {
        r->is_over = 1;
        if (r->ops.drained) {
            r->ops.drained(r, r->ops.data);
        }
        if (!r->is_guest) {
            rd_loop_break(r->loop);
        }
    }
}

static void before_poll(void *data)
{
    struct rd_reactor *r = data;

    finish_turn(r);
    if (__builtin_expect(rd_budget_level(r->ledger.budget) > 0, 0)) {
        relieve(r);
    }
    if (r->draining || r->stopping) {
        check_drained(r);
    }
    /* The tick is only needed while there is something to expire. */
    if ((r->wheel.n > 0) != rd_timer_is_active(&r->tick)) {
        if (r->wheel.n > 0) {
            rd_timer_start(r->loop, &r->tick, RD_TICK_MS, RD_TICK_MS);
        } else {
            rd_timer_stop(r->loop, &r->tick);
        }
    }
#ifdef RD_DEBUG
    /* A slice that outlives its turn shows. */
    memset(r->in, 0xdb, r->in_size);
#endif
    rd_count(&r->counters->busy_ns, r->now_ns - r->turn_ns);
    atomic_store_explicit(&r->turn_start_ns, 0, memory_order_relaxed);
}

static void tick_cb(struct rd_timer *timer)
{
    (void)timer; /* after_poll() has done it */
}

static void beat_run(struct rd_post *post)
{
    struct rd_reactor *r = RD_CONTAINER_OF(post, struct rd_reactor, beat);
    uint64_t sent =
        atomic_load_explicit(&r->beat_sent_ns, memory_order_relaxed);
    uint64_t now = rd_clock_ns();

    atomic_store_explicit(&r->beat_lag_ns, now - sent, memory_order_relaxed);
    atomic_store_explicit(&r->beat_seen_ns, now, memory_order_relaxed);
    /* Idle pages decay by half each second, so that a peak is not kept. */
    rd_slab_trim(&r->chunks.slab, r->chunks.slab.empty_n / 2);
    rd_slab_trim(&r->slots, r->slots.empty_n / 2);
}

static void set_deadline(struct rd_wheel_node *node, void *data)
{
    struct rd_conn *conn = RD_CONTAINER_OF(node, struct rd_conn, timer);
    (void)data;
    rd_conn_set_deadline(conn);
}

static void count_requests(struct rd_wheel_node *node, void *data)
{
    *(uint64_t *)data +=
        rd_conn_requests_n(RD_CONTAINER_OF(node, struct rd_conn, timer));
}

static void announce_drain(struct rd_reactor *r)
{
    uint64_t pending = 0;

    rd_wheel_each(&r->wheel, count_requests, &pending);
    r->announced = 1;
    rd_count(&r->counters->drain_base, 1 + rd_counter(&r->counters->requests) -
                                           rd_counter(&r->counters->lost) -
                                           pending);
}

static void drain_run(struct rd_post *post)
{
    struct rd_reactor *r = RD_CONTAINER_OF(post, struct rd_reactor, drain);

    if (!r->announced) {
        announce_drain(r);
    }
    if (atomic_load(&r->drain_now) && !r->draining) {
        r->draining = 1;
        r->drain_tick = r->tick_now;
        rd_wheel_each(&r->wheel, set_deadline, NULL);
    }
}

static void close_conn(struct rd_wheel_node *node, void *data)
{
    struct rd_conn *conn = RD_CONTAINER_OF(node, struct rd_conn, timer);
    unsigned n = rd_conn_requests_n(conn);

    (void)data;
    rd_count(&conn->reactor->counters->cut,
             n > 0 ? n : conn->state == RD_CONN_READING);
    rd_conn_close(conn, RD_CLOSE_STOP);
}

static void stop_run(struct rd_post *post)
{
    struct rd_reactor *r = RD_CONTAINER_OF(post, struct rd_reactor, stop);

    r->stopping = 1;
    rd_wheel_each(&r->wheel, close_conn, NULL);
}

static void accept_end_run(struct rd_post *post)
{
    struct rd_reactor *r = RD_CONTAINER_OF(post, struct rd_reactor, accept_end);
    /* Posted behind the last hand-over, so nothing follows. */
    r->accept_closed = 1;
}

static uint64_t array_bytes(uint32_t fd_max)
{
    return (uint64_t)rd_loop_fd_entries(fd_max) * RD_LOOP_FD_ENTRY_BYTES;
}

uint64_t rd_reactor_fixed_bytes(size_t in_size, uint32_t fd_max)
{
    return rd_page_round(in_size) + RD_OUT_BYTES + array_bytes(fd_max) +
           rd_page_round(sizeof(struct rd_counters));
}

static void init_posts(struct rd_reactor *r)
{
    rd_post_init(&r->inbox.post, rd_inbox_run);
    rd_post_init(&r->beat, beat_run);
    rd_post_init(&r->drain, drain_run);
    rd_post_init(&r->stop, stop_run);
    rd_post_init(&r->accept_end, accept_end_run);
}

void rd_reactor_attach(struct rd_reactor *r)
{
    struct rd_loop_hooks hooks = {before_poll, after_poll, r};

    rd_loop_set_hooks(r->loop, &hooks);
}

void rd_reactor_detach(struct rd_reactor *r)
{
    if (!r->is_over) {
        stop_run(&r->stop);
        rd_inbox_run(&r->inbox.post); /* refuses them, as it is stopping */
        finish_turn(r);
        r->is_over = 1;
    }
    rd_timer_stop(r->loop, &r->tick);
    rd_hangup_set_stop(&r->hangups);
    rd_loop_set_hooks(r->loop, NULL);
}

int rd_reactor_init(struct rd_reactor *r, unsigned index,
                    const struct restd_options *options,
                    struct rd_budget *budget, struct rd_log *log,
                    const struct rd_protocol *protocol, size_t in_size,
                    uint32_t fd_max, struct restd_loop *host)
{
    memset(r, 0, sizeof(*r));
    r->loop = host;
    r->is_guest = host != NULL;
    r->index = index;
    r->options = options;
    r->protocol = protocol;
    r->stream = &rd_stream_tcp;
    r->log = log;
    r->in_size = in_size;
    rd_ledger_init(&r->ledger, budget);
    rd_slab_init(&r->slots, &r->ledger, RD_MEM_CONNECTIONS,
                 sizeof(struct rd_conn), READY_BYTES);
    rd_chunk_pool_init(&r->chunks, &r->ledger);
    init_posts(r);
    rd_timer_init(&r->tick, tick_cb);
    if (rd_ledger_charge(&r->ledger, RD_MEM_FIXED,
                         rd_reactor_fixed_bytes(in_size, fd_max)) != 0) {
        return RESTD_EBUDGET;
    }
    r->in = rd_page_alloc(in_size);
    r->out.buf = rd_page_alloc(RD_OUT_BYTES);
    r->out.size = RD_OUT_BYTES;
    r->counters = rd_page_alloc(sizeof(*r->counters));
    if (!r->in || !r->out.buf || !r->counters) {
        return RESTD_ENOMEM;
    }
    int rc = r->is_guest ? 0 : rd_loop_new(&r->loop);
    if (rc == 0 && !r->is_guest) {
        rc = rd_loop_reserve_fds(r->loop, fd_max);
    }
    if (rc == 0) {
        rc = rd_hangup_set_init(&r->hangups, r->loop);
    }
    if (rc == 0) {
        if (!r->is_guest) {
            rd_reactor_attach(r);
        }
        r->turn_ns = rd_reactor_clock(r);
        set_tick(r);
        rd_wheel_init(&r->wheel, r->tick_now);
        atomic_store(&r->beat_seen_ns, r->turn_ns);
    }
    return rc;
}

void rd_reactor_fini(struct rd_reactor *r)
{
    if (!r->options) {
        return;
    }
    rd_slab_fini(&r->slots);
    rd_chunk_pool_fini(&r->chunks);
    if (!r->is_guest) {
        rd_loop_free(r->loop);
    }
    rd_hangup_set_fini(&r->hangups);
    rd_page_free(r->in, r->in_size);
    rd_page_free(r->out.buf, RD_OUT_BYTES);
    rd_page_free(r->counters, sizeof(*r->counters));
    rd_ledger_fini(&r->ledger);
}

void rd_reactor_run(struct rd_reactor *r)
{
    atomic_store(&r->tid, rd_thread_tid());
    rd_log_attach(r->log);
    r->is_over = 0;
    rd_loop_run(r->loop);
    free_dead(r);
}
