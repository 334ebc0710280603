/* SPDX-License-Identifier: MIT */
/* The datagram protocol of sd_notify(3), by hand: libsystemd would map five
 * more libraries for it.
 * The socket is never connected, so that a manager that starts anew under the
 * same name is found again. A message that does not fit into the queue is not
 * waited for: that would stop the thread that handles signals.
 * Vsock addresses of virtual machines are not spoken. Main thread.
 */
#include "daemon/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/fd_pass.h"

#define NAME_MAX_LEN 255 /* systemd's bound on FDNAME */

/* A number without sign, blanks or anything behind it; 0 if it is none. */
static uint64_t number(const char *text)
{
    char *end;
    if (text == NULL || *text < '0' || *text > '9') {
        return 0;
    }
    errno = 0;
    uintmax_t value = strtoumax(text, &end, 10);
    return errno == 0 && *end == '\0' ? value : 0;
}

static void take_watchdog(struct rd_notify *notify)
{
    const char *pid = getenv("WATCHDOG_PID");
    notify->watchdog_us = 0;
    if (pid == NULL || number(pid) == (uint64_t)getpid()) {
        notify->watchdog_us = number(getenv("WATCHDOG_USEC"));
    }
    unsetenv("WATCHDOG_PID");
    unsetenv("WATCHDOG_USEC");
}

static int set_address(struct rd_notify *notify, const char *path)
{
    size_t len = strlen(path);
    if ((*path != '/' && *path != '@') || len < 2) {
        errno = EINVAL;
        return -1;
    }
    if (len >= sizeof notify->to.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(notify->path, path, len + 1);
    notify->to.sun_family = AF_UNIX;
    memcpy(notify->to.sun_path, path, len + 1);
    notify->to_len =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
    if (*path == '@') {
        notify->to.sun_path[0] = '\0';
        notify->to_len--; /* every byte counts in an abstract name */
    }
    return 0;
}

int rd_notify_open(struct rd_notify *notify)
{
    memset(notify, 0, sizeof *notify);
    notify->fd = -1;
    take_watchdog(notify);
    const char *path = getenv("NOTIFY_SOCKET");
    int rc = 0;
    if (path != NULL && *path != '\0') {
        rc = set_address(notify, path);
        if (rc == 0) {
            notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
            rc = notify->fd >= 0 ? 0 : -1;
        }
    }
    int saved = errno;
    unsetenv("NOTIFY_SOCKET");
    errno = saved;
    return rc;
}

void rd_notify_fini(struct rd_notify *notify)
{
    if (notify->fd >= 0) {
        close(notify->fd);
    }
    notify->fd = -1;
}

static int transmit(struct rd_notify *notify, char *text, size_t len, int fd)
{
    struct iovec part = {text, len};
    struct msghdr message = {.msg_name = &notify->to,
                             .msg_namelen = notify->to_len,
                             .msg_iov = &part,
                             .msg_iovlen = 1};
    return rd_fd_send(notify->fd, &message, fd, MSG_DONTWAIT);
}

int rd_notify_send(struct rd_notify *notify, const char *format, ...)
{
    char text[1024];
    va_list list;
    if (notify->fd < 0) {
        return 0;
    }
    va_start(list, format);
    int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= sizeof text) {
        errno = EMSGSIZE;
        return -1;
    }
    return transmit(notify, text, (size_t)n, -1);
}

int rd_notify_reloading(struct rd_notify *notify)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return rd_notify_send(notify, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
                          (uint64_t)now.tv_sec * 1000000 +
                              (uint64_t)now.tv_nsec / 1000);
}

/* What systemd takes; a newline would end the line and begin another. */
static int name_is_good(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++) {
        if (name[i] < ' ' || name[i] > '~' || name[i] == ':') {
            return 0;
        }
    }
    return len > 0 && len <= NAME_MAX_LEN;
}

static int send_name(struct rd_notify *notify, const char *what, int fd,
                     const char *name)
{
    char text[NAME_MAX_LEN + 64];
    if (!name_is_good(name)) {
        errno = EINVAL;
        return -1;
    }
    if (notify->fd < 0) {
        return 0;
    }
    int n = snprintf(text, sizeof text, "%s=1\nFDNAME=%s", what, name);
    return transmit(notify, text, (size_t)n, fd);
}

int rd_notify_store_fd(struct rd_notify *notify, int fd, const char *name)
{
    if (fd < 0) {
        errno = EBADF;
        return -1;
    }
    return send_name(notify, "FDSTORE", fd, name);
}

int rd_notify_remove_fd(struct rd_notify *notify, const char *name)
{
    return send_name(notify, "FDSTOREREMOVE", -1, name);
}

unsigned rd_notify_watchdog_ms(const struct rd_notify *notify)
{
    uint64_t ms = notify->watchdog_us / 2000;
    if (notify->watchdog_us == 0 || notify->fd < 0) {
        return 0;
    }
    return ms == 0 ? 1 : ms > INT32_MAX ? INT32_MAX : (unsigned)ms;
}

const char *rd_notify_socket_path(const struct rd_notify *notify)
{
    return notify->fd >= 0 ? notify->path : NULL;
}
