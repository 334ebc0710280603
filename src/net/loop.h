/* SPDX-License-Identifier: MIT */
/* The event loop: libev behind a narrow door. Only loop.c includes <ev.h>.
 *
 * struct restd_loop
 * Owner: who made it. Lifetime: rd_loop_new() to rd_loop_free().
 * Thread: the one in rd_loop_run(), or any while it does not run; only
 * rd_loop_post() may be called from another. */
#ifndef RD_NET_LOOP_H
#define RD_NET_LOOP_H

#include <stdatomic.h>
#include <stdint.h>

#include <restd/loop.h>

#include "base/assert.h"

enum { RD_READ = 1, RD_WRITE = 2 };

/* A descriptor's watcher, embedded in what it watches for; the opaque part is
 * a libev watcher (size asserted in loop.c). Thread: [loop]. */
struct rd_io {
    uint64_t opaque[6];
};
typedef void rd_io_fn(struct rd_io *io, int events);

/* A timer, embedded likewise. Thread: [loop]. */
struct rd_timer {
    uint64_t opaque[6];
};
typedef void rd_timer_fn(struct rd_timer *timer);

/* A message to a loop, embedded in its sender's object. Posting one that is
 * queued already does nothing, so it says "look", not "once more".
 * Owner: the sender; must live until the loop has run it or is freed. */
struct rd_post {
    struct rd_post *next;
    void (*fn)(struct rd_post *post);
    atomic_int queued;
};

/* Called on the loop's thread around each poll. */
struct rd_loop_hooks {
    void (*before_poll)(void *data);
    void (*after_poll)(void *data);
    void *data;
};

int rd_loop_new(struct restd_loop **loop);
void rd_loop_free(struct restd_loop *loop);
/* NULL takes them away. */
void rd_loop_set_hooks(struct restd_loop *loop,
                       const struct rd_loop_hooks *hooks);
/* One who uses a loop of others and has to know of its end: `ended` is called
 * once, by its thread behind rd_loop_run(), or by rd_loop_free(). NULL: nobody
 * any more. RESTD_EEXIST if there is one, RESTD_ESTATE if the loop has ended or
 * is another thread's. */
typedef void rd_loop_ended_fn(void *data);
int rd_loop_set_guest(struct restd_loop *loop, rd_loop_ended_fn *ended,
                      void *data);
/* The log of whose loop it is, for guests; NULL: none. */
struct rd_log;
void rd_loop_set_log(struct restd_loop *loop, struct rd_log *log);
struct rd_log *rd_loop_log(const struct restd_loop *loop);
/* 1 if nobody has run it yet, nor is about to. */
int rd_loop_is_fresh(const struct restd_loop *loop);
/* A thread that is about to be started will run it: it is no longer current. */
void rd_loop_claim(struct restd_loop *loop, int claim);

/* Runs until rd_loop_break(), which is for the loop's own thread. */
void rd_loop_run(struct restd_loop *loop);
void rd_loop_break(struct restd_loop *loop);
int rd_loop_is_running(const struct restd_loop *loop);
/* 1 on the thread that runs the loop, or if none does. */
int rd_loop_is_current(const struct restd_loop *loop);
/* Opens every function that is for the loop's thread only. */
#define rd_assert_in_loop(loop) RD_DEBUG_ASSERT(rd_loop_is_current(loop))

/* [any] Queues a message and wakes the loop if it sleeps. Messages posted by
 * one thread run in that thread's order. */
void rd_post_init(struct rd_post *post, void (*fn)(struct rd_post *post));
void rd_loop_post(struct restd_loop *loop, struct rd_post *post);

/* The restd_post behind a message: runs it; frees it if its owner has. */
void rd_loop_user_post(struct rd_post *post);
void rd_loop_user_drop(struct rd_post *post);
/* Takes a message out of a loop that does not run. */
void rd_loop_unpost(struct restd_loop *loop, struct rd_post *post);
/* A loop that does not run yet has an old idea of the time. */
void rd_loop_update_time(struct restd_loop *loop);

/* Entries that libev's descriptor array gets for descriptors 0..fd_max when
 * it is grown at once, by its growth rule. */
uint32_t rd_loop_fd_entries(uint32_t fd_max);
/* Bytes of one entry. */
#define RD_LOOP_FD_ENTRY_BYTES 16u
/* Grows that array now, before any watcher is started, because libev aborts
 * when it cannot grow it later. Descriptors below rd_loop_fd_entries(fd_max)
 * are then safe. RESTD_EOS, or RESTD_ENOMEM. */
int rd_loop_reserve_fds(struct restd_loop *loop, uint32_t fd_max);
/* A descriptor with a number that makes it grow so, for that; or -1. */
int rd_loop_high_fd(uint32_t fd_max);
/* The number behind the highest safe descriptor. */
uint32_t rd_loop_fds_n(const struct restd_loop *loop);

void rd_io_init(struct rd_io *io, int fd, rd_io_fn *fn);
int rd_io_fd(const struct rd_io *io);
/* Starts, or changes what is watched; 0 stops. */
void rd_io_watch(struct restd_loop *loop, struct rd_io *io, int events);

void rd_timer_init(struct rd_timer *timer, rd_timer_fn *fn);
void rd_timer_start(struct restd_loop *loop, struct rd_timer *timer,
                    uint32_t first_ms, uint32_t repeat_ms);
void rd_timer_stop(struct restd_loop *loop, struct rd_timer *timer);
int rd_timer_is_active(const struct rd_timer *timer);

#endif
