/* SPDX-License-Identifier: MIT */
/* The small GET against answers of all sorts: whole, in pieces, slow, none,
 * garbage, endless; over a given socket and to addresses. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/probe.h"
#include "support/suite.h"

enum { LONG_MS = 20000 };

static char why[160];

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Asks over a socket whose other side has already answered and closed. */
static int ask(const char *answer, size_t len)
{
    int fds[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    ck_assert_int_eq(write(fds[1], answer, len), (ssize_t)len);
    ck_assert_int_eq(shutdown(fds[1], SHUT_WR), 0);
    why[0] = '\0';
    int status = rd_probe_fd(fds[0], "/readyz", LONG_MS, why, sizeof why);
    close(fds[0]);
    close(fds[1]);
    return status;
}

static const struct {
    const char *answer;
    int status;
    const char *why;
} answers[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, ""},
    {"HTTP/1.0 503 Service Unavailable\r\n\r\n", 503, ""},
    {"HTTP/1.1 204\r\n\r\n", 204, ""},
    {"HTTP/1.1 200 OK\r\n\r\n\r\n\r\n", 200, ""},
    {"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\n\r\n", 404,
     ""},
    {"HTTP/1.1 101 Switching Protocols\r\n\r\n", 101, ""},
    {"HTTP/1.1 100 Continue\r\n\r\n", -1, "within the answer's head"},
    {"HTTP/1.1 100 Continue\r\n\r\nSSH-2.0", -1, "not HTTP"},
    {"", -1, "closed without an answer"},
    {"HTTP/1.1 200 OK\r\nContent-Le", -1, "within the answer's head"},
    {"HTT", -1, "within the answer's head"},
    {"SSH-2.0-OpenSSH_9.2\r\n", -1, "not HTTP"},
    {"HTTP/2 200\r\n\r\n", -1, "not HTTP"},
    {"HTTP/1.1 20\r\n\r\n", -1, "not HTTP"},
    {"HTTP/1.1 2000 OK\r\n\r\n", -1, "not HTTP"},
    {"HTTP/1.1 099 OK\r\n\r\n", -1, "not HTTP"},
    {"HTTP/1.1  200 OK\r\n\r\n", -1, "not HTTP"},
    {"HTTP/1.", -1, "within the answer's head"},
    {"HTTP/1.\r\n\r\n", -1, "not HTTP"},
    {"HTTP/1.1\r\n\r\n", -1, "not HTTP"},
};

START_TEST(test_answers)
{
    ck_assert_int_eq(ask(answers[_i].answer, strlen(answers[_i].answer)),
                     answers[_i].status);
    ck_assert_msg(strstr(why, answers[_i].why) != NULL, "\"%s\"", why);
}
END_TEST

START_TEST(test_nul)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nX: \0\r\n\r\n";
    ck_assert_int_eq(ask(answer, sizeof answer - 1), -1);
    ck_assert_str_eq(why, "the answer is not HTTP");
}
END_TEST

START_TEST(test_endless_head)
{
    static char answer[40000];
    memset(answer, 'x', sizeof answer);
    memcpy(answer, "HTTP/1.1 200 OK\r\nX: ", 20);
    ck_assert_int_eq(ask(answer, sizeof answer), -1);
    ck_assert_ptr_nonnull(strstr(why, "longer than"));
}
END_TEST

START_TEST(test_request)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\n\r\n";
    char text[512];
    int fds[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    ck_assert_int_eq(write(fds[1], answer, sizeof answer - 1),
                     sizeof answer - 1);
    ck_assert_int_eq(shutdown(fds[1], SHUT_WR), 0);
    int flags = fcntl(fds[0], F_GETFL);
    ck_assert_int_eq(rd_probe_fd(fds[0], "/a?b", LONG_MS, why, sizeof why),
                     200);
    ck_assert_int_eq(fcntl(fds[0], F_GETFL), flags);
    ssize_t n = read(fds[1], text, sizeof text - 1);
    ck_assert_int_gt(n, 0);
    text[n] = '\0';
    ck_assert_ptr_eq(strstr(text, "GET /a?b HTTP/1.1\r\nHost: "), text);
    ck_assert_ptr_nonnull(strstr(text, "\r\nConnection: close\r\n"));
    ck_assert_str_eq(text + n - 4, "\r\n\r\n");
    close(fds[0]);
    close(fds[1]);
}
END_TEST

START_TEST(test_bad_paths)
{
    static const char *const bad[] = {"", "status", "/a b", "/\r\nX: y"};
    char long_path[1100];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(rd_probe_fd(-1, bad[i], LONG_MS, why, sizeof why), -1);
        ck_assert_msg(strstr(why, "not a path") != NULL, "%s", why);
    }
    memset(long_path, '/', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    ck_assert_int_eq(rd_probe_fd(-1, long_path, LONG_MS, why, sizeof why), -1);
    ck_assert_str_eq(why, "the path is too long");
}
END_TEST

