/* SPDX-License-Identifier: MIT */
/* HTTP dates against gmtime_r() and strftime(), and read back. */
#include "codec/date.h"

#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/slice.h"
#include "support/suite.h"

#define DAY INT64_C(86400)
#define LAST INT64_C(253402300799)

static void date_check(int64_t seconds)
{
    char got[RD_DATE_LEN + 2];
    memset(got, '#', sizeof(got));
    rd_date_format(seconds, got);
    ck_assert_int_eq(got[RD_DATE_LEN], '#');
    got[RD_DATE_LEN] = '\0';

    char expected[64];
    time_t t = (time_t)seconds;
    struct tm tm;
    ck_assert_ptr_nonnull(gmtime_r(&t, &tm));
    strftime(expected, sizeof(expected), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    ck_assert_str_eq(got, expected);
}

START_TEST(known_dates)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } table[] = {
        {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
        {951782400, "Tue, 29 Feb 2000 00:00:00 GMT"},
        {INT64_C(4107542399), "Sun, 28 Feb 2100 23:59:59 GMT"},
        {INT64_C(4107542400), "Mon, 01 Mar 2100 00:00:00 GMT"},
        {LAST, "Fri, 31 Dec 9999 23:59:59 GMT"},
        /* Beyond the years that the format has. */
        {-1, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {INT64_MIN, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {LAST + 1, "Fri, 31 Dec 9999 23:59:59 GMT"},
        {INT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char got[RD_DATE_LEN + 1] = "";
        rd_date_format(table[i].seconds, got);
        ck_assert_str_eq(got, table[i].text);
    }
}
END_TEST

START_TEST(every_day_of_600_years)
{
    for (int64_t day = 0; day < 600 * 366; day++) {
        date_check(day * DAY);
        date_check(day * DAY + DAY - 1);
    }
}
END_TEST

START_TEST(every_second_of_a_day)
{
    for (int64_t second = 0; second < DAY; second++) {
        date_check(1709164800 + second); /* 2024-02-29 */
    }
}
END_TEST

START_TEST(far_dates)
{
    for (int64_t seconds = 0; seconds < LAST; seconds += 5000011) {
        date_check(seconds);
    }
}
END_TEST

#define NOW INT64_C(1767225600) /* 2026-01-01T00:00:00Z */

static const struct {
    const char *text;
    int64_t seconds;
} good[] = {
    {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
    {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
    {"Sun Nov  6 08:49:37 1994", 784111777},
    {"Sun Nov 06 08:49:37 1994", 784111777},
    {"Sun Nov 16 08:49:37 1994", 784975777},
    {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
    {"Wed, 31 Dec 1969 23:59:59 GMT", -1},
    {"Fri, 31 Dec 9999 23:59:59 GMT", LAST},
    {"Sat, 01 Jan 0000 00:00:00 GMT", INT64_C(-62167219200)},
    {"Tue, 29 Feb 2000 00:00:00 GMT", 951782400},
    {"Thu, 29 Feb 2024 23:59:59 GMT", 1709251199},
    {"Mon, 29 Feb 2024 23:59:59 GMT", 1709251199}, /* another weekday */
    {"Sat, 31 Dec 2016 23:59:60 GMT", 1483228800},
    {"Tuesday, 01-Jan-26 00:00:00 GMT", NOW},
    {"Wednesday, 01-Jan-69 00:00:00 GMT", INT64_C(3124224000)},
    {"Monday, 01-Jan-76 00:00:00 GMT", INT64_C(3345062400)},
    {"Thursday, 01-Jan-76 00:00:01 GMT", 189302401},
    {"Saturday, 31-Dec-99 23:59:59 GMT", 946684799},
    {"Friday, 01-Jan-00 00:00:00 GMT", 946684800},
};

static const char *const bad[] = {
    "",
    "0",
    "784111777",
    "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 gmt",
    "Sun, 06 Nov 1994 08:49:37 GMT ",
    " Sun, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 +0000",
    "Sun,06 Nov 1994 08:49:37 GMT",
    "Sun  06 Nov 1994 08:49:37 GMT",
    "sun, 06 Nov 1994 08:49:37 GMT",
    "SUN, 06 Nov 1994 08:49:37 GMT",
    "Xyz, 06 Nov 1994 08:49:37 GMT",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun,  6 Nov 1994 08:49:37 GMT",
    "Sun, 06 nov 1994 08:49:37 GMT",
    "Sun, 06 Nxv 1994 08:49:37 GMT",
    "Sun, 06 anF 1994 08:49:37 GMT",
    "Sun, 06 Nov 94 08:49:37 GMT",
    "Sun, 06 Nov 19940 08:49:37 GMT",
    "Sun, 06 Nov -994 08:49:37 GMT",
    "Sun, 06 Nov 1994 8:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT",
    "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 1994 08:49 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT",
    "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sun, 32 Jan 1994 08:49:37 GMT",
    "Mon, 29 Feb 2100 00:00:00 GMT",
    "Mon, 29 Feb 2023 00:00:00 GMT",
    "Sun, 06-Nov-94 08:49:37 GMT",
    "Sunda, 06-Nov-94 08:49:37 GMT",
    "Sunday, 06-Nov-1994 08:49:37 GMT",
    "Sunday, 06 Nov 1994 08:49:37 GMT",
    "Wedsday, 06-Nov-94 08:49:37 GMT",
    "Sunday, 31-Nov-94 08:49:37 GMT",
    "Sun Nov 6 08:49:37 1994",
    "Sun Nov   6 08:49:37 1994",
    "Sun Nov  0 08:49:37 1994",
    "Sun Nov    08:49:37 1994",
    "Sun Nov  6 08:49:37 94",
    "Sun Nov  6 08:49:37 1994 GMT",
    "Sunday Nov  6 08:49:37 1994",
};

START_TEST(parse_good)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        int64_t got = 12345;
        int rc = rd_date_parse(rd_slice_str(good[i].text), NOW, &got);
        ck_assert_msg(rc == 0 && got == good[i].seconds, "'%s': %d, %lld",
                      good[i].text, rc, (long long)got);
    }
}
END_TEST

START_TEST(parse_bad)
{
    int64_t got = 12345;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(rd_date_parse(rd_slice_str(bad[i]), NOW, &got) ==
                          RESTD_EINVAL,
                      "'%s'", bad[i]);
    }
    ck_assert_int_eq(rd_date_parse(rd_slice(NULL, 0), NOW, &got), RESTD_EINVAL);
    /* Cut anywhere, a date is none. */
    for (size_t i = 0; i < 3; i++) {
        for (size_t n = 0; n < strlen(good[i].text); n++) {
            ck_assert_int_eq(
                rd_date_parse(rd_slice(good[i].text, n), NOW, &got),
                RESTD_EINVAL);
        }
    }
    ck_assert_int_eq(got, 12345);
}
END_TEST

START_TEST(parse_what_was_formatted)
{
    for (int64_t seconds = 0; seconds < LAST; seconds += 500009) {
        char text[RD_DATE_LEN];
        int64_t got;
        rd_date_format(seconds, text);
        ck_assert_int_eq(rd_date_parse(rd_slice(text, RD_DATE_LEN), NOW, &got),
                         0);
        ck_assert_int_eq(got, seconds);
    }
}
END_TEST

int main(void)
{
    setlocale(LC_ALL, "C");
    Suite *suite = suite_create("date");
    TCase *tc = tcase_create("date");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, known_dates);
    tcase_add_test(tc, every_day_of_600_years);
    tcase_add_test(tc, every_second_of_a_day);
    tcase_add_test(tc, far_dates);
    tcase_add_test(tc, parse_good);
    tcase_add_test(tc, parse_bad);
    tcase_add_test(tc, parse_what_was_formatted);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
