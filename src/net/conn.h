/* SPDX-License-Identifier: MIT */
/* A client connection: socket, buffers, state and deadline. What the bytes
 * mean is the protocol's (struct rd_protocol).
 *
 *              +--------------------------------------+
 *   hand-over  v      first byte          complete    |
 *   -------> IDLE -----------> READING ------------> (handler)
 *              ^                  |  ^                 |
 *              |   output taken   |  +-- more needed   | output left over
 *              +-------------- WRITING <---------------+
 *                                 | close after reply
 *   any state ---> CLOSED <--- LINGERING (early reply: the peer still sends)
 *
 * A request that is complete in its first read leaves the state IDLE. One
 * whose reply outlives the turn is PROCESSING while there is nothing to send.
 *
 * Owner: a reactor's slab. Lifetime: hand-over until the end of the turn in
 * which it was closed; on one loop for life. Thread: [loop]. */
#ifndef RD_NET_CONN_H
#define RD_NET_CONN_H

#include <stddef.h>
#include <stdint.h>

#include "net/addr.h"
#include "net/chunk.h"
#include "net/conn_table.h"
#include "net/loop.h"
#include "net/wheel.h"

struct rd_reactor;
struct rd_conn;

/* A protocol on connections. All calls come from the connection's loop. */
struct rd_protocol {
    /* buf[0..len) is what has come and was not used so far, of which the first
     * `seen` bytes were offered before. Returns how many bytes it used; the
     * rest is kept and offered again with more behind it. May write output,
     * call rd_conn_end() and rd_conn_pause(). */
    size_t (*input)(struct rd_conn *conn, char *buf, size_t len, size_t seen);
    /* Tick of the deadline of what is being read, or processed. */
    uint32_t (*deadline)(const struct rd_conn *conn);
    /* That deadline has passed. May write; must end what is being read. */
    void (*timeout)(struct rd_conn *conn);
    /* All output is with the kernel. */
    void (*sent)(struct rd_conn *conn);
    /* Output has fallen below the low-water mark while there is a
     * conn->request, or RD_CONN_PUMP has asked for it. */
    void (*room)(struct rd_conn *conn);
    /* End of a turn in which reactor->work was set. */
    void (*turn_end)(struct rd_reactor *reactor);
    /* The connection is closed: give up conn->request. */
    void (*closed)(struct rd_conn *conn);
    /* Memory is short: give back what can be had again. Between requests. */
    void (*trim)(struct rd_reactor *reactor);
    /* Sent to those who find no room. */
    const char *busy;
    size_t busy_len;
};

/* How bytes get in and out; plain sockets now, TLS later. As recv(2) and
 * sendmsg(2): a count, 0 at the end of the stream, or -1 and errno. */
struct rd_stream {
    long (*recv)(struct rd_conn *conn, char *buf, size_t size);
    long (*send)(struct rd_conn *conn, const char *buf, size_t len);
    long (*sendv)(struct rd_conn *conn, struct iovec *iov, int n);
    /* 0: the file has ended. */
    long (*send_file)(struct rd_conn *conn, int fd, uint64_t offset,
                      size_t len);
};
extern const struct rd_stream rd_stream_tcp;

enum {
    RD_CONN_ENDING = 1 << 0,    /* closes once its output is taken */
    RD_CONN_UNREAD = 1 << 1,    /* the peer may still be sending: linger */
    RD_CONN_PAUSED = 1 << 2,    /* no input is taken before output has gone */
    RD_CONN_EOF = 1 << 3,       /* the peer has half-closed */
    RD_CONN_FULL = 1 << 4,      /* the last read filled its room */
    RD_CONN_USED = 1 << 5,      /* has made a request */
    RD_CONN_HELD = 1 << 6,      /* the protocol takes no input for now */
    RD_CONN_AGAIN = 1 << 7,     /* what was kept is to be offered again */
    RD_CONN_STREAMS = 1 << 8,   /* little may wait unsent in the kernel */
    RD_CONN_PUMP = 1 << 9,      /* tell room() when it is writable */
    RD_CONN_DEAFENED = 1 << 10, /* has waited without being read */
    RD_CONN_PINNED = 1 << 11,   /* see rd_conn_pin() */
    RD_CONN_REAPED = 1 << 12    /* pinned only: would be free by now */
};

/* Flags that keep a connection from being read. */
#define RD_CONN_DEAF                                                           \
    (RD_CONN_PAUSED | RD_CONN_HELD | RD_CONN_ENDING | RD_CONN_EOF)

