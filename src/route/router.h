/* SPDX-License-Identifier: MIT */
/* From method and path to a route: what the driver sees of a router, see
 * restd/router.h. Needs no server: path in, route out.
 *
 * struct rd_route, rd_scope: owner the router, see restd_router_new().
 * Thread: rd_router_match() any, on a frozen router; see restd_router. */
#ifndef RD_ROUTE_ROUTER_H
#define RD_ROUTE_ROUTER_H

#include <stdint.h>

#include <restd/router.h>

#include "route/pattern.h"
#include "route/plugins.h"

/* Method numbers: enum restd_method, then tokens of routes' own. */
#define RD_METHODS_MAX 32

/* Kinds of plugins, of which a request is to be told. */
enum { RD_HAS_BEFORE = 1, RD_HAS_AFTER = 2 };

/* A router that was mounted, or the outermost one. */
struct rd_scope {
    struct rd_scope *parent; /* NULL: the outermost */
    const char *base;        /* with those of its parents; "": none */
    struct rd_plugins plugins;
    /* RD_HAS_*: of the scopes below the outermost one, up to here. Frozen. */
    uint8_t has;
    /* The router's own. */
    struct rd_scope *next; /* behind a deeper one */
    struct rd_pattern *pattern;
    enum restd_router_mode mode;
    struct rd_router_entry *entries; /* PREFIX; frozen */
    unsigned entries_n;
};

struct rd_route {
    restd_handler_fn *handler;
    void *data;
    const char *pattern; /* with its bases */
    unsigned method;     /* number */
    struct restd_route_options options;
    struct rd_scope *scope;
    struct rd_plugins plugins; /* its own */
    /* All wrappers, outermost first; frozen. */
    const struct restd_plugin **wrappers;
    unsigned wrappers_n;
    uint8_t has; /* its scope's, and of its own; frozen */
    /* The router's own. */
    struct rd_pattern *compiled;
    struct rd_scope *list;       /* whose entry it is; NULL: in the tree */
    const struct rd_route *next; /* of the same path; frozen */
};

struct rd_match {
    const struct rd_route *route;
    /* The route's; without one the deepest whose base the path has. */
    const struct rd_scope *scope;
    uint32_t allowed; /* bit per method number, for Allow */
    unsigned params_n;
    struct restd_slice params[RD_PARAMS_MAX]; /* values, decoded */
};

/* Name of a value of the match. */
static inline struct restd_slice rd_match_name(const struct rd_match *match,
                                               unsigned i)
{
    const struct rd_pattern *p = match->route->compiled;
    return p->segments[p->params[i]].name;
}

/* What matching needs beside the router. Owner: a loop, [loop] only. */
struct rd_router_work {
    char *scratch; /* 2 * target_max */
    size_t size;
    struct rd_regex_work *regex; /* NULL: the router has no regex */
};
/* NULL: for a router without a regex. RESTD_ENOMEM. May be called before the
 * router is frozen. */
RESTD_MUST_CHECK int rd_router_work_init(struct rd_router_work *work,
                                         const struct restd_router *router,
                                         size_t target_max);
void rd_router_work_fini(struct rd_router_work *work);
/* What it holds, for the ledger; with a regex RD_REGEX_WORK_BYTES more. */
size_t rd_router_work_bytes(const struct restd_router *router,
                            size_t target_max);

/* Builds what matching needs; nothing to do if nothing was added since.
 * RESTD_ENOMEM. */
RESTD_MUST_CHECK int rd_router_freeze(struct restd_router *router);

/* From now on it cannot be changed. Frozen. */
void rd_router_seal(struct restd_router *router);
/* Plugins of it and of all its routes, but for those that have nothing to call;
 * frozen. */
unsigned rd_router_plugins(const struct restd_router *router);

/* As restd_router_route_at(), all of it; NULL behind the last. */
const struct rd_route *rd_router_route(const struct restd_router *router,
                                       unsigned index);
/* The outermost router's scope. */
const struct rd_scope *rd_router_scope(const struct restd_router *router);
/* Number of a method token, 0 if no route knows it and it has none. */
unsigned rd_router_method(const struct restd_router *router,
                          struct restd_slice token);
/* `plain`: RD_H1_PLAIN_PATH holds, so that the path can be looked up as it is.
 * Values point to the path or into work->scratch. That of `{name...}` is the
 * decoded segments joined by '/', in which a slash of their own is "%2F".
 * 0: match->route; -405: match->allowed; -404; -400; match->scope always. */
int rd_router_match(const struct restd_router *router, unsigned method,
                    struct restd_slice path, int plain,
                    struct rd_router_work *work, struct rd_match *match);
/* Memory that it holds, for the ledger; frozen. */
size_t rd_router_bytes(const struct restd_router *router);
/* Methods of all routes, for `OPTIONS *`; frozen. */
uint32_t rd_router_allowed(const struct restd_router *router);
#define RD_ALLOW_MAX 1024u
/* Writes "GET, HEAD, OPTIONS"; its length. RD_ALLOW_MAX holds any, with less
 * RESTD_ERANGE and what has fitted. */
int rd_router_allow_text(const struct restd_router *router, uint32_t allowed,
                         char *buf, size_t size);

#endif
