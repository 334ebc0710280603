/* SPDX-License-Identifier: MIT */
/* The event loop: posts from other threads, descriptors, timers, and what is
 * known of the growth of libev's descriptor array. */
#include "net/loop.h"

#include <check.h>
#include <ev.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <restd/error.h>

#include "base/clock.h"
#include "support/suite.h"

static struct restd_loop *loop;

static void set_up(void)
{
    ck_assert_int_eq(rd_loop_new(&loop), 0);
}

static void tear_down(void)
{
    rd_loop_free(loop);
}

/* --- posts ---------------------------------------------------------------- */

#define THREADS 4
#define POSTS 20000

struct numbered {
    struct rd_post post;
    int thread, number;
};

static struct sender {
    pthread_t thread;
    struct numbered posts[POSTS];
    int next; /* expected; the loop's */
    int wrong;
} senders[THREADS];
static int arrived;

static void numbered_run(struct rd_post *post)
{
    struct numbered *n = RD_CONTAINER_OF(post, struct numbered, post);
    struct sender *s = &senders[n->thread];
    s->wrong += n->number != s->next;
    s->next = n->number + 1;
    if (++arrived == THREADS * POSTS) {
        rd_loop_break(loop);
    }
}

static void *send_all(void *arg)
{
    struct sender *s = arg;
    for (int i = 0; i < POSTS; i++) {
        rd_loop_post(loop, &s->posts[i].post);
    }
    return NULL;
}

START_TEST(posts_keep_each_threads_order)
{
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < POSTS; i++) {
            struct numbered *n = &senders[t].posts[i];
            rd_post_init(&n->post, numbered_run);
            n->thread = t;
            n->number = i;
        }
    }
    ck_assert_int_eq(rd_loop_reserve_fds(loop, 10), 0);
    for (int t = 0; t < THREADS; t++) {
        ck_assert_int_eq(
            pthread_create(&senders[t].thread, NULL, send_all, &senders[t]), 0);
    }
    rd_loop_run(loop);
    for (int t = 0; t < THREADS; t++) {
        ck_assert_int_eq(pthread_join(senders[t].thread, NULL), 0);
        ck_assert_int_eq(senders[t].wrong, 0);
        ck_assert_int_eq(senders[t].next, POSTS);
    }
}
END_TEST

static struct rd_post counted, last;
static int counted_n;

static void count_run(struct rd_post *post)
{
    counted_n++;
    if (counted_n == 1) {
        /* Within its own run it is not queued any more. */
        rd_loop_post(loop, post);
        rd_loop_post(loop, &last);
    }
}

static void last_run(struct rd_post *post)
{
    (void)post;
    rd_loop_break(loop);
}

START_TEST(a_post_queued_twice_runs_once)
{
    counted_n = 0;
    rd_post_init(&counted, count_run);
    rd_post_init(&last, last_run);
    ck_assert_int_eq(rd_loop_reserve_fds(loop, 10), 0);
    for (int i = 0; i < 5; i++) {
        rd_loop_post(loop, &counted);
    }
    rd_loop_run(loop);
    ck_assert_int_eq(counted_n, 2);
}
END_TEST

START_TEST(a_post_before_the_first_run_is_kept)
{
    rd_post_init(&last, last_run);
    rd_loop_post(loop, &last);
    rd_loop_run(loop);
}
END_TEST

#define LOOKS 50000
static atomic_int said, looked;

static void look_run(struct rd_post *post)
{
    (void)post;
    atomic_store(&looked, atomic_load(&said));
    if (atomic_load(&looked) == LOOKS) {
        rd_loop_break(loop);
    }
}

static void *say_look(void *arg)
{
    for (int i = 1; i <= LOOKS; i++) {
        atomic_store(&said, i);
        rd_loop_post(loop, arg);
    }
    return NULL;
}

START_TEST(a_post_says_look_and_none_is_lost)
{
    /* If one were lost the last number would never be seen. */
    pthread_t thread;
    rd_post_init(&counted, look_run);
    ck_assert_int_eq(rd_loop_reserve_fds(loop, 10), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, say_look, &counted), 0);
    rd_loop_run(loop);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(atomic_load(&looked), LOOKS);
}
END_TEST

static int was_current;

static void current_run(struct rd_post *post)
{
    (void)post;
    was_current = rd_loop_is_current(loop);
    rd_loop_break(loop);
}

static void *run_loop(void *arg)
{
    rd_loop_run(arg);
    return NULL;
}

START_TEST(only_the_running_thread_is_current)
{
    pthread_t thread;
    rd_post_init(&counted, current_run);
    ck_assert(rd_loop_is_current(loop));
    ck_assert_int_eq(rd_loop_reserve_fds(loop, 10), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_loop, loop), 0);
    while (rd_loop_is_current(loop)) {
        sched_yield();
    }
    rd_loop_post(loop, &counted);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(was_current, 1);
    ck_assert(rd_loop_is_current(loop));
}
END_TEST

/* --- descriptors and timers ------------------------------------------------ */

static struct rd_timer timer;
static struct {
    int calls, events;
} seen;

