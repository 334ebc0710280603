/* SPDX-License-Identifier: MIT */
/* The table of octet classes, computed by the compiler from the grammar: each
 * class is written once as a condition, so that it can be held against the RFC
 * text. Constant data only, any thread. */
#include "codec/chars.h"

#define ALPHA(c) (((c) | 0x20) >= 'a' && ((c) | 0x20) <= 'z')
#define DIGIT(c) ((c) >= '0' && (c) <= '9')
#define HEX(c) (DIGIT(c) || (((c) | 0x20) >= 'a' && ((c) | 0x20) <= 'f'))
#define TOKEN(c)                                                               \
    (ALPHA(c) || DIGIT(c) || (c) == '!' || (c) == '#' || (c) == '$' ||         \
     (c) == '%' || (c) == '&' || (c) == '\'' || (c) == '*' || (c) == '+' ||    \
     (c) == '-' || (c) == '.' || (c) == '^' || (c) == '_' || (c) == '`' ||     \
     (c) == '|' || (c) == '~')
#define UNRESERVED(c)                                                          \
    (ALPHA(c) || DIGIT(c) || (c) == '-' || (c) == '.' || (c) == '_' ||         \
     (c) == '~')
#define SUB_DELIM(c)                                                           \
    ((c) == '!' || (c) == '$' || (c) == '&' || (c) == '\'' || (c) == '(' ||    \
     (c) == ')' || (c) == '*' || (c) == '+' || (c) == ',' || (c) == ';' ||     \
     (c) == '=')
#define TARGET(c) ((c) > 0x20 && (c) < 0x7f && (c) != '#')
#define VALUE(c) ((c) == '\t' || ((c) >= 0x20 && (c) != 0x7f))

#define C1(c)                                                                  \
    (TOKEN(c) ? RD_CHARS_TOKEN : 0) | (TARGET(c) ? RD_CHARS_TARGET : 0) |      \
        (VALUE(c) ? RD_CHARS_VALUE : 0) |                                      \
        (UNRESERVED(c) || SUB_DELIM(c) ? RD_CHARS_REGNAME : 0) |               \
        (DIGIT(c) ? RD_CHARS_DIGIT : 0) | (HEX(c) ? RD_CHARS_HEX : 0) |        \
        (ALPHA(c) ? RD_CHARS_ALPHA : 0) |                                      \
        (UNRESERVED(c) ? RD_CHARS_UNRESERVED : 0)
#define C4(c) C1(c), C1((c) + 1), C1((c) + 2), C1((c) + 3)
#define C16(c) C4(c), C4((c) + 4), C4((c) + 8), C4((c) + 12)
#define C64(c) C16(c), C16((c) + 16), C16((c) + 32), C16((c) + 48)

const uint8_t rd_chars_class[256] = {C64(0), C64(64), C64(128), C64(192)};
