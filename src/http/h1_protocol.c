/* SPDX-License-Identifier: MIT */
/* The HTTP/1 driver as a protocol of connections: cuts input into requests,
 * and says what is late. Thread: [loop]. */
#include <string.h>

#include "base/assert.h"
#include "http/h1.h"

/* Begins a reply to what is no request: no HEAD, no HTTP/1.0 keep-alive. */
static int begin_without_head(struct rd_h1 *h1, struct rd_conn *conn)
{
    struct rd_h1_head none = {.number = RESTD_METHOD_OTHER,
                              .version_minor = 1,
                              .error = h1->head.error,
                              .fields = h1->head.fields};

    h1->head = none;
    rd_h1_request_init(h1, conn, "");
    return rd_h1_begin(h1, conn);
}

static size_t one_request(struct rd_h1 *h1, struct rd_conn *conn, char *buf,
                          size_t len)
{
    int n = rd_h1_parse(&h1->head, &h1->limits, buf, len);

    if (n > 0) {
        return rd_h1_serve(h1, conn, buf, (size_t)n, len);
    }
    if (n == 0) {
        return 0;
    }
    rd_count(&h1->reactor->counters->parse_errors, 1);
    if (begin_without_head(h1, conn) == 0) {
        rd_h1_refuse(h1, conn, -n, h1->head.error, 1);
    }
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
           !(conn->flags & (RD_CONN_ENDING | RD_CONN_PAUSED | RD_CONN_HELD))) {
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

/* 1 while content is awaited from the client. */
static int is_receiving(const struct rd_conn *conn)
{
    const struct rd_h1_exchange *ex = conn->request;
    return ex->receiving && !(conn->flags & RD_CONN_HELD);
}

static uint32_t deadline(const struct rd_conn *conn)
{
    const struct rd_h1 *h1 = conn->reactor->protocol_data;

    const struct rd_h1_exchange *ex = conn->request;
    if (ex) {
        return rd_h1_is_elsewhere(ex) ? ex->deadline_tick
               : is_receiving(conn)   ? rd_h1_body_deadline(h1, ex)
                                      : rd_h1_stream_deadline(ex);
    }
    return conn->since + rd_ticks(h1->options->header_timeout_ms);
}

static void timeout(struct rd_conn *conn)
{
    struct rd_h1 *h1 = conn->reactor->protocol_data;

    struct rd_h1_exchange *ex = conn->request;
    if (ex && (rd_h1_is_elsewhere(ex) || !is_receiving(conn))) {
        if (ex->owed.handle) {
            rd_h1_defer_timeout(h1, ex);
        } else if (rd_h1_is_elsewhere(ex)) {
            rd_h1_offload_timeout(h1, ex);
        } else {
            rd_h1_stream_tick(ex);
        }
        return;
    }
    if (ex) {
        rd_h1_body_timeout(h1, ex);
    } else if (begin_without_head(h1, conn) == 0) {
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
    if (conn->request) {
        rd_h1_todo(conn->request);
    }
}

static void trim(struct rd_reactor *reactor)
{
    rd_h1_trim(reactor->protocol_data, 0);
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
    .closed = rd_h1_closed,
    .room = rd_h1_stream_room,
    .turn_end = rd_h1_turn_end,
    .trim = trim,
    .busy = busy,
    .busy_len = sizeof(busy) - 1,
};
