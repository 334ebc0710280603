/* SPDX-License-Identifier: MIT */
/* The acceptor's life: what others may change while it runs, and how it ends.
 *
 * A change is a call that the acceptor makes for who waits for its result, so
 * that the table of listeners is never looked at while it changes. A listener
 * that is given up, like all of them in a drain, gets `drain_silence` for
 * clients that have connected under TCP_DEFER_ACCEPT and not sent anything yet:
 * they are not in the queue, and closing would reset them. Then the queue is
 * emptied, as the kernel has completed those connections for us.
 * Thread: [acceptor], see acceptor.h. */
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/thread.h"
#include "net/acceptor.h"

#define ENDING_RETRY_MS 5

void rd_acceptor_watch(struct rd_acceptor *a)
{
    int events = a->is_on && !a->paused && !a->ending ? RD_READ : 0;

    for (unsigned i = 0; i < a->listeners_n; i++) {
        if (a->listeners[i].fd >= 0) {
            rd_io_watch(a->loop, &a->listeners[i].io, events);
        }
    }
}

static void listener_close(struct rd_acceptor *a, struct rd_listener *listener)
{
    if (listener->fd >= 0) {
        rd_io_watch(a->loop, &listener->io, 0);
        if (atomic_load(&a->is_shared)) {
            listener->owns_path = 0;
        }
        listener->leaving = 0;
        rd_listener_close(listener);
    }
}

/* ---- the end */

/* Shuts the door and tells each loop, behind the last hand-over. */
void rd_acceptor_end(struct rd_acceptor *a)
{
    if (a->ended) {
        return;
    }
    a->ending = 1;
    for (unsigned i = 0; i < a->listeners_n; i++) {
        listener_close(a, &a->listeners[i]);
    }
    for (unsigned i = 0; i < a->reactors_n; i++) {
        rd_loop_post(a->reactors[i]->loop, &a->reactors[i]->accept_end);
    }
    rd_timer_stop(a->loop, &a->retry);
    rd_timer_stop(a->loop, &a->silence);
    rd_timer_stop(a->loop, &a->leaving);
    pthread_mutex_lock(&a->lock);
    a->ended = 1; /* a call that comes now would not be made */
    pthread_cond_broadcast(&a->called);
    pthread_mutex_unlock(&a->lock);
    if (!a->is_guest) {
        rd_loop_break(a->loop);
    }
}

static void finish(struct rd_acceptor *a)
{
    int done = 1;

    a->ending = 1;
    rd_acceptor_watch(a);
    for (unsigned i = 0; i < a->listeners_n; i++) {
        if (rd_acceptor_empty(a, &a->listeners[i])) {
            listener_close(a, &a->listeners[i]);
        } else {
            done = 0;
        }
    }
    if (done) {
        rd_acceptor_end(a);
    } else {
        rd_timer_start(a->loop, &a->retry, ENDING_RETRY_MS, 0);
    }
}

static void silence_cb(struct rd_timer *timer)
{
    finish(RD_CONTAINER_OF(timer, struct rd_acceptor, silence));
}

static void drain_run(struct rd_post *post)
{
    struct rd_acceptor *a = RD_CONTAINER_OF(post, struct rd_acceptor, drain);

    if (atomic_load(&a->is_shared)) {
        rd_acceptor_end(a); /* who shares the sockets takes what is waiting */
        return;
    }
    for (unsigned i = 0; i < a->listeners_n; i++) {
        rd_listener_stop_deferring(&a->listeners[i]);
    }
    rd_timer_start(a->loop, &a->silence, a->drain_silence_ms, 0);
}

static void stop_run(struct rd_post *post)
{
    rd_acceptor_end(RD_CONTAINER_OF(post, struct rd_acceptor, stop));
}

static void retry_cb(struct rd_timer *timer)
{
    struct rd_acceptor *a = RD_CONTAINER_OF(timer, struct rd_acceptor, retry);

    if (a->spare < 0) {
        a->spare = rd_acceptor_spare();
    }
    if (a->ending) {
        finish(a);
        return;
    }
    if (a->spare < 0 || rd_budget_level(a->budget) == RD_LEVEL_FULL) {
        return;
    }
    a->paused = 0;
    rd_timer_stop(a->loop, &a->retry);
    rd_acceptor_watch(a);
}

/* ---- changes */

static void call_run(struct rd_post *post)
{
    struct rd_acceptor *a = RD_CONTAINER_OF(post, struct rd_acceptor, call);

    pthread_mutex_lock(&a->lock);
    struct rd_acceptor_call *call = a->calls;
    a->calls = NULL;
    pthread_mutex_unlock(&a->lock);
    if (!call) {
        return;
    }
    int rc = call->fn(a, call->arg);
    pthread_mutex_lock(&a->lock);
    call->rc = rc;
    call->done = 1;
    pthread_cond_broadcast(&a->called);
    pthread_mutex_unlock(&a->lock);
}

int rd_acceptor_call(struct rd_acceptor *a, rd_acceptor_fn *fn, void *arg)
{
    struct rd_acceptor_call call = {fn, arg, RESTD_ESTATE, 0};

    if (a->is_guest && rd_loop_is_current(a->loop)) {
        return a->ended ? RESTD_ESTATE : fn(a, arg);
    }
    pthread_mutex_lock(&a->lock);
    while (a->calls && !a->ended) {
        pthread_cond_wait(&a->called, &a->lock);
    }
    if (!a->ended) {
        /* It is taken out before this function returns. */
        /* cppcheck-suppress autoVariables */
        a->calls = &call;
        rd_loop_post(a->loop, &a->call);
    }
    while (!call.done && !a->ended) {
        pthread_cond_wait(&a->called, &a->lock);
    }
    if (a->calls == &call) {
        a->calls = NULL;
    }
    pthread_mutex_unlock(&a->lock);
    return call.rc;
}

