/* SPDX-License-Identifier: MIT */
/* The memory ledger: what is charged is exactly what stands there, quota moves
 * in blocks, levels follow it, and the limit holds whoever asks. */
#include "base/ledger.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <restd/error.h>
#include "support/suite.h"

#define MIB (1024u * 1024)
#define LIMIT (4u * MIB)

static struct rd_budget budget;
static struct rd_ledger ledger;

static uint64_t taken(void)
{
    return atomic_load(&budget.taken);
}

static uint64_t live(enum rd_mem_owner owner)
{
    return atomic_load(&ledger.live[owner]);
}

static uint64_t peak(enum rd_mem_owner owner)
{
    return atomic_load(&ledger.peak[owner]);
}

static void set_up(void)
{
    rd_budget_init(&budget, LIMIT, 1);
    rd_ledger_init(&ledger, &budget);
}

START_TEST(block_sizes)
{
    struct rd_budget b;
    rd_budget_init(&b, 10 * MIB, 2);
    ck_assert_uint_eq(b.block, 10 * MIB / 64);
    rd_budget_init(&b, 10 * MIB, 0);
    ck_assert_uint_eq(b.block, 10 * MIB / 32);
    rd_budget_init(&b, 2 * MIB, 256);
    ck_assert_uint_eq(b.block, 4096);
    ck_assert_int_eq(rd_budget_level(&b), RD_LEVEL_NORMAL);
}
END_TEST

START_TEST(charge_release_move)
{
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 100), 0);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_OUTPUT, 50), 0);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 0), 0);
    ck_assert_uint_eq(live(RD_MEM_INPUT), 100);
    ck_assert_uint_eq(live(RD_MEM_OUTPUT), 50);
    ck_assert_uint_eq(ledger.used, 150);

    rd_ledger_move(&ledger, RD_MEM_INPUT, RD_MEM_BODIES, 60);
    ck_assert_uint_eq(live(RD_MEM_INPUT), 40);
    ck_assert_uint_eq(live(RD_MEM_BODIES), 60);
    ck_assert_uint_eq(ledger.used, 150);

    rd_ledger_release(&ledger, RD_MEM_INPUT, 40);
    rd_ledger_release(&ledger, RD_MEM_BODIES, 60);
    rd_ledger_release(&ledger, RD_MEM_OUTPUT, 50);
    ck_assert_uint_eq(ledger.used, 0);
    ck_assert_uint_eq(peak(RD_MEM_INPUT), 100);
    ck_assert_uint_eq(peak(RD_MEM_BODIES), 60);
    ck_assert_uint_eq(peak(RD_MEM_OUTPUT), 50);
    for (unsigned i = 0; i < RD_MEM_OWNERS_N; i++) {
        ck_assert_uint_eq(live((enum rd_mem_owner)i), 0);
    }
    rd_ledger_fini(&ledger);
    ck_assert_uint_eq(taken(), 0);
}
END_TEST

START_TEST(quota_moves_in_blocks)
{
    uint64_t block = budget.block;
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 1), 0);
    ck_assert_uint_eq(taken(), block);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, (size_t)block - 1),
                     0);
    ck_assert_uint_eq(taken(), block);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 1), 0);
    ck_assert_uint_eq(taken(), 2 * block);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, (size_t)block * 3),
                     0);
    ck_assert_uint_eq(taken(), 5 * block);

    /* Between one and two blocks are kept against taking and giving in turn. */
    rd_ledger_release(&ledger, RD_MEM_INPUT, (size_t)block);
    ck_assert_uint_eq(taken(), 5 * block);
    rd_ledger_release(&ledger, RD_MEM_INPUT, 1);
    ck_assert_uint_eq(taken(), 4 * block);
    rd_ledger_release(&ledger, RD_MEM_INPUT, (size_t)block * 3);
    ck_assert_uint_eq(ledger.used, 0);
    ck_assert_uint_eq(taken(), block);
    ck_assert_uint_eq(atomic_load(&budget.peak), 5 * block);
}
END_TEST

START_TEST(spare_quota_stays_below_two_blocks)
{
    unsigned seed = 1;
    size_t held[64] = {0};
    for (int i = 0; i < 20000; i++) {
        size_t *slot = &held[rand_r(&seed) % 64];
        if (*slot > 0) {
            rd_ledger_release(&ledger, RD_MEM_OUTPUT, *slot);
            *slot = 0;
        } else {
            size_t want = (size_t)rand_r(&seed) % 60000;
            if (rd_ledger_charge(&ledger, RD_MEM_OUTPUT, want) == 0) {
                *slot = want;
            }
        }
        uint64_t sum = 0;
        for (int k = 0; k < 64; k++) {
            sum += held[k];
        }
        ck_assert_uint_eq(ledger.used, sum);
        ck_assert_uint_eq(live(RD_MEM_OUTPUT), sum);
        ck_assert_uint_eq(taken(), ledger.quota);
        ck_assert_uint_ge(ledger.quota, ledger.used);
        ck_assert_uint_le(ledger.quota - ledger.used, 2 * budget.block);
    }
}
END_TEST

