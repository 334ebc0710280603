/* SPDX-License-Identifier: MIT */
/* The memory ledger.
 *
 * A ledger's `quota` is its slice of the budget, taken and given back in
 * blocks of limit / (32 x parts); `used` never passes it. The budget's level
 * follows `taken`, so it errs to the careful side by at most two blocks a
 * ledger. RD_LEVEL_FULL is left only when a sixteenth of the budget is free
 * again, so that accepting does not flutter.
 *
 * Threads: budget any, ledger its owner's. */
#include "base/ledger.h"

#include <restd/error.h>

#include "base/assert.h"

#define BLOCK_MIN 4096u

void rd_budget_init(struct rd_budget *budget, uint64_t limit, unsigned parts)
{
    budget->limit = limit;
    rd_budget_share(budget, parts);
    atomic_init(&budget->taken, 0);
    atomic_init(&budget->peak, 0);
    atomic_init(&budget->level, RD_LEVEL_NORMAL);
}

void rd_budget_share(struct rd_budget *budget, unsigned parts)
{
    uint64_t block = budget->limit / (32u * (parts ? parts : 1));

    atomic_store_explicit(&budget->block, block < BLOCK_MIN ? BLOCK_MIN : block,
                          memory_order_relaxed);
}

static void budget_set_level(struct rd_budget *budget, uint64_t taken,
                             int refused)
{
    int level = rd_budget_level(budget);
    int next = RD_LEVEL_NORMAL;

    if (refused ||
        (level == RD_LEVEL_FULL && taken > budget->limit / 16 * 15)) {
        next = RD_LEVEL_FULL;
    } else if (taken >= budget->limit / 10 * 9) {
        next = RD_LEVEL_REFUSE;
    } else if (taken >= budget->limit / 10 * 8) {
        next = RD_LEVEL_CLOSE;
    } else if (taken >= budget->limit / 10 * 7) {
        next = RD_LEVEL_TRIM;
    }
    if (next != level) {
        atomic_store_explicit(&budget->level, next, memory_order_relaxed);
    }
}

static int budget_take(struct rd_budget *budget, uint64_t bytes)
{
    uint64_t taken = atomic_load_explicit(&budget->taken, memory_order_relaxed);

    do {
        if (bytes > budget->limit || taken > budget->limit - bytes) {
            return RESTD_ENOMEM;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &budget->taken, &taken, taken + bytes, memory_order_relaxed,
        memory_order_relaxed));
    taken += bytes;

    uint64_t peak = atomic_load_explicit(&budget->peak, memory_order_relaxed);
    while (taken > peak && !atomic_compare_exchange_weak_explicit(
                               &budget->peak, &peak, taken,
                               memory_order_relaxed, memory_order_relaxed)) {
    }
    budget_set_level(budget, taken, 0);
    return 0;
}

static void budget_give(struct rd_budget *budget, uint64_t bytes)
{
    uint64_t before =
        atomic_fetch_sub_explicit(&budget->taken, bytes, memory_order_relaxed);
    RD_ASSERT(before >= bytes);
    budget_set_level(budget, before - bytes, 0);
}

void rd_ledger_init(struct rd_ledger *ledger, struct rd_budget *budget)
{
    ledger->budget = budget;
    ledger->used = 0;
    ledger->quota = 0;
    for (unsigned i = 0; i < RD_MEM_OWNERS_N; i++) {
        atomic_init(&ledger->live[i], 0);
        atomic_init(&ledger->peak[i], 0);
    }
}

void rd_ledger_fini(struct rd_ledger *ledger)
{
    if (ledger->quota > 0) {
        budget_give(ledger->budget, ledger->quota);
    }
    ledger->quota = 0;
    ledger->used = 0;
}

static void live_add(struct rd_ledger *ledger, enum rd_mem_owner owner,
                     size_t bytes)
{
    uint64_t live =
        atomic_load_explicit(&ledger->live[owner], memory_order_relaxed) +
        bytes;
    atomic_store_explicit(&ledger->live[owner], live, memory_order_relaxed);
    if (live >
        atomic_load_explicit(&ledger->peak[owner], memory_order_relaxed)) {
        atomic_store_explicit(&ledger->peak[owner], live, memory_order_relaxed);
    }
}

static void live_sub(struct rd_ledger *ledger, enum rd_mem_owner owner,
                     size_t bytes)
{
    uint64_t live =
        atomic_load_explicit(&ledger->live[owner], memory_order_relaxed);
    RD_ASSERT(live >= bytes);
    atomic_store_explicit(&ledger->live[owner], live - bytes,
                          memory_order_relaxed);
}

int rd_ledger_charge(struct rd_ledger *ledger, enum rd_mem_owner owner,
                     size_t bytes)
{
    if (bytes > ledger->quota - ledger->used) {
        uint64_t block =
            atomic_load_explicit(&ledger->budget->block, memory_order_relaxed);
        uint64_t missing = bytes - (ledger->quota - ledger->used);
        /* Never enough, and too large to be rounded up. */
        if (missing > ledger->budget->limit) {
            return RESTD_ENOMEM;
        }
        uint64_t want = (missing + block - 1) / block * block;

        /* Near the limit the last bytes count more than whole blocks. */
        if (budget_take(ledger->budget, want) != 0) {
            want = missing;
            if (budget_take(ledger->budget, want) != 0) {
                budget_set_level(ledger->budget,
                                 atomic_load_explicit(&ledger->budget->taken,
                                                      memory_order_relaxed),
                                 1);
                return RESTD_ENOMEM;
            }
        }
        ledger->quota += want;
    }
    ledger->used += bytes;
    live_add(ledger, owner, bytes);
    return 0;
}

void rd_ledger_release(struct rd_ledger *ledger, enum rd_mem_owner owner,
                       size_t bytes)
{
    RD_ASSERT(ledger->used >= bytes);
    live_sub(ledger, owner, bytes);
    ledger->used -= bytes;

    /* One block stays, against taking and giving in turn. */
    uint64_t block =
        atomic_load_explicit(&ledger->budget->block, memory_order_relaxed);
    uint64_t spare = ledger->quota - ledger->used;
    if (spare >= 2 * block) {
        uint64_t give = spare - block;
        ledger->quota -= give;
        budget_give(ledger->budget, give);
    }
}

void rd_ledger_trim(struct rd_ledger *ledger)
{
    uint64_t spare = ledger->quota - ledger->used;

    if (spare > 0) {
        ledger->quota = ledger->used;
        budget_give(ledger->budget, spare);
    } else {
        budget_set_level(
            ledger->budget,
            atomic_load_explicit(&ledger->budget->taken, memory_order_relaxed),
            0);
    }
}

void rd_ledger_move(struct rd_ledger *ledger, enum rd_mem_owner from,
                    enum rd_mem_owner to, size_t bytes)
{
    live_sub(ledger, from, bytes);
    live_add(ledger, to, bytes);
}

const char *rd_mem_owner_name(enum rd_mem_owner owner)
{
    static const char *const names[] = {
#define X(name, text) text,
        RD_MEM_OWNERS(X)
#undef X
    };
    return names[owner];
}
