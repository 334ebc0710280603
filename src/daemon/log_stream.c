/* SPDX-License-Identifier: MIT */
/* The buffer in front of a target of the log, and what happens when it cannot
 * be written: disk full, a broken disk, a pipe whose reader has gone or sleeps.
 *
 * The buffer is written when it has no room for another line, and when it is
 * flushed. A failed write is tried again at each flush only, so that a full
 * disk costs no call per line. A partial write is completed by the next one:
 * nothing is written twice or torn, unless the place changes in between.
 * Datagrams are not buffered; a connection that is gone is made anew.
 * Thread: the log writer. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/log_stream.h"

/* For a reader of a pipe. */
#define WRITE_WAIT_MS 200
/* What a pipe takes without blocking once poll() calls it writable: PIPE_BUF.
 * Standard error is not ours to make non-blocking: others share it. */
#define STDERR_PART 4096

static int is_writable(int fd, int wait_ms)
{
    struct pollfd pollfd = {fd, POLLOUT, 0};
    return poll(&pollfd, 1, wait_ms) > 0;
}

/* Once per failure, and not to the stream that has just failed. */
static void complain(const struct rd_log_stream *stream, int os_errno)
{
    char text[512];
    const char *path = stream->place.path;

    if (*path == '\0' || stream->stderr_fd < 0 ||
        !is_writable(stream->stderr_fd, 0)) {
        return;
    }
    int len =
        snprintf(text, sizeof text,
                 "restdaemon: log %.300s: %s; lines wait, then are lost\n",
                 path, strerror(os_errno));
    ssize_t n = write(stream->stderr_fd, text, (size_t)len);
    (void)n; /* there is no other place to complain */
}

static void result(struct rd_log_stream *stream, int os_errno)
{
    if (os_errno != 0 && stream->failed == 0) {
        complain(stream, os_errno);
    }
    stream->failed = os_errno;
    stream->retry = 0;
}

/* As write(), but waits at most for `wait_ms`, also for a pipe that blocks. */
static ssize_t write_some(const struct rd_log_place *place, const char *data,
                          size_t len, int wait_ms)
{
    if (place->target == RD_LOG_STDERR || place->target == RD_LOG_JOURNAL) {
        if (!is_writable(place->fd, wait_ms)) {
            errno = EAGAIN;
            return -1;
        }
        len = len < STDERR_PART ? len : STDERR_PART;
    }
    return write(place->fd, data, len);
}

/* Writes as much as it can; 0 or errno. */
static int write_all(struct rd_log_stream *stream, size_t *done)
{
    int wait_ms = stream->failed == 0 ? WRITE_WAIT_MS : 0;
    while (*done < stream->len) {
        ssize_t n = write_some(&stream->place, stream->buffer + *done,
                               stream->len - *done, wait_ms);
        if (n > 0) {
            *done += (size_t)n;
            continue;
        }
        int error = n < 0 ? errno : EIO;
        if (error == EINTR || (error == EAGAIN && wait_ms > 0 &&
                               is_writable(stream->place.fd, wait_ms))) {
            continue;
        }
        return error;
    }
    return 0;
}

static void lines_lost(struct rd_log_stream *stream, uint64_t n)
{
    stream->lost += n;
    atomic_fetch_add(&stream->lost_all, n);
}

static void buffer_write(struct rd_log_stream *stream)
{
    size_t done = 0;
    int error = write_all(stream, &done);

    if (done > 0) {
        stream->torn = stream->buffer[done - 1] != '\n';
        stream->len -= done;
        memmove(stream->buffer, stream->buffer + done, stream->len);
    }
    result(stream, error);
}

void rd_log_stream_flush(struct rd_log_stream *stream)
{
    stream->retry = 1;
    if (stream->len > 0) {
        buffer_write(stream);
    }
}

char *rd_log_stream_reserve(struct rd_log_stream *stream)
{
    if (sizeof stream->buffer - stream->len < RD_LOG_LINE_SIZE &&
        (stream->failed == 0 || stream->retry)) {
        buffer_write(stream);
    }
    if (sizeof stream->buffer - stream->len < RD_LOG_LINE_SIZE) {
        lines_lost(stream, 1);
        return NULL;
    }
    return stream->buffer + stream->len;
}

static int datagram_send(const struct rd_log_stream *stream, size_t len)
{
    /* One that has failed is not waited for. */
    int flags = MSG_NOSIGNAL | (stream->failed != 0 ? MSG_DONTWAIT : 0);
    ssize_t n;

    if (stream->place.fd < 0) {
        return ENOTCONN;
    }
    do {
        n = send(stream->place.fd, stream->buffer, len, flags);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? errno : 0;
}

static void datagram_commit(struct rd_log_stream *stream, size_t len)
{
    if (stream->failed != 0 && !stream->retry) {
        lines_lost(stream, 1);
        return;
    }
    int error = datagram_send(stream, len);
    if (error != 0 && error != EAGAIN && error != EMSGSIZE) {
        char path[PATH_MAX];
        memcpy(path, stream->place.path, sizeof path);
        rd_log_place_close(&stream->place);
        (void)rd_log_place_open(&stream->place, RD_LOG_SYSLOG, path, -1, NULL);
        error = datagram_send(stream, len);
    }
    lines_lost(stream, error != 0);
    result(stream, error);
}

void rd_log_stream_commit(struct rd_log_stream *stream, size_t len)
{
    if (stream->place.target == RD_LOG_SYSLOG) {
        datagram_commit(stream, len);
    } else {
        stream->len += len;
    }
}

/* Lines in the buffer, the torn one without its begin. */
static uint64_t lines_count(const struct rd_log_stream *stream)
{
    uint64_t n = 0;

    for (size_t i = 0; i < stream->len; i++) {
        n += stream->buffer[i] == '\n';
    }
    return n;
}

void rd_log_stream_move(struct rd_log_stream *stream,
                        const struct rd_log_place *place)
{
    rd_log_stream_flush(stream);
    rd_log_place_close(&stream->place);
    stream->place = *place;
    if (place->target == RD_LOG_SYSLOG || place->target == RD_LOG_OFF) {
        lines_lost(stream, lines_count(stream));
        stream->len = 0;
    } else if (stream->torn && stream->len > 0) {
        /* The other half is in the old file. */
        const char *end = memchr(stream->buffer, '\n', stream->len);
        size_t rest = end != NULL ? (size_t)(end + 1 - stream->buffer) : 0;
        stream->len -= rest;
        memmove(stream->buffer, stream->buffer + rest, stream->len);
        lines_lost(stream, 1);
    }
    stream->torn = 0;
    stream->failed = 0;
}

uint64_t rd_log_stream_recovered(struct rd_log_stream *stream)
{
    uint64_t lost = stream->failed == 0 ? stream->lost : 0;

    stream->lost -= lost;
    return lost;
}
