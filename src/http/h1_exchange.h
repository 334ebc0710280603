/* SPDX-License-Identifier: MIT */
/* A request that outlives its turn: because its content is still coming, its
 * reply is still going, or both.
 *
 *   promoted -> receiving -+-> handled ---------------> done -> freed
 *                          +-> taken piece by piece -+    ^
 *   promoted -> replying ----------------------------+----+
 *
 * Owner: its connection (conn->request), or, once that is closed, the list of
 * what is to do at the turn's end, where alone it is freed. Charged to
 * RD_MEM_REQUESTS; its content to RD_MEM_BODIES. Thread: [loop]. */
#ifndef RD_HTTP_H1_EXCHANGE_H
#define RD_HTTP_H1_EXCHANGE_H

#include <stdint.h>

#include <restd/stream.h>

#include "codec/chunked.h"
#include "http/deferred.h"
#include "http/message.h"
#include "net/hangup.h"

/* Changes the content of a streamed reply on its way, such as gzip. [loop] */
struct rd_stream_filter {
    /* Sends by rd_h1_stream_send() what comes of `len` bytes, all of it: less
     * than len + len / 64 + 64; with `end` also what ends the content. What
     * that returns. */
    int (*write)(struct restd_stream *stream, void *state, const void *data,
                 size_t len, int end);
    void (*free)(void *state);
};

/* Of a streamed reply. */
struct restd_stream {
    struct restd_stream_ops ops;
    void *data;
    const struct rd_stream_filter *filter; /* NULL: sent as it is */
    void *filter_state;
    uint64_t sent; /* of the content, filtered */
    uint64_t turn; /* in which turn_bytes were written */
    uint32_t turn_bytes;
    uint32_t keepalive_ms, keepalive_tick; /* 0: no comments */
    struct rd_chain trailers;              /* RD_MEM_REQUESTS */
    uint8_t is_set;                        /* the response is a stream */
    uint8_t is_open;                       /* its head has been written */
    uint8_t is_ended;
    uint8_t wants_room;
    uint8_t chunked, head_only, events;
};

/* Of a content that is taken piece by piece. */
struct restd_upload {
    struct restd_upload_ops ops;
    void *data;
    uint8_t is_set, is_paused, is_complete;
};

struct rd_offloaded;

struct rd_h1_exchange {
    struct rd_h1_exchange *next, **pprev; /* of the loop */
    struct rd_h1_exchange *next_todo;
    struct rd_h1 *h1;
    struct rd_h1_view *view; /* in which it began, and stays */
    struct rd_conn *conn;    /* its slot; not to be used once is_left */
    size_t bytes;            /* of this object */
    uint64_t start_ns;
    uint64_t left;     /* by Content-Length */
    uint64_t max;      /* of the content */
    uint64_t reserved; /* of the memory for contents */
    uint64_t received; /* bytes on the wire, for the rate */
    uint64_t content;  /* bytes of it */
    uint32_t start_tick, last_tick;
    struct rd_chunked chunked;
    struct rd_chain body;    /* RD_MEM_BODIES */
    struct rd_hangup hangup; /* while it is replied to, or about to be */
    struct restd_stream stream;
    struct restd_upload upload;
    struct rd_offloaded *job; /* NULL: its handler runs here */
    struct rd_owed owed;
    uint32_t deadline_tick; /* of a job, or of what is owed */
    int status;             /* of the reply, once it is written */
    uint8_t receiving;
    uint8_t is_whole;   /* is being handled with its whole content */
    uint8_t is_todo;    /* in the list */
    uint8_t close;      /* after the reply */
    uint8_t unread;     /* content follows that nobody wants */
    uint8_t is_left;    /* the connection is closed, or goes on without it */
    uint8_t is_aborted; /* given up before its end */
    uint8_t is_told;    /* the after functions have seen its end */
    void *request_data;
    const struct rd_route *route; /* with what follows, of its match */
    const struct rd_scope *scope;
    unsigned params_n;
    struct restd_slice *params;
    uint16_t overlay_len, path_off, path_len, preset_len, type_len;
    /* `params`, its fields, bytes, overlay, presets and values follow. */
    struct rd_h1_head head;
};

/* Copies the request in h1->request, and makes it conn->request. NULL without
 * memory. */
struct rd_h1_exchange *rd_h1_promote(struct rd_h1 *h1, struct rd_conn *conn);
/* The exchange that a request is, or becomes. NULL without memory. */
struct rd_h1_exchange *rd_h1_promoted(struct restd_request *request);
/* Makes it the current request again, routed as it was, with an empty content:
 * those of other connections have come in between. Its presets are added to
 * h1->response, if `begun`. `conn`: the exchange's, or who stands for it on
 * another thread. */
void rd_h1_restore(struct rd_h1 *h1, struct rd_conn *conn,
                   const struct rd_h1_exchange *exchange, int begun);
/* 1 while others have to do with it: a thread, or whoever owes the reply. */
int rd_h1_is_elsewhere(const struct rd_h1_exchange *exchange);
/* Frees one that neither receives nor replies. */
void rd_h1_exchange_free(struct rd_h1_exchange *exchange);
/* Sees to it that the client is not missed while nobody reads from it. `by_fin`:
 * also if it has only closed its side. */
void rd_h1_watch_client(struct rd_h1_exchange *exchange, int by_fin);
/* Its connection goes on, or ends, without it. */
void rd_h1_leave(struct rd_h1_exchange *exchange);
/* Has it looked at when the turn ends. */
void rd_h1_todo(struct rd_h1_exchange *exchange);
/* The protocol's turn_end and closed. */
void rd_h1_turn_end(struct rd_reactor *reactor);
void rd_h1_closed(struct rd_conn *conn);
/* Tick at which rd_h1_stream_tick() has something to do. */
uint32_t rd_h1_stream_deadline(const struct rd_h1_exchange *exchange);
void rd_h1_stream_tick(struct rd_h1_exchange *exchange);
/* The head of its response has been written. */
void rd_h1_stream_open(struct rd_h1_exchange *exchange);
/* The protocol's room(). */
void rd_h1_stream_room(struct rd_conn *conn);
/* Sends `len` bytes of the content as they are: 0, RESTD_ECLOSED. */
int rd_h1_stream_send(struct restd_stream *stream, const void *data,
                      size_t len);
/* Frees what its filter holds; nothing is written any more. */
void rd_h1_stream_unfilter(struct restd_stream *stream);
/* Sends `len` bytes whole or not at all: 0, RESTD_EAGAIN, RESTD_ECLOSED. */
int rd_stream_write_all(struct restd_stream *stream, const void *data,
                        size_t len);
/* The last call for its taker, if that has not been. */
void rd_h1_upload_closed(struct rd_h1_exchange *exchange);
/* The response is no stream after all. */
void rd_h1_stream_drop(struct restd_stream *stream);

#endif
