/* SPDX-License-Identifier: MIT */
/* Unsigned integers as decimal text, two digits at a time. Pure, no locale,
 * no NUL behind the text. */
#ifndef RD_BASE_DECIMAL_H
#define RD_BASE_DECIMAL_H

#include <stdint.h>
#include <string.h>

#define RD_DECIMAL_MAX 20 /* digits of UINT64_MAX */

/* "00" "01" ... "99" */
extern const char rd_decimal_pairs[200];

/* Two digits of a value below 100. */
static inline void rd_decimal_2(char *out, unsigned value)
{
    memcpy(out, rd_decimal_pairs + value * 2, 2);
}

/* Four digits of a value below 10000. */
static inline void rd_decimal_4(char *out, unsigned value)
{
    rd_decimal_2(out, value / 100);
    rd_decimal_2(out + 2, value % 100);
}

/* How many digits `value` has, 1..20. */
unsigned rd_decimal_len(uint64_t value);
/* Writes `value` without leading zeros, returns its length. */
unsigned rd_decimal_u64(char *out, uint64_t value);

#endif
