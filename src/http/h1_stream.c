/* SPDX-License-Identifier: MIT */
/* Replies that are sent piece by piece.
 *
 * What is written goes to the kernel at once, or with the head if the turn is
 * still that of the request; what the kernel does not take is kept, up to
 * output_high, behind which the writer waits for room. Thread: [loop]. */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/slice.h"
#include "codec/field.h"
#include "http/h1.h"

/* Of one stream in one turn, so that others have their turn as well. */
#define TURN_MAX (256u * 1024)
/* The same with a filter, whose work is what counts, not what comes of it. */
#define FILTER_TURN_MAX (64u * 1024)
#define FILTER_EXTRA 64u
#define TRAILERS_MAX 1024u
/* Nothing is due: when to see whether that is still so. */
#define LATER_TICKS (3600000u / RD_TICK_MS)
#define BYE "event: bye\ndata: draining\n\n"

static struct rd_h1_exchange *exchange_of(const struct restd_stream *stream)
{
    return RD_CONTAINER_OF((struct restd_stream *)(uintptr_t)stream,
                           struct rd_h1_exchange, stream);
}

int restd_response_stream(struct restd_response *response,
                          const struct restd_stream_ops *ops, void *data,
                          struct restd_stream **out)
{
    if (!response->request || response->stream) {
        return RESTD_ESTATE;
    }
    if (ops->size < sizeof(*ops)) {
        return RESTD_EINVAL; /* not set: what follows would be anything */
    }
    struct rd_h1_exchange *ex = rd_h1_promoted(response->request);
    if (!ex) {
        return RESTD_ENOMEM;
    }
    struct restd_stream *stream = &ex->stream;
    memset(stream, 0, sizeof(*stream));
    stream->ops = *ops;
    stream->data = data;
    stream->is_set = 1;
    restd_response_body_borrowed(response, NULL, 0);
    response->stream = stream;
    if (out) {
        *out = stream;
    }
    return 0;
}

void rd_h1_stream_unfilter(struct restd_stream *stream)
{
    if (stream->filter) {
        stream->filter->free(stream->filter_state);
        stream->filter = NULL;
    }
}

void rd_h1_stream_drop(struct restd_stream *stream)
{
    struct rd_h1_exchange *ex = exchange_of(stream);

    rd_h1_stream_unfilter(stream);
    if (stream->ops.closed) {
        stream->ops.closed(stream, 0, stream->data);
    }
    rd_chain_clear(&stream->trailers, &ex->h1->reactor->chunks,
                   RD_MEM_REQUESTS);
    memset(stream, 0, sizeof(*stream));
    if (!ex->is_left) {
        ex->is_aborted = 0; /* of another reply, which there is none of */
    }
    if (!ex->is_whole) {
        rd_h1_todo(ex);
    }
}

static void call_ready(struct rd_h1_exchange *ex)
{
    struct restd_stream *stream = &ex->stream;

    stream->wants_room = 0;
    if (!stream->is_ended && !ex->is_left && stream->ops.ready) {
        stream->ops.ready(stream, stream->data);
    }
}

void rd_h1_stream_open(struct rd_h1_exchange *ex)
{
    struct restd_stream *stream = &ex->stream;

    stream->is_open = 1;
    rd_conn_set_streams(ex->conn);
    /* Who listens to events has nothing more to say, and leaves by FIN. */
    rd_h1_watch_client(ex, stream->events);
    if (!ex->receiving) {
        rd_conn_hold(ex->conn);
    }
    if (ex->is_aborted) {
        return;
    }
    if (stream->head_only || stream->is_ended) {
        stream->is_ended = 0;
        restd_stream_end(stream);
        return;
    }
    if (stream->keepalive_ms) {
        stream->keepalive_tick =
            ex->h1->reactor->tick_now + rd_ticks(stream->keepalive_ms);
    }
    call_ready(ex);
}

void rd_h1_stream_room(struct rd_conn *conn)
{
    struct rd_h1_exchange *ex = conn->request;

    if (ex->stream.is_open && ex->stream.wants_room) {
        call_ready(ex);
    }
}

/* What may be kept of a stream: less and less as memory becomes short, so that
 * many slow readers slow down and nobody is cut off. In the end a piece is
 * given only to a socket that is sure to take it, so that nothing is kept. */
