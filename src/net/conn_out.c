/* SPDX-License-Identifier: MIT */
/* Output of connections: one send for what a turn has answered, and chunks for
 * what the kernel does not take. Thread: the connection's loop. */
#include "net/conn.h"

#include <errno.h>
#include <string.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include "base/assert.h"
#include "net/reactor.h"

#define IOV_N 64
/* Of one file in one turn, so that others have their turn as well. */
#define FILE_TURN_MAX (256u * 1024)
/* Unsent bytes in the kernel behind which a streamed reply waits. */
#define NOTSENT_LOWAT 16384

static long tcp_recv(struct rd_conn *conn, char *buf, size_t size)
{
    return recv(rd_io_fd(&conn->io), buf, size, 0);
}

static long tcp_send(struct rd_conn *conn, const char *buf, size_t len)
{
    return send(rd_io_fd(&conn->io), buf, len, MSG_NOSIGNAL);
}

static long tcp_sendv(struct rd_conn *conn, struct iovec *iov, int n)
{
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = (size_t)n};
    return sendmsg(rd_io_fd(&conn->io), &msg, MSG_NOSIGNAL);
}

static long tcp_send_file(struct rd_conn *conn, int fd, uint64_t offset,
                          size_t len)
{
    off_t at = (off_t)offset;
    /* A peer that has gone would raise SIGPIPE; loops block all signals. */
    return sendfile(rd_io_fd(&conn->io), fd, &at, len);
}

const struct rd_stream rd_stream_tcp = {tcp_recv, tcp_send, tcp_sendv,
                                        tcp_send_file};

/* Keeps what was not sent; `skip` bytes of it all have gone. */
static int out_keep(struct rd_conn *conn, const char *data, size_t len,
                    uint64_t *skip)
{
    size_t gone = *skip < len ? (size_t)*skip : len;

    *skip -= gone;
    return rd_chain_append(&conn->out, &conn->reactor->chunks, RD_MEM_OUTPUT,
                           data + gone, len - gone);
}

static long out_send(struct rd_conn *conn, const char *ref, size_t ref_len,
                     const struct rd_chain *chain)
{
    struct rd_reactor *r = conn->reactor;
    struct iovec iov[IOV_N];
    int n = 0;

    if (r->out.len > 0) {
        iov[n].iov_base = r->out.buf;
        iov[n++].iov_len = r->out.len;
    }
    if (ref_len > 0) {
        iov[n].iov_base = (void *)(uintptr_t)ref;
        iov[n++].iov_len = ref_len;
    }
    if (chain) {
        n += rd_chain_iov(chain, iov + n, IOV_N - n);
    }
    return r->stream->sendv(conn, iov, n);
}

void rd_conn_flush(struct rd_conn *conn, const char *ref, size_t ref_len,
                   struct rd_chain *chain)
{
    struct rd_reactor *r = conn->reactor;
    size_t len = r->out.len;
    uint64_t all = len + ref_len + (chain ? chain->len : 0);
    uint64_t sent = 0;
    int rc = 0;

    r->out.len = 0;
    if (all == 0 || rd_conn_is_closed(conn)) {
        goto drop;
    }
    if (conn->out.len == 0) {
        r->out.len = len;
        long n = ref_len == 0 && !chain ? r->stream->send(conn, r->out.buf, len)
                                        : out_send(conn, ref, ref_len, chain);
        r->out.len = 0;
        if (n >= 0) {
            sent = (uint64_t)n;
            rd_count(&r->counters->sent_bytes, sent);
        } else if (errno != EAGAIN && errno != EINTR) {
            rd_conn_close(conn, RD_CLOSE_RESET);
            goto drop;
        }
    }
    if (sent == all) {
        goto drop;
    }
    rc = out_keep(conn, r->out.buf, len, &sent);
    if (rc == 0 && ref_len > 0) {
        rc = out_keep(conn, ref, ref_len, &sent);
    }
    if (rc != 0) {
        rd_conn_close(conn, RD_CLOSE_NO_MEMORY);
        goto drop;
    }
    if (chain) {
        rd_chain_consume(chain, &r->chunks, RD_MEM_OUTPUT, sent);
        rd_chain_join(&conn->out, chain, &r->chunks, RD_MEM_OUTPUT,
                      RD_MEM_OUTPUT);
    }
    if (rd_chain_file(&conn->out)) {
        rd_conn_send_kept(conn); /* its head has gone: no need to wait */
    }
    return;
drop:
    if (chain) {
        rd_chain_clear(chain, &r->chunks, RD_MEM_OUTPUT);
    }
}

