/* SPDX-License-Identifier: MIT */
/* The HTTP/1 driver: a struct rd_protocol that turns bytes of a connection
 * into requests, calls their handlers, and writes the responses.
 *
 * struct rd_h1
 * Owner: the server, one per reactor (reactor->protocol_data).
 * Lifetime: as the reactor's. Thread: [loop]. */
#ifndef RD_HTTP_H1_H
#define RD_HTTP_H1_H

#include <stdint.h>

#include <restd/options.h>

#include "http/chunked.h"
#include "http/message.h"
#include "http/router.h"
#include "net/reactor.h"

/* A request whose content is still coming: its head copied, its content in
 * chunks. Charged to RD_MEM_REQUESTS and RD_MEM_BODIES. */
struct rd_h1_pending {
    struct rd_h1_pending *next, **pprev; /* of the loop */
    struct rd_conn *conn;
    size_t bytes; /* of this object */
    uint64_t start_ns;
    uint64_t left;     /* by Content-Length */
    uint64_t reserved; /* of the memory for contents */
    uint64_t received; /* bytes on the wire, for the rate */
    uint32_t start_tick, last_tick;
    struct rd_chunked chunked;
    struct rd_chain body;
    struct rd_h1_head head; /* its fields and bytes follow */
};

struct rd_h1 {
    struct rd_reactor *reactor;
    const struct restd_options *options;
    const struct restd_router *router;
    struct rd_h1_limits limits;
    struct rd_h1_head head; /* of the current request */
    struct rd_match match;
    struct restd_request request;
    struct restd_response response;
    uint64_t date_until_ns; /* `date` is right before this turn */
    char date[RD_DATE_LINE_LEN];
    struct rd_router_work work;
    char *fields; /* response fields, RD_FIELDS_MAX bytes */
    char *body;   /* whole contents, rd_h1_body_max() bytes; on demand */
    struct rd_h1_pending *pending;
    uint64_t reserved; /* sum over `pending` */
};

extern const struct rd_protocol rd_h1_protocol;

/* Largest content that is taken, as all of it is held in memory. */
static inline uint64_t rd_h1_body_max(const struct rd_h1 *h1)
{
    const struct restd_options *o = h1->options;
    return o->body_max_bytes < o->body_buffered_max_bytes
               ? o->body_max_bytes
               : o->body_buffered_max_bytes;
}

/* Input scratch that holds the largest head. */
size_t rd_h1_input_bytes(const struct restd_options *options);
/* Bytes that init charges. */
uint64_t rd_h1_fixed_bytes(const struct restd_options *options);
int rd_h1_init(struct rd_h1 *h1, struct rd_reactor *reactor,
               const struct restd_router *router);
void rd_h1_fini(struct rd_h1 *h1);

/* Between h1.c, h1_body.c and h1_reply.c. */

/* Routes the request in h1->head. Returns the status that the head alone
 * decides, 204 for OPTIONS, or 0 to go on with h1->match. */
int rd_h1_judge(struct rd_h1 *h1, const char *base, const char **detail);
/* Runs the handler of the request in h1->head and writes its response. */
void rd_h1_handle(struct rd_h1 *h1, struct rd_conn *conn, const char *base,
                  struct restd_slice body);
/* Makes room in the scratch and begins an empty h1->response. 0, or
 * RESTD_ECLOSED if the connection had to be flushed for it and has gone. */
RESTD_MUST_CHECK int rd_h1_begin(struct rd_h1 *h1, struct rd_conn *conn);
/* Writes h1->response, and ends the connection unless it stays by RFC 9112 9.3
 * and the state of the server. `unread`: content follows that nobody wants. */
void rd_h1_conclude(struct rd_h1 *h1, struct rd_conn *conn, int unread);
/* Answers an OPTIONS that no route serves, RFC 9110 9.3.7. */
void rd_h1_answer_options(struct rd_h1 *h1, struct rd_conn *conn,
                          uint32_t allowed, int unread);
/* Writes a problem response; `unread`: content follows that nobody wants, so
 * the connection ends. */
void rd_h1_refuse(struct rd_h1 *h1, struct rd_conn *conn, int status,
                  const char *detail, int unread);
/* Keeps the request in h1->head, whose content begins at data[0..len) and is
 * not all there. May refuse it. Returns how much of data was used. */
size_t rd_h1_suspend(struct rd_h1 *h1, struct rd_conn *conn, const char *base,
                     size_t head_len, char *data, size_t len);
/* More content of a suspended request; handles it when it is complete.
 * Returns how much was used. */
size_t rd_h1_body_input(struct rd_h1 *h1, struct rd_conn *conn, char *data,
                        size_t len);
/* Gives the scratch for whole contents back. */
void rd_h1_trim(struct rd_h1 *h1);
uint32_t rd_h1_body_deadline(const struct rd_h1 *h1,
                             const struct rd_h1_pending *pending);
/* Makes a suspended request's head the current one: other connections' heads
 * have come in between. */
void rd_h1_pending_restore(struct rd_h1 *h1,
                           const struct rd_h1_pending *pending);
void rd_h1_pending_free(struct rd_h1 *h1, struct rd_h1_pending *pending);

#endif
