/* SPDX-License-Identifier: MIT */
/* Listeners: names, owners and modes, inherited sockets, and all that changes
 * while the server runs. */
#include <restd/restd.h>

#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"
#include "support/suite.h"

#define GET_HELLO "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
#define GET_NAME "GET /name HTTP/1.1\r\nHost: x\r\n\r\n"
#define GET_PEER "GET /peer HTTP/1.1\r\nHost: x\r\n\r\n"

static struct restd_options options;
static struct restd_listen_options how;
static struct restd_error error;
static struct restd_server *server;
static struct client clients[80];
static struct reply reply;
static char dir[32], address[64];
static int fds;

static int name(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_slice listener = restd_request_listener(request);

    (void)data;
    return listener.data
               ? restd_response_printf(response, "%.*s", (int)listener.len,
                                       listener.data)
               : restd_response_printf(response, "-");
}

static int peer(struct restd_request *request, struct restd_response *response,
                void *data)
{
    int64_t pid = 0;
    uint32_t uid = 0;
    uint32_t gid = 0;
    int rc = restd_request_peer_credentials(request, &pid, &uid, &gid);

    (void)data;
    return restd_response_printf(response, "%d %lld %u %u", rc, (long long)pid,
                                 uid, gid);
}

static void set_up(void)
{
    server_options(&options);
    restd_listen_options_init(&how);
    memset(&error, 0, sizeof(error));
    strncpy(dir, "/tmp/restd-test-XXXXXX", sizeof(dir) - 1);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(address, sizeof(address), "unix:%s/s", dir);
    fds = fds_count();
}

static void make(void)
{
    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    ck_assert_int_eq(server_routes(server, &error), 0);
    ck_assert_int_ge(restd_router_add(restd_server_router(server), "GET",
                                      "/name", name, NULL, &error),
                     0);
    ck_assert_int_ge(restd_router_add(restd_server_router(server), "GET",
                                      "/peer", peer, NULL, &error),
                     0);
}

static int listen_as(const char *where, const char *as)
{
    how.name = as;
    return restd_server_listen_with(server, where, &how, &error);
}

static void start(void)
{
    int rc = restd_server_start(server, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
}

static void made_and_started(void)
{
    make();
    ck_assert_int_eq(listen_as("127.0.0.1:0", "main"), 0);
    start();
}

static void tear_down(void)
{
    restd_server_free(server);
    server = NULL;
    ck_assert_int_eq(fds_count(), fds);
    ck_assert_int_eq(rmdir(dir), 0);
}

static struct restd_listener_info listener(unsigned index)
{
    struct restd_listener_info info;
    ck_assert_int_eq(restd_server_listener(server, index, &info), 0);
    return info;
}

static unsigned listeners_n(void)
{
    struct restd_listener_info info;
    unsigned n = 0;
    while (restd_server_listener(server, n, &info) == 0) {
        n++;
    }
    return n;
}

static void check_says(struct client *c, const char *ask, const char *text)
{
    ck_assert_int_eq(client_ask(c, ask, &reply), 200);
    ck_assert_str_eq(reply.body, text);
    client_reply_free(&reply);
}

static int listening_socket(const char *path)
{
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

    ck_assert_int_ge(fd, 0);
    if (path) {
        snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
        ck_assert_int_eq(bind(fd, (void *)&un, sizeof(un)), 0);
    } else {
        ck_assert_int_eq(bind(fd, (void *)&in, sizeof(in)), 0);
    }
    ck_assert_int_eq(listen(fd, 10), 0);
    return fd;
}

/* ---- names */

START_TEST(a_request_knows_its_listener)
{
    make();
    ck_assert_int_eq(listen_as("127.0.0.1:0", "one"), 0);
    ck_assert_int_eq(listen_as("127.0.0.1:0", NULL), 0);
    start();
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(
            client_connect(&clients[i], restd_server_port(server, i), 0), 0);
        check_says(&clients[i], GET_NAME, i == 0 ? "one" : "-");
    }
    struct restd_listener_info info = listener(0);
    ck_assert_str_eq(info.name, "one");
    ck_assert_uint_eq(info.accepted, 1);
    ck_assert_uint_eq(info.connections, 1);
    ck_assert_int_ge(info.fd, 0);
    ck_assert_int_eq(restd_server_address(server, 0, address, 64),
                     (int)strlen(info.address));
    ck_assert_str_eq(address, info.address);
    client_close(&clients[0]);
    EVENTUALLY(listener(0).connections == 0);
    ck_assert_uint_eq(listener(0).accepted, 1);
    ck_assert_uint_eq(listener(1).connections, 1);
    client_close(&clients[1]);
}
END_TEST

