/* SPDX-License-Identifier: MIT */
/* Paths of request targets, RFC 3986: split at '/', then each segment
 * percent-decoded, then dot segments removed (an encoded dot is a dot: the
 * characters are unreserved, section 6.2.2.2). Pure. Fuzzed. */
#ifndef RD_CODEC_URI_H
#define RD_CODEC_URI_H

#include <stddef.h>
#include <stdint.h>

#include <restd/api.h>

#define RD_URI_SEGMENTS_MAX 64

struct rd_uri_path {
    unsigned n; /* segments; "/" has one, which is empty */
    struct restd_slice segments[RD_URI_SEGMENTS_MAX];
};

/* Percent-decodes src to dst, which may be src itself; dst needs `len` bytes.
 * Returns the decoded length, or -1 for a bad or cut escape or for %00. */
long rd_uri_decode(const char *src, size_t len, char *dst);

/* Splits an absolute path. Decoded segments lie in `scratch` (at least
 * path.len bytes), the others in the path itself. ".." above the root stays at
 * the root (RFC 3986 5.2.4). A path that ends with "/", "/." or "/.." ends
 * with an empty segment.
 * 0, or -400 for a bad escape, -404 for more than RD_URI_SEGMENTS_MAX. */
int rd_uri_split(struct restd_slice path, char *scratch,
                 struct rd_uri_path *out);

#endif
