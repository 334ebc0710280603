/* SPDX-License-Identifier: MIT */
/* Lines of the access log. What is long is cut, so that what comes behind it is
 * always there; access_text.c escapes it. No clock, no allocation, no locale.
 * Thread: any. */
#include "plugins/access_line.h"

#include <string.h>

#include "base/civil.h"
#include "base/decimal.h"
#include "base/slice.h"
#include "plugins/access_text.h"

#define PROTOCOL " HTTP/1."
#define PROTOCOL_LEN (sizeof(PROTOCOL)) /* with its digit */

#define PUT(p, literal)                                                        \
    (memcpy((p), (literal), sizeof(literal) - 1), (p) + sizeof(literal) - 1)

unsigned rd_access_peer(const struct rd_addr *peer,
                        char out[RD_ACCESS_PEER_SIZE])
{
    char *p = out;

    if (peer->family != RD_IPV4) {
        int len = rd_addr_format_host(peer, out, RD_ACCESS_PEER_SIZE);
        return len > 0 ? (unsigned)len : (unsigned)(PUT(p, "-") - out);
    }
    for (unsigned i = 0; i < 4; i++) {
        p += rd_decimal_u64(p, peer->ip[i]);
        *p++ = '.';
    }
    return (unsigned)(p - 1 - out);
}

static char *put_peer(char *p, struct restd_slice peer)
{
    memcpy(p, peer.data, RD_ACCESS_SLACK); /* of RD_ACCESS_PEER_SIZE */
    if (peer.len > RD_ACCESS_SLACK) {
        memcpy(p, peer.data, peer.len);
    }
    return p + peer.len;
}

static char *put_request_line(char *p, const char *end,
                              const struct rd_access_entry *entry)
{
    if (entry->method.len == 0) {
        return PUT(p, "-");
    }
    end -= PROTOCOL_LEN;
    if (end - p > 8 && entry->method.len <= 8) {
        /* A token has nothing to escape. */
        for (size_t i = 0; i < entry->method.len; i++) {
            *p++ = entry->method.data[i];
        }
    } else {
        p = rd_access_text(p, end - 1 - RD_ACCESS_CUT, entry->method,
                           RD_ACCESS_HEX);
    }
    *p++ = ' ';
    p = rd_access_text(p, end, entry->target, RD_ACCESS_HEX);
    p = PUT(p, PROTOCOL);
    *p++ = (char)('0' + entry->version_minor);
    return p;
}

static char *put_status(char *p, unsigned status)
{
    if (status < 100 || status > 999) {
        return p + rd_decimal_u64(p, status);
    }
    *p = (char)('0' + status / 100);
    rd_decimal_2(p + 1, status % 100);
    return p + 3;
}

/* Number with `digits` (an even number) behind the point. */
static char *put_decimal(char *p, uint64_t whole, unsigned rest,
                         unsigned digits)
{
    p += rd_decimal_u64(p, whole);
    *p++ = '.';
    for (unsigned i = digits; i > 0; i -= 2) {
        rd_decimal_2(p + i - 2, rest % 100);
        rest /= 100;
    }
    return p + digits;
}

/* Host without its port, which begins at the returned place. */
static size_t host_len(struct restd_slice host)
{
    for (size_t i = host.len; i-- > 0 && host.data[i] != ']';) {
        if (host.data[i] == ':') {
            return i;
        }
    }
    return host.len;
}

static char *put_vhost(char *p, const char *end, struct restd_slice host,
                       unsigned escape)
{
    /* What has no port has the scheme's, RFC 9110 section 4.2.1. */
    int bare = host_len(host) == host.len;

    p = rd_access_text(p, end - 3, host, escape);
    return bare ? PUT(p, ":80") : p;
}

static char *put_protocol(char *p, const struct rd_access_entry *entry)
{
    if (entry->method.len == 0) {
        return PUT(p, "-");
    }
    p = PUT(p, "HTTP/1.");
    *p++ = (char)('0' + entry->version_minor);
    return p;
}

