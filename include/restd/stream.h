/* SPDX-License-Identifier: MIT */
/* Replies that are sent piece by piece, contents that are taken piece by
 * piece, and Server-Sent Events. */
#ifndef RESTD_STREAM_H
#define RESTD_STREAM_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/http.h>

RESTD_BEGIN_DECLS

/**
 * A reply under way: chunked for HTTP/1.1, ended by closing for 1.0.
 * Owner: the library. Lifetime: restd_response_stream() to the return of
 * `closed`. Thread: [loop], that of its request, in any call-back on it.
 */
struct restd_stream;

/** What the library asks of who makes a streamed reply. All [loop]. */
struct restd_stream_ops {
    size_t size; /* sizeof(struct restd_stream_ops) */
    /** There is room: first when the head has been written, then whenever a
     * restd_stream_write() that took less than all may be repeated. */
    void (*ready)(struct restd_stream *stream, void *data);
    /** The last call, once: the reply is with the kernel (`complete` 1) or was
     * given up. Frees `data`. */
    void (*closed)(struct restd_stream *stream, int complete, void *data);
};

/**
 * Makes the response a stream: its content is what is written between the
 * first `ready` and restd_stream_end(). *stream (may be NULL) is for later.
 * RESTD_EINVAL if the size of `ops` is not set, RESTD_ENOMEM when the memory
 * budget has no room, RESTD_ESTATE outside of a handler or when the response is
 * a stream already; `closed` is not called then. Once it has succeeded `closed`
 * is called, also if the handler returns an error. Nothing can be written
 * before `ready`, which comes when the handler has returned. A client that
 * leaves is noticed by a write, or at once by its reset; a FIN alone
 * is a half-close, but for events, whose clients leave by it.
 */
RESTD_API RESTD_MUST_CHECK int
restd_response_stream(struct restd_response *response,
                      const struct restd_stream_ops *ops, void *data,
                      struct restd_stream **stream);

/**
 * Sends as much as there is room for and returns how many bytes that was, 1 to
 * `len`: RESTD_EAGAIN if none, with less than `len` `ready` will be called.
 * The room is output_high (64 KiB), and 256 KiB per turn (64 KiB where
 * restd_gzip() holds). RESTD_ECLOSED if the client has left or the stream was
 * ended.
 */
RESTD_API RESTD_MUST_CHECK long
restd_stream_write(struct restd_stream *stream, const void *data, size_t len);
/** Adds a field to the trailer section (RFC 9112 section 7.1.2), which HTTP/1.0
 * does not get. RESTD_EINVAL as for a header, RESTD_ELIMIT beyond 1 KiB. */
RESTD_API RESTD_MUST_CHECK int restd_stream_trailer(struct restd_stream *stream,
                                                    const char *name,
                                                    const char *value);
/** The content is complete; the request's, if it is still coming and paused,
 * goes on. Idempotent. */
RESTD_API void restd_stream_end(struct restd_stream *stream);
/** Gives the reply up: the connection is closed, so that the client knows that
 * it is not complete. */
RESTD_API void restd_stream_abort(struct restd_stream *stream);
/** The loop whose thread owns it, for timers and posts. */
RESTD_API struct restd_loop *
restd_stream_loop(const struct restd_stream *stream);

/**
 * One event, WHATWG HTML section 9.2.
 * Strings are borrowed for the call; NULL: not sent.
 */
struct restd_event {
    const char *id;    /* without NUL, CR and LF */
    const char *event; /* type; without CR and LF */
    const char *data;  /* any text; each line becomes a line of its own */
    uint32_t retry_ms; /* time before a client reconnects; 0: not sent */
};
/** Makes the response a stream of events: sets its type, forbids caching, and
 * has a comment sent after each `keepalive_ms` without an event (0: none).
 * Ends by itself in a drain, after an event "bye", so that clients reconnect
 * elsewhere. Errors as
 * restd_response_stream(), and RESTD_ELIMIT if there is no room for the fields;
 * `ops->ready` may be NULL. */
RESTD_API RESTD_MUST_CHECK int
restd_response_events(struct restd_response *response,
                      const struct restd_stream_ops *ops, void *data,
                      uint32_t keepalive_ms, struct restd_stream **stream);
/** Sends an event, whole or not at all: 0, RESTD_EAGAIN while the client does
 * not read (`ready` will be called), RESTD_EINVAL for a text that is none,
 * RESTD_ELIMIT for more than 16 KiB, RESTD_ECLOSED. */
RESTD_API RESTD_MUST_CHECK int
restd_stream_event(struct restd_stream *stream,
                   const struct restd_event *event);

/**
 * A content under way to its taker.
 * Owner: the library. Lifetime: restd_request_receive() to the return of
 * `closed`. Thread: [loop], that of its request.
 */
struct restd_upload;

/** Who takes a content piece by piece. All [loop]. */
struct restd_upload_ops {
    size_t size; /* sizeof(struct restd_upload_ops) */
    /** The next piece, decoded; dies with the call. 0, or an error that ends
     * the request: RESTD_EINVAL gives 400, RESTD_ELIMIT 413, RESTD_ENOMEM 503,
     * others 500. */
    int (*content)(struct restd_upload *upload, const char *bytes, size_t len,
                   void *data);
    /** The content is complete: makes the response, as a handler does; errors
     * as of `content`. NULL if the handler has made it a stream already. */
    int (*end)(struct restd_request *request, struct restd_response *response,
               void *data);
    /** The last call, once, `complete` or not. Frees `data`. Where the handler
     * has made the response a stream, it comes as soon as the content is
     * complete. */
    void (*closed)(int complete, void *data);
};

/**
 * Has the content of the request given to `ops`, piece by piece, up to
 * body_max or the route's limit. In the handler of a route with the option
 * `streaming`, once. The handler then returns 0 without making a response,
 * unless that is a stream.
 * RESTD_ESTATE elsewhere, RESTD_EINVAL if the size of `ops` is not set or it
 * has no `content`, RESTD_ENOMEM; `closed` is not called then.
 */
RESTD_API RESTD_MUST_CHECK int
restd_request_receive(struct restd_request *request,
                      const struct restd_upload_ops *ops, void *data,
                      struct restd_upload **upload);
/** No more calls of `content` until restd_upload_resume(): the client is held
 * by its window. If that piece was the last, `end` may be called all the same.
 */
RESTD_API void restd_upload_pause(struct restd_upload *upload);
RESTD_API void restd_upload_resume(struct restd_upload *upload);

RESTD_END_DECLS

#endif
