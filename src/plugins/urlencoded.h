/* SPDX-License-Identifier: MIT */
/* Push decoder of application/x-www-form-urlencoded, WHATWG URL standard 5.1:
 * gives the fields that rd_query_next() does, as parts. Pure; any cut of the
 * input gives the same. Fuzzed, against rd_query_next().
 *
 * Owner: struct restd_form, zeroed at first. Lifetime: its. Thread: one. */
#ifndef RD_PLUGINS_URLENCODED_H
#define RD_PLUGINS_URLENCODED_H

#include "plugins/form.h"

struct rd_urlencoded {
    uint32_t len;     /* of what the block holds: the name, then the value */
    uint8_t started;  /* the piece is not empty */
    uint8_t in_value; /* its part has been given out */
    uint8_t escape;   /* 1: behind '%', 2: behind its first digit */
    char digit;
};

/* 0, or negative as restd_form_feed(); the caller stops then. */
int rd_urlencoded_feed(struct rd_urlencoded *u, struct rd_form_out *out,
                       const char *bytes, size_t len);
int rd_urlencoded_finish(struct rd_urlencoded *u, struct rd_form_out *out);

#endif
