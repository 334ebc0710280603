/* SPDX-License-Identifier: MIT */
/* The log among threads: nothing is lost uncounted, each thread's lines keep
 * their order, each line wakes the writer, nobody waits. */
#include "base/log.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "support/suite.h"

#define STACK 262144
#define THREADS 4
#define LINES 20000
#define PATIENCE_S 20

/* What the sink has seen; the writer's until rd_log_stop(). */
static struct {
    unsigned lines;
    uint64_t dropped; /* as reported */
    unsigned reports;
    char last[2000];
    long next[THREADS + 1]; /* lowest number that may come, per thread */
    unsigned wrong;
    unsigned foreign; /* calls by another thread than the first one */
    pthread_t writer;
} seen;

static sem_t seen_line, gate;
static int gated;

static int report_take(const char *line)
{
    char *end;
    unsigned long long n = strtoull(line, &end, 10);
    if (end == line || strcmp(end, " log lines dropped") != 0) {
        return 0;
    }
    seen.dropped += n;
    seen.reports++;
    return 1;
}

static void sink(enum restd_log_level level, int64_t time_ms, const char *line,
                 void *data)
{
    (void)time_ms;
    (void)data;
    if (seen.lines + seen.reports == 0) {
        seen.writer = pthread_self();
    }
    seen.foreign += !pthread_equal(seen.writer, pthread_self());
    if (report_take(line)) {
        seen.wrong += level != RESTD_LOG_WARNING;
        return;
    }
    seen.lines++;
    snprintf(seen.last, sizeof(seen.last), "%s", line);

    static const char begin[] = "thread ", middle[] = " line ";
    if (strncmp(line, begin, strlen(begin)) == 0) {
        char *at;
        unsigned long thread = strtoul(line + strlen(begin), &at, 10);
        int ok = strncmp(at, middle, strlen(middle)) == 0;
        long number = ok ? strtol(at + strlen(middle), &at, 10) : -1;
        at += *at == ' ';
        size_t fill = strlen(at);
        ok = ok && thread <= THREADS && number >= seen.next[thread] &&
             fill == (size_t)(number % 300) && strspn(at, "x") == fill;
        seen.wrong += !ok;
        if (ok) {
            seen.next[thread] = number + 1;
        }
    }
    sem_post(&seen_line);
    if (gated) {
        sem_wait(&gate);
    }
}

static struct rd_log *log_new(unsigned rings, uint32_t bytes)
{
    struct rd_log *log = NULL;
    ck_assert_int_eq(
        rd_log_new(rings, bytes, RESTD_LOG_INFO, sink, &seen, &log), 0);
    return log;
}

static void line_wait(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    while (sem_timedwait(&seen_line, &until) != 0) {
        ck_assert_int_eq(errno, EINTR);
    }
}

static void setup(void)
{
    memset(&seen, 0, sizeof(seen));
    gated = 0;
    sem_init(&seen_line, 0, 0);
    sem_init(&gate, 0, 0);
}

static void teardown(void)
{
    sem_destroy(&seen_line);
    sem_destroy(&gate);
}

START_TEST(each_line_wakes_the_writer)
{
    struct rd_log *log = log_new(1, 4096);
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    rd_log_attach(log);
    for (int i = 0; i < 5000; i++) {
        rd_log(log, RESTD_LOG_INFO, "%d", i);
        line_wait();
    }
    ck_assert_uint_eq(rd_log_dropped(log), 0);
    rd_log_free(log);
    ck_assert_uint_eq(seen.lines, 5000);
    ck_assert_str_eq(seen.last, "4999");
}
END_TEST

static struct rd_log *shared;

static void thread_log(unsigned thread, int attach)
{
    char fill[300];
    memset(fill, 'x', sizeof(fill));
    if (attach) {
        rd_log_attach(shared);
    }
    for (long i = 0; i < LINES; i++) {
        rd_log(shared, RESTD_LOG_INFO, "thread %u line %ld %.*s", thread, i,
               (int)(i % 300), fill);
    }
}

static unsigned char attached[THREADS];

static void *producer(void *arg)
{
    const unsigned char *me = arg;
    unsigned index = (unsigned)(me - attached);
    thread_log(index, *me);
    return NULL;
}

/* `rings` threads find a ring, the others share one. */
static void threads_run(unsigned rings, uint32_t bytes)
{
    pthread_t threads[THREADS];
    shared = log_new(rings, bytes);
    ck_assert_int_eq(rd_log_start(shared, STACK), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        attached[i] = i != 0;
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, producer, &attached[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    rd_log_stop(shared);
    ck_assert_uint_eq(seen.wrong, 0);
    ck_assert_uint_eq(seen.foreign, 0);
    ck_assert_uint_eq(seen.dropped, rd_log_dropped(shared));
    ck_assert_uint_eq(seen.lines + seen.dropped, (uint64_t)THREADS * LINES);
    rd_log_free(shared);
}

START_TEST(threads_with_small_rings)
{
    threads_run(THREADS, 4096);
}
END_TEST

START_TEST(more_threads_than_rings)
{
    threads_run(1, 8192);
}
END_TEST

START_TEST(nothing_is_dropped_while_there_is_room)
{
    threads_run(THREADS, 8u << 20);
    ck_assert_uint_eq(seen.lines, THREADS * LINES);
    ck_assert_uint_eq(seen.reports, 0);
}
END_TEST

START_TEST(a_stuck_sink_holds_nobody_up)
{
    struct rd_log *log = log_new(1, 4096);
    gated = 1;
    rd_log_attach(log);
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    rd_log(log, RESTD_LOG_INFO, "%s", "the first");
    line_wait(); /* the writer is inside the sink */
    unsigned sent = 1;
    while (rd_log_dropped(log) < 7) {
        rd_log(log, RESTD_LOG_INFO, "line %u", sent++);
        ck_assert_uint_lt(sent, 4096);
    }
    /* "line 1" and its head have about 24 bytes. */
    ck_assert_uint_gt(sent, 4096 / 30);
    for (unsigned i = 0; i < sent; i++) {
        sem_post(&gate);
    }
    rd_log_free(log);
    ck_assert_uint_eq(seen.lines, sent - 7);
    ck_assert_uint_eq(seen.reports, 1);
    ck_assert_uint_eq(seen.dropped, 7);
    char last[32];
    snprintf(last, sizeof(last), "line %u", sent - 8);
    ck_assert_str_eq(seen.last, last);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log_threads");
    TCase *tc = tcase_create("log_threads");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, each_line_wakes_the_writer);
    tcase_add_test(tc, threads_with_small_rings);
    tcase_add_test(tc, more_threads_than_rings);
    tcase_add_test(tc, nothing_is_dropped_while_there_is_room);
    tcase_add_test(tc, a_stuck_sink_holds_nobody_up);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
