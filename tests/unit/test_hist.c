/* SPDX-License-Identifier: MIT */
/* The histogram against sorted values. */
#include "base/hist.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "support/suite.h"

#define VALUES 20000

static struct rd_hist hist;
static uint64_t values[VALUES];
static uint64_t seed;

static void reset(void)
{
    memset(&hist, 0, sizeof(hist));
    seed = 88172645463325252u;
}

static uint64_t random_next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int value_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

START_TEST(bucket_edges)
{
    ck_assert_uint_eq(rd_hist_bucket(0), 0);
    ck_assert_uint_eq(rd_hist_bucket(999), 0);
    ck_assert_uint_eq(rd_hist_bucket(1000), 1);
    ck_assert_uint_eq(rd_hist_bucket(15999), 15);
    ck_assert_uint_eq(rd_hist_bucket(UINT64_MAX), RD_HIST_BUCKETS - 1);
    /* Each bucket begins where the one before ended. */
    unsigned last = rd_hist_bucket(16000) - 1;
    for (unsigned octave = 0; octave < RD_HIST_OCTAVES - 1; octave++) {
        for (uint64_t sub = 16; sub < 32; sub++) {
            uint64_t low = (sub << octave) * 1000;
            uint64_t high = ((sub + 1) << octave) * 1000;
            ck_assert_uint_eq(rd_hist_bucket(low), last + 1);
            ck_assert_uint_eq(rd_hist_bucket(high - 1), last + 1);
            last++;
        }
    }
    ck_assert_uint_eq(last, RD_HIST_BUCKETS - 1);
}
END_TEST

/* `bits` is how far apart the values may be. */
static void quantiles_check(unsigned bits)
{
    reset();
    uint64_t sum = 0;
    for (unsigned i = 0; i < VALUES; i++) {
        values[i] = 16000 + (random_next() >> (64 - 1 - i % bits));
        sum += values[i];
        rd_hist_add(&hist, values[i], 1);
    }
    qsort(values, VALUES, sizeof(values[0]), value_order);
    struct rd_hist_sum read;
    rd_hist_read(&hist, &read);
    ck_assert_uint_eq(read.count, VALUES);
    ck_assert_uint_eq(read.sum_ns, sum);
    ck_assert_double_eq_tol(rd_hist_mean(&read), (double)sum * 1e-9 / VALUES,
                            1e-12);
    for (unsigned permille = 0; permille <= 1000; permille++) {
        size_t rank = (permille * (size_t)VALUES + 999) / 1000;
        double exact = (double)values[rank > 0 ? rank - 1 : 0] * 1e-9;
        double got = rd_hist_quantile(&read, permille / 1000.0);
        ck_assert_msg(fabs(got - exact) <= exact * 0.0625,
                      "q %u/1000: %.9f instead of %.9f", permille, got, exact);
    }
}

START_TEST(quantiles_against_sorted_values)
{
    quantiles_check(8);
    quantiles_check(20);
    quantiles_check(39); /* beyond 500 s */
}
END_TEST

START_TEST(small_values_are_exact_to_the_microsecond)
{
    for (uint64_t us = 0; us < 16; us++) {
        reset();
        rd_hist_add(&hist, us * 1000 + 500, 1);
        struct rd_hist_sum read;
        rd_hist_read(&hist, &read);
        ck_assert_double_eq_tol(rd_hist_quantile(&read, 0.5),
                                ((double)us + 0.5) * 1e-6, 1e-12);
    }
}
END_TEST

START_TEST(empty_and_odd_quantiles)
{
    struct rd_hist_sum read;
    rd_hist_read(&hist, &read);
    ck_assert_uint_eq(read.count, 0);
    ck_assert_double_eq(rd_hist_quantile(&read, 0.5), -1);
    ck_assert_double_eq(rd_hist_mean(&read), -1);

    rd_hist_add(&hist, 1500, 1);
    rd_hist_add(&hist, 5500, 1);
    rd_hist_read(&hist, &read);
    ck_assert_double_eq_tol(rd_hist_quantile(&read, 0), 1.5e-6, 1e-12);
    ck_assert_double_eq_tol(rd_hist_quantile(&read, -1), 1.5e-6, 1e-12);
    ck_assert_double_eq_tol(rd_hist_quantile(&read, (double)NAN), 1.5e-6,
                            1e-12);
    ck_assert_double_eq_tol(rd_hist_quantile(&read, 0.5), 1.5e-6, 1e-12);
    ck_assert_double_eq_tol(rd_hist_quantile(&read, 0.51), 5.5e-6, 1e-12);
    ck_assert_double_eq_tol(rd_hist_quantile(&read, 1), 5.5e-6, 1e-12);
    ck_assert_double_eq_tol(rd_hist_quantile(&read, 7), 5.5e-6, 1e-12);
}
END_TEST

