/* SPDX-License-Identifier: MIT */
/* The HTTP/1 driver, RFC 9112.
 *
 * A request that is complete in the input scratch is parsed, routed, handled
 * and answered without a copy and without an allocation. One whose content is
 * not all there is suspended (h1_body.c). What is decided from the head alone
 * (404, 405, 413, 417, 501) is said at once; if content follows that is not at
 * hand, the connection ends after the reply. Replies are h1_reply.c's.
 * Thread: [loop]. */
#include "http/h1.h"

#include <string.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/slice.h"

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

uint64_t rd_h1_fixed_bytes(const struct restd_options *options)
{
    return rd_router_work_bytes(NULL, options->target_max_bytes) +
           rd_page_round(RD_FIELDS_MAX) + rd_page_round(fields_bytes(options));
}

int rd_h1_init(struct rd_h1 *h1, struct rd_reactor *reactor,
               const struct restd_router *router)
{
    const struct restd_options *o = reactor->options;

    memset(h1, 0, sizeof(*h1));
    h1->reactor = reactor;
    h1->options = o;
    h1->router = router;
    h1->limits.target_max = o->target_max_bytes;
    h1->limits.header_max = o->header_max_bytes;
    h1->limits.fields_max = (uint16_t)o->header_fields_max;
    if (rd_ledger_charge(&reactor->ledger, RD_MEM_FIXED,
                         rd_h1_fixed_bytes(o) +
                             rd_router_work_bytes(router, 0)) != 0) {
        return RESTD_EBUDGET;
    }
    if (rd_router_work_init(&h1->work, router, o->target_max_bytes) != 0) {
        return RESTD_ENOMEM;
    }
    h1->fields = rd_page_alloc(RD_FIELDS_MAX);
    h1->head.fields = rd_page_alloc(fields_bytes(o));
    if (!h1->fields || !h1->head.fields) {
        return RESTD_ENOMEM;
    }
    reactor->protocol_data = h1;
    return 0;
}

void rd_h1_fini(struct rd_h1 *h1)
{
    const struct restd_options *o = h1->options;

    if (!o) {
        return;
    }
    RD_ASSERT(!h1->pending);
    rd_router_work_fini(&h1->work);
    rd_page_free(h1->fields, RD_FIELDS_MAX);
    rd_page_free(h1->head.fields, fields_bytes(o));
    rd_h1_trim(h1);
}

void rd_h1_handle(struct rd_h1 *h1, struct rd_conn *conn, const char *base,
                  struct restd_slice body)
{
    struct rd_counters *counters = h1->reactor->counters;
    struct restd_request *request = &h1->request;
    const struct rd_route *route = h1->match.route;

    if (rd_h1_begin(h1, conn) != 0) {
        return;
    }
    request->head = &h1->head;
    request->base = base;
    request->match = &h1->match;
    request->body = body;
    request->conn = conn;
    atomic_store_explicit(&counters->handling, conn->state + 1u,
                          memory_order_relaxed);
    int rc = route->handler(request, &h1->response, route->data);
    atomic_store_explicit(&counters->handling, 0, memory_order_relaxed);
    if (__builtin_expect(rc < 0, 0)) {
        rd_response_reset(&h1->response);
        if (rc == RESTD_ENOMEM) {
            rd_h1_refuse(h1, conn, 503, "no memory for the response", 0);
        } else {
            rd_log(h1->reactor->log, RESTD_LOG_ERROR, "handler of %s: %s",
                   route->pattern, restd_strerror(rc));
            rd_h1_refuse(h1, conn, 500, NULL, 0);
        }
        return;
    }
    rd_h1_conclude(h1, conn, 0);
}

