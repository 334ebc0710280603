/* SPDX-License-Identifier: MIT */
/* Log-linear histogram of durations: 16 linear sub-buckets per octave, so a
 * value read back is at most 6.25 % off. Starts at 1 us, ends at about 1,073 s;
 * what lies beyond is counted in the first or last bucket.
 *
 * Owner: a loop embeds one (cumulative), the control thread has its windows.
 * Thread: one writer; any thread may read while it writes (relaxed atomics).
 */
#ifndef RD_BASE_HIST_H
#define RD_BASE_HIST_H

#include <stdatomic.h>
#include <stdint.h>

#define RD_HIST_SUB 16
#define RD_HIST_OCTAVES 27
#define RD_HIST_BUCKETS (RD_HIST_SUB * RD_HIST_OCTAVES)

struct rd_hist {
    _Atomic uint32_t buckets[RD_HIST_BUCKETS];
    _Atomic uint64_t sum_ns;
};

/* A plain copy for arithmetic: differences, sums, quantiles. */
struct rd_hist_sum {
    uint32_t buckets[RD_HIST_BUCKETS];
    uint64_t sum_ns;
    uint64_t count;
};

/* Bucket of a duration in ns. Bucket i < 16 holds i us; above, octave o and
 * sub-bucket s hold [2^o * (16 + s), 2^o * (17 + s)) us. */
static inline unsigned rd_hist_bucket(uint64_t ns)
{
    uint64_t us = ns / 1000;
    if (us < RD_HIST_SUB) {
        return (unsigned)us;
    }
    unsigned shift = 59u - (unsigned)__builtin_clzll(us);
    unsigned index = (shift << 4) + (unsigned)(us >> shift);
    return index < RD_HIST_BUCKETS ? index : RD_HIST_BUCKETS - 1;
}

/* Adds a duration `n` times. Single writer, hence load and store and no locked
 * instruction. Counts wrap at 2^32; readers take differences. */
static inline void rd_hist_add(struct rd_hist *h, uint64_t ns, uint32_t n)
{
    _Atomic uint32_t *b = &h->buckets[rd_hist_bucket(ns)];
    atomic_store_explicit(b, atomic_load_explicit(b, memory_order_relaxed) + n,
                          memory_order_relaxed);
    atomic_store_explicit(
        &h->sum_ns,
        atomic_load_explicit(&h->sum_ns, memory_order_relaxed) + ns * n,
        memory_order_relaxed);
}

/* Copies what `h` has counted so far; `count` is the sum of the buckets. */
void rd_hist_read(const struct rd_hist *h, struct rd_hist_sum *out);
/* to += from */
void rd_hist_sum_add(struct rd_hist_sum *to, const struct rd_hist_sum *from);
/* to -= from, bucket by bucket modulo 2^32; recomputes the count. */
void rd_hist_sum_sub(struct rd_hist_sum *to, const struct rd_hist_sum *from);
/* Middle of the bucket that holds quantile q (0..1), in seconds; -1 when
 * empty. q = 0 gives the smallest, q = 1 the largest. */
double rd_hist_quantile(const struct rd_hist_sum *h, double q);
/* Mean in seconds; -1 when empty. */
double rd_hist_mean(const struct rd_hist_sum *h);

#endif
