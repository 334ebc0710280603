/* SPDX-License-Identifier: MIT */
/* The log: what a line becomes, levels, start and stop, several logs. The
 * rest stands in test_log_threads.c. */
#include "base/log.h"

#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "support/suite.h"

#define STACK 262144

/* What the sink has seen; the writer's until rd_log_stop(). */
static struct {
    unsigned lines;
    enum restd_log_level level;
    int64_t time_ms;
    char last[2000];
} seen;

static void sink(enum restd_log_level level, int64_t time_ms, const char *line,
                 void *data)
{
    if (data != &seen) {
        abort();
    }
    seen.lines++;
    seen.level = level;
    seen.time_ms = time_ms;
    snprintf(seen.last, sizeof(seen.last), "%s", line);
}

static struct rd_log *log_new(unsigned rings, uint32_t bytes)
{
    struct rd_log *log = NULL;
    ck_assert_int_eq(
        rd_log_new(rings, bytes, RESTD_LOG_INFO, sink, &seen, &log), 0);
    return log;
}

static void setup(void)
{
    memset(&seen, 0, sizeof(seen));
}

/* Logs one line before start, so that the test waits for nothing. */
static void line_check(const char *expected, const char *format, ...)
    RESTD_PRINTF(2, 3);
static void line_check(const char *expected, const char *format, ...)
{
    struct rd_log *log = log_new(1, 4096);
    va_list args;
    va_start(args, format);
    rd_log_v(log, RESTD_LOG_NOTICE, format, args);
    va_end(args);
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    rd_log_free(log);
    ck_assert_str_eq(seen.last, expected);
}

START_TEST(a_line_arrives_whole)
{
    int64_t before = rd_clock_unix_ms();
    line_check("port 8888 of ::1", "port %d of %s", 8888, "::1");
    ck_assert_uint_eq(seen.lines, 1);
    ck_assert_int_eq(seen.level, RESTD_LOG_NOTICE);
    ck_assert_int_ge(seen.time_ms, before);
    ck_assert_int_le(seen.time_ms, rd_clock_unix_ms());
}
END_TEST

START_TEST(an_empty_line_arrives)
{
    line_check("", "%s", "");
    ck_assert_uint_eq(seen.lines, 1);
}
END_TEST

START_TEST(lines_cannot_be_forged)
{
    line_check("a?b??c?", "%s", "a\nb\r\nc\n");
    line_check("?[31m?", "%s", "\x1b[31m\x7f");
    line_check("tab?bell?", "%s", "tab\tbell\a");
    /* C1 in UTF-8: CSI and NEL. */
    line_check("x??[m??y", "%s", "x\xc2\x9b[m\xc2\x85y");
    /* CSI of 8-bit terminals, and other broken UTF-8. */
    line_check("?[m", "%s", "\x9b[m");
    line_check("????", "%s", "\xc0\x8a\xff\xe2");
    /* Text in other scripts stays. */
    line_check("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0",
               "%s",
               "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0");
}
END_TEST

START_TEST(long_lines_are_cut)
{
    char text[3000], expected[1001];
    memset(text, 'x', sizeof(text));
    memset(expected, 'x', sizeof(expected));
    text[sizeof(text) - 1] = expected[1000] = '\0';
    line_check(expected, "%s", text);
    /* Through the middle of a character. */
    memcpy(text + 999, "\xc3\xa4", 2);
    expected[999] = '?';
    line_check(expected, "%s", text);
    text[1000] = '\0';
    line_check(expected, "%s", text);
    text[999] = expected[999] = '\0';
    line_check(expected, "%s", text);
}
END_TEST

START_TEST(levels_below_are_left_out)
{
    struct rd_log *log = log_new(1, 4096);
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    rd_log(log, RESTD_LOG_DEBUG, "%s", "not this");
    rd_log(log, RESTD_LOG_INFO, "%s", "this");
    rd_log(log, RESTD_LOG_ERROR, "%s", "and this");
    rd_log(log, RESTD_LOG_DEBUG, "%s", "not this");
    rd_log_free(log);
    ck_assert_uint_eq(seen.lines, 2);
    ck_assert_str_eq(seen.last, "and this");
}
END_TEST

START_TEST(errno_is_kept_and_can_be_logged)
{
    struct rd_log *log = log_new(0, 4096);
    errno = ENOENT;
    rd_log(log, RESTD_LOG_ERROR, "open: %m");
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    rd_log_free(log);
    ck_assert_str_eq(seen.last, "open: No such file or directory");
}
END_TEST

START_TEST(without_a_sink_all_calls_are_harmless)
{
    struct rd_log *log = NULL;
    ck_assert_int_eq(rd_log_new(4, 65536, RESTD_LOG_DEBUG, NULL, NULL, &log),
                     0);
    ck_assert_uint_le(rd_log_bytes(log), rd_page_round(1));
    rd_log_attach(log);
    rd_log(log, RESTD_LOG_ERROR, "%s", "x");
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    rd_log(log, RESTD_LOG_ERROR, "%s", "x");
    ck_assert_uint_eq(rd_log_dropped(log), 0);
    rd_log_stop(log);
    rd_log_free(log);

    rd_log(NULL, RESTD_LOG_ERROR, "%s", "x");
    rd_log_attach(NULL);
    rd_log_stop(NULL);
    rd_log_free(NULL);
}
END_TEST

