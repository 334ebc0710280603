/* SPDX-License-Identifier: MIT */
/* The HTTP/1 driver: a struct rd_protocol that turns bytes of a connection
 * into requests, calls plugins and handlers, and writes the responses.
 *
 * struct rd_h1
 * Owner: the server, one per reactor (reactor->protocol_data).
 * Lifetime: as the reactor's. Thread: [loop]. */
#ifndef RD_HTTP_H1_H
#define RD_HTTP_H1_H

#include <stdint.h>

#include <restd/options.h>

#include "http/h1_exchange.h"
#include "http/h1_view.h"
#include "http/message.h"
#include "http/offload.h"
#include "route/router.h"
#include "net/reactor.h"

/* What a plugin keeps on a loop, first in an object of its own.
 * Owner: the struct rd_h1 in whose list it is, with which it ends. Thread:
 * [loop]. */
struct rd_h1_local {
    struct rd_h1_local *next;
    /* Gives back what can be had again; with `all` everything, itself too. */
    void (*trim)(struct rd_h1_local *local, int all);
};

struct rd_h1 {
    struct rd_reactor *reactor;
    const struct restd_options *options;  /* the newest view's */
    struct rd_h1_view *view;              /* of the current request */
    struct rd_h1_view *newest;            /* of new requests */
    _Atomic(struct rd_h1_view *) offered; /* control's, until picked up */
    struct rd_post pick_up;
    struct rd_router_work work; /* for `newest` */
    struct rd_h1_limits limits;
    struct rd_h1_head head; /* of the current request */
    struct rd_match match;
    struct restd_request request;
    struct restd_response response;
    uint64_t date_until_ns; /* `date` is right before this turn */
    char date[RD_DATE_LINE_LEN];
    char *query;   /* decoded query, target_max bytes */
    char *fields;  /* response fields, RD_FIELDS_MAX bytes */
    char *overlay; /* what plugins set, RD_OVERLAY_MAX bytes */
    char *presets; /* response fields of `before`, RD_FIELDS_MAX bytes */
    char *body;    /* whole contents, body_size bytes; on demand */
    size_t body_size;
    struct rd_offload *offload; /* the server's; NULL: all handlers run here */
    struct rd_desk *desk;       /* of deferred replies; on demand */
    struct rd_h1_exchange *exchanges;
    struct rd_h1_exchange *todo; /* for the turn's end */
    struct rd_h1_local *locals;
    uint64_t reserved; /* sum over `exchanges` */
};

extern const struct rd_protocol rd_h1_protocol;

/* Largest content that is held in memory. */
static inline uint64_t rd_h1_buffered_max(const struct rd_h1 *h1)
{
    const struct restd_options *o = h1->options;
    return o->body_max_bytes < o->body_buffered_max_bytes
               ? o->body_max_bytes
               : o->body_buffered_max_bytes;
}

/* Makes h1->request that of h1->head; not yet routed, without content. */
static inline void rd_h1_request_init(struct rd_h1 *h1, struct rd_conn *conn,
                                      const char *base)
{
    struct restd_request *request = &h1->request;

    request->base = base;
    request->body.data = "";
    request->body.len = 0;
    request->conn = conn;
    request->overlay.len = 0;
    request->overlay.path_len = 0;
    request->start_ns = conn->start_ns ? conn->start_ns : h1->reactor->turn_ns;
    request->data = NULL;
    h1->view = h1->newest;
    h1->match.route = NULL;
    h1->match.scope = NULL;
    h1->match.allowed = 0;
}

/* What of it a handler needs; all of h1->options. */
uint64_t rd_h1_scratch_bytes(const struct restd_options *options);
RESTD_MUST_CHECK int rd_h1_scratch_init(struct rd_h1 *h1);
void rd_h1_scratch_fini(struct rd_h1 *h1);
/* Input scratch that holds the largest head. */
size_t rd_h1_input_bytes(const struct restd_options *options);
/* Bytes that init charges. */
uint64_t rd_h1_fixed_bytes(const struct restd_options *options);
int rd_h1_init(struct rd_h1 *h1, struct rd_reactor *reactor,
               struct rd_h1_view *view);
void rd_h1_fini(struct rd_h1 *h1);

/* h1.c */

/* Handles the request whose head, buf[0..head_len), is in h1->head, and what
 * there is of its content behind it; returns the bytes used of len. */
size_t rd_h1_serve(struct rd_h1 *h1, struct rd_conn *conn, char *buf,
                   size_t head_len, size_t len);
/* Routes the request in h1->head. Returns the status that the head alone
 * decides, 204 for OPTIONS, or 0 to go on with h1->match. */
int rd_h1_judge(struct rd_h1 *h1, const char **detail);
/* Most content that the route in h1->match takes. */
uint64_t rd_h1_content_max(const struct rd_h1 *h1);
/* Runs wrappers and handler of the request in h1->head and writes its
 * response, unless that is left to the taker of its content. */
void rd_h1_handle(struct rd_h1 *h1, struct rd_conn *conn,
                  struct restd_slice body);
/* Concludes the response of a handler, or of a plugin in its place, that has
 * returned `rc`. */
void rd_h1_handled(struct rd_h1 *h1, struct rd_conn *conn, int rc, int unread);

/* h1_reply.c */

/* Makes room in the scratch and begins an empty h1->response. 0, or
 * RESTD_ECLOSED if the connection had to be flushed for it and has gone. */
RESTD_MUST_CHECK int rd_h1_begin(struct rd_h1 *h1, struct rd_conn *conn);
/* Writes h1->response, and ends the connection unless it stays by RFC 9112 9.3
 * and the state of the server. `unread`: content follows that nobody wants. */
void rd_h1_conclude(struct rd_h1 *h1, struct rd_conn *conn, int unread);
/* Answers an OPTIONS that no route serves, RFC 9110 9.3.7. */
void rd_h1_answer_options(struct rd_h1 *h1, struct rd_conn *conn, int unread);
/* Makes h1->response a problem and concludes it; 503 says when to retry. */
void rd_h1_refuse_for(struct rd_h1 *h1, struct rd_conn *conn, unsigned retry_s,
                      const char *detail);
void rd_h1_refuse(struct rd_h1 *h1, struct rd_conn *conn, int status,
                  const char *detail, int unread);

/* h1_body.c */

/* Keeps the request in h1->head, whose content begins at data[0..len) and is
 * not all there. May refuse it. Returns how much of data was used. */
size_t rd_h1_suspend(struct rd_h1 *h1, struct rd_conn *conn, char *data,
                     size_t len);
/* Says 100 if the request asks for it, RFC 9110 10.1.1, unless `len` bytes of
 * its content are there already. Before anything else of the reply. */
void rd_h1_continue(struct rd_h1 *h1, struct rd_conn *conn, size_t len);
/* Begins to feed the taker of a promoted request; as rd_h1_suspend(). */
size_t rd_h1_feed(struct rd_h1 *h1, struct rd_conn *conn, char *data,
                  size_t len);
/* More content of a promoted request; handles it when it is complete.
 * Returns how much was used. */
size_t rd_h1_body_input(struct rd_h1 *h1, struct rd_conn *conn, char *data,
                        size_t len);
/* It comes too slowly. */
void rd_h1_body_timeout(struct rd_h1 *h1, struct rd_h1_exchange *exchange);
/* Gives the scratch for whole contents back, and what plugins keep; `all`:
 * everything of theirs. */
void rd_h1_trim(struct rd_h1 *h1, int all);
uint32_t rd_h1_body_deadline(const struct rd_h1 *h1,
                             const struct rd_h1_exchange *exchange);

#endif
