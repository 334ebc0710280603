/* SPDX-License-Identifier: MIT */
/* Routers: which handler serves which method and path, and what runs around
 * it. A router needs no server: restd_router_call() hands it a request and
 * takes its reply. */
#ifndef RESTD_ROUTER_H
#define RESTD_ROUTER_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/http.h>
#include <restd/plugin.h>

RESTD_BEGIN_DECLS

/**
 * A table of routes.
 * Owner: who made it, until a server or another router has taken it.
 * Lifetime: restd_router_new() to restd_router_free() or that of its taker.
 * Thread: one at a time while it is filled; immutable once its server has
 * started.
 */
struct restd_router;

/** How a path is compared with the patterns of a router. */
enum restd_router_mode {
    /** The whole path must match; the most specific pattern wins, whatever
     * the order in which they were added. */
    RESTD_ROUTER_EXACT,
    /** The first segments must match, further ones are ignored; the first
     * pattern that was added wins, and lacks it the method, the answer is 405.
     * Runs of slashes count as one. A pattern that ends with '/' needs a
     * further segment, which may be empty; `{x:}` matches an empty last
     * segment. Methods of one pattern that are added in a row stand together;
     * a pattern that is added again later, or with a method that it has,
     * replaces the old one with all its methods, and comes last. */
    RESTD_ROUTER_PREFIX
};

/** Makes an empty router. RESTD_ENOMEM. */
RESTD_API RESTD_MUST_CHECK int restd_router_new(enum restd_router_mode mode,
                                                struct restd_router **router);
/** Frees a router that nobody has taken; NULL is allowed. */
RESTD_API void restd_router_free(struct restd_router *router);

/**
 * Adds a route and returns its number, from 0, for the functions below.
 *
 * `method` is a token, RFC 9110 section 9.1; GET serves HEAD as well, and
 * OPTIONS is answered for every path unless it has a route. `pattern` is an
 * absolute path whose segments are
 *
 *     text             itself, written decoded, compared with the decoded
 *                      segment
 *     {name}           any segment that is not empty
 *     {}               the same, without a name
 *     {name:int}       an optional '-' and 1 to 19 digits
 *     {name:uuid}      8-4-4-4-12 hexadecimal digits, RFC 9562 section 4
 *     {name:slug}      letters, digits, '-', '_', '.' and '~'
 *     {name:regex}     the whole segment matches a PCRE2 pattern (of bytes,
 *                      without '/')
 *     {:regex}         the same, without a name
 *     {name...}        all that follows, at least one segment, which may be
 *                      empty; last segment only. Its value is the decoded
 *                      segments joined by '/'; a slash of their own is "%2F"
 *
 * More specific is, from the left: text, then class or regex (regexes in the
 * order of their text, then uuid, int, slug), then variable, then the rest.
 * Strings are copied, `data` is handed to the handler.
 *
 * A regex that takes more than 10,000 steps or 20 KiB for a segment does not
 * match it.
 *
 * RESTD_ESTATE once a server runs with it (as the other functions that change
 * a router), RESTD_EINVAL for a bad method or pattern, RESTD_EEXIST if an equal
 * pattern (names do not count) has the method already, RESTD_ELIMIT for more
 * than 22 methods that RFC 9110 and RFC 5789 do not name, RESTD_ENOMEM; `error`
 * (may be NULL) has a sentence then.
 */
RESTD_API RESTD_MUST_CHECK int
restd_router_add(struct restd_router *router, const char *method,
                 const char *pattern, restd_handler_fn *handler, void *data,
                 struct restd_error *error);

/**
 * What else a route may say of itself. Set it up with
 * restd_route_options_init(); `size` lets fields be added.
 * Owner: the caller; copied, with its strings. Thread: [any], one at a time.
 */