int rd_acceptor_listen(struct rd_acceptor *a, void *arg)
{
    struct rd_listener *listener = arg;

    if (a->ending) {
        return RESTD_ESTATE;
    }
    if ((uint32_t)listener->fd >= rd_loop_fds_n(a->loop)) {
        return RESTD_ELIMIT;
    }
    listener->acceptor = a;
    listener->leaving = 0;
    rd_io_init(&listener->io, listener->fd, rd_acceptor_event);
    if (listener->index >= a->listeners_n) {
        a->listeners_n = listener->index + 1u;
    }
    rd_acceptor_watch(a);
    return 0;
}

static void leaving_cb(struct rd_timer *timer)
{
    struct rd_acceptor *a = RD_CONTAINER_OF(timer, struct rd_acceptor, leaving);

    for (unsigned i = 0; i < a->listeners_n; i++) {
        struct rd_listener *listener = &a->listeners[i];
        if (listener->leaving && rd_acceptor_empty(a, listener)) {
            listener_close(a, listener);
        } else if (listener->leaving) {
            rd_timer_start(a->loop, timer, ENDING_RETRY_MS, 0);
        }
    }
}

int rd_acceptor_unlisten(struct rd_acceptor *a, void *arg)
{
    struct rd_listener *listener = arg;

    if (atomic_load(&a->is_shared)) {
        listener_close(a, listener);
    } else if (!a->ending && listener->fd >= 0) {
        listener->leaving = 1;
        rd_listener_stop_deferring(listener);
        rd_timer_start(a->loop, &a->leaving, a->drain_silence_ms, 0);
    }
    return 0;
}

int rd_acceptor_hasten(struct rd_acceptor *a, void *arg)
{
    int n = 0;

    (void)arg;
    for (unsigned i = 0; i < a->listeners_n; i++) {
        if (a->listeners[i].leaving) {
            (void)rd_acceptor_empty(a, &a->listeners[i]);
            listener_close(a, &a->listeners[i]);
            n++;
        }
    }
    return n;
}

int rd_acceptor_adopt(struct rd_acceptor *a, void *arg)
{
    const struct rd_adoption *adoption = arg;

    if (a->ending || adoption->reactor >= a->reactors_n) {
        return a->ending ? RESTD_ESTATE : RESTD_ENOENT;
    }
    if ((uint32_t)adoption->entry.fd >= rd_loop_fds_n(a->loop)) {
        return RESTD_ELIMIT;
    }
    return rd_acceptor_deal(a, adoption->reactor, &adoption->entry);
}

int rd_acceptor_switch(struct rd_acceptor *a, void *arg)
{
    a->is_on = *(const int *)arg;
    rd_acceptor_watch(a);
    return 0;
}

void rd_acceptor_reload(struct rd_acceptor *a,
                        const struct restd_options *options)
{
    atomic_store(&a->backlog, options->backlog);
    atomic_store(&a->drain_silence_ms, options->drain_silence_ms);
    atomic_store(&a->reactors_n, options->workers);
}

/* ---- init, run, fini */

int rd_acceptor_init(struct rd_acceptor *a, const struct restd_options *options,
                     struct rd_budget *budget, struct rd_log *log,
                     struct rd_listener *listeners, unsigned listeners_n,
                     uint32_t fd_max, struct restd_loop *host)
{
    a->loop = host;
    a->is_guest = host != NULL;
    rd_acceptor_reload(a, options);
    a->budget = budget;
    a->log = log;
    a->listeners = listeners;
    a->listeners_n = listeners_n;
    a->spare = rd_acceptor_spare();
    a->retry_ms = RD_ACCEPT_RETRY_MS;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->called, NULL);
    rd_timer_init(&a->retry, retry_cb);
    rd_timer_init(&a->silence, silence_cb);
    rd_timer_init(&a->leaving, leaving_cb);
    rd_post_init(&a->drain, drain_run);
    rd_post_init(&a->stop, stop_run);
    rd_post_init(&a->call, call_run);
    a->dealt = rd_mem_alloc(RD_REACTORS_MAX * sizeof(*a->dealt));
    a->reactors = rd_mem_alloc(RD_REACTORS_MAX * sizeof(struct rd_reactor *));
    if (!a->dealt || !a->reactors) {
        return RESTD_ENOMEM;
    }
    int rc = host ? 0 : rd_loop_new(&a->loop);
    if (rc == 0 && !host) {
        rc = rd_loop_reserve_fds(a->loop, fd_max);
    }
    if (rc != 0) {
        return rc;
    }
    for (unsigned i = 0; i < listeners_n; i++) {
        listeners[i].acceptor = a;
        rd_io_init(&listeners[i].io, listeners[i].fd, rd_acceptor_event);
    }
    return 0;
}

void rd_acceptor_fini(struct rd_acceptor *a)
{
    if (!a->budget) { /* never made */
        return;
    }
    if (a->spare >= 0) {
        close(a->spare);
    }
    if (!a->is_guest) {
        rd_loop_free(a->loop);
    }
    rd_mem_free(a->dealt);
    rd_mem_free(a->reactors);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->called);
}

void rd_acceptor_add(struct rd_acceptor *a, struct rd_reactor *reactor)
{
    a->reactors[reactor->index] = reactor;
}

void rd_acceptor_run(struct rd_acceptor *a)
{
    atomic_store(&a->tid, rd_thread_tid());
    rd_log_attach(a->log);
    rd_thread_yield_to_others();
    rd_acceptor_watch(a);
    rd_loop_run(a->loop);
}
