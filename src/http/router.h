/* SPDX-License-Identifier: MIT */
/* From method and path to a route. Patterns are split at '/': a segment is
 * text or `{name}`. The most specific match wins: text before a variable, from
 * the left. Needs no server: path in, route out.
 *
 * Owner: the server. Lifetime: built at [init], frozen, then immutable.
 * Thread: rd_router_match() any. */
#ifndef RD_HTTP_ROUTER_H
#define RD_HTTP_ROUTER_H

#include <stdint.h>

#include <restd/http.h>

/* Method numbers: enum restd_method, then tokens of routes' own. */
#define RD_METHODS_MAX 32
#define RD_PARAMS_MAX 16

struct rd_router;

struct rd_route {
    restd_handler_fn *handler;
    void *data;
    const char *pattern;
    unsigned params_n;
    struct restd_slice params[RD_PARAMS_MAX]; /* names */
};

struct rd_match {
    const struct rd_route *route;
    uint32_t allowed; /* bit per method number, for Allow */
    unsigned params_n;
    struct restd_slice params[RD_PARAMS_MAX]; /* values, decoded */
};

int rd_router_new(struct rd_router **router);
void rd_router_free(struct rd_router *router);
/* RESTD_EINVAL, RESTD_EEXIST, RESTD_ENOMEM, RESTD_ELIMIT. */
int rd_router_add(struct rd_router *router, const char *method,
                  const char *pattern, restd_handler_fn *handler, void *data,
                  struct restd_error *error);
/* Builds the table of paths without variables. RESTD_ENOMEM. */
int rd_router_freeze(struct rd_router *router);

/* Number of a method token, 0 if no route knows it and it has none. */
unsigned rd_router_method(const struct rd_router *router,
                          struct restd_slice token);
/* `plain`: RD_H1_PLAIN_PATH holds, so that the path can be looked up as it is.
 * `scratch`: path.len bytes for decoded segments, which values may point to.
 * 0: match->route; -405: match->allowed; -404; -400. */
int rd_router_match(const struct rd_router *router, unsigned method,
                    struct restd_slice path, int plain, char *scratch,
                    struct rd_match *match);
/* Memory that it holds, for the ledger. */
size_t rd_router_bytes(const struct rd_router *router);
/* Methods of all routes, for `OPTIONS *`. */
uint32_t rd_router_allowed(const struct rd_router *router);
#define RD_ALLOW_MAX 1024u
/* Writes "GET, HEAD, OPTIONS"; its length. RD_ALLOW_MAX holds any, with less
 * RESTD_ERANGE and what has fitted. */
int rd_router_allow_text(const struct rd_router *router, uint32_t allowed,
                         char *buf, size_t size);

#endif
