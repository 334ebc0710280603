/* SPDX-License-Identifier: MIT */
/* Formats of the access log, compiled: a list of fields with the literal text in
 * front of each. Pure. */
#ifndef RD_PLUGINS_ACCESS_FORMAT_H
#define RD_PLUGINS_ACCESS_FORMAT_H

#include <stdint.h>
#include <string.h>

#include <restd/error.h>

#define RD_ACCESS_LINE_MAX 2000u
#define RD_ACCESS_CUT 3u /* "..." */
#define RD_ACCESS_OPS_MAX 48u
#define RD_ACCESS_HEADERS_MAX 16u
#define RD_ACCESS_HEADER_LEN 48u
#define RD_ACCESS_LITERALS_MAX 1024u
/* Short literals are copied as if they had that many bytes. */
#define RD_ACCESS_SLACK 16u

enum rd_access_kind {
    RD_ACCESS_END,
    RD_ACCESS_BODY_BYTES_SENT,
    RD_ACCESS_HOST,
    RD_ACCESS_HTTP,
    RD_ACCESS_MSEC,
    RD_ACCESS_REMOTE_ADDR,
    RD_ACCESS_REMOTE_USER,
    RD_ACCESS_REQUEST,
    RD_ACCESS_REQUEST_ID,
    RD_ACCESS_REQUEST_METHOD,
    RD_ACCESS_REQUEST_TIME,
    RD_ACCESS_REQUEST_URI,
    RD_ACCESS_SERVER_PROTOCOL,
    RD_ACCESS_STATUS,
    RD_ACCESS_TIME_ISO8601,
    RD_ACCESS_TIME_LOCAL,
    RD_ACCESS_VHOST
};

/* How what a client has sent is written. */
enum rd_access_escape {
    RD_ACCESS_HEX,   /* \xHH for all but printable ASCII; "-" for nothing */
    RD_ACCESS_JSON,  /* a string with its quotes, or null */
    RD_ACCESS_LOGFMT /* a string in quotes if need be; "-" for nothing */
};

struct rd_access_op {
    uint16_t literal, literal_len; /* in `literals`; goes before the field */
    uint16_t after; /* bytes that what follows may need, whatever it is */
    uint8_t kind;   /* enum rd_access_kind; the last one is RD_ACCESS_END */
    uint8_t header; /* of RD_ACCESS_HTTP: index of its name */
};

/* Owner: the plugin. Immutable once compiled. */
struct rd_access_format {
    uint8_t escape;     /* enum rd_access_escape */
    uint8_t dash_for_0; /* no content is "-" */
    uint8_t has_id;     /* asks for the request id */
    uint8_t has_host;
    uint8_t ops_n, headers_n;
    uint16_t literals_len;
    struct rd_access_op ops[RD_ACCESS_OPS_MAX];
    uint8_t header_lens[RD_ACCESS_HEADERS_MAX];
    char headers[RD_ACCESS_HEADERS_MAX][RD_ACCESS_HEADER_LEN]; /* lower case */
    char literals[RD_ACCESS_LITERALS_MAX + RD_ACCESS_SLACK];
};

#define RD_ACCESS_LOWER UINT64_C(0x2020202020202020)

/* Whether `name`, a token, is that of a header of the format, in whatever case;
 * both have `len` bytes. Of the characters of a token, one bit tells letters of
 * one case from the other, and makes no other one a letter, digit or '-'. */
static inline int rd_access_header_is(const char *want, const char *name,
                                      size_t len)
{
    uint64_t a;
    uint64_t b;

    if (len < 8) {
        for (size_t i = 0; i < len; i++) {
            if ((name[i] | 0x20) != want[i]) {
                return 0;
            }
        }
        return 1;
    }
    for (size_t i = 0;; i = i + 16 <= len ? i + 8 : len - 8) {
        memcpy(&a, want + i, 8);
        memcpy(&b, name + i, 8);
        if (a != (b | RD_ACCESS_LOWER)) {
            return 0;
        }
        if (i + 8 == len) {
            return 1;
        }
    }
}

/* `text` is "common", "combined", "vcombined", "json", "logfmt", or a pattern
 * with names such as $status. RESTD_EINVAL with a sentence. */
int rd_access_format_compile(struct rd_access_format *format, const char *text,
                             struct restd_error *error);

#endif
