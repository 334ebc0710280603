/* SPDX-License-Identifier: MIT */
/* Requests that outlive their turn because their content is still coming.
 *
 * The head is copied once (offsets, so nothing is rebased), the content
 * gathers in pooled chunks, and when it is whole the request is routed again
 * from the copy and handled as any other. Contents hold at most half of the
 * memory budget, and those of one address at most a quarter of that.
 * Thread: [loop]. */
#include <string.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/slice.h"
#include "http/h1.h"

static char *pending_base(struct rd_h1_pending *p)
{
    return (char *)(p->head.fields + p->head.fields_n);
}

/* Not from the heap: what is freed there below its top stays resident, and the
 * ledger would know nothing of it. Common heads fit a chunk. */
static void *pending_alloc(struct rd_reactor *r, size_t bytes)
{
    void *p;

    if (bytes <= RD_CHUNK_BYTES) {
        p = rd_slab_take(&r->chunks.slab);
        if (p) {
            rd_ledger_move(&r->ledger, RD_MEM_POOL, RD_MEM_REQUESTS,
                           RD_CHUNK_BYTES);
        }
        return p;
    }
    bytes = rd_page_round(bytes);
    if (rd_ledger_charge(&r->ledger, RD_MEM_REQUESTS, bytes) != 0) {
        return NULL;
    }
    p = rd_page_alloc(bytes);
    if (!p) {
        rd_ledger_release(&r->ledger, RD_MEM_REQUESTS, bytes);
    }
    return p;
}

static void pending_dealloc(struct rd_reactor *r, void *p, size_t bytes)
{
    if (bytes <= RD_CHUNK_BYTES) {
        rd_ledger_move(&r->ledger, RD_MEM_REQUESTS, RD_MEM_POOL,
                       RD_CHUNK_BYTES);
        rd_slab_give(&r->chunks.slab, p);
    } else {
        rd_page_free(p, bytes);
        rd_ledger_release(&r->ledger, RD_MEM_REQUESTS, rd_page_round(bytes));
    }
}

static struct rd_h1_pending *pending_new(struct rd_h1 *h1, struct rd_conn *conn,
                                         const char *base, size_t head_len)
{
    size_t fields = h1->head.fields_n * sizeof(struct rd_h1_field);
    size_t bytes = sizeof(struct rd_h1_pending) + fields + head_len;
    struct rd_h1_pending *p = pending_alloc(h1->reactor, bytes);

    if (!p) {
        return NULL;
    }
    memset(p, 0, sizeof(*p));
    p->bytes = bytes;
    p->conn = conn;
    p->head = h1->head;
    p->head.fields = (struct rd_h1_field *)(p + 1);
    memcpy(p->head.fields, h1->head.fields, fields);
    memcpy(pending_base(p), base, head_len);
    p->next = h1->pending;
    p->pprev = &h1->pending;
    if (p->next) {
        p->next->pprev = &p->next;
    }
    h1->pending = p;
    conn->request = p;
    rd_count(&h1->reactor->counters->requests_pending, 1);
    return p;
}

/* Takes it from its connection; it is the caller's then. */
static void pending_detach(struct rd_h1 *h1, struct rd_h1_pending *p)
{
    *p->pprev = p->next;
    if (p->next) {
        p->next->pprev = p->pprev;
    }
    p->conn->request = NULL;
    h1->reserved -= p->reserved;
    rd_count(&h1->reactor->counters->requests_pending, (uint64_t)-1);
}

static void pending_release(struct rd_h1 *h1, struct rd_h1_pending *p)
{
    rd_chain_clear(&p->body, &h1->reactor->chunks, RD_MEM_BODIES);
    pending_dealloc(h1->reactor, p, p->bytes);
}

void rd_h1_pending_free(struct rd_h1 *h1, struct rd_h1_pending *p)
{
    pending_detach(h1, p);
    pending_release(h1, p);
}

/* Reserves memory for `len` more bytes of content. By Content-Length all of it
 * is reserved at once, so that who is let in is served to the end. The loops
 * share the half of the budget evenly, as they share the connections.
 * 0, or -1 if there is no room, in all or for this peer. */
