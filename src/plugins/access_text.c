/* SPDX-License-Identifier: MIT */
/* What a client has sent, escaped, so that it can neither forge a line of a log
 * nor a field of one nor drive a terminal. Most of it has nothing to escape, and
 * is looked at and copied in words. Thread: any. */
#include "plugins/access_text.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/utf8.h"
#include "plugins/access_format.h"

#define PUT(p, literal)                                                        \
    (memcpy((p), (literal), sizeof(literal) - 1), (p) + sizeof(literal) - 1)

static const char hex[] = "0123456789abcdef";

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

#ifndef __SSE2__
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
#endif

/* Not 0 if one of 16 octets must be escaped. */
static int pair_special(uint64_t a, uint64_t b)
{
#ifdef __SSE2__
    __m128i v = _mm_set_epi64x((long long)b, (long long)a);
    __m128i low = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)); /* and >= 0x80 */
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    __m128i del = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f));

    return _mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(low, quote), _mm_or_si128(slash, del)));
#else
    return (has_special(a) | has_special(b)) != 0;
#endif
}

/* copy_plain() of less than 8 octets. */
static int copy_few(char *p, const char *from, size_t len)
{
    uint32_t a;
    uint32_t b;

    if (len < 4) {
        for (size_t i = 0; i < len; i++) {
            if (is_special((unsigned char)from[i])) {
                return 0;
            }
            p[i] = from[i];
        }
        return 1;
    }
    memcpy(&a, from, 4);
    memcpy(&b, from + len - 4, 4);
    uint64_t octets = (uint64_t)b << 32 | a;
    if (pair_special(octets, octets)) {
        return 0;
    }
    memcpy(p, &a, 4);
    memcpy(p + len - 4, &b, 4);
    return 1;
}

/* Copies `len` octets if none must be escaped, else returns 0: the usual case.
 * Words overlap rather than end in single octets. */
static int copy_plain(char *p, const char *from, size_t len)
{
    uint64_t a;
    uint64_t b;

    if (len < 8) {
        return copy_few(p, from, len);
    }
    for (size_t i = 0; i < len; i += 16) {
        size_t second = i + 16 <= len ? i + 8 : len - 8;
        size_t first = i + 8 <= len ? i : len - 8;
        memcpy(&a, from + first, 8);
        memcpy(&b, from + second, 8);
        if (pair_special(a, b)) {
            return 0;
        }
        memcpy(p + first, &a, 8);
        memcpy(p + second, &b, 8);
    }
    return 1;
}

/* put_text() by pieces. Apart, as it needs a frame that the usual case does not.
 */
__attribute__((noinline)) static char *
put_pieces(char *p, const char *end, struct restd_slice s, int is_json)
{
    const char *from = s.data;
    const char *stop = from + s.len;

    while (from < stop) {
        const unsigned char *at = (const unsigned char *)from;
        struct piece piece =
            is_json ? piece_json(at, (size_t)(stop - from)) : piece_hex(*at);
        if (end - p < (ptrdiff_t)piece.len) {
            return PUT(p, "...");
        }
        memcpy(p, piece.text, piece.len);
        p += piece.len;
        from += piece.taken;
    }
    return p;
}

/* As much as ends before `end`, and "..." if that is not all; never half a
 * piece. */
static char *put_text(char *p, const char *end, struct restd_slice s,
                      int is_json)
{
    return end - p >= (ptrdiff_t)s.len && copy_plain(p, s.data, s.len)
               ? p + s.len
               : put_pieces(p, end, s, is_json);
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

char *rd_access_text(char *p, const char *end, struct restd_slice s,
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
