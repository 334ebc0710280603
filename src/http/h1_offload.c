/* SPDX-License-Identifier: MIT */
/* The loop's side of handlers that run elsewhere: how a request goes, and what
 * becomes of it when it is back. Thread: [loop]. */
#include <string.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/slice.h"
#include "http/h1.h"
#include "http/offload.h"

#define NS_PER_MS UINT64_C(1000000)

RD_STATIC_ASSERT(sizeof(struct rd_offloaded) <= RD_CHUNK_BYTES,
                 "a job takes the place of a chunk");

static void back_run(struct rd_post *post);

static struct rd_offloaded *job_new(struct rd_h1_exchange *ex)
{
    struct rd_h1 *h1 = ex->h1;
    struct rd_offloaded *job =
        rd_chunk_pool_take(&h1->reactor->chunks, RD_MEM_OFFLOAD);

    if (!job) {
        return NULL;
    }
    memset(job, 0, offsetof(struct rd_offloaded, small));
    rd_post_init(&job->back, back_run);
    rd_ledger_init(&job->ledger, h1->reactor->ledger.budget);
    rd_chunk_pool_init(&job->chunks, &job->ledger);
    job->exchange = ex;
    job->peer = ex->conn->peer;
    job->listener = ex->conn->listener;
    ex->deadline_tick =
        h1->reactor->tick_now + rd_ticks(h1->options->handler_timeout_ms);
    job->deadline_ns =
        h1->reactor->turn_ns + h1->options->handler_timeout_ms * NS_PER_MS;
    ex->job = job;
    return job;
}

static void free_body(struct rd_h1 *h1, struct rd_offloaded *job)
{
    if (job->body_bytes > 0) {
        rd_page_free((void *)(uintptr_t)job->body.data, job->body_bytes);
        rd_ledger_release(&h1->reactor->ledger, RD_MEM_BODIES,
                          rd_page_round(job->body_bytes));
        job->body_bytes = 0;
    }
}

void rd_h1_offload_free(struct rd_h1_exchange *ex)
{
    struct rd_offloaded *job = ex->job;

    RD_ASSERT(!job->is_out);
    free_body(ex->h1, job);
    rd_chain_clear(&job->fields, &job->chunks, RD_MEM_OUTPUT);
    rd_chain_clear(&job->content, &job->chunks, RD_MEM_OUTPUT);
    rd_chunk_pool_fini(&job->chunks);
    rd_ledger_fini(&job->ledger);
    rd_chunk_pool_give(&ex->h1->reactor->chunks, RD_MEM_OFFLOAD, job);
    ex->job = NULL;
}

/* A copy of the content that nobody else writes to. 0, or -1 without memory. */
static int own_body(struct rd_h1 *h1, struct rd_h1_exchange *ex,
                    struct restd_slice body)
{
    struct rd_offloaded *job = ex->job;
    struct rd_chunk_pool *pool = &h1->reactor->chunks;
    const struct rd_chunk *head = ex->body.head;

    job->body = rd_slice("", 0);
    if (body.len == 0) {
        return 0;
    }
    if (!head && body.len <= sizeof(head->data)) {
        if (rd_chain_append(&ex->body, pool, RD_MEM_BODIES, body.data,
                            body.len) != 0) {
            return -1;
        }
        head = ex->body.head;
    }
    if (head && head == ex->body.tail) {
        job->body = rd_slice(head->data + head->off, head->len);
        return 0;
    }
    struct rd_ledger *ledger = &h1->reactor->ledger;
    size_t bytes = rd_page_round(body.len);
    char *copy = NULL;
    if (rd_ledger_charge(ledger, RD_MEM_BODIES, bytes) == 0) {
        copy = rd_page_alloc(bytes);
        if (!copy) {
            rd_ledger_release(ledger, RD_MEM_BODIES, bytes);
        }
    }
    if (!copy) {
        return -1;
    }
    memcpy(copy, body.data, body.len);
    job->body = rd_slice(copy, body.len);
    job->body_bytes = bytes;
    rd_chain_clear(&ex->body, pool, RD_MEM_BODIES);
    return 0;
}

/* Promoted, with a job and its content; NULL without memory. */
static struct rd_h1_exchange *pack(struct rd_h1 *h1, struct restd_slice body)
{
    struct rd_h1_exchange *ex = rd_h1_promoted(&h1->request);

    if (!ex || !job_new(ex) || own_body(h1, ex, body) != 0) {
        return NULL;
    }
    return ex;
}

void rd_h1_offload(struct rd_h1 *h1, struct rd_conn *conn,
                   struct restd_slice body)
{
    struct rd_h1_exchange *ex = pack(h1, body);
    unsigned retry_s = 1;
    int rc = RESTD_ENOMEM;

