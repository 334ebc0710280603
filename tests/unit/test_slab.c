/* SPDX-License-Identifier: MIT */
/* Slabs against a model: objects never overlap, pages go back, and the charge
 * is that of the pages held. */
#include "base/slab.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "support/suite.h"

#define LIMIT (8u * 1024 * 1024)
#define PAGE 4096u
#define OBJECTS 1000

static struct rd_budget budget;
static struct rd_ledger ledger;
static struct rd_slab slab;

static uint64_t charged(void)
{
    return atomic_load(&ledger.live[RD_MEM_CONNECTIONS]);
}

static void set_up(void)
{
    rd_mem_fail_nth(0);
    rd_budget_init(&budget, LIMIT, 1);
    rd_ledger_init(&ledger, &budget);
}

/* Pages that the objects in `held` lie on. */
static unsigned pages_of(unsigned char *const *held, size_t n)
{
    static uintptr_t pages[OBJECTS];
    unsigned pages_n = 0;
    for (size_t i = 0; i < n; i++) {
        uintptr_t page = (uintptr_t)held[i] & ~(uintptr_t)(PAGE - 1);
        unsigned k = 0;
        while (held[i] != NULL && k < pages_n && pages[k] != page) {
            k++;
        }
        if (held[i] != NULL && k == pages_n) {
            pages[pages_n++] = page;
        }
    }
    return pages_n;
}

static void check_object(const unsigned char *object, size_t size,
                         unsigned char mark)
{
    size_t i = 0;
    while (i < size && object[i] == mark) {
        i++;
    }
    ck_assert_uint_eq(i, size);
}

static void against_model(size_t size, size_t extra, int rounds)
{
    static unsigned char *held[OBJECTS];
    unsigned seed = (unsigned)size;
    size_t page_bytes;

    memset(held, 0, sizeof(held));
    rd_slab_init(&slab, &ledger, RD_MEM_CONNECTIONS, size, extra);
    page_bytes = PAGE + slab.per_page * extra;
    unsigned used = 0;
    for (int i = 0; i < rounds; i++) {
        /* Grow for a while, then shrink, so that pages fill and empty. */
        unsigned at = (unsigned)rand_r(&seed) % OBJECTS;
        int grow = i / 3000 % 2 == 0;
        unsigned char mark = (unsigned char)at;
        if (held[at] == NULL && (grow || rand_r(&seed) % 8 == 0)) {
            held[at] = rd_slab_take(&slab);
            ck_assert_ptr_nonnull(held[at]);
            ck_assert_uint_eq((uintptr_t)held[at] % 8, 0);
            memset(held[at], mark, size);
            used++;
        } else if (held[at] != NULL && (!grow || rand_r(&seed) % 8 == 0)) {
            check_object(held[at], size, mark);
            rd_slab_give(&slab, held[at]);
            held[at] = NULL;
            used--;
        } else if (rand_r(&seed) % 64 == 0) {
            unsigned keep = (unsigned)rand_r(&seed) % 4;
            rd_slab_trim(&slab, keep);
            ck_assert_uint_le(slab.empty_n, keep);
        }
        ck_assert_uint_eq(slab.used_n, used);
        if (i % 16 == 0) {
            unsigned pages = pages_of(held, OBJECTS) + slab.empty_n;
            ck_assert_uint_eq(charged(), pages * page_bytes);
        }
    }
    for (unsigned i = 0; i < OBJECTS; i++) {
        if (held[i] != NULL) {
            check_object(held[i], size, (unsigned char)i);
            rd_slab_give(&slab, held[i]);
        }
    }
    ck_assert_uint_eq(charged(), slab.empty_n * page_bytes);
    rd_slab_fini(&slab);
    ck_assert_uint_eq(charged(), 0);
    ck_assert_uint_eq(ledger.used, 0);
}

START_TEST(random_order_against_a_model)
{
    static const struct {
        size_t size, extra;
    } cases[] = {{8, 0},    {13, 0},   {184, 32}, {400, 1},
                 {1344, 0}, {2016, 8}, {2017, 0}, {4032, 0}};
    against_model(cases[_i].size, cases[_i].extra, 24000);
}
END_TEST

START_TEST(objects_per_page)
{
    static const struct {
        size_t size;
        unsigned per_page;
    } cases[] = {{8, 504},  {1, 504},  {9, 252}, {1344, 3},
                 {2016, 2}, {2017, 1}, {4032, 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rd_slab_init(&slab, &ledger, RD_MEM_POOL, cases[i].size, 0);
        ck_assert_uint_eq(slab.per_page, cases[i].per_page);
        rd_slab_fini(&slab);
    }
}
END_TEST

START_TEST(partial_pages_are_filled_before_empty_ones)
{
    void *objects[6];
    rd_slab_init(&slab, &ledger, RD_MEM_CONNECTIONS, 1344, 0);
    for (int i = 0; i < 6; i++) {
        objects[i] = rd_slab_take(&slab);
    }
    /* The first page is empty, the second has one object left. */
    for (int i = 0; i < 5; i++) {
        rd_slab_give(&slab, objects[i]);
    }
    ck_assert_uint_eq(slab.empty_n, 1);
    for (int i = 0; i < 2; i++) {
        objects[i] = rd_slab_take(&slab);
        ck_assert_uint_eq((uintptr_t)objects[i] / PAGE,
                          (uintptr_t)objects[5] / PAGE);
    }
    ck_assert_uint_eq(slab.empty_n, 1);
    rd_slab_give(&slab, objects[0]);
    rd_slab_give(&slab, objects[1]);
    rd_slab_give(&slab, objects[5]);
    ck_assert_uint_eq(slab.empty_n, 2);
    rd_slab_fini(&slab);
}
END_TEST

START_TEST(no_budget_no_page)
{
    rd_budget_init(&budget, 3 * PAGE, 1);
    rd_ledger_init(&ledger, &budget);
    rd_slab_init(&slab, &ledger, RD_MEM_CONNECTIONS, 4032, 0);
    void *objects[3];
    for (int i = 0; i < 3; i++) {
        objects[i] = rd_slab_take(&slab);
        ck_assert_ptr_nonnull(objects[i]);
    }
    ck_assert_ptr_null(rd_slab_take(&slab));
    ck_assert_uint_eq(charged(), 3 * PAGE);
    rd_slab_give(&slab, objects[1]);
    objects[1] = rd_slab_take(&slab);
    ck_assert_ptr_nonnull(objects[1]);
    for (int i = 0; i < 3; i++) {
        rd_slab_give(&slab, objects[i]);
    }
    rd_slab_fini(&slab);
    ck_assert_uint_eq(ledger.used, 0);
}
END_TEST

START_TEST(no_page_no_charge)
{
    rd_slab_init(&slab, &ledger, RD_MEM_CONNECTIONS, 100, 8);
    rd_mem_fail_nth(1);
    ck_assert_ptr_null(rd_slab_take(&slab));
    ck_assert_uint_eq(ledger.used, 0);
    void *object = rd_slab_take(&slab);
    ck_assert_ptr_nonnull(object);
    rd_slab_give(&slab, object);
    rd_slab_fini(&slab);
    ck_assert_uint_eq(ledger.used, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("slab");
    TCase *tc = tcase_create("slab");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_loop_test(tc, random_order_against_a_model, 0, 8);
    tcase_add_test(tc, objects_per_page);
    tcase_add_test(tc, partial_pages_are_filled_before_empty_ones);
    tcase_add_test(tc, no_budget_no_page);
    tcase_add_test(tc, no_page_no_charge);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
