/* SPDX-License-Identifier: MIT */
/* The daemon's log sinks with real files, pipes, a full device and a datagram
 * socket: formats, rotation, failures, changes while lines come. */
#include "daemon/logsink.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "json_valid.h"
#include "support/suite.h"

#define TIME_MS 1796049900123 /* 2026-11-30T14:45:00.123Z */

static struct rd_logsink sink;
static struct rd_config_log messages, accesses;
static struct restd_error error;
static char folder[] = "/tmp/restd-logsink-XXXXXX";
static char path[256], other[256];
static int err[2]; /* a pipe in place of stderr */
static char text[1 << 20];

static const char *in_folder(char out[256], const char *name)
{
    snprintf(out, 256, "%s/%s", folder, name);
    return out;
}

static void set_up(void)
{
    memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(pipe2(err, O_NONBLOCK | O_CLOEXEC), 0);
    signal(SIGPIPE, SIG_IGN);
    rd_logsink_init(&sink, err[1], NULL);
    memset(&messages, 0, sizeof(messages));
    memset(&accesses, 0, sizeof(accesses));
    messages.path = in_folder(path, "log");
    accesses.target = RD_LOG_OFF;
    accesses.path = in_folder(other, "access");
    umask(022);
}

static void tear_down(void)
{
    char name[512];
    rd_logsink_fini(&sink);
    close(err[0]);
    close(err[1]);
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        snprintf(name, sizeof(name), "%s/%s", folder, d->d_name);
        (void)unlink(name);
    }
    closedir(dir);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void configure(enum rd_log_target target, const char *format)
{
    messages.target = target;
    messages.format = format;
    int rc = rd_logsink_configure(&sink, &messages, &accesses, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
}

static void put(enum restd_log_level level, const char *line)
{
    rd_logsink_write(level, TIME_MS, line, &sink);
}

/* What is in `fd` now, read without waiting. */
static const char *taken(int fd)
{
    size_t len = 0;
    ssize_t n;
    while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0) {
        len += (size_t)n;
    }
    text[len] = '\0';
    return text;
}

static const char *contents(const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ck_assert_msg(fd >= 0, "%s: %s", name, strerror(errno));
    taken(fd);
    close(fd);
    return text;
}

static void on_stderr(const char *want)
{
    rd_logsink_flush(&sink);
    ck_assert_str_eq(taken(err[0]), want);
}

/* --- formats ---------------------------------------------------------------- */

START_TEST(formats_of_messages)
{
    static const char line[] = "a \"b\" \\ gr\xc3\xbc\xc3\x9f=";

    configure(RD_LOG_STDERR, NULL);
    put(RESTD_LOG_NOTICE, line);
    on_stderr("2026-11-30T14:45:00.123Z notice a \"b\" \\ gr\xc3\xbc\xc3\x9f="
              "\n");
    configure(RD_LOG_STDERR, "text");
    put(RESTD_LOG_ERROR, "");
    on_stderr("2026-11-30T14:45:00.123Z error \n");
    configure(RD_LOG_STDERR, "logfmt");
    put(RESTD_LOG_DEBUG, line);
    on_stderr("time=2026-11-30T14:45:00.123Z level=debug "
              "msg=\"a \\\"b\\\" \\\\ gr\xc3\xbc\xc3\x9f=\"\n");
    configure(RD_LOG_STDERR, "json");
    put(RESTD_LOG_WARNING, line);
    on_stderr("{\"time\":\"2026-11-30T14:45:00.123Z\",\"level\":\"warning\","
              "\"msg\":\"a \\\"b\\\" \\\\ gr\xc3\xbc\xc3\x9f=\"}\n");
    configure(RD_LOG_JOURNAL, NULL);
    put(RESTD_LOG_INFO, line);
    on_stderr("<6>a \"b\" \\ gr\xc3\xbc\xc3\x9f=\n");
    configure(RD_LOG_OFF, NULL);
    put(RESTD_LOG_ERROR, line);
    on_stderr("");
}
END_TEST

