/* SPDX-License-Identifier: MIT */
/* Lines of the access log: what a client has sent is escaped, so that it can
 * neither forge a line nor a field of one nor drive a terminal, and cut, so
 * that what comes behind it is always there. No clock, no allocation, no
 * locale. Thread: any. */
#include "plugins/access_line.h"

#include <string.h>

#include "base/assert.h"
#include "base/civil.h"
#include "base/decimal.h"
#include "base/slice.h"

/* Most that the parts of a line take, with what stands between them. */
#define CUT 3u                       /* "..." */
#define STATUS_TAIL (11u + 4u + 21u) /* ` HTTP/1.1" 200 BYTES` */
#define TEXT_ROOM 128u               /* Referer and User-Agent each, at least */
#define TEXTS_TAIL (6u + 2u * TEXT_ROOM)
#define ID_TAIL (1u + 128u + CUT)
#define DURATION_TAIL (1u + 20u)
#define PEER_MAX 64u

RD_STATIC_ASSERT(PEER_MAX + RD_ACCESS_TIME_LEN + 2 * CUT + STATUS_TAIL +
                         TEXTS_TAIL + ID_TAIL + DURATION_TAIL + 300 <
                     RD_ACCESS_LINE_MAX,
                 "room for a request line");

#define PUT(p, literal)                                                        \
    (memcpy((p), (literal), sizeof(literal) - 1), (p) + sizeof(literal) - 1)

#define EACH(octet) (UINT64_C(0x0101010101010101) * (octet))

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

/* As much as ends before `end`, and "..." if that is not all; never half an
 * escape. */
static char *put_text(char *p, const char *end, struct restd_slice s)
{
    static const char hex[] = "0123456789abcdef";
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
        unsigned char c = (unsigned char)*from;
        if (end - p < (is_special(c) ? 4 : 1)) {
            return PUT(p, "...");
        }
        if (is_special(c)) {
            p = PUT(p, "\\x");
            *p++ = hex[c >> 4];
            c = (unsigned char)hex[c & 15];
        }
        *p++ = (char)c;
        from++;
    }
    return p;
}

static char *put_text_or_dash(char *p, const char *end, struct restd_slice s)
{
    return s.data ? put_text(p, end, s) : PUT(p, "-");
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
        return PUT(p, "\"-\"");
    }
    *p++ = '"';
    p = put_text(p, end, entry->method);
    *p++ = ' ';
    p = put_text_or_dash(p, end < p ? p : end, entry->target);
    p = PUT(p, " HTTP/1.");
    *p++ = (char)('0' + entry->version_minor);
    *p++ = '"';
    return p;
}

static char *put_outcome(char *p, const struct rd_access_entry *entry)
{
    *p++ = ' ';
    p += rd_decimal_u64(p, (uint64_t)entry->status);
    *p++ = ' ';
    if (entry->content_bytes == 0) {
        *p++ = '-';
        return p;
    }
    return p + rd_decimal_u64(p, entry->content_bytes);
}

unsigned rd_access_line(const struct rd_access_entry *entry,
                        char out[RD_ACCESS_LINE_MAX + 1])
{
    char *p = put_peer(out, entry->peer);
    /* Where the text at hand may end; what follows has its room behind. */
    const char *end = out + RD_ACCESS_LINE_MAX - CUT;

    end -= entry->with_duration ? DURATION_TAIL : 0;
    end -= entry->with_id ? ID_TAIL : 0;
    end -= entry->combined ? TEXTS_TAIL : 0;
    p = PUT(p, " - - ");
    memcpy(p, entry->time, RD_ACCESS_TIME_LEN);
    p += RD_ACCESS_TIME_LEN;
    *p++ = ' ';
    p = put_request_line(p, end - STATUS_TAIL - 1 - CUT, entry);
    p = put_outcome(p, entry);
    if (entry->combined) {
        p = PUT(p, " \"");
        p = put_text_or_dash(p, end + 2 + TEXT_ROOM, entry->referer);
        p = PUT(p, "\" \"");
        end += TEXTS_TAIL;
        p = put_text_or_dash(p, end - 1, entry->agent);
        *p++ = '"';
    }
    if (entry->with_id) {
        *p++ = ' ';
        p = put_text_or_dash(p, end + ID_TAIL, entry->id);
    }
    if (entry->with_duration) {
        *p++ = ' ';
        p += rd_decimal_u64(p, entry->duration_us);
    }
    *p = '\0';
    return (unsigned)(p - out);
}

void rd_access_time(int64_t unix_seconds, int offset_s,
                    char out[RD_ACCESS_TIME_LEN])
{
    static const char months[] = RD_CIVIL_MONTHS;
    struct rd_civil c = rd_civil_from_unix(unix_seconds + offset_s);
    unsigned minutes = (unsigned)(offset_s < 0 ? -offset_s : offset_s) / 60;

    memcpy(out, "[dd/MMM/yyyy:hh:mm:ss +hhmm]", RD_ACCESS_TIME_LEN);
    rd_decimal_2(out + 1, c.day);
    memcpy(out + 4, months + 3 * (size_t)(c.month - 1), 3);
    rd_decimal_4(out + 8, c.year);
    rd_decimal_2(out + 13, c.hour);
    rd_decimal_2(out + 16, c.minute);
    rd_decimal_2(out + 19, c.second);
    out[22] = offset_s < 0 ? '-' : '+';
    rd_decimal_2(out + 23, minutes / 60);
    rd_decimal_2(out + 25, minutes % 60);
}
