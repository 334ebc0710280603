/* SPDX-License-Identifier: MIT */
/* The HTTP/1 driver, RFC 9112.
 *
 * A request that is complete in the input scratch is parsed, routed, handled
 * and answered without a copy and without an allocation. One whose content is
 * not all there (h1_body.c), or whose reply is a stream (h1_stream.c), is
 * promoted (h1_exchange.c). What is decided from the head alone
 * (404, 405, 413, 417, 501) is said at once; if content follows that is not at
 * hand, the connection ends after the reply. Replies are h1_reply.c's.
 * Thread: [loop]. */
#include "http/h1.h"

#include <string.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/slice.h"
#include "http/desk.h"
#include "http/invoke.h"

/* A request line's method, spaces, version and line ends. */
#define LINE_EXTRA 64u

size_t rd_h1_input_bytes(const struct restd_options *options)
{
    size_t head = (size_t)options->target_max_bytes +
                  options->header_max_bytes + LINE_EXTRA;
    return rd_page_round(head + 1024);
}

static size_t fields_bytes(const struct restd_options *options)
{
    return options->header_fields_max * sizeof(struct rd_h1_field);
}

/* A plugin may set a path that is longer than the target was. */
static size_t path_max(const struct restd_options *options)
{
    return options->target_max_bytes > RD_OVERLAY_MAX
               ? options->target_max_bytes
               : RD_OVERLAY_MAX;
}

uint64_t rd_h1_scratch_bytes(const struct restd_options *options)
{
    return rd_page_round(options->target_max_bytes) +
           2 * rd_page_round(RD_FIELDS_MAX) + rd_page_round(RD_OVERLAY_MAX) +
           rd_page_round(fields_bytes(options));
}

uint64_t rd_h1_fixed_bytes(const struct restd_options *options)
{
    return rd_h1_scratch_bytes(options) +
           rd_router_work_bytes(NULL, path_max(options));
}

int rd_h1_scratch_init(struct rd_h1 *h1)
{
    const struct restd_options *o = h1->options;

    h1->query = rd_page_alloc(o->target_max_bytes);
    h1->fields = rd_page_alloc(RD_FIELDS_MAX);
    h1->overlay = rd_page_alloc(RD_OVERLAY_MAX);
    h1->presets = rd_page_alloc(RD_FIELDS_MAX);
    h1->head.fields = rd_page_alloc(fields_bytes(o));
    if (!h1->query || !h1->fields || !h1->overlay || !h1->presets ||
        !h1->head.fields) {
        return RESTD_ENOMEM;
    }
    h1->request.head = &h1->head;
    h1->request.match = &h1->match;
    h1->request.h1 = h1;
    h1->request.overlay.text = h1->overlay;
    return 0;
}

void rd_h1_scratch_fini(struct rd_h1 *h1)
{
    const struct restd_options *o = h1->options;

    rd_page_free(h1->query, o->target_max_bytes);
    rd_page_free(h1->fields, RD_FIELDS_MAX);
    rd_page_free(h1->overlay, RD_OVERLAY_MAX);
    rd_page_free(h1->presets, RD_FIELDS_MAX);
    rd_page_free(h1->head.fields, fields_bytes(o));
}

int rd_h1_init(struct rd_h1 *h1, struct rd_reactor *reactor,
               struct rd_h1_view *view)
{
    const struct restd_options *o = view->options;

    memset(h1, 0, sizeof(*h1));
    h1->reactor = reactor;
    rd_h1_view_set(h1, view);
    rd_post_init(&h1->pick_up, rd_h1_pick_up);
    h1->limits.target_max = o->target_max_bytes;
    h1->limits.header_max = o->header_max_bytes;
    h1->limits.fields_max = (uint16_t)o->header_fields_max;
    if (rd_ledger_charge(&reactor->ledger, RD_MEM_FIXED,
                         rd_h1_fixed_bytes(o)) != 0) {
        return RESTD_EBUDGET;
    }
    int rc = rd_h1_scratch_init(h1);
    if (rc != 0) {
        return rc;
    }
    reactor->protocol_data = h1;
    rc = rd_router_work_init(&h1->work, NULL, path_max(o));
    h1->work.regex = view->regex;
    return rc;
}

