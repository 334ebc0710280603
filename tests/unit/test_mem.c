/* SPDX-License-Identifier: MIT */
/* Allocation: zeroed, countable, and failing on demand exactly once. */
#include "base/mem.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "support/suite.h"

static int all_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != 0) {
            return 0;
        }
    }
    return 1;
}

START_TEST(alloc_is_zeroed)
{
    /* The second round gets what the first has dirtied. */
    for (int round = 0; round < 2; round++) {
        unsigned char *p = rd_mem_alloc(1000);
        ck_assert_ptr_nonnull(p);
        ck_assert(all_zero(p, 1000));
        memset(p, 0xaa, 1000);
        rd_mem_free(p);
    }
}
END_TEST

START_TEST(size_zero_is_no_failure)
{
    void *p = rd_mem_alloc(0);
    ck_assert_ptr_nonnull(p);
    rd_mem_free(p);
    rd_mem_free(NULL);
}
END_TEST

START_TEST(strdup_copies)
{
    char *empty = rd_mem_strdup("");
    char *text = rd_mem_strdup("text");
    ck_assert_str_eq(empty, "");
    ck_assert_str_eq(text, "text");
    rd_mem_free(empty);
    rd_mem_free(text);
}
END_TEST

START_TEST(pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    ck_assert_uint_eq(rd_page_round(0), 0);
    ck_assert_uint_eq(rd_page_round(1), page);
    ck_assert_uint_eq(rd_page_round(page), page);
    ck_assert_uint_eq(rd_page_round(page + 1), 2 * page);
    ck_assert_uint_eq(rd_page_round(SIZE_MAX), 0);

    unsigned char *p = rd_page_alloc(page + 1);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_eq((uintptr_t)p % page, 0);
    ck_assert(all_zero(p, 2 * page));
    memset(p, 0xaa, 2 * page);
    rd_page_free(p, page + 1);
    rd_page_free(NULL, page);
    ck_assert_ptr_null(rd_page_alloc(SIZE_MAX));
    ck_assert_ptr_null(rd_page_alloc(0));
}
END_TEST

START_TEST(the_nth_call_fails_once)
{
    for (unsigned n = 1; n <= 4; n++) {
        rd_mem_fail_nth(n);
        void *p[4];
        errno = 0;
        p[0] = rd_mem_alloc(8);
        p[1] = rd_mem_alloc(0);
        p[2] = rd_mem_strdup("x");
        p[3] = rd_page_alloc(8);
        ck_assert_int_eq(errno, ENOMEM);
        for (unsigned i = 0; i < 4; i++) {
            ck_assert_msg((p[i] == NULL) == (i + 1 == n), "n %u, call %u", n,
                          i + 1);
        }
        ck_assert_uint_eq(rd_mem_calls(), 4);
        rd_mem_free(p[0]);
        rd_mem_free(p[1]);
        rd_mem_free(p[2]);
        rd_page_free(p[3], 8);
    }
}
END_TEST

START_TEST(zero_turns_failing_off)
{
    rd_mem_fail_nth(2);
    rd_mem_fail_nth(0);
    ck_assert_uint_eq(rd_mem_calls(), 0);
    for (unsigned i = 0; i < 10; i++) {
        void *p = rd_mem_alloc(1);
        ck_assert_ptr_nonnull(p);
        rd_mem_free(p);
    }
    ck_assert_uint_eq(rd_mem_calls(), 10);
}
END_TEST

#define CALLS 1000

static void *failures_count(void *arg)
{
    uintptr_t failures = 0;
    (void)arg;
    for (int i = 0; i < CALLS; i++) {
        void *p = rd_mem_alloc(1);
        failures += p == NULL;
        rd_mem_free(p);
    }
    return (void *)failures;
}

START_TEST(threads_share_one_failure)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    uintptr_t failures = 0;
    rd_mem_fail_nth(THREADS * CALLS / 2);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, failures_count, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        ck_assert_int_eq(pthread_join(threads[i], &result), 0);
        failures += (uintptr_t)result;
    }
    ck_assert_uint_eq(failures, 1);
    ck_assert_uint_eq(rd_mem_calls(), THREADS * CALLS);
}
END_TEST

static void off(void)
{
    rd_mem_fail_nth(0);
}

int main(void)
{
    Suite *suite = suite_create("mem");
    TCase *tc = tcase_create("mem");
    tcase_add_checked_fixture(tc, off, off);
    tcase_add_test(tc, alloc_is_zeroed);
    tcase_add_test(tc, size_zero_is_no_failure);
    tcase_add_test(tc, strdup_copies);
    tcase_add_test(tc, pages);
    tcase_add_test(tc, the_nth_call_fails_once);
    tcase_add_test(tc, zero_turns_failing_off);
    tcase_add_test(tc, threads_share_one_failure);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
