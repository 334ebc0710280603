/* SPDX-License-Identifier: MIT */
/* A router without a server: one reactor with the HTTP/1 driver as in a loop
 * thread, whose stream reads the request from memory and gathers the reply
 * there. It runs on the calling thread until the connection is closed, as the
 * request asks for. The descriptor that the loop watches is an eventfd, which
 * is readable until the request has been read, and always writable.
 * Thread: the caller's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/slice.h"
#include "codec/chunked.h"
#include "http/h1.h"
#include "server/server.h"

#define LIMIT_MS 10000u
#define FD_MAX 1023u

/* Text that grows. */
struct text {
    char *data;
    size_t len, size;
    int failed;
};

struct restd_reply {
    struct text text;
    int status;
    size_t head_len;
    struct restd_slice body;
};

struct call {
    struct rd_reactor reactor;
    struct rd_h1 h1;
    struct rd_h1_view view;
    struct restd_options options;
    struct rd_budget budget;
    struct rd_log *log;
    struct rd_timer limit;
    struct text request;
    size_t read; /* of the request */
    struct restd_reply *reply;
};

static void text_add(struct text *t, const void *data, size_t len)
{
    if (len > t->size - t->len && !t->failed) {
        size_t size = (t->len + len) * 2 + 1024;
        char *grown = rd_mem_alloc(size);
        if (!grown) {
            t->failed = 1;
            return;
        }
        if (t->len > 0) {
            memcpy(grown, t->data, t->len);
        }
        rd_mem_free(t->data);
        t->data = grown;
        t->size = size;
    }
    if (len > 0 && !t->failed) {
        memcpy(t->data + t->len, data, len);
        t->len += len;
    }
}

static void text_add_str(struct text *t, const char *s)
{
    text_add(t, s, strlen(s));
}

static struct call *call_of(const struct rd_conn *conn)
{
    return RD_CONTAINER_OF(conn->reactor, struct call, reactor);
}

static long memory_recv(struct rd_conn *conn, char *buf, size_t size)
{
    struct call *call = call_of(conn);
    size_t left = call->request.len - call->read;
    size_t n = left < size ? left : size;

    if (n == 0) {
        eventfd_t count;
        (void)eventfd_read(rd_io_fd(&conn->io), &count); /* no more events */
        errno = EAGAIN;
        return -1;
    }
    memcpy(buf, call->request.data + call->read, n);
    call->read += n;
    return (long)n;
}

static long memory_send(struct rd_conn *conn, const char *buf, size_t len)
{
    text_add(&call_of(conn)->reply->text, buf, len);
    return (long)len;
}

static long memory_sendv(struct rd_conn *conn, struct iovec *iov, int n)
{
    long all = 0;

    for (int i = 0; i < n; i++) {
        all += memory_send(conn, iov[i].iov_base, iov[i].iov_len);
    }
    return all;
}

static long memory_send_file(struct rd_conn *conn, int fd, uint64_t offset,
                             size_t len)
{
    char buf[16384];
    long n =
        pread(fd, buf, len < sizeof(buf) ? len : sizeof(buf), (off_t)offset);

    return n > 0 ? memory_send(conn, buf, (size_t)n) : n;
}

static const struct rd_stream memory_stream = {memory_recv, memory_send,
                                               memory_sendv, memory_send_file};

static void limit_reached(struct rd_timer *timer)
{
    struct call *call = RD_CONTAINER_OF(timer, struct call, limit);
    rd_loop_post(call->reactor.loop, &call->reactor.stop);
}

void restd_call_init_size(struct restd_call *call, size_t size)
{
    static const struct restd_call defaults = {.method = "GET", .target = "/"};

    rd_sized_init(call, size, &defaults, sizeof(defaults));
}

static void write_request(struct text *t, const struct restd_call *call)
{
    char length[64];

    text_add_str(t, call->method ? call->method : "GET");
    text_add_str(t, " ");
    text_add_str(t, call->target ? call->target : "/");
    text_add_str(t, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    if (call->headers) {
        text_add_str(t, call->headers);
    }
    if (call->body_len > 0) {
        snprintf(length, sizeof(length), "Content-Length: %zu\r\n",
                 call->body_len);
        text_add_str(t, length);
    }
    text_add_str(t, "\r\n");
    text_add(t, call->body, call->body_len);
}

static int call_init(struct call *c, const struct restd_router *router)
{
    restd_options_init(&c->options);
    c->options.workers = 1;
    c->options.connections_max = 1;
    c->options.linger_max = 0; /* nobody is there to see a reset */
    rd_budget_init(&c->budget, c->options.memory_budget_bytes, 1);
    int rc = rd_log_new(1, c->options.log_ring_bytes, RESTD_LOG_ERROR, NULL,
                        NULL, &c->log);
    if (rc == 0) {
        rc = rd_reactor_init(&c->reactor, 0, &c->options, &c->budget, c->log,
                             &rd_h1_protocol, rd_h1_input_bytes(&c->options),
                             FD_MAX, NULL);
    }
    if (rc == 0) {
        c->reactor.stream = &memory_stream;
        /* The loop ends with its one connection. */
        c->reactor.draining = 1;
        c->reactor.accept_closed = 1;
        rc = rd_h1_view_init(&c->view, router, &c->options);
    }
    if (rc == 0) {
        rc = rd_h1_init(&c->h1, &c->reactor, &c->view);
    }
    return rc;
}

static void call_fini(struct call *c)
{
    rd_h1_fini(&c->h1);
    rd_h1_view_fini(&c->view);
    rd_reactor_fini(&c->reactor);
    rd_log_free(c->log);
    rd_mem_free(c->request.data);
    rd_page_free(c, sizeof(*c));
}

static int call_run(struct call *c)
{
    struct rd_addr peer = {.ip = {127, 0, 0, 1}, .family = RD_IPV4};
    int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);

    if (fd < 0) {
        return RESTD_EOS;
    }
    rd_timer_init(&c->limit, limit_reached);
    rd_loop_update_time(c->reactor.loop);
    rd_timer_start(c->reactor.loop, &c->limit, LIMIT_MS, 0);
    rd_count(&c->reactor.counters->accepted, 1);
    rd_conn_open(&c->reactor, fd, &peer, RD_LISTENER_NONE);
    rd_reactor_run(&c->reactor);
    return c->request.failed || c->reply->text.failed ? RESTD_ENOMEM : 0;
}

