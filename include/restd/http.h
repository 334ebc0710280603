/* SPDX-License-Identifier: MIT */
/* Requests and responses, as a handler sees them.
 *
 * Both live on the loop thread that owns the connection, from the call of the
 * handler until it returns; every function here is for that thread and that
 * time only: [loop]. Slices point into the loop's input and die when the
 * handler returns. */
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
    RESTD_UNKNOWN = 0,
#define RESTD_X_(name) RESTD_##name,
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

/** Method; RESTD_UNKNOWN for one without a number. */
RESTD_API enum restd_method
restd_request_method(const struct restd_request *request);
/** Method token as received, RFC 9110 section 9.1. */
RESTD_API struct restd_slice
restd_request_method_name(const struct restd_request *request);
/** Request target as received, RFC 9112 section 3.2. */
RESTD_API struct restd_slice
restd_request_target(const struct restd_request *request);
/** Path part of the target, still percent-encoded. */
RESTD_API struct restd_slice
restd_request_path(const struct restd_request *request);
/** Query without its '?', still percent-encoded; absent without one. */
RESTD_API struct restd_slice
restd_request_query(const struct restd_request *request);
/** 1 if the query has the field `name` (before '=' or alone) with the value
 * `value` ("" for a flag), both compared as received; else 0. */
RESTD_API int restd_request_query_is(const struct restd_request *request,
                                     const char *name, const char *value);
/** Authority the request is for: absolute form wins over Host. */
RESTD_API struct restd_slice
restd_request_host(const struct restd_request *request);
/** 0 for HTTP/1.0, 1 for HTTP/1.1. */
RESTD_API int restd_request_version_minor(const struct restd_request *request);
/** First field value of that name, compared case-insensitively, without the
 * white space around it; absent if there is none. */
RESTD_API struct restd_slice
restd_request_header(const struct restd_request *request, const char *name);
/** Field line number `index`, from 0 in order of arrival; RESTD_ENOENT behind
 * the last. */
RESTD_API RESTD_MUST_CHECK int
restd_request_header_at(const struct restd_request *request, unsigned index,
                        struct restd_slice *name, struct restd_slice *value);
/** Value of the pattern's segment `{name}`, percent-decoded; absent if the
 * pattern has none of that name. */
RESTD_API struct restd_slice
restd_request_param(const struct restd_request *request, const char *name);
/** The whole content, decoded from its transfer coding; empty without one. */
RESTD_API struct restd_slice
restd_request_body(const struct restd_request *request);
/** Writes the peer's address as text ("192.0.2.1:4711", "[2001:db8::1]:80",
 * "unix:") and returns its length, or RESTD_ERANGE. */
RESTD_API RESTD_MUST_CHECK int
restd_request_peer(const struct restd_request *request, char *buf, size_t size);
/** Number of the loop, 0..workers-1, whose thread this is. */
RESTD_API unsigned restd_request_loop(const struct restd_request *request);
/** Number of this turn of the loop, ever growing: what a handler computes
 * once may be reused while it stays the same. */
RESTD_API uint64_t restd_request_turn(const struct restd_request *request);

/** Sets the status, 200..599; 200 without a call. RESTD_ERANGE otherwise. */
RESTD_API int restd_response_status(struct restd_response *response,
                                    int status);
/** Adds a header field. RESTD_EINVAL if the name is no token, the value has
 * CR, LF or another control character, or the field is one that the library
 * writes itself (Content-Length, Transfer-Encoding, Connection, Date);
 * RESTD_ELIMIT if there is no room. Both are copied. */
RESTD_API int restd_response_header(struct restd_response *response,
                                    const char *name, const char *value);
/** Sets Content-Type (copied); "text/plain" without a call if there is content.
 * RESTD_EINVAL if it is empty, longer than 128 bytes or no field value. */
RESTD_API int restd_response_type(struct restd_response *response,
                                  const char *type);
/**
 * Header fields that are checked and laid out once and then added to many
 * responses for the price of a copy.
 * Owner: the caller. Lifetime: restd_fields_new() to restd_fields_free(), and
 * longer than the server that uses it. Thread: built by one, then [any].
 */
struct restd_fields;

/** Makes an empty set. RESTD_ENOMEM. */
RESTD_API RESTD_MUST_CHECK int restd_fields_new(struct restd_fields **fields);
/** Adds a field, Content-Type included; errors as restd_response_header(). */
RESTD_API RESTD_MUST_CHECK int restd_fields_add(struct restd_fields *fields,
                                                const char *name,
                                                const char *value);
/** NULL is allowed. */
RESTD_API void restd_fields_free(struct restd_fields *fields);
/** Adds all of them to a response; a Content-Type in them replaces the
 * response's. RESTD_ELIMIT if there is no room. */
RESTD_API int restd_response_fields(struct restd_response *response,
                                    const struct restd_fields *fields);

/** Sets the content to a copy of `len` bytes. RESTD_ENOMEM when the memory
 * budget has no room. */
RESTD_API RESTD_MUST_CHECK int
restd_response_body(struct restd_response *response, const void *data,
                    size_t len);
/** Sets the content to `len` bytes that stay valid and unchanged until the
 * handler has returned. Never fails; small contents are copied then. */
RESTD_API void restd_response_body_borrowed(struct restd_response *response,
                                            const void *data, size_t len);
/** Appends formatted text, at most 1023 bytes a call (RESTD_ELIMIT), to the
 * content. RESTD_ENOMEM as above. */
RESTD_API RESTD_MUST_CHECK int
restd_response_printf(struct restd_response *response, const char *format, ...)
    RESTD_PRINTF(2, 3);
/** Makes the response a problem document, RFC 9457: status, its IANA phrase as
 * title, and `detail` (copied; NULL: none). */
RESTD_API int restd_response_problem(struct restd_response *response,
                                     int status, const char *detail);

/** IANA phrase of a status code, "Unknown" for one not registered. Static
 * memory. [any thread] */
RESTD_API const char *restd_status_phrase(int status);
/** Name of a method with a number, NULL for another. Static memory.
 * [any thread] */
RESTD_API const char *restd_method_name(enum restd_method method);

RESTD_END_DECLS

#endif
