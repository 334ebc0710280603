/* SPDX-License-Identifier: MIT */
/* HTTP dates for the Date, Last-Modified and Expires fields.
 *
 * Fixed tables instead of strftime() and strptime(), whose names follow the
 * locale of the process that embeds the library. A date is read against the
 * three forms in turn, each a pattern for scan(). Pure, any thread.
 */
#include "codec/date.h"

#include <string.h>

#include "base/civil.h"
#include "base/decimal.h"
#include "base/slice.h"
#include "codec/chars.h"

static const char weekdays[] = "SunMonTueWedThuFriSat";
static const char months[] = RD_CIVIL_MONTHS;

void rd_date_format(int64_t unix_seconds, char out[RD_DATE_LEN])
{
    struct rd_civil c = rd_civil_from_unix(unix_seconds < 0 ? 0 : unix_seconds);
    memcpy(out, "DDD, dd MMM yyyy hh:mm:ss GMT", RD_DATE_LEN);
    memcpy(out, weekdays + 3 * (size_t)c.weekday, 3);
    rd_decimal_2(out + 5, c.day);
    memcpy(out + 8, months + 3 * (size_t)(c.month - 1), 3);
    rd_decimal_4(out + 12, c.year);
    rd_decimal_2(out + 17, c.hour);
    rd_decimal_2(out + 20, c.minute);
    rd_decimal_2(out + 23, c.second);
}

/* Takes one of the names of three letters: its number, or -1. */
static int take_name(struct restd_slice *s, const char *names)
{
    for (int i = 0; s->len >= 3 && *names != '\0'; i++, names += 3) {
        if (memcmp(s->data, names, 3) == 0) {
            *s = rd_slice(s->data + 3, s->len - 3);
            return i;
        }
    }
    return -1;
}

static int take_weekday(struct restd_slice *s, int whole)
{
    static const char *const ends[] = {"day",   "day", "sday", "nesday",
                                       "rsday", "day", "urday"};
    int i = take_name(s, weekdays);
    if (i < 0 || !whole) {
        return i;
    }
    size_t len = strlen(ends[i]);
    if (s->len < len || memcmp(s->data, ends[i], len) != 0) {
        return -1;
    }
    *s = rd_slice(s->data + len, s->len - len);
    return i;
}

/* Takes so many digits; -1 if they are none. `padded`: a space may stand for
 * a zero in front. */
static int take_number(struct restd_slice *s, size_t digits, int padded)
{
    int n = 0;
    if (s->len < digits) {
        return -1;
    }
    for (size_t i = 0; i < digits; i++) {
        if (rd_chars_is(s->data[i], RD_CHARS_DIGIT)) {
            n = n * 10 + (s->data[i] - '0');
        } else if (!padded || i > 0 || s->data[i] != ' ') {
            return -1;
        }
    }
    *s = rd_slice(s->data + digits, s->len - digits);
    return n;
}

enum { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, PARTS_N };

/* Takes what a letter of a form stands for; negative if it is not there. */
static int take(struct restd_slice *s, char what, int *parts)
{
    switch (what) {
    case 'w':
    case 'W':
        return take_weekday(s, what == 'W');
    case 'b':
        return parts[MONTH] = take_name(s, months);
    case 'd':
    case 'e':
        return parts[DAY] = take_number(s, 2, what == 'e');
    case 'y':
    case 'Y':
        return parts[YEAR] = take_number(s, what == 'Y' ? 4 : 2, 0);
    case 'h':
        return parts[HOUR] = take_number(s, 2, 0);
    case 'm':
        return parts[MINUTE] = take_number(s, 2, 0);
    case 's':
        return parts[SECOND] = take_number(s, 2, 0);
    default:
        if (s->len == 0 || s->data[0] != what) {
            return -1;
        }
        *s = rd_slice(s->data + 1, s->len - 1);
        return 0;
    }
}

static int scan(struct restd_slice s, const char *form, int *parts)
{
    for (; *form != '\0'; form++) {
        if (take(&s, *form, parts) < 0) {
            return -1;
        }
    }
    return s.len == 0 ? 0 : -1;
}

/* The other way round than rd_civil_from_unix(), by the same count of days
 * from March on; a day or second too many runs on into the next. */
static int64_t to_unix(const int *parts)
{
    int64_t year = parts[YEAR] + 400 - (parts[MONTH] < 2);
    int64_t days = 365 * year + year / 4 - year / 100 + year / 400 +
                   (153 * ((parts[MONTH] + 10) % 12) + 2) / 5 + parts[DAY] - 1 -
                   719468 - 146097;
    return ((days * 24 + parts[HOUR]) * 60 + parts[MINUTE]) * 60 +
           parts[SECOND];
}

static void add_century(int *parts, int64_t now)
{
    struct rd_civil c = rd_civil_from_unix(now);
    int latest[PARTS_N] = {(int)c.year + 50, (int)c.month - 1, (int)c.day,
                           (int)c.hour,      (int)c.minute,    (int)c.second};
    parts[YEAR] += (int)(c.year / 100 * 100);
    if (to_unix(parts) > to_unix(latest)) {
        parts[YEAR] -= 100;
    }
}

int rd_date_parse(struct restd_slice text, int64_t now, int64_t *unix_seconds)
{
    int parts[PARTS_N] = {0};
    if (scan(text, "W, d-b-y h:m:s GMT", parts) == 0) {
        add_century(parts, now);
    } else if (scan(text, "w, d b Y h:m:s GMT", parts) != 0 &&
               scan(text, "w b e h:m:s Y", parts) != 0) {
        return RESTD_EINVAL;
    }
    int day[PARTS_N] = {parts[YEAR], parts[MONTH], parts[DAY]};
    if (parts[HOUR] > 23 || parts[MINUTE] > 59 || parts[SECOND] > 60 ||
        rd_civil_from_unix(to_unix(day)).day != (unsigned)parts[DAY]) {
        return RESTD_EINVAL;
    }
    *unix_seconds = to_unix(parts);
    return 0;
}
