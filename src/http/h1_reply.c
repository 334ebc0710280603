/* SPDX-License-Identifier: MIT */
/* Replies of the HTTP/1 driver: laid out in the loop's output scratch, head in
 * front of the content, one behind the other until the turn's one send.
 * Thread: [loop]. */
#include <string.h>

#include <restd/error.h>

#include "base/clock.h"
#include "http/date.h"
#include "http/h1.h"

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

/* Writes h1->response, whose staged part may lie where the head will end. */
static void write_response(struct rd_h1 *h1, struct rd_conn *conn, int close)
{
    struct rd_out *out = &h1->reactor->out;
    struct restd_response *response = &h1->response;
    int head_only = h1->head.number == RESTD_HEAD || response->status == 204 ||
                    response->status == 304;
    struct rd_response_framing framing = {.date = date_line(h1),
                                          .close = close,
                                          .keep_alive =
                                              h1->head.version_minor == 0};

    count_response(h1, conn, response->status);
    /* The head goes to the scratch first; it is no longer than the room that
     * was left before the stage. */
    out->len += rd_response_head(response, &framing, out->buf + out->len);
    if (head_only) {
        rd_chain_clear(&response->chain, response->chunks, RD_MEM_OUTPUT);
        return;
    }
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
    }
}

/* Makes room in the scratch and begins an empty response. */
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

void rd_h1_conclude(struct rd_h1 *h1, struct rd_conn *conn, int unread)
{
    int close = unread || !keeps_alive(h1);

    write_response(h1, conn, close);
    rd_conn_touch(conn);
    if (close) {
        rd_conn_end(conn, unread ? RD_CLOSE_REFUSED : RD_CLOSE_DONE, unread);
    }
}

void rd_h1_refuse(struct rd_h1 *h1, struct rd_conn *conn, int status,
                  const char *detail, int unread)
{
    if (rd_h1_begin(h1, conn) != 0) {
        return;
    }
    (void)restd_response_problem(&h1->response, status, detail);
    if (status == 503) {
        (void)restd_response_header(&h1->response, "Retry-After", "1");
    }
    if (status == 405) {
        char allow[RD_ALLOW_MAX];
        (void)rd_router_allow_text(h1->router, h1->match.allowed, allow,
                                   sizeof(allow));
        (void)restd_response_header(&h1->response, "Allow", allow);
    }
    rd_h1_conclude(h1, conn, unread);
}

/* OPTIONS that no route serves, RFC 9110 9.3.7. */
void rd_h1_answer_options(struct rd_h1 *h1, struct rd_conn *conn,
                          uint32_t allowed, int unread)
{
    char allow[RD_ALLOW_MAX];

    if (rd_h1_begin(h1, conn) != 0) {
        return;
    }
    (void)rd_router_allow_text(h1->router, allowed, allow, sizeof(allow));
    (void)restd_response_status(&h1->response, 204);
    (void)restd_response_header(&h1->response, "Allow", allow);
    rd_h1_conclude(h1, conn, unread);
}
