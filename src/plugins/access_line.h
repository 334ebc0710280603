/* SPDX-License-Identifier: MIT */
/* A line of the access log, by a compiled format. Pure. */
#ifndef RD_PLUGINS_ACCESS_LINE_H
#define RD_PLUGINS_ACCESS_LINE_H

#include <stdint.h>

#include <restd/api.h>

#include "net/addr.h"
#include "plugins/access_format.h"

/* With the NUL and what a short literal is copied too much. */
#define RD_ACCESS_LINE_SIZE (RD_ACCESS_LINE_MAX + RD_ACCESS_SLACK + 1)
#define RD_ACCESS_PEER_SIZE 48u
#define RD_ACCESS_LOCAL_LEN 26u /* "10/Oct/2000:13:55:36 -0700" */
#define RD_ACCESS_ISO_LEN 25u   /* "2000-10-10T13:55:36-07:00" */

/* A second, laid out in both ways. */
struct rd_access_time {
    char local[RD_ACCESS_LOCAL_LEN];
    char iso8601[RD_ACCESS_ISO_LEN];
};

/* What a line may tell. Owner: the caller, on the stack. */
struct rd_access_entry {
    struct restd_slice peer; /* rd_access_peer(), with all of its buffer */
    const struct rd_access_time *time;
    int64_t time_ms;           /* since 1970 */
    struct restd_slice method; /* empty: it was no request */
    struct restd_slice target;
    struct restd_slice host; /* with its port, if it has one */
    struct restd_slice id;
    int version_minor;
    int status;
    uint64_t content_bytes, duration_ns;
    struct restd_slice headers[RD_ACCESS_HEADERS_MAX]; /* of the format */
};

/* Writes an address without its port; its length. */
unsigned rd_access_peer(const struct rd_addr *peer,
                        char out[RD_ACCESS_PEER_SIZE]);
/* Writes the line and a NUL; its length, at most RD_ACCESS_LINE_MAX. */
unsigned rd_access_line(const struct rd_access_format *format,
                        const struct rd_access_entry *entry,
                        char out[RD_ACCESS_LINE_SIZE]);
/* Lays out Unix time in a zone `offset_s` seconds east of Greenwich. */
void rd_access_time_set(struct rd_access_time *time, int64_t unix_seconds,
                        int offset_s);

#endif
