/* SPDX-License-Identifier: MIT */
/* The event loop over libev's epoll backend.
 *
 * A watcher's callback pointer travels in its `data` field, so that one libev
 * callback serves all and the watchers stay 48 bytes. Posts are a stack of
 * intrusive nodes that the receiver takes whole and turns round; one ev_async
 * wakes it. Signals and children are never watched here (4.33 has
 * EVFLAG_NOSIGMASK inverted). Threads: see loop.h. */
#include "net/loop.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <ev.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/mem.h"

RD_STATIC_ASSERT(sizeof(ev_io) <= sizeof(struct rd_io), "rd_io too small");
RD_STATIC_ASSERT(sizeof(ev_timer) <= sizeof(struct rd_timer),
                 "rd_timer too small");
RD_STATIC_ASSERT((int)RD_READ == (int)EV_READ && (int)RD_WRITE == (int)EV_WRITE,
                 "event bits");

enum running { FRESH, CLAIMED, RUNNING, ENDED };

struct restd_loop {
    struct ev_loop *ev;
    ev_async wake;
    ev_prepare prepare;
    ev_check check;
    struct rd_loop_hooks hooks;
    _Atomic(struct rd_post *) posts;
    atomic_int armed; /* the wake-up is there to be sent */
    pthread_t thread;
    atomic_int running; /* enum running */
    uint32_t fds_n;     /* 0: nothing is reserved yet */
    rd_loop_ended_fn *ended;
    void *ended_data;
    struct rd_log *log;
};

static void posts_run(struct restd_loop *loop)
{
    struct rd_post *taken =
        atomic_exchange_explicit(&loop->posts, NULL, memory_order_acquire);
    struct rd_post *first = NULL;

    while (taken) {
        struct rd_post *next = taken->next;
        taken->next = first;
        first = taken;
        taken = next;
    }
    while (first) {
        struct rd_post *post = first;
        first = post->next;
        /* Before the call: what is posted from now on must run again. An
         * exchange, as a plain store could pass the loads of the call: the
         * poster would find it queued, and the call would not see why. */
        (void)atomic_exchange_explicit(&post->queued, 0, memory_order_acq_rel);
        post->fn(post);
    }
}

static void guest_call(struct restd_loop *loop)
{
    rd_loop_ended_fn *ended = loop->ended;

    loop->ended = NULL;
    if (ended) {
        ended(loop->ended_data);
    }
}

static void wake_cb(struct ev_loop *ev, ev_async *w, int revents)
{
    (void)w;
    (void)revents;
    posts_run(ev_userdata(ev));
}

static void prepare_cb(struct ev_loop *ev, ev_prepare *w, int revents)
{
    struct restd_loop *loop = ev_userdata(ev);
    (void)w;
    (void)revents;
    loop->hooks.before_poll(loop->hooks.data);
}

static void check_cb(struct ev_loop *ev, ev_check *w, int revents)
{
    struct restd_loop *loop = ev_userdata(ev);
    (void)w;
    (void)revents;
    loop->hooks.after_poll(loop->hooks.data);
}

int rd_loop_new(struct restd_loop **out)
{
    struct restd_loop *loop = rd_mem_alloc(sizeof(*loop));

    if (!loop) {
        return RESTD_ENOMEM;
    }
    loop->ev = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    if (!loop->ev) {
        rd_mem_free(loop);
        return RESTD_EOS;
    }
    ev_set_userdata(loop->ev, loop);
    atomic_init(&loop->posts, NULL);
    atomic_init(&loop->armed, 0);
    atomic_init(&loop->running, FRESH);
    ev_async_init(&loop->wake, wake_cb);
    ev_prepare_init(&loop->prepare, prepare_cb);
    ev_check_init(&loop->check, check_cb);
    *out = loop;
    return 0;
}

/* The async watcher opens libev's wake-up descriptor, so it must come after
 * rd_loop_reserve_fds() and before the first post. */
