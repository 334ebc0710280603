/* SPDX-License-Identifier: MIT */
/* Runs of octets in a request head, 16 at a time where SSE2 is there. Each
 * scan exists twice, scalar and SSE2, with the same answer for every input;
 * the unit test holds one against the other. RD_H1_NO_SIMD forces the scalar
 * ones. Nothing is read outside [floor, end): the last block of a run is
 * loaded so that it ends at `end`, and what lies before the run is shifted
 * out. For the parser only. Any thread. */
#ifndef RD_CODEC_H1_SCAN_H
#define RD_CODEC_H1_SCAN_H

#include <stddef.h>

#if defined(__SSE2__) && !defined(RD_H1_NO_SIMD)
#define RD_H1_SIMD 1
#include <emmintrin.h>
#else
#define RD_H1_SIMD 0
#endif

#include "codec/chars.h"

/* The first octet of [p, end) that may not stand in a target, or `end`. Sets
 * *odd if the target has '?', '%' or two of '/' and '.' side by side: without
 * them it is a path that needs no closer look. */
static inline const char *rd_h1_scan_target_scalar(const char *p,
                                                   const char *end, int *odd)
{
    int last = 0;
    for (; p < end && rd_chars_is(*p, RD_CHARS_TARGET); p++) {
        int mark = *p == '/' || *p == '.';
        *odd |= *p == '?' || *p == '%' || (mark && last);
        last = mark;
    }
    return p;
}

/* The first octet of [p, end) that may not stand in a field value, or `end`. */
static inline const char *rd_h1_scan_value_scalar(const char *p,
                                                  const char *end)
{
    while (p < end && rd_chars_is(*p, RD_CHARS_VALUE)) {
        p++;
    }
    return p;
}

/* The first octet of [p, end) that may not stand in a name, or `end`. */
static inline const char *rd_h1_scan_name_scalar(const char *p, const char *end)
{
    while (p < end && rd_chars_is(*p, RD_CHARS_TOKEN)) {
        p++;
    }
    return p;
}

#if RD_H1_SIMD

#define RD_H1_BLOCK 16u

static inline __m128i rd_h1_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Bit i: octet i of the block is c. */
static inline unsigned rd_h1_equal(__m128i block, char c)
{
    __m128i same = _mm_cmpeq_epi8(block, _mm_set1_epi8(c));
    return (unsigned)_mm_movemask_epi8(same);
}

/* All octets but 0x21..0x7e and '#'. One up and read as signed, those from
 * DEL on are negative, or 0 for 0xff. */
static inline unsigned rd_h1_no_target(__m128i block)
{
    __m128i up = _mm_add_epi8(block, _mm_set1_epi8(1));
    __m128i out = _mm_cmplt_epi8(up, _mm_set1_epi8(0x22));
    __m128i hash = _mm_cmpeq_epi8(block, _mm_set1_epi8('#'));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(out, hash));
}

static inline unsigned rd_h1_no_value(__m128i block)
{
    __m128i low =
        _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
    __m128i tab = _mm_cmpeq_epi8(block, _mm_set1_epi8('\t'));
    __m128i del = _mm_cmpeq_epi8(block, _mm_set1_epi8(0x7f));
    __m128i bad = _mm_or_si128(_mm_andnot_si128(tab, low), del);
    return (unsigned)_mm_movemask_epi8(bad);
}

/* 0xff for the octets of [first, first + n): they are moved to the bottom of
 * the signed range, so that one comparison does. */
static inline __m128i rd_h1_range(__m128i block, char first, char n)
{
    __m128i moved = _mm_sub_epi8(block, _mm_set1_epi8((char)(first ^ 0x80)));
    return _mm_cmplt_epi8(moved, _mm_set1_epi8((char)(n ^ 0x80)));
}

static inline __m128i rd_h1_letters(__m128i block)
{
    __m128i lower = _mm_or_si128(block, _mm_set1_epi8(0x20));
    return rd_h1_range(lower, 'a', 26);
}

/* One block of a target, of which `n` octets count from bit `skip` on. *last:
 * the octet before was a mark. Answers how many octets may stand there. */
static inline unsigned rd_h1_target_block(__m128i block, unsigned skip,
                                          unsigned n, unsigned *last, int *odd)
{
    /* '.' and '/' differ in the lowest bit. */
    __m128i low = _mm_or_si128(block, _mm_set1_epi8(1));
    __m128i special = _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('?')),
                                   _mm_cmpeq_epi8(block, _mm_set1_epi8('%')));
    unsigned marks = rd_h1_equal(low, '/') >> skip;
    unsigned odds = (unsigned)_mm_movemask_epi8(special) >> skip;
    unsigned bad = (rd_h1_no_target(block) >> skip) | (1u << n);
    odds |= marks & (marks << 1 | *last);
    *last = marks >> (RD_H1_BLOCK - 1);
    /* bad ^ (bad - 1): the bits up to the lowest one of bad. */
    *odd |= (odds & ((bad ^ (bad - 1)) >> 1)) != 0;
    return (unsigned)__builtin_ctz(bad);
}

