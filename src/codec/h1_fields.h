/* SPDX-License-Identifier: MIT */
/* What single header fields mean for the request head: framing, connection,
 * host. The second half of the parser and of no use without it. Pure; any
 * thread. */
#ifndef RD_CODEC_H1_FIELDS_H
#define RD_CODEC_H1_FIELDS_H

#include <string.h>

#include "codec/h1_parser.h"

/* Bits of head.flags that are used while parsing only. */
enum {
    RD_H1_SAW_UPGRADE = 1 << 14,  /* an Upgrade field */
    RD_H1_WANT_UPGRADE = 1 << 15, /* Connection: upgrade */
    RD_H1_PRIVATE = RD_H1_SAW_UPGRADE | RD_H1_WANT_UPGRADE
};

/* 1 for the names that rd_h1_field_note() looks at, and for few others: only
 * those of 6 (Expect), 7 (Upgrade), 10 (Connection), 14 (Content-Length) and
 * 17 (Transfer-Encoding) octets matter, with the right first letter. Host,
 * which every request has, is apart. */
static inline int rd_h1_field_matters(const char *name, size_t len)
{
    static const char first[32] = {
        [6] = 'e', [7] = 'u', [10] = 'c', [14] = 'c', [17] = 't'};
    return len < sizeof(first) && first[len] == (*name | 0x20);
}

static inline int rd_h1_field_is_host(const char *name, size_t len)
{
    uint32_t got;
    uint32_t want;
    if (len != sizeof(got)) {
        return 0;
    }
    memcpy(&got, name, sizeof(got));
    memcpy(&want, "host", sizeof(want));
    return (got | 0x20202020u) == want;
}

/* Take note of a field line that is well-formed. 0 or -status, with
 * head->error. */
int rd_h1_field_note(struct rd_h1_head *head, const char *buf,
                     const struct rd_h1_field *field);
int rd_h1_field_note_host(struct rd_h1_head *head, const char *buf,
                          struct rd_h1_span value);

/* Sets head->error, returns -status. */
int rd_h1_bad(struct rd_h1_head *head, int status, const char *text);

#endif