START_TEST(longest_lines)
{
    char line[2001];

    memset(line, '"', 2000);
    line[1000] = '\0';
    configure(RD_LOG_STDERR, "json");
    put(RESTD_LOG_NOTICE, line);
    rd_logsink_flush(&sink);
    taken(err[0]);
    ck_assert_uint_gt(strlen(text), 2000);
    text[strlen(text) - 1] = '\0';
    ck_assert(json_valid(text));
    line[1000] = '"';
    line[2000] = '\0';
    accesses.target = RD_LOG_JOURNAL;
    configure(RD_LOG_OFF, NULL);
    put(RESTD_LOG_ACCESS, line);
    rd_logsink_flush(&sink);
    ck_assert_uint_eq(strlen(taken(err[0])), 3 + 2000 + 1);
}
END_TEST

/* stderr is a stream of the journal if JOURNAL_STREAM names it. */
START_TEST(journal_is_found)
{
    char name[64];
    struct stat st;

    ck_assert_int_eq(fstat(err[1], &st), 0);
    snprintf(name, sizeof(name), "%ju:%ju", (uintmax_t)st.st_dev,
             (uintmax_t)st.st_ino);
    sink.journal_stream = name;
    accesses.target = RD_LOG_STDERR;
    configure(RD_LOG_STDERR, "auto");
    put(RESTD_LOG_ERROR, "x");
    put(RESTD_LOG_ACCESS, "y");
    on_stderr("<3>x\n<6>y\n");
    configure(RD_LOG_STDERR, "text");
    put(RESTD_LOG_ERROR, "x");
    on_stderr("2026-11-30T14:45:00.123Z error x\n");
    sink.journal_stream = "1:2";
    configure(RD_LOG_STDERR, "auto");
    put(RESTD_LOG_ERROR, "x");
    put(RESTD_LOG_ACCESS, "y");
    on_stderr("2026-11-30T14:45:00.123Z error x\ny\n");
}
END_TEST

START_TEST(terminal_has_colours)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

    ck_assert_int_ge(master, 0);
    ck_assert_int_eq(grantpt(master), 0);
    ck_assert_int_eq(unlockpt(master), 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(slave, 0);
    sink.stderr_fd = slave;
    configure(RD_LOG_STDERR, "auto");
    put(RESTD_LOG_WARNING, "x");
    struct pollfd pollfd = {master, POLLIN, 0};
    ck_assert_int_eq(poll(&pollfd, 1, 10000), 1);
    ck_assert_str_eq(taken(master), "2026-11-30T14:45:00.123Z \x1b[33mwarning"
                                    "\x1b[0m x\r\n");
    close(slave);
    close(master);
}
END_TEST

/* --- files ------------------------------------------------------------------ */

