/* SPDX-License-Identifier: MIT */
/* Reading the log-linear histogram: copies, differences, quantiles.
 *
 * A copy is not one instant of a histogram that is being written: a bucket may
 * be one ahead of another, and sum_ns one duration off. Counts are therefore
 * always summed from the copied buckets, so that a copy agrees with itself.
 * Buckets wrap at 2^32, and sums and differences are taken modulo that, so a
 * difference of two cumulative copies stays right. Any thread; the plain
 * copies belong to their caller.
 */
#include "base/hist.h"

static void sum_recount(struct rd_hist_sum *h)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < RD_HIST_BUCKETS; i++) {
        count += h->buckets[i];
    }
    h->count = count;
}

void rd_hist_read(const struct rd_hist *h, struct rd_hist_sum *out)
{
    for (unsigned i = 0; i < RD_HIST_BUCKETS; i++) {
        out->buckets[i] =
            atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
    }
    out->sum_ns = atomic_load_explicit(&h->sum_ns, memory_order_relaxed);
    sum_recount(out);
}

void rd_hist_sum_add(struct rd_hist_sum *to, const struct rd_hist_sum *from)
{
    for (unsigned i = 0; i < RD_HIST_BUCKETS; i++) {
        to->buckets[i] += from->buckets[i];
    }
    to->sum_ns += from->sum_ns;
    sum_recount(to);
}

void rd_hist_sum_sub(struct rd_hist_sum *to, const struct rd_hist_sum *from)
{
    for (unsigned i = 0; i < RD_HIST_BUCKETS; i++) {
        to->buckets[i] -= from->buckets[i];
    }
    to->sum_ns -= from->sum_ns;
    sum_recount(to);
}

static double bucket_middle(unsigned index)
{
    unsigned octave = index / RD_HIST_SUB;
    unsigned sub = index % RD_HIST_SUB;
    if (octave == 0) {
        return ((double)sub + 0.5) * 1e-6;
    }
    double width = (double)(UINT64_C(1) << (octave - 1));
    return ((double)(RD_HIST_SUB + sub) + 0.5) * width * 1e-6;
}

double rd_hist_quantile(const struct rd_hist_sum *h, double q)
{
    if (h->count == 0) {
        return -1;
    }
    /* The smallest rank, from 1, with at least q of all at or below it. The
     * comparison is written so that NaN counts as 0. */
    double exact = q > 0 ? q * (double)h->count : 0;
    uint64_t rank = exact < (double)h->count ? (uint64_t)exact : h->count;
    if ((double)rank < exact && rank < h->count) {
        rank++;
    }
    if (rank == 0) {
        rank = 1;
    }
    uint64_t seen = 0;
    for (unsigned i = 0; i < RD_HIST_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen >= rank) {
            return bucket_middle(i);
        }
    }
    return -1;
}

double rd_hist_mean(const struct rd_hist_sum *h)
{
    if (h->count == 0) {
        return -1;
    }
    return (double)h->sum_ns * 1e-9 / (double)h->count;
}