void rd_h1_fini(struct rd_h1 *h1)
{
    const struct restd_options *o = h1->options;

    if (!o) {
        return;
    }
    RD_ASSERT(!h1->exchanges);
    rd_h1_scratch_fini(h1);
    h1->work.regex = NULL; /* the view's */
    rd_router_work_fini(&h1->work);
    rd_h1_trim(h1, 1);
    rd_desk_free(h1);
}

/* Runs wrappers and handler, as far as the figures are concerned. */
static inline int call_handler(struct rd_h1 *h1, struct rd_conn *conn)
{
    _Atomic uint64_t *handling = &h1->reactor->counters->handling;

    const struct rd_route *route = h1->match.route;

    h1->response.request = &h1->request;
    atomic_store_explicit(handling, conn->state + 1u, memory_order_relaxed);
    int rc = route->wrappers_n > 0
                 ? rd_invoke_handler(&h1->request, &h1->response)
                 : route->handler(&h1->request, &h1->response, route->data);
    atomic_store_explicit(handling, 0, memory_order_relaxed);
    h1->response.request = NULL;
    return rc;
}

static void refuse_failed(struct rd_h1 *h1, struct rd_conn *conn, int rc,
                          int unread)
{
    struct rd_h1_exchange *ex = conn->request;
    if (ex) {
        rd_h1_defer_drop(ex);
        ex->owed.lost = 0; /* it knows */
    }
    if (rc == RESTD_ENOMEM) {
        rd_h1_refuse(h1, conn, 503, "no memory for the response", unread);
        return;
    }
    struct restd_slice pattern = restd_request_pattern(&h1->request);
    rd_log(h1->reactor->log, RESTD_LOG_ERROR, "handler of %.*s: %s",
           (int)pattern.len, pattern.data ? pattern.data : "",
           restd_strerror(rc));
    rd_h1_refuse(h1, conn, 500, NULL, unread);
}

void rd_h1_handled(struct rd_h1 *h1, struct rd_conn *conn, int rc, int unread)
{
    if (rc >= 0) {
        rd_h1_conclude(h1, conn, unread);
    } else {
        refuse_failed(h1, conn, rc, unread);
    }
}

void rd_h1_handle(struct rd_h1 *h1, struct rd_conn *conn,
                  struct restd_slice body)
{
    if (__builtin_expect(h1->match.route->options.offload && h1->offload, 0)) {
        rd_h1_offload(h1, conn, body);
        return;
    }
    h1->request.body = body;
    int rc = call_handler(h1, conn);
    if (__builtin_expect(rc >= 0, 1)) {
        rd_h1_conclude(h1, conn, 0);
    } else {
        refuse_failed(h1, conn, rc, 0);
    }
}

uint64_t rd_h1_content_max(const struct rd_h1 *h1)
{
    const struct restd_route_options *route = &h1->match.route->options;
    uint64_t max = route->body_max_bytes ? route->body_max_bytes
                                         : h1->options->body_max_bytes;
    uint64_t buffered = h1->options->body_buffered_max_bytes;

    return route->streaming || max < buffered ? max : buffered;
}

int rd_h1_judge(struct rd_h1 *h1, const char **detail)
{
    const struct rd_h1_head *head = &h1->head;
    const struct restd_request *request = &h1->request;
    const struct restd_router *router = h1->view->router;
    unsigned method = head->number;

    *detail = NULL;
    if (head->flags & RD_H1_EXPECT_OTHER) {
        return 417;
    }
    if (method == RESTD_METHOD_OTHER) {
        method = rd_router_method(router, restd_request_method_name(request));
    }
    if (method == 0 || head->form == RD_H1_AUTHORITY) {
        return 501;
    }
    if (head->form == RD_H1_ASTERISK) {
        h1->match.allowed = rd_router_allowed(router);
        return 204;
    }
    struct restd_slice path = rd_span(request->base, head->path);
    int plain = (head->flags & RD_H1_PLAIN_PATH) != 0;
    if (request->overlay.path_len) {
        path = restd_request_path(request);
        plain = 0;
    }
    int rc =
        rd_router_match(router, method, path, plain, &h1->work, &h1->match);
    if (rc == -405 && method == RESTD_METHOD_OPTIONS) {
        return 204;
    }
    if (rc != 0) {
        return -rc;
    }
    if ((head->flags & RD_H1_LENGTH) &&
        head->content_length > rd_h1_content_max(h1)) {
        *detail = "content too large";
        return 413;
    }
    if (h1->match.route->options.low_priority &&
        rd_budget_level(h1->reactor->ledger.budget) >= RD_LEVEL_REFUSE) {
        *detail = "memory is short";
        return 503;
    }
    return 0;
}

