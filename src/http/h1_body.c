/* SPDX-License-Identifier: MIT */
/* Contents that are not all there when their head is.
 *
 * The request is promoted (h1_exchange.c). Its content gathers in chunks until
 * it is whole, and it is handled as any other; or it is given piece by piece to
 * who has asked for it. Contents in memory hold at most half of the budget, and
 * those of one address at most a quarter of that. Thread: [loop]. */
#include <string.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/slice.h"
#include "http/h1.h"

/* Reserves memory for `len` more bytes of content. By Content-Length all of it
 * is reserved at once, so that who is let in is served to the end. The loops
 * share the half of the budget evenly, as they share the connections.
 * 0, or -1 if there is no room, in all or for this peer. */
static int reserve(struct rd_h1 *h1, struct rd_h1_exchange *ex, uint64_t len)
{
    uint64_t share =
        h1->reactor->ledger.budget->limit / 2 / h1->options->workers;
    uint64_t max = rd_h1_buffered_max(h1);
    /* However small the budget, one largest content is let in. */
    uint64_t all = share > max ? share : max;
    uint64_t of_one = share / 4 > max ? share / 4 : max;
    uint64_t of_peer = len;

    if (h1->reserved + len > all) {
        return -1;
    }
    /* All peers of a unix socket are the same host: ours. */
    if (ex->conn->peer.family != RD_UNIX && h1->reserved + len > of_one) {
        for (const struct rd_h1_exchange *q = h1->exchanges; q; q = q->next) {
            if (rd_addr_same_host(&q->conn->peer, &ex->conn->peer)) {
                of_peer += q->reserved;
            }
        }
        if (of_peer > of_one) {
            return -1;
        }
    }
    h1->reserved += len;
    ex->reserved += len;
    return 0;
}

/* Refuses the request whose content is coming; `used` for the caller. */
static size_t refuse_body(struct rd_h1 *h1, struct rd_h1_exchange *ex,
                          int status, const char *detail, size_t used)
{
    struct rd_conn *conn = ex->conn;

    ex->receiving = 0;
    if (ex->stream.is_set && ex->status != 0) {
        ex->is_aborted = 1; /* it is too late to say so */
        rd_h1_todo(ex);
        return used;
    }
    if (rd_h1_begin(h1, conn) == 0) {
        rd_h1_restore(h1, conn, ex, 1);
        ex->is_told = 1;
        rd_h1_leave(ex);
        rd_h1_refuse(h1, conn, status, detail, 1);
    }
    return used;
}

void rd_h1_body_timeout(struct rd_h1 *h1, struct rd_h1_exchange *ex)
{
    (void)refuse_body(h1, ex, 408, "content came too slowly", 0);
}

static void free_scratch(struct rd_h1 *h1)
{
    rd_page_free(h1->body, h1->body_size);
    rd_ledger_release(&h1->reactor->ledger, RD_MEM_SCRATCH,
                      rd_page_round(h1->body_size));
    h1->body = NULL;
    h1->body_size = 0;
}

/* The content in one piece. 0, or -1 without memory. */
static int gather(struct rd_h1 *h1, const struct rd_chain *chain,
                  struct restd_slice *body)
{
    size_t max = (size_t)rd_h1_buffered_max(h1);
    /* One that was let in before a reload may be longer. */
    size_t size = max > chain->len ? max : (size_t)chain->len;

    *body = rd_slice("", 0);
    if (chain->len == 0) {
        return 0;
    }
    if (chain->head == chain->tail) {
        *body =
            rd_slice(chain->head->data + chain->head->off, chain->head->len);
        return 0;
    }
    if (h1->body_size < size) {
        struct rd_ledger *ledger = &h1->reactor->ledger;
        free_scratch(h1);
        if (rd_ledger_charge(ledger, RD_MEM_SCRATCH, rd_page_round(size))) {
            return -1;
        }
        h1->body_size = size;
        h1->body = rd_page_alloc(size);
        if (!h1->body) {
            free_scratch(h1);
            return -1;
        }
    }
    rd_chain_copy(chain, h1->body);
    *body = rd_slice(h1->body, (size_t)chain->len);
    return 0;
}

void rd_h1_trim(struct rd_h1 *h1, int all)
{
    struct rd_h1_local *next;

    for (struct rd_h1_local *local = h1->locals; local; local = next) {
        next = local->next;
        local->trim(local, all);
    }
    h1->locals = all ? NULL : h1->locals;
    free_scratch(h1);
}

