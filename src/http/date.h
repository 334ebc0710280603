/* SPDX-License-Identifier: MIT */
/* HTTP dates, RFC 9110 5.6.7. Pure, no locale. */
#ifndef RD_HTTP_DATE_H
#define RD_HTTP_DATE_H

#include <stdint.h>

#define RD_DATE_LEN 29 /* "Sun, 06 Nov 1994 08:49:37 GMT" */

/* Writes an IMF-fixdate without a NUL behind it. Years 1970..9999. */
void rd_date_format(int64_t unix_seconds, char out[RD_DATE_LEN]);

#endif