static uint64_t high_water(const struct rd_conn *conn)
{
    const struct rd_reactor *r = conn->reactor;
    uint64_t high = r->options->output_high_bytes;

    switch ((enum rd_mem_level)rd_budget_level(r->ledger.budget)) {
    case RD_LEVEL_NORMAL:
        return high;
    case RD_LEVEL_TRIM:
        return high / 4;
    case RD_LEVEL_CLOSE:
        return high / 16;
    case RD_LEVEL_REFUSE:
    case RD_LEVEL_FULL:
        break;
    }
    return conn->out.len == 0 && rd_conn_is_writable(conn) ? RD_CHUNK_BYTES / 2
                                                           : 0;
}

/* Has `ready` called when there is room. */
static void wait_for_room(struct rd_h1_exchange *ex)
{
    struct rd_conn *conn = ex->conn;

    ex->stream.wants_room = 1;
    if (conn->out.len == 0) {
        conn->flags |= RD_CONN_PUMP;
        if (conn->reactor->out.conn != conn) {
            rd_conn_arm(conn);
        }
    }
}

/* Bytes that may be written now. */
static uint64_t room_left(struct rd_h1_exchange *ex)
{
    struct restd_stream *stream = &ex->stream;
    const struct rd_reactor *r = ex->h1->reactor;
    uint64_t high = high_water(ex->conn);
    uint64_t kept =
        ex->conn->out.len + (r->out.conn == ex->conn ? r->out.len : 0);

    if (stream->turn != r->turn) {
        stream->turn = r->turn;
        stream->turn_bytes = 0;
    }
    uint64_t n = kept < high ? high - kept : 0;
    uint64_t turn = stream->filter ? FILTER_TURN_MAX : TURN_MAX;
    turn = stream->turn_bytes < turn ? turn - stream->turn_bytes : 0;
    if (stream->filter) { /* may make the content longer */
        n = n > FILTER_EXTRA ? n - FILTER_EXTRA : 0;
        n -= (n + 63) / 64;
    }
    return n < turn ? n : turn;
}

/* Room for content; with less than `len` there will be a call of `ready`. */
static size_t room(struct rd_h1_exchange *ex, size_t len)
{
    uint64_t n = room_left(ex);

    if (n >= len) {
        return len;
    }
    wait_for_room(ex);
    return (size_t)n;
}

int rd_h1_stream_send(struct restd_stream *stream, const void *data, size_t len)
{
    struct rd_h1_exchange *ex = exchange_of(stream);
    char size[24];
    struct iovec iov[3] = {{size, 0},
                           {(void *)(uintptr_t)data, len},
                           {(void *)(uintptr_t) "\r\n", 2}};

    stream->sent += len;
    if (!stream->chunked) {
        return rd_conn_write(ex->conn, &iov[1], 1);
    }
    iov[0].iov_len = (size_t)snprintf(size, sizeof(size), "%zx\r\n", len);
    return rd_conn_write(ex->conn, iov, 3);
}

static int put(struct restd_stream *stream, const void *data, size_t len)
{
    return stream->filter ? stream->filter->write(stream, stream->filter_state,
                                                  data, len, 0)
                          : rd_h1_stream_send(stream, data, len);
}

long restd_stream_write(struct restd_stream *stream, const void *data,
                        size_t len)
{
    struct rd_h1_exchange *ex = exchange_of(stream);

    rd_assert_in_loop(ex->h1->reactor->loop);
    if (ex->is_left || stream->is_ended) {
        return RESTD_ECLOSED;
    }
    if (!stream->is_open) {
        return RESTD_EAGAIN;
    }
    if (len == 0) {
        return 0;
    }
    size_t n = room(ex, len);
    if (n == 0) {
        return RESTD_EAGAIN;
    }
    stream->turn_bytes += (uint32_t)n;
    int rc = put(stream, data, n);
    return rc != 0 ? rc : (long)n;
}

