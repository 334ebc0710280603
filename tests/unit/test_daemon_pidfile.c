/* SPDX-License-Identifier: MIT */
/* The pid file: one owner at a time, stale ones replaced, never half written,
 * and what an upgrade does with it. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "daemon/pidfile.h"
#include "support/suite.h"

static char folder[64], path[96];
static struct rd_pidfile pidfile = RD_PIDFILE_NONE;
static struct restd_error error;

static void setup(void)
{
    snprintf(folder, sizeof folder, "/tmp/rd_pidfile.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/pid", folder);
}

static void teardown(void)
{
    rd_pidfile_remove(&pidfile);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

/* The number in the file, -1 without one. */
static long number(void)
{
    FILE *f = fopen(path, "r");
    long value = -1;
    char text[32] = "", *end;
    if (f != NULL) {
        value = -2; /* not a number and a line end */
        if (fgets(text, sizeof text, f) != NULL) {
            long read = strtol(text, &end, 10);
            value = end > text && strcmp(end, "\n") == 0 ? read : -2;
        }
        fclose(f);
    }
    return value;
}

static int entries(void)
{
    DIR *dir = opendir(folder);
    int n = 0;
    ck_assert_ptr_nonnull(dir);
    while (readdir(dir) != NULL) {
        n++;
    }
    closedir(dir);
    return n - 2; /* . and .. */
}

START_TEST(test_create_and_remove)
{
    struct stat st;
    umask(027);
    ck_assert_int_eq(rd_pidfile_create(&pidfile, path, &error), 0);
    ck_assert_int_eq(number(), getpid());
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0644);
    ck_assert_uint_eq(st.st_nlink, 1);
    ck_assert_int_eq(entries(), 1);
    ck_assert_int_eq(fcntl(pidfile.fd, F_GETFD), FD_CLOEXEC);
    rd_pidfile_remove(&pidfile);
    ck_assert_int_eq(entries(), 0);
    rd_pidfile_remove(&pidfile); /* once more does nothing */
}
END_TEST

/* Numbers of what may live and of what cannot: only the lock counts. */
START_TEST(test_stale)
{
    static const char *const texts[] = {"1\n", "4194305\n", "", "garbage",
                                        "-1\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_file(texts[i]);
        ck_assert_int_eq(rd_pidfile_create(&pidfile, path, &error), 0);
        ck_assert_int_eq(number(), getpid());
        ck_assert_int_eq(entries(), 1);
        rd_pidfile_remove(&pidfile);
    }
}
END_TEST

static int second(void *data)
{
    struct rd_pidfile other = RD_PIDFILE_NONE;
    char wanted[64];
    (void)data;
    EXPECT(rd_pidfile_create(&other, path, &error) == RESTD_EADDRINUSE);
    snprintf(wanted, sizeof wanted, "process %ld is running", (long)getppid());
    EXPECT(strstr(error.message, wanted) != NULL);
    EXPECT(other.fd == -1);
    rd_pidfile_remove(&other);
    return 0;
}

START_TEST(test_live)
{
    ck_assert_int_eq(rd_pidfile_create(&pidfile, path, &error), 0);
    run_in_child(second, NULL);
    ck_assert_int_eq(number(), getpid());
    ck_assert_int_eq(entries(), 1);
}
END_TEST

/* As an upgrade does it: the child is the successor. */
static int successor(void *data)
{
    struct rd_pidfile own = RD_PIDFILE_NONE;
    int keep = *(int *)data;
    EXPECT(rd_pidfile_take_over(&own, path, &error) == 0);
    EXPECT(number() == (long)getpid());
    rd_pidfile_remove(&pidfile); /* the old one ends */
    EXPECT(number() == (long)getpid());
    struct rd_pidfile third = RD_PIDFILE_NONE;
    EXPECT(rd_pidfile_create(&third, path, &error) == RESTD_EADDRINUSE);
    if (!keep) {
        rd_pidfile_remove(&own);
        EXPECT(number() == -1);
    }
    return 0;
}

START_TEST(test_taken_over)
{
    int keep = 1;
    ck_assert_int_eq(rd_pidfile_create(&pidfile, path, &error), 0);
    run_in_child(successor, &keep);
    /* The old one removes nothing that is not its own. */
    rd_pidfile_remove(&pidfile);
    ck_assert_int_gt(number(), 0);
    ck_assert_int_ne(number(), getpid());
}
END_TEST

START_TEST(test_taken_back)
{
    int keep = 0;
    ck_assert_int_eq(rd_pidfile_create(&pidfile, path, &error), 0);
    run_in_child(successor, &keep);
    ck_assert_int_eq(rd_pidfile_take_over(&pidfile, path, &error), 0);
    ck_assert_int_eq(number(), getpid());
    run_in_child(second, NULL);
    rd_pidfile_remove(&pidfile);
    ck_assert_int_eq(entries(), 0);
}
END_TEST