static void io_seen(struct rd_io *io, int events)
{
    (void)io;
    seen.calls++;
    seen.events = events;
    rd_loop_break(loop);
}

static void timer_breaks(struct rd_timer *t)
{
    (void)t;
    rd_loop_break(loop);
}

/* What is reported for `io` before 30 ms are over. */
static int events_of(struct rd_io *io, int watch)
{
    seen.calls = 0;
    seen.events = 0;
    rd_io_watch(loop, io, watch);
    rd_timer_init(&timer, timer_breaks);
    rd_timer_start(loop, &timer, 30, 0);
    rd_loop_run(loop);
    rd_timer_stop(loop, &timer);
    return seen.events;
}

START_TEST(watching_can_change)
{
    int fds[2];
    struct rd_io io;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds),
                     0);
    rd_io_init(&io, fds[0], io_seen);
    ck_assert_int_eq(rd_io_fd(&io), fds[0]);
    ck_assert_int_eq(events_of(&io, 0), 0);
    ck_assert_int_eq(events_of(&io, RD_READ), 0);
    ck_assert_int_eq(events_of(&io, RD_READ | RD_WRITE), RD_WRITE);
    ck_assert_int_eq(write(fds[1], "x", 1), 1);
    ck_assert_int_eq(events_of(&io, RD_READ | RD_WRITE), RD_READ | RD_WRITE);
    ck_assert_int_eq(events_of(&io, RD_READ), RD_READ);
    ck_assert_int_eq(events_of(&io, RD_READ), RD_READ);
    ck_assert_int_eq(events_of(&io, 0), 0);
    ck_assert_int_eq(events_of(&io, RD_WRITE), RD_WRITE);
    ck_assert_int_eq(events_of(&io, 0), 0);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

START_TEST(a_number_used_again_is_watched_anew)
{
    /* As for each connection: stop, close, accept gives the same number. */
    for (int i = 0; i < 20; i++) {
        int fds[2];
        struct rd_io io;
        ck_assert_int_eq(
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
        rd_io_init(&io, fds[0], io_seen);
        ck_assert_int_eq(events_of(&io, RD_READ), 0);
        ck_assert_int_eq(write(fds[1], "x", 1), 1);
        ck_assert_int_eq(events_of(&io, RD_READ), RD_READ);
        rd_io_watch(loop, &io, 0);
        close(fds[0]);
        close(fds[1]);
    }
}
END_TEST

static int ticks;

static void timer_ticks(struct rd_timer *t)
{
    if (++ticks == 4) {
        rd_timer_stop(loop, t);
        rd_loop_break(loop);
    }
}

START_TEST(timers_repeat_until_stopped)
{
    ticks = 0;
    rd_timer_init(&timer, timer_ticks);
    ck_assert(!rd_timer_is_active(&timer));
    rd_timer_start(loop, &timer, 20, 10);
    ck_assert(rd_timer_is_active(&timer));
    rd_loop_run(loop);
    ck_assert_int_eq(ticks, 4);
    ck_assert(!rd_timer_is_active(&timer));
}
END_TEST

START_TEST(a_started_timer_can_be_started_again)
{
    struct rd_timer far;
    rd_timer_init(&far, timer_breaks);
    rd_timer_start(loop, &far, 3600000, 0);
    rd_timer_start(loop, &far, 5, 0);
    rd_loop_run(loop);
    ck_assert(!rd_timer_is_active(&far));
    rd_timer_stop(loop, &far);
}
END_TEST

static void public_tick(struct restd_timer *t, void *data)
{
    struct restd_timer **own = data;
    ck_assert_ptr_eq(t, *own);
    if (++ticks == 2) {
        restd_timer_free(t);
        *own = NULL;
        rd_loop_break(loop);
    }
}

START_TEST(public_timers)
{
    struct restd_timer *own = NULL;
    ticks = 0;
    ck_assert_int_eq(restd_timer_new(loop, 1, 1, public_tick, &own, &own), 0);
    rd_loop_run(loop);
    ck_assert_int_eq(ticks, 2);
    ck_assert_ptr_null(own);
    restd_timer_free(NULL);
}
END_TEST

static void public_break(struct restd_timer *t, void *data)
{
    (void)t;
    (void)data;
    rd_loop_break(loop);
}

START_TEST(public_timers_count_from_their_making)
{
    /* Not from when the loop looked at the clock last. */
    struct restd_timer *own = NULL;
    uint64_t start = rd_clock_ns();
    while (rd_clock_ns() - start < 60 * 1000000u) {
        sched_yield();
    }
    start = rd_clock_ns();
    ck_assert_int_eq(restd_timer_new(loop, 40, 0, public_break, NULL, &own), 0);
    rd_loop_run(loop);
    ck_assert_uint_ge(rd_clock_ns() - start, 39 * 1000000u);
    restd_timer_free(own);
}
END_TEST

static struct {
    int before, after, in_callback;
} hooks_seen;

static void before_poll(void *data)
{
    (void)data;
    hooks_seen.before++;
}

static void after_poll(void *data)
{
    (void)data;
    hooks_seen.after++;
}

static void io_after_hook(struct rd_io *io, int events)
{
    (void)io;
    (void)events;
    /* The turn's clock is read before any watcher uses it. */
    hooks_seen.in_callback = hooks_seen.after;
    rd_loop_break(loop);
}

START_TEST(hooks_run_around_each_poll)
{
    struct rd_loop_hooks hooks = {before_poll, after_poll, NULL};
    struct rd_io io;
    int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    memset(&hooks_seen, 0, sizeof(hooks_seen));
    rd_loop_set_hooks(loop, &hooks);
    rd_io_init(&io, fd, io_after_hook);
    rd_io_watch(loop, &io, RD_READ);
    rd_loop_run(loop);
    ck_assert_int_eq(hooks_seen.before, 1);
    ck_assert_int_eq(hooks_seen.in_callback, 1);
    close(fd);
}
END_TEST

/* --- libev's descriptor array ---------------------------------------------- */

/* Allocations of at least `ev_least` bytes. Small ones may come at any time:
 * how many events wait together is up to the scheduler. */
static unsigned ev_allocations;
static size_t ev_least, ev_largest;

static void *counting_realloc(void *ptr, long size)
{
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    ev_allocations += (size_t)size >= ev_least;
    if ((size_t)size > ev_largest) {
        ev_largest = (size_t)size;
    }
    return realloc(ptr, (size_t)size);
}

static void watch_number(int fd)
{
    struct rd_io io;
    int event = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
    ck_assert_int_ge(event, 0);
    ck_assert_int_eq(dup3(event, fd, O_CLOEXEC), fd);
    close(event);
    rd_io_init(&io, fd, io_seen);
    ck_assert_int_eq(events_of(&io, RD_READ), RD_READ);
    rd_io_watch(loop, &io, 0);
    close(fd);
}

static const uint32_t fd_maxima[] = {31,   63,   64,    253,   254,  255,
                                     500,  765,  766,   1023,  1024, 4000,
                                     4349, 4350, 10000, 16444, 19000};
#define FD_MAXIMA_N (int)(sizeof(fd_maxima) / sizeof(fd_maxima[0]))

START_TEST(the_reserved_array_is_large_enough)
{
    uint32_t fd_max = fd_maxima[_i];
    uint32_t entries = rd_loop_fd_entries(fd_max);
    struct rlimit limit;

    ck_assert_uint_gt(entries, fd_max);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max <= entries) {
        return; /* this host does not allow such numbers */
    }
    limit.rlim_cur = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ev_set_allocator(counting_realloc);
    rd_loop_free(loop);
    ck_assert_int_eq(rd_loop_new(&loop), 0);
    ev_largest = 0;
    ck_assert_int_eq(rd_loop_reserve_fds(loop, fd_max), 0);
    /* What the ledger is charged is what libev has asked for. */
    ck_assert_uint_ge(ev_largest, entries * RD_LOOP_FD_ENTRY_BYTES);
    ck_assert_uint_le(ev_largest, entries * RD_LOOP_FD_ENTRY_BYTES + 64);
    ev_least = ev_largest;
    ev_allocations = 0;
    watch_number((int)fd_max);
    watch_number((int)entries - 1);
    ck_assert_msg(ev_allocations == 0, "fd_max %u", fd_max);
    /* The rule is exact: the next number does allocate. */
    watch_number((int)entries);
    ck_assert_msg(ev_allocations == 1, "fd_max %u, entries %u, %u times",
                  fd_max, entries, ev_allocations);
}
END_TEST

