/* SPDX-License-Identifier: MIT */
/* Proactive negotiation, RFC 9110 12.5. Both structs start zeroed and are fed
 * the lines of their field in any order; elements that break the grammar are
 * ignored, of equal ones the highest weight counts. Pure. Fuzzed.
 *
 * Owner: the caller, on its stack. Lifetime: one request. Thread: one. */
#ifndef RD_CODEC_NEGOTIATE_H
#define RD_CODEC_NEGOTIATE_H

#include <stdint.h>

#include <restd/api.h>

enum rd_coding {
    RD_CODING_IDENTITY,
    RD_CODING_GZIP,
    RD_CODING_NONE /* identity is excluded too; it may be sent, or 406 */
};

/* Weights in thousandths plus one; 0: not named. */
struct rd_accept_encoding {
    uint16_t gzip, identity, any;
};

/* A line of Accept-Encoding, RFC 9110 12.5.3; "x-gzip" is gzip (8.4.1.3). */
void rd_accept_encoding_feed(struct rd_accept_encoding *a,
                             struct restd_slice line);
/* The coding of the higher weight, gzip if equal. Identity that is not named
 * is worth less than any other; without a line it is the answer. */
enum rd_coding rd_accept_encoding_best(const struct rd_accept_encoding *a);

#define RD_ACCEPT_TYPES_MAX 8u

struct rd_accept {
    uint16_t weight[RD_ACCEPT_TYPES_MAX];
    uint8_t rank[RD_ACCEPT_TYPES_MAX]; /* how specific; 0: not matched */
    int heard;
};

/* A line of Accept, RFC 9110 12.5.1, for `n` types (RD_ACCEPT_TYPES_MAX at
 * most, the same in every call) such as "text/plain;version=0.0.4". A range
 * with parameters matches a type that has them all. The most specific range
 * that matches a type gives it its weight. */
void rd_accept_feed(struct rd_accept *a, const char *const *types, unsigned n,
                    struct restd_slice line);
/* Index of the type with the highest weight, the first of equal ones, and the
 * first of all without a valid element; -1 if none is acceptable. */
int rd_accept_best(const struct rd_accept *a, unsigned n);

#endif