START_TEST(two_of_one_name_or_address)
{
    char text[64];
    made_and_started();
    for (int running = 0; running < 2; running++) {
        ck_assert_int_eq(listen_as("127.0.0.1:0", "main"), RESTD_EEXIST);
        ck_assert_ptr_nonnull(strstr(error.message, "\"main\""));
        ck_assert_int_ge(restd_server_address(server, 0, text, 64), 0);
        ck_assert_int_eq(listen_as(text, "other"), RESTD_EADDRINUSE);
        ck_assert_ptr_nonnull(strstr(error.message, text));
        how.fd = dup(listener(0).fd);
        ck_assert_int_eq(listen_as(NULL, "other"), RESTD_EADDRINUSE);
        ck_assert_ptr_nonnull(strstr(error.message, text));
        ck_assert_int_eq(close(how.fd), 0); /* still ours */
        how.fd = -1;
    }
    char longest[65];
    memset(longest, 'n', 64);
    longest[64] = '\0';
    ck_assert_int_eq(listen_as("127.0.0.1:0", longest), RESTD_EINVAL);
    longest[63] = '\0';
    ck_assert_int_eq(listen_as("127.0.0.1:0", longest), 0);
    ck_assert_uint_eq(listeners_n(), 2);
}
END_TEST

/* ---- files of unix sockets */