START_TEST(many_at_once_are_as_many_alone)
{
    static struct rd_hist other;
    struct rd_hist_sum a, b;
    for (uint32_t i = 0; i < 50; i++) {
        rd_hist_add(&hist, i * 777, i);
        for (uint32_t j = 0; j < i; j++) {
            rd_hist_add(&other, i * 777, 1);
        }
    }
    rd_hist_read(&hist, &a);
    rd_hist_read(&other, &b);
    ck_assert_uint_eq(a.count, 49 * 50 / 2);
    ck_assert_int_eq(memcmp(&a, &b, sizeof(a)), 0);
}
END_TEST

START_TEST(sums_and_differences)
{
    struct rd_hist_sum before, after, total;
    for (unsigned i = 0; i < 1000; i++) {
        rd_hist_add(&hist, random_next() >> 40, 1);
    }
    rd_hist_read(&hist, &before);
    for (unsigned i = 0; i < 500; i++) {
        rd_hist_add(&hist, 3000, 1);
    }
    rd_hist_read(&hist, &after);
    total = before;
    rd_hist_sum_sub(&after, &before);
    ck_assert_uint_eq(after.count, 500);
    ck_assert_uint_eq(after.sum_ns, 500 * 3000);
    ck_assert_uint_eq(after.buckets[3], 500);
    ck_assert_double_eq_tol(rd_hist_mean(&after), 3e-6, 1e-15);

    rd_hist_sum_add(&total, &after);
    rd_hist_read(&hist, &before);
    ck_assert_uint_eq(total.count, 1500);
    ck_assert_int_eq(memcmp(&total, &before, sizeof(total)), 0);
}
END_TEST

START_TEST(differences_survive_wrapping)
{
    struct rd_hist_sum before, after;
    atomic_store(&hist.buckets[7], UINT32_MAX - 1);
    atomic_store(&hist.sum_ns, UINT64_MAX - 7000);
    rd_hist_read(&hist, &before);
    for (unsigned i = 0; i < 5; i++) {
        rd_hist_add(&hist, 7000, 1);
    }
    ck_assert_uint_eq(atomic_load(&hist.buckets[7]), 3);
    rd_hist_read(&hist, &after);
    rd_hist_sum_sub(&after, &before);
    ck_assert_uint_eq(after.buckets[7], 5);
    ck_assert_uint_eq(after.count, 5);
    ck_assert_uint_eq(after.sum_ns, 35000);
}
END_TEST

#define WRITES 200000

static void *writer(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < WRITES; i++) {
        rd_hist_add(&hist, (uint64_t)i * 100, 1);
    }
    return NULL;
}

START_TEST(reading_while_it_is_written)
{
    pthread_t thread;
    struct rd_hist_sum read, last = {.count = 0};
    ck_assert_int_eq(pthread_create(&thread, NULL, writer, NULL), 0);
    for (unsigned i = 0; i < 200; i++) {
        rd_hist_read(&hist, &read);
        ck_assert_uint_ge(read.count, last.count);
        last = read;
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    rd_hist_read(&hist, &read);
    ck_assert_uint_eq(read.count, WRITES);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hist");
    TCase *tc = tcase_create("hist");
    tcase_add_checked_fixture(tc, reset, NULL);
    tcase_add_test(tc, bucket_edges);
    tcase_add_test(tc, quantiles_against_sorted_values);
    tcase_add_test(tc, small_values_are_exact_to_the_microsecond);
    tcase_add_test(tc, empty_and_odd_quantiles);
    tcase_add_test(tc, many_at_once_are_as_many_alone);
    tcase_add_test(tc, sums_and_differences);
    tcase_add_test(tc, differences_survive_wrapping);
    tcase_add_test(tc, reading_while_it_is_written);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
