/* SPDX-License-Identifier: MIT */
/* The bodies of struct restd_request and struct restd_response, for the HTTP/1
 * driver that fills them in and request.c, response.c that serve the handler.
 *
 * Owner: the driver embeds one of each per loop. Lifetime: one handler call.
 * Thread: [loop]. */
#ifndef RD_HTTP_MESSAGE_H
#define RD_HTTP_MESSAGE_H

#include <restd/http.h>

#include "http/h1_parser.h"
#include "http/router.h"
#include "net/chunk.h"
#include "net/conn.h"

struct restd_request {
    const struct rd_h1_head *head;
    const char *base; /* what the head's offsets count from */
    const struct rd_match *match;
    struct restd_slice body;
    const struct rd_conn *conn;
};

static inline struct restd_slice rd_span(const char *base,
                                         struct rd_h1_span span)
{
    struct restd_slice s = {base + span.off, span.len};
    return s;
}

#define RD_TYPE_MAX 128u
#define RD_FIELDS_MAX 4096u
/* Room for a whole head: status line, our own fields, RD_FIELDS_MAX. */
#define RD_RESPONSE_HEAD_MAX (RD_FIELDS_MAX + 512u)

/* Custom fields as they go out, and Content-Type, which stands apart so that
 * there is never more than one. */
struct rd_fields {
    char *text; /* RD_FIELDS_MAX */
    size_t len;
    size_t type_len;
    char type[RD_TYPE_MAX];
};

/* The content lies in one of three places: with the caller (borrowed), in the
 * output scratch behind room for the head (staged), and what exceeds that in
 * chunks. */
struct restd_response {
    int status;
    struct rd_chunk_pool *chunks;
    struct rd_fields fields;
    const char *borrowed;
    size_t borrowed_len;
    char *stage;
    size_t stage_len, stage_size;
    struct rd_chain chain; /* RD_MEM_OUTPUT */
};

/* Empty, status 200; `stage` of `stage_size` bytes is free for content. */
void rd_response_init(struct restd_response *response,
                      struct rd_chunk_pool *chunks, char *fields, char *stage,
                      size_t stage_size);
/* Takes back everything that the handler has set. */
void rd_response_reset(struct restd_response *response);
size_t rd_response_body_len(const struct restd_response *response);

struct rd_response_framing {
    const char *date; /* "Date: ...\r\n", RD_DATE_LINE_LEN bytes */
    int close;        /* say Connection: close */
    int keep_alive;   /* say Connection: keep-alive, for HTTP/1.0 */
};
#define RD_DATE_LINE_LEN 37u

/* Writes the head to `out` (RD_RESPONSE_HEAD_MAX bytes); its length. */
size_t rd_response_head(const struct restd_response *response,
                        const struct rd_response_framing *framing, char *out);

#endif
