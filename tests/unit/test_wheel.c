/* SPDX-License-Identifier: MIT */
/* The timer wheel against a list of deadlines that is searched whole. */
#include "net/wheel.h"

#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "support/suite.h"

#define NODES 200

static struct rd_wheel wheel;

/* What should be: `set` with a deadline; `fired` in the last advance. */
static struct item {
    struct rd_wheel_node node;
    int set, fired;
    uint32_t deadline;
} items[NODES];

static unsigned seed;

static uint32_t below(uint32_t n)
{
    return (uint32_t)rand_r(&seed) % n;
}

static struct item *item_of(struct rd_wheel_node *node)
{
    return (struct item *)(void *)((char *)node - offsetof(struct item, node));
}

static void set_up(void)
{
    memset(items, 0, sizeof(items));
    seed = 7;
}

static void model_set(struct item *item, uint32_t deadline)
{
    rd_wheel_set(&wheel, &item->node, deadline);
    item->set = 1;
    /* The past is the next tick. */
    item->deadline =
        (int32_t)(deadline - wheel.now) < 1 ? wheel.now + 1 : deadline;
}

static void count_fired(struct rd_wheel_node *node, void *data)
{
    struct item *item = item_of(node);
    (void)data;
    ck_assert_ptr_null(node->link.prev);
    item->fired++;
}

/* Advances both and compares. */
static void advance(uint32_t now)
{
    unsigned left = 0;
    for (int i = 0; i < NODES; i++) {
        items[i].fired = 0;
    }
    rd_wheel_advance(&wheel, now, count_fired, NULL);
    ck_assert_uint_eq(wheel.now, now);
    for (int i = 0; i < NODES; i++) {
        struct item *item = &items[i];
        int due = item->set && (int32_t)(item->deadline - now) <= 0;
        ck_assert_msg(item->fired == due, "node %d, deadline %u, now %u: %d", i,
                      item->deadline, now, item->fired);
        item->set = item->set && !due;
        left += (unsigned)item->set;
    }
    ck_assert_uint_eq(wheel.n, left);
}

static uint32_t some_delay(void)
{
    switch (below(8)) {
    case 0:
        return 0;
    case 1:
        return (uint32_t)-5;
    case 2:
        return below(5 * RD_WHEEL_SLOTS);
    case 3:
        return RD_WHEEL_SLOTS + below(3) - 1;
    default:
        return below(300);
    }
}

static void random_walk(uint32_t start)
{
    uint32_t now = start;
    rd_wheel_init(&wheel, now);
    for (int round = 0; round < 20000; round++) {
        struct item *item = &items[below(NODES)];
        switch (below(6)) {
        case 0:
            rd_wheel_remove(&wheel, &item->node);
            item->set = 0;
            break;
        case 1:
            now += below(20) == 0 ? below(3 * RD_WHEEL_SLOTS) : below(40);
            advance(now);
            break;
        default:
            model_set(item, now + some_delay());
        }
    }
    advance(now + 6 * RD_WHEEL_SLOTS);
    ck_assert_uint_eq(wheel.n, 0);
}

START_TEST(random_walks)
{
    /* The last one passes the end of the tick's range. */
    static const uint32_t starts[] = {0, 1, 1000000, UINT32_MAX - 5000};
    seed = (unsigned)_i + 1;
    random_walk(starts[_i]);
}
END_TEST

START_TEST(a_later_deadline_is_only_stored)
{
    struct rd_wheel_node *node = &items[0].node;
    rd_wheel_init(&wheel, 100);
    model_set(&items[0], 110);
    ck_assert_uint_eq(node->armed, 110);
    for (uint32_t tick = 101; tick < 110; tick++) {
        model_set(&items[0], tick + 50);
        ck_assert_uint_eq(node->armed, 110);
        advance(tick);
    }
    advance(110); /* moved there, not fired */
    ck_assert_uint_eq(node->armed, 159);
    advance(158);
    advance(159);
    ck_assert(!items[0].set);
}
END_TEST

START_TEST(an_earlier_deadline_moves_the_node)
{
    rd_wheel_init(&wheel, 0);
    model_set(&items[0], 500);
    model_set(&items[0], 20);
    ck_assert_uint_eq(items[0].node.armed, 20);
    advance(19);
    advance(20);
    ck_assert(!items[0].set);
}
END_TEST

START_TEST(remove_is_idempotent)
{
    rd_wheel_init(&wheel, 0);
    rd_wheel_remove(&wheel, &items[0].node);
    rd_wheel_set(&wheel, &items[0].node, 5);
    rd_wheel_remove(&wheel, &items[0].node);
    rd_wheel_remove(&wheel, &items[0].node);
    ck_assert_uint_eq(wheel.n, 0);
}
END_TEST

/* Sets itself again, and takes its neighbour away. */
static void set_again(struct rd_wheel_node *node, void *data)
{
    int *calls = data;
    struct item *item = item_of(node);
    ++*calls;
    rd_wheel_set(&wheel, node, wheel.now + 10);
    rd_wheel_remove(&wheel, &item[1].node);
}

START_TEST(callbacks_may_set_and_remove)
{
    int calls = 0;
    rd_wheel_init(&wheel, 0);
    for (int i = 0; i < 10; i++) {
        rd_wheel_set(&wheel, &items[i].node, 5);
    }
    rd_wheel_advance(&wheel, 9, set_again, &calls);
    /* In the order of setting, so that every second one is taken away before
     * its turn. */
    ck_assert_int_eq(calls, 5);
    ck_assert_uint_eq(wheel.n, 5);
    for (int i = 0; i < 10; i += 2) {
        ck_assert_uint_eq(items[i].node.deadline, 15);
    }
    rd_wheel_advance(&wheel, 14, set_again, &calls);
    ck_assert_int_eq(calls, 5);
    rd_wheel_advance(&wheel, 15, set_again, &calls);
    ck_assert_int_eq(calls, 10);
}
END_TEST

