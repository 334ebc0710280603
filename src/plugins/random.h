/* SPDX-License-Identifier: MIT */
/* Random seeds, and mixing. Any thread. */
#ifndef RD_PLUGINS_RANDOM_H
#define RD_PLUGINS_RANDOM_H

#include <stdint.h>

/* Fills `n` (at most 32) words from the kernel's generator; from clock and
 * address where that is not ready yet. Never blocks. */
void rd_random_seed(uint64_t *words, unsigned n);

/* A bijection that spreads every bit over all others: different inputs give
 * different outputs. No cipher. */
static inline uint64_t rd_random_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

#endif