static int reserve(struct rd_h1 *h1, struct rd_h1_pending *p, uint64_t len)
{
    uint64_t share =
        h1->reactor->ledger.budget->limit / 2 / h1->options->workers;
    uint64_t max = rd_h1_body_max(h1);
    /* However small the budget, one largest content is let in. */
    uint64_t all = share > max ? share : max;
    uint64_t of_one = share / 4 > max ? share / 4 : max;
    uint64_t of_peer = len;

    if (h1->reserved + len > all) {
        return -1;
    }
    /* All peers of a unix socket are the same host: ours. */
    if (p->conn->peer.family != RD_UNIX && h1->reserved + len > of_one) {
        for (const struct rd_h1_pending *q = h1->pending; q; q = q->next) {
            if (rd_addr_same_host(&q->conn->peer, &p->conn->peer)) {
                of_peer += q->reserved;
            }
        }
        if (of_peer > of_one) {
            return -1;
        }
    }
    h1->reserved += len;
    p->reserved += len;
    return 0;
}

void rd_h1_pending_restore(struct rd_h1 *h1, const struct rd_h1_pending *p)
{
    struct rd_h1_field *fields = h1->head.fields;

    h1->head = p->head;
    h1->head.fields = fields;
    memcpy(fields, p->head.fields, p->head.fields_n * sizeof(*fields));
}

static size_t refuse_body(struct rd_h1 *h1, struct rd_conn *conn, int status,
                          const char *detail, size_t used)
{
    struct rd_h1_pending *p = conn->request;

    if (p) {
        rd_h1_pending_restore(h1, p);
        conn->start_ns = p->start_ns;
        rd_h1_pending_free(h1, p);
    }
    rd_h1_refuse(h1, conn, status, detail, 1);
    return used;
}

/* The content in one piece. 0, or -1 without memory. */
static int gather(struct rd_h1 *h1, const struct rd_chain *chain,
                  struct restd_slice *body)
{
    size_t size = (size_t)rd_h1_body_max(h1);

    *body = rd_slice("", 0);
    if (chain->len == 0) {
        return 0;
    }
    if (chain->head == chain->tail) {
        *body =
            rd_slice(chain->head->data + chain->head->off, chain->head->len);
        return 0;
    }
    if (!h1->body) {
        struct rd_ledger *ledger = &h1->reactor->ledger;
        if (rd_ledger_charge(ledger, RD_MEM_SCRATCH, rd_page_round(size))) {
            return -1;
        }
        h1->body = rd_page_alloc(size);
        if (!h1->body) {
            rd_ledger_release(ledger, RD_MEM_SCRATCH, rd_page_round(size));
            return -1;
        }
    }
    RD_ASSERT(chain->len <= size);
    rd_chain_copy(chain, h1->body);
    *body = rd_slice(h1->body, chain->len);
    return 0;
}

static void complete(struct rd_h1 *h1, struct rd_conn *conn)
{
    struct rd_h1_pending *p = conn->request;
    struct restd_slice body;
    const char *detail;

    pending_detach(h1, p);
    conn->start_ns = p->start_ns;
    rd_h1_pending_restore(h1, p);
    int status = rd_h1_judge(h1, pending_base(p), &detail);
    RD_ASSERT(status == 0); /* the routes have not changed */
    if (gather(h1, &p->body, &body) != 0) {
        rd_h1_refuse(h1, conn, 503, "no memory for the content", 0);
    } else {
        rd_h1_handle(h1, conn, pending_base(p), body);
    }
    pending_release(h1, p);
}

void rd_h1_trim(struct rd_h1 *h1)
{
    size_t size = (size_t)rd_h1_body_max(h1);

    if (h1->body) {
        rd_page_free(h1->body, size);
        rd_ledger_release(&h1->reactor->ledger, RD_MEM_SCRATCH,
                          rd_page_round(size));
        h1->body = NULL;
    }
}

/* Appends content. 0, or the status that refuses it. `announced`: what the
 * current chunk says is still to come; too much is refused before it is sent.
 */
