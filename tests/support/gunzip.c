/* SPDX-License-Identifier: MIT */
/* Checks what we have compressed; see gunzip.h. Any thread. */
#include "support/gunzip.h"

#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

long gunzip(const void *data, size_t len, char *out, size_t size)
{
    z_stream z;

    memset(&z, 0, sizeof(z));
    z.next_in = data;
    z.avail_in = (uInt)len;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)size;
    if (inflateInit2(&z, 15 + 16) != Z_OK) {
        return -1;
    }
    int rc = inflate(&z, Z_FINISH);
    long made = rc == Z_STREAM_END && z.avail_in == 0 ? (long)z.total_out : -1;
    inflateEnd(&z);
    return made;
}
