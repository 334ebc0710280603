/* SPDX-License-Identifier: MIT */
/* Replies of the HTTP/1 driver: laid out in the loop's output scratch, head in
 * front of the content, one behind the other until the turn's one send.
 * Thread: [loop]. */
#include <string.h>

#include <restd/error.h>

#include "base/clock.h"
#include "base/decimal.h"
#include "codec/date.h"
#include "http/h1.h"
#include "http/invoke.h"

/* Room that a handler finds for its content before chunks are needed. */
#define STAGE_MIN 8192u
/* A borrowed content up to this is copied, so that it joins the one send. */
#define BORROWED_COPY_MAX 4096u

/* The line changes once a second; the wall clock is read no more often. */
static const char *date_line(struct rd_h1 *h1)
{
    uint64_t turn_ns = h1->reactor->turn_ns;

    if (__builtin_expect(turn_ns >= h1->date_until_ns, 0)) {
        int64_t ms = rd_clock_unix_ms();
        memcpy(h1->date, "Date: ", 6);
        rd_date_format(ms / 1000, h1->date + 6);
        memcpy(h1->date + RD_DATE_LINE_LEN - 2, "\r\n", 2);
        h1->date_until_ns = turn_ns + (uint64_t)(1000 - ms % 1000) * 1000000u;
    }
    return h1->date;
}

/* RFC 9112 9.3, and what the state of the server adds. */
static int keeps_alive(const struct rd_h1 *h1)
{
    const struct rd_reactor *r = h1->reactor;
    uint16_t flags = h1->head.flags;

    if ((flags & RD_H1_CLOSE) ||
        (h1->head.version_minor == 0 && !(flags & RD_H1_KEEP_ALIVE))) {
        return 0;
    }
    return !r->draining && !r->stopping &&
           rd_budget_level(r->ledger.budget) < RD_LEVEL_CLOSE;
}

static void count_response(struct rd_h1 *h1, struct rd_conn *conn, int status)
{
    struct rd_counters *counters = h1->reactor->counters;

    rd_count(&counters->responses[status / 100 - 1], 1);
    if (conn->unsent_n++ == 0) {
        conn->reply_ns = conn->start_ns ? conn->start_ns : h1->reactor->turn_ns;
    }
}

/* RFC 9110 15.3.5, 15.3.6, 15.4.5. */
static int may_have_content(int status)
{
    return status != 204 && status != 205 && status != 304;
}

static int has_content(const struct rd_h1 *h1)
{
    return h1->head.number != RESTD_METHOD_HEAD &&
           may_have_content(h1->response.status);
}

static void write_content(struct rd_h1 *h1, struct rd_conn *conn)
{
    struct rd_out *out = &h1->reactor->out;
    struct restd_response *response = &h1->response;

    if (response->borrowed_len > 0) {
        size_t len = response->borrowed_len;
        if (len <= BORROWED_COPY_MAX) {
            memcpy(out->buf + out->len, response->borrowed, len);
            out->len += len;
        } else {
            rd_conn_flush(conn, response->borrowed, len, NULL);
        }
        return;
    }
    memmove(out->buf + out->len, response->stage, response->stage_len);
    out->len += response->stage_len;
    if (response->chain.len > 0) {
        rd_conn_flush(conn, NULL, 0, &response->chain);
        rd_h1_view_pin(h1->view, &conn->out);
    }
}

/* Writes the head of h1->response, behind which the staged part of the content
 * may lie: it is no longer than the room that was left before the stage. */
static inline void write_head(struct rd_h1 *h1, struct rd_conn *conn, int close,
                              int chunked)
{
    struct rd_out *out = &h1->reactor->out;
    struct rd_response_framing framing = {.date = date_line(h1),
                                          .close = close,
                                          .keep_alive =
                                              h1->head.version_minor == 0,
                                          .chunked = chunked};

    count_response(h1, conn, h1->response.status);
    out->len += rd_response_head(&h1->response, &framing, out->buf + out->len);
}

int rd_h1_begin(struct rd_h1 *h1, struct rd_conn *conn)
{
    struct rd_out *out = &h1->reactor->out;

    if (out->size - out->len < RD_RESPONSE_HEAD_MAX + STAGE_MIN) {
        rd_conn_flush(conn, NULL, 0, NULL);
        if (rd_conn_is_closed(conn)) {
            return RESTD_ECLOSED;
        }
    }
    char *stage = out->buf + out->len + RD_RESPONSE_HEAD_MAX;
    rd_response_init(&h1->response, &h1->reactor->chunks, h1->fields, stage,
                     (size_t)(out->buf + out->size - stage));
    return 0;
}

