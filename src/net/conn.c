/* SPDX-License-Identifier: MIT */
/* Connections.
 *
 * Each event does its work and ends in conn_settle(), which alone derives the
 * state from what is pending, sets the deadline and the watched events, and
 * closes what is due. Closing is immediate only when nothing unread can be
 * left in the kernel, because close(2) with unread bytes sends a RST that may
 * overtake the reply (RFC 9112 9.6). Output is conn_out.c's.
 * Thread: the connection's loop. */
#include "net/conn.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <restd/error.h>

#include "base/assert.h"
#include "net/reactor.h"

static void conn_settle(struct rd_conn *conn);

void rd_conn_close(struct rd_conn *conn, enum rd_close_reason reason)
{
    struct rd_reactor *r = conn->reactor;

    if (rd_conn_is_closed(conn)) {
        return;
    }
    if (conn->state == RD_CONN_LINGERING) {
        r->linger_n--;
    }
    if (rd_conn_requests_n(conn) > 0) {
        rd_count(&r->counters->aborted, 1);
        rd_count(&r->counters->lost, rd_conn_requests_n(conn));
    }
    r->protocol->closed(conn);
    rd_io_watch(r->loop, &conn->io, 0);
    close(rd_io_fd(&conn->io));
    rd_chain_clear(&conn->in, &r->chunks, RD_MEM_INPUT);
    rd_chain_clear(&conn->out, &r->chunks, RD_MEM_OUTPUT);
    rd_wheel_remove(&r->wheel, &conn->timer);
    rd_conn_set_state(conn, RD_CONN_CLOSED);
    rd_reactor_count_left(r, conn->listener);
    rd_count(&r->counters->reasons[reason], 1);
    rd_log(r->log, RESTD_LOG_DEBUG, "connection closed: %s",
           rd_close_reason_text(reason));
    /* Callers up the stack still hold it; the slot goes at the turn's end. */
    conn->next_dead = r->dead;
    r->dead = conn;
}

void rd_conn_end(struct rd_conn *conn, enum rd_close_reason reason, int unread)
{
    conn->flags |= RD_CONN_ENDING;
    if (unread) {
        conn->flags |= RD_CONN_UNREAD;
    }
    conn->reason = (uint8_t)reason;
}

void rd_conn_resume(struct rd_conn *conn)
{
    conn->flags &= (uint16_t)~RD_CONN_HELD;
    conn->flags |= RD_CONN_AGAIN;
    conn_settle(conn);
}

/* Keeps what the protocol has not used. Half requests get no more memory once
 * it is short, so that whole ones are still served. */
static int conn_keep(struct rd_conn *conn, const char *data, size_t len)
{
    struct rd_reactor *r = conn->reactor;

    if (rd_budget_level(r->ledger.budget) >= RD_LEVEL_REFUSE &&
        !(conn->flags & (RD_CONN_PAUSED | RD_CONN_HELD))) {
        return RESTD_ENOMEM;
    }
    if (conn->start_ns == 0) {
        conn->start_ns = r->turn_ns;
    }
    return rd_chain_append(&conn->in, &r->chunks, RD_MEM_INPUT, data, len);
}

/* Sends what was answered in this turn. */
static inline void conn_answered(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;

    rd_conn_flush(conn, NULL, 0, NULL);
    r->out.conn = NULL;
    if (!rd_conn_is_closed(conn) && conn->out.len == 0) {
        r->protocol->sent(conn);
    }
}

/* Offers input to the protocol, keeps the rest, sends what was answered. */
static void conn_input(struct rd_conn *conn, size_t len, size_t seen)
{
    struct rd_reactor *r = conn->reactor;

    r->out.conn = conn;
    size_t used = r->protocol->input(conn, r->in, len, seen);
    if (!rd_conn_is_closed(conn) && used < len) {
        if (conn->flags & RD_CONN_ENDING) {
            conn->flags |= RD_CONN_UNREAD;
        } else if (conn_keep(conn, r->in + used, len - used) != 0) {
            if (conn->request) {
                /* A reply may have begun: too late to say so. */
                rd_conn_close(conn, RD_CLOSE_NO_MEMORY);
            } else {
                rd_conn_refuse(conn);
            }
        }
    }
    conn_answered(conn);
}

