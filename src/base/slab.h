/* SPDX-License-Identifier: MIT */
/* Objects of one size, carved from single pages that go back to the kernel
 * when they are empty.
 *
 * Owner: a loop. Lifetime: its loop's. Thread: [loop], no locks. */
#ifndef RD_BASE_SLAB_H
#define RD_BASE_SLAB_H

#include <stddef.h>

#include "base/ledger.h"

struct rd_slab_page;

struct rd_slab {
    struct rd_ledger *ledger;
    enum rd_mem_owner owner; /* pays for the pages */
    size_t object_bytes;
    size_t extra_bytes; /* charged with each object for others' arrays */
    unsigned per_page;
    struct rd_slab_page *partial; /* pages with objects in use and free */
    struct rd_slab_page *empty;   /* pages with no object in use */
    unsigned empty_n;
    unsigned used_n; /* objects in use */
};

void rd_slab_init(struct rd_slab *slab, struct rd_ledger *ledger,
                  enum rd_mem_owner owner, size_t object_bytes,
                  size_t extra_bytes);
/* Every object must have been given back. */
void rd_slab_fini(struct rd_slab *slab);

/* An object with unspecified contents; NULL when the budget or the kernel has
 * no page. */
void *rd_slab_take(struct rd_slab *slab);
void rd_slab_give(struct rd_slab *slab, void *object);
/* Gives empty pages back but for `keep` of them. */
void rd_slab_trim(struct rd_slab *slab, unsigned keep);

#endif
