/* SPDX-License-Identifier: MIT */
/* Public structs grow at their ends. A caller says by its struct's size which
 * version it was built with; an older one is given the fields that it has, a
 * newer one finds 0 in those that are not known here. Options begin with that
 * size. Thread: [any]. */
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

/* Fills in options. */
static inline void rd_sized_init(void *options, size_t size,
                                 const void *defaults, size_t known)
{
    rd_sized_out(options, size, defaults, known);
    memcpy(options, &size, size < sizeof(size) ? size : sizeof(size));
}

/* Copies a caller's options over ours; 0, or -1 if it has not set its size. */
static inline int rd_sized_in(void *to, size_t known, const void *from)
{
    size_t size;

    memcpy(&size, from, sizeof(size));
    if (size < sizeof(size)) {
        return -1;
    }
    memcpy(to, from, size < known ? size : known);
    return 0;
}

#endif
