/* SPDX-License-Identifier: MIT */
/* What a handler reads of its request: header fields, query and cookies.
 * Nothing is parsed before it is asked for. Thread: [loop]. */
#include <restd/request.h>

#include "base/slice.h"
#include "codec/cookie.h"
#include "http/h1.h"
#include "http/message.h"
#include "http/overlay.h"
#include "codec/query.h"

static const struct restd_slice absent = {NULL, 0};

/* Cursors of header fields: places in the overlay, then, from RECEIVED on,
 * indices of the received ones. */
#define RECEIVED RD_OVERLAY_MAX

static int next_field(const struct restd_request *request, unsigned *cursor,
                      struct restd_slice *name, struct restd_slice *value)
{
    const struct rd_h1_head *head = request->head;

    if (*cursor < RECEIVED) {
        if (rd_overlay_next(&request->overlay, cursor, name, value)) {
            return 1;
        }
        *cursor = RECEIVED;
    }
    for (unsigned i = *cursor - RECEIVED; i < head->fields_n; i++) {
        *name = rd_span(request->base, head->fields[i].name);
        if (!rd_overlay_has(&request->overlay, *name)) {
            *value = rd_span(request->base, head->fields[i].value);
            *cursor = RECEIVED + i + 1;
            return 1;
        }
    }
    return 0;
}

int restd_request_header_next(const struct restd_request *request,
                              unsigned *cursor, const char *name,
                              struct restd_slice *field_name,
                              struct restd_slice *value)
{
    struct restd_slice want = name ? rd_slice_str(name) : absent;

    while (next_field(request, cursor, field_name, value)) {
        if (!name ||
            (field_name->len == want.len && rd_slice_ieq(*field_name, want))) {
            return 0;
        }
    }
    return RESTD_ENOENT;
}

struct restd_slice restd_request_header(const struct restd_request *request,
                                        const char *name)
{
    const struct rd_h1_head *head = request->head;
    struct restd_slice want = rd_slice_str(name);
    struct restd_slice field_name;
    struct restd_slice value;
    unsigned at = 0;

    while (rd_overlay_next(&request->overlay, &at, &field_name, &value)) {
        if (field_name.len == want.len && rd_slice_ieq(field_name, want)) {
            return value;
        }
    }
    for (unsigned i = 0; i < head->fields_n; i++) {
        if (head->fields[i].name.len == want.len &&
            rd_slice_ieq(rd_span(request->base, head->fields[i].name), want)) {
            return rd_span(request->base, head->fields[i].value);
        }
    }
    return absent;
}

struct restd_slice restd_request_query(const struct restd_request *request)
{
    return request->head->flags & RD_H1_QUERY
               ? rd_span(request->base, request->head->query)
               : absent;
}

int restd_request_query_next(const struct restd_request *request,
                             size_t *cursor, struct restd_slice *name,
                             struct restd_slice *value)
{
    return rd_query_next(restd_request_query(request), cursor,
                         request->h1->query, name, value);
}

struct restd_slice restd_request_query_get(const struct restd_request *request,
                                           const char *name)
{
    struct restd_slice n;
    struct restd_slice value;
    size_t cursor = 0;

    while (restd_request_query_next(request, &cursor, &n, &value) == 0) {
        if (rd_slice_eq(n, rd_slice_str(name))) {
            return value;
        }
    }
    return absent;
}

/* The cursor: that of the Cookie field, and in its lower 16 bits the place
 * within the field. */
int restd_request_cookie_next(const struct restd_request *request,
                              size_t *cursor, struct restd_slice *name,
                              struct restd_slice *value)
{
    struct restd_slice field_name;
    struct restd_slice field;
    unsigned at = (unsigned)(*cursor >> 16);
    unsigned before = at;
    size_t within = *cursor & 0xffff;

    while (restd_request_header_next(request, &at, "Cookie", &field_name,
                                     &field) == 0) {
        if (rd_cookie_next(field, &within, name, value) == 0) {
            *cursor = (size_t)before << 16 | within;
            return 0;
        }
        before = at;
        within = 0;
    }
    return RESTD_ENOENT;
}

struct restd_slice restd_request_cookie(const struct restd_request *request,
                                        const char *name)
{
    struct restd_slice n;
    struct restd_slice value;
    size_t cursor = 0;

    while (restd_request_cookie_next(request, &cursor, &n, &value) == 0) {
        if (rd_slice_eq(n, rd_slice_str(name))) {
            return value;
        }
    }
    return absent;
}
