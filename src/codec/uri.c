/* SPDX-License-Identifier: MIT */
/* Paths of request targets: percent-decoding and splitting. A path is split
 * before it is decoded, so that an encoded slash stays in its segment; dots
 * are looked at behind the decoding, so that "%2e%2e" climbs as ".." does.
 * Nothing is allocated; a segment without an escape stays where it is. Any
 * thread. */
#include "codec/uri.h"

#include <string.h>

#include "base/slice.h"
#include "codec/chars.h"

long rd_uri_decode(const char *src, size_t len, char *dst)
{
    size_t out = 0;
    for (size_t i = 0; i < len; i++, out++) {
        if (src[i] != '%') {
            dst[out] = src[i];
            continue;
        }
        if (len - i < 3 || !rd_chars_is(src[i + 1], RD_CHARS_HEX) ||
            !rd_chars_is(src[i + 2], RD_CHARS_HEX)) {
            return -1;
        }
        unsigned octet =
            rd_chars_hex(src[i + 1]) << 4 | rd_chars_hex(src[i + 2]);
        if (octet == 0) {
            return -1;
        }
        dst[out] = (char)octet;
        i += 2;
    }
    return (long)out;
}

/* Decodes a segment in place of itself, to scratch if it has an escape. */
static int decode_segment(struct restd_slice *segment, char **scratch)
{
    if (segment->len == 0 || memchr(segment->data, '%', segment->len) == NULL) {
        return 0;
    }
    long len = rd_uri_decode(segment->data, segment->len, *scratch);
    if (len < 0) {
        return -400;
    }
    *segment = rd_slice(*scratch, (size_t)len);
    *scratch += len;
    return 0;
}

int rd_uri_split(struct restd_slice path, char *scratch,
                 struct rd_uri_path *out)
{
    static const char root[] = "/";
    if (path.len == 0) {
        path = rd_slice(root, 1);
    }
    const char *end = path.data + path.len;
    const char *p = path.data;
    out->n = 0;
    if (*p != '/') {
        return -400;
    }
    while (p < end) {
        const char *start = ++p;
        const char *slash = memchr(p, '/', (size_t)(end - p));
        p = slash != NULL ? slash : end;
        struct restd_slice segment = rd_slice(start, (size_t)(p - start));
        if (decode_segment(&segment, &scratch) != 0) {
            return -400;
        }
        int up = rd_slice_eq(segment, rd_slice("..", 2));
        if (up || rd_slice_eq(segment, rd_slice(".", 1))) {
            out->n -= up && out->n > 0;
            if (p < end) {
                continue;
            }
            segment.len = 0;
        }
        if (out->n == RD_URI_SEGMENTS_MAX) {
            return -404;
        }
        out->segments[out->n++] = segment;
    }
    return 0;
}