static int pick_none(struct rd_wheel_node *node, void *data)
{
    struct item *item = item_of(node);
    uint32_t *last = data;
    ck_assert_int_eq(item->fired, 0);
    item->fired = 1;
    ck_assert_msg((int32_t)(item->deadline - *last) >= 0, "%u after %u",
                  item->deadline, *last);
    *last = item->deadline;
    return 0;
}

START_TEST(pick_offers_the_soonest_first)
{
    uint32_t now = UINT32_MAX - 700;
    rd_wheel_init(&wheel, now);
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 60; i++) {
            /* Within one lap, as the reactor's idle connections are. */
            model_set(&items[below(NODES)], now + 1 + below(RD_WHEEL_SLOTS));
        }
        uint32_t last = now;
        for (int i = 0; i < NODES; i++) {
            items[i].fired = 0;
        }
        ck_assert_ptr_null(rd_wheel_pick(&wheel, pick_none, &last));
        for (int i = 0; i < NODES; i++) {
            ck_assert_int_eq(items[i].fired, items[i].set);
        }
        now += below(60);
        advance(now);
    }
}
END_TEST

static int pick_this(struct rd_wheel_node *node, void *data)
{
    return node == data;
}

START_TEST(pick_returns_the_one_taken)
{
    rd_wheel_init(&wheel, 0);
    for (int i = 0; i < 20; i++) {
        rd_wheel_set(&wheel, &items[i].node, 10 + (uint32_t)i);
    }
    struct rd_wheel_node *node = &items[7].node;
    ck_assert_ptr_eq(rd_wheel_pick(&wheel, pick_this, node), node);
    ck_assert_ptr_nonnull(node->link.prev);
    ck_assert_uint_eq(wheel.n, 20);
    rd_wheel_remove(&wheel, node);
    ck_assert_ptr_null(rd_wheel_pick(&wheel, pick_this, node));
}
END_TEST

static int pick_next(struct rd_wheel_node *node, void *data)
{
    int *next = data;
    ck_assert_ptr_eq(node, &items[*next].node);
    ++*next;
    return 0;
}

START_TEST(equal_deadlines_keep_the_order_of_setting)
{
    int next = 0;
    rd_wheel_init(&wheel, 0);
    for (int i = 0; i < 20; i++) {
        rd_wheel_set(&wheel, &items[i].node, 10);
    }
    ck_assert_ptr_null(rd_wheel_pick(&wheel, pick_next, &next));
    ck_assert_int_eq(next, 20);
}
END_TEST

START_TEST(pick_finds_what_is_laps_away)
{
    /* Armed soon, moved back since by more than a lap: the move must not put
     * it where this search has been already. */
    static const uint32_t deadlines[] = {1025, 1030, 2047, 2049, 5000};
    rd_wheel_init(&wheel, 0);
    rd_wheel_set(&wheel, &items[0].node, 20);
    rd_wheel_set(&wheel, &items[0].node, deadlines[_i]);
    ck_assert_ptr_eq(rd_wheel_pick(&wheel, pick_this, &items[0].node),
                     &items[0].node);
}
END_TEST

static void count_and_remove(struct rd_wheel_node *node, void *data)
{
    (void)data;
    item_of(node)->fired++;
    if (below(2)) {
        rd_wheel_remove(&wheel, node);
        item_of(node)->set = 0;
    }
}

START_TEST(each_calls_every_node)
{
    rd_wheel_init(&wheel, 0);
    for (int i = 0; i < NODES; i++) {
        if (below(4) > 0) {
            model_set(&items[i], 1 + below(4000));
        }
    }
    unsigned n = wheel.n;
    rd_wheel_each(&wheel, count_and_remove, NULL);
    unsigned called = 0;
    for (int i = 0; i < NODES; i++) {
        ck_assert_int_le(items[i].fired, 1);
        called += (unsigned)items[i].fired;
    }
    ck_assert_uint_eq(called, n);
    ck_assert_uint_lt(wheel.n, n);
    advance(4000);
    ck_assert_uint_eq(wheel.n, 0);
}
END_TEST

START_TEST(ticks_are_never_too_short)
{
    /* One more than the time has, as the current tick is partly over. */
    ck_assert_uint_eq(rd_ticks(0), 1);
    ck_assert_uint_eq(rd_ticks(1), 2);
    ck_assert_uint_eq(rd_ticks(100), 2);
    ck_assert_uint_eq(rd_ticks(101), 3);
    ck_assert_uint_eq(rd_ticks(75000), 751);
    ck_assert_uint_eq(rd_ticks(86400000), 864001);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wheel");
    TCase *tc = tcase_create("wheel");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_loop_test(tc, random_walks, 0, 4);
    tcase_add_test(tc, a_later_deadline_is_only_stored);
    tcase_add_test(tc, an_earlier_deadline_moves_the_node);
    tcase_add_test(tc, remove_is_idempotent);
    tcase_add_test(tc, callbacks_may_set_and_remove);
    tcase_add_test(tc, pick_offers_the_soonest_first);
    tcase_add_test(tc, pick_returns_the_one_taken);
    tcase_add_test(tc, equal_deadlines_keep_the_order_of_setting);
    tcase_add_loop_test(tc, pick_finds_what_is_laps_away, 0, 5);
    tcase_add_test(tc, each_calls_every_node);
    tcase_add_test(tc, ticks_are_never_too_short);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
