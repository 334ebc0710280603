/* SPDX-License-Identifier: MIT */
/* One line per message, written with one system call so that lines of several
 * processes do not mix: "2026-11-30T14:45:00.123Z notice text", or "<5>text"
 * when stderr is a stream of systemd's journal, which has clocks of its own
 * (systemd.exec(5), JOURNAL_STREAM).
 * A write that fails is nobody's business here: there is no other place to
 * complain. May block; only the log writer thread waits then.
 */
#include "daemon/logsink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <restd/json.h>

static const char *level_name(enum restd_log_level level)
{
    switch (level) {
    case RESTD_LOG_ERROR:
        return "error";
    case RESTD_LOG_WARNING:
        return "warning";
    case RESTD_LOG_NOTICE:
        return "notice";
    case RESTD_LOG_INFO:
        return "info";
    case RESTD_LOG_DEBUG:
        return "debug";
    }
    return "?";
}

void rd_logsink_init(struct rd_logsink *sink, int fd,
                     const char *journal_stream)
{
    struct stat st;
    char own[64];
    sink->fd = fd;
    sink->journal = 0;
    if (journal_stream == NULL || fstat(fd, &st) != 0) {
        return;
    }
    /* systemd.exec(5): JOURNAL_STREAM is "device:inode" in decimal. */
    snprintf(own, sizeof own, "%ju:%ju", (uintmax_t)st.st_dev,
             (uintmax_t)st.st_ino);
    sink->journal = strcmp(journal_stream, own) == 0;
}

void rd_logsink_write(enum restd_log_level level, int64_t time_unix_ms,
                      const char *line, void *data)
{
    const struct rd_logsink *sink = data;
    char head[64], time[40] = "";
    if (sink->journal) {
        snprintf(head, sizeof head, "<%d>", (int)level);
    } else {
        struct restd_json json;
        restd_json_init(&json, time, sizeof time - 1);
        restd_json_time(&json, time_unix_ms);
        long len = restd_json_finish(&json); /* with its two quotes */
        snprintf(head, sizeof head, "%.*s %s ", len > 2 ? (int)len - 2 : 0,
                 time + 1, level_name(level));
    }
    char newline[] = "\n";
    struct iovec parts[3] = {
        {head, strlen(head)},
        {(void *)(uintptr_t)line, strlen(line)}, /* iovec knows no const */
        {newline, 1}};
    ssize_t n = writev(sink->fd, parts, 3);
    (void)n;
}
