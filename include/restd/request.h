/* SPDX-License-Identifier: MIT */
/* Requests, as handlers and plugins see them.
 *
 * A request lives on the loop thread that owns its connection, from the end of
 * its head until its reply has gone; every function here is for that thread:
 * [loop]. The handler of a route with the option `offload` runs on another
 * thread, which has the request to itself meanwhile. Slices point into the loop's input and die when the function that
 * was called with the request returns, unless it says otherwise. */
#ifndef RESTD_REQUEST_H
#define RESTD_REQUEST_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/http.h>

RESTD_BEGIN_DECLS

struct restd_loop;

/** Method; RESTD_METHOD_OTHER for one without a number. */
RESTD_API enum restd_method
restd_request_method(const struct restd_request *request);
/** Method token as received, RFC 9110 section 9.1. */
RESTD_API struct restd_slice
restd_request_method_name(const struct restd_request *request);
/** Request target as received, RFC 9112 section 3.2; absent in a request that
 * is none (after functions). */
RESTD_API struct restd_slice
restd_request_target(const struct restd_request *request);
/** Path part of the target, still percent-encoded; or what a plugin has set. */
RESTD_API struct restd_slice
restd_request_path(const struct restd_request *request);
/** Pattern of the route, absent without one. Lives as the router. */
RESTD_API struct restd_slice
restd_request_pattern(const struct restd_request *request);
/** Authority the request is for: absolute form wins over Host. */
RESTD_API struct restd_slice
restd_request_host(const struct restd_request *request);
/** 0 for HTTP/1.0, 1 for HTTP/1.1. */
RESTD_API int restd_request_version_minor(const struct restd_request *request);

/** Value of the pattern's segment `{name}`, percent-decoded; absent if the
 * pattern has none of that name. With `{name...}` the segments are joined by
 * '/', and a slash that was encoded stays "%2F". */
RESTD_API struct restd_slice
restd_request_param(const struct restd_request *request, const char *name);
/** The same as a number: RESTD_ENOENT if there is none of that name,
 * RESTD_EINVAL if it is no integer, RESTD_ERANGE if that does not fit. */
RESTD_API RESTD_MUST_CHECK int
restd_request_param_int(const struct restd_request *request, const char *name,
                        int64_t *value);
/** Parameter number `index`, from 0 in the order of the pattern; RESTD_ENOENT
 * behind the last. */
RESTD_API RESTD_MUST_CHECK int
restd_request_param_at(const struct restd_request *request, unsigned index,
                       struct restd_slice *name, struct restd_slice *value);

/** Query without its '?', still percent-encoded; absent without one. */
RESTD_API struct restd_slice
restd_request_query(const struct restd_request *request);
/** Value of the first field of that name in the query, decoded ('+' is a
 * space, a bad escape stays as it is); empty for a flag, absent if there is
 * none. */
RESTD_API struct restd_slice
restd_request_query_get(const struct restd_request *request, const char *name);
/** Fields of the query in their order. *cursor is 0 for the first and the
 * function's own then; RESTD_ENOENT behind the last. */
RESTD_API RESTD_MUST_CHECK int
restd_request_query_next(const struct restd_request *request, size_t *cursor,
                         struct restd_slice *name, struct restd_slice *value);

/** First field value of that name, compared case-insensitively, without the
 * white space around it; absent if there is none. */
RESTD_API struct restd_slice
restd_request_header(const struct restd_request *request, const char *name);
/** What plugins have set, then field lines in order of arrival; of one name
 * only if `name` is not NULL. *cursor is 0 for the first; RESTD_ENOENT behind
 * the last. */
RESTD_API RESTD_MUST_CHECK int
restd_request_header_next(const struct restd_request *request, unsigned *cursor,
                          const char *name, struct restd_slice *field_name,
                          struct restd_slice *value);
/** Value of the first cookie of that name, RFC 6265 section 4.2, without
 * double quotes around it; absent if there is none. */
RESTD_API struct restd_slice
restd_request_cookie(const struct restd_request *request, const char *name);
/** Cookies in their order, of all Cookie fields; as
 * restd_request_query_next(). */
RESTD_API RESTD_MUST_CHECK int
restd_request_cookie_next(const struct restd_request *request, size_t *cursor,
                          struct restd_slice *name, struct restd_slice *value);

/** The whole content, decoded from its transfer coding; empty without one, and
 * in `before` functions and streaming handlers. */
RESTD_API struct restd_slice
restd_request_body(const struct restd_request *request);

/** Writes the peer's address as text ("192.0.2.1:4711", "[2001:db8::1]:80",
 * "unix:") and returns its length, or RESTD_ERANGE. */
RESTD_API RESTD_MUST_CHECK int
restd_request_peer(const struct restd_request *request, char *buf, size_t size);
/** The peer's address alone, without a port; as above. */
RESTD_API RESTD_MUST_CHECK int
restd_request_peer_host(const struct restd_request *request, char *buf,
                        size_t size);
/** The address that the peer has connected to; as above. A system call.
 * RESTD_ECLOSED in a handler that runs elsewhere. */
RESTD_API RESTD_MUST_CHECK int
restd_request_local(const struct restd_request *request, char *buf,
                    size_t size);
/** Name of the listener it came through, absent without one. Lives until the
 * connection ends. */
RESTD_API struct restd_slice
restd_request_listener(const struct restd_request *request);
/** Who was at the other end of a unix socket when it connected, by the kernel;
 * RESTD_ENOENT on other sockets. A system call. */
RESTD_API RESTD_MUST_CHECK int
restd_request_peer_credentials(const struct restd_request *request,
                               int64_t *pid, uint32_t *uid, uint32_t *gid);
/** When its first byte was read, in ms since 1970, UTC. */
RESTD_API int64_t restd_request_time_ms(const struct restd_request *request);

/** The loop whose thread this is, for timers and posts. */
RESTD_API struct restd_loop *
restd_request_loop(const struct restd_request *request);
/** Its number, 0..workers-1. */
RESTD_API unsigned restd_request_worker(const struct restd_request *request);
/** Number of this turn of the loop, ever growing: what a handler computes
 * once may be reused while it stays the same. */
RESTD_API uint64_t restd_request_turn(const struct restd_request *request);

/** Sets a field for those who look later, in place of any of that name, received
 * or set (copied). For `before` functions. RESTD_EINVAL if it is no field,
 * RESTD_ELIMIT if there is no room (4 KiB in all). */
RESTD_API RESTD_MUST_CHECK int
restd_request_set_header(struct restd_request *request, const char *name,
                         struct restd_slice value);
/** Has the request routed by another path (copied). For `before` functions of
 * the outermost router: RESTD_ESTATE once it is routed. RESTD_EINVAL if it
 * does not begin with '/' or has characters that no path has, RESTD_ELIMIT as
 * above. */
RESTD_API RESTD_MUST_CHECK int
restd_request_set_path(struct restd_request *request, const char *path);
/** A pointer for the plugins and handlers of one request; NULL at first. */
RESTD_API void restd_request_set_data(struct restd_request *request,
                                      void *data);
RESTD_API void *restd_request_data(const struct restd_request *request);

/** 1 once nobody waits for the reply any more: the client has left, the time
 * of the handler (handler_timeout) is over, or the server stops. For handlers
 * that run on a thread of their own; 0 in others. */
RESTD_API int restd_request_cancelled(const struct restd_request *request);

RESTD_END_DECLS

#endif
