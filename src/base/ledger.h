/* SPDX-License-Identifier: MIT */
/* The memory ledger: who holds how much of the budget, docs/MEMORY.md.
 *
 * One struct rd_budget per server holds the limit. Each loop charges its own
 * struct rd_ledger, which takes quota from the budget in blocks, so that the
 * common charge touches nothing shared. */
#ifndef RD_BASE_LEDGER_H
#define RD_BASE_LEDGER_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, name in /status) */
#define RD_MEM_OWNERS(X)                                                       \
    X(FIXED, "fixed")             /* stacks, scratches, descriptor arrays */   \
    X(CONNECTIONS, "connections") /* slots and libev's ready lists */          \
    X(POOL, "pool")               /* chunks that nobody holds */               \
    X(INPUT, "input")             /* parts of request heads */                 \
    X(REQUESTS, "requests")       /* requests that outlive their turn */       \
    X(BODIES, "bodies")           /* contents being received */                \
    X(OUTPUT, "output")           /* what a peer has not taken yet */          \
    X(SCRATCH, "scratch")         /* grown on demand, one per loop */          \
    X(COMPRESSION, "compression") /* states of zlib */                         \
    X(OFFLOAD, "offload")         /* threads for handlers, and their jobs */

enum rd_mem_owner {
#define X(name, text) RD_MEM_##name,
    RD_MEM_OWNERS(X)
#undef X
        RD_MEM_OWNERS_N
};

/* Steps of the ladder, architecture "overload". */
enum rd_mem_level {
    RD_LEVEL_NORMAL,
    RD_LEVEL_TRIM,   /* 70 %: idle buffers and caches go back */
    RD_LEVEL_CLOSE,  /* 80 %: no keep-alive, oldest idle closed */
    RD_LEVEL_REFUSE, /* 90 %: new bodies get 503 */
    RD_LEVEL_FULL    /* a charge was refused: accepting pauses */
};

/* Owner: the server. Lifetime: longer than its ledgers. Thread: [any]. */
struct rd_budget {
    alignas(64) uint64_t limit;
    _Atomic uint64_t block;
    _Atomic int level; /* enum rd_mem_level; each request reads it */
    /* Quota handed out, at least what is used. */
    alignas(64) _Atomic uint64_t taken;
    _Atomic uint64_t peak;
};

/* Owner: a loop, or the server for what exists before the loops.
 * Lifetime: its owner's. Thread: its owner's; live and peak [any] to read. */
struct rd_ledger {
    struct rd_budget *budget;
    uint64_t used, quota;
    _Atomic uint64_t live[RD_MEM_OWNERS_N], peak[RD_MEM_OWNERS_N];
};

/* `parts`: ledgers that will share it; sets the size of a block. */
void rd_budget_init(struct rd_budget *budget, uint64_t limit, unsigned parts);
/* Sets it anew, as there are more of them. */
void rd_budget_share(struct rd_budget *budget, unsigned parts);
static inline int rd_budget_level(const struct rd_budget *budget)
{
    return atomic_load_explicit(&budget->level, memory_order_relaxed);
}

void rd_ledger_init(struct rd_ledger *ledger, struct rd_budget *budget);
/* Gives all quota back; what is still charged is the owner's error. */
void rd_ledger_fini(struct rd_ledger *ledger);

/* Charges before the allocation. 0, or RESTD_ENOMEM when the budget has no
 * room: nothing is charged then, and the level is RD_LEVEL_FULL, unless the
 * charge is larger than the whole budget. */
int rd_ledger_charge(struct rd_ledger *ledger, enum rd_mem_owner owner,
                     size_t bytes);
void rd_ledger_release(struct rd_ledger *ledger, enum rd_mem_owner owner,
                       size_t bytes);
/* Gives the quota that is not used back, and looks at the level again: under
 * pressure, where the spare of one ledger is what another waits for. */
void rd_ledger_trim(struct rd_ledger *ledger);
/* Changes the owner of what is charged already. */
void rd_ledger_move(struct rd_ledger *ledger, enum rd_mem_owner from,
                    enum rd_mem_owner to, size_t bytes);

const char *rd_mem_owner_name(enum rd_mem_owner owner);

#endif
