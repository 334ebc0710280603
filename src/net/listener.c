/* SPDX-License-Identifier: MIT */
/* Listening sockets: open or inherit, bind, listen, close. Accepting is acceptor.c's.
 * Thread: see listener.h. */
#include "net/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stddef.h>
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

/* What connections inherit. 0, or -1 and errno. */
static int set_options(int fd, int family, uint32_t defer_accept_s)
{
    int on = 1;
    int defer = (int)defer_accept_s;

    return family == AF_UNIX || (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on,
                                            sizeof(on)) == 0 &&
                                 setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT,
                                            &defer, sizeof(defer)) == 0)
               ? 0
               : -1;
}

/* What has to be said before bind(2). */
static int set_bind_options(int fd, int family)
{
    int on = 1;

    if (family != AF_UNIX &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) {
        return -1;
    }
    return family == AF_INET6
               ? setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))
               : 0;
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

/* The path of a unix socket, or NULL. */
static const char *path_of(const struct rd_listener *listener)
{
    const struct sockaddr_un *un = (const void *)&listener->addr;

    return un->sun_family == AF_UNIX &&
                   listener->addr_len >
                       offsetof(struct sockaddr_un, sun_path) &&
                   un->sun_path[0] != '\0'
               ? un->sun_path
               : NULL;
}

static void note_file(struct rd_listener *listener, int owns_path)
{
    const char *path = path_of(listener);
    struct stat st;

    if (path && owns_path && lstat(path, &st) == 0) {
        listener->owns_path = 1;
        listener->dev = st.st_dev;
        listener->ino = st.st_ino;
    }
}

/* Before it listens, so that nobody gets in by the wrong mode. */
static int set_access(const struct rd_listener *listener,
                      const struct restd_listen_options *o,
                      struct restd_error *error)
{
    const char *path = path_of(listener);
    int owner = o->uid != (uint32_t)-1 || o->gid != (uint32_t)-1;

    if (!owner && o->mode < 0) {
        return 0;
    }
    if (!path) {
        return rd_error(error, RESTD_EINVAL,
                        "mode and owner are for unix sockets");
    }
    if (owner && lchown(path, (uid_t)o->uid, (gid_t)o->gid) != 0) {
        return rd_error_os(error, errno, "cannot change the owner of %s", path);
    }
    if (o->mode >= 0 && chmod(path, (mode_t)o->mode) != 0) {
        return rd_error_os(error, errno, "cannot change the mode of %s", path);
    }
    return 0;
}

/* A new socket, bound: its descriptor, or RESTD_E*. */
static int make_socket(struct rd_listener *listener, const char *address,
                       const struct restd_listen_options *o,
                       struct restd_error *error)
{
    struct sockaddr *sa = (void *)&listener->addr;
    int rc = rd_addr_parse(address ? address : "", &listener->addr,
                           &listener->addr_len, error);

    if (rc != 0) {
        return rc;
    }
    int fd =
        socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return rd_error_os(error, errno, "cannot open a socket for %s",
                           address);
    }
    if (set_bind_options(fd, sa->sa_family) != 0 ||
        set_options(fd, sa->sa_family, o->defer_accept_s) != 0) {
        rc = rd_error_os(error, errno, "cannot set up the socket for %s",
                         address);
    } else if (bind_replacing(fd, sa, listener->addr_len) != 0) {
        rc = rd_error_os(error, errno, "cannot listen on %s", address);
    } else {
        note_file(listener, 1);
        return fd;
    }
    close(fd);
    return rc;
}

static int socket_option(int fd, int option)
{
    int value = -1;
    socklen_t len = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 ? value : -1;
}

/* Takes a socket over that somebody else has bound. 0, or RESTD_E*. */
static int inherit(struct rd_listener *listener,
                   const struct restd_listen_options *o,
                   struct restd_error *error)
{
    int fd = o->fd;
    int family = socket_option(fd, SO_DOMAIN);

    if (socket_option(fd, SO_TYPE) != SOCK_STREAM ||
        socket_option(fd, SO_ACCEPTCONN) != 1 ||
        (family != AF_INET && family != AF_INET6 && family != AF_UNIX)) {
        return rd_error(error, RESTD_EINVAL,
                        "descriptor %d is no listening stream socket", fd);
    }
    listener->addr_len = sizeof(listener->addr);
    int flags = fcntl(fd, F_GETFL);
    if (getsockname(fd, (void *)&listener->addr, &listener->addr_len) != 0 ||
        flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 ||
        set_options(fd, family, o->defer_accept_s) != 0) {
        return rd_error_os(error, errno, "cannot set up descriptor %d", fd);
    }
    note_file(listener, o->owns_path);
    return 0;
}

int rd_listener_open(struct rd_listener *listener, const char *address,
                     const struct restd_listen_options *o,
                     struct restd_error *error)
{
    int fd = o->fd;
    int inherited = fd >= 0;
    int rc = inherited ? inherit(listener, o, error)
                       : make_socket(listener, address, o, error);

    listener->fd = -1;
    if (rc < 0) {
        return rc;
    }
    fd = inherited ? fd : rc;
    rc = set_access(listener, o, error);
    if (rc == 0 && o->backlog > 0 && listen(fd, (int)o->backlog) != 0) {
        rc = rd_error_os(error, errno, "cannot listen on %s",
                         address ? address : "the descriptor");
    }
    if (rc == 0 && !inherited && listener->addr.ss_family != AF_UNIX) {
        listener->addr_len = sizeof(listener->addr);
        if (getsockname(fd, (void *)&listener->addr, &listener->addr_len) !=
            0) {
            rc = rd_error_os(error, errno, "cannot read the address of %s",
                             address);
        }
    }
    if (rc == 0 || !inherited) {
        listener->fd = fd;
    }
    if (rc != 0) {
        rd_listener_close(listener);
    }
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

int rd_listener_owns_path(const struct rd_listener *listener)
{
    struct stat st;

    return listener->owns_path && lstat(path_of(listener), &st) == 0 &&
           st.st_dev == listener->dev && st.st_ino == listener->ino;
}

void rd_listener_close(struct rd_listener *listener)
{
    int fd = listener->fd;

    if (fd < 0) {
        return;
    }
    if (rd_listener_owns_path(listener)) {
        unlink(path_of(listener));
    }
    close(fd);
    listener->fd = -1;
}

int rd_listener_format(const struct rd_listener *listener, char *buf,
                       size_t size)
{
    if (listener->addr.ss_family == AF_UNIX) {
        const char *path = path_of(listener);
        int n = snprintf(buf, size, "unix:%s", path ? path : "");
        return n >= 0 && (size_t)n < size ? n : RESTD_ERANGE;
    }
    struct rd_addr addr;
    rd_addr_from_sockaddr(&addr, (const void *)&listener->addr);
    return rd_addr_format(&addr, buf, size);
}