static void loop_arm(struct restd_loop *loop)
{
    if (!ev_is_active(&loop->wake)) {
        ev_async_start(loop->ev, &loop->wake);
        atomic_store(&loop->armed, 1);
        /* For what was posted before. */
        ev_async_send(loop->ev, &loop->wake);
    }
}

void rd_loop_free(struct restd_loop *loop)
{
    if (!loop) {
        return;
    }
    guest_call(loop);
    struct rd_post *post = atomic_load(&loop->posts);
    while (post) {
        struct rd_post *next = post->next;
        if (post->fn == rd_loop_user_post) {
            rd_loop_user_drop(post);
        }
        post = next;
    }
    ev_loop_destroy(loop->ev);
    rd_mem_free(loop);
}

void rd_loop_set_hooks(struct restd_loop *loop,
                       const struct rd_loop_hooks *hooks)
{
    if (!hooks) {
        ev_prepare_stop(loop->ev, &loop->prepare);
        ev_check_stop(loop->ev, &loop->check);
        return;
    }
    loop->hooks = *hooks;
    ev_prepare_start(loop->ev, &loop->prepare);
    /* First among the watchers of a turn: the others use its clock. */
    ev_set_priority(&loop->check, EV_MAXPRI);
    ev_check_start(loop->ev, &loop->check);
}

int rd_loop_set_guest(struct restd_loop *loop, rd_loop_ended_fn *ended,
                      void *data)
{
    if (ended &&
        (!rd_loop_is_current(loop) || atomic_load(&loop->running) == ENDED)) {
        return RESTD_ESTATE;
    }
    if (ended && loop->ended) {
        return RESTD_EEXIST;
    }
    loop->ended = ended;
    loop->ended_data = data;
    return 0;
}

void rd_loop_set_log(struct restd_loop *loop, struct rd_log *log)
{
    loop->log = log;
}

struct rd_log *rd_loop_log(const struct restd_loop *loop)
{
    return loop->log;
}

void rd_loop_claim(struct restd_loop *loop, int claim)
{
    atomic_store_explicit(&loop->running, claim ? CLAIMED : FRESH,
                          memory_order_release);
}

void rd_loop_run(struct restd_loop *loop)
{
    loop->thread = pthread_self();
    atomic_store_explicit(&loop->running, RUNNING, memory_order_release);
    loop_arm(loop);
    ev_run(loop->ev, 0);
    atomic_store_explicit(&loop->running, ENDED, memory_order_release);
    guest_call(loop);
}

void rd_loop_break(struct restd_loop *loop)
{
    ev_break(loop->ev, EVBREAK_ALL);
}

int rd_loop_is_fresh(const struct restd_loop *loop)
{
    return atomic_load_explicit(&loop->running, memory_order_acquire) == FRESH;
}

int rd_loop_is_running(const struct restd_loop *loop)
{
    int running = atomic_load_explicit(&loop->running, memory_order_acquire);
    return running == CLAIMED || running == RUNNING;
}

int rd_loop_is_current(const struct restd_loop *loop)
{
    int running = atomic_load_explicit(&loop->running, memory_order_acquire);
    return running == RUNNING ? pthread_equal(loop->thread, pthread_self())
                              : running != CLAIMED;
}

void rd_post_init(struct rd_post *post, void (*fn)(struct rd_post *post))
{
    post->next = NULL;
    post->fn = fn;
    atomic_init(&post->queued, 0);
}

void rd_loop_post(struct restd_loop *loop, struct rd_post *post)
{
    if (atomic_exchange_explicit(&post->queued, 1, memory_order_acq_rel)) {
        return;
    }
    struct rd_post *head =
        atomic_load_explicit(&loop->posts, memory_order_relaxed);
    do {
        post->next = head;
    } while (!atomic_compare_exchange_weak_explicit(
        &loop->posts, &head, post, memory_order_seq_cst, memory_order_relaxed));
    /* Before, libev would poll for a wake-up that it has not got. */
    if (atomic_load(&loop->armed)) {
        ev_async_send(loop->ev, &loop->wake);
    }
}