/* Puts what was kept to the front of the scratch. */
static size_t conn_unkeep(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;
    size_t len = conn->in.len;

    if (len > 0) {
        RD_ASSERT(len <= r->in_size);
        rd_chain_copy(&conn->in, r->in);
        rd_chain_clear(&conn->in, &r->chunks, RD_MEM_INPUT);
    }
    return len;
}

/* Reads once. 0 if there was nothing to read. */
static int conn_read(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;
    size_t have = conn->in.len;
    size_t room = r->in_size - have;
    long n;

    RD_ASSERT(room > 0);
    do {
        n = r->stream->recv(conn, r->in + have, room);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        if (errno == EAGAIN) {
            return 0;
        }
        rd_conn_close(conn, RD_CLOSE_RESET);
        return 1;
    }
    if (n == 0) {
        conn->flags |= RD_CONN_EOF;
        return 1;
    }
    rd_count(&r->counters->received_bytes, (uint64_t)n);
    if ((size_t)n == room) {
        conn->flags |= RD_CONN_FULL;
    } else {
        conn->flags &= (uint16_t)~RD_CONN_FULL;
    }
    conn_unkeep(conn);
    conn_input(conn, have + (size_t)n, have);
    return 1;
}

/* What `fn` writes goes out at once. */
static void conn_write(struct rd_conn *conn, void (*fn)(struct rd_conn *conn))
{
    conn->reactor->out.conn = conn;
    fn(conn);
    conn_answered(conn);
}

void rd_conn_call(struct rd_conn *conn, void (*fn)(struct rd_conn *conn))
{
    conn_write(conn, fn);
    conn_settle(conn);
}

static void conn_writable(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;

    if (conn->flags & RD_CONN_PUMP) {
        conn->flags &= (uint16_t)~RD_CONN_PUMP;
        conn->since = r->tick_now;
    }
    if (conn->out.len > 0) {
        rd_conn_send_kept(conn);
        if (rd_conn_is_closed(conn)) {
            return;
        }
        if (conn->out.len == 0) {
            r->protocol->sent(conn);
        }
    }
    if (conn->out.len > r->options->output_low_bytes) {
        return;
    }
    if (conn->flags & RD_CONN_PAUSED) {
        conn->flags &= (uint16_t)~RD_CONN_PAUSED;
        conn->flags |= RD_CONN_AGAIN;
    }
    if (conn->request) {
        r->protocol->room(conn);
    }
}

static void conn_event(struct rd_io *io, int events)
{
    struct rd_conn *conn = RD_CONTAINER_OF(io, struct rd_conn, io);

    rd_assert_in_loop(conn->reactor->loop);
    if (conn->state == RD_CONN_LINGERING) {
        rd_conn_linger_read(conn);
        return;
    }
    if ((events & RD_WRITE) &&
        (conn->out.len > 0 || (conn->flags & RD_CONN_PUMP))) {
        conn_writable(conn);
    }
    if ((events & RD_READ) && !rd_conn_is_closed(conn) &&
        !(conn->flags & RD_CONN_DEAF)) {
        (void)conn_read(conn);
    }
    conn_settle(conn);
}

/* Output is taken and the connection is to end: now, or after lingering. */
static void conn_finish(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;
    int unread = rd_conn_has_unread(conn);

    if (!unread || (conn->flags & RD_CONN_EOF) ||
        r->linger_n >= r->options->linger_max || r->stopping) {
        rd_conn_close(conn, (enum rd_close_reason)conn->reason);
        return;
    }
    shutdown(rd_io_fd(&conn->io), SHUT_WR);
    r->protocol->closed(conn);
    rd_chain_clear(&conn->in, &r->chunks, RD_MEM_INPUT);
    r->linger_n++;
    conn->linger_bytes = 0;
    rd_conn_set_state(conn, RD_CONN_LINGERING);
    rd_io_watch(r->loop, &conn->io, RD_READ);
    rd_conn_set_deadline(conn);
}

/* Offers kept input again if nothing speaks against it any more. */
static void conn_again(struct rd_conn *conn)
{
    while ((conn->flags & RD_CONN_AGAIN) && !rd_conn_is_closed(conn) &&
           !(conn->flags & (RD_CONN_PAUSED | RD_CONN_HELD | RD_CONN_ENDING))) {
        conn->flags &= (uint16_t)~RD_CONN_AGAIN;
        size_t len = conn_unkeep(conn);
        if (len > 0) {
            conn_input(conn, len, 0);
        }
    }
}

