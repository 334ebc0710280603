/* SPDX-License-Identifier: MIT */
/* An event loop that a program may use for work of its own, such as the
 * control loop of a server, or the loop of a request. */
#ifndef RESTD_LOOP_H
#define RESTD_LOOP_H

#include <restd/api.h>
#include <restd/error.h>

RESTD_BEGIN_DECLS

struct restd_loop;
struct restd_timer;

typedef void restd_timer_fn(struct restd_timer *timer, void *data);

/**
 * Starts a timer that calls `fn` on the loop's thread, first after
 * `first_ms`, then every `repeat_ms` (0: once).
 * Owner: the caller, who gives it back with restd_timer_free() before the
 * loop is freed. Thread: the loop's, or before the loop runs.
 */
RESTD_API RESTD_MUST_CHECK int
restd_timer_new(struct restd_loop *loop, uint32_t first_ms, uint32_t repeat_ms,
                restd_timer_fn *fn, void *data, struct restd_timer **timer);

/** Stops and frees a timer; NULL is allowed. Thread: the loop's, or after the
 * loop has stopped. */
RESTD_API void restd_timer_free(struct restd_timer *timer);

struct restd_post;
typedef void restd_post_fn(void *data);

/**
 * A message to a loop: restd_post_send() has `fn` called on its thread. What
 * is sent while the call is still to come is one call with it, so it says
 * "look", not "once more"; data goes by the caller's own queue.
 * Owner: the caller, who gives it back with restd_post_free().
 * RESTD_ENOMEM. [any thread]
 */
RESTD_API RESTD_MUST_CHECK int restd_post_new(struct restd_loop *loop,
                                              restd_post_fn *fn, void *data,
                                              struct restd_post **post);
/** Never blocks; is lost if the loop has ended. [any thread] */
RESTD_API void restd_post_send(struct restd_post *post);
/** Frees it, once the call that may be under way is over; nobody may send it
 * any more. NULL is allowed. Thread: the loop's, or after the loop has
 * stopped. */
RESTD_API void restd_post_free(struct restd_post *post);

RESTD_END_DECLS

#endif
