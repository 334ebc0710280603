/* SPDX-License-Identifier: MIT */
/* Life of a server: new, listen, route, start, wait, drain, stop, free. */
#ifndef RESTD_SERVER_H
#define RESTD_SERVER_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/http.h>
#include <restd/options.h>
#include <restd/router.h>
#include <restd/stats.h>

RESTD_BEGIN_DECLS

struct restd_loop;

/**
 * A server: listeners, an acceptor thread, N loop threads, a control thread
 * and a log writer. A process may have several.
 * Owner: the caller. Lifetime: restd_server_new() to restd_server_free().
 * Thread: as each function says.
 */
struct restd_server;

/** Makes a server; nothing runs yet. `options` is copied (NULL: defaults).
 * RESTD_ERANGE for values that do not go together, RESTD_EBUDGET when the
 * fixed part does not fit the memory budget, RESTD_ENOMEM. */
RESTD_API RESTD_MUST_CHECK int
restd_server_new(const struct restd_options *options,
                 struct restd_server **server, struct restd_error *error);

/**
 * Binds and listens. Addresses: "127.0.0.1:8888", "[::1]:8888", ":8888" (all
 * of IPv4), "localhost:8888" is not resolved: numbers only; "unix:/path".
 * Port 0 takes a free one, see restd_server_port(). A unix path is unlinked
 * first only if connecting to it is refused. Before start only.
 * RESTD_EINVAL, RESTD_EADDRINUSE, RESTD_EACCES, RESTD_EOS.
 */
RESTD_API RESTD_MUST_CHECK int restd_server_listen(struct restd_server *server,
                                                   const char *address,
                                                   struct restd_error *error);

/** Port of TCP listener number `index`, from 0 in order of listen calls;
 * RESTD_ENOENT if there is none. [any thread] */
RESTD_API RESTD_MUST_CHECK int
restd_server_port(const struct restd_server *server, unsigned index);

/** Writes the bound address of listener `index` as text, returns its length;
 * RESTD_ENOENT behind the last, RESTD_ERANGE. [any thread] */
RESTD_API RESTD_MUST_CHECK int
restd_server_address(const struct restd_server *server, unsigned index,
                     char *buf, size_t size);

/** The server's router, for its routes and plugins, and to mount others on;
 * it stays the server's and must not be changed once that has started. After a
 * reload the new one. */
RESTD_API struct restd_router *restd_server_router(struct restd_server *server);

/** Starts the threads; returns once all of them run and the server accepts. */
RESTD_API RESTD_MUST_CHECK int restd_server_start(struct restd_server *server,
                                                  struct restd_error *error);

/**
 * Gives a running server other options, other routes, or both; NULL: as they
 * are. New requests see all of the new at once, on kept connections too; one
 * that is under way ends on what it began with. No connection is closed.
 *
 * Takes the router, and with it the duty to free it; until then it is the
 * caller's. The old one is freed, and `free` of its plugins called, on the
 * control thread when no loop uses it any more. `workers` may grow (0: as it
 * is); other options that the server is built around cannot change: stack,
 * memory_budget, connections, target_max, header_max, header_fields,
 * body_buffered_max. `log` and `log_data` are not looked at.
 *
 * Returns when it is published; on an error nothing has changed. RESTD_ESTATE
 * if the server does not run, or drains, if an option needs a restart, if a
 * server runs with the router; RESTD_EBUDGET if the old and the new do not fit
 * memory_budget together; RESTD_ERANGE, RESTD_EINVAL for bad options;
 * RESTD_ENOMEM, RESTD_EOS. [any thread but the server's own, one at a time]
 */
RESTD_API RESTD_MUST_CHECK int
restd_server_reload(struct restd_server *server,
                    const struct restd_options *options,
                    struct restd_router *router, struct restd_error *error);

/** Sets what is logged from now on, until a reload with options. [any thread] */
RESTD_API void restd_server_set_log_level(struct restd_server *server,
                                          enum restd_log_level level);

/** Waits until the server has stopped. [any thread but the server's own] */
RESTD_API void restd_server_wait(struct restd_server *server);

/** A descriptor that becomes readable when the server has stopped, for poll(2).
 * Owned by the server. [any thread] */
RESTD_API int restd_server_stopped_fd(const struct restd_server *server);

/** Stops accepting and lets what runs finish; every reply says close. Does not
 * wait. Idempotent. [any thread] */
RESTD_API void restd_server_drain(struct restd_server *server);

/** Closes everything now and waits for the threads. Idempotent.
 * [any thread but the server's own] */
RESTD_API void restd_server_stop(struct restd_server *server);

/** Stops if need be and frees; NULL is allowed. */
RESTD_API void restd_server_free(struct restd_server *server);

/** The control loop, for timers of the caller's. Owned by the server, lives
 * from restd_server_new() to restd_server_free(). */
RESTD_API struct restd_loop *restd_server_control(struct restd_server *server);

/** Writes a line to the server's log; never blocks: a full ring drops the line
 * and counts it. [any thread] */
RESTD_API void restd_server_log(struct restd_server *server,
                                enum restd_log_level level, const char *format,
                                ...) RESTD_PRINTF(3, 4);

RESTD_END_DECLS

#endif
