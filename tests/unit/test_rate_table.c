/* SPDX-License-Identifier: MIT */
/* The rate table: burst and rate of one key, keys apart from each other, a
 * full table, and threads at one key. */
#include "plugins/rate_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support/suite.h"

#define MS UINT64_C(1000000)
#define NOW (UINT64_C(1000) * 1000 * MS)

static struct rd_rate_table table;

/* 10 per second, at once `burst`. */
static void make(uint32_t entries, uint32_t burst)
{
    ck_assert_int_eq(rd_rate_table_init(&table, entries, 100 * MS, burst), 0);
}

static void tear_down(void)
{
    rd_rate_table_fini(&table);
}

START_TEST(burst_then_rate)
{
    make(4096, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW), 0);
    }
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW), 100 * MS);
    /* A refusal costs nothing. */
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW), 100 * MS);
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW + 60 * MS), 40 * MS);
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW + 100 * MS), 0);
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW + 100 * MS), 100 * MS);
    /* After a rest, the burst and no more. */
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(rd_rate_table_take(&table, 1, 2 * NOW), 0);
    }
    ck_assert_uint_gt(rd_rate_table_take(&table, 1, 2 * NOW), 0);
}
END_TEST

START_TEST(over_time_the_rate_holds)
{
    unsigned taken = 0;

    make(4, 5);
    for (uint64_t ms = 0; ms < 10000; ms++) {
        taken += rd_rate_table_take(&table, 7, NOW + ms * MS) == 0;
    }
    ck_assert_uint_eq(taken, 5 + 99);
}
END_TEST

START_TEST(a_burst_of_one)
{
    make(4, 1);
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW), 0);
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW), 100 * MS);
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW + 100 * MS), 0);
}
END_TEST

/* A loop whose turn began earlier is not let off, nor does it fail. */
START_TEST(time_that_goes_back)
{
    make(4, 1);
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW), 0);
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW - 5 * MS), 105 * MS);
}
END_TEST

START_TEST(keys_do_not_share)
{
    make(4096, 1);
    for (uint64_t key = 0; key < 500; key++) {
        ck_assert_uint_eq(rd_rate_table_take(&table, key, NOW), 0);
    }
    unsigned known = 0;
    for (uint64_t key = 0; key < 500; key++) {
        known += rd_rate_table_take(&table, key, NOW) > 0;
    }
    /* A bucket of more than four by chance is possible, many are not. */
    ck_assert_uint_ge(known, 490);
}
END_TEST

START_TEST(a_full_bucket_forgets_the_stalest)
{
    make(4, 2); /* one bucket */
    ck_assert_uint_eq(table.mask, 0);
    for (uint64_t key = 1; key <= 4; key++) {
        ck_assert_uint_eq(rd_rate_table_take(&table, key, NOW + key), 0);
        ck_assert_uint_eq(rd_rate_table_take(&table, key, NOW + key), 0);
    }
    for (uint64_t key = 1; key <= 4; key++) {
        ck_assert_uint_gt(rd_rate_table_take(&table, key, NOW + 4), 0);
    }
    ck_assert_uint_eq(rd_rate_table_take(&table, 5, NOW + 5), 0);
    for (uint64_t key = 2; key <= 4; key++) {
        ck_assert_uint_gt(rd_rate_table_take(&table, key, NOW + 5), 0);
    }
    /* Key 1 begins anew, in the place of 5, which has taken but once. */
    ck_assert_uint_eq(rd_rate_table_take(&table, 1, NOW + 6), 0);
    ck_assert_uint_gt(rd_rate_table_take(&table, 2, NOW + 6), 0);
}
END_TEST

START_TEST(entries_are_rounded_up)
{
    static const uint32_t entries[][2] = {
        {1, 0}, {4, 0}, {5, 1}, {4096, 1023}, {4097, 2047}};

    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        make(entries[i][0], 1);
        ck_assert_uint_eq(table.mask, entries[i][1]);
        rd_rate_table_fini(&table);
    }
}
END_TEST

#define THREADS 4
#define TRIES 50000

static _Atomic unsigned taken;

/* Key 1 from each thread, and in between, if `arg`, keys that want its way. */
static void *taker(void *arg)
{
    for (uint64_t i = 0; i < TRIES; i++) {
        if (rd_rate_table_take(&table, 1, NOW) == 0) {
            atomic_fetch_add(&taken, 1);
        }
        if (arg) {
            (void)rd_rate_table_take(&table, 2 + i % 7, NOW);
        }
    }
    return NULL;
}

static void take_in_threads(void *arg)
{
    pthread_t threads[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, taker, arg), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
}

START_TEST(threads_take_no_more_than_the_burst)
{
    make(4096, 1000);
    take_in_threads(NULL);
    /* One more for each thread if the first calls met; see rate_table.c. */
    ck_assert_uint_ge(taken, 1000);
    ck_assert_uint_le(taken, 1000 + THREADS);
}
END_TEST

/* Ways change hands all the time: no call may hang or fail. */
START_TEST(threads_fight_for_one_bucket)
{
    make(4, 1000);
    take_in_threads(&table);
    ck_assert_uint_ge(taken, 1000);
    ck_assert_uint_le(taken, THREADS * TRIES);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rate_table");
    TCase *tcase = tcase_create("table");
    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_test(tcase, burst_then_rate);
    tcase_add_test(tcase, over_time_the_rate_holds);
    tcase_add_test(tcase, a_burst_of_one);
    tcase_add_test(tcase, time_that_goes_back);
    tcase_add_test(tcase, keys_do_not_share);
    tcase_add_test(tcase, a_full_bucket_forgets_the_stalest);
    tcase_add_test(tcase, entries_are_rounded_up);
    tcase_add_test(tcase, threads_take_no_more_than_the_burst);
    tcase_add_test(tcase, threads_fight_for_one_bucket);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
