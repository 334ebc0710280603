/* SPDX-License-Identifier: MIT */
/* Decimal text of unsigned integers.
 *
 * The length is known first, so that the digits go straight to their place,
 * from the last pair to the first, without a buffer in between. Pure, any
 * thread.
 */
#include "base/decimal.h"

const char rd_decimal_pairs[200] = {
#define D(a)                                                                   \
    a, '0', a, '1', a, '2', a, '3', a, '4', a, '5', a, '6', a, '7', a, '8', a, \
        '9'
    D('0'), D('1'), D('2'), D('3'), D('4'),
    D('5'), D('6'), D('7'), D('8'), D('9'),
#undef D
};

static const uint64_t powers[RD_DECIMAL_MAX] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

unsigned rd_decimal_len(uint64_t value)
{
    /* bits * log10(2), at most one too small; 1233 / 4096 is near enough for
     * 64 bits. Zero is taken for 1, which has as many digits. */
    unsigned bits = 64u - (unsigned)__builtin_clzll(value | 1);
    unsigned guess = (bits * 1233) >> 12;
    return guess + ((value | 1) >= powers[guess]);
}

unsigned rd_decimal_u64(char *out, uint64_t value)
{
    unsigned len = rd_decimal_len(value);
    char *at = out + len;
    while (value >= 100) {
        at -= 2;
        rd_decimal_2(at, (unsigned)(value % 100));
        value /= 100;
    }
    if (value >= 10) {
        rd_decimal_2(out, (unsigned)value);
    } else {
        *out = (char)('0' + value);
    }
    return len;
}
