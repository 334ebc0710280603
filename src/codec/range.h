/* SPDX-License-Identifier: MIT */
/* The Range field, RFC 9110 14.1.2 and 14.2. Pure. Fuzzed. */
#ifndef RD_CODEC_RANGE_H
#define RD_CODEC_RANGE_H

#include <stdint.h>

#include <restd/api.h>

struct rd_range {
    uint64_t first, last; /* both included, last < size */
};

/* Reads the ranges of a representation of `size` bytes, in the order in which
 * they were asked for, cut at its end; those that lie behind it are left out.
 * > 0: how many; -416: none is satisfiable; 0: the field is to be ignored, as
 * it has another unit or bad syntax, more than `max` ranges, more than two
 * pairs that overlap (RFC 9110 17.15), several that are together larger than
 * the whole, or a suffix of nothing. Ranges are not joined. */
int rd_range_parse(struct restd_slice value, uint64_t size,
                   struct rd_range *ranges, unsigned max);

#endif
