/* SPDX-License-Identifier: MIT */
/* What plugins have set in a request: a flat list of fields. Pure.
 * Owner: the request. Thread: [loop]. */
#ifndef RD_HTTP_OVERLAY_H
#define RD_HTTP_OVERLAY_H

#include "base/slice.h"
#include "http/message.h"

/* Adds a field. RESTD_EINVAL if it is none, RESTD_ELIMIT. */
int rd_overlay_add(struct rd_overlay *overlay, struct restd_slice name,
                   struct restd_slice value);
/* The same without a check, for what has had one. */
int rd_overlay_put(struct rd_overlay *overlay, struct restd_slice name,
                   struct restd_slice value);
/* RESTD_EINVAL for what is no path, RESTD_ELIMIT. */
int rd_overlay_set_path(struct rd_overlay *overlay, struct restd_slice path);
/* The field at *at, which moves on; 0 at the end. */
int rd_overlay_next(const struct rd_overlay *overlay, unsigned *at,
                    struct restd_slice *name, struct restd_slice *value);

/* Whether a field of that name was set. */
static inline int rd_overlay_has(const struct rd_overlay *overlay,
                                 struct restd_slice name)
{
    struct restd_slice n;
    struct restd_slice value;
    unsigned at = 0;

    while (rd_overlay_next(overlay, &at, &n, &value)) {
        if (n.len == name.len && rd_slice_ieq(n, name)) {
            return 1;
        }
    }
    return 0;
}

#endif
