/* SPDX-License-Identifier: MIT */
/* Two streams of lines, one for messages and one for the access log, or one for
 * both where they lead to the same place; how they are changed while they are
 * in use; what is said when one of them fails. log_stream.c writes them,
 * log_line.c lays lines out. May block; only the log writer waits then.
 */
#include "daemon/logsink.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/clock.h"
#include "daemon/fault.h"

void rd_logsink_init(struct rd_logsink *sink, int stderr_fd,
                     const char *journal_stream)
{
    memset(sink, 0, sizeof *sink);
    sink->stderr_fd = stderr_fd;
    sink->journal_stream = journal_stream;
    sink->syslog_path = "/dev/log";
    pthread_mutex_init(&sink->lock, NULL);
    for (int i = 0; i < RD_LOG_STREAMS_N; i++) {
        sink->streams[i].place.target = RD_LOG_OFF;
        sink->streams[i].place.fd = -1;
        sink->streams[i].stderr_fd = stderr_fd;
    }
}

void rd_logsink_drop(struct rd_logsink_setup *setup)
{
    for (int i = 0; i < RD_LOG_STREAMS_N; i++) {
        rd_log_place_close(&setup->places[i]);
    }
}

void rd_logsink_fini(struct rd_logsink *sink)
{
    rd_logsink_flush(sink); /* takes over what is on its way */
    for (int i = 0; i < RD_LOG_STREAMS_N; i++) {
        rd_log_place_close(&sink->streams[i].place);
    }
    pthread_mutex_destroy(&sink->lock);
}

uint64_t rd_logsink_lost(const struct rd_logsink *sink)
{
    return atomic_load(&sink->streams[RD_LOG_MESSAGES].lost_all) +
           atomic_load(&sink->streams[RD_LOG_ACCESSES].lost_all);
}

/* --- configuration, main's -------------------------------------------------- */

/* systemd.exec(5): JOURNAL_STREAM is "device:inode" in decimal. */
static int is_journal(const struct rd_logsink *sink)
{
    struct stat st;
    char own[64];

    if (sink->journal_stream == NULL || fstat(sink->stderr_fd, &st) != 0) {
        return 0;
    }
    snprintf(own, sizeof own, "%ju:%ju", (uintmax_t)st.st_dev,
             (uintmax_t)st.st_ino);
    return strcmp(sink->journal_stream, own) == 0;
}

/* Of messages; negative: there is no such format. */
static int format_choose(const struct rd_logsink *sink,
                         const struct rd_config_log *config)
{
    const char *name = config->format != NULL ? config->format : "auto";
    int is_stderr = config->target == RD_LOG_STDERR;

    if (config->target == RD_LOG_JOURNAL) {
        return RD_LOG_PREFIX;
    }
    if (config->target == RD_LOG_SYSLOG) {
        return RD_LOG_DATAGRAM;
    }
    if (strcmp(name, "auto") == 0) {
        return !is_stderr                ? RD_LOG_TEXT
               : is_journal(sink)        ? RD_LOG_PREFIX
               : isatty(sink->stderr_fd) ? RD_LOG_COLOUR
                                         : RD_LOG_TEXT;
    }
    return strcmp(name, "text") == 0     ? RD_LOG_TEXT
           : strcmp(name, "logfmt") == 0 ? RD_LOG_LOGFMT
           : strcmp(name, "json") == 0   ? RD_LOG_JSON
                                         : -1;
}

static enum rd_log_format access_format(const struct rd_logsink *sink,
                                        const struct rd_config_log *config)
{
    switch (config->target) {
    case RD_LOG_SYSLOG:
        return RD_LOG_DATAGRAM;
    case RD_LOG_JOURNAL:
        return RD_LOG_PREFIX;
    case RD_LOG_STDERR:
        return is_journal(sink) ? RD_LOG_PREFIX : RD_LOG_BARE;
    case RD_LOG_FILE:
    case RD_LOG_OFF:
        break;
    }
    return RD_LOG_BARE;
}