/* The content of a request without a taker is whole. */
static void handle_whole(struct rd_h1 *h1, struct rd_h1_exchange *ex)
{
    struct rd_conn *conn = ex->conn;
    struct restd_slice body;

    if (rd_h1_begin(h1, conn) != 0) {
        return;
    }
    rd_h1_restore(h1, conn, ex, 1);
    if (gather(h1, &ex->body, &body) != 0) {
        rd_h1_refuse(h1, conn, 503, "no memory for the content", 0);
    } else {
        ex->is_whole = 1;
        rd_h1_handle(h1, conn, body);
        ex->is_whole = 0;
    }
    if (conn->request != ex || rd_h1_is_elsewhere(ex)) {
        return;
    }
    if (!ex->stream.is_set) {
        if (!ex->is_todo) {
            rd_h1_exchange_free(ex);
        }
    } else {
        rd_chain_clear(&ex->body, &h1->reactor->chunks, RD_MEM_BODIES);
        h1->reserved -= ex->reserved;
        ex->reserved = 0;
    }
}

/* Status of what a taker has returned, 0 to go on. */
static int upload_status(int rc)
{
    return rc >= 0              ? 0
           : rc == RESTD_EINVAL ? 400
           : rc == RESTD_ELIMIT ? 413
           : rc == RESTD_ENOMEM ? 503
                                : 500;
}

/* The taker has had all of it. */
static void end_upload(struct rd_h1 *h1, struct rd_h1_exchange *ex)
{
    struct rd_conn *conn = ex->conn;

    ex->upload.is_complete = 1;
    rd_conn_hold(conn);
    rd_h1_todo(ex);
    if (ex->stream.is_set) {
        /* Who answers while it comes has to know that it is all there. */
        rd_h1_upload_closed(ex);
        return;
    }
    if (rd_h1_begin(h1, conn) != 0) {
        return;
    }
    rd_h1_restore(h1, conn, ex, 1);
    int rc = RESTD_ESTATE;
    if (ex->upload.ops.end) {
        h1->response.request = &h1->request;
        rc = ex->upload.ops.end(&h1->request, &h1->response, ex->upload.data);
        h1->response.request = NULL;
    }
    int status = upload_status(rc);
    if (status == 0 || status == 500) {
        rd_h1_handled(h1, conn, rc, 0);
    } else {
        rd_h1_refuse(h1, conn, status, NULL, 0);
    }
}

/* Takes a piece of content. 0, or the status that refuses it. `announced`:
 * what the current chunk says is still to come; too much is refused before it
 * is sent. */
static int take(struct rd_h1 *h1, struct rd_h1_exchange *ex, const char *data,
                size_t len, uint64_t announced, const char **detail)
{
    if (ex->content + len > ex->max ||
        announced > ex->max - ex->content - len) {
        *detail = "content too large";
        return 413;
    }
    ex->content += len;
    if (ex->upload.is_set) {
        return len == 0 ? 0
                        : upload_status(ex->upload.ops.content(
                              &ex->upload, data, len, ex->upload.data));
    }
    if ((ex->head.flags & RD_H1_CHUNKED && reserve(h1, ex, len) != 0) ||
        rd_chain_append(&ex->body, &h1->reactor->chunks, RD_MEM_BODIES, data,
                        len) != 0) {
        *detail = "no memory for the content";
        return 503;
    }
    return 0;
}

static size_t input(struct rd_h1 *h1, struct rd_h1_exchange *ex, char *data,
                    size_t len)
{
    const char *detail = NULL;
    size_t used = len, made = len;
    uint64_t announced = 0;
    int done;

    /* What lies behind the last byte of the content is not held back. */
    if (ex->upload.is_paused && len > 0 &&
        ((ex->head.flags & RD_H1_CHUNKED) || ex->left > 0)) {
        return 0;
    }
    if (ex->head.flags & RD_H1_CHUNKED) {
        int rc = rd_chunked_decode(&ex->chunked, data, len, data, &used, &made);
        if (rc < 0) {
            rd_count(&h1->reactor->counters->parse_errors, 1);
            return refuse_body(h1, ex, -rc,
                               rc == -431 ? "trailer section too large"
                                          : "bad chunked content",
                               len);
        }
        done = rc == RD_CHUNKED_DONE;
        announced = ex->chunked.left;
    } else {
        if (made > ex->left) {
            made = (size_t)ex->left;
        }
        used = made;
        ex->left -= made;
        done = ex->left == 0;
    }
    int status = take(h1, ex, data, made, announced, &detail);
    if (ex->is_left) {
        return used;
    }
    if (status != 0) {
        return refuse_body(h1, ex, status, detail, len);
    }
    ex->received += used;
    ex->last_tick = h1->reactor->tick_now;
    if (done) {
        ex->receiving = 0;
        if (ex->upload.is_set) {
            end_upload(h1, ex);
        } else {
            handle_whole(h1, ex);
        }
    }
    return used;
}

