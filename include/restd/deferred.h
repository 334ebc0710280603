/* SPDX-License-Identifier: MIT */
/* Replies that come later, from whatever thread: an inline handler gives its
 * request a handle and returns; whoever has the answer in the end replies to
 * the handle. */
#ifndef RESTD_DEFERRED_H
#define RESTD_DEFERRED_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/http.h>
#include <restd/response.h>

RESTD_BEGIN_DECLS

/**
 * A reply that is owed: a number that may be kept, copied and passed on like
 * one, never 0. It names its request until that is answered, its client has
 * left, its time (handler_timeout) is over or the server has stopped, and
 * nothing from then on, in this process: another request never gets the same.
 * So a late reply does no harm. Thread: [any].
 */
typedef uint64_t restd_deferred;

/** What the library tells whoever owes a reply. */
struct restd_deferred_ops {
    size_t size; /* sizeof(struct restd_deferred_ops) */
    /** Nobody waits any more, and no reply has come: once, and then nothing
     * else. NULL: not told. [loop] */
    void (*left)(restd_deferred handle, void *data);
};

/**
 * Has the request answered later. In an inline handler, once; the handler then
 * returns 0, and what it has made of the response is dropped. Fields that
 * `before` functions have set stay; wrappers do not see the reply. `ops` (NULL:
 * nothing is told) is copied.
 * RESTD_ESTATE elsewhere or if the response is a stream, RESTD_EINVAL if the
 * size of `ops` is not set, RESTD_ENOMEM, RESTD_ELIMIT beyond a million replies
 * that a loop owes. An error of the handler takes it back.
 */
RESTD_API RESTD_MUST_CHECK int
restd_request_defer(struct restd_request *request,
                    const struct restd_deferred_ops *ops, void *data,
                    restd_deferred *handle);

/**
 * Replies. The prepared response stays the caller's, who may free it at once.
 * 0; RESTD_ECLOSED if the handle names nothing (any more), RESTD_ESTATE if a
 * reply is on its way already, RESTD_ENOMEM: the reply is still owed.
 * [any thread]
 */
RESTD_API int restd_deferred_reply(restd_deferred handle,
                                   struct restd_prepared *reply);
/** 1 while a reply is still awaited. [any thread] */
RESTD_API int restd_deferred_is_awaited(restd_deferred handle);

RESTD_END_DECLS

#endif
