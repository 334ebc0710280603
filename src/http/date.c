/* SPDX-License-Identifier: MIT */
/* HTTP dates for the Date, Last-Modified and Expires fields.
 *
 * Fixed tables instead of strftime(), whose names follow the locale of the
 * process that embeds the library. Pure, any thread.
 */
#include "http/date.h"

#include <string.h>

#include "base/civil.h"
#include "base/decimal.h"

void rd_date_format(int64_t unix_seconds, char out[RD_DATE_LEN])
{
    static const char weekdays[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
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