/* 1 for what nearly all are behind a request: idle, as before it. */
static int is_idle_still(const struct rd_conn *conn)
{
    return conn->state == RD_CONN_IDLE && conn->out.len == 0 &&
           conn->in.len == 0 && !conn->request &&
           !(conn->flags & (RD_CONN_DEAF | RD_CONN_AGAIN));
}

static void conn_settle(struct rd_conn *conn)
{
    if (__builtin_expect(is_idle_still(conn), 1)) {
        rd_conn_set_deadline(conn);
        rd_io_watch(conn->reactor->loop, &conn->io, RD_READ);
        return;
    }
    if (conn->state >= RD_CONN_LINGERING) {
        return;
    }
    if (conn->flags & RD_CONN_AGAIN) {
        conn_again(conn);
    }
    if (!rd_conn_is_closed(conn) && conn->out.len == 0 &&
        !(conn->flags & RD_CONN_HELD)) {
        if (conn->flags & RD_CONN_ENDING) {
            conn_finish(conn);
            return;
        }
        if ((conn->flags & RD_CONN_EOF) && !(conn->flags & RD_CONN_PAUSED)) {
            rd_conn_close(conn, conn->request || conn->in.len > 0
                                    ? RD_CLOSE_ABORTED
                                    : RD_CLOSE_PEER);
            return;
        }
    }
    rd_conn_arm(conn);
}

/* 1 if what is being read is still not whole, and its time is over. */
static int is_late(const struct rd_conn *conn)
{
    const struct rd_reactor *r = conn->reactor;

    return conn->state == RD_CONN_READING &&
           !(conn->flags & (RD_CONN_ENDING | RD_CONN_EOF)) &&
           rd_conn_derive_state(conn) == RD_CONN_READING &&
           (int32_t)(r->protocol->deadline(conn) - r->tick_now) <= 0;
}

static void conn_timeout(struct rd_conn *conn)
{
    conn_write(conn, conn->reactor->protocol->timeout);
}

void rd_conn_expire(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;

    rd_assert_in_loop(r->loop);
    switch ((enum rd_conn_state)conn->state) {
    case RD_CONN_IDLE:
        /* A request that is in the kernel by now is served, not lost. */
        if (!conn_read(conn)) {
            if (conn->flags & RD_CONN_USED) {
                rd_count(&r->counters->timed_out, !r->draining);
            }
            rd_conn_close(conn, r->draining ? RD_CLOSE_DRAIN
                                : conn->flags & RD_CONN_USED
                                    ? RD_CLOSE_KEEPALIVE
                                    : RD_CLOSE_SILENT);
        }
        break;
    case RD_CONN_READING:
        /* The rest may be in the kernel: we may have been away. */
        (void)conn_read(conn);
        if (is_late(conn)) {
            rd_count(&r->counters->timed_out, 1);
            conn_timeout(conn);
        }
        break;
    case RD_CONN_PROCESSING:
        conn_timeout(conn);
        break;
    case RD_CONN_WRITING:
        rd_count(&r->counters->timed_out, 1);
        rd_conn_close(conn, RD_CLOSE_WRITE_TIMEOUT);
        break;
    case RD_CONN_LINGERING:
        rd_conn_close(conn, (enum rd_close_reason)conn->reason);
        break;
    case RD_CONN_CLOSED:
    case RD_CONN_STATES_N:
        break;
    }
    conn_settle(conn);
}

int rd_conn_sacrifice(struct rd_conn *conn, enum rd_close_reason reason)
{
    if (conn_read(conn)) {
        conn_settle(conn);
        return rd_conn_is_closed(conn);
    }
    rd_conn_close(conn, reason);
    return 1;
}

void rd_conn_open(struct rd_reactor *r, int fd, const struct rd_addr *peer,
                  uint16_t listener)
{
    struct rd_conn *conn = rd_slab_take(&r->slots);

    if (!conn) {
        rd_count(&r->counters->rejected, 1);
        rd_reactor_count_left(r, listener);
        rd_log(r->log, RESTD_LOG_DEBUG, "connection refused: no memory");
        close(fd);
        return;
    }
    memset(conn, 0, sizeof(*conn));
    rd_io_init(&conn->io, fd, conn_event);
    conn->reactor = r;
    conn->peer = *peer;
    conn->listener = listener;
    conn->since = r->tick_now;
    conn->state = RD_CONN_IDLE;
    rd_count(&r->counters->states[RD_CONN_IDLE], 1);
    (void)conn_read(conn);
    conn_settle(conn);
}