int rd_conn_write(struct rd_conn *conn, const struct iovec *iov, int n)
{
    struct rd_reactor *r = conn->reactor;
    struct iovec copy[4];
    size_t all = 0;
    uint64_t sent = 0;

    RD_ASSERT(n <= 4);
    for (int i = 0; i < n; i++) {
        copy[i] = iov[i];
        all += iov[i].iov_len;
    }
    if (r->out.conn == conn && all > r->out.size - r->out.len) {
        rd_conn_flush(conn, NULL, 0, NULL);
    }
    if (rd_conn_is_closed(conn)) {
        return RESTD_ECLOSED;
    }
    if (r->out.conn == conn && all <= r->out.size) {
        for (int i = 0; i < n; i++) {
            memcpy(r->out.buf + r->out.len, iov[i].iov_base, iov[i].iov_len);
            r->out.len += iov[i].iov_len;
        }
        return 0;
    }
    if (conn->out.len == 0) {
        long rc = r->stream->sendv(conn, copy, n);
        if (rc < 0 && errno != EAGAIN && errno != EINTR) {
            rd_conn_close(conn, RD_CLOSE_RESET);
            return RESTD_ECLOSED;
        }
        sent = rc > 0 ? (uint64_t)rc : 0;
        rd_count(&r->counters->sent_bytes, sent);
    }
    for (int i = 0; i < n && sent < all; i++) {
        if (out_keep(conn, iov[i].iov_base, iov[i].iov_len, &sent) != 0) {
            rd_conn_close(conn, RD_CLOSE_NO_MEMORY);
            return RESTD_ECLOSED;
        }
    }
    if (r->out.conn != conn) {
        rd_conn_arm(conn);
    }
    return 0;
}

static int poll_now(const struct rd_conn *conn, short events)
{
    struct pollfd fd = {.fd = rd_io_fd(&conn->io), .events = events};

    return poll(&fd, 1, 0) == 1 ? fd.revents : 0;
}

int rd_conn_is_writable(const struct rd_conn *conn)
{
    return (poll_now(conn, POLLOUT) & POLLOUT) != 0;
}

static void set_lowat(const struct rd_conn *conn, int lowat)
{
    if (conn->peer.family != RD_UNIX) {
        (void)setsockopt(rd_io_fd(&conn->io), IPPROTO_TCP, TCP_NOTSENT_LOWAT,
                         &lowat, sizeof(lowat));
    }
}

void rd_conn_set_streams(struct rd_conn *conn)
{
    if (!(conn->flags & RD_CONN_STREAMS)) {
        conn->flags |= RD_CONN_STREAMS;
        set_lowat(conn, NOTSENT_LOWAT);
    }
}

void rd_conn_unset_streams(struct rd_conn *conn)
{
    if (conn->flags & RD_CONN_STREAMS) {
        conn->flags &= (uint16_t)~RD_CONN_STREAMS;
        set_lowat(conn, 0); /* as the system has it */
    }
}

static long send_next(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;
    const struct rd_chunk_ref *file = rd_chain_file(&conn->out);
    struct iovec iov[IOV_N];

    if (file) {
        size_t len =
            file->len < FILE_TURN_MAX ? (size_t)file->len : FILE_TURN_MAX;
        return r->stream->send_file(conn, file->fd, file->offset, len);
    }
    int n = rd_chain_iov(&conn->out, iov, IOV_N);
    return r->stream->sendv(conn, iov, n);
}

void rd_conn_send_kept(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;
    long n = send_next(conn);

    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            rd_conn_close(conn, RD_CLOSE_RESET);
        }
        return;
    }
    if (n == 0) {
        /* A file that has shrunk: its length has been promised. */
        rd_conn_close(conn, RD_CLOSE_TRUNCATED);
        return;
    }
    rd_count(&r->counters->sent_bytes, (uint64_t)n);
    rd_chain_consume(&conn->out, &r->chunks, RD_MEM_OUTPUT, (uint64_t)n);
    conn->since = r->tick_now;
}

void rd_conn_refuse(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;
    struct rd_out *out = &r->out;

    if (out->size - out->len < r->protocol->busy_len) {
        rd_conn_flush(conn, NULL, 0, NULL);
    }
    memcpy(out->buf + out->len, r->protocol->busy, r->protocol->busy_len);
    out->len += r->protocol->busy_len;
    rd_count(&r->counters->rejected, 1);
    rd_conn_end(conn, RD_CLOSE_NO_MEMORY, 1);
}
