/* SPDX-License-Identifier: MIT */
/* Query fields. Each call reads on from the cursor; nothing else is kept, and
 * decoding the same field twice gives the same bytes in the same place. Any
 * thread. */
#include "codec/query.h"

#include <string.h>

#include <restd/uri.h>

#include "base/slice.h"

/* `text` begins at raw + the offset of `place` in the scratch. */
static struct restd_slice decode(const char *text, size_t len, char *place)
{
    struct restd_slice s = rd_slice(text, len);
    if (memchr(text, '%', len) == NULL && memchr(text, '+', len) == NULL) {
        return s;
    }
    long n = restd_uri_unescape(s, place, len, RESTD_URI_PLUS_IS_SPACE);
    return rd_slice(place, (size_t)n);
}

int rd_query_next(struct restd_slice raw, size_t *cursor, char *scratch,
                  struct restd_slice *name, struct restd_slice *value)
{
    size_t at = *cursor;
    while (at < raw.len && raw.data[at] == '&') {
        at++;
    }
    if (at >= raw.len) {
        *cursor = raw.len;
        return RESTD_ENOENT;
    }
    const char *piece = raw.data + at;
    const char *amp = memchr(piece, '&', raw.len - at);
    size_t len = amp != NULL ? (size_t)(amp - piece) : raw.len - at;
    const char *equal = memchr(piece, '=', len);
    size_t name_len = equal != NULL ? (size_t)(equal - piece) : len;
    size_t skip = equal != NULL ? name_len + 1 : len;
    *name = decode(piece, name_len, scratch + at);
    *value = decode(piece + skip, len - skip, scratch + at + skip);
    *cursor = at + len;
    return 0;
}
