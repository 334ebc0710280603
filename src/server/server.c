/* SPDX-License-Identifier: MIT */
/* Life of a server: new, listen, route, start, wait, drain, stop, free.
 *
 * Nothing of the size of the options exists before start; start makes the
 * loops, then the threads, and takes all of it down again when one step fails.
 * The threads end by themselves, in the order that control.c keeps; wait joins
 * them. Threads: as server.h says. */
#include "server/server.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "server/options.h"

/* Of the acceptor and the log writer, which run no handlers. */
#define SMALL_STACK (128u * 1024)

/* Decides on sizes, and charges what is not a loop's. */
static int make_plan(struct restd_server *s, struct restd_error *error)
{
    struct restd_options *o = &s->options;
    unsigned workers = o->workers;
    uint32_t connections = o->connections_max;
    int rc = rd_plan_make(o, &s->plan, error);

    if (rc != 0) {
        return rc;
    }
    o->workers = s->plan.loops_n;
    o->connections_max = s->plan.connections_max;
    if (s->plan.is_guest) {
        s->log = rd_loop_log(s->control);
    } else {
        rc = rd_log_new(rd_plan_log_rings(o->workers), o->log_ring_bytes,
                        (enum restd_log_level)o->log_level, o->log, o->log_data,
                        &s->log);
    }
    if (rc != 0) {
        return rd_error(error, rc, "cannot make the log");
    }
    if (!s->plan.is_guest) {
        rd_log_set_flush(s->log, o->log_flush);
    }
    rd_budget_init(&s->budget, o->memory_budget_bytes, o->workers + 1);
    rd_ledger_init(&s->ledger, &s->budget);
    if (rd_ledger_charge(&s->ledger, RD_MEM_FIXED,
                         s->plan.fixed_bytes +
                             (s->plan.is_guest ? 0 : rd_log_bytes(s->log))) !=
        0) {
        return rd_error(error, RESTD_EBUDGET, "memory_budget is too small");
    }
    if (workers == 0 && o->workers < rd_cpus_usable()) {
        rd_log(s->log, RESTD_LOG_NOTICE,
               "%u workers instead of %u, to fit memory_budget", o->workers,
               rd_cpus_usable());
    }
    if (o->connections_max < connections) {
        struct restd_options usual;
        restd_options_init(&usual);
        rd_log(s->log,
               connections == usual.connections_max ? RESTD_LOG_NOTICE
                                                    : RESTD_LOG_WARNING,
               "%u connections instead of %u, by the descriptor limit",
               o->connections_max, connections);
    }
    return 0;
}

/* The caller's, and defaults for what it does not know. */
static int copy_options(const struct restd_options *options, int is_guest,
                        struct restd_options *own, struct restd_error *error)
{
    int rc = rd_options_copy(options, own, error);
    struct restd_options checked = *own;

    if (is_guest) {
        own->workers = 1;
        /* May have less than others; the plan tells if that is too little. */
        checked.memory_budget_bytes = UINT64_C(1) << 30;
    }
    return rc ? rc : rd_options_check(&checked, error);
}

int rd_server_make(struct restd_loop *host, const struct restd_options *options,
                   struct restd_server **out, struct restd_error *error)
{
    struct restd_options own;
    int rc = copy_options(options, host != NULL, &own, error);

    if (rc != 0) {
        return rc;
    }
    struct restd_server *s = rd_page_alloc(sizeof(*s));
    if (!s) {
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    s->options = s->asked = own;
    s->acceptor.is_on = 1;
    s->control = host;
    s->plan.is_guest = host != NULL;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->stopped, NULL);
    atomic_init(&s->state, RESTD_STATE_STARTING);
    s->stopped_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (s->stopped_fd < 0) {
        rc = rd_error_os(error, errno, "cannot make an event descriptor");
        goto fail;
    }
    rc = make_plan(s, error);
    if (rc != 0) {
        goto fail;
    }
    rc = restd_router_new(RESTD_ROUTER_EXACT, &s->router);
    if (rc == 0 && !host) {
        rc = rd_loop_new(&s->control);
        if (rc == 0) {
            rd_loop_set_log(s->control, s->log);
        }
    }
    if (rc != 0) {
        rc =
            rd_error(error, rc, "cannot make a server: %s", restd_strerror(rc));
        goto fail;
    }
    *out = s;
    return 0;
fail:
    restd_server_free(s);
    return rc;
}

