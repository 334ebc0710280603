/* SPDX-License-Identifier: MIT */
/* Lines of the access log: what a client has sent is escaped, so that it can
 * neither forge a line nor a field of one nor drive a terminal, and cut, so
 * that what comes behind it is always there. No clock, no allocation, no
 * locale. Thread: any. */
#include "plugins/access_line.h"

#include <string.h>

#include "base/civil.h"
#include "base/decimal.h"
#include "base/slice.h"
#include "base/utf8.h"

#define PROTOCOL " HTTP/1."
#define PROTOCOL_LEN (sizeof(PROTOCOL)) /* with its digit */
#define PEER_MAX 46u

#define PUT(p, literal)                                                        \
    (memcpy((p), (literal), sizeof(literal) - 1), (p) + sizeof(literal) - 1)

#define EACH(octet) (UINT64_C(0x0101010101010101) * (octet))

static const char hex[] = "0123456789abcdef";

/* Not 0 if one of 8 octets must be escaped. The first term is for octets from
 * 0x7f on; without those the second keeps the top bit of each lane unless its
 * octet is below 0x20 or one of the two, and no lane borrows. */
static uint64_t has_special(uint64_t octets)
{
    const uint64_t top = EACH(0x80u);
    uint64_t high = octets | (octets + EACH(1));
    uint64_t none = ((octets | top) - EACH(0x20)) &
                    (((octets ^ EACH('"')) | top) - EACH(1)) &
                    (((octets ^ EACH('\\')) | top) - EACH(1));

    return (high | ~none) & top;
}

static int is_special(unsigned char c)
{
    return c < 0x20 || c >= 0x7f || c == '"' || c == '\\';
}

/* Some octets of what a client has sent, as they are written. */
struct piece {
    unsigned taken, len;
    char text[6];
};

static struct piece piece_of(unsigned taken, const void *text, unsigned len)
{
    struct piece piece = {.taken = taken, .len = len};

    memcpy(piece.text, text, len);
    return piece;
}

static struct piece piece_hex(unsigned char c)
{
    const char text[] = {'\\', 'x', hex[c >> 4], hex[c & 15]};

    return is_special(c) ? piece_of(1, text, 4) : piece_of(1, &c, 1);
}

/* A piece of a string of JSON. Controls of all sorts are escaped; what is no
 * UTF-8 is U+FFFD. */
static struct piece piece_json(const unsigned char *p, size_t n)
{
    unsigned char c = p[0];
    unsigned char code = c;

    if (c >= 0x80) {
        unsigned len = rd_utf8_char(p, n);
        if (len == 0) {
            return piece_of(1, "\xef\xbf\xbd", 3);
        }
        if (len != 2 || c != 0xc2 || p[1] >= 0xa0) {
            return piece_of(len, p, len);
        }
        code = p[1]; /* C1 */
    } else if (c == '"' || c == '\\') {
        const char text[] = {'\\', (char)c};
        return piece_of(1, text, 2);
    } else if (c == '\n' || c == '\r' || c == '\t') {
        const char text[] = {'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : 't'};
        return piece_of(1, text, 2);
    } else if (!is_special(c)) {
        return piece_of(1, &c, 1);
    }
    const char text[] = {'\\', 'u', '0', '0', hex[code >> 4], hex[code & 15]};
    return piece_of(c >= 0x80 ? 2 : 1, text, 6);
}

/* As much as ends before `end`, and "..." if that is not all; never half a
 * piece. */
static char *put_text(char *p, const char *end, struct restd_slice s,
                      int is_json)
{
    const char *from = s.data;
    const char *stop = from + s.len;
    uint64_t octets;

    while (from < stop) {
        if (end - p >= 8) {
            size_t n = stop - from < 8 ? (size_t)(stop - from) : 8;
            octets = EACH(' ');
            if (n == 8) {
                memcpy(&octets, from, 8);
            } else {
                memcpy(&octets, from, n);
            }
            if (!has_special(octets)) {
                memcpy(p, &octets, 8);
                p += n;
                from += n;
                continue;
            }
        }
        const unsigned char *at = (const unsigned char *)from;
        struct piece piece =
            is_json ? piece_json(at, (size_t)(stop - from)) : piece_hex(*at);
        if (end - p < (int)piece.len) {
            return PUT(p, "...");
        }
        memcpy(p, piece.text, piece.len);
        p += piece.len;
        from += piece.taken;
    }
    return p;
}

static int needs_quotes(struct restd_slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (is_special((unsigned char)s.data[i]) || s.data[i] == ' ' ||
            s.data[i] == '=') {
            return 1;
        }
    }
    return s.len == 1 && s.data[0] == '-';
}