START_TEST(mode_and_owner)
{
    struct stat st;
    mode_t mask = umask(022);
    make();
    how.mode = 0640;
    how.uid = getuid();
    how.gid = getgid();
    ck_assert_int_eq(listen_as(address, "unix"), 0);
    ck_assert_int_eq(stat(address + 5, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0640);
    ck_assert_int_eq(listen_as("127.0.0.1:0", NULL), RESTD_EINVAL);
    ck_assert_ptr_nonnull(strstr(error.message, "unix"));
    if (getuid() == 0) {
        char other[64];
        snprintf(other, sizeof(other), "unix:%s/t", dir);
        how.uid = 12345;
        how.gid = 23456;
        how.mode = -1;
        ck_assert_int_eq(listen_as(other, NULL), 0);
        ck_assert_int_eq(stat(other + 5, &st), 0);
        ck_assert_int_eq(st.st_uid, 12345);
        ck_assert_int_eq(st.st_gid, 23456);
        ck_assert_int_eq(st.st_mode & 0777, 0755);
    }
    umask(mask);
}
END_TEST

START_TEST(an_owner_that_cannot_be_set)
{
    if (getuid() == 0) {
        ck_assert_int_eq(chmod(dir, 0777), 0);
        ck_assert_int_eq(seteuid(65534), 0);
    }
    make();
    how.uid = 1;
    ck_assert_int_eq(listen_as(address, NULL), RESTD_EACCES);
    ck_assert_int_ne(access(address + 5, F_OK), 0);
    ck_assert_uint_eq(listeners_n(), 0);
    restd_server_free(server);
    server = NULL;
    (void)!seteuid(getuid());
}
END_TEST

START_TEST(the_path_is_kept_if_passed_on)
{
    make();
    ck_assert_int_eq(listen_as(address, NULL), 0);
    start();
    restd_server_keep_paths(server, 1);
    restd_server_stop(server);
    ck_assert_int_eq(access(address + 5, F_OK), 0);
    ck_assert_int_eq(unlink(address + 5), 0);
    restd_server_free(server);

    make();
    ck_assert_int_eq(listen_as(address, NULL), 0);
    start();
    restd_server_keep_paths(server, 1);
    restd_server_keep_paths(server, 0);
    restd_server_stop(server);
    ck_assert_int_ne(access(address + 5, F_OK), 0);
}
END_TEST

START_TEST(credentials_of_the_peer)
{
    char text[64];
    made_and_started();
    ck_assert_int_eq(listen_as(address, NULL), 0);
    ck_assert_int_eq(client_connect_unix(&clients[0], address + 5), 0);
    snprintf(text, sizeof(text), "0 %d %u %u", (int)getpid(), geteuid(),
             getegid());
    check_says(&clients[0], GET_PEER, text);
    ck_assert_int_eq(
        client_connect(&clients[1], restd_server_port(server, 0), 0), 0);
    snprintf(text, sizeof(text), "%d 0 0 0", RESTD_ENOENT);
    check_says(&clients[1], GET_PEER, text);
    client_close(&clients[0]);
    client_close(&clients[1]);
}
END_TEST

/* ---- inherited */

START_TEST(inherited_tcp)
{
    make();
    how.fd = listening_socket(NULL);
    ck_assert_int_eq(listen_as(NULL, "inherited"), 0);
    ck_assert_int_eq(fcntl(how.fd, F_GETFD), FD_CLOEXEC);
    ck_assert_int_ne(fcntl(how.fd, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_eq(listener(0).fd, how.fd);
    start();
    ck_assert_int_eq(
        client_connect(&clients[0], restd_server_port(server, 0), 0), 0);
    check_says(&clients[0], GET_NAME, "inherited");
    client_close(&clients[0]);
}
END_TEST

/* Without `owns_path` (0) the file stays, with it goes. */
START_TEST(inherited_unix)
{
    make();
    how.fd = listening_socket(address + 5);
    how.owns_path = _i;
    ck_assert_int_eq(listen_as(NULL, NULL), 0);
    ck_assert_str_eq(listener(0).address, address);
    start();
    ck_assert_int_eq(client_connect_unix(&clients[0], address + 5), 0);
    check_says(&clients[0], GET_HELLO, "hello");
    client_close(&clients[0]);
    restd_server_stop(server);
    ck_assert_int_eq(access(address + 5, F_OK) == 0, !_i);
    ck_assert_int_eq(unlink(address + 5) == 0, !_i);
}
END_TEST

START_TEST(what_cannot_be_inherited)
{
    int sockets[4];
    make();
    sockets[0] = open("/dev/null", O_RDONLY);
    sockets[1] = socket(AF_INET, SOCK_STREAM, 0); /* does not listen */
    sockets[2] = socket(AF_INET, SOCK_DGRAM, 0);
    sockets[3] = 9999;
    for (int i = 0; i < 4; i++) {
        how.fd = sockets[i];
        ck_assert_int_eq(listen_as(NULL, NULL), RESTD_EINVAL);
        ck_assert_ptr_nonnull(strstr(error.message, "no listening"));
        ck_assert_int_eq(close(sockets[i]) == 0, i < 3);
    }
    ck_assert_uint_eq(listeners_n(), 0);
    how.size = 8;
    ck_assert_int_eq(listen_as("127.0.0.1:0", NULL), RESTD_EINVAL);
}
END_TEST

/* ---- while it runs */

START_TEST(more_while_it_runs)
{
    made_and_started();
    ck_assert_int_eq(listen_as(address, "later"), 0);
    ck_assert_int_eq(client_connect_unix(&clients[0], address + 5), 0);
    check_says(&clients[0], GET_NAME, "later");
    ck_assert_int_eq(restd_server_unlisten(server, 0, &error), 0);
    ck_assert_uint_eq(listeners_n(), 1);
    ck_assert_str_eq(listener(0).name, "later");
    check_says(&clients[0], GET_NAME, "later");
    client_close(&clients[0]);
    ck_assert_int_eq(restd_server_unlisten(server, 1, &error), RESTD_ENOENT);
    restd_server_stop(server);
    ck_assert_int_eq(restd_server_unlisten(server, 0, &error), RESTD_ESTATE);
    ck_assert_int_eq(listen_as("127.0.0.1:0", NULL), RESTD_ESTATE);
}
END_TEST

START_TEST(connections_outlive_their_listener)
{
    int port;
    made_and_started();
    port = restd_server_port(server, 0);
    ck_assert_int_eq(client_connect(&clients[0], port, 0), 0);
    check_says(&clients[0], GET_NAME, "main");
    ck_assert_int_eq(restd_server_unlisten(server, 0, &error), 0);
    ck_assert_uint_eq(listeners_n(), 0);
    EVENTUALLY(client_get(port, "/hello", NULL, 0) == 0);
    /* Its slot is not given to another meanwhile. */
    ck_assert_int_eq(listen_as("127.0.0.1:0", "next"), 0);
    check_says(&clients[0], GET_NAME, "main");
    ck_assert_int_eq(
        client_connect(&clients[1], restd_server_port(server, 0), 0), 0);
    check_says(&clients[1], GET_NAME, "next");
    client_close(&clients[0]);
    client_close(&clients[1]);
}
END_TEST

/* What has been completed by the kernel is served. */
START_TEST(the_queue_is_emptied)
{
    make();
    ck_assert_int_eq(listen_as("127.0.0.1:0", "main"), 0);
    restd_server_accept(server, 0);
    start();
    int port = restd_server_port(server, 0);
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(client_connect(&clients[i], port, 0), 0);
        client_say(&clients[i], GET_NAME);
    }
    ck_assert_int_eq(restd_server_unlisten(server, 0, &error), 0);
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(client_receive(&clients[i], &reply, 0), 200);
        ck_assert_str_eq(reply.body, "main");
        client_reply_free(&reply);
        client_close(&clients[i]);
    }
}
END_TEST

START_TEST(an_address_that_was_given_up)
{
    made_and_started();
    ck_assert_int_ge(restd_server_address(server, 0, address, 64), 0);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(restd_server_unlisten(server, 0, &error), 0);
        int rc = listen_as(address, "main");
        ck_assert_msg(rc == 0, "%s", error.message);
    }
    ck_assert_int_eq(
        client_connect(&clients[0], restd_server_port(server, 0), 0), 0);
    check_says(&clients[0], GET_NAME, "main");
    ck_assert_uint_eq(listener(0).accepted, 1);
    ck_assert_uint_eq(listener(0).connections, 1);
    client_close(&clients[0]);
}
END_TEST