    if (ex) {
        ex->job->is_out = 1;
        rc = rd_pool_submit(&h1->offload->pool, &ex->job->job);
    }
    if (rc == 0) {
        h1->reactor->away_n++;
        rd_conn_hold(conn);
        rd_h1_watch_client(ex, h1->match.route->options.abandon_on_fin);
        return;
    }
    if (rc == RESTD_EAGAIN) {
        retry_s = rd_pool_wait_s(&h1->offload->pool);
    }
    ex = conn->request;
    if (ex) {
        if (ex->job) {
            ex->job->is_out = 0;
        }
        ex->is_told = 1;
        rd_h1_leave(ex);
    }
    rd_h1_refuse_for(h1, conn, retry_s,
                     rc == RESTD_EAGAIN ? "the queue for this route is full"
                                        : "no thread for this route");
}

/* Takes the fields that the handler has left; 0, or a RESTD_E*. */
static void take_fields(struct restd_response *response,
                        const struct rd_offloaded *job)
{
    struct rd_fields *fields = &response->fields;
    const char *small = job->small + job->small_len;

    fields->len = job->fields_len;
    fields->type_len = job->type_len;
    if (job->fields.len > 0) {
        char text[RD_FIELDS_MAX + RD_TYPE_MAX];
        rd_chain_copy(&job->fields, text);
        memcpy(fields->type, text, job->type_len);
        memcpy(fields->text, text + job->type_len, job->fields_len);
    } else {
        memcpy(fields->type, small, job->type_len);
        memcpy(fields->text, small + job->type_len, job->fields_len);
    }
}

/* Bytes are copied, what they refer to is taken over. */
static int take_content(struct restd_response *response,
                        struct rd_reactor *reactor, struct rd_offloaded *job)
{
    int rc = restd_response_append(response, job->small, job->small_len);

    for (struct rd_chunk *c = job->content.head; c && rc == 0; c = c->next) {
        if (c->kind == RD_CHUNK_DATA) {
            rc = restd_response_append(response, c->data + c->off, c->len);
        } else {
            rc = rd_response_take_ref(response, reactor, &c->ref);
        }
    }
    rd_chain_clear(&job->content, &job->chunks, RD_MEM_OUTPUT);
    return rc;
}

/* [rd_conn_call] */
static void answer(struct rd_conn *conn)
{
    struct rd_h1_exchange *ex = conn->request;
    struct rd_h1 *h1 = ex->h1;
    struct rd_offloaded *job = ex->job;
    int rc = job->rc;

    if (rd_h1_begin(h1, conn) != 0) {
        return;
    }
    rd_h1_restore(h1, conn, ex, 1);
    if (job->is_late) {
        rd_h1_refuse(h1, conn, 503, "the handler was not reached in time", 0);
    } else {
        if (rc >= 0) {
            h1->response.status = job->status;
            take_fields(&h1->response, job);
            int taken = take_content(&h1->response, h1->reactor, job);
            rc = taken < 0 ? taken : rc;
        }
        rd_h1_handled(h1, conn, rc, 0);
    }
    if (conn->request == ex) {
        rd_h1_todo(ex);
    }
}

static void back_run(struct rd_post *post)
{
    struct rd_offloaded *job = RD_CONTAINER_OF(post, struct rd_offloaded, back);
    struct rd_h1_exchange *ex = job->exchange;

    job->is_out = 0;
    ex->h1->reactor->away_n--;
    if (ex->is_left) {
        rd_h1_todo(ex);
    } else {
        rd_conn_call(ex->conn, answer);
    }
}

void rd_h1_offload_recall(struct rd_h1 *h1)
{
    for (struct rd_h1_exchange *ex = h1->exchanges; ex; ex = ex->next) {
        if (ex->job && ex->job->is_out) {
            rd_loop_unpost(h1->reactor->loop, &ex->job->back);
            back_run(&ex->job->back);
        }
    }
    rd_h1_turn_end(h1->reactor);
}

void rd_offload_cancel(struct rd_offloaded *job)
{
    atomic_store_explicit(&job->cancelled, 1, memory_order_relaxed);
}

void rd_h1_offload_timeout(struct rd_h1 *h1, struct rd_h1_exchange *ex)
{
    struct rd_conn *conn = ex->conn;

    if (rd_h1_begin(h1, conn) == 0) {
        rd_h1_restore(h1, conn, ex, 1);
        rd_h1_refuse(h1, conn, 503, "the handler has taken too long", 1);
    }
    if (!ex->is_left) {
        rd_h1_leave(ex);
    }
}
