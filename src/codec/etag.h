/* SPDX-License-Identifier: MIT */
/* Entity tags and the conditions made of them, RFC 9110 8.8.3 and 13.1. Pure.
 */
#ifndef RD_CODEC_ETAG_H
#define RD_CODEC_ETAG_H

#include <stdint.h>

#include <restd/api.h>

/* 1 for an entity-tag: [ W/ ] DQUOTE *etagc DQUOTE. */
int rd_etag_is(struct restd_slice s);

/* 1 if a line of If-Match (`weak` 0) or If-None-Match (`weak` 1) is "*" or has
 * an entity-tag that equals `etag` by the strong or weak comparison of RFC 9110
 * 8.8.3.2. `etag` is that of a representation that exists, absent if it has
 * none. List elements that are no entity-tag are skipped. */
int rd_etag_list_has(struct restd_slice value, struct restd_slice etag,
                     int weak);

/* 1 if If-Range (RFC 9110 13.1.5) lets the Range field apply: the strong
 * `etag` (may be absent), or the very date `modified`, Unix time, which has to
 * be before `now` to be a strong validator (8.8.2.2). */
int rd_etag_if_range(struct restd_slice value, struct restd_slice etag,
                     int64_t modified, int64_t now);

#endif
