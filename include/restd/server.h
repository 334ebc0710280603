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
 * Makes a server without threads of its own: it accepts and serves on `loop`,
 * the control loop of another server (restd_server_control()), and so goes on
 * while that one's loops are stuck, its memory budget is spent, or it drains.
 * For a listener of the administrator's: handlers must be quick, as they hold
 * that loop up. One per loop.
 *
 * `options` are its own: a memory_budget that the other's does not count, of
 * which 512 KiB are enough for a few connections; `workers` is 1, `log` the
 * other's. To be started before the other server or on `loop`'s thread
 * (RESTD_ESTATE, RESTD_EEXIST from restd_server_start()). It ends with `loop`,
 * or earlier by a drain or stop of its own; once `loop` is freed there is only
 * restd_server_free() for it. Errors as restd_server_new().
 */
RESTD_API RESTD_MUST_CHECK int
restd_server_new_on(struct restd_loop *loop,
                    const struct restd_options *options,
                    struct restd_server **server, struct restd_error *error);

/**
 * Binds and listens. Addresses: "127.0.0.1:8888", "[::1]:8888", ":8888" (all
 * of IPv4), "localhost:8888" is not resolved: numbers only; "unix:/path".
 * Port 0 takes a free one, see restd_server_port(). A unix path is unlinked
 * first only if connecting to it is refused.
 * RESTD_EINVAL, RESTD_EADDRINUSE, RESTD_EACCES, RESTD_EOS, and as
 * restd_server_listen_with().
 */
RESTD_API RESTD_MUST_CHECK int restd_server_listen(struct restd_server *server,
                                                   const char *address,
                                                   struct restd_error *error);

/**
 * How to listen. Set it up with restd_listen_options_init().
 * Owner: the caller; copied. `size` lets fields be added.
 */
struct restd_listen_options {
    size_t size;             /* sizeof(struct restd_listen_options) */
    const char *name;        /* at most 63 bytes; NULL: none */
    int fd;                  /* a listening socket to take over; -1: bind one */
    int mode;                /* of a unix socket's file; -1: by the umask */
    uint32_t uid, gid;       /* its owner; (uint32_t)-1: unchanged */
    uint32_t backlog;        /* 0: the server's option */
    uint32_t defer_accept_s; /* UINT32_MAX: the server's option */
    int owns_path; /* with `fd`: unlink the path in the end, as if bound here */
};

RESTD_API void
restd_listen_options_init_size(struct restd_listen_options *options,
                               size_t size);
/** Fills in the defaults. [any thread] */
static inline void
restd_listen_options_init(struct restd_listen_options *options)
{
    restd_listen_options_init_size(options, sizeof(*options));
}

/**
 * The same with a name and more; `options` may be NULL. Before the start and
 * while the server runs, where it accepts at once. An inherited socket (`fd`)
 * keeps its address and, with a backlog of 0, its backlog; `address` may be
 * NULL then. It is the server's from success on.
 * Also RESTD_EEXIST if a listener has that name, RESTD_ELIMIT if there is no
 * room (64, with those given up that connections are left of), RESTD_ESTATE
 * once the server drains.
 */
RESTD_API RESTD_MUST_CHECK int
restd_server_listen_with(struct restd_server *server, const char *address,
                         const struct restd_listen_options *options,
                         struct restd_error *error);

/** Gives listener `index` up; does not wait. Its queue is emptied, with time
 * (drain_silence) for clients that have not sent anything yet, and its socket
 * closed; connections stay. Those behind it move down by one. Its address can
 * be listened on again at once. RESTD_ENOENT, RESTD_ESTATE. */
RESTD_API RESTD_MUST_CHECK int
restd_server_unlisten(struct restd_server *server, unsigned index,
                      struct restd_error *error);

/** A listener. Grows at its end in later versions. */
struct restd_listener_info {
    char name[64];     /* empty: none */
    char address[120]; /* as bound */
    int fd;            /* borrowed; -1: closed by a drain */
    uint64_t connections, accepted;
    int owns_path; /* its file is unlinked when it is closed */
};

RESTD_API RESTD_MUST_CHECK int
restd_server_listener_size(const struct restd_server *server, unsigned index,
                           struct restd_listener_info *info, size_t size);
/** Reads listener `index`, in the order of the listen calls as long as none is
 * given up; RESTD_ENOENT behind the last. [any thread] */
RESTD_MUST_CHECK static inline int
restd_server_listener(const struct restd_server *server, unsigned index,
                      struct restd_listener_info *info)
{
    return restd_server_listener_size(server, index, info, sizeof(*info));
}

/** Port of TCP listener number `index`, counted as above;
 * RESTD_ENOENT if there is none. [any thread] */
RESTD_API RESTD_MUST_CHECK int
restd_server_port(const struct restd_server *server, unsigned index);

/** Writes the bound address of listener `index` as text, returns its length;
 * RESTD_ENOENT behind the last, RESTD_ERANGE. [any thread] */
RESTD_API RESTD_MUST_CHECK int
restd_server_address(const struct restd_server *server, unsigned index,
                     char *buf, size_t size);

/** With 1 the listening sockets live on in another process: this one neither
 * unlinks paths any more, nor empties queues in a drain, nor waits
 * `shutdown_delay` then. 0 takes that back. [any thread] */
RESTD_API void restd_server_keep_paths(struct restd_server *server, int keep);

/** Accepts connections or lets them wait; on at first. Off before the start:
 * everything runs, but nothing is accepted. [any thread] */
RESTD_API void restd_server_accept(struct restd_server *server, int on);

/** Hands a connected stream socket to loop number `loop`, as if it had been
 * accepted there. It is the server's from success on. RESTD_EINVAL for what is
 * no such socket, RESTD_ENOENT if there is no such loop, RESTD_EAGAIN if it has
 * too many to take up already, RESTD_ELIMIT if the descriptor is too high,
 * RESTD_ESTATE unless the server runs. [any thread] */
RESTD_API RESTD_MUST_CHECK int restd_server_adopt(struct restd_server *server,
                                                  int fd, unsigned loop,
                                                  struct restd_error *error);

/** The server's router, for its routes and plugins, and to mount others on;
 * it stays the server's and must not be changed once that has started. After a
 * reload the new one. */
RESTD_API struct restd_router *restd_server_router(struct restd_server *server);

/** Starts the threads; returns once all of them run and the server accepts. */
RESTD_API RESTD_MUST_CHECK int restd_server_start(struct restd_server *server,
                                                  struct restd_error *error);

/**
 * Gives a running server other options, other routes, or both; NULL: as they
 * are. Each loop changes over between two events, to all of it at once and for
 * kept connections too; a request that is under way ends on what it began with.
 * No connection is closed.
 *
 * Takes the router, and with it the duty to free it; until then it is the
 * caller's. The old one is freed, and `free` of its plugins called, on the
 * control thread when no loop uses it any more. `workers` may grow (0: as it
 * is); other options that the server is built around cannot change: stack,
 * memory_budget, connections, target_max, header_max, header_fields,
 * body_buffered_max. `log` and `log_data` are not looked at.
 *
 * Returns when every loop has been told, without waiting for one that is
 * busy; on an error nothing has changed. RESTD_ESTATE
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
/** Has the log writer call options.log_flush soon, also if there is no line: for
 * a sink that is to do something on that thread. [any thread] */
RESTD_API void restd_server_log_flush(struct restd_server *server);

RESTD_END_DECLS

#endif
