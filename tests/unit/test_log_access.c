/* SPDX-License-Identifier: MIT */
/* Lines of the access log in the log: they come as they are and in their order,
 * leave room to messages, wake nobody while they are many, and are flushed. */
#include "base/log.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log_ring.h"
#include "support/suite.h"

#define STACK 262144
#define PATIENCE_S 20

/* What the sink has seen; the writer's until rd_log_stop(), or until it posts.
 */
static struct {
    unsigned messages, access, flushes, since_flush, wrong;
    long next;
    char last_access[RD_LOG_TEXT_MAX + 1];
    char last_message[RD_LOG_TEXT_MAX + 1];
    int64_t last_ms;
} seen;
static sem_t seen_message, seen_flush, gate;
static int gated;

static void sink(enum restd_log_level level, int64_t time_ms, const char *line,
                 void *data)
{
    (void)data;
    seen.since_flush++;
    if (level == RESTD_LOG_ACCESS) {
        char *end;
        long number = strtol(line, &end, 10);
        seen.wrong += end != line && number < seen.next;
        seen.next = end != line ? number + 1 : seen.next;
        seen.access++;
        seen.last_ms = time_ms;
        snprintf(seen.last_access, sizeof(seen.last_access), "%s", line);
        return;
    }
    seen.messages++;
    snprintf(seen.last_message, sizeof(seen.last_message), "%s", line);
    sem_post(&seen_message);
    if (gated) {
        sem_wait(&gate);
    }
}

static void flush(void *data)
{
    (void)data;
    seen.flushes++;
    seen.since_flush = 0;
    sem_post(&seen_flush);
}

static struct rd_log *log_new(uint32_t bytes)
{
    struct rd_log *log = NULL;

    ck_assert_int_eq(rd_log_new(1, bytes, RESTD_LOG_INFO, sink, NULL, &log), 0);
    rd_log_set_flush(log, flush);
    rd_log_attach(log);
    return log;
}

static void setup(void)
{
    memset(&seen, 0, sizeof(seen));
    gated = 0;
    sem_init(&seen_message, 0, 0);
    sem_init(&seen_flush, 0, 0);
    sem_init(&gate, 0, 0);
}

static void semaphore_take(sem_t *sem)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    while (sem_timedwait(sem, &until) != 0) {
        ck_assert_int_eq(errno, EINTR);
    }
}

static void access_put(struct rd_log *log, const char *line)
{
    rd_log_access(log, 42, line, (uint32_t)strlen(line));
}

START_TEST(lines_come_as_they_are)
{
    struct rd_log *log = log_new(4096);
    char longest[RD_LOG_TEXT_MAX + 1];

    access_put(log, "\xff\t\x1b");
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    rd_log_stop(log);
    ck_assert_str_eq(seen.last_access, "\xff\t\x1b");
    ck_assert_int_eq(seen.last_ms, 42);
    memset(longest, 'x', RD_LOG_TEXT_MAX);
    longest[RD_LOG_TEXT_MAX] = '\0';
    access_put(log, longest);
    access_put(log, "");
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    rd_log_free(log);
    ck_assert_uint_eq(seen.access, 3);
    ck_assert_str_eq(seen.last_access, "");
    ck_assert_uint_eq(seen.since_flush, 0);
}
END_TEST

START_TEST(without_a_sink)
{
    struct rd_log *log = NULL;

    ck_assert_int_eq(rd_log_new(1, 4096, RESTD_LOG_INFO, NULL, NULL, &log), 0);
    access_put(log, "x");
    rd_log_flush(log);
    ck_assert_uint_eq(rd_log_access_dropped(log), 0);
    rd_log_free(log);
    access_put(NULL, "x");
    rd_log_flush(NULL);
}
END_TEST

START_TEST(a_level_holds_back_messages_only)
{
    struct rd_log *log = log_new(4096);

    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    rd_log_set_level(log, RESTD_LOG_ERROR);
    access_put(log, "1");
    rd_log(log, RESTD_LOG_WARNING, "%s", "held back");
    rd_log(log, RESTD_LOG_ACCESS, "%s", "no message has this level");
    rd_log_set_level(log, RESTD_LOG_DEBUG);
    rd_log(log, RESTD_LOG_DEBUG, "%s", "let through");
    rd_log_free(log);
    ck_assert_uint_eq(seen.access, 1);
    ck_assert_uint_eq(seen.messages, 1);
    ck_assert_str_eq(seen.last_message, "let through");
}
END_TEST

/* A full ring is full for one class only, and both are counted apart. */
START_TEST(messages_find_room)
{
    struct rd_log *log = log_new(4096);
    char line[101];
    unsigned sent = 0;

    memset(line, 'x', 100);
    line[100] = '\0';
    while (rd_log_access_dropped(log) < 5) {
        access_put(log, line);
        ck_assert_uint_lt(sent++, 100);
    }
    /* 116 bytes each, in three quarters of 4096. */
    ck_assert_uint_eq(sent, 3072 / 116 + 5);
    for (unsigned i = 0; i < 9; i++) {
        rd_log(log, RESTD_LOG_INFO, "%s", line);
        ck_assert_uint_eq(rd_log_dropped(log), 0);
    }
    rd_log(log, RESTD_LOG_INFO, "%s", line);
    ck_assert_uint_eq(rd_log_dropped(log), 1);
    ck_assert_uint_eq(rd_log_access_dropped(log), 5);
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    rd_log_free(log);
    ck_assert_uint_eq(seen.access, 3072 / 116);
    ck_assert_uint_eq(seen.messages, 9 + 2); /* and a report of each class */
    ck_assert_str_eq(seen.last_message, "5 lines of the access log dropped");
}
END_TEST