/* 1 if the content is all there: *body, and *used bytes of it on the wire. A
 * chunked one is always left to the suspended request: one decoder's place. */
static int whole_body(struct rd_h1 *h1, char *data, size_t len,
                      struct restd_slice *body, size_t *used)
{
    const struct rd_h1_head *head = &h1->head;

    *body = rd_slice(data, 0);
    *used = 0;
    if (head->flags & RD_H1_CHUNKED) {
        return 0;
    }
    if (head->flags & RD_H1_LENGTH) {
        if (len < head->content_length) {
            return 0;
        }
        *body = rd_slice(data, (size_t)head->content_length);
        *used = (size_t)head->content_length;
    }
    return 1;
}

/* The handler of a streaming route, which sees the request when its head is
 * there. Returns how much of the content was used. */
static size_t serve_streaming(struct rd_h1 *h1, struct rd_conn *conn,
                              char *data, size_t len, size_t used, int whole)
{
    h1->request.may_receive = 1;
    int rc = call_handler(h1, conn);
    h1->request.may_receive = 0;

    struct rd_h1_exchange *ex = conn->request;
    if (!ex || !ex->upload.is_set) {
        rd_h1_handled(h1, conn, rc, !whole);
        return used;
    }
    if (rc < 0) {
        ex->is_told = 1;
        rd_h1_leave(ex);
        rd_h1_handled(h1, conn, rc, !whole);
        return used;
    }
    ex->receiving = 1;
    rd_h1_continue(h1, conn, len);
    if (h1->response.stream) {
        rd_h1_conclude(h1, conn, 0);
    } else {
        /* It is `end` that makes it. */
        restd_response_body_borrowed(&h1->response, NULL, 0);
    }
    return ex->is_left ? len : rd_h1_feed(h1, conn, data, len);
}

/* What `before` functions have set goes out whoever answers. */
static void keep_presets(struct rd_h1 *h1)
{
    struct rd_fields *fields = &h1->response.fields;

    memcpy(h1->presets, fields->text, fields->len);
    fields->kept = h1->presets;
    fields->kept_len = fields->len;
}

/* Plugins, then the route. 0 to go on, with the status that the head alone
 * decides or 0; a negative RESTD_E* or a positive number of a plugin that has
 * answered. */
static int admit(struct rd_h1 *h1, int *status, const char **detail)
{
    if (!h1->view->has_plugins) {
        *status = rd_h1_judge(h1, detail);
        return 0;
    }
    int rc = rd_invoke_before_routing(&h1->request, &h1->response);

    if (rc == 0) {
        *status = rd_h1_judge(h1, detail);
        rc = rd_invoke_before_handler(&h1->request, &h1->response);
    }
    keep_presets(h1);
    return rc;
}

size_t rd_h1_serve(struct rd_h1 *h1, struct rd_conn *conn, char *base,
                   size_t head_len, size_t len)
{
    struct restd_slice body;
    const char *detail = NULL;
    size_t used;

    rd_count(&h1->reactor->counters->requests, 1);
    if (rd_h1_begin(h1, conn) != 0) {
        return head_len;
    }
    rd_h1_request_init(h1, conn, base);
    int status = 0;
    int answered = admit(h1, &status, &detail);
    char *data = base + head_len;
    int whole = whole_body(h1, data, len - head_len, &body, &used);
    if (__builtin_expect(answered | status, 0)) {
        if (answered) {
            rd_h1_handled(h1, conn, answered, !whole);
        } else if (status == 204) {
            rd_h1_answer_options(h1, conn, !whole);
        } else {
            rd_h1_refuse(h1, conn, status, detail, !whole);
        }
        return head_len + used;
    }
    if (h1->match.route->options.streaming) {
        return head_len +
               serve_streaming(h1, conn, data, len - head_len, used, whole);
    }
    if (!whole) {
        /* Nothing that a plugin may have begun stays behind. */
        restd_response_body_borrowed(&h1->response, NULL, 0);
        return head_len + rd_h1_suspend(h1, conn, data, len - head_len);
    }
    rd_h1_handle(h1, conn, body);
    return head_len + used;
}
