/* SPDX-License-Identifier: MIT */
/* Where log lines go: stderr, or the journal behind it.
 *
 * Owner: main. Lifetime: longer than the server's. Thread: rd_logsink_init()
 * main; rd_logsink_write() the server's log writer.
 */
#ifndef RD_DAEMON_LOGSINK_H
#define RD_DAEMON_LOGSINK_H

#include <restd/options.h>

struct rd_logsink {
    int fd;
    int journal; /* lines get an sd-daemon(3) prefix and no time */
};

/* `journal_stream` is the environment's JOURNAL_STREAM or NULL. */
void rd_logsink_init(struct rd_logsink *sink, int fd,
                     const char *journal_stream);
/* The restd_log_fn; `data` is the struct rd_logsink. */
restd_log_fn rd_logsink_write;

#endif