START_TEST(a_file_is_appended_to_in_batches)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    ck_assert_int_eq(write(fd, "old\n", 4), 4);
    close(fd);
    configure(RD_LOG_FILE, NULL);
    put(RESTD_LOG_INFO, "one");
    ck_assert_str_eq(contents(path), "old\n"); /* not yet */
    rd_logsink_flush(&sink);
    ck_assert_str_eq(contents(path),
                     "old\n2026-11-30T14:45:00.123Z info one\n");
    put(RESTD_LOG_INFO, "two");
    put(RESTD_LOG_WARNING, "three"); /* at once, with what was before */
    ck_assert_str_eq(contents(path),
                     "old\n"
                     "2026-11-30T14:45:00.123Z info one\n"
                     "2026-11-30T14:45:00.123Z info two\n"
                     "2026-11-30T14:45:00.123Z warning three\n");
    for (int i = 0; i < 1000; i++) {
        put(RESTD_LOG_INFO, "many");
    }
    ck_assert_uint_gt(strlen(contents(path)), 16384); /* without a flush */
    unlink(path);
    umask(0);
    configure(RD_LOG_FILE, NULL);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 07777, 0640);
    rd_logsink_flush(&sink);
    ck_assert_int_eq(fcntl(sink.streams[0].place.fd, F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(fcntl(sink.streams[0].place.fd, F_GETFL) & O_NONBLOCK, 0);
}
END_TEST

START_TEST(messages_and_access_lines_go_apart)
{
    accesses.target = RD_LOG_FILE;
    configure(RD_LOG_STDERR, "auto");
    put(RESTD_LOG_INFO, "message");
    put(RESTD_LOG_ACCESS, "a");
    put(RESTD_LOG_ACCESS, "b");
    on_stderr("2026-11-30T14:45:00.123Z info message\n");
    ck_assert_str_eq(contents(other), "a\nb\n");
}
END_TEST

/* By two names even. */
START_TEST(one_file_for_both_keeps_the_order)
{
    char want[4096] = "";

    configure(RD_LOG_FILE, NULL); /* makes it */
    rd_logsink_flush(&sink);
    ck_assert_int_eq(link(path, other), 0);
    accesses.target = RD_LOG_FILE;
    configure(RD_LOG_FILE, NULL);
    for (int i = 0; i < 50; i++) {
        char line[16];
        size_t len = strlen(want);
        snprintf(line, sizeof(line), "%d", i);
        put(i % 3 ? RESTD_LOG_ACCESS : RESTD_LOG_INFO, line);
        snprintf(want + len, sizeof(want) - len, "%s%s\n",
                 i % 3 ? "" : "2026-11-30T14:45:00.123Z info ", line);
    }
    rd_logsink_flush(&sink);
    ck_assert_str_eq(contents(path), want);
}
END_TEST

static void refused(const char *why)
{
    error.message[0] = '\0';
    ck_assert_int_lt(rd_logsink_configure(&sink, &messages, &accesses, &error),
                     0);
    ck_assert_msg(strstr(error.message, why) != NULL, "%s", error.message);
}

START_TEST(what_is_refused_changes_nothing)
{
    configure(RD_LOG_FILE, NULL);
    rd_logsink_flush(&sink);
    messages.format = "xml";
    refused("\"xml\" is no format of the log: it is one of auto, text");
    messages.format = NULL;
    messages.path = folder;
    refused("Is a directory");
    messages.path = "/dev/null/x";
    refused("Not a directory");
    messages.path = "";
    refused("cannot open log file \"\": No such file or directory");
    messages.path = path;
    accesses.target = RD_LOG_FILE;
    accesses.path = "/nonexistent/access";
    refused("cannot open log file /nonexistent/access: No such file");
    put(RESTD_LOG_ERROR, "goes on");
    ck_assert_str_eq(contents(path),
                     "2026-11-30T14:45:00.123Z error goes on\n");
}
END_TEST

static unsigned descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned n = 0;

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir) != NULL) {
        n++;
    }
    closedir(dir);
    return n;
}

START_TEST(no_descriptor_is_left)
{
    unsigned before = descriptors();

    accesses.target = RD_LOG_FILE;
    for (int i = 0; i < 20; i++) {
        configure(RD_LOG_FILE, NULL);
        if (i % 3) {
            rd_logsink_reopen(&sink);
            rd_logsink_flush(&sink);
        }
        messages.path = "/nonexistent/log";
        refused("cannot open");
        messages.path = path;
    }
    configure(RD_LOG_STDERR, NULL);
    accesses.target = RD_LOG_OFF;
    configure(RD_LOG_STDERR, NULL);
    rd_logsink_flush(&sink);
    ck_assert_uint_eq(descriptors(), before);
}
END_TEST

/* --- rotation --------------------------------------------------------------- */

START_TEST(reopened_after_a_rename)
{
    configure(RD_LOG_FILE, NULL);
    put(RESTD_LOG_INFO, "before");
    ck_assert_int_eq(rename(path, other), 0);
    put(RESTD_LOG_INFO, "still before");
    rd_logsink_reopen(&sink);
    put(RESTD_LOG_INFO, "after");
    rd_logsink_flush(&sink);
    ck_assert_str_eq(contents(other),
                     "2026-11-30T14:45:00.123Z info before\n"
                     "2026-11-30T14:45:00.123Z info still before\n");
    ck_assert_str_eq(contents(path), "2026-11-30T14:45:00.123Z info after\n");
}
END_TEST