START_TEST(the_last_bytes_can_be_had)
{
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_FIXED, LIMIT - 10), 0);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 11), RESTD_ENOMEM);
    ck_assert_uint_eq(live(RD_MEM_INPUT), 0);
    ck_assert_uint_eq(peak(RD_MEM_INPUT), 0);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 10), 0);
    ck_assert_uint_eq(taken(), LIMIT);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 1), RESTD_ENOMEM);
}
END_TEST

START_TEST(absurd_sizes_are_refused)
{
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 100), 0);
    static const size_t sizes[] = {LIMIT,           LIMIT + 1,     SIZE_MAX / 2,
                                   SIZE_MAX - 4096, SIZE_MAX - 99, SIZE_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        ck_assert_msg(rd_ledger_charge(&ledger, RD_MEM_BODIES, sizes[i]) ==
                          RESTD_ENOMEM,
                      "%zu", sizes[i]);
    }
    ck_assert_uint_eq(ledger.used, 100);
    ck_assert_uint_eq(taken(), budget.block);
}
END_TEST

/* Charges or releases until `used` bytes are. */
static void set_used(uint64_t used)
{
    if (used > ledger.used) {
        ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_OUTPUT,
                                          (size_t)(used - ledger.used)),
                         0);
    } else {
        rd_ledger_release(&ledger, RD_MEM_OUTPUT, (size_t)(ledger.used - used));
    }
}

START_TEST(levels_follow_what_is_taken)
{
    static const struct {
        unsigned percent;
        int level;
    } steps[] = {
        {50, RD_LEVEL_NORMAL}, {66, RD_LEVEL_NORMAL}, {71, RD_LEVEL_TRIM},
        {79, RD_LEVEL_CLOSE}, /* the last block reaches 80 % */
        {81, RD_LEVEL_CLOSE},  {91, RD_LEVEL_REFUSE}, {100, RD_LEVEL_REFUSE},
        {88, RD_LEVEL_REFUSE}, /* a block is kept */
        {80, RD_LEVEL_CLOSE},  {70, RD_LEVEL_TRIM},   {60, RD_LEVEL_NORMAL},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        set_used((uint64_t)LIMIT * steps[i].percent / 100);
        ck_assert_msg(rd_budget_level(&budget) == steps[i].level,
                      "%u %%: level %d, %llu of %u taken", steps[i].percent,
                      rd_budget_level(&budget), (unsigned long long)taken(),
                      LIMIT);
    }
}
END_TEST

START_TEST(full_is_left_late)
{
    set_used(LIMIT);
    ck_assert_int_eq(rd_budget_level(&budget), RD_LEVEL_REFUSE);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 1), RESTD_ENOMEM);
    ck_assert_int_eq(rd_budget_level(&budget), RD_LEVEL_FULL);
    /* Release bit by bit: it stays until a sixteenth is free. */
    while (taken() > LIMIT / 16 * 15) {
        ck_assert_int_eq(rd_budget_level(&budget), RD_LEVEL_FULL);
        rd_ledger_release(&ledger, RD_MEM_OUTPUT, 1000);
    }
    ck_assert_int_eq(rd_budget_level(&budget), RD_LEVEL_REFUSE);
    /* And it does not come back without a refusal. */
    set_used(LIMIT);
    ck_assert_int_eq(rd_budget_level(&budget), RD_LEVEL_REFUSE);
}
END_TEST

START_TEST(full_does_not_outlive_one_large_charge)
{
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 100), 0);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_SCRATCH, LIMIT),
                     RESTD_ENOMEM);
    ck_assert_int_eq(rd_budget_level(&budget), RD_LEVEL_FULL);
    rd_ledger_trim(&ledger);
    ck_assert_int_eq(rd_budget_level(&budget), RD_LEVEL_NORMAL);
}
END_TEST

