/* SPDX-License-Identifier: MIT */
/* Percent-encoding for values in paths and queries, RFC 3986 section 2.1.
 * Pure functions, no allocation: [any thread]. */
#ifndef RESTD_URI_H
#define RESTD_URI_H

#include <restd/api.h>
#include <restd/error.h>

RESTD_BEGIN_DECLS

/** For restd_uri_unescape(): '+' is a space, as in form fields. */
#define RESTD_URI_PLUS_IS_SPACE 1u

/**
 * Writes `text` with every octet but the unreserved ones (RFC 3986 section
 * 2.3: letters, digits, "-._~") as "%XX" in upper case. Three times its length
 * is always enough room.
 * Returns the length, without a NUL behind it, or RESTD_ERANGE if `size` bytes
 * are too few.
 */
RESTD_API RESTD_MUST_CHECK long restd_uri_escape(struct restd_slice text,
                                                 char *buf, size_t size);

/**
 * Writes `text` with its escapes decoded; one that is bad or cut stays as it
 * is. `flags`: 0 or RESTD_URI_PLUS_IS_SPACE. The result may hold any octet,
 * NUL too, and is never longer than the text; `buf` may be the text's own
 * memory.
 * Returns the length, without a NUL behind it, or RESTD_ERANGE if `size` bytes
 * are too few.
 */
RESTD_API RESTD_MUST_CHECK long restd_uri_unescape(struct restd_slice text,
                                                   char *buf, size_t size,
                                                   unsigned flags);

RESTD_END_DECLS

#endif