START_TEST(slots_run_out_while_they_are_held)
{
    char text[64];
    made_and_started();
    for (int i = 0; i < 63; i++) {
        snprintf(text, sizeof(text), "listener %d", i);
        ck_assert_int_eq(listen_as("127.0.0.1:0", text), 0);
        ck_assert_int_eq(
            client_connect(&clients[i], restd_server_port(server, 1), 0), 0);
        check_says(&clients[i], GET_NAME, text);
        ck_assert_int_eq(restd_server_unlisten(server, 1, &error), 0);
    }
    ck_assert_int_eq(listen_as("127.0.0.1:0", "more"), RESTD_ELIMIT);
    client_close(&clients[7]);
    EVENTUALLY(listen_as("127.0.0.1:0", "more") == 0);
    ck_assert_uint_eq(listener(1).accepted, 0);
    ck_assert_int_eq(listen_as("127.0.0.1:0", "even more"), RESTD_ELIMIT);
    check_says(&clients[6], GET_NAME, "listener 6");
    check_says(&clients[62], GET_NAME, "listener 62");
    for (int i = 0; i < 63; i++) {
        client_close(&clients[i]);
    }
}
END_TEST

/* ---- accepting, adopting */

START_TEST(accepting_off_and_on)
{
    make();
    ck_assert_int_eq(listen_as("127.0.0.1:0", "main"), 0);
    restd_server_accept(server, 0);
    start();
    ck_assert_int_eq(
        client_connect(&clients[0], restd_server_port(server, 0), 0), 0);
    client_say(&clients[0], GET_HELLO);
    /* One that is adopted is served meanwhile. */
    int pair[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ck_assert_int_eq(restd_server_adopt(server, pair[1], 0, &error), 0);
    clients[1] = (struct client){.fd = pair[0]};
    check_says(&clients[1], GET_NAME, "-");
    ck_assert_uint_eq(server_counters(server).accepted, 1);
    restd_server_accept(server, 1);
    ck_assert_int_eq(client_receive(&clients[0], &reply, 0), 200);
    client_reply_free(&reply);
    restd_server_accept(server, 0);
    restd_server_accept(server, 0);
    restd_server_accept(server, 1);
    check_says(&clients[0], GET_NAME, "main");
    client_close(&clients[0]);
    client_close(&clients[1]);
}
END_TEST

START_TEST(a_socket_for_each_loop)
{
    char text[16];
    int pair[2];
    options.workers = 3;
    made_and_started();
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        ck_assert_int_eq(restd_server_adopt(server, pair[1], i, &error), 0);
        clients[i] = (struct client){.fd = pair[0]};
        snprintf(text, sizeof(text), "%u", i);
        check_says(&clients[i], "GET /loop HTTP/1.1\r\nHost: x\r\n\r\n", text);
    }
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ck_assert_int_eq(restd_server_adopt(server, pair[1], 3, &error),
                     RESTD_ENOENT);
    int null = open("/dev/null", O_RDONLY);
    ck_assert_int_eq(restd_server_adopt(server, null, 0, &error), RESTD_EINVAL);
    close(null);
    restd_server_stop(server);
    ck_assert_int_eq(restd_server_adopt(server, pair[1], 0, &error),
                     RESTD_ESTATE);
    close(pair[0]);
    close(pair[1]);
    for (int i = 0; i < 3; i++) {
        ck_assert(client_at_end(&clients[i]));
        client_close(&clients[i]);
    }
}
END_TEST