/* Nothing is written beyond a small buffer, and none is fine as well. */
START_TEST(test_why_is_bounded)
{
    char small[8] = "1234567";
    ck_assert_int_eq(rd_probe_fd(-1, "no path", LONG_MS, small, 4), -1);
    ck_assert_str_eq(small, "not");
    ck_assert_str_eq(small + 4, "567");
    ck_assert_int_eq(rd_probe_fd(-1, "no path", LONG_MS, NULL, 0), -1);
}
END_TEST

/* A server of one connection in a child; it ends when killed. */
static pid_t serve(int listener, void (*answer)(int fd))
{
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGPIPE, SIG_IGN);
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0) {
            answer(fd);
        }
        _exit(0);
    }
    ck_assert_int_gt(pid, 0);
    return pid;
}

static void end(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}

/* Listens and puts the port (big enough for any address) into *port. */
static int listen_on(int family, unsigned *port)
{
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t len = family == AF_INET ? sizeof in : sizeof in6;
    void *at = family == AF_INET ? (void *)&in : (void *)&in6;
    if (fd < 0 || bind(fd, at, len) < 0 || listen(fd, 8) < 0 ||
        getsockname(fd, at, &len) < 0) {
        close(fd);
        return -1;
    }
    *port = ntohs(family == AF_INET ? in.sin_port : in6.sin6_port);
    return fd;
}

static void say(int fd, const char *text)
{
    ssize_t n = write(fd, text, strlen(text));
    (void)n;
}

static void take_request(int fd)
{
    char text[2048];
    size_t len = 0;
    while (len < sizeof text - 1) {
        ssize_t n = read(fd, text + len, sizeof text - 1 - len);
        if (n <= 0) {
            return;
        }
        len += (size_t)n;
        text[len] = '\0';
        if (strstr(text, "\r\n\r\n") != NULL) {
            return;
        }
    }
}

