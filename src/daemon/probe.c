/* SPDX-License-Identifier: MIT */
/* A GET with Connection: close, of which only the status line is looked at.
 * The rest is read and dropped, up to a bound and only while there is time, so
 * that the server sees its reply taken and counts no client that left.
 *
 * Every wait is a poll() for what is left of one deadline. Only connect() waits
 * by SO_SNDTIMEO: a unix socket whose queue is full cannot be polled for.
 * Interim answers (1xx) are passed over. Nothing is allocated and no name is
 * resolved. Any thread that may wait.
 */
#include "daemon/probe.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <restd/api.h>

#include "daemon/address.h"
#include "daemon/clock.h"

#define HEAD_MAX 16384
#define REST_MAX 65536 /* bytes behind the head that are taken and dropped */

struct probe {
    int fd;
    int64_t deadline_ms;
    char *why;
    size_t why_size;
};

static int left_ms(const struct probe *probe)
{
    int64_t left = probe->deadline_ms - (int64_t)rd_now_ms();
    return left > 0 ? (int)left : 0;
}

static int fail(const struct probe *probe, const char *format, ...)
    RESTD_PRINTF(2, 3);

static int fail(const struct probe *probe, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (probe->why_size > 0) {
        vsnprintf(probe->why, probe->why_size, format, list);
    }
    va_end(list);
    return -1;
}

static int wait_for(const struct probe *probe, short events)
{
    struct pollfd poll_fd = {probe->fd, events, 0};
    int n;
    do {
        n = poll(&poll_fd, 1, left_ms(probe));
    } while (n < 0 && errno == EINTR);
    return n > 0    ? 0
           : n == 0 ? fail(probe, "no answer in time")
                    : fail(probe, "poll: %s", strerror(errno));
}

static int send_all(const struct probe *probe, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = send(probe->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n >= 0) {
            text += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            if (wait_for(probe, POLLOUT) < 0) {
                return -1;
            }
        } else if (errno != EINTR) {
            return fail(probe, "sending failed: %s", strerror(errno));
        }
    }
    return 0;
}

/* Bytes read, 0 at the end, -1 with a sentence. */
static ssize_t receive(const struct probe *probe, char *buf, size_t size)
{
    for (;;) {
        ssize_t n = recv(probe->fd, buf, size, MSG_DONTWAIT);
        if (n >= 0) {
            return n;
        }
        if (errno == EAGAIN) {
            if (wait_for(probe, POLLIN) < 0) {
                return -1;
            }
        } else if (errno != EINTR) {
            return fail(probe, "reading failed: %s", strerror(errno));
        }
        /* Drops of one byte each must not outlast the deadline. */
        if (left_ms(probe) == 0) {
            return fail(probe, "no answer in time");
        }
    }
}

/* "HTTP/1.1 200 OK" and a line end: 200. -1: something else. */
static int status_of(const char *line)
{
    if (strncmp(line, "HTTP/1.", 7) != 0 || line[7] < '0' || line[7] > '9' ||
        line[8] != ' ') {
        return -1;
    }
    int status = 0;
    for (int i = 9; i < 12; i++) {
        if (line[i] < '0' || line[i] > '9') {
            return -1;
        }
        status = status * 10 + (line[i] - '0');
    }
    char next = line[12];
    return status >= 100 && (next == ' ' || next == '\r' || next == '\n')
               ? status
               : -1;
}

/* Whether `len` bytes may become a status line. */
static int may_be_status(const char *text, size_t len)
{
    static const char start[] = "HTTP/1.";
    size_t n = len < sizeof start - 1 ? len : sizeof start - 1;
    return memcmp(text, start, n) == 0;
}

/* Status of the final answer once its head is complete: 0 while it is not, -1
 * for what is no HTTP. `text` ends in a NUL. */
static int parse(char *text, size_t len)
{
    for (;;) {
        char *end = strstr(text, "\r\n\r\n");
        if (!may_be_status(text, len)) {
            return -1;
        }
        if (end == NULL) {
            return 0;
        }
        int status = status_of(text);
        if (status < 0 || status == 101 || status >= 200) {
            return status;
        }
        len -= (size_t)(end + 4 - text);
        text = end + 4;
    }
}

