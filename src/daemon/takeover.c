/* SPDX-License-Identifier: MIT */
/* The new side of an upgrade, see upgrade.h. Every wait is bounded by the old
 * process: its end is an end of file.
 * Thread: main, before the server accepts. */
#include "daemon/upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/address.h"
#include "daemon/fault.h"
#include "daemon/fd_pass.h"
#include "daemon/probe.h"

enum { PROBE_MS = 10000 };

/* One message, with the descriptor that came with it, or -1. */
static ssize_t receive(int channel, char *text, size_t size, int *fd)
{
    union rd_fd_room room;
    struct iovec part = {text, size - 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = sizeof room.bytes};
    ssize_t n;
    *fd = -1;
    do {
        n = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return n;
    }
    text[n] = '\0';
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_level == SOL_SOCKET &&
        head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof *fd)) {
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
    }
    return n;
}

static int channel_from_env(void)
{
    const char *text = getenv(RD_UPGRADE_ENV);
    if (text == NULL) {
        return -1;
    }
    int fd = (int)strtol(text, NULL, 10);
    unsetenv(RD_UPGRADE_ENV);
    return fd > 2 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
}

int rd_takeover_begin(struct rd_takeover *takeover, struct restd_error *error)
{
    char text[RD_INHERITED_ADDRESS_MAX + 1];
    int fd;
    memset(takeover, 0, sizeof *takeover);
    takeover->fd = channel_from_env();
    if (takeover->fd < 0) {
        return 0;
    }
    for (;;) {
        ssize_t n = receive(takeover->fd, text, sizeof text, &fd);
        if (n <= 0) {
            return rd_fault(error, RESTD_EOF,
                            "upgrade: the old process is gone");
        }
        if (fd < 0) {
            return 0; /* "end" */
        }
        if (takeover->n == RD_INHERITED_MAX) {
            close(fd);
            continue;
        }
        takeover->sockets[takeover->n].owns_path = text[0] == '+';
        snprintf(takeover->sockets[takeover->n].address,
                 sizeof takeover->sockets[0].address, "%s",
                 text + (text[0] != '\0'));
        takeover->sockets[takeover->n++].fd = fd;
    }
}

int rd_takeover_take(struct rd_takeover *takeover, const char *address,
                     int *owns_path)
{
    *owns_path = 0;
    for (int by_name = 1; by_name >= 0; by_name--) {
        for (unsigned i = 0; i < takeover->n; i++) {
            int fd = takeover->sockets[i].fd;
            if (fd >= 0 &&
                (by_name ? strcmp(takeover->sockets[i].address, address) == 0
                         : rd_address_is_of(address, fd))) {
                takeover->sockets[i].fd = -1;
                *owns_path = takeover->sockets[i].owns_path;
                return fd;
            }
        }
    }
    return -1;
}

static int probe_loop(struct restd_server *server, unsigned loop,
                      struct restd_error *error)
{
    char why[160] = "";
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return rd_fault(error, RESTD_EOS, "socketpair: %s", strerror(errno));
    }
    int rc = restd_server_adopt(server, pair[1], loop, error);
    if (rc != 0) {
        close(pair[1]);
    } else {
        int status = rd_probe_fd(pair[0], "/livez", PROBE_MS, why, sizeof why);
        /* The configuration may have it refused or not served at all. */
        if (status < 0 || status >= 500) {
            rc = rd_fault(error, RESTD_ESTATE,
                          "upgrade: loop %u does not serve: %d %s", loop,
                          status, why);
        }
    }
    close(pair[0]);
    return rc;
}

int rd_takeover_probe(struct restd_server *server, unsigned loops,
                      struct restd_error *error)
{
    for (unsigned i = 0; i < loops; i++) {
        int rc = probe_loop(server, i, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

void rd_takeover_finish(struct rd_takeover *takeover)
{
    char text[16];
    int fd;
    if (takeover->fd < 0) {
        return;
    }
    if (send(takeover->fd, "ready", 5, MSG_NOSIGNAL) == 5) {
        (void)receive(takeover->fd, text, sizeof text, &fd);
    }
    for (unsigned i = 0; i < takeover->n; i++) {
        const char *address = takeover->sockets[i].address;
        if (takeover->sockets[i].fd < 0) {
            continue;
        }
        if (takeover->sockets[i].owns_path && rd_address_is_unix(address)) {
            unlink(address + strlen("unix:"));
        }
        close(takeover->sockets[i].fd);
    }
    takeover->n = 0;
}

void rd_takeover_confirm(struct rd_takeover *takeover)
{
    if (takeover->fd >= 0) {
        (void)send(takeover->fd, "serves", 6, MSG_NOSIGNAL);
        close(takeover->fd);
        takeover->fd = -1;
    }
}