void rd_loop_unpost(struct restd_loop *loop, struct rd_post *post)
{
    struct rd_post *head = atomic_load(&loop->posts);

    RD_ASSERT(!rd_loop_is_running(loop));
    if (head == post) {
        atomic_store(&loop->posts, post->next);
    }
    for (; head; head = head->next) {
        if (head->next == post) {
            head->next = post->next;
        }
    }
    atomic_store(&post->queued, 0);
}

void rd_loop_update_time(struct restd_loop *loop)
{
    ev_now_update(loop->ev);
}

static void nothing_cb(struct ev_loop *ev, ev_io *w, int revents)
{
    (void)ev;
    (void)w;
    (void)revents;
}

int rd_loop_reserve_fds(struct restd_loop *loop, uint32_t fd_max)
{
    int high = rd_loop_high_fd(fd_max);
    ev_io w;

    if (high >= 0) {
        uint32_t n = rd_loop_fd_entries(fd_max);
        loop->fds_n = n > loop->fds_n ? n : loop->fds_n;
        ev_io_init(&w, nothing_cb, high, EV_READ);
        ev_io_start(loop->ev, &w);
        ev_run(loop->ev, EVRUN_NOWAIT);
        ev_io_stop(loop->ev, &w);
        close(high);
    }
    loop_arm(loop);
    return high >= 0 ? 0 : RESTD_EOS;
}

uint32_t rd_loop_fds_n(const struct restd_loop *loop)
{
    return loop->fds_n ? loop->fds_n : UINT32_MAX;
}

static void io_cb(struct ev_loop *ev, ev_io *w, int revents)
{
    (void)ev;
    rd_io_fn *fn = (rd_io_fn *)w->data;
    fn((struct rd_io *)(void *)w, revents);
}

static ev_io *io_ev(const struct rd_io *io)
{
    return (ev_io *)(uintptr_t)io;
}

void rd_io_init(struct rd_io *io, int fd, rd_io_fn *fn)
{
    ev_io *w = io_ev(io);

    memset(io, 0, sizeof(*io));
    ev_io_init(w, io_cb, fd, 0);
    w->data = (void *)fn;
}

int rd_io_fd(const struct rd_io *io)
{
    return io_ev(io)->fd;
}

void rd_io_watch(struct restd_loop *loop, struct rd_io *io, int events)
{
    ev_io *w = io_ev(io);

    if (ev_is_active(w)) {
        if ((w->events & (EV_READ | EV_WRITE)) == events) {
            return;
        }
        ev_io_stop(loop->ev, w);
        if (events) {
            ev_io_modify(w, events);
        }
    } else if (events) {
        ev_io_set(w, w->fd, events);
    }
    if (events) {
        ev_io_start(loop->ev, w);
    }
}

static void timer_cb(struct ev_loop *ev, ev_timer *w, int revents)
{
    (void)ev;
    (void)revents;
    rd_timer_fn *fn = (rd_timer_fn *)w->data;
    fn((struct rd_timer *)(void *)w);
}

static ev_timer *timer_ev(const struct rd_timer *timer)
{
    return (ev_timer *)(uintptr_t)timer;
}

void rd_timer_init(struct rd_timer *timer, rd_timer_fn *fn)
{
    ev_timer *w = timer_ev(timer);

    memset(timer, 0, sizeof(*timer));
    ev_timer_init(w, timer_cb, 0., 0.);
    w->data = (void *)fn;
}

void rd_timer_start(struct restd_loop *loop, struct rd_timer *timer,
                    uint32_t first_ms, uint32_t repeat_ms)
{
    ev_timer *w = timer_ev(timer);

    ev_timer_stop(loop->ev, w);
    ev_timer_set(w, first_ms / 1e3, repeat_ms / 1e3);
    ev_timer_start(loop->ev, w);
}

void rd_timer_stop(struct restd_loop *loop, struct rd_timer *timer)
{
    ev_timer_stop(loop->ev, timer_ev(timer));
}

int rd_timer_is_active(const struct rd_timer *timer)
{
    return ev_is_active(timer_ev(timer));
}