static char *put(char *p, const char *end, const struct rd_access_format *f,
                 const struct rd_access_op *op,
                 const struct rd_access_entry *entry)
{
    switch ((enum rd_access_kind)op->kind) {
    case RD_ACCESS_REMOTE_ADDR:
        return put_peer(p, entry->peer);
    case RD_ACCESS_REMOTE_USER:
        return PUT(p, "-");
    case RD_ACCESS_TIME_LOCAL:
        memcpy(p, entry->time->local, RD_ACCESS_LOCAL_LEN);
        return p + RD_ACCESS_LOCAL_LEN;
    case RD_ACCESS_TIME_ISO8601:
        memcpy(p, entry->time->iso8601, RD_ACCESS_ISO_LEN);
        return p + RD_ACCESS_ISO_LEN;
    case RD_ACCESS_MSEC: /* of three digits the last one is its own */
        p = put_decimal(p, (uint64_t)entry->time_ms / 1000,
                        (unsigned)(entry->time_ms % 1000) * 10, 4);
        return p - 1;
    case RD_ACCESS_REQUEST:
        return put_request_line(p, end, entry);
    case RD_ACCESS_REQUEST_METHOD:
        return rd_access_text(p, end, entry->method, f->escape);
    case RD_ACCESS_REQUEST_URI:
        return rd_access_text(p, end, entry->target, f->escape);
    case RD_ACCESS_SERVER_PROTOCOL:
        return put_protocol(p, entry);
    case RD_ACCESS_STATUS:
        return put_status(p, (unsigned)entry->status);
    case RD_ACCESS_BODY_BYTES_SENT:
        return entry->content_bytes == 0 && f->dash_for_0
                   ? PUT(p, "-")
                   : p + rd_decimal_u64(p, entry->content_bytes);
    case RD_ACCESS_REQUEST_TIME:
        return put_decimal(p, entry->duration_ns / 1000000000,
                           (unsigned)(entry->duration_ns / 1000 % 1000000), 6);
    case RD_ACCESS_REQUEST_ID:
        return rd_access_text(p, end, entry->id, f->escape);
    case RD_ACCESS_HOST:
        return rd_access_text(p, end,
                              rd_slice(entry->host.data, host_len(entry->host)),
                              f->escape);
    case RD_ACCESS_VHOST:
        return put_vhost(p, end, entry->host, f->escape);
    case RD_ACCESS_HTTP:
        return rd_access_text(p, end, entry->headers[op->header], f->escape);
    case RD_ACCESS_END:
        break;
    }
    return p;
}

unsigned rd_access_line(const struct rd_access_format *format,
                        const struct rd_access_entry *entry,
                        char out[RD_ACCESS_LINE_SIZE])
{
    char *p = out;

    for (const struct rd_access_op *op = format->ops;; op++) {
        const char *literal = format->literals + op->literal;
        if (op->literal_len <= RD_ACCESS_SLACK) {
            memcpy(p, literal, RD_ACCESS_SLACK);
        } else {
            memcpy(p, literal, op->literal_len);
        }
        p += op->literal_len;
        if (op->kind == RD_ACCESS_END) {
            break;
        }
        p = put(p, out + RD_ACCESS_LINE_MAX - op->after, format, op, entry);
    }
    *p = '\0';
    return (unsigned)(p - out);
}

void rd_access_time_set(struct rd_access_time *time, int64_t unix_seconds,
                        int offset_s)
{
    static const char months[] = RD_CIVIL_MONTHS;
    struct rd_civil c = rd_civil_from_unix(unix_seconds + offset_s);
    unsigned minutes = (unsigned)(offset_s < 0 ? -offset_s : offset_s) / 60;
    char *local = time->local;
    char *iso = time->iso8601;

    memcpy(local, "dd/MMM/yyyy:hh:mm:ss +hhmm", RD_ACCESS_LOCAL_LEN);
    memcpy(iso, "yyyy-mm-ddThh:mm:ss+hh:mm", RD_ACCESS_ISO_LEN);
    rd_decimal_2(local, c.day);
    memcpy(local + 3, months + 3 * (size_t)(c.month - 1), 3);
    rd_decimal_4(local + 7, c.year);
    rd_decimal_2(local + 12, c.hour);
    rd_decimal_2(local + 15, c.minute);
    rd_decimal_2(local + 18, c.second);
    local[21] = offset_s < 0 ? '-' : '+';
    rd_decimal_2(local + 22, minutes / 60);
    rd_decimal_2(local + 24, minutes % 60);
    rd_decimal_4(iso, c.year);
    rd_decimal_2(iso + 5, c.month);
    rd_decimal_2(iso + 8, c.day);
    memcpy(iso + 11, local + 12, 8);
    memcpy(iso + 19, local + 21, 3);
    memcpy(iso + 23, local + 24, 2);
}