START_TEST(arguments_and_failures)
{
    struct rd_log *log = NULL;
    static const uint32_t sizes[] = {0, 1, 2048, 3000, 4097, 1u << 31};
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        ck_assert_int_eq(
            rd_log_new(1, sizes[i], RESTD_LOG_INFO, sink, &seen, &log),
            RESTD_EINVAL);
    }
    ck_assert_int_eq(
        rd_log_new(UINT32_MAX, 4096, RESTD_LOG_INFO, sink, &seen, &log),
        RESTD_EINVAL);
    for (unsigned n = 1; n <= 2; n++) {
        rd_mem_fail_nth(n);
        ck_assert_int_eq(rd_log_new(1, 4096, RESTD_LOG_INFO, sink, &seen, &log),
                         RESTD_ENOMEM);
    }
    rd_mem_fail_nth(0);
    ck_assert_ptr_null(log);

    log = log_new(3, 65536);
    ck_assert_uint_ge(rd_log_bytes(log), 4 * 65536);
    ck_assert_uint_le(rd_log_bytes(log), 4 * 65536 + 2 * rd_page_round(1));
    rd_mem_fail_nth(1);
    ck_assert_int_eq(rd_log_start(log, STACK), RESTD_ENOMEM);
    rd_mem_fail_nth(0);
    ck_assert_int_eq(rd_log_start(log, STACK), 0);
    ck_assert_int_eq(rd_log_start(log, STACK), RESTD_ESTATE);
    rd_log_free(log);
}
END_TEST

START_TEST(stop_and_start_again)
{
    struct rd_log *log = log_new(1, 4096);
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(rd_log_start(log, STACK), 0);
        rd_log(log, RESTD_LOG_INFO, "running %d", i);
        rd_log_stop(log);
        ck_assert_uint_eq(seen.lines, 2 * (unsigned)i + 1);
        rd_log(log, RESTD_LOG_INFO, "stopped %d", i);
        ck_assert_int_eq(rd_log_start(log, STACK), 0);
        rd_log_stop(log);
        ck_assert_uint_eq(seen.lines, 2 * (unsigned)i + 2);
    }
    rd_log_free(log);
}
END_TEST

START_TEST(a_stale_ring_is_never_used)
{
    /* The second log has no ring but the shared one, and very likely the
     * address of the first. */
    struct rd_log *first = log_new(4, 4096);
    rd_log_attach(first);
    rd_log(first, RESTD_LOG_INFO, "%s", "to the first");
    ck_assert_int_eq(rd_log_start(first, STACK), 0);
    rd_log_free(first);
    ck_assert_str_eq(seen.last, "to the first");
    memset(&seen, 0, sizeof(seen));

    struct rd_log *second = log_new(0, 4096);
    rd_log(second, RESTD_LOG_INFO, "%s", "to the second");
    rd_log_attach(second);
    rd_log(second, RESTD_LOG_INFO, "%s", "again");
    ck_assert_int_eq(rd_log_start(second, STACK), 0);
    rd_log_free(second);
    ck_assert_uint_eq(seen.lines, 2);
    ck_assert_str_eq(seen.last, "again");
}
END_TEST

START_TEST(two_logs_at_once)
{
    struct rd_log *a = log_new(1, 4096);
    struct rd_log *b = log_new(1, 4096);
    rd_log_attach(a);
    rd_log_attach(b);
    rd_log_attach(b);
    rd_log(a, RESTD_LOG_INFO, "%s", "a");
    rd_log(b, RESTD_LOG_INFO, "%s", "b");
    ck_assert_int_eq(rd_log_start(a, STACK), 0);
    rd_log_free(a);
    ck_assert_str_eq(seen.last, "a");
    ck_assert_int_eq(rd_log_start(b, STACK), 0);
    rd_log_free(b);
    ck_assert_str_eq(seen.last, "b");
    ck_assert_uint_eq(seen.lines, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *tc = tcase_create("log");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, a_line_arrives_whole);
    tcase_add_test(tc, an_empty_line_arrives);
    tcase_add_test(tc, lines_cannot_be_forged);
    tcase_add_test(tc, long_lines_are_cut);
    tcase_add_test(tc, levels_below_are_left_out);
    tcase_add_test(tc, errno_is_kept_and_can_be_logged);
    tcase_add_test(tc, without_a_sink_all_calls_are_harmless);
    tcase_add_test(tc, arguments_and_failures);
    tcase_add_test(tc, stop_and_start_again);
    tcase_add_test(tc, a_stale_ring_is_never_used);
    tcase_add_test(tc, two_logs_at_once);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
