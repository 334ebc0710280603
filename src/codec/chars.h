/* SPDX-License-Identifier: MIT */
/* Classes of octets in HTTP and URI grammar, one table for all codecs.
 * Constant, any thread. */
#ifndef RD_CODEC_CHARS_H
#define RD_CODEC_CHARS_H

#include <stdint.h>

enum {
    RD_CHARS_TOKEN = 1 << 0,   /* tchar, RFC 9110 5.6.2 */
    RD_CHARS_TARGET = 1 << 1,  /* 0x21..0x7e but '#' */
    RD_CHARS_VALUE = 1 << 2,   /* field-vchar, SP, HTAB, RFC 9110 5.5 */
    RD_CHARS_REGNAME = 1 << 3, /* unreserved / sub-delims, RFC 3986 2.2, 2.3 */
    RD_CHARS_DIGIT = 1 << 4,
    RD_CHARS_HEX = 1 << 5,
    RD_CHARS_ALPHA = 1 << 6,     /* letters of ASCII */
    RD_CHARS_UNRESERVED = 1 << 7 /* RFC 3986 2.3 */
};

extern const uint8_t rd_chars_class[256];

/* Takes a char as it comes, signed or not. */
static inline int rd_chars_is(char c, unsigned classes)
{
    return (rd_chars_class[(unsigned char)c] & classes) != 0;
}

/* Value of a character of class RD_CHARS_HEX. */
static inline unsigned rd_chars_hex(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

#endif
