/* SPDX-License-Identifier: MIT */
/* Sockets by LISTEN_FDS: names, and everything that a unit may get wrong. Each
 * case runs in a child, as descriptors begin at 3. */
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "child.h"
#include "daemon/activation.h"
#include "support/suite.h"

static struct rd_activation activation;
static struct restd_error error;

static int bound(int family, int type)
{
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6,
                                .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in any = {.sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    /* Without a name: the kernel gives an abstract one. */
    struct sockaddr_un some = {.sun_family = AF_UNIX};
    int fd = socket(family, type, 0);
    if (fd < 0 && family == AF_INET6) { /* a machine without IPv6 */
        family = AF_INET;
        fd = socket(family, type, 0);
    }
    const void *at = family == AF_INET6  ? (const void *)&any6
                     : family == AF_INET ? (const void *)&any
                                         : (const void *)&some;
    socklen_t len = family == AF_INET6  ? sizeof any6
                    : family == AF_INET ? sizeof any
                                        : sizeof some.sun_family;
    if (bind(fd, at, len) != 0) {
        close(fd);
        return -1; /* which the case finds */
    }
    return fd;
}

static int listening(int family)
{
    int fd = bound(family, SOCK_STREAM);
    listen(fd, 8);
    return fd;
}

/* Puts `n` descriptors where a manager puts them. */
static void hand_over(const int *fds, int n, const char *names)
{
    char text[32];
    int high[8];
    for (int i = 0; i < n; i++) {
        high[i] = fcntl(fds[i], F_DUPFD, 100);
    }
    for (int i = 0; i < n; i++) {
        dup2(high[i], 3 + i);
        close(high[i]);
    }
    snprintf(text, sizeof text, "%ld", (long)getpid());
    setenv("LISTEN_PID", text, 1);
    snprintf(text, sizeof text, "%d", n);
    setenv("LISTEN_FDS", text, 1);
    if (names != NULL) {
        setenv("LISTEN_FDNAMES", names, 1);
    } else {
        unsetenv("LISTEN_FDNAMES");
    }
}

static int environment_is_clean(void)
{
    return getenv("LISTEN_PID") == NULL && getenv("LISTEN_FDS") == NULL &&
           getenv("LISTEN_FDNAMES") == NULL;
}

static int all_families(void *data)
{
    int fds[3] = {listening(AF_INET), listening(AF_INET6), listening(AF_UNIX)};
    (void)data;
    hand_over(fds, 3, "main:six:admin");
    EXPECT(rd_activation_take(&activation, &error) == 0);
    EXPECT(environment_is_clean());
    EXPECT(activation.n == 3);
    for (int fd = 3; fd < 6; fd++) {
        EXPECT((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
        EXPECT((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
    }
    EXPECT(rd_activation_claim(&activation, "admin") == 5);
    EXPECT(rd_activation_claim(&activation, "admin") == -1);
    EXPECT(rd_activation_claim(&activation, "main") == 3);
    EXPECT(rd_activation_claim(&activation, "mai") == -1);
    rd_activation_fini(&activation);
    EXPECT(fcntl(4, F_GETFD) == -1); /* nobody claimed it */
    EXPECT(fcntl(3, F_GETFD) != -1);
    return 0;
}

static int duplicates(void *data)
{
    int fds[4];
    for (int i = 0; i < 4; i++) {
        fds[i] = listening(AF_INET);
    }
    (void)data;
    hand_over(fds, 4, "main:unknown:main:stored");
    EXPECT(rd_activation_take(&activation, &error) == 0);
    EXPECT(rd_activation_claim(&activation, "main") == 3);
    EXPECT(rd_activation_claim(&activation, "main") == 5);
    EXPECT(rd_activation_claim(&activation, "main") == -1);
    EXPECT(rd_activation_claim(&activation, "unknown") == -1);
    EXPECT(rd_activation_claim(&activation, "") == 4);
    EXPECT(rd_activation_claim(&activation, "") == 6);
    return 0;
}

/* Fewer names than sockets, an empty name, and no names at all. */
static int names_missing(void *data)
{
    int fds[3] = {listening(AF_INET), listening(AF_INET), listening(AF_INET)};
    (void)data;
    hand_over(fds, 3, ":b");
    EXPECT(rd_activation_take(&activation, &error) == 0);
    EXPECT(activation.n == 3);
    EXPECT(strcmp(activation.sockets[0].name, "") == 0);
    EXPECT(strcmp(activation.sockets[1].name, "b") == 0);
    EXPECT(strcmp(activation.sockets[2].name, "") == 0);
    hand_over(fds, 3, NULL);
    EXPECT(rd_activation_take(&activation, &error) == 0);
    EXPECT(activation.n == 3 && activation.sockets[2].name[0] == '\0');
    return 0;
}

static int of_another(void *data)
{
    int fd = listening(AF_INET);
    (void)data;
    hand_over(&fd, 1, "main");
    setenv("LISTEN_PID", "1", 1);
    EXPECT(rd_activation_take(&activation, &error) == 0);
    EXPECT(activation.n == 0);
    EXPECT(environment_is_clean());
    EXPECT((fcntl(3, F_GETFL) & O_NONBLOCK) == 0);
    EXPECT(rd_activation_take(&activation, &error) == 0); /* nothing set */
    return 0;
}

/* Expects a refusal that says `word`. */
static int refused(const char *word)
{
    EXPECT(rd_activation_take(&activation, &error) < 0);
    EXPECT(strstr(error.message, word) != NULL);
    EXPECT(activation.n == 0);
    EXPECT(environment_is_clean());
    return 0;
}

static int datagram(void *data)
{
    int fds[2] = {listening(AF_INET), bound(AF_INET, SOCK_DGRAM)};
    (void)data;
    hand_over(fds, 2, "main:udp");
    return refused("descriptor 4 (\"udp\") of LISTEN_FDS is not a stream");
}

static int connected(void *data)
{
    int fds[2];
    (void)data;
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    hand_over(fds, 1, "main");
    return refused("not listening");
}

static int not_listening(void *data)
{
    int fd = bound(AF_INET, SOCK_STREAM);
    (void)data;
    hand_over(&fd, 1, NULL);
    return refused("not listening");
}

static int no_socket(void *data)
{
    int fd = open("/dev/null", O_RDWR);
    (void)data;
    hand_over(&fd, 1, "main");
    return refused("not a socket");
}

static int closed(void *data)
{
    int fds[2] = {listening(AF_INET), listening(AF_INET)};
    (void)data;
    hand_over(fds, 2, "main");
    close(4);
    return refused("descriptor 4 of LISTEN_FDS: ");
}

static int bad_counts(void *data)
{
    static const char *const bad[] = {
        "", "x", "1x", "-1", "65", " 1", "99999999999999999999"};
    int fd = listening(AF_INET);
    (void)data;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hand_over(&fd, 1, "main");
        setenv("LISTEN_FDS", bad[i], 1);
        EXPECT(refused("LISTEN_FDS must be 0 to 64") == 0);
    }
    hand_over(&fd, 0, "main");
    EXPECT(rd_activation_take(&activation, &error) == 0);
    EXPECT(activation.n == 0);
    return 0;
}

static int (*const cases[])(void *) = {
    all_families, duplicates,    names_missing, of_another, datagram,
    connected,    not_listening, no_socket,     closed,     bad_counts,
};

START_TEST(test_case)
{
    run_in_child(cases[_i], NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("daemon_activation");
    TCase *tcase = tcase_create("activation");
    tcase_add_loop_test(tcase, test_case, 0, sizeof cases / sizeof cases[0]);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
