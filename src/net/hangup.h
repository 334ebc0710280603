/* SPDX-License-Identifier: MIT */
/* Peers that leave while their connection is not read, as its request is being
 * handled: seen without a wake-up for bytes that nobody wants yet.
 *
 * What takes no longer than RD_HANGUP_MS costs no system call. After that the
 * socket is put into an epoll set of the loop's own, which asks for hang-ups
 * only, and which the loop watches as one descriptor.
 *
 * Thread: [loop]. */
#ifndef RD_NET_HANGUP_H
#define RD_NET_HANGUP_H

#include <stdint.h>

#include "net/loop.h"

#define RD_HANGUP_MS 10u

/* One peer that is looked after. Owner: who embeds it, until rd_hangup_stop().
 * Its memory has to live until the end of the turn in which that is called. */
struct rd_hangup {
    struct rd_hangup *next, *prev; /* of the young ones, the oldest first */
    uint64_t since_ns;
    int fd;
    uint8_t state;  /* hangup.c's */
    uint8_t by_fin; /* one that has only shut down its side has left, too */
    void (*left)(struct rd_hangup *hangup);
};

/* Owner: a reactor. */
struct rd_hangup_set {
    struct restd_loop *loop; /* NULL: not made */
    struct rd_io io;         /* the epoll set */
    struct rd_timer timer;
    struct rd_hangup young; /* head of the ring */
};

/* RESTD_EOS. */
int rd_hangup_set_init(struct rd_hangup_set *set, struct restd_loop *loop);
/* Takes its watchers off the loop. */
void rd_hangup_set_stop(struct rd_hangup_set *set);
/* ... and when it is off, or the loop has been freed. */
void rd_hangup_set_fini(struct rd_hangup_set *set);

/* `left` will be called, once at most; already started: nothing to do. */
void rd_hangup_start(struct rd_hangup_set *set, struct rd_hangup *hangup,
                     int fd, uint64_t now_ns);
/* Before the socket is closed; nothing to do if it was not started. */
void rd_hangup_stop(struct rd_hangup_set *set, struct rd_hangup *hangup);

#endif
