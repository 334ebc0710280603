/* SPDX-License-Identifier: MIT */
/* The event loop over libev's epoll backend.
 *
 * A watcher's callback pointer travels in its `data` field, so that one libev
 * callback serves all and the watchers stay 48 bytes. Posts are a stack of
 * intrusive nodes that the receiver takes whole and turns round; one ev_async
 * wakes it. Signals and children are never watched here (4.33 has
 * EVFLAG_NOSIGMASK inverted). Threads: see loop.h. */
#include "net/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
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

struct restd_loop {
    struct ev_loop *ev;
    ev_async wake;
    ev_prepare prepare;
    ev_check check;
    struct rd_loop_hooks hooks;
    _Atomic(struct rd_post *) posts;
    pthread_t thread;
    atomic_int running;
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
    atomic_init(&loop->running, 0);
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
        /* Starting forgets what was posted before. */
        ev_async_send(loop->ev, &loop->wake);
    }
}

void rd_loop_free(struct restd_loop *loop)
{
    if (!loop) {
        return;
    }
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
    loop->hooks = *hooks;
    ev_prepare_start(loop->ev, &loop->prepare);
    /* First among the watchers of a turn: the others use its clock. */
    ev_set_priority(&loop->check, EV_MAXPRI);
    ev_check_start(loop->ev, &loop->check);
}

void rd_loop_run(struct restd_loop *loop)
{
    loop->thread = pthread_self();
    atomic_store_explicit(&loop->running, 1, memory_order_release);
    loop_arm(loop);
    ev_run(loop->ev, 0);
    atomic_store_explicit(&loop->running, 0, memory_order_release);
}

void rd_loop_break(struct restd_loop *loop)
{
    ev_break(loop->ev, EVBREAK_ALL);
}

int rd_loop_is_running(const struct restd_loop *loop)
{
    return atomic_load_explicit(&loop->running, memory_order_acquire);
}

int rd_loop_is_current(const struct restd_loop *loop)
{
    return !rd_loop_is_running(loop) ||
           pthread_equal(loop->thread, pthread_self());
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
        &loop->posts, &head, post, memory_order_release, memory_order_relaxed));
    ev_async_send(loop->ev, &loop->wake);
}

void rd_loop_unpost(struct restd_loop *loop, struct rd_post *post)
{
    struct rd_post *head = atomic_load(&loop->posts);

    RD_ASSERT(!atomic_load(&loop->running));
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

/* libev 4.33 doubles from 0 until the entry fits, and then rounds the bytes up
 * to 4096 less four pointers: asking for a power of two gives a little more
 * than that, and asking for one entry more would double it. */
#define EV_ROUND 4096u
#define EV_SLACK ((uint32_t)sizeof(void *) * 4)

static uint32_t grown_entries(uint32_t wanted)
{
    uint32_t n = 2;

    while (n < wanted) {
        n <<= 1;
    }
    uint64_t bytes = (uint64_t)n * RD_LOOP_FD_ENTRY_BYTES;
    if (bytes > EV_ROUND - EV_SLACK) {
        bytes = (bytes + RD_LOOP_FD_ENTRY_BYTES + (EV_ROUND - 1) + EV_SLACK) &
                ~(uint64_t)(EV_ROUND - 1);
        n = (uint32_t)((bytes - EV_SLACK) / RD_LOOP_FD_ENTRY_BYTES);
    }
    return n;
}

/* The smallest request whose result holds fd_max. */
static uint32_t entries_to_ask(uint32_t fd_max)
{
    uint32_t ask = 2;

    while (grown_entries(ask) <= fd_max) {
        ask <<= 1;
    }
    return ask;
}

uint32_t rd_loop_fd_entries(uint32_t fd_max)
{
    return grown_entries(entries_to_ask(fd_max));
}

static void nothing_cb(struct ev_loop *ev, ev_io *w, int revents)
{
    (void)ev;
    (void)w;
    (void)revents;
}

/* A copy of `fd` with a number in [least, most], -1 if none can be had. */
static int dup_within(int fd, int least, int most)
{
    for (int at = most; at >= least;) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, at);
        if (copy >= 0 && copy <= most) {
            return copy;
        }
        if (copy >= 0) {
            close(copy);
        }
        int next = at - (most / 16 + 1);
        at = next < least && at > least ? least : next;
    }
    return -1;
}

int rd_loop_reserve_fds(struct restd_loop *loop, uint32_t fd_max)
{
    int most = (int)entries_to_ask(fd_max) - 1;
    int low = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    ev_io w;

    if (low < 0) {
        return RESTD_EOS;
    }
    /* Any number in the upper half makes libev double up to it. The program
     * around us may have all of them open; then the next power is taken. */
    int high = dup_within(low, most / 2 + 1, most);
    if (high < 0) {
        high = dup_within(low, most + 1, most * 2 + 1);
    }
    if (high >= 0) {
        ev_io_init(&w, nothing_cb, high, EV_READ);
        ev_io_start(loop->ev, &w);
        ev_run(loop->ev, EVRUN_NOWAIT);
        ev_io_stop(loop->ev, &w);
        close(high);
    }
    close(low);
    loop_arm(loop);
    return high >= 0 ? 0 : RESTD_EOS;
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
