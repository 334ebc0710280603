/* SPDX-License-Identifier: MIT */
/* Request messages and what has to become of them: data for the unit tests of
 * the parser and the chunked decoder, for the fuzz corpus and for the
 * comparison with Node's server.
 *
 * `head` of a good message: number form path[?query] @authority 1.minor, then
 * len=N and the flags; as h1_describe() of test_h1_parser.c writes it.
 * `fields`: Name=value of all lines, with '|' between them. */
#ifndef RD_TESTS_H1_MESSAGES_H
#define RD_TESTS_H1_MESSAGES_H

#include <stddef.h>

struct h1_message {
    const char *name;
    const char *raw;
    size_t len;
    int status;       /* 0: a good head */
    const char *head; /* of a good one */
    const char *fields;
    int body_status;  /* of a chunked body: 0 or the status of its fault */
    const char *body; /* decoded content, NULL: none */
};

#define RAW(text) (text), sizeof(text) - 1
/* A whole head with this request line, with these field lines. */
#define LINE(text) RAW(text "\r\nHost: a\r\n\r\n")
#define FIELDS(text) RAW("GET / HTTP/1.1\r\nHost: a\r\n" text "\r\n")
#define HOST(text) RAW("GET / HTTP/1.1\r\nHost:" text "\r\n\r\n")
#define CHUNKED(text)                                                          \
    RAW("POST /e HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "                   \
        "chunked\r\n\r\n" text)
#define A16 "aaaaaaaaaaaaaaaa"
#define A64 A16 A16 A16 A16

/* G: good head; B: bad head; C: chunked body, good; D: chunked body, bad. */
#define G(name, raw, head, fields)                                             \
    {                                                                          \
        name, raw, 0, head, fields, 0, NULL                                    \
    }
#define N(name, raw, head, fields, body)                                       \
    {                                                                          \
        name, raw, 0, head, fields, 0, body                                    \
    }
#define B(name, status, raw)                                                   \
    {                                                                          \
        name, raw, status, NULL, NULL, 0, NULL                                 \
    }
#define CHEAD "POST origin /e @a 1.1 chunked host plain"
#define CFIELDS "Host=a|Transfer-Encoding=chunked"
#define C(name, body, text)                                                    \
    {                                                                          \
        name, CHUNKED(text), 0, CHEAD, CFIELDS, 0, body                        \
    }
#define D(name, text)                                                          \
    {                                                                          \
        name, CHUNKED(text), 0, CHEAD, CFIELDS, 400, NULL                      \
    }

static const struct h1_message h1_messages[] = {
#include "h1_messages_line.h"
#include "h1_messages_fields.h"
#include "h1_messages_chunked.h"
};

#define H1_MESSAGES_N (sizeof(h1_messages) / sizeof(h1_messages[0]))

#undef RAW
#undef LINE
#undef FIELDS
#undef HOST
#undef CHUNKED
#undef A16
#undef A64
#undef G
#undef N
#undef B
#undef C
#undef CHEAD
#undef CFIELDS
#undef D

#endif