START_TEST(trim_gives_all_spare_quota_back)
{
    set_used(LIMIT);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 1), RESTD_ENOMEM);
    rd_ledger_release(&ledger, RD_MEM_OUTPUT, LIMIT / 16);
    rd_ledger_trim(&ledger);
    ck_assert_uint_eq(taken(), ledger.used);
    ck_assert_int_eq(rd_budget_level(&budget), RD_LEVEL_REFUSE);
    ck_assert_int_eq(rd_ledger_charge(&ledger, RD_MEM_INPUT, 1), 0);
}
END_TEST

START_TEST(fini_gives_all_quota_back)
{
    struct rd_ledger other;
    rd_ledger_init(&other, &budget);
    set_used(LIMIT / 2);
    ck_assert_int_eq(rd_ledger_charge(&other, RD_MEM_INPUT, LIMIT / 4), 0);
    rd_ledger_release(&other, RD_MEM_INPUT, LIMIT / 4);
    rd_ledger_fini(&other);
    ck_assert_uint_eq(taken(), LIMIT / 2);
    rd_ledger_fini(&other);
    ck_assert_uint_eq(taken(), LIMIT / 2);
}
END_TEST

#define THREADS 4
#define ROUNDS 20000
#define HELD 128 /* on average twice the limit, each thread alone */

static pthread_barrier_t together;

static void *charges_at_random(void *arg)
{
    struct rd_ledger *own = arg;
    unsigned seed = (unsigned)(uintptr_t)arg;
    size_t held[HELD] = {0};
    uintptr_t faults = 0;

    pthread_barrier_wait(&together);
    for (int i = 0; i < ROUNDS; i++) {
        size_t *slot = &held[rand_r(&seed) % HELD];
        if (*slot > 0) {
            rd_ledger_release(own, RD_MEM_BODIES, *slot);
            *slot = 0;
        } else {
            size_t want = (size_t)rand_r(&seed) % (LIMIT / 32);
            *slot = rd_ledger_charge(own, RD_MEM_BODIES, want) == 0 ? want : 0;
        }
        faults += taken() > LIMIT;
        faults += own->used > own->quota;
    }
    for (int i = 0; i < HELD; i++) {
        rd_ledger_release(own, RD_MEM_BODIES, held[i]);
    }
    return (void *)faults;
}

START_TEST(threads_never_pass_the_limit)
{
    static struct rd_ledger ledgers[THREADS];
    pthread_t threads[THREADS];
    uintptr_t faults = 0;

    rd_budget_init(&budget, LIMIT, THREADS);
    ck_assert_int_eq(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        rd_ledger_init(&ledgers[i], &budget);
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, charges_at_random, &ledgers[i]),
            0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        ck_assert_int_eq(pthread_join(threads[i], &result), 0);
        faults += (uintptr_t)result;
        ck_assert_uint_eq(ledgers[i].used, 0);
        ck_assert_uint_eq(atomic_load(&ledgers[i].live[RD_MEM_BODIES]), 0);
    }
    ck_assert_uint_eq(faults, 0);
    ck_assert_uint_le(atomic_load(&budget.peak), LIMIT);
    /* They did meet the limit. */
    ck_assert_uint_gt(atomic_load(&budget.peak), LIMIT / 16 * 15);
    for (int i = 0; i < THREADS; i++) {
        rd_ledger_fini(&ledgers[i]);
    }
    ck_assert_uint_eq(taken(), 0);
}
END_TEST

START_TEST(owner_names)
{
    ck_assert_str_eq(rd_mem_owner_name(RD_MEM_FIXED), "fixed");
    ck_assert_str_eq(rd_mem_owner_name(RD_MEM_SCRATCH), "scratch");
    for (unsigned i = 0; i < RD_MEM_OWNERS_N; i++) {
        for (unsigned k = 0; k < i; k++) {
            ck_assert_str_ne(rd_mem_owner_name((enum rd_mem_owner)i),
                             rd_mem_owner_name((enum rd_mem_owner)k));
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ledger");
    TCase *tc = tcase_create("ledger");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, block_sizes);
    tcase_add_test(tc, charge_release_move);
    tcase_add_test(tc, quota_moves_in_blocks);
    tcase_add_test(tc, spare_quota_stays_below_two_blocks);
    tcase_add_test(tc, the_last_bytes_can_be_had);
    tcase_add_test(tc, absurd_sizes_are_refused);
    tcase_add_test(tc, levels_follow_what_is_taken);
    tcase_add_test(tc, full_is_left_late);
    tcase_add_test(tc, full_does_not_outlive_one_large_charge);
    tcase_add_test(tc, trim_gives_all_spare_quota_back);
    tcase_add_test(tc, fini_gives_all_quota_back);
    tcase_add_test(tc, threads_never_pass_the_limit);
    tcase_add_test(tc, owner_names);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
