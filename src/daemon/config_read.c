/* SPDX-License-Identifier: MIT */
/* Reads a file of the configuration, which was opened without blocking. A pipe
 * is waited for, as its writer may take its time; a FIFO that nobody writes to
 * is a fault, as it would be an empty file, and a reload would drop all routes.
 * Thread: main. */
#include "daemon/config_read.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_WAIT_MS 2000

ssize_t rd_config_read(int fd, char *data, size_t size)
{
    struct pollfd readable = {fd, POLLIN, 0};
    struct stat st;
    size_t len = 0;
    int is_pipe = fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
    while (len < size) {
        ssize_t n = read(fd, data + len, size - len);
        if (n == 0) {
            break;
        }
        if (n < 0 && errno != EINTR &&
            (errno != EAGAIN || poll(&readable, 1, PIPE_WAIT_MS) <= 0)) {
            return -1;
        }
        len += n > 0 ? (size_t)n : 0;
    }
    if (is_pipe && len == 0) {
        errno = EPIPE;
        return -1;
    }
    return (ssize_t)len;
}