static void answer_well(int fd)
{
    take_request(fd);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

static void answer_never(int fd)
{
    (void)fd;
    pause();
}

static void answer_slowly(int fd)
{
    const struct timespec pause_time = {0, 5000000};
    take_request(fd);
    say(fd, "HTTP/1.1 200 OK\r\nX: ");
    for (;;) {
        say(fd, "x");
        nanosleep(&pause_time, NULL);
    }
}

static void answer_in_bytes(int fd)
{
    static const char text[] = "HTTP/1.1 418 Teapot\r\nX: y\r\n\r\n";
    take_request(fd);
    for (size_t i = 0; i < sizeof text - 1; i++) {
        char byte[2] = {text[i], '\0'};
        say(fd, byte);
        sched_yield();
    }
}

/* The status is known; that the body never ends must not matter. */
static void answer_forever(int fd)
{
    static char block[4096];
    take_request(fd);
    say(fd, "HTTP/1.1 200 OK\r\n\r\n");
    memset(block, 'x', sizeof block - 1);
    for (;;) {
        say(fd, block);
    }
}

static void answer_by_reset(int fd)
{
    struct linger now = {1, 0};
    take_request(fd);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

static const struct {
    void (*answer)(int fd);
    int timeout_ms, status;
    const char *why;
} servers[] = {
    {answer_well, LONG_MS, 200, ""},
    {answer_in_bytes, LONG_MS, 418, ""},
    {answer_forever, LONG_MS, 200, ""},
    {answer_by_reset, LONG_MS, -1, "Connection reset"},
    {answer_never, 100, -1, "no answer in time"},
    {answer_slowly, 100, -1, "no answer in time"},
    {answer_never, 0, -1, "in time"},
};

START_TEST(test_servers)
{
    unsigned port;
    char address[64];
    int listener = listen_on(AF_INET, &port);
    ck_assert_int_ge(listener, 0);
    pid_t pid = serve(listener, servers[_i].answer);
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    int64_t begin = now_ms();
    ck_assert_int_eq(
        rd_probe_address(address, "/", servers[_i].timeout_ms, why, sizeof why),
        servers[_i].status);
    ck_assert_int_lt(now_ms() - begin, LONG_MS / 2);
    ck_assert_msg(servers[_i].status > 0 ||
                      strstr(why, servers[_i].why) != NULL,
                  "%s", why);
    end(pid);
    close(listener);
}
END_TEST

/* Closing on a reply that has not been read would reset the connection, which
 * the server counts as a client that left. */
static void answer_at_length(int fd)
{
    static char block[48 * 1024];
    char byte;
    take_request(fd);
    say(fd, "HTTP/1.1 200 OK\r\n\r\n");
    memset(block, 'x', sizeof block - 1);
    say(fd, block);
    shutdown(fd, SHUT_WR);
    _exit(read(fd, &byte, 1) == 0 ? 0 : 1);
}

START_TEST(test_reply_is_taken)
{
    unsigned port;
    char address[64];
    int status, listener = listen_on(AF_INET, &port);
    ck_assert_int_ge(listener, 0);
    pid_t pid = serve(listener, answer_at_length);
    snprintf(address, sizeof address, ":%u", port);
    ck_assert_int_eq(rd_probe_address(address, "/", LONG_MS, why, sizeof why),
                     200);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    close(listener);
}
END_TEST

/* %u is the port. */
static const struct {
    int family;
    const char *address;
} addresses[] = {
    {AF_INET, "127.0.0.1:%u"}, {AF_INET, ":%u"},      {AF_INET, "0.0.0.0:%u"},
    {AF_INET6, "[::1]:%u"},    {AF_INET6, "[::]:%u"},
};

START_TEST(test_addresses)
{
    unsigned port;
    char address[64];
    int listener = listen_on(addresses[_i].family, &port);
    if (listener < 0 && addresses[_i].family == AF_INET6) {
        return; /* a machine without IPv6 */
    }
    ck_assert_int_ge(listener, 0);
    pid_t pid = serve(listener, answer_well);
    const char *text = addresses[_i].address;
    snprintf(address, sizeof address, "%.*s%u", (int)(strchr(text, '%') - text),
             text, port);
    ck_assert_int_eq(rd_probe_address(address, "/", LONG_MS, why, sizeof why),
                     200);
    end(pid);
    close(listener);
    /* And now there is nobody. */
    ck_assert_int_eq(rd_probe_address(address, "/", LONG_MS, why, sizeof why),
                     -1);
    ck_assert_str_eq(why, "cannot connect: Connection refused");
}
END_TEST

START_TEST(test_bad_addresses)
{
    static const char *const bad[] = {
        "",          "8888",         "localhost:1", "127.0.0.1",
        "1.2.3:4",   "127.0.0.1:",   ":0",          ":65536",
        ":99999999", "[::1]",        "::1:80",      "[::1:80",
        "unix:",     "127.0.0.1:8x", "[]:80",       "[127.0.0.1]:80",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(rd_probe_address(bad[i], "/", LONG_MS, why, 160), -1);
        ck_assert_msg(strstr(why, "not an address") != NULL, "%s: %s", bad[i],
                      why);
    }
}
END_TEST

/* Also with a queue that is full: connect() itself has to give up. */
START_TEST(test_unix)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char folder[] = "/tmp/rd_probe.XXXXXX", address[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(at.sun_path, sizeof at.sun_path, "%s/s", folder);
    snprintf(address, sizeof address, "unix:%s/s", folder);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (const void *)&at, sizeof at), 0);
    ck_assert_int_eq(listen(listener, 0), 0);
    pid_t pid = serve(listener, answer_well);
    ck_assert_int_eq(rd_probe_address(address, "/", LONG_MS, why, sizeof why),
                     200);
    end(pid);
    int filler = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(filler, (const void *)&at, sizeof at), 0);
    ck_assert_int_eq(rd_probe_address(address, "/", 50, why, sizeof why), -1);
    ck_assert_str_eq(why, "no connection in time");
    close(filler);
    close(listener);
    unlink(at.sun_path);
    ck_assert_int_eq(rd_probe_address(address, "/", LONG_MS, why, sizeof why),
                     -1);
    ck_assert_ptr_nonnull(strstr(why, "No such file"));
    rmdir(folder);
}
END_TEST

#define ADD_ALL(tcase, test, table)                                            \
    tcase_add_loop_test(tcase, test, 0, sizeof(table) / sizeof(table)[0])

int main(void)
{
    Suite *suite = suite_create("daemon_probe");
    TCase *tcase = tcase_create("probe");
    tcase_set_timeout(tcase, 60);
    ADD_ALL(tcase, test_answers, answers);
    tcase_add_test(tcase, test_nul);
    tcase_add_test(tcase, test_endless_head);
    tcase_add_test(tcase, test_request);
    tcase_add_test(tcase, test_bad_paths);
    tcase_add_test(tcase, test_why_is_bounded);
    ADD_ALL(tcase, test_servers, servers);
    tcase_add_test(tcase, test_reply_is_taken);
    ADD_ALL(tcase, test_addresses, addresses);
    tcase_add_test(tcase, test_bad_addresses);
    tcase_add_test(tcase, test_unix);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
