/* SPDX-License-Identifier: MIT */
/* What a handler reads of its request: line, route, connection. Fields are
 * request_fields.c's. Thread: [loop]. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <restd/request.h>

#include "base/clock.h"
#include "base/slice.h"
#include "http/h1.h"
#include "http/overlay.h"
#include "net/reactor.h"

static const struct restd_slice absent = {NULL, 0};

enum restd_method restd_request_method(const struct restd_request *request)
{
    return request->head->number;
}

struct restd_slice
restd_request_method_name(const struct restd_request *request)
{
    return rd_span(request->base, request->head->method);
}

struct restd_slice restd_request_target(const struct restd_request *request)
{
    return request->head->target.len
               ? rd_span(request->base, request->head->target)
               : absent;
}

struct restd_slice restd_request_path(const struct restd_request *request)
{
    const struct rd_overlay *o = &request->overlay;

    return o->path_len ? rd_slice(o->text + o->path_off, o->path_len)
                       : rd_span(request->base, request->head->path);
}

struct restd_slice restd_request_pattern(const struct restd_request *request)
{
    const struct rd_route *route = request->match->route;
    return route ? rd_slice_str(route->pattern) : absent;
}

struct restd_slice restd_request_host(const struct restd_request *request)
{
    return rd_span(request->base, request->head->authority);
}

int restd_request_version_minor(const struct restd_request *request)
{
    return request->head->version_minor;
}

struct restd_slice restd_request_param(const struct restd_request *request,
                                       const char *name)
{
    struct restd_slice want = rd_slice_str(name);
    struct restd_slice found = absent;
    struct restd_slice n;
    struct restd_slice value;

    /* The last one of that name: a router by prefix may have two. */
    for (unsigned i = 0; restd_request_param_at(request, i, &n, &value) == 0;
         i++) {
        if (rd_slice_eq(n, want)) {
            found = value;
        }
    }
    return found;
}

int restd_request_param_int(const struct restd_request *request,
                            const char *name, int64_t *value)
{
    struct restd_slice text = restd_request_param(request, name);
    char digits[24];
    char *end;

    if (!text.data) {
        return RESTD_ENOENT;
    }
    size_t sign = text.len > 0 && text.data[0] == '-';
    if (text.len == sign || text.data[sign] < '0' || text.data[sign] > '9') {
        return RESTD_EINVAL;
    }
    if (text.len >= sizeof(digits)) {
        return RESTD_ERANGE;
    }
    memcpy(digits, text.data, text.len);
    digits[text.len] = '\0';
    errno = 0;
    long long number = strtoll(digits, &end, 10);
    if (end != digits + text.len) {
        return RESTD_EINVAL;
    }
    *value = number;
    return errno == ERANGE ? RESTD_ERANGE : 0;
}

int restd_request_param_at(const struct restd_request *request, unsigned index,
                           struct restd_slice *name, struct restd_slice *value)
{
    const struct rd_match *match = request->match;

    if (!match->route || index >= match->params_n) {
        return RESTD_ENOENT;
    }
    *name = rd_match_name(match, index);
    *value = match->params[index];
    return 0;
}

struct restd_slice restd_request_body(const struct restd_request *request)
{
    return request->body;
}

int restd_request_peer(const struct restd_request *request, char *buf,
                       size_t size)
{
    return rd_addr_format(&request->conn->peer, buf, size);
}

int restd_request_peer_host(const struct restd_request *request, char *buf,
                            size_t size)
{
    return rd_addr_format_host(&request->conn->peer, buf, size);
}

int restd_request_local(const struct restd_request *request, char *buf,
                        size_t size)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof(sa);
    struct rd_addr addr;

    if (rd_conn_is_closed(request->conn)) {
        return RESTD_ECLOSED; /* its number may be another's by now */
    }
    memset(&sa, 0, sizeof(sa));
    if (getsockname(rd_io_fd(&request->conn->io), (struct sockaddr *)&sa,
                    &len) != 0) {
        return RESTD_EOS;
    }
    rd_addr_from_sockaddr(&addr, (struct sockaddr *)&sa);
    return rd_addr_format(&addr, buf, size);
}

struct restd_slice restd_request_listener(const struct restd_request *request)
{
    const struct rd_conn *conn = request->conn;

    if (conn->listener == RD_LISTENER_NONE) {
        return absent;
    }
    const char *name = conn->reactor->listeners[conn->listener].name;
    return *name ? rd_slice_str(name) : absent;
}

int restd_request_peer_credentials(const struct restd_request *request,
                                   int64_t *pid, uint32_t *uid, uint32_t *gid)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    if (request->conn->peer.family != RD_UNIX ||
        rd_conn_is_closed(request->conn) ||
        getsockopt(rd_io_fd(&request->conn->io), SOL_SOCKET, SO_PEERCRED, &peer,
                   &len) != 0 ||
        peer.uid == (uid_t)-1) {
        return RESTD_ENOENT;
    }
    *pid = peer.pid;
    *uid = peer.uid;
    *gid = peer.gid;
    return 0;
}

int64_t restd_request_time_ms(const struct restd_request *request)
{
    uint64_t age_ns = rd_clock_ns() - request->start_ns;

    return rd_clock_unix_ms() - (int64_t)(age_ns / 1000000);
}

struct restd_loop *restd_request_loop(const struct restd_request *request)
{
    return request->conn->reactor->loop;
}

unsigned restd_request_worker(const struct restd_request *request)
{
    return request->conn->reactor->index;
}

uint64_t restd_request_turn(const struct restd_request *request)
{
    return request->conn->reactor->turn;
}

void restd_request_set_data(struct restd_request *request, void *data)
{
    struct rd_h1_exchange *ex = request->conn->request;

    request->data = data;
    if (ex) {
        ex->request_data = data;
    }
}

void *restd_request_data(const struct restd_request *request)
{
    return request->data;
}

int restd_request_cancelled(const struct restd_request *request)
{
    const struct rd_h1_exchange *ex = request->conn->request;

    return ex && ex->job &&
           atomic_load_explicit(&ex->job->cancelled, memory_order_relaxed);
}

int restd_request_set_header(struct restd_request *request, const char *name,
                             struct restd_slice value)
{
    return rd_overlay_add(&request->overlay, rd_slice_str(name), value);
}

int restd_request_set_path(struct restd_request *request, const char *path)
{
    return request->match->scope /* routed */
               ? RESTD_ESTATE
               : rd_overlay_set_path(&request->overlay, rd_slice_str(path));
}
