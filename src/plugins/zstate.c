/* SPDX-License-Identifier: MIT */
/* States of zlib's compressor: each a block of pages with all that zlib asks
 * for, so that what is charged is what is used. A window of 8 KiB and small
 * tables: 54 KiB instead of zlib's usual 256. One state that nobody has is kept
 * for the next content, which spares it the pages and most of the set-up.
 *
 * The pool hangs on the loop, not on the plugin: plugins of one loop share it,
 * and it ends on the thread that ends the loop, while its ledger is still
 * there. Thread: size any, the rest [loop]. */
#include "plugins/zstate.h"

#include <string.h>

#include "base/assert.h"
#include "base/mem.h"

/* 8 KiB, in the format of gzip. */
#define WINDOW_BITS (13 + 16)
#define MEM_LEVEL 5
#define ALIGN_TO 64u

struct rd_zpool {
    struct rd_h1_local local;
    struct rd_h1 *h1;
    struct rd_zstate *idle; /* NULL: none */
    unsigned streams_n;
};

static size_t align_up(size_t n)
{
    return (n + ALIGN_TO - 1) / ALIGN_TO * ALIGN_TO;
}

static void *measure_alloc(void *opaque, uInt items, uInt size)
{
    size_t n = align_up((size_t)items * size);

    *(size_t *)opaque += n;
    return rd_mem_alloc(n);
}

static void measure_free(void *opaque, void *p)
{
    (void)opaque;
    rd_mem_free(p);
}

static int set_up(z_stream *z, int level)
{
    return deflateInit2(z, level, Z_DEFLATED, WINDOW_BITS, MEM_LEVEL,
                        Z_DEFAULT_STRATEGY);
}

size_t rd_zstate_size(void)
{
    size_t size = align_up(sizeof(struct rd_zstate));
    z_stream z = {
        .zalloc = measure_alloc, .zfree = measure_free, .opaque = &size};

    if (set_up(&z, 1) != Z_OK) {
        return 0;
    }
    deflateEnd(&z);
    return rd_page_round(size);
}

static void *block_alloc(void *opaque, uInt items, uInt size)
{
    struct rd_zstate *state = opaque;
    size_t n = align_up((size_t)items * size);

    if (n > state->size - state->used) {
        return NULL;
    }
    state->used += n;
    return (char *)state + state->used - n;
}

static void block_free(void *opaque, void *p)
{
    (void)opaque;
    (void)p;
}

static void state_free(struct rd_zstate *state)
{
    struct rd_ledger *ledger = &state->pool->h1->reactor->ledger;
    size_t size = state->size;

    rd_page_free(state, size);
    rd_ledger_release(ledger, RD_MEM_COMPRESSION, size);
}

static void pool_trim(struct rd_h1_local *local, int all)
{
    struct rd_zpool *pool = RD_CONTAINER_OF(local, struct rd_zpool, local);

    if (pool->idle) {
        state_free(pool->idle);
        pool->idle = NULL;
    }
    if (all) {
        RD_ASSERT(pool->streams_n == 0);
        rd_mem_free(pool);
    }
}

/* The loop's; made for the first content. NULL without memory. */
static struct rd_zpool *pool_of(struct rd_h1 *h1)
{
    struct rd_h1_local *local = h1->locals;

    while (local && local->trim != pool_trim) {
        local = local->next;
    }
    if (local) {
        return RD_CONTAINER_OF(local, struct rd_zpool, local);
    }
    struct rd_zpool *pool = rd_mem_alloc(sizeof(*pool));
    if (pool) {
        pool->h1 = h1;
        pool->local.trim = pool_trim;
        pool->local.next = h1->locals;
        h1->locals = &pool->local;
    }
    return pool;
}

/* A refused charge would have accepting pause, so it is not tried when memory
 * is short: contents can do without. */
static struct rd_zstate *state_new(struct rd_zpool *pool, size_t size)
{
    struct rd_ledger *ledger = &pool->h1->reactor->ledger;

    if (rd_budget_level(ledger->budget) >= RD_LEVEL_CLOSE ||
        rd_ledger_charge(ledger, RD_MEM_COMPRESSION, size) != 0) {
        return NULL;
    }
    struct rd_zstate *state = rd_page_alloc(size);
    if (!state) {
        rd_ledger_release(ledger, RD_MEM_COMPRESSION, size);
        return NULL;
    }
    state->pool = pool;
    state->size = size;
    return state;
}

/* deflateParams() may compress by itself what it finds; setting up anew does
 * not, and plugins of different levels on one loop are rare. */
static int state_begin(struct rd_zstate *state, int level)
{
    if (state->level == level) {
        return deflateReset(&state->z);
    }
    memset(&state->z, 0, sizeof(state->z));
    state->z.zalloc = block_alloc;
    state->z.zfree = block_free;
    state->z.opaque = state;
    state->used = align_up(sizeof(*state));
    state->level = level;
    return set_up(&state->z, level);
}

struct rd_zstate *rd_zstate_take(struct rd_h1 *h1, size_t size, int level,
                                 int is_stream)
{
    struct rd_zpool *pool = pool_of(h1);

    if (!pool || (is_stream && pool->streams_n == RD_ZSTREAMS_MAX)) {
        return NULL;
    }
    struct rd_zstate *state = pool->idle ? pool->idle : state_new(pool, size);
    pool->idle = NULL;
    if (state && state_begin(state, level) != Z_OK) {
        state_free(state);
        state = NULL;
    }
    if (state) {
        state->is_stream = is_stream;
        pool->streams_n += is_stream != 0;
    }
    return state;
}

void rd_zstate_give(struct rd_zstate *state)
{
    struct rd_zpool *pool = state->pool;

    pool->streams_n -= state->is_stream != 0;
    if (pool->idle) {
        state_free(state);
    } else {
        pool->idle = state;
    }
}