struct restd_route_options {
    size_t size;
    const char *summary;     /* one line for listings; NULL: none */
    const char *consumes;    /* media type of its content; NULL: any */
    const char *produces;    /* media type of its reply; NULL: not said */
    uint64_t body_max_bytes; /* content, more: 413; 0: the server's limit */
    uint8_t low_priority;    /* 503 while memory is short (90 % of budget) */
    uint8_t streaming;       /* called when the head is there; takes the
                                content by restd_request_receive() */
    uint8_t offload;         /* the handler may wait: it and the wrappers run
                                on a thread of its own, see restd/request.h */
    uint8_t abandon_on_fin;  /* of an offloaded one: a client that has closed
                                its side (FIN) has left */
};

RESTD_API void
restd_route_options_init_size(struct restd_route_options *options, size_t size);
/** Fills in the defaults. */
static inline void restd_route_options_init(struct restd_route_options *options)
{
    restd_route_options_init_size(options, sizeof(*options));
}

/** Sets the options of a route. RESTD_ENOENT for no such number,
 * RESTD_EINVAL, RESTD_ENOMEM. */
RESTD_API RESTD_MUST_CHECK int
restd_router_configure(struct restd_router *router, int route,
                       const struct restd_route_options *options,
                       struct restd_error *error);

/**
 * Puts the routes of `child` below `base`, a pattern like a route's without
 * {name...} and without '/' at its end (the base of "" or "/" adds nothing),
 * and takes the child: it must not be used any more. Its plugins go on to hold
 * for every path below the base.
 *
 * Routes of an EXACT child are as if they had been added here. Those of a
 * PREFIX child come, in a PREFIX router, behind the others; in an EXACT one
 * they stay a list, which is asked when no exact route has path and method,
 * that with the longest base first. A PREFIX router takes no EXACT one.
 *
 * On an error (as restd_router_add()) nothing is changed and the child stays
 * the caller's.
 */
RESTD_API RESTD_MUST_CHECK int restd_router_mount(struct restd_router *router,
                                                  const char *base,
                                                  struct restd_router *child,
                                                  struct restd_error *error);

/** Has a plugin hold for all requests that come to the router, those that find
 * no route included. The struct is copied, its data taken: `plugin->free` is
 * called with it in the end, on an error of this function as well. The end of a
 * router is that of its routes' plugins first, then of those of the routers
 * that are mounted on it, the deepest first, and at last of its own; in each of
 * these the last one added goes first.
 * RESTD_EINVAL if it is NULL or its size is not known, RESTD_ENOMEM. */
RESTD_API RESTD_MUST_CHECK int
restd_router_use(struct restd_router *router, const struct restd_plugin *plugin,
                 struct restd_error *error);
/** The same for one route. RESTD_ENOENT for no such number. */
RESTD_API RESTD_MUST_CHECK int
restd_router_use_on(struct restd_router *router, int route,
                    const struct restd_plugin *plugin,
                    struct restd_error *error);

/** A route as listings see it. Strings are the router's. Grows at its end in
 * later versions. */
struct restd_route_info {
    const char *method, *pattern; /* pattern with its bases */
    const char *summary;          /* NULL: none */
    const char *consumes, *produces;
};

/** For restd_router_route_at(): writes at most `size` bytes. */
RESTD_API RESTD_MUST_CHECK int
restd_router_route_at_size(const struct restd_router *router, unsigned index,
                           struct restd_route_info *info, size_t size);
/** Route number `index`, from 0 in the order of pattern, then method number,
 * mounted ones included; RESTD_ENOENT behind the last. Inline, so that it
 * knows the size that the caller was built with. */
RESTD_MUST_CHECK static inline int
restd_router_route_at(const struct restd_router *router, unsigned index,
                      struct restd_route_info *info)
{
    return restd_router_route_at_size(router, index, info, sizeof(*info));
}
/** Whether a request of that method for that path would find a route: 1, or
 * 0. */
RESTD_API int restd_router_supports(struct restd_router *router,
                                    const char *method, const char *path);

