/* SPDX-License-Identifier: MIT */
/* Sockets by LISTEN_FDS: their numbers begin at 3, names come in the same
 * order, with colons between them.
 * Names that systemd makes up itself ("unknown", "stored") count as none; a
 * missing list of names is one without names. What is no listening stream
 * socket is a mistake in the .socket unit and is told, never skipped: the
 * daemon would be up and unreachable. Main thread.
 */
#include "daemon/activation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/fault.h"

#define FIRST_FD 3

/* -1 for what is no number of at most `max`. */
static long number(const char *text, long max)
{
    char *end;
    if (text == NULL || *text < '0' || *text > '9') {
        return -1;
    }
    errno = 0;
    long value = strtol(text, &end, 10);
    return errno == 0 && *end == '\0' && value <= max ? value : -1;
}

/* Copies the name before the next colon and returns where the rest begins,
 * NULL at the end of the list. */
static const char *take_name(const char *names, char *name, size_t size)
{
    *name = '\0';
    if (names == NULL) {
        return NULL;
    }
    size_t len = strcspn(names, ":");
    if (len < size) {
        memcpy(name, names, len);
        name[len] = '\0';
    }
    if (strcmp(name, "unknown") == 0 || strcmp(name, "stored") == 0) {
        *name = '\0';
    }
    return names[len] == ':' ? names + len + 1 : NULL;
}

static int option(int fd, int which)
{
    int value = -1;
    socklen_t len = sizeof value;
    return getsockopt(fd, SOL_SOCKET, which, &value, &len) == 0 ? value : -1;
}

/* What is wrong with it, to follow "is"; NULL: nothing. */
static const char *flaw(int fd)
{
    int type = option(fd, SO_TYPE);
    int domain = option(fd, SO_DOMAIN);
    if (type < 0) {
        return "not a socket";
    }
    if (type != SOCK_STREAM) {
        return "not a stream socket; the unit needs ListenStream=";
    }
    if (domain != AF_INET && domain != AF_INET6 && domain != AF_UNIX) {
        return "of another family than IPv4, IPv6 and unix";
    }
    if (option(fd, SO_ACCEPTCONN) != 1) {
        return "not listening; the unit needs Accept=no";
    }
    return NULL;
}

static int prepare(const struct rd_activation_socket *socket,
                   struct restd_error *error)
{
    int fd = socket->fd;
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0) {
        return rd_fault_os(error, errno, "descriptor %d of LISTEN_FDS", fd);
    }
    const char *what = flaw(fd);
    if (what != NULL) {
        return rd_fault(error, RESTD_EINVAL,
                        "descriptor %d (\"%.64s\") of LISTEN_FDS is %s", fd,
                        socket->name, what);
    }
    int status = fcntl(fd, F_GETFL);
    if (fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0 || status < 0 ||
        fcntl(fd, F_SETFL, status | O_NONBLOCK) < 0) {
        return rd_fault_os(error, errno, "descriptor %d of LISTEN_FDS", fd);
    }
    return 0;
}

static int take(struct rd_activation *activation, struct restd_error *error)
{
    const char *pid = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    const char *names = getenv("LISTEN_FDNAMES");
    if (pid == NULL || count == NULL ||
        number(pid, INT32_MAX) != (long)getpid()) {
        return 0;
    }
    long n = number(count, RD_ACTIVATION_MAX);
    if (n < 0) {
        return rd_fault(error, RESTD_EINVAL,
                        "LISTEN_FDS must be 0 to %d: \"%.64s\"",
                        RD_ACTIVATION_MAX, count);
    }
    for (long i = 0; i < n; i++) {
        struct rd_activation_socket *socket = &activation->sockets[i];
        socket->fd = FIRST_FD + (int)i;
        names = take_name(names, socket->name, sizeof socket->name);
        int rc = prepare(socket, error);
        if (rc < 0) {
            return rc;
        }
    }
    activation->n = (unsigned)n;
    return 0;
}

int rd_activation_take(struct rd_activation *activation,
                       struct restd_error *error)
{
    activation->n = 0;
    int rc = take(activation, error);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return rc;
}

int rd_activation_claim(struct rd_activation *activation, const char *name)
{
    for (unsigned i = 0; i < activation->n; i++) {
        struct rd_activation_socket *socket = &activation->sockets[i];
        if (socket->fd >= 0 && strcmp(socket->name, name) == 0) {
            int fd = socket->fd;
            socket->fd = -1;
            return fd;
        }
    }
    return -1;
}

void rd_activation_fini(struct rd_activation *activation)
{
    for (unsigned i = 0; i < activation->n; i++) {
        if (activation->sockets[i].fd >= 0) {
            close(activation->sockets[i].fd);
        }
    }
    activation->n = 0;
}