START_TEST(what_cannot_be_reopened_goes_on)
{
    configure(RD_LOG_FILE, NULL);
    put(RESTD_LOG_INFO, "before");
    ck_assert_int_eq(rename(path, other), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    rd_logsink_reopen(&sink);
    put(RESTD_LOG_INFO, "after");
    rd_logsink_flush(&sink);
    contents(other);
    ck_assert_ptr_nonnull(strstr(text, " info before\n"));
    ck_assert_ptr_nonnull(strstr(text, " error cannot open log file "));
    ck_assert_ptr_nonnull(
        strstr(text, "Is a directory; the old one goes on\n"));
    ck_assert_ptr_nonnull(strstr(text, " info after\n"));
    ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

enum { ROTATED_LINES = 200000 };
static _Atomic int rotated_done;

static void *lines_write(void *arg)
{
    char line[32];
    (void)arg;
    for (int i = 0; i < ROTATED_LINES; i++) {
        snprintf(line, sizeof(line), "line %d", i);
        put(RESTD_LOG_ACCESS, line);
        if (i % 97 == 0) {
            rd_logsink_flush(&sink);
        }
    }
    rd_logsink_flush(&sink);
    atomic_store(&rotated_done, 1);
    return NULL;
}

/* Each line is in one of the files, whole and in its order. */
START_TEST(rotation_under_load_loses_nothing)
{
    pthread_t thread;
    unsigned files = 0;
    int next = 0;
    char name[256], number[32];

    accesses.target = RD_LOG_FILE;
    configure(RD_LOG_STDERR, NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, lines_write, NULL), 0);
    while (!atomic_load(&rotated_done) && files < 500) {
        snprintf(number, sizeof(number), "access.%u", files);
        /* Waits until the last one is there. */
        if (rename(other, in_folder(name, number)) == 0) {
            files++;
            rd_logsink_reopen(&sink);
        }
    }
    pthread_join(thread, NULL);
    ck_assert_uint_gt(files, 0);
    for (unsigned i = 0; i <= files; i++) {
        snprintf(number, sizeof(number), "access.%u", i);
        const char *file = i < files ? in_folder(name, number) : other;
        if (i == files && access(file, F_OK) != 0) {
            break; /* moved away behind the last line */
        }
        /* On a busy machine one file may have most of the lines. */
        FILE *in = fopen(file, "re");
        ck_assert_ptr_nonnull(in);
        for (char line[64]; fgets(line, sizeof line, in) != NULL; next++) {
            snprintf(number, sizeof number, "line %d\n", next);
            ck_assert_str_eq(line, number);
        }
        fclose(in);
    }
    ck_assert_int_eq(next, ROTATED_LINES);
    ck_assert_uint_eq(rd_logsink_lost(&sink), 0);
}
END_TEST

/* --- failures --------------------------------------------------------------- */

/* A path that leads to the full device; it is told once, lines wait, and come
 * when the file can be written again. */
START_TEST(a_full_disk)
{
    ck_assert_int_eq(symlink("/dev/full", path), 0);
    configure(RD_LOG_FILE, NULL);
    put(RESTD_LOG_INFO, "first");
    rd_logsink_flush(&sink);
    taken(err[0]);
    ck_assert_ptr_nonnull(strstr(text, "restdaemon: log "));
    ck_assert_ptr_nonnull(strstr(text, ": No space left on device; lines wait, "
                                       "then are lost\n"));
    for (int i = 0; i < 1000; i++) {
        put(i % 10 ? RESTD_LOG_INFO : RESTD_LOG_ERROR, "more");
        if (i % 100 == 0) {
            rd_logsink_flush(&sink);
        }
    }
    ck_assert_str_eq(taken(err[0]), ""); /* said already */
    uint64_t lost = rd_logsink_lost(&sink);
    ck_assert_uint_gt(lost, 500);
    ck_assert_uint_lt(lost, 1000);
    unlink(path);
    rd_logsink_reopen(&sink);
    rd_logsink_flush(&sink);
    put(RESTD_LOG_INFO, "last");
    rd_logsink_flush(&sink);
    contents(path);
    ck_assert_ptr_eq(strstr(text, "2026-11-30T14:45:00.123Z info first\n"),
                     text);
    char want[64];
    snprintf(want, sizeof(want), " warning %d lines of the log lost\n",
             (int)lost);
    char *at = strstr(text, want);
    ck_assert_msg(at != NULL, "%s", text);
    ck_assert_ptr_nonnull(strstr(at, " info last\n"));
    unsigned lines = 0;
    for (const char *p = text; *p != '\0'; p++) {
        lines += *p == '\n';
    }
    ck_assert_uint_eq(lines, 1001 - lost + 2);
}
END_TEST

/* Nobody reads: the start does not hang, lines are lost when the pipe is full,
 * and none is torn when somebody comes. */
START_TEST(a_fifo_without_a_reader)
{
    char line[64];
    unsigned found = 0;

    ck_assert_int_eq(mkfifo(other, 0600), 0);
    accesses.target = RD_LOG_FILE;
    configure(RD_LOG_STDERR, NULL);
    for (unsigned i = 0; i < 20000; i++) {
        snprintf(line, sizeof(line), "a line of the access log, number %u", i);
        put(RESTD_LOG_ACCESS, line);
    }
    uint64_t lost = rd_logsink_lost(&sink);
    ck_assert_uint_gt(lost, 10000);
    taken(err[0]);
    ck_assert_ptr_nonnull(strstr(text, ": Resource temporarily unavailable; "));
    int reader = open(other, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(reader, 0);
    char *all = malloc(sizeof(text));
    size_t len = 0;
    do {
        rd_logsink_flush(&sink);
        size_t n = strlen(taken(reader));
        memcpy(all + len, text, n + 1);
        len += n;
    } while (*text != '\0');
    for (char *p = all; *p != '\0'; found++) {
        char *end;
        ck_assert_msg(strncmp(p, "a line of the access log, number ", 33) == 0,
                      "%.60s", p);
        ck_assert_uint_eq(strtoul(p + 33, &end, 10), found);
        ck_assert_int_eq(*end, '\n');
        p = end + 1;
    }
    free(all);
    ck_assert_uint_eq(found + lost, 20000);
    taken(err[0]);
    snprintf(line, sizeof(line), "%d lines of the access log lost\n",
             (int)lost);
    ck_assert_msg(strstr(text, line) != NULL, "%s", text);
    close(reader);
}
END_TEST

/* Half a line is in the old file: the rest of it must not begin the new one. */
START_TEST(no_half_line_begins_a_file)
{
    char line[1001];

    memset(line, 'x', 1000);
    line[1000] = '\0';
    ck_assert_int_eq(mkfifo(other, 0600), 0);
    accesses.target = RD_LOG_FILE;
    configure(RD_LOG_STDERR, NULL);
    int reader = open(other, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ck_assert_int_ge(reader, 0);
    for (int i = 0; i < 100; i++) { /* more than a pipe holds */
        put(RESTD_LOG_ACCESS, line);
    }
    rd_logsink_flush(&sink);
    ck_assert_int_eq(sink.streams[1].torn, 1);
    ck_assert_int_eq(unlink(other), 0);
    rd_logsink_reopen(&sink);
    rd_logsink_flush(&sink);
    size_t whole = strlen(taken(reader)) / 1001;
    size_t len = strlen(contents(other));
    ck_assert_uint_eq(len % 1001, 0);
    ck_assert_uint_ge(len, 10 * 1001);
    ck_assert_uint_eq(whole + len / 1001 + rd_logsink_lost(&sink), 100);
    close(reader);
}
END_TEST

START_TEST(a_pipe_whose_reader_has_gone)
{
    configure(RD_LOG_STDERR, NULL);
    close(err[0]);
    for (int i = 0; i < 2000; i++) {
        put(RESTD_LOG_ERROR, "x");
    }
    rd_logsink_flush(&sink);
    ck_assert_uint_gt(rd_logsink_lost(&sink), 1000);
    err[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}
END_TEST

/* --- syslog ----------------------------------------------------------------- */

static int syslog_bind(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    ck_assert_uint_lt(strlen(other), sizeof(address.sun_path));
    memcpy(address.sun_path, other, strlen(other) + 1);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static const char *datagram(int fd)
{
    ssize_t n = recv(fd, text, sizeof(text) - 1, 0);
    ck_assert_int_ge(n, 0);
    text[n] = '\0';
    return text;
}

START_TEST(syslog_datagrams)
{
    char tail[64];

    setenv("TZ", "XXX-05:45", 1);
    tzset();
    int fd = syslog_bind();
    sink.syslog_path = other;
    accesses.target = RD_LOG_SYSLOG;
    configure(RD_LOG_SYSLOG, "json"); /* the format is syslog's */
    put(RESTD_LOG_NOTICE, "hello");
    snprintf(tail, sizeof(tail), "restdaemon[%ld]: hello", (long)getpid());
    ck_assert_ptr_eq(strstr(datagram(fd), "<29>Nov 30 20:30:00 restdaemon["),
                     text);
    ck_assert_str_eq(text + 20, tail);
    rd_logsink_write(RESTD_LOG_ERROR, TIME_MS + 86400000, "x", &sink);
    ck_assert_ptr_eq(strstr(datagram(fd), "<27>Dec  1 20:30:00 "), text);
    put(RESTD_LOG_ACCESS, "y");
    ck_assert_ptr_eq(strstr(datagram(fd), "<30>Nov 30 20:30:00 "), text);
    ck_assert_int_eq(text[strlen(text) - 1], 'y');
    close(fd);
}
END_TEST

START_TEST(syslog_comes_and_goes)
{
    sink.syslog_path = other;
    configure(RD_LOG_SYSLOG, NULL); /* nobody is there */
    put(RESTD_LOG_NOTICE, "one");
    put(RESTD_LOG_NOTICE, "two");
    ck_assert_uint_eq(rd_logsink_lost(&sink), 2);
    ck_assert_ptr_nonnull(strstr(taken(err[0]), "lines wait, then are lost\n"));
    int fd = syslog_bind();
    rd_logsink_flush(&sink);
    put(RESTD_LOG_NOTICE, "three");
    ck_assert_ptr_nonnull(strstr(datagram(fd), "]: three"));
    rd_logsink_flush(&sink);
    ck_assert_ptr_nonnull(strstr(datagram(fd), "]: 2 lines of the log lost"));
    close(fd);
    ck_assert_int_eq(unlink(other), 0);
    fd = syslog_bind(); /* another one, in the same place */
    put(RESTD_LOG_NOTICE, "four");
    ck_assert_ptr_nonnull(strstr(datagram(fd), "]: four"));
    ck_assert_uint_eq(rd_logsink_lost(&sink), 2);
    close(fd);
}
END_TEST

START_TEST(a_syslog_that_takes_nothing)
{
    int fd = syslog_bind();

    sink.syslog_path = other;
    configure(RD_LOG_SYSLOG, NULL);
    for (int i = 0; i < 5000; i++) {
        put(RESTD_LOG_NOTICE, "x");
    }
    ck_assert_uint_gt(rd_logsink_lost(&sink), 1000);
    ck_assert_ptr_nonnull(strstr(taken(err[0]), "lines wait, then are lost\n"));
    close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("daemon_logsink");
    TCase *tc = tcase_create("logsink");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, formats_of_messages);
    tcase_add_test(tc, longest_lines);
    tcase_add_test(tc, journal_is_found);
    tcase_add_test(tc, terminal_has_colours);
    tcase_add_test(tc, a_file_is_appended_to_in_batches);
    tcase_add_test(tc, messages_and_access_lines_go_apart);
    tcase_add_test(tc, one_file_for_both_keeps_the_order);
    tcase_add_test(tc, what_is_refused_changes_nothing);
    tcase_add_test(tc, no_descriptor_is_left);
    tcase_add_test(tc, reopened_after_a_rename);
    tcase_add_test(tc, what_cannot_be_reopened_goes_on);
    tcase_add_test(tc, rotation_under_load_loses_nothing);
    tcase_add_test(tc, a_full_disk);
    tcase_add_test(tc, a_fifo_without_a_reader);
    tcase_add_test(tc, no_half_line_begins_a_file);
    tcase_add_test(tc, a_pipe_whose_reader_has_gone);
    tcase_add_test(tc, syslog_datagrams);
    tcase_add_test(tc, syslog_comes_and_goes);
    tcase_add_test(tc, a_syslog_that_takes_nothing);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
