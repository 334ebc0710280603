/* SPDX-License-Identifier: MIT */
/* HTTP dates against gmtime_r() and strftime(). */
#include "http/date.h"

#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
