/* SPDX-License-Identifier: MIT */
/* The threads' side: each has a driver's scratches of its own, so that a
 * handler finds there what it finds on a loop, but for what needs one.
 * Thread: the pool's, or [any] as tagged. */
#include "http/offload.h"

#include <string.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "http/h1.h"
#include "http/invoke.h"

/* After which a thread without work ends. */
#define IDLE_MS 10000u
/* Touched pages of a stack; measured. */
#define STACK_TOUCHED 16384u

/* What a thread has of its own: a driver that is fed with exchanges.
 * Owner: the pool's thread. */
struct local {
    struct rd_reactor reactor; /* without a loop that it could run */
    struct rd_h1 h1;
    struct rd_conn conn; /* closed: of the real one only what was copied */
    struct rd_counters counters;
};

static size_t local_bytes(const struct rd_offload *offload)
{
    return rd_page_round(sizeof(struct local)) + STACK_TOUCHED +
           (size_t)rd_h1_scratch_bytes(&offload->options);
}

static int charge(struct rd_offload *offload)
{
    pthread_mutex_lock(&offload->lock);
    int rc = rd_ledger_charge(&offload->ledger, RD_MEM_OFFLOAD,
                              local_bytes(offload));
    pthread_mutex_unlock(&offload->lock);
    return rc;
}

static void release(struct rd_offload *offload)
{
    pthread_mutex_lock(&offload->lock);
    rd_ledger_release(&offload->ledger, RD_MEM_OFFLOAD, local_bytes(offload));
    rd_ledger_trim(&offload->ledger);
    pthread_mutex_unlock(&offload->lock);
}

static void local_free(void *arg, void *data)
{
    struct local *t = arg;

    rd_h1_trim(&t->h1, 1);
    rd_h1_scratch_fini(&t->h1);
    rd_ledger_fini(&t->reactor.ledger);
    rd_page_free(t, sizeof(*t));
    release(data);
}

static void *local_new(void *data)
{
    struct rd_offload *offload = data;

    /* A refused charge would have accepting pause. */
    if (rd_budget_level(offload->budget) >= RD_LEVEL_CLOSE ||
        charge(offload) != 0) {
        return NULL;
    }
    struct local *t = rd_page_alloc(sizeof(*t));
    if (!t) {
        release(offload);
        return NULL;
    }
    struct rd_reactor *r = &t->reactor;
    r->options = t->h1.options = &offload->options;
    r->listeners = offload->listeners;
    r->log = offload->log;
    r->counters = &t->counters;
    rd_ledger_init(&r->ledger, offload->budget);
    t->h1.reactor = r;
    t->conn.reactor = r;
    t->conn.state = RD_CONN_CLOSED;
    rd_io_init(&t->conn.io, -1, NULL);
    if (rd_h1_scratch_init(&t->h1) != 0) {
        local_free(t, data);
        return NULL;
    }
    return t;
}

/* The thread's driver stands as the loop's did when the handler was due. */
static void unpack(struct local *t, struct rd_h1_exchange *ex)
{
    struct rd_offloaded *job = ex->job;
    struct rd_h1 *h1 = &t->h1;

    t->reactor.loop = ex->h1->reactor->loop;
    t->reactor.index = ex->h1->reactor->index;
    t->reactor.turn_ns = rd_reactor_clock(&t->reactor);
    t->conn.peer = job->peer;
    t->conn.listener = job->listener;
    t->conn.request = ex;
    h1->newest = ex->view;
    rd_response_init(&h1->response, &job->chunks, h1->fields, job->small,
                     sizeof(job->small));
    rd_h1_restore(h1, &t->conn, ex, 1);
    h1->request.body = job->body;
}

/* Type and fields go behind the content if there is room. */
static int keep_fields(struct rd_offloaded *job, const struct rd_fields *fields)
{
    job->type_len = (uint16_t)fields->type_len;
    job->fields_len = (uint16_t)fields->len;
    if (job->small_len + fields->type_len + fields->len <= sizeof(job->small)) {
        char *at = job->small + job->small_len;
        memcpy(at, fields->type, fields->type_len);
        memcpy(at + fields->type_len, fields->text, fields->len);
        return 0;
    }
    int rc = rd_chain_append(&job->fields, &job->chunks, RD_MEM_OUTPUT,
                             fields->type, fields->type_len);
    return rc ? rc
              : rd_chain_append(&job->fields, &job->chunks, RD_MEM_OUTPUT,
                                fields->text, fields->len);
}

/* The response, which lies in the thread's scratches, as the job's. */
static void pack(struct local *t, struct rd_offloaded *job, int rc)
{
    struct restd_response *response = &t->h1.response;

    if (rc >= 0 && response->borrowed_len > 0) {
        int copied = restd_response_append(response, NULL, 0);
        rc = copied < 0 ? copied : rc;
    }
    job->content = response->chain;
    job->status = response->status;
    job->small_len = (uint16_t)response->stage_len;
    if (rc >= 0) {
        int kept = keep_fields(job, &response->fields);
        rc = kept < 0 ? kept : rc;
    }
    job->rc = rc;
}

static int run(struct rd_job *arg, void *local, void *data)
{
    struct rd_offloaded *job = RD_CONTAINER_OF(arg, struct rd_offloaded, job);
    struct rd_h1_exchange *ex = job->exchange;
    struct local *t = local;
    int is_due = 0;

    (void)data;
    if (atomic_load_explicit(&job->cancelled, memory_order_relaxed)) {
        job->rc = RESTD_ECLOSED;
    } else if (rd_clock_ns() >= job->deadline_ns) {
        job->is_late = 1;
    } else {
        const struct rd_route *route = ex->route;
        struct rd_h1 *h1 = &t->h1;
        is_due = 1;
        unpack(t, ex);
        int rc = route->wrappers_n > 0
                     ? rd_invoke_handler(&h1->request, &h1->response)
                     : route->handler(&h1->request, &h1->response, route->data);
        pack(t, job, rc);
        if (rd_budget_level(t->reactor.ledger.budget) >= RD_LEVEL_TRIM) {
            rd_h1_trim(h1, 0);
        }
    }
    /* From here on it may be gone. */
    rd_loop_post(ex->h1->reactor->loop, &job->back);
    return is_due;
}

void rd_offload_init(struct rd_offload *offload,
                     const struct restd_options *options,
                     struct rd_budget *budget, struct rd_log *log,
                     const struct rd_listener *listeners)
{
    static const struct rd_pool_ops ops = {local_new, run, local_free};
    const struct rd_pool_limits limits = {.threads_max =
                                              options->offload_threads,
                                          .queue_max = options->offload_queue,
                                          .stack_bytes = options->stack_bytes,
                                          .idle_ms = IDLE_MS};

    offload->options = *options;
    offload->listeners = listeners;
    offload->budget = budget;
    offload->log = log;
    pthread_mutex_init(&offload->lock, NULL);
    rd_ledger_init(&offload->ledger, budget);
    rd_pool_init(&offload->pool, &ops, offload, &limits);
}

void rd_offload_fini(struct rd_offload *offload)
{
    if (!offload->budget) {
        return;
    }
    rd_pool_fini(&offload->pool);
    rd_ledger_fini(&offload->ledger);
    pthread_mutex_destroy(&offload->lock);
    offload->budget = NULL;
}

void rd_offload_read(const struct rd_offload *offload,
                     struct rd_pool_figures *figures)
{
    if (offload->budget) {
        rd_pool_read((struct rd_pool *)(uintptr_t)&offload->pool, figures);
    } else {
        memset(figures, 0, sizeof(*figures));
    }
}