size_t rd_h1_body_input(struct rd_h1 *h1, struct rd_conn *conn, char *data,
                        size_t len)
{
    struct rd_h1_exchange *ex = conn->request;

    return ex->receiving ? input(h1, ex, data, len) : 0;
}

void rd_h1_continue(struct rd_h1 *h1, struct rd_conn *conn, size_t len)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct rd_out *out = &h1->reactor->out;

    if (len > 0 || !(h1->head.flags & RD_H1_EXPECT_100) ||
        h1->head.version_minor == 0) {
        return;
    }
    if (out->size - out->len < sizeof(text)) {
        rd_conn_flush(conn, NULL, 0, NULL);
    }
    memcpy(out->buf + out->len, text, sizeof(text) - 1);
    out->len += sizeof(text) - 1;
    rd_count(&h1->reactor->counters->responses[0], 1);
}

static void start_receiving(struct rd_h1 *h1, struct rd_h1_exchange *ex)
{
    ex->receiving = 1;
    if (ex->upload.is_paused) {
        restd_upload_pause(&ex->upload);
    }
    ex->max = rd_h1_content_max(h1);
    ex->start_tick = ex->last_tick = h1->reactor->tick_now;
    ex->left = ex->head.flags & RD_H1_LENGTH ? ex->head.content_length : 0;
    rd_chunked_init(&ex->chunked, h1->options->header_max_bytes);
}

size_t rd_h1_suspend(struct rd_h1 *h1, struct rd_conn *conn, char *data,
                     size_t len)
{
    struct rd_reactor *r = h1->reactor;
    struct rd_h1_exchange *ex = NULL;

    if (rd_budget_level(r->ledger.budget) < RD_LEVEL_REFUSE) {
        ex = rd_h1_promote(h1, conn);
    }
    if (!ex) {
        rd_h1_refuse(h1, conn, 503, "memory is short", 1);
        return len;
    }
    start_receiving(h1, ex);
    if (reserve(h1, ex, ex->left + ex->bytes) != 0) {
        return refuse_body(h1, ex, 503, "memory is short", len);
    }
    rd_h1_continue(h1, conn, len);
    return rd_conn_is_closed(conn) ? len : input(h1, ex, data, len);
}

size_t rd_h1_feed(struct rd_h1 *h1, struct rd_conn *conn, char *data,
                  size_t len)
{
    struct rd_h1_exchange *ex = conn->request;

    start_receiving(h1, ex);
    return input(h1, ex, data, len);
}

uint32_t rd_h1_body_deadline(const struct rd_h1 *h1,
                             const struct rd_h1_exchange *ex)
{
    const struct restd_options *o = h1->options;
    uint32_t silent = ex->last_tick + rd_ticks(o->body_timeout_ms);

    if (o->body_rate_min_bytes == 0) {
        return silent;
    }
    /* The average since the start falls below the rate at this tick. */
    uint64_t earned =
        ex->received * (1000 / RD_TICK_MS) / o->body_rate_min_bytes;
    uint64_t grace = rd_ticks(o->body_rate_grace_ms);
    uint64_t allowed = earned > grace ? earned : grace;
    uint32_t slow =
        ex->start_tick + (uint32_t)(allowed < INT32_MAX ? allowed : INT32_MAX);
    return (int32_t)(slow - silent) < 0 ? slow : silent;
}

static struct rd_h1_exchange *exchange_of(struct restd_upload *upload)
{
    return RD_CONTAINER_OF(upload, struct rd_h1_exchange, upload);
}

void restd_upload_pause(struct restd_upload *upload)
{
    struct rd_h1_exchange *ex = exchange_of(upload);

    rd_assert_in_loop(ex->h1->reactor->loop);
    upload->is_paused = 1;
    if (ex->receiving && !ex->is_left) {
        rd_conn_hold(ex->conn);
        rd_h1_watch_client(ex, 0);
        if (ex->h1->reactor->out.conn != ex->conn) {
            rd_conn_arm(ex->conn);
        }
    }
}

void restd_upload_resume(struct restd_upload *upload)
{
    struct rd_h1_exchange *ex = exchange_of(upload);

    rd_assert_in_loop(ex->h1->reactor->loop);
    if (upload->is_paused && !ex->is_left) {
        upload->is_paused = 0;
        /* The time of the pause is not the client's. */
        ex->received = 0;
        ex->start_tick = ex->last_tick = ex->h1->reactor->tick_now;
        rd_h1_todo(ex);
    }
}
