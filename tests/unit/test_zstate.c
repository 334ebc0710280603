/* SPDX-License-Identifier: MIT */
/* The loop's pool of compressor states: what it lends, keeps, charges and
 * gives back. */
#include "plugins/zstate.h"

#include <check.h>
#include <string.h>

#include "base/mem.h"
#include "support/gunzip.h"
#include "support/suite.h"

#define LIMIT (1024u * 1024)

static struct rd_budget budget;
static struct rd_reactor reactor;
static struct rd_h1 h1;
static struct restd_options options;
static size_t size;

static void set_up(void)
{
    rd_mem_fail_nth(0);
    restd_options_init(&options);
    memset(&h1, 0, sizeof(h1));
    rd_budget_init(&budget, LIMIT, 1);
    rd_ledger_init(&reactor.ledger, &budget);
    h1.reactor = &reactor;
    h1.options = &options;
    size = rd_zstate_size();
}

static uint64_t live(void)
{
    return atomic_load(&reactor.ledger.live[RD_MEM_COMPRESSION]);
}

static void tear_down(void)
{
    rd_h1_trim(&h1, 1);
    ck_assert_uint_eq(live(), 0);
    ck_assert_uint_eq(reactor.ledger.used, 0);
}

static struct rd_zstate *take(int level, int is_stream)
{
    return rd_zstate_take(&h1, size, level, is_stream);
}

static void check_works(struct rd_zstate *state, size_t most)
{
    char text[3000];
    char packed[4000];
    char out[4000];
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = (char)('a' + i * i / 7 % 23);
    }
    state->z.next_in = (const Bytef *)text;
    state->z.avail_in = sizeof(text);
    state->z.next_out = (Bytef *)packed;
    state->z.avail_out = sizeof(packed);
    ck_assert_int_eq(deflate(&state->z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_le(state->z.total_out, most);
    ck_assert_int_eq(gunzip(packed, state->z.total_out, out, sizeof(out)),
                     sizeof(text));
    ck_assert(memcmp(out, text, sizeof(text)) == 0);
}

START_TEST(a_state_is_small)
{
    ck_assert_uint_ge(size, 32u * 1024);
    ck_assert_uint_le(size, 64u * 1024);
    ck_assert_uint_eq(size, rd_page_round(size));
    struct rd_zstate *state = take(6, 0);
    ck_assert_ptr_nonnull(state);
    ck_assert_uint_eq(live(), size);
    /* All that zlib wants comes from the block. */
    ck_assert_uint_le(state->used, size);
    ck_assert_uint_gt(state->used, size - 4096);
    check_works(state, 2900);
    rd_zstate_give(state);
}
END_TEST

START_TEST(one_idle_state_is_used_again)
{
    struct rd_zstate *state = take(6, 0);
    check_works(state, 2900);
    rd_zstate_give(state);
    ck_assert_uint_eq(live(), size);
    rd_mem_fail_nth(1);
    for (int i = 0; i < 20; i++) {
        /* With and without something unfinished in it, and at any level. */
        ck_assert_ptr_eq(take(1 + i % 9, i % 2), state);
        if (i % 3) {
            check_works(state, 2950);
        } else {
            state->z.avail_in = 10;
            state->z.next_in = (const Bytef *)"0123456789";
            state->z.avail_out = 0;
            (void)deflate(&state->z, Z_NO_FLUSH);
        }
        rd_zstate_give(state);
    }
    ck_assert_uint_eq(rd_mem_calls(), 0);
    rd_mem_fail_nth(0);
    ck_assert_uint_eq(live(), size);
    rd_h1_trim(&h1, 0);
    ck_assert_uint_eq(live(), 0);
    rd_h1_trim(&h1, 0);
    state = take(6, 0);
    check_works(state, 2900);
    rd_zstate_give(state);
}
END_TEST

START_TEST(streams_have_a_limit)
{
    struct rd_zstate *streams[RD_ZSTREAMS_MAX];
    for (unsigned i = 0; i < RD_ZSTREAMS_MAX; i++) {
        streams[i] = take(6, 1);
        ck_assert_ptr_nonnull(streams[i]);
    }
    ck_assert_ptr_null(take(6, 1));
    /* Whole contents are no streams. */
    struct rd_zstate *state = take(6, 0);
    ck_assert_ptr_nonnull(state);
    ck_assert_uint_eq(live(), (RD_ZSTREAMS_MAX + 1) * size);
    rd_zstate_give(state);
    ck_assert_ptr_null(take(6, 1));
    rd_zstate_give(streams[0]);
    streams[0] = take(6, 1);
    ck_assert_ptr_nonnull(streams[0]);
    ck_assert_ptr_null(take(6, 1));
    for (unsigned i = 0; i < RD_ZSTREAMS_MAX; i++) {
        check_works(streams[i], 2900);
        rd_zstate_give(streams[i]);
    }
    ck_assert_uint_eq(live(), size);
}
END_TEST

START_TEST(no_state_when_memory_is_short)
{
    size_t other = LIMIT / 100 * 85;
    struct rd_zstate *state = take(6, 0);
    ck_assert_ptr_nonnull(state);
    ck_assert_int_eq(rd_ledger_charge(&reactor.ledger, RD_MEM_FIXED, other), 0);
    ck_assert_int_ge(rd_budget_level(&budget), RD_LEVEL_CLOSE);
    ck_assert_ptr_null(take(6, 1));
    /* It is the optional that is refused: accepting goes on. */
    ck_assert_int_lt(rd_budget_level(&budget), RD_LEVEL_FULL);
    check_works(state, 2900);
    rd_zstate_give(state);
    ck_assert_ptr_eq(take(6, 1), state);
    rd_zstate_give(state);
    rd_ledger_release(&reactor.ledger, RD_MEM_FIXED, other);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    rd_mem_fail_nth(1);
    ck_assert_uint_eq(rd_zstate_size(), 0);
    /* The pool, then the block. */
    for (unsigned n = 1; n <= 2; n++) {
        rd_mem_fail_nth(n);
        ck_assert_ptr_null(take(6, 1));
        ck_assert_uint_eq(live(), 0);
        rd_h1_trim(&h1, 1);
    }
    rd_mem_fail_nth(3);
    struct rd_zstate *state = take(6, 1);
    ck_assert_ptr_nonnull(state);
    ck_assert_uint_eq(rd_mem_calls(), 2);
    rd_mem_fail_nth(0);
    rd_zstate_give(state);
    /* A zlib that wants more than it did. */
    rd_h1_trim(&h1, 0);
    ck_assert_ptr_null(rd_zstate_take(&h1, size - 8192, 6, 1));
    ck_assert_uint_eq(live(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("zstate");
    TCase *tc = tcase_create("zstate");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_state_is_small);
    tcase_add_test(tc, one_idle_state_is_used_again);
    tcase_add_test(tc, streams_have_a_limit);
    tcase_add_test(tc, no_state_when_memory_is_short);
    tcase_add_test(tc, every_allocation_may_fail);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
