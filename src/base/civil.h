/* SPDX-License-Identifier: MIT */
/* The proleptic Gregorian calendar in UTC, without locale, time zone, lock or
 * leap seconds, all of which gmtime_r() may bring. Pure, inline. */
#ifndef RD_BASE_CIVIL_H
#define RD_BASE_CIVIL_H

#include <stdint.h>

#define RD_CIVIL_SECONDS_MIN INT64_C(-62167219200) /* 0000-01-01T00:00:00Z */
#define RD_CIVIL_SECONDS_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

#define RD_CIVIL_MONTHS "JanFebMarAprMayJunJulAugSepOctNovDec"

struct rd_civil {
    unsigned year, month, day; /* 0..9999, 1..12, 1..31 */
    unsigned hour, minute, second;
    unsigned weekday; /* 0: Sunday */
};

/* Splits Unix time; what lies beyond the years 0..9999 is moved to the end. */
static inline struct rd_civil rd_civil_from_unix(int64_t seconds)
{
    if (seconds < RD_CIVIL_SECONDS_MIN) {
        seconds = RD_CIVIL_SECONDS_MIN;
    }
    if (seconds > RD_CIVIL_SECONDS_MAX) {
        seconds = RD_CIVIL_SECONDS_MAX;
    }
    /* Days are counted from 0000-03-01 less 400 years, one whole cycle of the
     * calendar, so that nothing is negative and the leap day ends a year. */
    const uint64_t cycle = 146097; /* days in 400 years */
    const uint64_t epoch = 719468; /* 0000-03-01 to 1970-01-01 */
    uint64_t since = (uint64_t)(seconds + (int64_t)((epoch + cycle) * 86400));
    uint64_t days = since / 86400;
    unsigned rest = (unsigned)(since % 86400);
    unsigned in_cycle = (unsigned)(days % cycle);
    unsigned year =
        (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) /
        365;
    unsigned in_year = in_cycle - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * in_year + 2) / 153; /* 0: March */
    struct rd_civil c;
    c.day = in_year - (153 * month + 2) / 5 + 1;
    c.month = month < 10 ? month + 3 : month - 9;
    c.year = year + 400 * (unsigned)(days / cycle) + (month >= 10) - 400;
    c.hour = rest / 3600;
    c.minute = rest / 60 % 60;
    c.second = rest % 60;
    /* Day 0 was a Wednesday: 400 years are a whole number of weeks. */
    c.weekday = (unsigned)((days + 3) % 7);
    return c;
}

#endif
