/* SPDX-License-Identifier: MIT */
/* Where lines go: a descriptor with a buffer in front of it.
 *
 * What cannot be written stays in the buffer as long as there is room, then
 * lines are lost and counted, until a write succeeds again.
 *
 * Owner: struct rd_logsink. Thread: rd_log_place_*() any, rd_log_stream_*() the
 * log writer. */
#ifndef RD_DAEMON_LOG_STREAM_H
#define RD_DAEMON_LOG_STREAM_H

#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <restd/error.h>

#include "daemon/log_config.h"
#include "daemon/log_line.h"

/* An open target. */
struct rd_log_place {
    enum rd_log_target target;
    int fd;              /* -1: RD_LOG_OFF, or no syslog there */
    char path[PATH_MAX]; /* of RD_LOG_FILE and RD_LOG_SYSLOG */
};

/* Opens `path` (RD_LOG_FILE: to append, 0640 if it is made; RD_LOG_SYSLOG: the
 * socket, which need not be there yet) or uses `stderr_fd`. Waits for nobody: a
 * FIFO needs no reader. A RESTD_E* with a sentence in `error`. */
int rd_log_place_open(struct rd_log_place *place, enum rd_log_target target,
                      const char *path, int stderr_fd,
                      struct restd_error *error);
/* Closes what rd_log_place_open() has opened. */
void rd_log_place_close(struct rd_log_place *place);
/* 1: both lead to the same stderr or file. */
int rd_log_place_same(const struct rd_log_place *a,
                      const struct rd_log_place *b);

struct rd_log_stream {
    struct rd_log_place place;
    int stderr_fd; /* for what cannot be said elsewhere */
    int failed;    /* errno of the last write, 0: it has succeeded */
    int retry;     /* a failed one may be tried again */
    int torn;      /* the buffer begins within a line */
    uint64_t lost; /* lines, not told of yet */
    _Atomic uint64_t lost_all;
    size_t len;
    char buffer[16 * 1024];
};

/* Room for a line of RD_LOG_LINE_SIZE bytes, or NULL: the line is lost. */
char *rd_log_stream_reserve(struct rd_log_stream *stream);
/* The line that was put there. */
void rd_log_stream_commit(struct rd_log_stream *stream, size_t len);
void rd_log_stream_flush(struct rd_log_stream *stream);
/* Goes on at another place, which is taken; the old one is closed. */
void rd_log_stream_move(struct rd_log_stream *stream,
                        const struct rd_log_place *place);
/* How many lines were lost, once it works again; 0: none, or it does not. */
uint64_t rd_log_stream_recovered(struct rd_log_stream *stream);

#endif