/* A field that a client has sent; `end` is where it and its "..." may end. */
static char *put_field(char *p, const char *end, struct restd_slice s,
                       unsigned escape)
{
    end -= RD_ACCESS_CUT;
    if (s.len == 0) {
        return escape == RD_ACCESS_JSON ? PUT(p, "null") : PUT(p, "-");
    }
    if (escape == RD_ACCESS_HEX) {
        return put_text(p, end, s, 0);
    }
    if (escape == RD_ACCESS_LOGFMT && !needs_quotes(s)) {
        return put_text(p, end, s, 1);
    }
    *p++ = '"';
    p = put_text(p, end - 1, s, 1);
    *p++ = '"';
    return p;
}

static char *put_peer(char *p, const struct rd_addr *peer)
{
    if (peer->family != RD_IPV4) {
        int len = rd_addr_format_host(peer, p, PEER_MAX);
        return len > 0 ? p + len : PUT(p, "-");
    }
    for (unsigned i = 0; i < 4; i++) {
        unsigned octet = peer->ip[i];
        if (octet >= 100) {
            *p++ = (char)('0' + octet / 100);
        }
        if (octet >= 10) {
            *p++ = (char)('0' + octet / 10 % 10);
        }
        *p++ = (char)('0' + octet % 10);
        *p++ = '.';
    }
    return p - 1;
}

static char *put_request_line(char *p, const char *end,
                              const struct rd_access_entry *entry)
{
    if (entry->method.len == 0) {
        return PUT(p, "-");
    }
    end -= PROTOCOL_LEN;
    p = put_field(p, end - 1 - RD_ACCESS_CUT, entry->method, RD_ACCESS_HEX);
    *p++ = ' ';
    p = put_field(p, end, entry->target, RD_ACCESS_HEX);
    p = PUT(p, PROTOCOL);
    *p++ = (char)('0' + entry->version_minor);
    return p;
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

    p = put_field(p, end - 3, host, escape);
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
        return put_field(p, end, entry->method, f->escape);
    case RD_ACCESS_REQUEST_URI:
        return put_field(p, end, entry->target, f->escape);
    case RD_ACCESS_SERVER_PROTOCOL:
        return put_protocol(p, entry);
    case RD_ACCESS_STATUS:
        return p + rd_decimal_u64(p, (uint64_t)entry->status);
    case RD_ACCESS_BODY_BYTES_SENT:
        return entry->content_bytes == 0 && f->dash_for_0
                   ? PUT(p, "-")
                   : p + rd_decimal_u64(p, entry->content_bytes);
    case RD_ACCESS_REQUEST_TIME:
        return put_decimal(p, entry->duration_ns / 1000000000,
                           (unsigned)(entry->duration_ns / 1000 % 1000000), 6);
    case RD_ACCESS_REQUEST_ID:
        return put_field(p, end, entry->id, f->escape);
    case RD_ACCESS_HOST:
        return put_field(p, end,
                         rd_slice(entry->host.data, host_len(entry->host)),
                         f->escape);
    case RD_ACCESS_VHOST:
        return put_vhost(p, end, entry->host, f->escape);
    case RD_ACCESS_HTTP:
        return put_field(p, end, entry->headers[op->header], f->escape);
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
