/* SPDX-License-Identifier: MIT */
/* How often keys come: a bounded table of theoretical arrival times (GCRA, the
 * generic cell rate algorithm). Pure but for the seed.
 *
 * Owner: the rate limit plugin. Lifetime: as that. Thread: init and fini one,
 * rd_rate_table_take() [any], without a lock. */
#ifndef RD_PLUGINS_RATE_TABLE_H
#define RD_PLUGINS_RATE_TABLE_H

#include <stdint.h>

#include <restd/api.h>

struct rd_rate_bucket;

struct rd_rate_table {
    struct rd_rate_bucket *buckets;
    uint64_t mask; /* number of buckets - 1 */
    uint64_t seed;
    uint64_t interval_ns; /* between events at the rate */
    uint64_t depth_ns;    /* interval times burst */
};

/* `entries` is rounded up to a power of two, at least 4; `burst` times
 * `interval_ns` fits 62 bits. RESTD_ENOMEM. */
RESTD_MUST_CHECK int rd_rate_table_init(struct rd_rate_table *table,
                                        uint32_t entries, uint64_t interval_ns,
                                        uint32_t burst);
void rd_rate_table_fini(struct rd_rate_table *table);
/* An event of that key at that time: 0 if it conforms, else in how many ns one
 * will. */
uint64_t rd_rate_table_take(struct rd_rate_table *table, uint64_t key,
                            uint64_t now_ns);

#endif
