/* SPDX-License-Identifier: MIT */
/* Entity tags. An opaque-tag is no quoted-string: it has no escapes, so the
 * list is taken apart here and not by rd_field_list_next(). A list that is
 * broken in part matches by what is left of it: for If-None-Match the worst is
 * a reply in full, for If-Match a 412. Any thread. */
#include "codec/etag.h"

#include "base/slice.h"
#include "codec/date.h"

/* Length of the entity-tag at the beginning; 0: there is none. */
static size_t tag_len(const char *p, size_t len)
{
    size_t i = len > 1 && p[0] == 'W' && p[1] == '/' ? 2 : 0;
    if (i == len || p[i] != '"') {
        return 0;
    }
    for (i++; i < len; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c == '"') {
            return i + 1;
        }
        if (c <= 0x20 || c == 0x7f) {
            break;
        }
    }
    return 0;
}

int rd_etag_is(struct restd_slice s)
{
    return s.len > 0 && tag_len(s.data, s.len) == s.len;
}

static int is_weak(struct restd_slice tag)
{
    return tag.len > 0 && tag.data[0] == 'W';
}

static int equal(struct restd_slice a, struct restd_slice b, int weak)
{
    if (!weak && (is_weak(a) || is_weak(b))) {
        return 0;
    }
    a = is_weak(a) ? rd_slice(a.data + 2, a.len - 2) : a;
    b = is_weak(b) ? rd_slice(b.data + 2, b.len - 2) : b;
    return rd_slice_eq(a, b);
}

static size_t skip_space(struct restd_slice s, size_t i)
{
    while (i < s.len && (s.data[i] == ' ' || s.data[i] == '\t')) {
        i++;
    }
    return i;
}

int rd_etag_list_has(struct restd_slice value, struct restd_slice etag,
                     int weak)
{
    if (rd_slice_eq(value, rd_slice("*", 1))) {
        return 1;
    }
    if (!rd_etag_is(etag)) {
        return 0;
    }
    for (size_t i = 0; i < value.len; i++) {
        i = skip_space(value, i);
        size_t n = i < value.len ? tag_len(value.data + i, value.len - i) : 0;
        size_t stop = skip_space(value, i + n);
        if (n > 0 && (stop == value.len || value.data[stop] == ',') &&
            equal(rd_slice(value.data + i, n), etag, weak)) {
            return 1;
        }
        for (i = stop; i < value.len && value.data[i] != ',';) {
            i++;
        }
    }
    return 0;
}

int rd_etag_if_range(struct restd_slice value, struct restd_slice etag,
                     int64_t modified, int64_t now)
{
    int64_t date;
    if (rd_etag_is(value)) {
        return rd_etag_is(etag) && equal(value, etag, 0);
    }
    return rd_date_parse(value, now, &date) == 0 && date == modified &&
           modified < now;
}
