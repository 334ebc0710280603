/* SPDX-License-Identifier: MIT */
/* Going to the background as a caller sees it: nothing but the exit status and
 * stderr of the process that it started, and a daemon that has let go. */
#include <check.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/daemonize.h"
#include "support/suite.h"

/* What the daemon says of itself. */
struct facts {
    pid_t pid, session;
    mode_t mask;
    char folder[PATH_MAX];
    int std_are_null;
};

static int go[2], told[2], err[2]; /* pipes: to the daemon, from it, stderr */

static int is_null(int fd)
{
    struct stat st, null;
    return fstat(fd, &st) == 0 && stat("/dev/null", &null) == 0 &&
           st.st_rdev == null.st_rdev;
}

/* The processes that a caller's start makes; `daemon` is what the last of them
 * does, its result an exit code. */
static pid_t start(int (*daemon)(struct rd_daemonize *))
{
    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(pipe(told), 0);
    ck_assert_int_eq(pipe(err), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct rd_daemonize daemonize = RD_DAEMONIZE_NONE;
        int code = 99;
        close(go[1]);
        dup2(err[1], STDERR_FILENO);
        close(err[1]);
        int rc = rd_daemonize(&daemonize, &code, NULL);
        /* _exit: the messages of Check are not ours to flush. */
        _exit(rc == 0 ? daemon(&daemonize) : rc == 1 ? code : 98);
    }
    ck_assert_int_gt(pid, 0);
    close(go[0]);
    close(told[1]);
    close(err[1]);
    return pid;
}

static int wait_code(pid_t pid)
{
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* All that went to stderr, once every process has closed it. */
static void read_err(char *text, size_t size)
{
    size_t len = 0;
    ssize_t n;
    while (len < size - 1 &&
           (n = read(err[0], text + len, size - 1 - len)) > 0) {
        len += (size_t)n;
    }
    text[len] = '\0';
}

static int good_daemon(struct rd_daemonize *daemonize)
{
    struct facts facts;
    char byte;
    memset(&facts, 0, sizeof facts);
    if (write(told[1], "s", 1) != 1 || read(go[0], &byte, 1) != 1) {
        return 97;
    }
    rd_daemonize_ready(daemonize);
    facts.pid = getpid();
    facts.session = getsid(0);
    facts.mask = umask(0);
    facts.std_are_null = is_null(0) && is_null(1) && is_null(2);
    if (getcwd(facts.folder, sizeof facts.folder) == NULL ||
        write(told[1], &facts, sizeof facts) != (ssize_t)sizeof facts) {
        return 97;
    }
    /* Until the test ends it, so that it is seen to outlive its caller. */
    return read(go[0], &byte, 1) == 1 ? 0 : 97;
}

START_TEST(test_ready)
{
    struct facts facts;
    char byte, text[256];
    int status;
    pid_t pid = start(good_daemon);
    ck_assert_int_eq(read(told[0], &byte, 1), 1);
    /* It runs, but is not ready: the caller is kept. */
    ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    ck_assert_int_eq(wait_code(pid), 0);
    ck_assert_int_eq(read(told[0], &facts, sizeof facts), sizeof facts);
    ck_assert_int_ne(facts.pid, pid);
    ck_assert_int_ne(facts.session, getsid(0));
    /* No leader of its session: it cannot come by a terminal again. */
    ck_assert_int_ne(facts.session, facts.pid);
    ck_assert_str_eq(facts.folder, "/");
    ck_assert_uint_eq(facts.mask, 027);
    ck_assert_int_eq(facts.std_are_null, 1);
    ck_assert_int_eq(kill(facts.pid, 0), 0);
    /* Nothing holds the caller's stderr, though the daemon lives. */
    read_err(text, sizeof text);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    /* Its end of the pipe closes with it. */
    ck_assert_int_eq(read(told[0], &byte, 1), 0);
}
END_TEST

static int failing_daemon(struct rd_daemonize *daemonize)
{
    (void)daemonize;
    dprintf(STDERR_FILENO, "restdaemon: no such luck\n");
    return 78;
}

START_TEST(test_failure)
{
    char text[256];
    pid_t pid = start(failing_daemon);
    ck_assert_int_eq(wait_code(pid), 78);
    read_err(text, sizeof text);
    ck_assert_str_eq(text, "restdaemon: no such luck\n");
}
END_TEST

static int crashing_daemon(struct rd_daemonize *daemonize)
{
    (void)daemonize;
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
    return 0;
}

START_TEST(test_crash)
{
    char text[256];
    pid_t pid = start(crashing_daemon);
    ck_assert_int_eq(wait_code(pid), EXIT_FAILURE);
    read_err(text, sizeof text);
    ck_assert_str_eq(text,
                     "restdaemon: ended by signal 15 before it was ready\n");
}
END_TEST

static int quitting_daemon(struct rd_daemonize *daemonize)
{
    (void)daemonize;
    return 0;
}

START_TEST(test_no_start_without_ready)
{
    ck_assert_int_eq(wait_code(start(quitting_daemon)), EXIT_FAILURE);
}
END_TEST

/* A shell that executes the daemon leaves it children that it never made. */
START_TEST(test_foreign_children)
{
    int hold[2];
    char byte;
    ck_assert_int_eq(pipe(hold), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) {
            close(hold[1]);
            _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
        }
        close(hold[1]);
        /* One more, which has ended and that nobody has waited for. */
        pid_t ended = fork();
        if (ended == 0) {
            _exit(5);
        }
        siginfo_t info;
        waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT);
        struct rd_daemonize daemonize = RD_DAEMONIZE_NONE;
        int code = 99;
        int rc = rd_daemonize(&daemonize, &code, NULL);
        _exit(rc == 1 ? code : 66);
    }
    ck_assert_int_gt(pid, 0);
    /* Though the foreign child lives as long as hold[1] is open. */
    ck_assert_int_eq(wait_code(pid), 66);
    close(hold[0]);
    close(hold[1]);
}
END_TEST

static int late_daemon(struct rd_daemonize *daemonize)
{
    char byte;
    if (write(told[1], "s", 1) != 1 || read(go[0], &byte, 1) != 1) {
        return 97;
    }
    rd_daemonize_ready(daemonize); /* nobody hears it */
    return write(told[1], "l", 1) == 1 ? 0 : 97;
}

START_TEST(test_caller_has_gone)
{
    char byte;
    int status;
    pid_t pid = start(late_daemon);
    ck_assert_int_eq(read(told[0], &byte, 1), 1);
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    ck_assert_int_eq(read(told[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 'l');
}
END_TEST

START_TEST(test_foreground)
{
    struct rd_daemonize daemonize = RD_DAEMONIZE_NONE;
    char before[PATH_MAX], after[PATH_MAX];
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    rd_daemonize_ready(&daemonize);
    ck_assert_ptr_nonnull(getcwd(after, sizeof after));
    ck_assert_str_eq(before, after);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("daemon_daemonize");
    TCase *tcase = tcase_create("daemonize");
    tcase_add_test(tcase, test_ready);
    tcase_add_test(tcase, test_failure);
    tcase_add_test(tcase, test_crash);
    tcase_add_test(tcase, test_no_start_without_ready);
    tcase_add_test(tcase, test_foreign_children);
    tcase_add_test(tcase, test_caller_has_gone);
    tcase_add_test(tcase, test_foreground);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
