/* SPDX-License-Identifier: MIT */
/* What a line of the log looks like. Pure, but for the zone of syslog's time. */
#ifndef RD_DAEMON_LOG_LINE_H
#define RD_DAEMON_LOG_LINE_H

#include <stddef.h>

#include <restd/options.h>

enum rd_log_format {
    RD_LOG_TEXT,     /* 2026-11-30T14:45:00.123Z notice TEXT */
    RD_LOG_COLOUR,   /* the same for a terminal */
    RD_LOG_LOGFMT,   /* time=2026-11-30T14:45:00.123Z level=notice msg="TEXT" */
    RD_LOG_JSON,     /* {"time":"...","level":"notice","msg":"TEXT"} */
    RD_LOG_PREFIX,   /* <5>TEXT, sd-daemon(3) */
    RD_LOG_DATAGRAM, /* <29>Nov 30 14:45:00 restdaemon[4711]: TEXT */
    RD_LOG_BARE      /* TEXT */
};

/* Room for 1000 bytes of a message, which JSON may double, or 2000 of the access
 * log, which has RD_LOG_PREFIX to RD_LOG_BARE. */
#define RD_LOG_LINE_SIZE 4096u

const char *rd_log_level_name(enum restd_log_level level);

/* Writes the line, with a newline but for RD_LOG_DATAGRAM; its length. The text
 * has no control characters. */
size_t rd_log_line(char out[RD_LOG_LINE_SIZE], enum rd_log_format format,
                   enum restd_log_level level, int64_t time_unix_ms,
                   const char *text);

#endif