static void drop_rest(const struct probe *probe)
{
    char buf[4096];
    struct probe quiet = *probe;
    size_t taken = 0;
    quiet.why_size = 0;
    while (taken < REST_MAX && left_ms(&quiet) > 0) {
        ssize_t n = receive(&quiet, buf, sizeof buf);
        if (n <= 0) {
            return;
        }
        taken += (size_t)n;
    }
}

static int read_answer(const struct probe *probe)
{
    char head[HEAD_MAX + 1];
    size_t len = 0;
    while (len < HEAD_MAX) {
        ssize_t n = receive(probe, head + len, HEAD_MAX - len);
        if (n < 0) {
            return -1;
        }
        if (n == 0) {
            return fail(probe, len == 0 ? "closed without an answer"
                                        : "closed within the answer's head");
        }
        len += (size_t)n;
        head[len] = '\0';
        int status = parse(head, len);
        if (status > 0) {
            drop_rest(probe);
            return status;
        }
        if (status < 0 || memchr(head, '\0', len) != NULL) {
            return fail(probe, "the answer is not HTTP");
        }
    }
    return fail(probe, "the answer's head is longer than %d bytes", HEAD_MAX);
}

static int ask(const struct probe *probe, const char *path)
{
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "GET %s HTTP/1.1\r\n"
                     "Host: localhost\r\n"
                     "User-Agent: restdaemon-probe\r\n"
                     "Connection: close\r\n\r\n",
                     path);
    if (n < 0 || (size_t)n >= sizeof text) {
        return fail(probe, "the path is too long");
    }
    if (*path != '/' || strpbrk(path, " \r\n\t") != NULL) {
        return fail(probe, "not a path: \"%.64s\"", path);
    }
    return send_all(probe, text, (size_t)n) < 0 ? -1 : read_answer(probe);
}

/* Where it is reached from here; -1: nowhere. */
static int parse_address(const char *address, struct rd_address *to)
{
    if (rd_address_parse(address, to) != NULL ||
        rd_address_is_any_port(address)) {
        return -1;
    }
    if (to->any.sa_family == AF_INET6 &&
        IN6_IS_ADDR_UNSPECIFIED(&to->in6.sin6_addr)) {
        to->in6.sin6_addr = in6addr_loopback;
    } else if (to->any.sa_family == AF_INET &&
               to->in.sin_addr.s_addr == htonl(INADDR_ANY)) {
        to->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    return 0;
}

static int connect_to(const struct probe *probe, const struct rd_address *to)
{
    int rc;
    do {
        int left = left_ms(probe);
        /* Zero would mean to wait forever. */
        struct timeval limit = {left / 1000, left % 1000 * 1000 + 1};
        setsockopt(probe->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        rc = connect(probe->fd, &to->any, to->len);
        /* Linux lets an interrupted connect() be called again. */
    } while (rc < 0 && errno == EINTR && left_ms(probe) > 0);
    if (rc == 0) {
        return 0;
    }
    int late = errno == EINPROGRESS || errno == EAGAIN || errno == EINTR;
    return late ? fail(probe, "no connection in time")
                : fail(probe, "cannot connect: %s", strerror(errno));
}

int rd_probe_fd(int fd, const char *path, int timeout_ms, char *why,
                size_t size)
{
    struct probe probe = {fd, (int64_t)rd_now_ms() + timeout_ms, why, size};
    return ask(&probe, path);
}

int rd_probe_address(const char *address, const char *path, int timeout_ms,
                     char *why, size_t size)
{
    struct probe probe = {-1, (int64_t)rd_now_ms() + timeout_ms, why, size};
    struct rd_address to;
    if (parse_address(address, &to) < 0) {
        return fail(&probe, "not an address: \"%.128s\"", address);
    }
    probe.fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe.fd < 0) {
        return fail(&probe, "socket: %s", strerror(errno));
    }
    int status = connect_to(&probe, &to) < 0 ? -1 : ask(&probe, path);
    close(probe.fd);
    return status;
}