int restd_server_new(const struct restd_options *options,
                     struct restd_server **out, struct restd_error *error)
{
    return rd_server_make(NULL, options, out, error);
}

static struct restd_loop *host_of(const struct restd_server *s)
{
    return s->plan.is_guest ? s->control : NULL;
}

struct restd_router *restd_server_router(struct restd_server *s)
{
    return s->router;
}

/* The routes are complete: what follows depends on them. */
static int make_snapshot(struct restd_server *s, struct restd_error *error)
{
    int rc = rd_router_freeze(s->router);
    struct rd_snapshot *snapshot = NULL;

    if (rc == 0) {
        rc = rd_snapshot_new(s, &s->options, s->router, s->plan.loops_n,
                             &snapshot);
    }
    if (rc == 0) {
        rc = rd_snapshot_take(snapshot);
        if (rc != 0) {
            rd_snapshot_free(snapshot);
        }
    }
    if (rc != 0) {
        return rd_error(error, rc, "no room for the routes: %s",
                        restd_strerror(rc));
    }
    rd_server_lint(s);
    return 0;
}

static int make_loops(struct restd_server *s, struct restd_error *error)
{
    s->loops = rd_mem_alloc(RD_REACTORS_MAX * sizeof(struct rd_server_loop *));
    s->sampler = rd_mem_alloc(sizeof(*s->sampler));
    if (!s->loops || !s->sampler) {
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    rd_sampler_init(s);
    rd_offload_init(&s->offload, &s->options, &s->budget, s->log, s->listeners);
    int rc = rd_loops_make(s, s->snapshots, 0, error);
    if (rc == 0) {
        atomic_store_explicit(&s->loops_n, s->plan.loops_n,
                              memory_order_release);
    }
    return rc;
}

static int make_threads_state(struct restd_server *s, struct restd_error *error)
{
    const struct rd_plan *plan = &s->plan;
    int rc = rd_acceptor_init(&s->acceptor, &s->options, &s->budget, s->log,
                              s->listeners, s->listeners_n, plan->fd_max,
                              host_of(s));

    for (unsigned i = 0; rc == 0 && i < rd_loops_n(s); i++) {
        rd_acceptor_add(&s->acceptor, &s->loops[i]->reactor);
    }
    if (rc == 0) {
        rc = rd_control_init(s, plan->fd_max);
    }
    return rc ? rd_error(error, rc, "cannot start: %s", restd_strerror(rc)) : 0;
}

static void *acceptor_main(void *arg)
{
    rd_acceptor_run(arg);
    return NULL;
}

static int start_threads(struct restd_server *s)
{
    uint32_t stack = s->options.stack_bytes;
    uint32_t small = stack < SMALL_STACK ? stack : SMALL_STACK;
    int rc = rd_log_start(s->log, small);

    if (rc == 0) {
        rc = rd_loops_start(s, 0, rd_loops_n(s));
    }
    if (rc == 0) {
        rc = rd_thread_start(&s->acceptor_thread, "restd-accept", small,
                             acceptor_main, &s->acceptor);
        s->acceptor_started = rc == 0;
    }
    if (rc == 0) {
        rd_loop_claim(s->control, 1);
        rc = rd_thread_start(&s->control_thread, "restd-control", stack,
                             rd_control_main, s);
        s->control_started = rc == 0;
        if (rc != 0) {
            rd_loop_claim(s->control, 0);
        }
    }
    return rc;
}

/* Joins what runs; the threads have been told to end. */
static void join_threads(struct restd_server *s)
{
    if (s->acceptor_started) {
        pthread_join(s->acceptor_thread, NULL);
        s->acceptor_started = 0;
    }
    rd_loops_join(s, 0, rd_loops_n(s));
    if (s->plan.is_guest) {
        return;
    }
    if (s->control_started) {
        pthread_join(s->control_thread, NULL);
        s->control_started = 0;
    }
    rd_log_stop(s->log);
}

/* Without the control thread, which is the last to start. */
static void abandon_threads(struct restd_server *s)
{
    if (s->acceptor_started) {
        rd_loop_post(s->acceptor.loop, &s->acceptor.stop);
    }
    for (unsigned i = 0; i < rd_loops_n(s); i++) {
        struct rd_reactor *r = &s->loops[i]->reactor;
        if (s->loops[i]->started) {
            rd_loop_post(r->loop, &r->stop);
            if (!s->acceptor_started) {
                rd_loop_post(r->loop, &r->accept_end);
            }
        }
    }
    join_threads(s);
}

int restd_server_start(struct restd_server *s, struct restd_error *error)
{
    int rc = rd_server_check_starting(s, error);

    if (rc == 0 && restd_server_address(s, 0, NULL, 0) == RESTD_ENOENT) {
        rc = rd_error(error, RESTD_ESTATE, "no listener");
    }
    if (rc == 0 && s->plan.is_guest) {
        rc = rd_attach_reserve(s, error);
    }
    if (rc != 0) {
        return rc;
    }
    rc = make_snapshot(s, error);
    if (rc == 0) {
        rc = make_loops(s, error);
    }
    if (rc == 0) {
        rc = make_threads_state(s, error);
    }
    if (rc != 0) {
        if (s->plan.is_guest) {
            rd_attach_cancel(s);
        }
        return rc;
    }
    s->started_ns = rd_clock_ns();
    s->started_unix_ms = rd_clock_unix_ms();
    atomic_store(&s->state, RESTD_STATE_RUNNING);
    if (s->plan.is_guest) {
        rd_attach_start(s);
        return 0;
    }
    rc = start_threads(s);
    if (rc != 0) {
        abandon_threads(s);
        atomic_store(&s->state, RESTD_STATE_STOPPED);
        return rd_error(error, rc, "cannot start the threads: %s",
                        restd_strerror(rc));
    }
    return 0;
}

static int is_running(const struct restd_server *s)
{
    int state = atomic_load(&s->state);
    return s->loops && state != RESTD_STATE_STARTING;
}

void restd_server_wait(struct restd_server *s)
{
    if (!is_running(s)) {
        return;
    }
    pthread_mutex_lock(&s->lock);
    while (!s->finished && s->control_started) {
        pthread_cond_wait(&s->stopped, &s->lock);
    }
    if (s->joining) {
        while (!s->joined) {
            pthread_cond_wait(&s->stopped, &s->lock);
        }
        pthread_mutex_unlock(&s->lock);
        return;
    }
    s->joining = 1;
    pthread_mutex_unlock(&s->lock);
    /* Without the lock: the log's sink may take its time. */
    join_threads(s);
    pthread_mutex_lock(&s->lock);
    s->joined = 1;
    pthread_cond_broadcast(&s->stopped);
    pthread_mutex_unlock(&s->lock);
}

int restd_server_stopped_fd(const struct restd_server *s)
{
    return s->stopped_fd;
}

static void post(struct restd_server *s, struct rd_post *message)
{
    if (s->plan.is_guest) {
        rd_attach_post(s, message);
    } else {
        rd_loop_post(s->control, message);
    }
}

void restd_server_drain(struct restd_server *s)
{
    if (is_running(s)) {
        post(s, &s->drain);
    }
}

void restd_server_stop(struct restd_server *s)
{
    if (is_running(s)) {
        post(s, &s->stop);
        restd_server_wait(s);
    }
}

void restd_server_free(struct restd_server *s)
{
    if (!s) {
        return;
    }
    restd_server_stop(s);
    /* Before the loops, to which its threads post to the last. */
    rd_offload_fini(&s->offload);
    rd_acceptor_fini(&s->acceptor);
    /* First: what loops and snapshots have posted to it is theirs. */
    if (!s->plan.is_guest) {
        rd_loop_free(s->control);
    }
    rd_loops_free(s, 0);
    for (unsigned i = 0; i < s->listeners_n; i++) {
        rd_server_close_listener(s, &s->listeners[i]);
    }
    while (s->snapshots) {
        rd_snapshot_free(s->snapshots);
    }
    restd_router_free(s->router);
    if (!s->plan.is_guest) {
        rd_log_free(s->log);
    }
    rd_mem_free(s->loops);
    rd_mem_free(s->sampler);
    if (s->stopped_fd >= 0) {
        close(s->stopped_fd);
    }
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->stopped);
    rd_page_free(s, sizeof(*s));
}

struct restd_loop *restd_server_control(struct restd_server *s)
{
    return s->control;
}

void restd_server_log(struct restd_server *s, enum restd_log_level level,
                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    rd_log_v(s->log, level, format, args);
    va_end(args);
}

void restd_server_log_flush(struct restd_server *s)
{
    rd_log_flush(s->log);
}
