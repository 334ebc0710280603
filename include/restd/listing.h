/* SPDX-License-Identifier: MIT */
/* Ready-made handlers that serve the routes of a router as a document. */
#ifndef RESTD_LISTING_H
#define RESTD_LISTING_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/http.h>
#include <restd/router.h>

RESTD_BEGIN_DECLS

enum restd_listing_format {
    /** Pattern, then a line for each method with its summary; text/plain. */
    RESTD_LISTING_TEXT,
    /** "title" and "version" if they are given, and "endpoints": a list, by
     * pattern, of "endpoint", "summary" (the first of its routes that has
     * one) and "methods"; "summaries" of methods that have another one.
     * application/yaml, RFC 9512. */
    RESTD_LISTING_YAML,
    /** The same as application/json. */
    RESTD_LISTING_JSON,
    /** An OpenAPI 3.1 document, application/json. Variables become path
     * parameters, with the class or regex as their schema (the regex as it
     * is written if ECMA-262 has all that is in it, as JSON Schema wants,
     * else in words); `{name...}` is a parameter like others. Patterns that
     * differ in names or types only are one path, and with one method one
     * operation, that of the first pattern: other types of its parameters
     * stand beside as alternatives. Methods that OpenAPI has no place for
     * are listed as "x-methods". A content comes from `consumes`, the 200
     * reply from `produces`. */
    RESTD_LISTING_OPENAPI
};

/**
 * What restd_listing_handler() needs as its data. Set it up with
 * restd_listing_init().
 * Owner: the caller. Lifetime: until the router is freed, with its strings.
 * Thread: set up by one, then [any].
 */
struct restd_listing {
    size_t size;
    const struct restd_router *router; /* the outermost one: mounting frees
                                          the others */
    enum restd_listing_format format;
    const char *title;   /* NULL: none; "API" where there must be one */
    const char *version; /* of the service; NULL: none; "0" the same */
};

RESTD_API void restd_listing_init_size(struct restd_listing *listing,
                                       size_t size);
static inline void restd_listing_init(struct restd_listing *listing)
{
    restd_listing_init_size(listing, sizeof(*listing));
}

/**
 * Answers with the routes, its own included: a handler for
 * restd_router_add(), whose `data` is a struct restd_listing. The document is
 * made anew each time, about 0.3 KiB for each route, and needs room in the
 * memory budget (else 503). [loop]
 */
RESTD_API int restd_listing_handler(struct restd_request *request,
                                    struct restd_response *response,
                                    void *data);

RESTD_END_DECLS

#endif
