/* SPDX-License-Identifier: MIT */
/* The public percent-encoding. Lenient, unlike rd_uri_decode() for the paths
 * of requests: what is no escape is text, and %00 is an octet like others.
 * Pure, any thread. */
#include <restd/uri.h>

#include "codec/chars.h"

long restd_uri_escape(struct restd_slice text, char *buf, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t out = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        int plain = rd_chars_is(text.data[i], RD_CHARS_UNRESERVED);
        if (size - out < (plain ? 1u : 3u)) {
            return RESTD_ERANGE;
        }
        if (plain) {
            buf[out++] = (char)c;
        } else {
            buf[out++] = '%';
            buf[out++] = digits[c >> 4];
            buf[out++] = digits[c & 15];
        }
    }
    return (long)out;
}

long restd_uri_unescape(struct restd_slice text, char *buf, size_t size,
                        unsigned flags)
{
    size_t out = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '%' && text.len - i > 2 &&
            rd_chars_is(text.data[i + 1], RD_CHARS_HEX) &&
            rd_chars_is(text.data[i + 2], RD_CHARS_HEX)) {
            c = (char)(rd_chars_hex(text.data[i + 1]) << 4 |
                       rd_chars_hex(text.data[i + 2]));
            i += 2;
        } else if (c == '+' && (flags & RESTD_URI_PLUS_IS_SPACE)) {
            c = ' ';
        }
        if (out == size) {
            return RESTD_ERANGE;
        }
        buf[out++] = c;
    }
    return (long)out;
}
