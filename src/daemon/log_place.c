/* SPDX-License-Identifier: MIT */
/* Opening targets of the log. Nothing here waits: a FIFO is opened for both
 * directions, which needs no reader and keeps working when one comes and goes,
 * and is then written without blocking. Any thread. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/fault.h"
#include "daemon/log_stream.h"

/* For a syslog that does not take its datagrams. */
#define SEND_WAIT_US 200000

static int fail(struct restd_error *error, int os_errno, const char *path)
{
    int code = os_errno == EACCES || os_errno == EPERM     ? RESTD_EACCES
               : os_errno == ENOENT || os_errno == ENOTDIR ? RESTD_ENOENT
               : os_errno == ENAMETOOLONG                  ? RESTD_EINVAL
                                                           : RESTD_EOS;
    rd_fault_os(error, os_errno, "cannot open log file %.150s", path);
    if (error != NULL) {
        error->code = code;
    }
    return code;
}

static int is_fifo(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* Descriptor, or -1 with errno. */
static int file_open(const char *path)
{
    const int flags = O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    struct stat st;
    int fifo = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
    int fd = fifo ? open(path, O_RDWR | flags)
                  : open(path, O_WRONLY | O_CREAT | flags, 0640);

    if (fd >= 0 && !is_fifo(fd)) {
        /* It was for open() only. */
        int now = fcntl(fd, F_GETFL);
        if (now < 0 || fcntl(fd, F_SETFL, now & ~O_NONBLOCK) < 0) {
            int saved = errno;
            close(fd);
            errno = saved;
            return -1;
        }
    }
    return fd;
}

static int socket_open(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval wait = {.tv_usec = SEND_WAIT_US};
    size_t len = strlen(path);

    if (len >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, len + 1);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0 ||
        connect(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int rd_log_place_open(struct rd_log_place *place, enum rd_log_target target,
                      const char *path, int stderr_fd,
                      struct restd_error *error)
{
    place->target = target;
    place->fd = -1;
    place->path[0] = '\0';
    if (target == RD_LOG_FILE || target == RD_LOG_SYSLOG) {
        size_t len = path != NULL ? strlen(path) : 0;
        if (len == 0 || len >= sizeof place->path) {
            return fail(error, len == 0 ? ENOENT : ENAMETOOLONG,
                        len == 0 ? "\"\"" : path);
        }
        memcpy(place->path, path, len + 1);
    }
    switch (target) {
    case RD_LOG_STDERR:
    case RD_LOG_JOURNAL:
        place->fd = stderr_fd;
        return 0;
    case RD_LOG_FILE:
        place->fd = file_open(path);
        return place->fd >= 0 ? 0 : fail(error, errno, path);
    case RD_LOG_SYSLOG:
        place->fd = socket_open(path);
        return 0;
    case RD_LOG_OFF:
        break;
    }
    return 0;
}

void rd_log_place_close(struct rd_log_place *place)
{
    if (place->fd >= 0 && place->target != RD_LOG_STDERR &&
        place->target != RD_LOG_JOURNAL) {
        close(place->fd);
    }
    place->fd = -1;
}

int rd_log_place_same(const struct rd_log_place *a,
                      const struct rd_log_place *b)
{
    struct stat one, other;

    if (a->target == RD_LOG_SYSLOG || b->target == RD_LOG_SYSLOG || a->fd < 0 ||
        b->fd < 0) {
        return 0;
    }
    return a->fd == b->fd ||
           (fstat(a->fd, &one) == 0 && fstat(b->fd, &other) == 0 &&
            one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}