static int place_open(const struct rd_logsink *sink, struct rd_log_place *place,
                      const struct rd_config_log *config,
                      struct restd_error *error)
{
    const char *path =
        config->target == RD_LOG_SYSLOG ? sink->syslog_path : config->path;

    return rd_log_place_open(place, config->target, path, sink->stderr_fd,
                             error);
}

int rd_logsink_open(const struct rd_logsink *sink,
                    struct rd_logsink_setup *setup,
                    const struct rd_config_log *messages,
                    const struct rd_config_log *access,
                    struct restd_error *error)
{
    static const struct rd_config_log off = {.target = RD_LOG_OFF};
    struct rd_log_place *places = setup->places;
    int format = format_choose(sink, messages);

    memset(setup, 0, sizeof *setup);
    access = access != NULL ? access : &off;
    if (format < 0) {
        return rd_fault(error, RESTD_EINVAL,
                        "\"%.100s\" is no format of the log: it is one of "
                        "auto, text, logfmt, json",
                        messages->format);
    }
    setup->formats[RD_LOG_MESSAGES] = (enum rd_log_format)format;
    setup->formats[RD_LOG_ACCESSES] = access_format(sink, access);
    int rc = place_open(sink, &places[RD_LOG_MESSAGES], messages, error);
    if (rc != 0) {
        return rc;
    }
    rc = place_open(sink, &places[RD_LOG_ACCESSES], access, error);
    if (rc != 0) {
        rd_log_place_close(&places[RD_LOG_MESSAGES]);
        return rc;
    }
    setup->is_shared =
        rd_log_place_same(&places[RD_LOG_MESSAGES], &places[RD_LOG_ACCESSES]);
    if (setup->is_shared) {
        rd_log_place_close(&places[RD_LOG_ACCESSES]);
        places[RD_LOG_ACCESSES].target = RD_LOG_OFF;
    }
    return 0;
}

void rd_logsink_use(struct rd_logsink *sink,
                    const struct rd_logsink_setup *setup)
{
    pthread_mutex_lock(&sink->lock);
    if (sink->has_next) {
        rd_logsink_drop(&sink->next); /* the writer has not come to it */
    }
    sink->next = *setup;
    sink->has_next = 1;
    atomic_store(&sink->asked, 1);
    pthread_mutex_unlock(&sink->lock);
}

int rd_logsink_configure(struct rd_logsink *sink,
                         const struct rd_config_log *messages,
                         const struct rd_config_log *access,
                         struct restd_error *error)
{
    struct rd_logsink_setup setup;
    int rc = rd_logsink_open(sink, &setup, messages, access, error);
    if (rc == 0) {
        rd_logsink_use(sink, &setup);
    }
    return rc;
}

void rd_logsink_give(struct rd_logsink *sink, uid_t uid, gid_t gid)
{
    struct stat st;

    pthread_mutex_lock(&sink->lock);
    for (int i = 0; sink->has_next && i < RD_LOG_STREAMS_N; i++) {
        const struct rd_log_place *place = &sink->next.places[i];
        if (place->target == RD_LOG_FILE && fstat(place->fd, &st) == 0 &&
            S_ISREG(st.st_mode) && st.st_uid == 0 &&
            fchown(place->fd, uid, gid) != 0) {
            continue; /* then reopening it says so */
        }
    }
    pthread_mutex_unlock(&sink->lock);
}

void rd_logsink_reopen(struct rd_logsink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->reopen = 1;
    atomic_store(&sink->asked, 1);
    pthread_mutex_unlock(&sink->lock);
}

/* --- the writer's ----------------------------------------------------------- */

static struct rd_log_stream *stream_of(struct rd_logsink *sink, int which)
{
    return &sink->streams[sink->is_shared ? RD_LOG_MESSAGES : which];
}

