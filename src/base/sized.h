/* SPDX-License-Identifier: MIT */
/* Public structs that the library fills in grow at their ends. A caller says
 * by its struct's size which version it was built with; an older one is given
 * the fields that it has, a newer one finds 0 in those that are not known here.
 * Thread: [any]. */
#ifndef RD_BASE_SIZED_H
#define RD_BASE_SIZED_H

#include <string.h>

static inline void rd_sized_out(void *to, size_t size, const void *from,
                                size_t known)
{
    memcpy(to, from, size < known ? size : known);
    if (size > known) {
        memset((char *)to + known, 0, size - known);
    }
}

#endif
