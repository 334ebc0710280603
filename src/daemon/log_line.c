/* SPDX-License-Identifier: MIT */
/* Layout of lines of the log. No allocation. Thread: the log writer's. */
#include "daemon/log_line.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <restd/json.h>

#include "daemon/json_put.h"

#define TAG "restdaemon"
#define FACILITY_DAEMON (3 << 3) /* RFC 3164 section 4.1.1 */
#define TIME_SIZE 40             /* quotes and NUL among them */

const char *rd_log_level_name(enum restd_log_level level)
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
    case RESTD_LOG_ACCESS:
        return "access";
    }
    return "?";
}

static const char *level_colour(enum restd_log_level level)
{
    return level <= RESTD_LOG_ERROR     ? "\x1b[31m"
           : level <= RESTD_LOG_WARNING ? "\x1b[33m"
           : level <= RESTD_LOG_NOTICE  ? "\x1b[32m"
                                        : "\x1b[2m";
}

/* Syslog has no level for the access log. */
static int severity(enum restd_log_level level)
{
    return level == RESTD_LOG_ACCESS ? RESTD_LOG_INFO : (int)level;
}

/* RFC 3339 in UTC, without quotes. */
static const char *time_text(char buf[TIME_SIZE], int64_t unix_ms)
{
    struct restd_json json;

    restd_json_init(&json, buf, TIME_SIZE);
    restd_json_time(&json, unix_ms);
    long len = restd_json_finish(&json);
    buf[len > 0 ? len - 1 : 0] = '\0';
    return buf + (len > 0);
}

static int head_write(char *out, size_t size, enum rd_log_format format,
                      enum restd_log_level level, int64_t unix_ms)
{
    char time[TIME_SIZE];

    if (format == RD_LOG_PREFIX) {
        return snprintf(out, size, "<%d>", severity(level));
    }
    if (format == RD_LOG_COLOUR) {
        return snprintf(out, size, "%s %s%s\x1b[0m ", time_text(time, unix_ms),
                        level_colour(level), rd_log_level_name(level));
    }
    if (format == RD_LOG_LOGFMT) {
        return snprintf(out, size,
                        "time=%s level=%s msg=", time_text(time, unix_ms),
                        rd_log_level_name(level));
    }
    return snprintf(out, size, "%s %s ", time_text(time, unix_ms),
                    rd_log_level_name(level));
}

/* Time in the local zone, as RFC 3164 has it, whatever the locale. */
static int datagram_head_write(char *out, size_t size,
                               enum restd_log_level level, int64_t unix_ms)
{
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm tm;

    memset(&tm, 0, sizeof tm);
    localtime_r(&seconds, &tm);
    return snprintf(out, size, "<%d>%s %2d %02d:%02d:%02d " TAG "[%ld]: ",
                    FACILITY_DAEMON | severity(level), months[tm.tm_mon],
                    tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                    (long)getpid());
}

static size_t json_write(char *out, size_t size, enum restd_log_level level,
                         int64_t unix_ms, const char *text)
{
    struct restd_json json;

    restd_json_init(&json, out, size);
    restd_json_object_begin(&json);
    restd_json_key(&json, "time");
    restd_json_time(&json, unix_ms);
    put_text(&json, "level", rd_log_level_name(level));
    restd_json_key(&json, "msg");
    restd_json_string(&json, text, strlen(text));
    restd_json_object_end(&json);
    long len = restd_json_finish(&json);
    return len > 0 ? (size_t)len : 0;
}

/* A quoted string of logfmt is one of JSON. */
static size_t quoted_write(char *out, size_t size, const char *text)
{
    struct restd_json json;

    restd_json_init(&json, out, size);
    restd_json_string(&json, text, strlen(text));
    long len = restd_json_finish(&json);
    return len > 0 ? (size_t)len : 0;
}

static size_t text_write(char *out, size_t size, const char *text)
{
    size_t len = strlen(text);

    len = len < size ? len : size;
    memcpy(out, text, len);
    return len;
}

size_t rd_log_line(char out[RD_LOG_LINE_SIZE], enum rd_log_format format,
                   enum restd_log_level level, int64_t time_unix_ms,
                   const char *text)
{
    const size_t size = RD_LOG_LINE_SIZE - 1; /* less the newline */
    size_t len = 0;

    switch (format) {
    case RD_LOG_BARE:
        len = text_write(out, size, text);
        break;
    case RD_LOG_JSON:
        len = json_write(out, size, level, time_unix_ms, text);
        break;
    case RD_LOG_LOGFMT:
        len = (size_t)head_write(out, size, format, level, time_unix_ms);
        len += quoted_write(out + len, size - len, text);
        break;
    case RD_LOG_TEXT:
    case RD_LOG_COLOUR:
    case RD_LOG_PREFIX:
        len = (size_t)head_write(out, size, format, level, time_unix_ms);
        len += text_write(out + len, size - len, text);
        break;
    case RD_LOG_DATAGRAM:
        len = (size_t)datagram_head_write(out, size, level, time_unix_ms);
        return len + text_write(out + len, size - len, text);
    }
    out[len] = '\n';
    return len + 1;
}
