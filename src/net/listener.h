/* SPDX-License-Identifier: MIT */
/* Listening sockets.
 *
 * struct rd_listener
 * Owner: the server. Lifetime: restd_server_listen() until the acceptor closes
 * it in a drain, or restd_server_free(). Thread: [init], then the acceptor. */
#ifndef RD_NET_LISTENER_H
#define RD_NET_LISTENER_H

#include <stdint.h>
#include <sys/types.h>

#include <restd/error.h>

#include "net/addr.h"
#include "net/loop.h"

struct rd_acceptor;

struct rd_listener {
    struct rd_io io;
    struct rd_acceptor *acceptor;
    struct sockaddr_storage addr; /* as bound */
    socklen_t addr_len;
    int fd;    /* -1: closed */
    dev_t dev; /* of a unix socket's file, which may be another's by now */
    ino_t ino;
    uint16_t index;
};

/* Opens, binds and listens. A unix path is unlinked first only if connecting
 * to it is refused. TCP sockets get TCP_NODELAY (accepted ones inherit it) and,
 * with `defer_accept_s` > 0, TCP_DEFER_ACCEPT. */
int rd_listener_open(struct rd_listener *listener, const char *address,
                     int backlog, int defer_accept_s,
                     struct restd_error *error);
/* Later connections are accepted at once. */
void rd_listener_stop_deferring(const struct rd_listener *listener);
/* Closes; unlinks the path of a unix socket, if it is still ours. */
void rd_listener_close(struct rd_listener *listener);
/* Bound address as text; its length, or RESTD_ERANGE. */
int rd_listener_format(const struct rd_listener *listener, char *buf,
                       size_t size);

#endif
