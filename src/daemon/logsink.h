/* SPDX-License-Identifier: MIT */
/* Where messages and lines of the access log go: stderr, a file, syslog, the
 * journal, or nowhere.
 *
 * Main configures, the server's log writer writes; what main asks for is done by
 * the writer, before the next line or at the next flush, so that no line is lost
 * or split and main waits for no disk: restd_server_log_flush() has it done
 * soon.
 *
 * Owner: main. Lifetime: longer than the server's, and than a writer that hangs.
 * Thread: as tagged.
 */
#ifndef RD_DAEMON_LOGSINK_H
#define RD_DAEMON_LOGSINK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include <restd/options.h>

#include "daemon/log_config.h"
#include "daemon/log_line.h"
#include "daemon/log_stream.h"

enum { RD_LOG_MESSAGES, RD_LOG_ACCESSES, RD_LOG_STREAMS_N };

/* A configuration in force, or on its way to the writer. */
struct rd_logsink_setup {
    struct rd_log_place places[RD_LOG_STREAMS_N];
    enum rd_log_format formats[RD_LOG_STREAMS_N];
    int is_shared; /* access lines go to the stream of the messages */
};

struct rd_logsink {
    int stderr_fd;
    const char *journal_stream;
    const char *syslog_path; /* /dev/log, until somebody sets it */
    _Atomic int asked;       /* one of the next three is there */
    pthread_mutex_t lock;
    int has_next, reopen;         /* [lock: lock] */
    struct rd_logsink_setup next; /* [lock: lock] */
    /* The writer's. */
    enum rd_log_format formats[RD_LOG_STREAMS_N];
    int is_shared;
    struct rd_log_stream streams[RD_LOG_STREAMS_N];
};

/* All is off. `journal_stream` is the environment's JOURNAL_STREAM or NULL, and
 * stays. [init] */
void rd_logsink_init(struct rd_logsink *sink, int stderr_fd,
                     const char *journal_stream);
/* Writes what is left and closes. After the server. */
void rd_logsink_fini(struct rd_logsink *sink);
/* Opens both targets (`access` NULL: off), which makes files that are not there;
 * the log stays where it is. What it makes goes to rd_logsink_use() or
 * rd_logsink_drop(); nothing on an error, of which `error` has a sentence.
 * [main] */
int rd_logsink_open(const struct rd_logsink *sink,
                    struct rd_logsink_setup *setup,
                    const struct rd_config_log *messages,
                    const struct rd_config_log *access,
                    struct restd_error *error);
/* Has the writer go over to it. [main] */
void rd_logsink_use(struct rd_logsink *sink,
                    const struct rd_logsink_setup *setup);
/* Closes it. [main] */
void rd_logsink_drop(struct rd_logsink_setup *setup);
/* Opens, and uses. [main] */
int rd_logsink_configure(struct rd_logsink *sink,
                         const struct rd_config_log *messages,
                         const struct rd_config_log *access,
                         struct restd_error *error);
/* Has the writer open the files anew, as they have been moved away; where that
 * fails the old file goes on, and a message says so. [main] */
void rd_logsink_reopen(struct rd_logsink *sink);
/* Gives the files of the configuration to an account that is to open them anew,
 * as far as they are root's. Before the server starts. [main] */
void rd_logsink_give(struct rd_logsink *sink, uid_t uid, gid_t gid);
/* Lines that could not be written so far. [any] */
uint64_t rd_logsink_lost(const struct rd_logsink *sink);

/* For struct restd_options; `data` is the sink. [writer] */
restd_log_fn rd_logsink_write;
restd_log_flush_fn rd_logsink_flush;

#endif
