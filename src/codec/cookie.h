/* SPDX-License-Identifier: MIT */
/* The Cookie field, RFC 6265 4.2.1, read as leniently as servers must. Pure.
 * Fuzzed. */
#ifndef RD_CODEC_COOKIE_H
#define RD_CODEC_COOKIE_H

#include <restd/api.h>
#include <restd/error.h>

/* Next pair of a field value: 0, or RESTD_ENOENT behind the last. `*cursor`
 * begins at 0. Pairs lie between ';' (in quotes as well); white space around
 * names and values is cut off, and a pair of DQUOTE around the value. What has
 * no '=' or no name is skipped. Nothing is decoded; slices lie in `field`. */
int rd_cookie_next(struct restd_slice field, size_t *cursor,
                   struct restd_slice *name, struct restd_slice *value);

#endif