static inline const char *rd_h1_scan_target(const char *p, const char *floor,
                                            const char *end, int *odd)
{
    unsigned last = 0;
    while ((size_t)(end - p) >= RD_H1_BLOCK) {
        unsigned good =
            rd_h1_target_block(rd_h1_load(p), 0, RD_H1_BLOCK, &last, odd);
        p += good;
        if (good < RD_H1_BLOCK) {
            return p;
        }
    }
    if ((size_t)(end - floor) >= RD_H1_BLOCK) {
        unsigned n = (unsigned)(end - p);
        return p + rd_h1_target_block(rd_h1_load(end - RD_H1_BLOCK),
                                      RD_H1_BLOCK - n, n, &last, odd);
    }
    /* Less than a block in all, so the run is whole: *last is not lost. */
    return rd_h1_scan_target_scalar(p, end, odd);
}

static inline const char *rd_h1_scan_value(const char *p, const char *floor,
                                           const char *end)
{
    while ((size_t)(end - p) >= RD_H1_BLOCK) {
        unsigned bad = rd_h1_no_value(rd_h1_load(p));
        if (bad != 0) {
            return p + __builtin_ctz(bad);
        }
        p += RD_H1_BLOCK;
    }
    if ((size_t)(end - floor) >= RD_H1_BLOCK) {
        unsigned n = (unsigned)(end - p);
        unsigned bad = rd_h1_no_value(rd_h1_load(end - RD_H1_BLOCK));
        return p + __builtin_ctz((bad >> (RD_H1_BLOCK - n)) | (1u << n));
    }
    return rd_h1_scan_value_scalar(p, end);
}

/* Most names are letters and hyphens, and shorter than a block. */
static inline const char *rd_h1_scan_name(const char *p, const char *end)
{
    if ((size_t)(end - p) >= RD_H1_BLOCK) {
        __m128i block = rd_h1_load(p);
        __m128i hyphen = _mm_cmpeq_epi8(block, _mm_set1_epi8('-'));
        __m128i good = _mm_or_si128(rd_h1_letters(block), hyphen);
        unsigned bad = (unsigned)_mm_movemask_epi8(good) ^ 0xffffu;
        p += bad != 0 ? (unsigned)__builtin_ctz(bad) : RD_H1_BLOCK;
        if (p < end && *p == ':') {
            return p;
        }
    }
    return rd_h1_scan_name_scalar(p, end);
}

/* 1 if [p, end) surely is a host with or without a port; 0 if it needs a
 * closer look. Reads the block before `end`. */
static inline int rd_h1_is_easy_host(const char *p, const char *floor,
                                     const char *end)
{
    unsigned n = (unsigned)(end - p);
    if ((size_t)(end - p) > RD_H1_BLOCK || n == 0 ||
        (size_t)(end - floor) < RD_H1_BLOCK) {
        return 0;
    }
    unsigned skip = RD_H1_BLOCK - n;
    __m128i block = rd_h1_load(end - RD_H1_BLOCK);
    __m128i digits = rd_h1_range(block, '0', 10);
    __m128i marks = rd_h1_range(block, '-', 2); /* '-' and '.' */
    __m128i good =
        _mm_or_si128(rd_h1_letters(block), _mm_or_si128(digits, marks));
    unsigned other = ((unsigned)_mm_movemask_epi8(good) ^ 0xffffu) >> skip;
    if (other == 0) {
        return 1;
    }
    unsigned port = (unsigned)__builtin_ctz(other);
    unsigned no_digit = ((unsigned)_mm_movemask_epi8(digits) ^ 0xffffu) >> skip;
    return port > 0 && p[port] == ':' && no_digit >> (port + 1) == 0;
}

#else

static inline const char *rd_h1_scan_name(const char *p, const char *end)
{
    return rd_h1_scan_name_scalar(p, end);
}

static inline int rd_h1_is_easy_host(const char *p, const char *floor,
                                     const char *end)
{
    (void)p;
    (void)floor;
    (void)end;
    return 0;
}

static inline const char *rd_h1_scan_target(const char *p, const char *floor,
                                            const char *end, int *odd)
{
    (void)floor;
    return rd_h1_scan_target_scalar(p, end, odd);
}

static inline const char *rd_h1_scan_value(const char *p, const char *floor,
                                           const char *end)
{
    (void)floor;
    return rd_h1_scan_value_scalar(p, end);
}

#endif

#endif