int rd_h1_judge(struct rd_h1 *h1, const char *base, const char **detail)
{
    const struct rd_h1_head *head = &h1->head;
    unsigned method = head->number;

    *detail = NULL;
    h1->match.allowed = 0;
    if (head->flags & RD_H1_EXPECT_OTHER) {
        return 417;
    }
    if (method == RESTD_UNKNOWN) {
        method = rd_router_method(h1->router, rd_span(base, head->method));
    }
    if (method == 0 || head->form == RD_H1_AUTHORITY) {
        return 501;
    }
    if (head->form == RD_H1_ASTERISK) {
        h1->match.allowed = rd_router_allowed(h1->router);
        return 204;
    }
    int rc = rd_router_match(h1->router, method, rd_span(base, head->path),
                             (head->flags & RD_H1_PLAIN_PATH) != 0, &h1->work,
                             &h1->match);
    if (rc == -405 && method == RESTD_OPTIONS) {
        return 204;
    }
    if (rc != 0) {
        return -rc;
    }
    if ((head->flags & RD_H1_LENGTH) &&
        head->content_length > rd_h1_body_max(h1)) {
        *detail = "content too large";
        return 413;
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

/* Handles the request whose head is in h1->head; returns the bytes used. */
static size_t serve(struct rd_h1 *h1, struct rd_conn *conn, char *base,
                    size_t head_len, size_t len)
{
    struct restd_slice body;
    const char *detail;
    size_t used;

    rd_count(&h1->reactor->counters->requests, 1);
    int status = rd_h1_judge(h1, base, &detail);
    int whole = whole_body(h1, base + head_len, len - head_len, &body, &used);
    if (__builtin_expect(status != 0, 0)) {
        if (status == 204) {
            rd_h1_answer_options(h1, conn, h1->match.allowed, !whole);
        } else {
            rd_h1_refuse(h1, conn, status, detail, !whole);
        }
        return head_len + used;
    }
    if (!whole) {
        return head_len + rd_h1_suspend(h1, conn, base, head_len,
                                        base + head_len, len - head_len);
    }
    rd_h1_handle(h1, conn, base, body);
    return head_len + used;
}

/* For a reply to what is no request: no HEAD, no HTTP/1.0 keep-alive. */
static void forget_head(struct rd_h1 *h1)
{
    h1->head.number = RESTD_UNKNOWN;
    h1->head.version_minor = 1;
    h1->head.flags = 0;
}

static size_t one_request(struct rd_h1 *h1, struct rd_conn *conn, char *buf,
                          size_t len)
{
    int n = rd_h1_parse(&h1->head, &h1->limits, buf, len);

    if (n > 0) {
        return serve(h1, conn, buf, (size_t)n, len);
    }
    if (n == 0) {
        return 0;
    }
    rd_count(&h1->reactor->counters->parse_errors, 1);
    forget_head(h1);
    rd_h1_refuse(h1, conn, -n, h1->head.error, 1);
    return len;
}

/* Half a head cannot become whole without a line end; what is longer than the
 * limits is looked at in any case. */
static int is_worth_parsing(const struct rd_h1 *h1, const char *buf, size_t len,
                            size_t seen)
{
    return seen == 0 || len >= h1->limits.target_max ||
           memchr(buf + seen, '\n', len - seen) != NULL;
}

static size_t input(struct rd_conn *conn, char *buf, size_t len, size_t seen)
{
    struct rd_h1 *h1 = conn->reactor->protocol_data;
    size_t pos = 0;

    if (conn->request) {
        pos = rd_h1_body_input(h1, conn, buf, len);
    } else if (!is_worth_parsing(h1, buf, len, seen)) {
        return 0;
    }
    while (pos < len && !conn->request && !rd_conn_is_closed(conn) &&
           !(conn->flags & (RD_CONN_ENDING | RD_CONN_PAUSED))) {
        size_t n = one_request(h1, conn, buf + pos, len - pos);
        if (n == 0) {
            break;
        }
        pos += n;
        if (conn->out.len > h1->options->output_high_bytes) {
            rd_conn_pause(conn);
        }
    }
    return pos;
}

static uint32_t deadline(const struct rd_conn *conn)
{
    const struct rd_h1 *h1 = conn->reactor->protocol_data;

    if (conn->request) {
        return rd_h1_body_deadline(h1, conn->request);
    }
    return conn->since + rd_ticks(h1->options->header_timeout_ms);
}

static void timeout(struct rd_conn *conn)
{
    struct rd_h1 *h1 = conn->reactor->protocol_data;

    if (conn->request) {
        rd_h1_pending_restore(h1, conn->request);
        rd_h1_pending_free(h1, conn->request);
        rd_h1_refuse(h1, conn, 408, "content came too slowly", 1);
    } else {
        forget_head(h1);
        rd_h1_refuse(h1, conn, 408, "header section came too slowly", 1);
    }
    conn->reason = RD_CLOSE_READ_TIMEOUT;
}

static void sent(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;

    if (conn->unsent_n > 0) {
        rd_hist_add(&r->counters->latency, rd_reactor_clock(r) - conn->reply_ns,
                    conn->unsent_n);
        conn->unsent_n = 0;
    }
}

static void trim(struct rd_reactor *reactor)
{
    rd_h1_trim(reactor->protocol_data);
}

static void closed(struct rd_conn *conn)
{
    if (conn->request) {
        rd_h1_pending_free(conn->reactor->protocol_data, conn->request);
    }
}

#define BUSY_BODY                                                              \
    "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\","             \
    "\"status\":503}\n"

static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\n"
                           "Content-Type: application/problem+json\r\n"
                           "Content-Length: 66\r\n"
                           "Retry-After: 1\r\n"
                           "Connection: close\r\n\r\n" BUSY_BODY;
RD_STATIC_ASSERT(sizeof(BUSY_BODY) - 1 == 66, "Content-Length of busy");

const struct rd_protocol rd_h1_protocol = {
    .input = input,
    .deadline = deadline,
    .timeout = timeout,
    .sent = sent,
    .closed = closed,
    .trim = trim,
    .busy = busy,
    .busy_len = sizeof(busy) - 1,
};
