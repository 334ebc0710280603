/* SPDX-License-Identifier: MIT */
/* Plugins: code that runs around the handlers of a router, or of one route.
 *
 * For each request: the `before` functions, outermost router first, in the
 * order in which they were added (the outermost router's before the route is
 * looked for, the others' once it is known which routers and which route the
 * path leads to, or that it leads to none); then the `wrapper`s, nested, the
 * first one added outermost, around the handler; and the `after` functions,
 * for a reply that the turn has room for when it is made, for another when it
 * is with the kernel or given up.
 *
 * `before` runs when the head is complete and the content may still be on its
 * way, so that a request can be refused before its content is taken. A request
 * that is no request (400, 408, 431 ...) has only its outermost router's
 * `after`. */
#ifndef RESTD_PLUGIN_H
#define RESTD_PLUGIN_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/http.h>

RESTD_BEGIN_DECLS

/** Answer of a `before` function that has made the response. */
#define RESTD_ANSWERED 1

/**
 * May look at the request, change it (restd_request_set_header(),
 * restd_request_set_path()), add header fields to the response, whoever makes
 * it in the end, or answer. The content is not there yet. [loop]
 * Returns 0 to go on, RESTD_ANSWERED, or a negative RESTD_E* as a handler.
 */
typedef int restd_before_fn(struct restd_request *request,
                            struct restd_response *response, void *data);

/** The rest of a chain of wrappers; dies with the call that got it. */
struct restd_next;
/** Runs the inner wrappers and the handler; returns what they return. Once in a
 * call, then RESTD_ESTATE. */
RESTD_API int restd_next(struct restd_next *next);
/**
 * Runs in place of what it encloses: calls restd_next(), or answers by itself.
 * May change the response behind it, unless it is streamed or left to the
 * taker of the content (restd_request_receive()). [loop]
 * Returns as a handler.
 */
typedef int restd_wrapper_fn(struct restd_request *request,
                             struct restd_response *response,
                             struct restd_next *next, void *data);

/** How a request ended. */
struct restd_outcome {
    int status;             /* of the reply; 0: there was none */
    uint64_t content_bytes; /* sent of its content, before framing */
    uint64_t duration_ns;   /* first byte of the request to here */
    int aborted;            /* 1: the client left before the end */
};
/** Sees the end of a request; can change nothing. [loop] */
typedef void restd_after_fn(struct restd_request *request,
                            const struct restd_outcome *outcome, void *data);

/**
 * A plugin: any of the functions may be NULL.
 * Owner: the caller; copied by restd_router_use(). Thread: its functions run
 * on all loops at once, so `data` must be immutable or atomic.
 */
struct restd_plugin {
    size_t size;      /* sizeof(struct restd_plugin) */
    const char *name; /* static memory; for explanations */
    restd_before_fn *before;
    restd_wrapper_fn *wrapper;
    restd_after_fn *after;
    void (*free)(void *data); /* NULL: nothing to free */
    void *data;               /* handed to all of them */
};

RESTD_END_DECLS

#endif
