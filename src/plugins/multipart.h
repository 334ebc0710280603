/* SPDX-License-Identifier: MIT */
/* Push decoder of multipart/form-data, RFC 7578 and RFC 2046 5.1. Pure; any
 * cut of the input gives the same content and the same verdict. Strict: a line
 * that begins with the boundary is a delimiter or malformed, lines end with
 * CRLF, header lines are not folded. Fuzzed.
 *
 * Owner: struct restd_form. Lifetime: its. Thread: one. */
#ifndef RD_PLUGINS_MULTIPART_H
#define RD_PLUGINS_MULTIPART_H

#include "plugins/form.h"

#define RD_MULTIPART_BOUNDARY_MAX 70u

struct rd_multipart {
    uint32_t len; /* of the header section in the block */
    uint8_t state;
    uint8_t delimiter_len;
    uint8_t match;   /* octets of the delimiter that have come */
    uint8_t implied; /* ... of them, those that came before the content */
    uint8_t in_part;
    char delimiter[4 + RD_MULTIPART_BOUNDARY_MAX]; /* CRLF "--" boundary */
};

/* 0, or RESTD_EINVAL if that is no boundary. */
int rd_multipart_init(struct rd_multipart *m, struct restd_slice boundary);
/* 0, or negative as restd_form_feed(); the caller stops then. */
int rd_multipart_feed(struct rd_multipart *m, struct rd_form_out *out,
                      const char *bytes, size_t len);
/* 0 behind the closing delimiter, else RESTD_EINVAL. */
int rd_multipart_finish(const struct rd_multipart *m);

#endif
