/* SPDX-License-Identifier: MIT */
/* The request head of HTTP/1.x, RFC 9112: pure, strict, without allocation.
 *
 * rd_h1_parse() looks at a buffer that starts at a message and says: so many
 * bytes are the head, or more is needed, or it is bad and which status says
 * so. It keeps no state between calls; a caller that got "more" calls again
 * with the longer buffer. For every way of cutting the input the end is the
 * same: a prefix of a good head asks for more, a prefix of a bad one asks for
 * more or already has the status that the whole would get.
 *
 * Fields are offsets into the buffer, so a copied head needs no mending.
 * Owner: the caller. Thread: any, no shared state. Fuzzed.
 */
#ifndef RD_CODEC_H1_PARSER_H
#define RD_CODEC_H1_PARSER_H

#include <stddef.h>
#include <stdint.h>

#include <restd/http.h>

/* A head is never longer than this, so that offsets fit 16 bits. */
#define RD_H1_HEAD_MAX 65535u

struct rd_h1_limits {
    uint32_t target_max; /* bytes of the request target, more: 414 */
    uint32_t header_max; /* bytes of the header section, more: 431 */
    uint16_t fields_max; /* field lines, more: 431 */
};

/* A stretch of the head buffer. */
struct rd_h1_span {
    uint16_t off, len;
};

struct rd_h1_field {
    struct rd_h1_span name, value; /* value without white space around it */
};

/* RFC 9112 section 3.2: forms of the request target. */
enum rd_h1_form {
    RD_H1_ORIGIN,    /* /path?query */
    RD_H1_ABSOLUTE,  /* http://host/path?query */
    RD_H1_AUTHORITY, /* host:port, CONNECT only */
    RD_H1_ASTERISK   /* *, OPTIONS only */
};

enum {
    RD_H1_CLOSE = 1 << 0,      /* Connection: close */
    RD_H1_KEEP_ALIVE = 1 << 1, /* Connection: keep-alive */
    RD_H1_CHUNKED = 1 << 2,    /* Transfer-Encoding: chunked */
    RD_H1_LENGTH = 1 << 3,     /* Content-Length present */
    /* Expect: 100-continue, from 1.1 on (RFC 9110 10.1.1). */
    RD_H1_EXPECT_100 = 1 << 4,
    RD_H1_EXPECT_OTHER = 1 << 5,
    RD_H1_UPGRADE = 1 << 6, /* Connection: upgrade, with Upgrade */
    RD_H1_HOST = 1 << 7,    /* Host field present */
    /* The path is plain: no '%', no "." or ".." segment and no empty segment
     * but the last, so it can be looked up as it stands. */
    RD_H1_PLAIN_PATH = 1 << 8,
    RD_H1_QUERY = 1 << 9 /* the target has a '?' */
};

struct rd_h1_head {
    struct rd_h1_span method, target;
    /* Of the target; query without '?'. The path is "*" in asterisk form, and
     * empty in authority form and where an absolute form has none, which means
     * "/" (RFC 9110 4.2.3). */
    struct rd_h1_span path, query;
    struct rd_h1_span authority; /* absolute form, else Host; may be empty */
    enum restd_method number;    /* RESTD_METHOD_OTHER: some other token */
    enum rd_h1_form form;
    uint8_t version_minor; /* 0, or 1 for every 1.x above */
    uint16_t flags;        /* RD_H1_* */
    uint16_t fields_n;
    uint64_t content_length;    /* with RD_H1_LENGTH */
    const char *error;          /* static text when the head is bad */
    struct rd_h1_field *fields; /* the caller's, limits.fields_max of them */
};

/* Parses a head at buf[0..len). `head->fields` is set by the caller, all else
 * is written here.
 * > 0: the length of the head, with the empty lines before it (at most one,
 *      RFC 9112 2.2) and the empty line behind it; *head is complete.
 * 0:   more input is needed.
 * < 0: -status: -400 bad, -414 target too long, -431 header section or a field
 *      too large or too many, -501 transfer coding unknown, -505 version. The
 *      connection is to be closed after the reply. */
int rd_h1_parse(struct rd_h1_head *head, const struct rd_h1_limits *limits,
                const char *buf, size_t len);

#endif