int rd_stream_write_all(struct restd_stream *stream, const void *data,
                        size_t len)
{
    struct rd_h1_exchange *ex = exchange_of(stream);

    rd_assert_in_loop(ex->h1->reactor->loop);
    if (ex->is_left || stream->is_ended) {
        return RESTD_ECLOSED;
    }
    if (!stream->is_open || room_left(ex) == 0) {
        wait_for_room(ex);
        return RESTD_EAGAIN;
    }
    if (stream->keepalive_ms) {
        stream->keepalive_tick =
            ex->h1->reactor->tick_now + rd_ticks(stream->keepalive_ms);
    }
    stream->turn_bytes += (uint32_t)len;
    return put(stream, data, len);
}

int restd_stream_trailer(struct restd_stream *stream, const char *name,
                         const char *value)
{
    struct rd_h1_exchange *ex = exchange_of(stream);
    struct rd_chain *to = &ex->stream.trailers;
    const struct restd_slice parts[] = {rd_slice_str(name), rd_slice(": ", 2),
                                        rd_slice_str(value),
                                        rd_slice("\r\n", 2)};

    rd_assert_in_loop(ex->h1->reactor->loop);
    if (ex->is_left || ex->stream.is_ended) {
        return RESTD_ECLOSED;
    }
    if (!rd_field_is_token(parts[0]) || !rd_field_is_value(parts[2]) ||
        rd_fields_is_own(parts[0])) {
        return RESTD_EINVAL;
    }
    if (to->len + parts[0].len + parts[2].len + 4 > TRAILERS_MAX) {
        return RESTD_ELIMIT;
    }
    for (size_t i = 0; i < 4; i++) {
        int rc = rd_chain_append(to, &ex->h1->reactor->chunks, RD_MEM_REQUESTS,
                                 parts[i].data, parts[i].len);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static void send_last_chunk(struct rd_h1_exchange *ex)
{
    char trailers[TRAILERS_MAX];
    const struct rd_chain *chain = &ex->stream.trailers;
    struct iovec iov[3] = {{(void *)(uintptr_t) "0\r\n", 3},
                           {trailers, (size_t)chain->len},
                           {(void *)(uintptr_t) "\r\n", 2}};

    rd_chain_copy(chain, trailers);
    (void)rd_conn_write(ex->conn, iov, 3); /* closed: it is left then */
}

void restd_stream_end(struct restd_stream *stream)
{
    struct rd_h1_exchange *ex = exchange_of(stream);

    rd_assert_in_loop(ex->h1->reactor->loop);
    if (stream->is_ended || ex->is_left) {
        return;
    }
    stream->is_ended = 1;
    restd_upload_resume(&ex->upload);
    if (stream->is_open) {
        if (stream->filter && !stream->head_only) {
            (void)stream->filter->write(stream, stream->filter_state, "", 0, 1);
        }
        if (stream->chunked && !stream->head_only) {
            send_last_chunk(ex);
        }
        rd_h1_stream_unfilter(stream);
    }
    rd_h1_todo(ex);
}

void restd_stream_abort(struct restd_stream *stream)
{
    struct rd_h1_exchange *ex = exchange_of(stream);

    rd_assert_in_loop(ex->h1->reactor->loop);
    if (!ex->is_left) {
        ex->is_aborted = 1;
        stream->is_ended = 1;
        rd_h1_todo(ex);
    }
}

struct restd_loop *restd_stream_loop(const struct restd_stream *stream)
{
    return exchange_of(stream)->h1->reactor->loop;
}

uint32_t rd_h1_stream_deadline(const struct rd_h1_exchange *ex)
{
    const struct rd_reactor *r = ex->h1->reactor;
    const struct restd_stream *stream = &ex->stream;

    if (stream->events && r->draining) {
        return r->tick_now;
    }
    return stream->keepalive_ms && !stream->is_ended
               ? stream->keepalive_tick
               : r->tick_now + LATER_TICKS;
}

void rd_h1_stream_tick(struct rd_h1_exchange *ex)
{
    struct restd_stream *stream = &ex->stream;

    if (stream->events && ex->h1->reactor->draining) {
        if (ex->h1->reactor->announced) {
            /* So that a client knows it from a loss; there may be no room. */
            (void)rd_stream_write_all(stream, BYE, sizeof(BYE) - 1);
        }
        restd_stream_end(stream);
    } else if (stream->keepalive_ms && !stream->is_ended &&
               (int32_t)(stream->keepalive_tick - ex->h1->reactor->tick_now) <=
                   0) {
        (void)rd_stream_write_all(stream, ":\n\n", 3);
    }
}