/* Sockets that are shared with another process are left to it. */
START_TEST(a_shared_queue_is_not_emptied)
{
    make();
    ck_assert_int_eq(listen_as("127.0.0.1:0", NULL), 0);
    restd_server_accept(server, 0);
    start();
    int shared = dup(listener(0).fd);
    ck_assert_int_eq(
        client_connect(&clients[0], restd_server_port(server, 0), 0), 0);
    client_say(&clients[0], GET_HELLO);
    restd_server_keep_paths(server, 1);
    restd_server_drain(server);
    restd_server_wait(server);
    ck_assert_uint_eq(server_counters(server).accepted, 0);
    restd_server_free(server);

    make();
    how.fd = shared;
    ck_assert_int_eq(listen_as(NULL, NULL), 0);
    start();
    ck_assert_int_eq(client_receive(&clients[0], &reply, 0), 200);
    client_reply_free(&reply);
    client_close(&clients[0]);
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, a_request_knows_its_listener);
    tcase_add_test(tc, two_of_one_name_or_address);
    tcase_add_test(tc, mode_and_owner);
    tcase_add_test(tc, an_owner_that_cannot_be_set);
    tcase_add_test(tc, the_path_is_kept_if_passed_on);
    tcase_add_test(tc, credentials_of_the_peer);
    tcase_add_test(tc, inherited_tcp);
    tcase_add_loop_test(tc, inherited_unix, 0, 2);
    tcase_add_test(tc, what_cannot_be_inherited);
    tcase_add_test(tc, more_while_it_runs);
    tcase_add_test(tc, connections_outlive_their_listener);
    tcase_add_test(tc, the_queue_is_emptied);
    tcase_add_test(tc, an_address_that_was_given_up);
    tcase_add_test(tc, slots_run_out_while_they_are_held);
    tcase_add_test(tc, accepting_off_and_on);
    tcase_add_test(tc, a_socket_for_each_loop);
    tcase_add_test(tc, a_shared_queue_is_not_emptied);
}

int main(void)
{
    Suite *suite = suite_create("listen");
    TCase *tc = tcase_create("listen");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    add_tests(tc);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