START_TEST(test_removed_by_hand)
{
    ck_assert_int_eq(rd_pidfile_create(&pidfile, path, &error), 0);
    ck_assert_int_eq(unlink(path), 0);
    write_file("1\n");
    rd_pidfile_remove(&pidfile);
    ck_assert_int_eq(number(), 1);
}
END_TEST

/* Many start at once: one wins, and nobody ever sees half a file. */
enum { RACERS = 8 };

START_TEST(test_race)
{
    int go[2], done[2], codes[2] = {0, 0};
    pid_t racers[RACERS];
    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(pipe(done), 0);
    for (int i = 0; i < RACERS; i++) {
        racers[i] = fork();
        if (racers[i] == 0) {
            char byte, result = 'f';
            close(go[1]);
            if (read(go[0], &byte, 1) == 0) { /* closed: all begin */
                int rc = rd_pidfile_create(&pidfile, path, &error);
                result = rc == 0 ? 'w' : rc == RESTD_EADDRINUSE ? 'l' : 'f';
            }
            if (write(done[1], &result, 1) != 1) {
                _exit(1);
            }
            /* Holds it until the test says so. */
            close(done[1]);
            pause();
        }
    }
    close(go[0]);
    close(done[1]);
    close(go[1]);
    for (int i = 0; i < RACERS; i++) {
        char result;
        ck_assert_int_eq(read(done[0], &result, 1), 1);
        ck_assert_int_ne(result, 'f');
        codes[result == 'w']++;
    }
    ck_assert_int_eq(codes[1], 1);
    ck_assert_int_eq(codes[0], RACERS - 1);
    ck_assert_int_gt(number(), 0);
    ck_assert_int_eq(entries(), 1);
    for (int i = 0; i < RACERS; i++) {
        kill(racers[i], SIGKILL);
        waitpid(racers[i], NULL, 0);
    }
}
END_TEST

/* Many come and go: never do two have it. */
static int come_and_go(const char *marker)
{
    struct rd_pidfile own = RD_PIDFILE_NONE;
    for (int had = 0; had < 100;) {
        int rc = rd_pidfile_create(&own, path, &error);
        if (rc == 0) {
            int fd = open(marker, O_CREAT | O_EXCL | O_CLOEXEC, 0600);
            EXPECT(fd >= 0);
            close(fd);
            had++;
            EXPECT(unlink(marker) == 0);
            rd_pidfile_remove(&own);
        } else {
            EXPECT(rc == RESTD_EADDRINUSE);
        }
    }
    return 0;
}

START_TEST(test_one_at_a_time)
{
    char marker[128];
    int status;
    pid_t pids[4];
    snprintf(marker, sizeof marker, "%s.marker", folder);
    for (int i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            _exit(come_and_go(marker) == 0 ? 0 : 1);
        }
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(entries(), 0);
}
END_TEST

static void refused(const char *where, int code, const char *word)
{
    ck_assert_int_eq(rd_pidfile_create(&pidfile, where, &error), code);
    ck_assert_msg(strstr(error.message, word) != NULL, "%s", error.message);
    ck_assert_int_eq(pidfile.fd, -1);
}

START_TEST(test_refused)
{
    char other[128], long_path[1200];
    refused("relative.pid", RESTD_EINVAL, "absolute");
    memset(long_path, 'x', sizeof long_path);
    long_path[0] = '/';
    long_path[1100] = '\0';
    refused(long_path, RESTD_EINVAL, "absolute");
    refused("/nowhere/at/all.pid", RESTD_EOS, "No such file");
    refused(folder, RESTD_EINVAL, "no plain file");
    /* Whoever may write to the folder must not turn us on another file. */
    snprintf(other, sizeof other, "%s/other", folder);
    ck_assert_int_eq(symlink(other, path), 0);
    refused(path, RESTD_EOS, "pid file");
    ck_assert_int_eq(access(other, F_OK), -1);
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    refused(path, RESTD_EINVAL, "no plain file");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("daemon_pidfile");
    TCase *tcase = tcase_create("pidfile");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, test_create_and_remove);
    tcase_add_test(tcase, test_stale);
    tcase_add_test(tcase, test_live);
    tcase_add_test(tcase, test_taken_over);
    tcase_add_test(tcase, test_taken_back);
    tcase_add_test(tcase, test_removed_by_hand);
    tcase_add_test(tcase, test_race);
    tcase_add_test(tcase, test_one_at_a_time);
    tcase_add_test(tcase, test_refused);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
