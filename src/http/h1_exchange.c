/* SPDX-License-Identifier: MIT */
/* Requests that outlive their turn: how they are kept and how they end.
 *
 * The head is copied once, with what plugins have added; offsets, so nothing
 * is rebased. Ends are never handled where they are noticed, which may be deep
 * in a call-back of the user's, but at the end of the turn. Thread: [loop]. */
#include "http/h1_exchange.h"

#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/slice.h"
#include "http/h1.h"
#include "http/invoke.h"

static char *head_bytes(const struct rd_h1_exchange *ex)
{
    return (char *)(uintptr_t)(ex->head.fields + ex->head.fields_n);
}

/* Not from the heap: what is freed there below its top stays resident, and the
 * ledger would know nothing of it. Common heads fit a chunk. */
static void *exchange_alloc(struct rd_reactor *r, size_t bytes)
{
    void *p;

    if (bytes <= RD_CHUNK_BYTES) {
        return rd_chunk_pool_take(&r->chunks, RD_MEM_REQUESTS);
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

static void exchange_dealloc(struct rd_reactor *r, void *p, size_t bytes)
{
    if (bytes <= RD_CHUNK_BYTES) {
        rd_chunk_pool_give(&r->chunks, RD_MEM_REQUESTS, p);
    } else {
        rd_page_free(p, bytes);
        rd_ledger_release(&r->ledger, RD_MEM_REQUESTS, rd_page_round(bytes));
    }
}

/* Bytes of the head that its offsets reach. */
static size_t head_len(const struct rd_h1_head *head)
{
    const struct rd_h1_span *last = &head->target;
    size_t len = (size_t)last->off + last->len;

    if (head->fields_n > 0) {
        last = &head->fields[head->fields_n - 1].value;
        if ((size_t)last->off + last->len > len) {
            len = (size_t)last->off + last->len;
        }
    }
    return len;
}

/* Of the match and its values. */
static size_t match_bytes(const struct rd_match *match)
{
    size_t bytes = 0;

    for (unsigned i = 0; match->route && i < match->params_n; i++) {
        bytes += sizeof(*match->params) + match->params[i].len;
    }
    return bytes;
}

/* The values lie in scratches: they are copied to `at`. */
static void keep_match(struct rd_h1_exchange *ex, const struct rd_match *match,
                       char *at)
{
    ex->route = match->route;
    ex->scope = match->scope;
    for (unsigned i = 0; i < ex->params_n; i++) {
        size_t len = match->params[i].len;
        memcpy(at, match->params[i].data, len);
        ex->params[i] = rd_slice(at, len);
        at += len;
    }
}

struct rd_h1_exchange *rd_h1_promote(struct rd_h1 *h1, struct rd_conn *conn)
{
    const struct restd_request *request = &h1->request;
    size_t fields = h1->head.fields_n * sizeof(struct rd_h1_field);
    size_t head = head_len(&h1->head);
    size_t overlay = request->overlay.len;
    const struct rd_fields *set = &h1->response.fields;
    size_t bytes = sizeof(struct rd_h1_exchange) + fields + head + overlay +
                   set->kept_len + set->type_len + match_bytes(&h1->match);
    struct rd_h1_exchange *ex = exchange_alloc(h1->reactor, bytes);

    if (!ex) {
        return NULL;
    }
    memset(ex, 0, sizeof(*ex));
    ex->bytes = bytes;
    ex->h1 = h1;
    ex->conn = conn;
    ex->view = h1->view;
    ex->view->users++;
    ex->start_ns = request->start_ns;
    ex->params = (struct restd_slice *)(ex + 1);
    ex->params_n = h1->match.route ? h1->match.params_n : 0;
    ex->head = h1->head;
    ex->head.fields = (struct rd_h1_field *)(void *)(ex->params + ex->params_n);
    ex->request_data = request->data;
    ex->overlay_len = request->overlay.len;
    ex->path_off = request->overlay.path_off;
    ex->path_len = request->overlay.path_len;
    ex->preset_len = (uint16_t)set->kept_len;
    ex->type_len = (uint16_t)set->type_len;
    memcpy(ex->head.fields, h1->head.fields, fields);
    char *at = head_bytes(ex);
    memcpy(at, request->base, head);
    memcpy(at + head, request->overlay.text, overlay);
    at += head + overlay;
    if (set->kept_len > 0) {
        memcpy(at, set->kept, set->kept_len);
    }
    memcpy(at + set->kept_len, set->type, set->type_len);
    keep_match(ex, &h1->match, at + set->kept_len + set->type_len);
    ex->next = h1->exchanges;
    ex->pprev = &h1->exchanges;
    if (ex->next) {
        ex->next->pprev = &ex->next;
    }
    h1->exchanges = ex;
    conn->request = ex;
    rd_count(&h1->reactor->counters->requests_pending, 1);
    return ex;
}

struct rd_h1_exchange *rd_h1_promoted(struct restd_request *request)
{
    struct rd_conn *conn = request->conn;

    return conn->request ? conn->request : rd_h1_promote(request->h1, conn);
}

int restd_request_receive(struct restd_request *request,
                          const struct restd_upload_ops *ops, void *data,
                          struct restd_upload **out)
{
    if (!request->may_receive) {
        return RESTD_ESTATE;
    }
    if (ops->size < sizeof(*ops) || !ops->content) {
        return RESTD_EINVAL;
    }
    struct rd_h1_exchange *ex = rd_h1_promoted(request);
    if (!ex) {
        return RESTD_ENOMEM;
    }
    request->may_receive = 0;
    ex->upload.ops = *ops;
    ex->upload.data = data;
    ex->upload.is_set = 1;
    if (out) {
        *out = &ex->upload;
    }
    return 0;
}

void rd_h1_restore(struct rd_h1 *h1, struct rd_conn *conn,
                   const struct rd_h1_exchange *ex, int begun)
{
    struct restd_request *request = &h1->request;
    struct rd_h1_field *fields = h1->head.fields;
    const char *at = head_bytes(ex);

    h1->head = ex->head;
    h1->head.fields = fields;
    memcpy(fields, ex->head.fields, ex->head.fields_n * sizeof(*fields));
    rd_h1_request_init(h1, conn, at);
    at += head_len(&ex->head);
    memcpy(h1->overlay, at, ex->overlay_len);
    request->overlay.len = ex->overlay_len;
    request->overlay.path_off = ex->path_off;
    request->overlay.path_len = ex->path_len;
    request->data = ex->request_data;
    request->start_ns = ex->start_ns;
    if (begun) {
        at += ex->overlay_len;
        memcpy(h1->response.fields.text, at, ex->preset_len);
        h1->response.fields.len = ex->preset_len;
        h1->response.fields.kept = at;
        h1->response.fields.kept_len = ex->preset_len;
        memcpy(h1->response.fields.type, at + ex->preset_len, ex->type_len);
        h1->response.fields.type_len = ex->type_len;
    }
    h1->view = ex->view;
    h1->match.route = ex->route;
    h1->match.scope = ex->scope;
    h1->match.params_n = ex->params_n;
    memcpy(h1->match.params, ex->params, ex->params_n * sizeof(*ex->params));
}

void rd_h1_exchange_free(struct rd_h1_exchange *ex)
{
    struct rd_h1 *h1 = ex->h1;
    struct rd_reactor *r = h1->reactor;

    RD_ASSERT(!ex->is_todo && !ex->owed.handle);
    *ex->pprev = ex->next;
    if (ex->next) {
        ex->next->pprev = ex->pprev;
    }
    if (ex->conn->request == ex) {
        ex->conn->request = NULL;
    }
    h1->reserved -= ex->reserved;
    rd_count(&r->counters->requests_pending, (uint64_t)-1);
    if (ex->job) {
        rd_h1_offload_free(ex);
    }
    rd_h1_stream_unfilter(&ex->stream);
    rd_chain_clear(&ex->body, &r->chunks, RD_MEM_BODIES);
    rd_chain_clear(&ex->stream.trailers, &r->chunks, RD_MEM_REQUESTS);
    h1->view = h1->newest;
    rd_h1_view_unuse(ex->view);
    exchange_dealloc(r, ex, ex->bytes);
}

void rd_h1_todo(struct rd_h1_exchange *ex)
{
    if (!ex->is_todo) {
        ex->is_todo = 1;
        ex->next_todo = ex->h1->todo;
        ex->h1->todo = ex;
        ex->h1->reactor->work = 1;
    }
}

void rd_h1_leave(struct rd_h1_exchange *ex)
{
    ex->is_left = 1;
    ex->conn->request = NULL;
    rd_hangup_stop(&ex->h1->reactor->hangups, &ex->hangup);
    rd_h1_defer_drop(ex);
    if (ex->job) {
        rd_offload_cancel(ex->job);
    }
    if (rd_h1_is_elsewhere(ex)) {
        rd_conn_pin(ex->conn);
    }
    /* Nobody is left who would let it go. */
    ex->conn->flags &= (uint16_t) ~(RD_CONN_HELD | RD_CONN_PUMP);
    rd_h1_todo(ex);
}

static void client_left(struct rd_hangup *hangup)
{
    rd_conn_close(RD_CONTAINER_OF(hangup, struct rd_h1_exchange, hangup)->conn,
                  RD_CLOSE_RESET);
}

void rd_h1_watch_client(struct rd_h1_exchange *ex, int by_fin)
{
    struct rd_reactor *r = ex->h1->reactor;

    ex->hangup.by_fin = (uint8_t)by_fin;
    ex->hangup.left = client_left;
    rd_hangup_start(&r->hangups, &ex->hangup, rd_io_fd(&ex->conn->io),
                    r->turn_ns);
}

void rd_h1_closed(struct rd_conn *conn)
{
    struct rd_h1_exchange *ex = conn->request;

    if (ex) {
        uint64_t kept = conn->out.len; /* with framing: a little too much */
        ex->stream.sent -= kept < ex->stream.sent ? kept : ex->stream.sent;
        ex->is_aborted = 1;
        rd_h1_leave(ex);
    }
}

int rd_h1_is_elsewhere(const struct rd_h1_exchange *ex)
{
    return (ex->job && ex->job->is_out) || ex->owed.handle;
}

/* 1 if nothing more will happen to it. */
static int is_done(const struct rd_h1_exchange *ex)
{
    if (rd_h1_is_elsewhere(ex)) {
        return 0;
    }
    return ex->is_left ||
           (!ex->receiving && (!ex->stream.is_set || (ex->stream.is_ended &&
                                                      ex->conn->out.len == 0)));
}

static void tell_after(struct rd_h1_exchange *ex)
{
    struct rd_h1 *h1 = ex->h1;

    if (ex->is_told || !ex->view->has_plugins) {
        return;
    }
    rd_h1_restore(h1, ex->conn, ex, 0);
    rd_invoke_after(&h1->request, ex->status, ex->stream.sent, ex->is_aborted);
}

void rd_h1_upload_closed(struct rd_h1_exchange *ex)
{
    if (ex->upload.is_set && ex->upload.ops.closed) {
        ex->upload.ops.closed(ex->upload.is_complete, ex->upload.data);
    }
    ex->upload.is_set = 0;
}

/* The connection's slot lives until the end of the turn, closed or not, or is
 * pinned. */
static void finish(struct rd_h1_exchange *ex)
{
    struct rd_conn *conn = ex->conn;
    int goes_on = !ex->is_left;
    int close = ex->close;
    int unread = ex->unread;

    /* Whatever the last calls ask of it, it is over. */
    ex->is_left = 1;
    rd_hangup_stop(&ex->h1->reactor->hangups, &ex->hangup);
    tell_after(ex);
    rd_h1_defer_tell(ex);
    if (ex->stream.is_set && ex->stream.ops.closed) {
        ex->stream.ops.closed(&ex->stream, !ex->is_aborted, ex->stream.data);
    }
    rd_h1_upload_closed(ex);
    rd_h1_exchange_free(ex);
    if (conn->flags & RD_CONN_PINNED) {
        rd_conn_unpin(conn);
    }
    if (goes_on) {
        conn->flags &= (uint16_t)~RD_CONN_PUMP;
        rd_conn_touch(conn);
        if (!close) {
            rd_conn_unset_streams(conn);
        } else {
            rd_conn_end(conn, unread ? RD_CLOSE_REFUSED : RD_CLOSE_DONE,
                        unread);
        }
        rd_conn_resume(conn);
    }
}

void rd_h1_turn_end(struct rd_reactor *reactor)
{
    struct rd_h1 *h1 = reactor->protocol_data;

    while (h1->todo) {
        struct rd_h1_exchange *ex = h1->todo;
        h1->todo = ex->next_todo;
        ex->is_todo = 0;
        if (ex->is_aborted && !ex->is_left) {
            rd_conn_close(ex->conn, RD_CLOSE_TRUNCATED); /* it is left then */
        } else if (is_done(ex)) {
            finish(ex);
        } else if (ex->receiving && !ex->upload.is_paused) {
            rd_conn_resume(ex->conn);
        }
    }
}
