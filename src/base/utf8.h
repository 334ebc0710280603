/* SPDX-License-Identifier: MIT */
/* UTF-8 as RFC 3629 has it. Pure, inline. */
#ifndef RD_BASE_UTF8_H
#define RD_BASE_UTF8_H

#include <stddef.h>

static inline int rd_utf8_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Length (1..4) of the character at `p`, of which `n` > 0 bytes are there; 0
 * if it is none: a stray or missing tail byte, an overlong form, a surrogate,
 * beyond U+10FFFF, or cut off. */
static inline unsigned rd_utf8_char(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < 2 || !rd_utf8_tail(p[1])) {
        return 0;
    }
    if (p[0] < 0xe0) {
        return 2;
    }
    if (n < 3 || !rd_utf8_tail(p[2])) {
        return 0;
    }
    if (p[0] < 0xf0) {
        int overlong = p[0] == 0xe0 && p[1] < 0xa0;
        int surrogate = p[0] == 0xed && p[1] > 0x9f;
        return overlong || surrogate ? 0 : 3;
    }
    if (n < 4 || !rd_utf8_tail(p[3])) {
        return 0;
    }
    int overlong = p[0] == 0xf0 && p[1] < 0x90;
    int beyond = p[0] == 0xf4 && p[1] > 0x8f;
    return overlong || beyond ? 0 : 4;
}

#endif