struct restd_json;
/**
 * Writes one JSON object that says what becomes of a request: of the route its
 * `pattern`, `captures`, and `limits`, or the `status` that the request gets
 * without one (404; 405 and the 204 of OPTIONS with `allow`; 400; 501); the
 * `plugins` by name in the order in which they run; and `near_misses`, at most
 * 16 other patterns, the nearest first, with `why` they did not win. A query
 * behind the path is left out. Plugins are not called, so what they would
 * answer or change is not seen.
 * RESTD_EINVAL for a path that does not begin with '/', RESTD_ENOMEM. Whether
 * all has fitted is what restd_json_finish() says.
 */
RESTD_API RESTD_MUST_CHECK int restd_router_explain(struct restd_router *router,
                                                    const char *method,
                                                    const char *path,
                                                    struct restd_json *json);

/** What restd_router_lint() finds; there may be more kinds one day. */
enum restd_lint_kind {
    RESTD_LINT_UNREACHABLE, /* other routes take all paths of the route */
    RESTD_LINT_HIDDEN,      /* a regex takes most of what a class is for */
    RESTD_LINT_EMPTY, /* a regex takes no segment, or only the empty one */
    RESTD_LINT_SLOW,  /* a regex can be made to run into its limit, so
                               that it takes time and then does not match */
    RESTD_LINT_NAMES, /* two segments have one name: the last holds */
    RESTD_LINT_WORD   /* a regex is a mere word, perhaps meant as a class */
};
/** Takes a finding; the strings die with the call. */
typedef void restd_lint_fn(enum restd_lint_kind kind, const char *pattern,
                           const char *message, void *data);
/**
 * Looks for routes that cannot be meant as they are; `fn` is called for each
 * finding. Regexes are tried with segments made for the purpose, so a fault in
 * one may be missed. A server does it at its start, into its log.
 * Returns the number of findings, or RESTD_ENOMEM.
 */
RESTD_API RESTD_MUST_CHECK int restd_router_lint(struct restd_router *router,
                                                 restd_lint_fn *fn, void *data);

/**
 * A request for restd_router_call(). Set it up with restd_call_init().
 * Owner: the caller; borrowed for the call. Thread: [any], one at a time.
 */
struct restd_call {
    size_t size;
    const char *method;  /* NULL: GET */
    const char *target;  /* path, with a query or without; NULL: "/" */
    const char *headers; /* lines "Name: value\r\n"; NULL: none. Host,
                            Connection and Content-Length are added */
    const void *body;
    size_t body_len;
};
RESTD_API void restd_call_init_size(struct restd_call *call, size_t size);
static inline void restd_call_init(struct restd_call *call)
{
    restd_call_init_size(call, sizeof(*call));
}

/**
 * What a request was answered.
 * Owner: the caller. Lifetime: to restd_reply_free(). Thread: [any], one at a
 * time.
 */
struct restd_reply;

/**
 * Has a router answer a request, without a server and without a socket: the
 * same code as in a server parses it, calls plugins and handlers, and writes
 * the reply, on the calling thread and its stack, by the default options. A
 * stream is run to its end, at most 10 s; one of events ends by itself soon, as
 * in a drain.
 * The router must not be part of a running server meanwhile.
 * RESTD_EINVAL if the header lines do not end with CR LF or the reply is no
 * whole one, RESTD_ENOMEM, RESTD_EOS.
 */
RESTD_API RESTD_MUST_CHECK int restd_router_call(struct restd_router *router,
                                                 const struct restd_call *call,
                                                 struct restd_reply **reply,
                                                 struct restd_error *error);
RESTD_API int restd_reply_status(const struct restd_reply *reply);
/** First field value of that name, absent if there is none. */
RESTD_API struct restd_slice restd_reply_header(const struct restd_reply *reply,
                                                const char *name);
/** The content, decoded from its transfer coding. */
RESTD_API struct restd_slice restd_reply_body(const struct restd_reply *reply);
/** NULL is allowed. */
RESTD_API void restd_reply_free(struct restd_reply *reply);

RESTD_END_DECLS

#endif
