/* SPDX-License-Identifier: MIT */
/* A server with handlers of the test's own, a client that takes streamed
 * replies, and contents that can be checked byte by byte however large.
 *
 * Owner: a test, one at a time. Thread: the test's; `seen` is written by the
 * loops. */
#ifndef RD_TESTS_SITE_H
#define RD_TESTS_SITE_H

#include <stdatomic.h>
#include <stdint.h>

#include "client.h"

/* Byte number i of every large content is i % PERIOD. */
#define PERIOD 251u
#define PATTERN_MAX (10u * 1024 * 1024)
extern char pattern[PATTERN_MAX + PERIOD];

struct site {
    struct restd_options options; /* to be changed before site_new() */
    struct restd_server *server;
    struct restd_router *router;
    int port;
};
extern struct site site;

/* What handlers and plugins have been told. */
struct seen {
    atomic_int closed, complete; /* of streams */
    atomic_int uploads, uploads_complete;
    atomic_int before, after, aborted; /* calls; outcomes with `aborted` */
    atomic_int status;                 /* of the last outcome */
    atomic_ullong content;             /* of the last outcome */
    atomic_int errors;                 /* what should not have been */
    atomic_int last;                   /* whatever a test makes of it */
};
extern struct seen seen;

/* Fixture: defaults, nothing seen. The other: everything has been given back,
 * and what was opened was closed once; stops the server. */
void site_set_up(void);
void site_tear_down(void);
/* Makes the server, with a plugin that counts in `seen`. */
void site_new(void);
/* `streaming`: 1, or 0; `max`: of its content, 0: the server's. */
int site_add(const char *method, const char *path, restd_handler_fn *handler,
             int streaming, uint64_t max);
void site_start(void);
/* Waits until no connection is left and nobody holds memory. */
void site_at_rest(void);
/* Live or peak bytes of an owner. */
uint64_t site_memory(const char *owner, int peak);
/* Connections closed for that reason. */
uint64_t site_closed_by(const char *reason);

/* Number in the query of a request, or `otherwise`. */
uint64_t query_number(const struct restd_request *request, const char *name,
                      uint64_t otherwise);
int query_has(const struct restd_request *request, const char *name);
/* For a taker who does not want it. */
int drop_content(struct restd_upload *upload, const char *bytes, size_t len,
                 void *data);

/* A reply of any framing. */
struct content {
    int status;          /* 0: none came */
    int complete;        /* by its framing */
    int chunked, length; /* framing; neither: by the end of the connection */
    int ended;           /* the connection was, while receiving */
    uint64_t len;
    uint64_t bad; /* bytes that are not of the pattern */
    char head[8192];
    char body[65536]; /* its beginning, terminated */
    char trailers[2048];
};
/* Receives one, 1xx included. Returns its status. */
int content_receive(struct client *c, struct content *r, int head_only);
/* Sends, and receives. */
int content_ask(struct client *c, const char *text, struct content *r);

/* 1 under a sanitizer, where sizes of the process say nothing. */
int is_sanitized(void);
/* Private memory of the process in bytes. */
uint64_t resident_bytes(void);

#endif
