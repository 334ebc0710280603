/* SPDX-License-Identifier: MIT */
/* Output of connections: one send for what a turn has answered, and chunks for
 * what the kernel does not take. Thread: the connection's loop. */
#include "net/conn.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "net/reactor.h"

#define IOV_N 64

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

const struct rd_stream rd_stream_tcp = {tcp_recv, tcp_send, tcp_sendv};

/* Keeps what was not sent; `skip` bytes of it all have gone. */
static int out_keep(struct rd_conn *conn, const char *data, size_t len,
                    size_t *skip)
{
    size_t gone = *skip < len ? *skip : len;

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

    if (ref_len == 0 && !chain) {
        return r->stream->send(conn, r->out.buf, r->out.len);
    }
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
    size_t all = len + ref_len + (chain ? chain->len : 0);
    size_t sent = 0;
    int rc = 0;

    r->out.len = 0;
    if (all == 0 || rd_conn_is_closed(conn)) {
        goto drop;
    }
    if (conn->out.len == 0) {
        r->out.len = len;
        long n = out_send(conn, ref, ref_len, chain);
        r->out.len = 0;
        if (n >= 0) {
            sent = (size_t)n;
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
    return;
drop:
    if (chain) {
        rd_chain_clear(chain, &r->chunks, RD_MEM_OUTPUT);
    }
}

void rd_conn_send_kept(struct rd_conn *conn)
{
    struct rd_reactor *r = conn->reactor;
    struct iovec iov[IOV_N];
    int iov_n = rd_chain_iov(&conn->out, iov, IOV_N);
    long n = r->stream->sendv(conn, iov, iov_n);

    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            rd_conn_close(conn, RD_CLOSE_RESET);
        }
        return;
    }
    rd_count(&r->counters->sent_bytes, (uint64_t)n);
    rd_chain_consume(&conn->out, &r->chunks, RD_MEM_OUTPUT, (size_t)n);
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
