/* SPDX-License-Identifier: MIT */
/* What requests (restd/request.h), responses (restd/response.h) and routes
 * (restd/router.h) have in common: methods, status codes, handlers. */
#ifndef RESTD_HTTP_H
#define RESTD_HTTP_H

#include <restd/api.h>
#include <restd/error.h>

/* X(name): methods with a number of their own, RFC 9110 section 9.3 and
 * RFC 5789. */
#define RESTD_METHOD_MAP(X)                                                    \
    X(GET)                                                                     \
    X(HEAD)                                                                    \
    X(POST)                                                                    \
    X(PUT)                                                                     \
    X(DELETE)                                                                  \
    X(CONNECT)                                                                 \
    X(OPTIONS)                                                                 \
    X(TRACE)                                                                   \
    X(PATCH)

RESTD_BEGIN_DECLS

enum restd_method {
    RESTD_METHOD_OTHER = 0,
#define RESTD_X_(name) RESTD_METHOD_##name,
    RESTD_METHOD_MAP(RESTD_X_)
#undef RESTD_X_
        RESTD_METHODS_N
};

struct restd_request;
struct restd_response;

/**
 * A request handler. Runs on a loop thread: it must not block.
 * Returns 0, or a negative RESTD_E* that becomes a 500 (RESTD_ENOMEM: 503).
 */
typedef int restd_handler_fn(struct restd_request *request,
                             struct restd_response *response, void *data);

/** IANA phrase of a status code, "Unknown" for one not registered. Static
 * memory. [any thread] */
RESTD_API const char *restd_status_phrase(int status);
/** Name of a method with a number, NULL for another. Static memory.
 * [any thread] */
RESTD_API const char *restd_method_name(enum restd_method method);

RESTD_END_DECLS

#endif