static void conclude_stream(struct rd_h1 *h1, struct rd_conn *conn, int close,
                            int unread)
{
    struct rd_h1_exchange *ex = conn->request;
    int content = has_content(h1);
    int status = h1->response.status;

    ex->stream.head_only = !content;
    ex->stream.chunked = h1->head.version_minor > 0 && may_have_content(status);
    /* RFC 9112 6.3: of 1.0 the end of the connection is that of the content. */
    close |= content && !ex->stream.chunked;
    ex->status = status;
    ex->close = (uint8_t)close;
    ex->unread = (uint8_t)unread;
    write_head(h1, conn, close, ex->stream.chunked);
    rd_conn_touch(conn);
    rd_h1_stream_open(ex);
}

/* Has a reply that the kernel has not taken whole promoted, if it is not, so
 * that the after functions see its end. 0 if that cannot be. */
static int follow(struct rd_h1 *h1, struct rd_conn *conn, uint64_t content,
                  int close, int unread)
{
    struct rd_h1_exchange *ex = conn->request;

    if (rd_conn_is_closed(conn) || conn->out.len == 0) {
        return 0;
    }
    if (!ex) {
        ex = rd_h1_promote(h1, conn);
    }
    if (!ex) {
        return 0;
    }
    ex->is_told = 0;
    ex->status = h1->response.status;
    ex->close = (uint8_t)close;
    ex->unread = (uint8_t)unread;
    ex->stream.is_set = 1;
    ex->stream.is_ended = 1;
    ex->stream.sent = content;
    rd_conn_hold(conn);
    return 1;
}

void rd_h1_conclude(struct rd_h1 *h1, struct rd_conn *conn, int unread)
{
    struct restd_response *response = &h1->response;
    int close = unread || !keeps_alive(h1);
    uint64_t len = 0;

    if (response->stream) {
        conclude_stream(h1, conn, close, unread);
        return;
    }
    struct rd_h1_exchange *ex = conn->request;
    int is_away = ex && ex->job && ex->job->is_out;
    if (ex && ex->owed.handle) {
        rd_chain_clear(&response->chain, response->chunks, RD_MEM_OUTPUT);
        rd_h1_defer_wait(ex);
        return;
    }
    if (ex) {
        /* Also if the connection does not outlive the flush. */
        ex->is_told = !is_away;
    }
    write_head(h1, conn, close, 0);
    if (has_content(h1)) {
        len =
            response->borrowed_len + response->stage_len + response->chain.len;
        write_content(h1, conn);
    } else {
        rd_chain_clear(&response->chain, response->chunks, RD_MEM_OUTPUT);
    }
    rd_conn_touch(conn);
    if (is_away) {
        /* What plugins have is in use until its handler has returned. */
        ex->status = response->status;
        ex->stream.sent = len;
    } else if (h1->view->has_plugins) {
        if (follow(h1, conn, len, close, unread)) {
            return;
        }
        rd_invoke_after(&h1->request, response->status, len,
                        rd_conn_is_closed(conn));
    }
    if (close) {
        rd_conn_end(conn, unread ? RD_CLOSE_REFUSED : RD_CLOSE_DONE, unread);
    }
}

/* A problem, which a plugin's fields stay with. */
static void make_problem(struct restd_response *response, int status,
                         const char *detail)
{
    restd_response_reset(response);
    (void)restd_response_problem(response, status, detail);
}

void rd_h1_refuse_for(struct rd_h1 *h1, struct rd_conn *conn, unsigned retry_s,
                      const char *detail)
{
    char text[24] = "";

    text[rd_decimal_u64(text, retry_s)] = '\0';
    make_problem(&h1->response, 503, detail);
    (void)restd_response_set_header(&h1->response, "Retry-After", text);
    rd_h1_conclude(h1, conn, 0);
}

void rd_h1_refuse(struct rd_h1 *h1, struct rd_conn *conn, int status,
                  const char *detail, int unread)
{
    struct restd_response *response = &h1->response;

    make_problem(response, status, detail);
    if (status == 503) {
        (void)restd_response_set_header(response, "Retry-After", "1");
    }
    if (status == 405) {
        char allow[RD_ALLOW_MAX];
        (void)rd_router_allow_text(h1->view->router, h1->match.allowed, allow,
                                   sizeof(allow));
        (void)restd_response_set_header(response, "Allow", allow);
    }
    rd_h1_conclude(h1, conn, unread);
}

void rd_h1_answer_options(struct rd_h1 *h1, struct rd_conn *conn, int unread)
{
    char allow[RD_ALLOW_MAX];

    (void)rd_router_allow_text(h1->view->router, h1->match.allowed, allow,
                               sizeof(allow));
    (void)restd_response_set_status(&h1->response, 204);
    (void)restd_response_set_header(&h1->response, "Allow", allow);
    rd_h1_conclude(h1, conn, unread);
}
