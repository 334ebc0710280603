/* SPDX-License-Identifier: MIT */
/* The bodies of struct restd_request and struct restd_response, for the HTTP/1
 * driver that fills them in and the files that serve the handler (request*.c,
 * response.c, fields.c).
 *
 * Owner: the driver embeds one of each per loop. Lifetime: one handler call.
 * Thread: [loop]. */
#ifndef RD_HTTP_MESSAGE_H
#define RD_HTTP_MESSAGE_H

#include <restd/request.h>
#include <restd/response.h>

#include "codec/h1_parser.h"
#include "route/router.h"
#include "net/chunk.h"
#include "net/conn.h"

struct rd_h1;
struct rd_reactor;

/* What plugins have changed: fields, each as two lengths, name and value; and
 * a path. Flat, so that a promoted request takes it along by a copy. */
struct rd_overlay {
    char *text; /* RD_OVERLAY_MAX */
    uint16_t len;
    uint16_t path_off, path_len; /* 0: none */
};
#define RD_OVERLAY_MAX 4096u

struct restd_request {
    const struct rd_h1_head *head;
    const char *base;             /* what the head's offsets count from */
    const struct rd_match *match; /* its route is NULL before routing */
    struct restd_slice body;
    struct rd_conn *conn;
    struct rd_h1 *h1;
    struct rd_overlay overlay;
    uint64_t start_ns; /* of the turn in which its first byte was read */
    void *data;
    int may_receive; /* in the handler of a streaming route */
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
    const char *kept; /* a copy of those that outlive a reset */
    size_t kept_len;
    size_t type_len;
    char type[RD_TYPE_MAX];
};

int rd_fields_add(struct rd_fields *fields, struct restd_slice name,
                  struct restd_slice value);
/* Fields that follow from the framing, and would break it if set by hand. */
int rd_fields_is_own(struct restd_slice name);
int rd_fields_set_type(struct rd_fields *fields, struct restd_slice type);
void rd_fields_remove(struct rd_fields *fields, struct restd_slice name);
struct restd_slice rd_fields_get(const struct rd_fields *fields,
                                 struct restd_slice name);
/* Adds `len` bytes that rd_fields_add() has made, and a type if there is one.
 */
int rd_fields_join(struct rd_fields *to, struct restd_slice text,
                   struct restd_slice type);
struct restd_fields {
    struct rd_fields fields;
    char text[RD_FIELDS_MAX];
};

/* The content lies in one of three places: with the caller (borrowed), in the
 * output scratch behind room for the head (staged), and what exceeds that, or
 * is referred to, in chunks. Or it is a stream. */
struct restd_response {
    int status;
    struct rd_chunk_pool *chunks;
    struct rd_fields fields;
    const char *borrowed;
    size_t borrowed_len;
    char *stage;
    size_t stage_len, stage_size;
    struct rd_chain chain;         /* RD_MEM_OUTPUT */
    struct restd_request *request; /* NULL: cannot become a stream */
    struct restd_stream *stream;
};

/* Empty, status 200; `stage` of `stage_size` bytes is free for content. */
void rd_response_init(struct restd_response *response,
                      struct rd_chunk_pool *chunks, char *fields, char *stage,
                      size_t stage_size);

/* Appends a stretch of a file to the content; with `owned` the descriptor is
 * closed behind it, or on an error. */
RESTD_MUST_CHECK int rd_response_append_file(struct restd_response *response,
                                             int fd, uint64_t offset,
                                             uint64_t len, int owned);
/* Appends what another response referred to, whose it no longer is then: with
 * an error it still is. */
RESTD_MUST_CHECK int rd_response_take_ref(struct restd_response *response,
                                          struct rd_reactor *reactor,
                                          struct rd_chunk_ref *ref);
struct rd_response_framing {
    const char *date; /* "Date: ...\r\n", RD_DATE_LINE_LEN bytes */
    int close;        /* say Connection: close */
    int keep_alive;   /* say Connection: keep-alive, for HTTP/1.0 */
    int chunked;      /* a stream that is not ended by closing */
};
#define RD_DATE_LINE_LEN 37u

/* Writes the head to `out` (RD_RESPONSE_HEAD_MAX bytes); its length. */
size_t rd_response_head(const struct restd_response *response,
                        const struct rd_response_framing *framing, char *out);

#endif
