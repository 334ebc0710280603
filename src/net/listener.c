/* SPDX-License-Identifier: MIT */
/* Listening sockets: open, bind, listen, close. Accepting is acceptor.c's.
 * Thread: see listener.h. */
#include "net/listener.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* 1 if a socket file is there that nobody listens on. */
static int unix_is_stale(const struct sockaddr_un *un, socklen_t len)
{
    struct stat st;

    if (lstat(un->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        return 0;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return 0;
    }
    int stale = connect(fd, (const struct sockaddr *)un, len) != 0 &&
                errno == ECONNREFUSED;
    close(fd);
    return stale;
}

static int set_options(int fd, int family, int defer_accept_s)
{
    int on = 1;

    if (family == AF_UNIX) {
        return 0;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) {
        return -1;
    }
    if (family == AF_INET6 &&
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0) {
        return -1;
    }
    if (defer_accept_s > 0 &&
        setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer_accept_s,
                   sizeof(defer_accept_s)) != 0) {
        return -1;
    }
    return 0;
}

/* bind(2), once more after a stale unix socket was taken away. -1 and errno. */
static int bind_replacing(int fd, const struct sockaddr *sa, socklen_t len)
{
    const struct sockaddr_un *un = (const void *)sa;

    if (bind(fd, sa, len) == 0) {
        return 0;
    }
    if (errno != EADDRINUSE || sa->sa_family != AF_UNIX) {
        return -1;
    }
    if (!unix_is_stale(un, len) || unlink(un->sun_path) != 0) {
        errno = EADDRINUSE;
        return -1;
    }
    return bind(fd, sa, len);
}

static void note_file(struct rd_listener *listener)
{
    const struct sockaddr_un *un = (const void *)&listener->addr;
    struct stat st;

    if (listener->addr.ss_family == AF_UNIX && lstat(un->sun_path, &st) == 0) {
        listener->dev = st.st_dev;
        listener->ino = st.st_ino;
    }
}

int rd_listener_open(struct rd_listener *listener, const char *address,
                     int backlog, int defer_accept_s, struct restd_error *error)
{
    struct sockaddr *sa = (void *)&listener->addr;

    listener->fd = -1;
    int rc =
        rd_addr_parse(address, &listener->addr, &listener->addr_len, error);
    if (rc != 0) {
        return rc;
    }
    int fd =
        socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return rd_error_os(error, errno, "cannot open a socket for %s",
                           address);
    }
    if (set_options(fd, sa->sa_family, defer_accept_s) != 0) {
        rc = rd_error_os(error, errno, "cannot set up the socket for %s",
                         address);
        goto fail;
    }
    if (bind_replacing(fd, sa, listener->addr_len) != 0) {
        rc = rd_error_os(error, errno, "cannot listen on %s", address);
        goto fail;
    }
    listener->fd = fd;
    note_file(listener);
    if (listen(fd, backlog) != 0) {
        rc = rd_error_os(error, errno, "cannot listen on %s", address);
        rd_listener_close(listener);
        return rc;
    }
    if (sa->sa_family != AF_UNIX) {
        listener->addr_len = sizeof(listener->addr);
        if (getsockname(fd, sa, &listener->addr_len) != 0) {
            rc = rd_error_os(error, errno, "cannot read the address of %s",
                             address);
            goto fail;
        }
    }
    return 0;
fail:
    listener->fd = -1;
    close(fd);
    return rc;
}

void rd_listener_stop_deferring(const struct rd_listener *listener)
{
    int off = 0;

    if (listener->fd >= 0 && listener->addr.ss_family != AF_UNIX) {
        (void)setsockopt(listener->fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &off,
                         sizeof(off));
    }
}

void rd_listener_close(struct rd_listener *listener)
{
    if (listener->fd < 0) {
        return;
    }
    if (listener->addr.ss_family == AF_UNIX) {
        const struct sockaddr_un *un = (const void *)&listener->addr;
        struct stat st;
        if (lstat(un->sun_path, &st) == 0 && st.st_dev == listener->dev &&
            st.st_ino == listener->ino) {
            unlink(un->sun_path);
        }
    }
    close(listener->fd);
    listener->fd = -1;
}

int rd_listener_format(const struct rd_listener *listener, char *buf,
                       size_t size)
{
    if (listener->addr.ss_family == AF_UNIX) {
        const struct sockaddr_un *un = (const void *)&listener->addr;
        int n = snprintf(buf, size, "unix:%s", un->sun_path);
        return n >= 0 && (size_t)n < size ? n : RESTD_ERANGE;
    }
    struct rd_addr addr;
    rd_addr_from_sockaddr(&addr, (const void *)&listener->addr);
    return rd_addr_format(&addr, buf, size);
}