/* Removes the chunked coding in place. 0, or RESTD_EINVAL if it is cut. */
static int decode_chunked(struct restd_reply *r)
{
    struct rd_chunked chunked;
    char *body = r->text.data + r->head_len;
    size_t used;
    size_t made;

    rd_chunked_init(&chunked, 65536);
    int rc = rd_chunked_decode(&chunked, body, r->text.len - r->head_len, body,
                               &used, &made);
    r->body = rd_slice(body, made);
    return rc == RD_CHUNKED_DONE ? 0 : RESTD_EINVAL;
}

/* Interim replies come first and are dropped. */
static int parse_reply(struct restd_reply *r, int is_head)
{
    char *end;

    do {
        text_add(&r->text, "", 1); /* a NUL for strstr() */
        if (r->text.failed) {
            return RESTD_ENOMEM;
        }
        r->text.len--;
        end = strstr(r->text.data, "\r\n\r\n");
        if (!end || strncmp(r->text.data, "HTTP/1.1 ", 9) != 0) {
            return RESTD_EINVAL;
        }
        r->status = (int)strtol(r->text.data + 9, NULL, 10);
        r->head_len = (size_t)(end + 4 - r->text.data);
        if (r->status < 200) {
            r->text.len -= r->head_len;
            memmove(r->text.data, end + 4, r->text.len);
        }
    } while (r->status < 200);
    r->body = rd_slice(r->text.data + r->head_len, r->text.len - r->head_len);
    if (is_head || r->status == 204 || r->status == 304) {
        return 0;
    }
    if (restd_slice_is(restd_reply_header(r, "Transfer-Encoding"), "chunked")) {
        return decode_chunked(r);
    }
    struct restd_slice length = restd_reply_header(r, "Content-Length");
    return length.data && strtoull(length.data, NULL, 10) != r->body.len
               ? RESTD_EINVAL
               : 0;
}

int restd_router_call(struct restd_router *router,
                      const struct restd_call *call, struct restd_reply **out,
                      struct restd_error *error)
{
    size_t headers_len = call->headers ? strlen(call->headers) : 0;

    if (headers_len > 0 &&
        (headers_len < 2 ||
         strcmp(call->headers + headers_len - 2, "\r\n") != 0)) {
        return rd_error(error, RESTD_EINVAL,
                        "header lines must end with CR LF");
    }
    int rc = rd_router_freeze(router);
    struct call *c = rc == 0 ? rd_page_alloc(sizeof(*c)) : NULL;
    struct restd_reply *reply = c ? rd_mem_alloc(sizeof(*reply)) : NULL;

    if (!reply) {
        rd_page_free(c, sizeof(*c));
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    c->reply = reply;
    write_request(&c->request, call);
    rc = call_init(c, router);
    if (rc == 0) {
        rc = call_run(c);
    }
    call_fini(c);
    if (rc == 0) {
        rc = parse_reply(reply,
                         call->method && strcmp(call->method, "HEAD") == 0);
    }
    if (rc != 0) {
        restd_reply_free(reply);
        return rd_error(error, rc, "no whole reply: %s", restd_strerror(rc));
    }
    *out = reply;
    return 0;
}

int restd_reply_status(const struct restd_reply *reply)
{
    return reply->status;
}

struct restd_slice restd_reply_header(const struct restd_reply *reply,
                                      const char *name)
{
    size_t len = strlen(name);
    const char *line = strchr(reply->text.data, '\n') + 1;

    while (*line != '\r') {
        const char *end = strchr(line, '\r');
        if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
            line += len + 2;
            return rd_slice(line, (size_t)(end - line));
        }
        line = end + 2;
    }
    return rd_slice(NULL, 0);
}

struct restd_slice restd_reply_body(const struct restd_reply *reply)
{
    return reply->body;
}

void restd_reply_free(struct restd_reply *reply)
{
    if (reply) {
        rd_mem_free(reply->text.data);
        rd_mem_free(reply);
    }
}
