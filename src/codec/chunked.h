/* SPDX-License-Identifier: MIT */
/* Decoder of the chunked transfer coding, RFC 9112 section 7.1: pure,
 * incremental, no allocation; any cut of the input gives the same content and
 * the same verdict. Strict: CRLF only, sizes of 1..16 hex digits, extensions
 * by their grammar (bounded in total), trailer fields by theirs (bounded).
 *
 * Owner: the request that reads such a body. Thread: its loop. Fuzzed. */
#ifndef RD_CODEC_CHUNKED_H
#define RD_CODEC_CHUNKED_H

#include <stddef.h>
#include <stdint.h>

/* Extension bytes of a whole message; more: 400. RFC 9112 7.1.1 asks for a
 * limit, as they carry nothing here. */
#define RD_CHUNKED_EXT_MAX 4096u

struct rd_chunked {
    uint64_t left; /* content bytes of this chunk still to come */
    uint32_t trailer_max, trailer_len;
    uint32_t ext_len;
    uint8_t state, digits;
};

enum { RD_CHUNKED_MORE = 0, RD_CHUNKED_DONE = 1 };

/* `trailer_max`: bytes of the trailer section, more: 431. */
void rd_chunked_init(struct rd_chunked *c, uint32_t trailer_max);

/* Decodes src[0..len) to dst, which may be src itself or have `len` bytes.
 * *used: input bytes eaten (all of them unless done or bad); *made: content
 * bytes written. Returns RD_CHUNKED_MORE, RD_CHUNKED_DONE (the message ends at
 * *used), or -400 / -431. Done and bad are final: a later call eats nothing and
 * answers the same. */
int rd_chunked_decode(struct rd_chunked *c, const char *src, size_t len,
                      char *dst, size_t *used, size_t *made);

#endif