static int body_append(struct rd_h1 *h1, struct rd_h1_pending *p,
                       const char *data, size_t len, uint64_t announced,
                       const char **detail)
{
    uint64_t max = rd_h1_body_max(h1);

    if (p->body.len + len > max || announced > max - p->body.len - len) {
        *detail = "content too large";
        return 413;
    }
    if ((p->head.flags & RD_H1_CHUNKED && reserve(h1, p, len) != 0) ||
        rd_chain_append(&p->body, &h1->reactor->chunks, RD_MEM_BODIES, data,
                        len) != 0) {
        *detail = "no memory for the content";
        return 503;
    }
    return 0;
}

size_t rd_h1_body_input(struct rd_h1 *h1, struct rd_conn *conn, char *data,
                        size_t len)
{
    struct rd_h1_pending *p = conn->request;
    const char *detail = NULL;
    size_t used = len;
    size_t made = len;
    uint64_t announced = 0;
    int done;

    if (p->head.flags & RD_H1_CHUNKED) {
        int rc = rd_chunked_decode(&p->chunked, data, len, data, &used, &made);
        if (rc < 0) {
            rd_count(&h1->reactor->counters->parse_errors, 1);
            return refuse_body(h1, conn, -rc,
                               rc == -431 ? "trailer section too large"
                                          : "bad chunked content",
                               len);
        }
        done = rc == RD_CHUNKED_DONE;
        announced = p->chunked.left;
    } else {
        if (made > p->left) {
            made = (size_t)p->left;
        }
        used = made;
        p->left -= made;
        done = p->left == 0;
    }
    int status = body_append(h1, p, data, made, announced, &detail);
    if (status != 0) {
        return refuse_body(h1, conn, status, detail, len);
    }
    p->received += used;
    p->last_tick = h1->reactor->tick_now;
    if (done) {
        complete(h1, conn);
    }
    return used;
}

/* RFC 9110 10.1.1: unless content is on its way already. */
static void send_continue(struct rd_h1 *h1, struct rd_conn *conn)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct rd_out *out = &h1->reactor->out;

    if (out->size - out->len < sizeof(text)) {
        rd_conn_flush(conn, NULL, 0, NULL);
    }
    memcpy(out->buf + out->len, text, sizeof(text) - 1);
    out->len += sizeof(text) - 1;
    rd_count(&h1->reactor->counters->responses[0], 1);
}

size_t rd_h1_suspend(struct rd_h1 *h1, struct rd_conn *conn, const char *base,
                     size_t head_len, char *data, size_t len)
{
    const struct rd_h1_head *head = &h1->head;
    struct rd_reactor *r = h1->reactor;

    struct rd_h1_pending *p = NULL;

    if (rd_budget_level(r->ledger.budget) < RD_LEVEL_REFUSE) {
        p = pending_new(h1, conn, base, head_len);
    }
    if (!p || reserve(h1, p, head->content_length + p->bytes) != 0) {
        return refuse_body(h1, conn, 503, "memory is short", len);
    }
    p->start_ns = conn->start_ns ? conn->start_ns : r->turn_ns;
    p->start_tick = r->tick_now;
    p->last_tick = r->tick_now;
    p->left = head->content_length;
    rd_chunked_init(&p->chunked, h1->options->header_max_bytes);
    if ((head->flags & RD_H1_EXPECT_100) && head->version_minor >= 1 &&
        len == 0) {
        send_continue(h1, conn);
        if (rd_conn_is_closed(conn)) {
            return len;
        }
    }
    return rd_h1_body_input(h1, conn, data, len);
}

uint32_t rd_h1_body_deadline(const struct rd_h1 *h1,
                             const struct rd_h1_pending *p)
{
    const struct restd_options *o = h1->options;
    uint32_t silent = p->last_tick + rd_ticks(o->body_timeout_ms);

    if (o->body_rate_min_bytes == 0) {
        return silent;
    }
    /* The average since the start falls below the rate at this tick. */
    uint64_t earned =
        p->received * (1000 / RD_TICK_MS) / o->body_rate_min_bytes;
    uint64_t grace = rd_ticks(o->body_rate_grace_ms);
    uint64_t allowed = earned > grace ? earned : grace;
    uint32_t slow =
        p->start_tick + (uint32_t)(allowed < INT32_MAX ? allowed : INT32_MAX);
    return (int32_t)(slow - silent) < 0 ? slow : silent;
}