/* What rd_log_line() does, for the many lines of the access log. */
static size_t bare_line(char *out, const char *line)
{
    size_t len = strlen(line);

    memcpy(out, line, len);
    out[len] = '\n';
    return len + 1;
}

static inline void put(struct rd_logsink *sink, enum restd_log_level level,
                       int64_t time_unix_ms, const char *line)
{
    int which = level == RESTD_LOG_ACCESS ? RD_LOG_ACCESSES : RD_LOG_MESSAGES;
    struct rd_log_stream *stream = stream_of(sink, which);

    if (stream->place.target == RD_LOG_OFF) {
        return;
    }
    char *at = rd_log_stream_reserve(stream);
    if (at != NULL) {
        size_t len = sink->formats[which] == RD_LOG_BARE
                         ? bare_line(at, line)
                         : rd_log_line(at, sink->formats[which], level,
                                       time_unix_ms, line);
        rd_log_stream_commit(stream, len);
    }
    if (level <= RESTD_LOG_WARNING) {
        rd_log_stream_flush(stream);
    }
}

static void say(struct rd_logsink *sink, enum restd_log_level level,
                const char *format, ...) RESTD_PRINTF(3, 4);
static void say(struct rd_logsink *sink, enum restd_log_level level,
                const char *format, ...)
{
    char text[1000];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put(sink, level, rd_unix_ms(), text);
}

static void reopen_all(struct rd_logsink *sink)
{
    for (int i = 0; i < RD_LOG_STREAMS_N; i++) {
        struct rd_log_stream *stream = &sink->streams[i];
        struct rd_log_place place;
        struct restd_error error;

        if (stream->place.target != RD_LOG_FILE) {
            continue;
        }
        if (rd_log_place_open(&place, RD_LOG_FILE, stream->place.path, -1,
                              &error) == 0) {
            rd_log_stream_move(stream, &place);
        } else {
            say(sink, RESTD_LOG_ERROR, "%s; the old one goes on",
                error.message);
        }
    }
}

static void setup_take(struct rd_logsink *sink,
                       const struct rd_logsink_setup *setup)
{
    for (int i = 0; i < RD_LOG_STREAMS_N; i++) {
        rd_log_stream_move(&sink->streams[i], &setup->places[i]);
        sink->formats[i] = setup->formats[i];
    }
    sink->is_shared = setup->is_shared;
}

static void asked_do(struct rd_logsink *sink)
{
    struct rd_logsink_setup setup;

    pthread_mutex_lock(&sink->lock);
    int has_next = sink->has_next;
    /* Also of what is new: it may have been moved away since. */
    int reopen = sink->reopen;
    if (has_next) {
        setup = sink->next;
    }
    sink->has_next = 0;
    sink->reopen = 0;
    atomic_store(&sink->asked, 0);
    pthread_mutex_unlock(&sink->lock);
    if (has_next) {
        setup_take(sink, &setup);
    }
    if (reopen) {
        reopen_all(sink);
    }
}

void rd_logsink_write(enum restd_log_level level, int64_t time_unix_ms,
                      const char *line, void *data)
{
    struct rd_logsink *sink = data;

    if (atomic_load(&sink->asked)) {
        asked_do(sink);
    }
    put(sink, level, time_unix_ms, line);
}

void rd_logsink_flush(void *data)
{
    struct rd_logsink *sink = data;

    if (atomic_load(&sink->asked)) {
        asked_do(sink);
    }
    for (int i = 0; i < RD_LOG_STREAMS_N; i++) {
        struct rd_log_stream *stream = &sink->streams[i];

        rd_log_stream_flush(stream);
        uint64_t lost = rd_log_stream_recovered(stream);
        if (lost > 0) {
            say(sink, RESTD_LOG_WARNING, "%" PRIu64 " lines of the %s lost",
                lost, i == RD_LOG_MESSAGES ? "log" : "access log");
        }
    }
}
