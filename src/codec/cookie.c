/* SPDX-License-Identifier: MIT */
/* Cookie pairs. Clients send what they were once given by anyone on the same
 * host, so a strict reading would let one bad cookie hide all others. Each
 * call reads on from the cursor. Any thread. */
#include "codec/cookie.h"

#include <string.h>

#include "base/slice.h"

int rd_cookie_next(struct restd_slice field, size_t *cursor,
                   struct restd_slice *name, struct restd_slice *value)
{
    while (*cursor < field.len) {
        const char *pair = field.data + *cursor;
        size_t len = field.len - *cursor;
        const char *stop = memchr(pair, ';', len);
        const char *end = stop != NULL ? stop : pair + len;
        *cursor += (size_t)(end - pair) + (stop != NULL);
        const char *equal = memchr(pair, '=', (size_t)(end - pair));
        if (equal == NULL) {
            continue;
        }
        struct restd_slice n =
            rd_slice_trim(rd_slice(pair, (size_t)(equal - pair)));
        struct restd_slice v =
            rd_slice_trim(rd_slice(equal + 1, (size_t)(end - equal - 1)));
        if (n.len == 0) {
            continue;
        }
        if (v.len > 1 && v.data[0] == '"' && v.data[v.len - 1] == '"') {
            v = rd_slice(v.data + 1, v.len - 2);
        }
        *name = n;
        *value = v;
        return 0;
    }
    return RESTD_ENOENT;
}
