/* SPDX-License-Identifier: MIT */
/* States of zlib's compressor, for gzip with small windows.
 *
 * struct rd_zstate
 * Owner: the loop's pool, which lends it. Lifetime: rd_zstate_take() to
 * rd_zstate_give(). Charged to RD_MEM_COMPRESSION. Thread: [loop]. */
#ifndef RD_PLUGINS_ZSTATE_H
#define RD_PLUGINS_ZSTATE_H

#include <stddef.h>
#include <stdint.h>

#ifndef ZLIB_CONST
#define ZLIB_CONST
#endif
#include <zlib.h>

#include "http/h1.h"

/* Streams that a loop compresses at a time. */
#define RD_ZSTREAMS_MAX 4u

struct rd_zpool;

struct rd_zstate {
    z_stream z;
    struct rd_zpool *pool;
    size_t size, used; /* of the block that begins with this struct */
    int level;         /* 0: not set up */
    int is_stream;
};

/* Size of a state, as this zlib wants it; 0 without memory. [any] */
size_t rd_zstate_size(void);
/* A fresh state of `size` bytes; NULL if memory is short, or for one more
 * stream than RD_ZSTREAMS_MAX. */
struct rd_zstate *rd_zstate_take(struct rd_h1 *h1, size_t size, int level,
                                 int is_stream);
/* Whatever state it is in. */
void rd_zstate_give(struct rd_zstate *state);

#endif
