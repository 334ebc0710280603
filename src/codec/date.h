/* SPDX-License-Identifier: MIT */
/* HTTP dates, RFC 9110 5.6.7. Pure, no locale. */
#ifndef RD_CODEC_DATE_H
#define RD_CODEC_DATE_H

#include <stdint.h>

#include <restd/api.h>
#include <restd/error.h>

#define RD_DATE_LEN 29 /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/* Writes an IMF-fixdate without a NUL behind it. Years 1970..9999. */
void rd_date_format(int64_t unix_seconds, char out[RD_DATE_LEN]);

/* Reads an IMF-fixdate, rfc850-date or asctime-date, the whole text and in the
 * letters of the grammar; the day has to exist, but need not be that weekday,
 * and second 60 is the one behind 59. A year of two digits is in the century
 * of `now`, or in the one before if that were more than 50 years ahead. 0, or
 * RESTD_EINVAL. */
int rd_date_parse(struct restd_slice text, int64_t now, int64_t *unix_seconds);

#endif