/* The flush comes behind the last line, and also without one if asked for. */
START_TEST(flushes)
{
    struct rd_log *log = log_new(4096);

    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    for (unsigned i = 1; i <= 100; i++) {
        rd_log_flush(log);
        semaphore_take(&seen_flush);
    }
    rd_log(log, RESTD_LOG_INFO, "%s", "x");
    semaphore_take(&seen_flush);
    access_put(log, "1");
    semaphore_take(&seen_flush);
    rd_log_free(log);
    ck_assert_uint_eq(seen.flushes, 102);
    ck_assert_uint_eq(seen.access, 1);
    ck_assert_uint_eq(seen.since_flush, 0);
}
END_TEST

static uint64_t ms_since(uint64_t start_ns)
{
    return (rd_clock_ns() - start_ns) / 1000000;
}

/* Access lines at a slow but steady pace: far fewer flushes than lines, as the
 * writer naps ever longer. */
START_TEST(a_steady_flow_wakes_nobody)
{
    struct rd_log *log = log_new(16384);
    char line[32];
    long lines = 0;

    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    uint64_t start_ns = rd_clock_ns();
    while (ms_since(start_ns) < 1000) {
        int len = snprintf(line, sizeof(line), "%ld", lines++);
        rd_log_access(log, 1, line, (uint32_t)len);
        uint64_t now_ns = rd_clock_ns();
        while (rd_clock_ns() - now_ns < 1000000) {
        }
    }
    rd_log_stop(log);
    ck_assert_uint_eq(rd_log_access_dropped(log), 0);
    ck_assert_uint_eq(seen.access, (unsigned)lines);
    ck_assert_uint_eq(seen.wrong, 0);
    ck_assert_uint_gt(seen.flushes, 5);
    ck_assert_uint_lt(seen.flushes, (unsigned)lines / 4);
    rd_log_free(log);
}
END_TEST

/* A burst fills half of a ring at the begin of a nap of 50 ms, which a few lines
 * one at a time have led to. */
START_TEST(a_burst_ends_a_nap)
{
    struct rd_log *log = log_new(65536);
    char line[101];
    uint64_t sum_ms = 0;

    memset(line, 'x', 100);
    line[100] = '\0';
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned i = 0; i < 10; i++) {
            access_put(log, line);
            semaphore_take(&seen_flush);
        }
        uint64_t start_ns = rd_clock_ns();
        for (unsigned i = 0; i < 300; i++) { /* 34,800 bytes */
            access_put(log, line);
        }
        semaphore_take(&seen_flush);
        sum_ms += ms_since(start_ns);
    }
    ck_assert_uint_eq(rd_log_access_dropped(log), 0);
    rd_log_free(log);
    ck_assert_uint_eq(seen.access, 10 * 310);
    ck_assert_msg(sum_ms < 10 * 25, "%lu ms", (unsigned long)sum_ms);
}
END_TEST

/* A message between access lines is not held up by a nap. */
START_TEST(a_message_ends_a_nap)
{
    struct rd_log *log = log_new(65536);
    uint64_t worst = 0, sum = 0;

    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    for (unsigned i = 0; i < 200; i++) {
        access_put(log, "x");
        uint64_t start_ns = rd_clock_ns();
        rd_log(log, RESTD_LOG_INFO, "%u", i);
        semaphore_take(&seen_message);
        uint64_t took = ms_since(start_ns);
        worst = took > worst ? took : worst;
        sum += took;
    }
    rd_log_free(log);
    ck_assert_uint_eq(seen.messages, 200);
    /* On average; a single one may meet a busy machine. */
    ck_assert_msg(sum < 200 * 10, "%lu ms in all, %lu at worst",
                  (unsigned long)sum, (unsigned long)worst);
}
END_TEST

/* Messages and access lines of a thread keep their order, whatever is dropped
 * in between. */
START_TEST(order_of_a_thread)
{
    struct rd_log *log = log_new(4096);
    char line[32];

    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    for (long i = 0; i < 100000; i++) {
        int len = snprintf(line, sizeof(line), "%ld", i);
        rd_log_access(log, i, line, (uint32_t)len);
        if (i % 1000 == 0) {
            rd_log(log, RESTD_LOG_INFO, "%ld", i);
        }
    }
    rd_log_stop(log);
    ck_assert_uint_eq(seen.wrong, 0);
    ck_assert_uint_eq(seen.access + rd_log_access_dropped(log), 100000);
    rd_log_free(log);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log_access");
    TCase *tc = tcase_create("log_access");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, lines_come_as_they_are);
    tcase_add_test(tc, without_a_sink);
    tcase_add_test(tc, a_level_holds_back_messages_only);
    tcase_add_test(tc, messages_find_room);
    tcase_add_test(tc, flushes);
    tcase_add_test(tc, a_steady_flow_wakes_nobody);
    tcase_add_test(tc, a_burst_ends_a_nap);
    tcase_add_test(tc, a_message_ends_a_nap);
    tcase_add_test(tc, order_of_a_thread);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
