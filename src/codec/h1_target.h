/* SPDX-License-Identifier: MIT */
/* Taking a request target apart. A part of the parser and of no use without
 * it: the target [start, end) lies in `buf`, is not empty and has no octet that
 * may not stand in one. Pure; any thread. */
#ifndef RD_CODEC_H1_TARGET_H
#define RD_CODEC_H1_TARGET_H

#include "codec/h1_parser.h"

static inline struct rd_h1_span rd_h1_span(const char *buf, const char *from,
                                           const char *to)
{
    struct rd_h1_span s = {(uint16_t)(from - buf), (uint16_t)(to - from)};
    return s;
}

/* Sets path, query and their flags from "/path?query"; the path may be
 * empty. */
void rd_h1_target_split(struct rd_h1_head *head, const char *buf,
                        const char *start, const char *end);

/* A target other than an origin form. 1, or -400 with head->error. */
int rd_h1_target_other(struct rd_h1_head *head, const char *buf,
                       const char *start, const char *end);

#endif
