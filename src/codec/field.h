/* SPDX-License-Identifier: MIT */
/* Header field values that the library itself understands, RFC 9110. Pure.
 * Fuzzed. */
#ifndef RD_CODEC_FIELD_H
#define RD_CODEC_FIELD_H

#include <stdint.h>

#include <restd/api.h>

/* tchar of RFC 9110 5.6.2. */
int rd_is_tchar(unsigned char c);
/* 1 for a token of at least one character. */
int rd_field_is_token(struct restd_slice s);
/* 1 for a field value: no control character but HTAB, RFC 9110 5.5. */
int rd_field_is_value(struct restd_slice s);

/* Next element of a comma list (RFC 9110 5.6.1), white space cut off, empty
 * elements skipped; `*rest` moves on. 0 at the end. Quoted strings keep their
 * commas. */
int rd_field_list_next(struct restd_slice *rest, struct restd_slice *element);

/* Content-Length, RFC 9110 8.6: digits only; a list of equal numbers counts as
 * that number (RFC 9112 6.3). 0, or -1 if it is no such thing or does not fit
 * 63 bits. */
int rd_field_content_length(struct restd_slice value, uint64_t *length);

/* uri-host [":" port] of RFC 9110 7.2, without userinfo; empty is allowed,
 * but a port needs a host. */
int rd_field_is_authority(struct restd_slice value);

#endif