struct rd_conn {
    struct rd_io io;
    struct rd_wheel_node timer;
    struct rd_reactor *reactor;
    void *request;       /* the protocol's, for one that outlives a turn */
    struct rd_chain in;  /* RD_MEM_INPUT */
    struct rd_chain out; /* RD_MEM_OUTPUT */
    union {
        uint64_t start_ns;     /* turn of the first byte being read */
        uint64_t linger_bytes; /* LINGERING: dropped so far */
    };
    /* Not in the union: who has just called us may still touch the rest. */
    struct rd_conn *next_dead; /* CLOSED: until the turn's end */
    uint64_t reply_ns;         /* start of the oldest reply in `unsent_n` */
    uint32_t since;            /* tick: see conn_deadline() */
    uint16_t unsent_n;         /* replies that the kernel has not taken whole */
    uint16_t listener;
    uint16_t flags; /* RD_CONN_* */
    uint8_t state;  /* enum rd_conn_state */
    uint8_t reason; /* enum rd_close_reason, of an ending one */
    struct rd_addr peer;
};

/* Takes over a connected socket: makes a slot and reads at once. The socket is
 * closed when there is no room. */
void rd_conn_open(struct rd_reactor *reactor, int fd,
                  const struct rd_addr *peer, uint16_t listener);

/* Sends the loop's output scratch and, behind it, `ref_len` borrowed bytes and
 * a chain (NULL: none; emptied); what the kernel does not take is kept. */
void rd_conn_flush(struct rd_conn *conn, const char *ref, size_t ref_len,
                   struct rd_chain *chain);
/* Sends bytes of a reply that outlives its turn, at any time on the loop:
 * behind the scratch if that is this connection's now, else at once. What the
 * kernel does not take is kept. RESTD_ECLOSED if it is closed by then. */
int rd_conn_write(struct rd_conn *conn, const struct iovec *iov, int n);
/* The kernel would take a little output now. A system call. */
int rd_conn_is_writable(const struct rd_conn *conn);
/* Limits what waits unsent in the kernel, so that a peer that never reads
 * holds little there. */
void rd_conn_set_streams(struct rd_conn *conn);
void rd_conn_unset_streams(struct rd_conn *conn);
/* Ends it with the protocol's `busy`: there is no memory for the rest. */
void rd_conn_refuse(struct rd_conn *conn);
/* Sends once of what was kept. */
void rd_conn_send_kept(struct rd_conn *conn);
/* No more input; closes when the output is taken. `unread`: the peer may still
 * be sending, so linger. */
void rd_conn_end(struct rd_conn *conn, enum rd_close_reason reason, int unread);
/* No more input until the output has fallen below the low-water mark. */
void rd_conn_pause(struct rd_conn *conn);
/* No more input until rd_conn_resume(). */
void rd_conn_hold(struct rd_conn *conn);
/* Takes input again, first what was kept. At a turn's end only, as it calls
 * the protocol. */
void rd_conn_resume(struct rd_conn *conn);
/* Has `fn` write to it, at any time on the loop but within a call from its own
 * protocol. */
void rd_conn_call(struct rd_conn *conn, void (*fn)(struct rd_conn *conn));
/* Derives state, deadline and watched events from what is pending. */
void rd_conn_arm(struct rd_conn *conn);
/* A request is complete: time runs for the next one. */
void rd_conn_touch(struct rd_conn *conn);
/* Requests of it that are not over: of which it has answered some already. */
static inline unsigned rd_conn_requests_n(const struct rd_conn *conn)
{
    return conn->unsent_n > 0 ? conn->unsent_n : conn->request != NULL;
}
/* A request of it is elsewhere and will want to know whose it was: the slot
 * outlives the connection until the pin is taken off, at a turn's end. */
void rd_conn_pin(struct rd_conn *conn);
void rd_conn_unpin(struct rd_conn *conn);
/* Closes now. The slot lives until the end of the turn. */
void rd_conn_close(struct rd_conn *conn, enum rd_close_reason reason);
static inline int rd_conn_is_closed(const struct rd_conn *conn)
{
    return conn->state == RD_CONN_CLOSED;
}

/* Between conn.c and conn_state.c: checks that the change is legal, keeps the
 * gauges; and the state that follows from what is pending. */
void rd_conn_set_state(struct rd_conn *conn, enum rd_conn_state state);
enum rd_conn_state rd_conn_derive_state(const struct rd_conn *conn);
/* LINGERING: reads and drops. */
void rd_conn_linger_read(struct rd_conn *conn);
/* 1 if the peer may have sent what close(2) would answer by a RST. */
int rd_conn_has_unread(const struct rd_conn *conn);

/* Expiry of conn->timer, called by the reactor. */
void rd_conn_expire(struct rd_conn *conn);
/* Closes an idle one for another's sake, unless a request of its has reached
 * the kernel: that is served. 1 if it was closed. */
int rd_conn_sacrifice(struct rd_conn *conn, enum rd_close_reason reason);
/* Recomputes the deadline, after the rules have changed (drain). */
void rd_conn_set_deadline(struct rd_conn *conn);

#endif
