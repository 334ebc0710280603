/* SPDX-License-Identifier: MIT */
/* What a handler reads of its request. Thread: [loop]. */
#include <string.h>

#include <restd/http.h>

#include "base/slice.h"
#include "http/message.h"
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
    return rd_span(request->base, request->head->target);
}

struct restd_slice restd_request_path(const struct restd_request *request)
{
    return rd_span(request->base, request->head->path);
}

struct restd_slice restd_request_query(const struct restd_request *request)
{
    return request->head->flags & RD_H1_QUERY
               ? rd_span(request->base, request->head->query)
               : absent;
}

int restd_request_query_is(const struct restd_request *request,
                           const char *name, const char *value)
{
    struct restd_slice query = restd_request_query(request);
    struct restd_slice want_name = rd_slice_str(name);
    struct restd_slice want_value = rd_slice_str(value);

    while (query.len > 0) {
        const char *end = memchr(query.data, '&', query.len);
        size_t len = end ? (size_t)(end - query.data) : query.len;
        const char *equal = memchr(query.data, '=', len);
        size_t name_len = equal ? (size_t)(equal - query.data) : len;
        struct restd_slice v =
            equal ? rd_slice(equal + 1, len - name_len - 1) : rd_slice("", 0);

        if (rd_slice_eq(rd_slice(query.data, name_len), want_name) &&
            rd_slice_eq(v, want_value)) {
            return 1;
        }
        len += end != NULL;
        query.data += len;
        query.len -= len;
    }
    return 0;
}

struct restd_slice restd_request_host(const struct restd_request *request)
{
    return rd_span(request->base, request->head->authority);
}

int restd_request_version_minor(const struct restd_request *request)
{
    return request->head->version_minor;
}

struct restd_slice restd_request_header(const struct restd_request *request,
                                        const char *name)
{
    struct restd_slice want = rd_slice_str(name);

    for (unsigned i = 0; i < request->head->fields_n; i++) {
        const struct rd_h1_field *field = &request->head->fields[i];
        if (field->name.len == want.len &&
            rd_slice_ieq(rd_span(request->base, field->name), want)) {
            return rd_span(request->base, field->value);
        }
    }
    return absent;
}

int restd_request_header_at(const struct restd_request *request, unsigned index,
                            struct restd_slice *name, struct restd_slice *value)
{
    if (index >= request->head->fields_n) {
        return RESTD_ENOENT;
    }
    *name = rd_span(request->base, request->head->fields[index].name);
    *value = rd_span(request->base, request->head->fields[index].value);
    return 0;
}

struct restd_slice restd_request_param(const struct restd_request *request,
                                       const char *name)
{
    const struct rd_match *match = request->match;
    struct restd_slice want = rd_slice_str(name);

    for (unsigned i = 0; i < match->params_n; i++) {
        if (rd_slice_eq(rd_match_name(match, i), want)) {
            return match->params[i];
        }
    }
    return absent;
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

unsigned restd_request_loop(const struct restd_request *request)
{
    return request->conn->reactor->index;
}

uint64_t restd_request_turn(const struct restd_request *request)
{
    return request->conn->reactor->turn;
}
