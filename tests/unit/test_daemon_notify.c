/* SPDX-License-Identifier: MIT */
/* The datagrams that a service manager gets, seen by one of the test's own:
 * by path and by abstract name, with a descriptor, with a full queue; and what
 * is taken out of the environment. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "daemon/notify.h"
#include "support/suite.h"

static char folder[64], path[96];
static int manager;
static struct rd_notify notify;

/* A manager at `name`, as NOTIFY_SOCKET has it. */
static void manager_open(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t len = strlen(name);
    memcpy(at.sun_path, name, len);
    if (*name == '@') {
        at.sun_path[0] = '\0';
    }
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_ge(manager, 0);
    ck_assert_int_eq(
        bind(manager, (const void *)&at,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
        0);
    ck_assert_int_eq(setenv("NOTIFY_SOCKET", name, 1), 0);
}

static void setup(void)
{
    snprintf(folder, sizeof folder, "/tmp/rd_notify.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    manager = -1;
}

static void teardown(void)
{
    rd_notify_fini(&notify);
    if (manager >= 0) {
        close(manager);
    }
    unlink(path);
    rmdir(folder);
}

/* The next datagram in `text`; *fd is what came with it, or -1. */
static void receive(char *text, size_t size, int *fd)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {text, size - 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(manager, &message, MSG_CMSG_CLOEXEC);
    ck_assert_msg(n >= 0, "no datagram: %s", strerror(errno));
    text[n] = '\0';
    *fd = -1;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head != NULL && head->cmsg_type == SCM_RIGHTS) {
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
    }
}

static void expect(const char *wanted)
{
    char text[2048];
    int fd;
    receive(text, sizeof text, &fd);
    ck_assert_str_eq(text, wanted);
    ck_assert_int_eq(fd, -1);
}

START_TEST(test_path)
{
    manager_open(path);
    ck_assert_int_eq(rd_notify_open(&notify), 0);
    ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
    ck_assert_str_eq(rd_notify_socket_path(&notify), path);
    ck_assert_int_eq(rd_notify_send(&notify, "READY=1\nSTATUS=%d conns", 50),
                     0);
    expect("READY=1\nSTATUS=50 conns");
    ck_assert_int_eq(fcntl(notify.fd, F_GETFD), FD_CLOEXEC);
}
END_TEST

START_TEST(test_abstract)
{
    char name[64];
    snprintf(name, sizeof name, "@rd-notify-%ld", (long)getpid());
    manager_open(name);
    ck_assert_int_eq(rd_notify_open(&notify), 0);
    ck_assert_str_eq(rd_notify_socket_path(&notify), name);
    ck_assert_int_eq(rd_notify_send(&notify, "STOPPING=1"), 0);
    expect("STOPPING=1");
}
END_TEST

START_TEST(test_reloading)
{
    static const char start[] = "RELOADING=1\nMONOTONIC_USEC=";
    char text[256], *end;
    int fd;
    struct timespec now;
    manager_open(path);
    ck_assert_int_eq(rd_notify_open(&notify), 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    ck_assert_int_eq(rd_notify_reloading(&notify), 0);
    receive(text, sizeof text, &fd);
    ck_assert_int_eq(strncmp(text, start, strlen(start)), 0);
    uint64_t usec = strtoumax(text + strlen(start), &end, 10);
    ck_assert_str_eq(end, "");
    uint64_t before =
        (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    ck_assert_uint_ge(usec, before);
    ck_assert_uint_lt(usec, before + 60000000);
}
END_TEST

START_TEST(test_store)
{
    char text[256];
    int fd, pipe_fds[2];
    struct stat sent, got;
    manager_open(path);
    ck_assert_int_eq(rd_notify_open(&notify), 0);
    ck_assert_int_eq(pipe(pipe_fds), 0);
    ck_assert_int_eq(rd_notify_store_fd(&notify, pipe_fds[0], "main"), 0);
    receive(text, sizeof text, &fd);
    ck_assert_str_eq(text, "FDSTORE=1\nFDNAME=main");
    ck_assert_int_eq(fstat(pipe_fds[0], &sent), 0);
    ck_assert_int_eq(fstat(fd, &got), 0);
    ck_assert_uint_eq(sent.st_ino, got.st_ino);
    ck_assert_int_eq(rd_notify_remove_fd(&notify, "main"), 0);
    expect("FDSTOREREMOVE=1\nFDNAME=main");
    close(fd);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}
END_TEST

/* A name must not smuggle in another line. */
START_TEST(test_store_names)
{
    static const char *const bad[] = {"", "a\nREADY=1", "a:b", "caf\xc3\xa9"};
    char text[8], long_name[257];
    manager_open(path);
    ck_assert_int_eq(rd_notify_open(&notify), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(rd_notify_store_fd(&notify, 0, bad[i]), -1);
        ck_assert_int_eq(errno, EINVAL);
    }
    memset(long_name, 'x', 256);
    long_name[256] = '\0';
    ck_assert_int_eq(rd_notify_store_fd(&notify, 0, long_name), -1);
    ck_assert_int_eq(rd_notify_store_fd(&notify, -1, "main"), -1);
    ck_assert_int_eq(recv(manager, text, sizeof text, 0), -1);
    long_name[255] = '\0';
    ck_assert_int_eq(rd_notify_store_fd(&notify, 0, long_name), 0);
}
END_TEST

START_TEST(test_full_queue_does_not_block)
{
    int n = 0, rc;
    manager_open(path);
    ck_assert_int_eq(rd_notify_open(&notify), 0);
    while ((rc = rd_notify_send(&notify, "WATCHDOG=1")) == 0) {
        ck_assert_int_lt(n++, 1000000);
    }
    ck_assert_int_eq(errno, EAGAIN);
    expect("WATCHDOG=1");
    while (recv(manager, &rc, sizeof rc, 0) > 0) {
    }
    ck_assert_int_eq(rd_notify_send(&notify, "READY=1"), 0);
    expect("READY=1");
}
END_TEST

/* A manager that starts anew binds the same name with another socket. */
START_TEST(test_manager_restarts)
{
    manager_open(path);
    ck_assert_int_eq(rd_notify_open(&notify), 0);
    close(manager);
    ck_assert_int_eq(rd_notify_send(&notify, "READY=1"), -1);
    ck_assert_int_eq(errno, ECONNREFUSED);
    unlink(path);
    manager_open(path);
    ck_assert_int_eq(rd_notify_send(&notify, "READY=1"), 0);
    expect("READY=1");
}
END_TEST

START_TEST(test_too_long)
{
    char text[2048], got[2048];
    int fd;
    manager_open(path);
    ck_assert_int_eq(rd_notify_open(&notify), 0);
    memset(text, 'x', sizeof text);
    text[1024] = '\0';
    ck_assert_int_eq(rd_notify_send(&notify, "%s", text), -1);
    ck_assert_int_eq(errno, EMSGSIZE);
    text[1023] = '\0';
    ck_assert_int_eq(rd_notify_send(&notify, "%s", text), 0);
    receive(got, sizeof got, &fd);
    ck_assert_str_eq(got, text);
}
END_TEST

START_TEST(test_none)
{
    setenv("WATCHDOG_USEC", "1000000", 1);
    ck_assert_int_eq(rd_notify_open(&notify), 0);
    ck_assert_ptr_null(rd_notify_socket_path(&notify));
    ck_assert_int_eq(rd_notify_send(&notify, "READY=1"), 0);
    ck_assert_int_eq(rd_notify_reloading(&notify), 0);
    ck_assert_int_eq(rd_notify_store_fd(&notify, 0, "main"), 0);
    ck_assert_int_eq(rd_notify_remove_fd(&notify, "main"), 0);
    ck_assert_uint_eq(rd_notify_watchdog_ms(&notify), 0);
}
END_TEST

START_TEST(test_bad_sockets)
{
    static const char *const bad[] = {"relative", "@", "/", "vsock:2:1234"};
    char long_path[200];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setenv("NOTIFY_SOCKET", bad[i], 1);
        ck_assert_int_eq(rd_notify_open(&notify), -1);
        ck_assert_int_eq(errno, EINVAL);
        ck_assert_ptr_null(getenv("NOTIFY_SOCKET"));
        ck_assert_int_eq(rd_notify_send(&notify, "READY=1"), 0);
    }
    memset(long_path, 'x', sizeof long_path);
    long_path[0] = '/';
    long_path[108] = '\0';
    setenv("NOTIFY_SOCKET", long_path, 1);
    ck_assert_int_eq(rd_notify_open(&notify), -1);
    ck_assert_int_eq(errno, ENAMETOOLONG);
}
END_TEST

static const struct {
    const char *usec, *pid; /* "own": the number of the test */
    unsigned ms;
} watchdogs[] = {
    {"30000000", "own", 15000},
    {"30000000", NULL, 15000},
    {"30000000", "1", 0},
    {NULL, "own", 0},
    {"0", "own", 0},
    {"", "own", 0},
    {"-5", "own", 0},
    {"1000x", "own", 0},
    {"1500", "own", 1},
    {"99999999999999999999999", "own", 0},
    {"30000000", "", 0},
    {"18446744073709551615", "own", INT32_MAX},
};

START_TEST(test_watchdog)
{
    char own[32];
    snprintf(own, sizeof own, "%ld", (long)getpid());
    manager_open(path);
    if (watchdogs[_i].usec != NULL) {
        setenv("WATCHDOG_USEC", watchdogs[_i].usec, 1);
    }
    if (watchdogs[_i].pid != NULL) {
        int is_own = strcmp(watchdogs[_i].pid, "own") == 0;
        setenv("WATCHDOG_PID", is_own ? own : watchdogs[_i].pid, 1);
    }
    ck_assert_int_eq(rd_notify_open(&notify), 0);
    ck_assert_uint_eq(rd_notify_watchdog_ms(&notify), watchdogs[_i].ms);
    ck_assert_ptr_null(getenv("WATCHDOG_USEC"));
    ck_assert_ptr_null(getenv("WATCHDOG_PID"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("daemon_notify");
    TCase *tcase = tcase_create("notify");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, test_path);
    tcase_add_test(tcase, test_abstract);
    tcase_add_test(tcase, test_reloading);
    tcase_add_test(tcase, test_store);
    tcase_add_test(tcase, test_store_names);
    tcase_add_test(tcase, test_full_queue_does_not_block);
    tcase_add_test(tcase, test_manager_restarts);
    tcase_add_test(tcase, test_too_long);
    tcase_add_test(tcase, test_none);
    tcase_add_test(tcase, test_bad_sockets);
    tcase_add_loop_test(tcase, test_watchdog, 0,
                        sizeof watchdogs / sizeof watchdogs[0]);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
