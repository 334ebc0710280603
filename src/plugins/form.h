/* SPDX-License-Identifier: MIT */
/* What both form readers write to: the caller's call-backs behind the limits.
 *
 * Owner: struct restd_form. Lifetime: its. Thread: that of the feeding call. */
#ifndef RD_PLUGINS_FORM_H
#define RD_PLUGINS_FORM_H

#include <restd/form.h>

/* Bytes of the block in which a reader gathers names or header sections. */
#define RD_FORM_BLOCK 4096u

struct rd_form_out {
    struct restd_form_ops ops;
    void *data;
    struct restd_form_limits limits; /* 0 replaced by what cannot be reached */
    uint32_t parts;
    uint64_t left; /* content that the part may still have */
    char block[RD_FORM_BLOCK];
};

/* 0, or negative as restd_form_feed(). Content is handed on up to the limit
 * before RESTD_ELIMIT, so that it does not depend on how the input is cut. */
int rd_form_part(struct rd_form_out *out, const struct restd_form_part *part);
int rd_form_content(struct rd_form_out *out, const char *bytes, size_t len);
int rd_form_end(struct rd_form_out *out);

#endif
