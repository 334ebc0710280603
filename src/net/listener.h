/* SPDX-License-Identifier: MIT */
/* Listening sockets.
 *
 * struct rd_listener
 * A slot of the server's table. It is not used again before the connections
 * that came through it have gone, as they name it by its index.
 * Owner: the server. Lifetime: restd_server_listen() until the acceptor closes
 * it, or restd_server_free(). Thread: [init], then the acceptor, but for the
 * fields tagged otherwise. */
#ifndef RD_NET_LISTENER_H
#define RD_NET_LISTENER_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include <restd/error.h>
#include <restd/server.h>

#include "net/addr.h"
#include "net/loop.h"

struct rd_acceptor;

#define RD_LISTENERS_MAX 64u
/* Of connections that came through none. */
#define RD_LISTENER_NONE RD_LISTENERS_MAX

struct rd_listener {
    struct rd_io io;
    struct rd_acceptor *acceptor;
    int leaving;                  /* given up; its queue is still emptied */
    _Atomic int fd;               /* -1: closed; [any] to read */
    _Atomic uint64_t accepted;    /* through this slot; [any] to read */
    uint64_t accepted_before;     /* by those who had the slot before */
    struct sockaddr_storage addr; /* as bound */
    socklen_t addr_len;
    int owns_path;
    dev_t dev; /* of a unix socket's file, which may be another's by now */
    ino_t ino;
    uint16_t index;
    uint8_t is_listed; /* [lock: the server's] */
    char name[sizeof(((struct restd_listener_info *)0)->name)];
};

/* Opens, binds and listens, or takes `options->fd` over. A unix path is
 * unlinked first only if connecting to it is refused. TCP sockets get
 * TCP_NODELAY (accepted ones inherit it) and TCP_DEFER_ACCEPT. `options` are
 * complete: no value of theirs stands for the server's. On failure a descriptor
 * that was given stays the caller's. */
int rd_listener_open(struct rd_listener *listener, const char *address,
                     const struct restd_listen_options *options,
                     struct restd_error *error);
/* Later connections are accepted at once. */
void rd_listener_stop_deferring(const struct rd_listener *listener);
/* The path of a unix socket is still ours. */
int rd_listener_owns_path(const struct rd_listener *listener);
/* Closes; unlinks the path of a unix socket, if it is still ours. */
void rd_listener_close(struct rd_listener *listener);
/* Bound address as text; its length, or RESTD_ERANGE. */
int rd_listener_format(const struct rd_listener *listener, char *buf,
                       size_t size);

#endif