START_TEST(reserving_works_at_every_limit)
{
    static const uint32_t limits[] = {64,    100,   255,   256,   600,   767,
                                      1024,  1300,  2000,  4096,  4500,  5000,
                                      8600,  9000,  10000, 16700, 17000, 19000,
                                      33100, 35000, 66000, 70000};
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limits[_i];
    if (limit.rlim_max < limits[_i]) {
        limit.rlim_max = limits[_i];
    }
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return; /* not root */
    }
    /* The highest number that the limit allows. */
    ck_assert_msg(rd_loop_reserve_fds(loop, limits[_i] - 1) == 0, "%u",
                  limits[_i]);
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, posts_keep_each_threads_order);
    tcase_add_test(tc, a_post_queued_twice_runs_once);
    tcase_add_test(tc, a_post_before_the_first_run_is_kept);
    tcase_add_test(tc, a_post_says_look_and_none_is_lost);
    tcase_add_test(tc, only_the_running_thread_is_current);
    tcase_add_test(tc, watching_can_change);
    tcase_add_test(tc, a_number_used_again_is_watched_anew);
    tcase_add_test(tc, timers_repeat_until_stopped);
    tcase_add_test(tc, a_started_timer_can_be_started_again);
    tcase_add_test(tc, public_timers);
    tcase_add_test(tc, public_timers_count_from_their_making);
    tcase_add_test(tc, hooks_run_around_each_poll);
    tcase_add_loop_test(tc, the_reserved_array_is_large_enough, 0, FD_MAXIMA_N);
    tcase_add_loop_test(tc, reserving_works_at_every_limit, 0, 22);
}

int main(void)
{
    Suite *suite = suite_create("loop");
    TCase *tc = tcase_create("loop");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    add_tests(tc);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
