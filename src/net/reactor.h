/* SPDX-License-Identifier: MIT */
/* One loop thread's connection engine: its loop, slots, pools, scratches,
 * wheel and counters.
 *
 * struct rd_reactor
 * Owner: the server. Lifetime: restd_server_start() to restd_server_free().
 * Thread: [loop], but for the fields and functions tagged otherwise. */
#ifndef RD_NET_REACTOR_H
#define RD_NET_REACTOR_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <restd/options.h>

#include "base/ledger.h"
#include "base/log.h"
#include "base/slab.h"
#include "net/chunk.h"
#include "net/conn.h"
#include "net/counters.h"
#include "net/hangup.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/wheel.h"

/* Output of the current connection in this turn; empty between connections. */
struct rd_out {
    struct rd_conn *conn; /* whose it is; NULL: nobody's */
    char *buf;
    size_t len, size;
};

#define RD_OUT_BYTES 32768u

/* A socket on its way from the acceptor to a loop. */
struct rd_handover {
    int fd;
    uint16_t listener;
    uint8_t refuse;  /* no descriptor or place: say so and close */
    uint8_t starved; /* took the last descriptor: an idle one must go */
    struct rd_addr peer;
};

#define RD_INBOX_SIZE 256u

/* Most loops that a server may have. */
#define RD_REACTORS_MAX 256u

/* Single producer (acceptor), single consumer (loop); the post is the wake-up.
 */
struct rd_inbox {
    alignas(64) struct rd_post post;
    _Atomic uint32_t tail;             /* producer's */
    alignas(64) _Atomic uint32_t head; /* consumer's */
    struct rd_handover entries[RD_INBOX_SIZE];
};

struct rd_reactor_ops {
    /* [loop] No connection is left in a drain; NULL: nobody asks. */
    void (*drained)(struct rd_reactor *reactor, void *data);
    void *data;
};

struct rd_reactor {
    struct restd_loop *loop;
    unsigned index;
    const struct restd_options *options; /* a reload sets others */
    const struct rd_protocol *protocol;
    const struct rd_stream *stream;
    void *protocol_data;                 /* the protocol's, one per loop */
    const struct rd_listener *listeners; /* the server's; NULL: none */
    struct rd_log *log;
    struct rd_ledger ledger;
    struct rd_slab slots;
    struct rd_chunk_pool chunks;
    struct rd_wheel wheel;
    struct rd_timer tick;
    struct rd_hangup_set hangups;
    char *in; /* input scratch */
    size_t in_size;
    struct rd_out out;
    uint64_t turn, turn_ns, now_ns; /* now_ns: last clock read */
    uint32_t tick_now;
    uint32_t linger_n;
    uint32_t away_n;        /* requests that other threads work at */
    _Atomic uint32_t share; /* of the connection limit; [any] to read */
    uint32_t low_files_n; /* files under way that take its place; see file.h */
    struct rd_conn *dead; /* closed in this turn */
    int work; /* the protocol has something to do at the turn's end */
    int is_guest, is_over; /* the loop is another's; all have gone */
    int announced, draining, stopping, accept_closed;
    uint32_t drain_tick;
    struct rd_reactor_ops ops;
    struct rd_counters *counters;                 /* [any] to read */
    struct rd_inbox inbox;                        /* acceptor and loop */
    struct rd_post beat, drain, stop, accept_end; /* [any] to post */
    _Atomic int drain_now; /* control writes, before it posts `drain` again */
    alignas(64) _Atomic uint64_t turn_start_ns; /* 0 while it waits */
    alignas(64) _Atomic uint64_t beat_sent_ns;  /* control writes */
    _Atomic uint64_t beat_seen_ns;              /* loop writes, any reads */
    _Atomic uint64_t beat_lag_ns;               /* loop writes, control reads */
    _Atomic int tid;
};

/* `in_size`: the largest head plus some room. `host`: a loop that others run;
 * NULL: makes one. RESTD_ENOMEM, RESTD_EOS,
 * RESTD_EBUDGET. */
int rd_reactor_init(struct rd_reactor *reactor, unsigned index,
                    const struct restd_options *options,
                    struct rd_budget *budget, struct rd_log *log,
                    const struct rd_protocol *protocol, size_t in_size,
                    uint32_t fd_max, struct restd_loop *host);
void rd_reactor_fini(struct rd_reactor *reactor);
/* Bytes that init charges. Pure. */
uint64_t rd_reactor_fixed_bytes(size_t in_size, uint32_t fd_max);

/* Loop `index`'s part of the connection limit; the first ones take what is
 * left over. */
static inline uint32_t rd_connections_share(uint32_t max, uint32_t loops_n,
                                            uint32_t index)
{
    return max / loops_n + (index < max % loops_n);
}

/* Thread body: runs until stopped or drained. */
void rd_reactor_run(struct rd_reactor *reactor);
/* Instead of that on a host's loop, before it runs or on its thread. */
void rd_reactor_attach(struct rd_reactor *reactor);
/* ... once it is over, or else stops it here and now. On the loop's thread, or
 * when that does not run. */
void rd_reactor_detach(struct rd_reactor *reactor);

/* [acceptor] Room in the inbox. */
unsigned rd_inbox_room(const struct rd_inbox *inbox);
/* [acceptor] Queues without waking; the caller posts once per batch. */
void rd_inbox_push(struct rd_inbox *inbox, const struct rd_handover *entry);

/* Its post: takes up what is there. */
void rd_inbox_run(struct rd_post *post);

/* Closes the idle connection with the nearest deadline; 0 if none is idle. */
int rd_reactor_close_oldest_idle(struct rd_reactor *reactor,
                                 enum rd_close_reason reason);
/* Reads the clock again; for the end of a reply. */
uint64_t rd_reactor_clock(struct rd_reactor *reactor);
/* A connection has gone that came through that listener. */
void rd_reactor_count_left(struct rd_reactor *reactor, unsigned listener);
/* Connections open. [any] */
uint64_t rd_reactor_active(const struct rd_reactor *reactor);

#endif
