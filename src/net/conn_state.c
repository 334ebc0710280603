/* SPDX-License-Identifier: MIT */
/* What follows from the state of a connection: gauges, deadline, what is
 * watched, and how one that lingers is read. Thread: the connection's loop. */
#include <errno.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "net/conn.h"
#include "net/reactor.h"

void rd_conn_set_state(struct rd_conn *conn, enum rd_conn_state state)
{
    _Atomic uint64_t *gauges = conn->reactor->counters->states;

    RD_ASSERT(conn->state != RD_CONN_CLOSED);
    RD_DEBUG_ASSERT(conn->state != RD_CONN_LINGERING ||
                    state == RD_CONN_CLOSED);
    rd_count(&gauges[conn->state], (uint64_t)-1);
    rd_count(&gauges[state], 1);
    conn->state = (uint8_t)state;
    conn->since = conn->reactor->tick_now;
}

void rd_conn_pause(struct rd_conn *conn)
{
    conn->flags |= RD_CONN_PAUSED;
}

void rd_conn_hold(struct rd_conn *conn)
{
    conn->flags |= RD_CONN_HELD;
}

void rd_conn_touch(struct rd_conn *conn)
{
    /* In WRITING it is the peer's progress that counts. */
    if (conn->out.len == 0) {
        conn->since = conn->reactor->tick_now;
    }
    conn->start_ns = 0;
    conn->flags |= RD_CONN_USED;
}

int rd_conn_has_unread(const struct rd_conn *conn)
{
    char octet;

    return (conn->flags & (RD_CONN_UNREAD | RD_CONN_FULL)) ||
           /* It has not been listened to for a while. */
           ((conn->flags & RD_CONN_DEAFENED) &&
            recv(rd_io_fd(&conn->io), &octet, 1, MSG_PEEK | MSG_DONTWAIT) > 0);
}

/* Even, as slots stand in rows, and the same each time for one of them. */
static uint32_t spread_ms(const struct rd_conn *conn, uint32_t all_ms)
{
    uint32_t hash = (uint32_t)((uintptr_t)conn >> 6) * 2654435769u;

    return (uint32_t)(((uint64_t)hash * all_ms) >> 32);
}

/* `since` is the tick of: IDLE the last request, READING the first byte of the
 * head, PROCESSING and LINGERING its beginning, WRITING the last progress. */
void rd_conn_set_deadline(struct rd_conn *conn)
{
    const struct rd_reactor *r = conn->reactor;
    const struct restd_options *o = r->options;
    uint32_t tick = conn->since;

    switch ((enum rd_conn_state)conn->state) {
    case RD_CONN_IDLE:
        if (r->draining) {
            if ((int32_t)(r->drain_tick - tick) > 0) {
                tick = r->drain_tick;
            }
            tick += rd_ticks(o->drain_silence_ms +
                             spread_ms(conn, o->close_spread_ms));
        } else if (conn->flags & RD_CONN_USED) {
            tick += rd_ticks(o->keepalive_timeout_ms);
        } else {
            tick += rd_ticks(o->header_timeout_ms);
        }
        break;
    case RD_CONN_READING:
    case RD_CONN_PROCESSING:
        tick = r->protocol->deadline(conn);
        break;
    case RD_CONN_WRITING:
        tick += rd_ticks(o->write_timeout_ms);
        break;
    case RD_CONN_LINGERING:
        tick += rd_ticks(o->linger_timeout_ms);
        break;
    case RD_CONN_CLOSED:
    case RD_CONN_STATES_N:
        return;
    }
    rd_wheel_set(&conn->reactor->wheel, &conn->timer, tick);
}

enum rd_conn_state rd_conn_derive_state(const struct rd_conn *conn)
{
    if (conn->out.len > 0 || (conn->flags & RD_CONN_PUMP)) {
        return RD_CONN_WRITING;
    }
    if (conn->flags & RD_CONN_HELD) {
        return RD_CONN_PROCESSING;
    }
    return conn->request || conn->in.len > 0 ? RD_CONN_READING : RD_CONN_IDLE;
}

void rd_conn_arm(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;

    if (conn->state >= RD_CONN_LINGERING) {
        return;
    }
    enum rd_conn_state state = rd_conn_derive_state(conn);
    if (state != conn->state) {
        rd_conn_set_state(conn, state);
    }
    rd_conn_set_deadline(conn);
    int events =
        conn->out.len > 0 || (conn->flags & RD_CONN_PUMP) ? RD_WRITE : 0;
    if (!(conn->flags & RD_CONN_DEAF)) {
        events |= RD_READ;
    } else {
        conn->flags |= RD_CONN_DEAFENED;
    }
    rd_io_watch(r->loop, &conn->io, events);
}

void rd_conn_linger_read(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;
    long n = r->stream->recv(conn, r->in, r->in_size);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        rd_conn_close(conn, (enum rd_close_reason)conn->reason);
        return;
    }
    if (n > 0) {
        conn->linger_bytes += (uint64_t)n;
        if (conn->linger_bytes >= r->options->linger_max_bytes) {
            /* Enough read for nothing; a peer that goes on is held by its
             * window until the time is over. */
            rd_io_watch(r->loop, &conn->io, 0);
        }
    }
}

void rd_conn_pin(struct rd_conn *conn)
{
    conn->flags |= RD_CONN_PINNED;
}

void rd_conn_unpin(struct rd_conn *conn)
{
    conn->flags &= (uint16_t)~RD_CONN_PINNED;
    if (conn->flags & RD_CONN_REAPED) {
        rd_slab_give(&conn->reactor->slots, conn);
    }
}
