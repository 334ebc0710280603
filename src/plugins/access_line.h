/* SPDX-License-Identifier: MIT */
/* A line of the access log, in Common or Combined format. Pure. */
#ifndef RD_PLUGINS_ACCESS_LINE_H
#define RD_PLUGINS_ACCESS_LINE_H

#include <stdint.h>

#include <restd/api.h>

#include "net/addr.h"

#define RD_ACCESS_LINE_MAX 1000u
#define RD_ACCESS_TIME_LEN 28u /* "[10/Oct/2000:13:55:36 -0700]" */

/* What a line tells. Absent slices are "-". Owner: the caller, on the stack. */
struct rd_access_entry {
    const struct rd_addr *peer;
    const char *time;          /* RD_ACCESS_TIME_LEN bytes */
    struct restd_slice method; /* empty: it was no request */
    struct restd_slice target;
    int version_minor;
    int status;
    uint64_t content_bytes;
    int combined; /* show the next two */
    struct restd_slice referer, agent;
    int with_id; /* show the next one, of at most 128 bytes */
    struct restd_slice id;
    int with_duration; /* show the next one */
    uint64_t duration_us;
};

/* Writes the line and a NUL; its length. */
unsigned rd_access_line(const struct rd_access_entry *entry,
                        char out[RD_ACCESS_LINE_MAX + 1]);
/* Writes Unix time in a zone `offset_s` seconds east of Greenwich. */
void rd_access_time(int64_t unix_seconds, int offset_s,
                    char out[RD_ACCESS_TIME_LEN]);

#endif
