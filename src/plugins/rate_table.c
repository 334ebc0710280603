/* SPDX-License-Identifier: MIT */
/* GCRA over a set-associative table.
 *
 * A key's state is one word: the time at which its next event would come if
 * all came at the rate. An event conforms if that is less than the burst away.
 * A bucket is one cache line of four ways; a key is looked for in its bucket
 * alone, and takes the way there whose time is the earliest, which has been
 * quiet the longest, so memory stays as it is and a call touches one line.
 *
 * Tag and time are two atomics, both changed by compare and exchange. Who takes
 * a way sets the time first; whoever else is at it meanwhile may then gain or
 * lose a single event, or have a key in two ways, the second of which grows
 * old. The error is never more than that, and never lasts.
 * Thread: any. */
#include "plugins/rate_table.h"

#include <stdatomic.h>
#include <stddef.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/mem.h"
#include "plugins/random.h"

#define WAYS 4u

struct way {
    _Atomic uint64_t tag;  /* 0: free */
    _Atomic uint64_t time; /* theoretical arrival of the next event */
};

struct rd_rate_bucket {
    struct way ways[WAYS];
};
RD_STATIC_ASSERT(sizeof(struct rd_rate_bucket) == 64, "one cache line");

static size_t table_bytes(const struct rd_rate_table *table)
{
    return (size_t)(table->mask + 1) * sizeof(struct rd_rate_bucket);
}

int rd_rate_table_init(struct rd_rate_table *table, uint32_t entries,
                       uint64_t interval_ns, uint32_t burst)
{
    uint64_t buckets = 1;

    while (buckets * WAYS < entries) {
        buckets *= 2;
    }
    table->mask = buckets - 1;
    table->interval_ns = interval_ns;
    table->depth_ns = interval_ns * burst;
    rd_random_seed(&table->seed, 1);
    /* Pages are aligned to lines, the heap is not. */
    table->buckets = rd_page_alloc(table_bytes(table));
    return table->buckets ? 0 : RESTD_ENOMEM;
}

void rd_rate_table_fini(struct rd_rate_table *table)
{
    if (table->buckets) {
        rd_page_free(table->buckets, table_bytes(table));
        table->buckets = NULL;
    }
}

static struct way *way_find(struct rd_rate_bucket *bucket, uint64_t tag)
{
    for (unsigned i = 0; i < WAYS; i++) {
        struct way *way = &bucket->ways[i];
        if (atomic_load_explicit(&way->tag, memory_order_acquire) == tag) {
            return way;
        }
    }
    return NULL;
}

/* Makes the stalest way the key's; NULL if another thread was at it. */
static struct way *way_take(struct rd_rate_bucket *bucket, uint64_t tag,
                            uint64_t now_ns)
{
    struct way *way = NULL;
    uint64_t time = 0;

    for (unsigned i = 0; i < WAYS; i++) {
        uint64_t t =
            atomic_load_explicit(&bucket->ways[i].time, memory_order_relaxed);
        if (!way || t < time) {
            way = &bucket->ways[i];
            time = t;
        }
    }
    uint64_t old = atomic_load_explicit(&way->tag, memory_order_relaxed);
    return atomic_compare_exchange_strong(&way->time, &time, now_ns) &&
                   atomic_compare_exchange_strong(&way->tag, &old, tag)
               ? way
               : NULL;
}

uint64_t rd_rate_table_take(struct rd_rate_table *table, uint64_t key,
                            uint64_t now_ns)
{
    uint64_t tag = rd_random_mix(key ^ table->seed);
    struct rd_rate_bucket *bucket = &table->buckets[tag & table->mask];

    tag += tag == 0;
    for (;;) {
        struct way *way = way_find(bucket, tag);
        if (!way) {
            way = way_take(bucket, tag, now_ns);
        }
        if (!way) {
            continue;
        }
        uint64_t time = atomic_load_explicit(&way->time, memory_order_relaxed);
        uint64_t next = (time > now_ns ? time : now_ns) + table->interval_ns;
        if (next - now_ns > table->depth_ns) {
            return next - now_ns - table->depth_ns;
        }
        if (atomic_compare_exchange_strong(&way->time, &time, next)) {
            return 0;
        }
    }
}
