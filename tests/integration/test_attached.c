/* SPDX-License-Identifier: MIT */
/* A server on the control loop of another: it serves whatever becomes of its
 * host's loops, memory and descriptors, and ends with it or before. */
#include <restd/restd.h>

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "client.h"
#include "support/suite.h"

#define GET_HELLO "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
#define HALF "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\na"
#define CONNECTIONS 8u

static struct restd_options options, guest_options;
static struct restd_error error;
static struct restd_server *host, *guest;
static struct client clients[64];
static struct reply reply;
static char dir[32], address[64], host_address[64];
static int fds, port;
static sem_t entered, go_on;
static atomic_int lines;

static int block(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    (void)request;
    (void)data;
    sem_post(&entered);
    while (sem_wait(&go_on) != 0) {
    }
    return restd_response_printf(response, "done");
}

static void count_lines(enum restd_log_level level, int64_t time_unix_ms,
                        const char *line, void *data)
{
    (void)level;
    (void)time_unix_ms;
    (void)data;
    lines += strcmp(line, "from the guest") == 0;
}

static void make_guest(uint64_t budget)
{
    restd_options_init(&guest_options);
    guest_options.memory_budget_bytes = budget;
    guest_options.connections_max = CONNECTIONS;
    int rc = restd_server_new_on(restd_server_control(host), &guest_options,
                                 &guest, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
    ck_assert_int_eq(server_routes(guest, &error), 0);
    ck_assert_int_eq(restd_server_listen(guest, address, &error), 0);
}

static void set_up(void)
{
    server_options(&options);
    options.log = count_lines;
    memset(&error, 0, sizeof(error));
    strncpy(dir, "/tmp/restd-test-XXXXXX", sizeof(dir) - 1);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(address, sizeof(address), "unix:%s/guest", dir);
    snprintf(host_address, sizeof(host_address), "unix:%s/host", dir);
    fds = fds_count();
    ck_assert_int_eq(sem_init(&entered, 0, 0), 0);
    ck_assert_int_eq(sem_init(&go_on, 0, 0), 0);
}

static void make_host(void)
{
    ck_assert_int_eq(restd_server_new(&options, &host, &error), 0);
    ck_assert_int_eq(server_routes(host, &error), 0);
    ck_assert_int_ge(restd_router_add(restd_server_router(host), "GET",
                                      "/block", block, NULL, &error),
                     0);
    ck_assert_int_eq(restd_server_listen(host, "127.0.0.1:0", &error), 0);
    ck_assert_int_eq(restd_server_listen(host, host_address, &error), 0);
    port = restd_server_port(host, 0);
}

static void start_both(void)
{
    make_host();
    make_guest(512 * 1024);
    int rc = restd_server_start(guest, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
    rc = restd_server_start(host, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
}

static void free_both(void)
{
    restd_server_free(guest);
    restd_server_free(host);
    guest = NULL;
    host = NULL;
}

static void tear_down(void)
{
    free_both();
    ck_assert_int_eq(fds_count(), fds);
    ck_assert_int_eq(rmdir(dir), 0);
    sem_destroy(&entered);
    sem_destroy(&go_on);
}

static void connect_guest(struct client *c)
{
    ck_assert_int_eq(client_connect_unix(c, address + 5), 0);
}

static void check_hello(struct client *c)
{
    ck_assert_int_eq(client_ask(c, GET_HELLO, &reply), 200);
    ck_assert_str_eq(reply.body, "hello");
    client_reply_free(&reply);
}

/* One of the guest's, from connecting to the end. */
static void check_guest(void)
{
    struct client *c = &clients[63];

    connect_guest(c);
    check_hello(c);
    client_close(c);
}

/* ---- serving */

START_TEST(beside_its_host)
{
    start_both();
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        connect_guest(&clients[i]);
        check_hello(&clients[i]);
    }
    ck_assert_int_eq(client_get(port, "/hello", NULL, 0), 200);
    ck_assert_uint_eq(server_counters(guest).requests, CONNECTIONS);
    ck_assert_uint_eq(server_counters(host).requests, 1);
    /* Its own limit. */
    connect_guest(&clients[CONNECTIONS]);
    check_hello(&clients[CONNECTIONS]);
    EVENTUALLY(server_counters(guest).active == CONNECTIONS);
    ck_assert_uint_eq(server_counters(guest).accepted, CONNECTIONS + 1);
    /* A content, and one that comes in pieces. */
    client_say(&clients[CONNECTIONS], HALF);
    EVENTUALLY(server_counters(guest).requests_active == 1);
    ck_assert_int_eq(client_ask(&clients[CONNECTIONS], "bcd", &reply), 200);
    ck_assert_str_eq(reply.body, "abcd");
    client_reply_free(&reply);
    ck_assert_int_eq(client_ask(&clients[CONNECTIONS],
                                "GET /fill/0/200000 HTTP/1.1\r\n"
                                "Host: x\r\n\r\n",
                                &reply),
                     200);
    ck_assert_uint_eq(reply.body_len, 200000);
    client_reply_free(&reply);
    for (unsigned i = 0; i <= CONNECTIONS; i++) {
        client_close(&clients[i]);
    }
}
END_TEST

START_TEST(while_every_loop_is_stuck)
{
    options.workers = 3;
    start_both();
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(client_connect(&clients[i], port, 0), 0);
        client_say(&clients[i], "GET /block HTTP/1.1\r\nHost: x\r\n\r\n");
        while (sem_wait(&entered) != 0) {
        }
    }
    for (int i = 0; i < 20; i++) {
        check_guest();
    }
    for (int i = 0; i < 3; i++) {
        sem_post(&go_on);
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(client_receive(&clients[i], &reply, 0), 200);
        client_reply_free(&reply);
        client_close(&clients[i]);
    }
}
END_TEST

static int level(struct restd_server *server)
{
    struct restd_memory memory;
    restd_server_memory(server, &memory);
    return memory.level;
}

static uint64_t answered(struct restd_server *server)
{
    struct restd_counters n = server_counters(server);
    return n.responses[1] + n.responses[4];
}

/* Replies that nobody takes fill it, smaller ones when larger do not fit: until
 * one is refused that is hardly more than what the kernel holds for us. */
START_TEST(while_the_budget_is_spent)
{
    char ask[64];
    int n = 0;
    int spent = 0;
    options.memory_budget_bytes = 4 * 1024 * 1024;
    start_both();
    for (unsigned len = 1 << 20; !spent && n < 60; n++) {
        struct restd_counters before = server_counters(host);
        ck_assert_int_eq(client_connect_unix(&clients[n], host_address + 5), 0);
        snprintf(ask, sizeof(ask), "GET /copy/0/%u HTTP/1.1\r\nHost: x\r\n\r\n",
                 len);
        client_say(&clients[n], ask);
        EVENTUALLY(answered(host) > before.responses[1] + before.responses[4] ||
                   server_counters(host).rejected > before.rejected);
        int refused = server_counters(host).responses[4] > before.responses[4];
        spent = level(host) >= 3 || (refused && len < 300000);
        len = refused && len >= 300000 ? len / 2 : len;
    }
    ck_assert(spent);
    for (int i = 0; i < 20; i++) {
        check_guest();
    }
    ck_assert_int_eq(level(guest), 0);
    ck_assert_int_ge(level(host), 2);
    for (int i = 0; i < n; i++) {
        client_close(&clients[i]);
    }
}
END_TEST

/* With the one that it has kept. The next waits until that is free again. */
START_TEST(without_descriptors)
{
    struct rlimit limit;
    struct rlimit old;
    int filler[1024];
    int n = 0;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
    limit = old;
    limit.rlim_cur = 256;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    start_both();
    while ((filler[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) {
        n++;
    }
    ck_assert_int_gt(n, 2);
    close(filler[--n]);
    connect_guest(&clients[0]);
    check_hello(&clients[0]);
    check_hello(&clients[0]);
    ck_assert_uint_eq(server_counters(guest).rejected, 0);
    close(filler[--n]);
    connect_guest(&clients[1]);
    client_say(&clients[1], GET_HELLO);
    client_close(&clients[0]);
    ck_assert_int_eq(client_receive(&clients[1], &reply, 0), 200);
    client_reply_free(&reply);
    client_close(&clients[1]);
    while (n > 0) {
        close(filler[--n]);
    }
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
}
END_TEST

START_TEST(lines_go_to_the_log_of_the_host)
{
    start_both();
    restd_server_log(guest, RESTD_LOG_WARNING, "from the guest");
    restd_server_stop(host);
    ck_assert_int_eq(atomic_load(&lines), 1);
}
END_TEST

/* ---- ends */

START_TEST(while_its_host_drains)
{
    struct client *c = &clients[1];
    start_both();
    ck_assert_int_eq(client_connect(&clients[0], port, 0), 0);
    client_say(&clients[0], HALF);
    EVENTUALLY(server_counters(host).requests_active == 1);
    connect_guest(c);
    check_hello(c);
    restd_server_drain(host);
    EVENTUALLY(client_get(port, "/hello", NULL, 0) == 0);
    for (int i = 0; i < 20; i++) {
        check_guest();
        check_hello(c);
    }
    ck_assert_int_eq(restd_server_state(guest), RESTD_STATE_RUNNING);
    ck_assert_int_eq(client_ask(&clients[0], "bcd", &reply), 200);
    client_reply_free(&reply);
    restd_server_wait(host);
    /* And with it it ends. */
    ck_assert_int_eq(restd_server_state(guest), RESTD_STATE_STOPPED);
    ck_assert(client_at_end(c));
    ck_assert_int_ne(access(address + 5, F_OK), 0);
    restd_server_wait(guest);
    restd_server_drain(guest);
    restd_server_stop(guest);
    client_close(&clients[0]);
    client_close(c);
}
END_TEST

START_TEST(its_host_is_freed_first)
{
    start_both();
    connect_guest(&clients[0]);
    client_say(&clients[0], HALF);
    EVENTUALLY(server_counters(guest).requests_active == 1);
    restd_server_free(host);
    host = NULL;
    ck_assert(client_at_end(&clients[0]));
    client_close(&clients[0]);
}
END_TEST

/* In every order: 0, 1 guest first, 2 host first; 1 stops it before. */
START_TEST(of_a_host_that_never_ran)
{
    make_host();
    make_guest(1024 * 1024);
    ck_assert_int_eq(restd_server_start(guest, &error), 0);
    if (_i == 1) {
        restd_server_stop(guest);
        restd_server_wait(guest);
        ck_assert_int_eq(restd_server_state(guest), RESTD_STATE_STOPPED);
    } else if (_i == 2) {
        restd_server_free(host);
        host = NULL;
        ck_assert_int_eq(restd_server_state(guest), RESTD_STATE_STOPPED);
    }
    ck_assert_int_eq(access(address + 5, F_OK) == 0, _i == 0);
}
END_TEST

START_TEST(it_ends_before_its_host)
{
    start_both();
    for (int i = 0; i < 3; i++) {
        connect_guest(&clients[i]);
        check_hello(&clients[i]);
    }
    client_say(&clients[2], HALF);
    EVENTUALLY(server_counters(guest).requests_active == 1);
    if (_i == 0) {
        restd_server_drain(guest);
        ck_assert(client_at_end(&clients[0]));
        ck_assert_int_eq(client_ask(&clients[2], "bcd", &reply), 200);
        ck_assert(reply.close);
        client_reply_free(&reply);
        restd_server_wait(guest);
    } else {
        restd_server_stop(guest);
        ck_assert(client_at_end(&clients[0]));
        ck_assert(client_at_end(&clients[2]));
    }
    restd_server_free(guest);
    guest = NULL;
    ck_assert_int_eq(client_get(port, "/hello", NULL, 0), 200);
    for (int i = 0; i < 3; i++) {
        client_close(&clients[i]);
    }
}
END_TEST

static void start_on_its_thread(void *data)
{
    *(int *)data = restd_server_start(guest, &error);
    sem_post(&entered);
}

static void *drain_it(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++) {
        restd_server_drain(guest);
    }
    restd_server_stop(guest);
    return NULL;
}

/* On a loop that runs: started by a message, ended from several threads. */
START_TEST(many_times_on_a_running_loop)
{
    struct restd_post *post;
    pthread_t threads[3];
    int rc = 1;
    make_host();
    ck_assert_int_eq(restd_server_start(host, &error), 0);
    ck_assert_int_eq(restd_post_new(restd_server_control(host),
                                    start_on_its_thread, &rc, &post),
                     0);
    for (int i = 0; i < 30; i++) {
        make_guest(512 * 1024);
        ck_assert_int_eq(restd_server_start(guest, &error), RESTD_ESTATE);
        restd_post_send(post);
        while (sem_wait(&entered) != 0) {
        }
        ck_assert_msg(rc == 0, "%s", error.message);
        connect_guest(&clients[0]);
        check_hello(&clients[0]);
        for (int t = 0; t < 3; t++) {
            ck_assert_int_eq(pthread_create(&threads[t], NULL, drain_it, NULL),
                             0);
        }
        for (int t = 0; t < 3; t++) {
            ck_assert_int_eq(pthread_join(threads[t], NULL), 0);
        }
        client_close(&clients[0]);
        restd_server_free(guest);
        guest = NULL;
    }
    ck_assert_int_eq(client_get(port, "/hello", NULL, 0), 200);
    restd_server_stop(host);
    restd_post_free(post);
}
END_TEST

START_TEST(both_end_at_once)
{
    pthread_t thread;
    for (int i = 0; i < 30; i++) {
        start_both();
        connect_guest(&clients[0]);
        client_say(&clients[0], GET_HELLO);
        ck_assert_int_eq(pthread_create(&thread, NULL, drain_it, NULL), 0);
        restd_server_stop(host);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        client_close(&clients[0]);
        free_both();
    }
}
END_TEST

/* ---- what does not go */

START_TEST(one_for_each_loop)
{
    struct restd_server *first;
    make_host();
    make_guest(512 * 1024);
    ck_assert_int_eq(restd_server_start(guest, &error), 0);
    first = guest;
    snprintf(address, sizeof(address), "unix:%s/second", dir);
    make_guest(512 * 1024);
    ck_assert_int_eq(restd_server_start(guest, &error), RESTD_EEXIST);
    ck_assert_int_eq(error.code, RESTD_EEXIST);
    restd_server_free(first);
    ck_assert_int_eq(restd_server_start(guest, &error), 0);
    ck_assert_int_eq(restd_server_start(host, &error), 0);
    check_guest();
}
END_TEST

START_TEST(a_budget_that_is_too_small)
{
    uint64_t least = 1024;
    uint64_t most = 512 * 1024;
    make_host();
    restd_options_init(&guest_options);
    guest_options.connections_max = 16;
    while (most - least > 1024) {
        guest_options.memory_budget_bytes = (least + most) / 2;
        int rc = restd_server_new_on(restd_server_control(host), &guest_options,
                                     &guest, &error);
        ck_assert(rc == 0 || rc == RESTD_EBUDGET);
        if (rc == 0) {
            restd_server_free(guest);
            guest = NULL;
            most = guest_options.memory_budget_bytes;
        } else {
            least = guest_options.memory_budget_bytes;
        }
    }
    ck_assert_uint_lt(most, 512 * 1024);
    /* What new takes is enough, although idle connections have to go. */
    make_guest(most);
    ck_assert_int_eq(restd_server_start(guest, &error), 0);
    ck_assert_int_eq(restd_server_start(host, &error), 0);
    int status = 0;
    for (int i = 0; i < 100 && status != 200; i++) {
        connect_guest(&clients[0]);
        status = client_ask(&clients[0], GET_HELLO, &reply);
        client_reply_free(&reply);
        client_close(&clients[0]);
    }
    ck_assert_int_eq(status, 200);
}
END_TEST

START_TEST(listeners_change_meanwhile)
{
    start_both();
    char more[64];
    snprintf(more, sizeof(more), "unix:%s/more", dir);
    ck_assert_int_eq(restd_server_listen(guest, more, &error), 0);
    ck_assert_int_eq(client_connect_unix(&clients[0], more + 5), 0);
    check_hello(&clients[0]);
    ck_assert_int_eq(restd_server_unlisten(guest, 0, &error), 0);
    EVENTUALLY(access(address + 5, F_OK) != 0);
    check_hello(&clients[0]);
    restd_server_accept(guest, 0);
    ck_assert_int_eq(client_connect_unix(&clients[1], more + 5), 0);
    client_say(&clients[1], GET_HELLO);
    check_hello(&clients[0]);
    ck_assert_uint_eq(server_counters(guest).accepted, 1);
    restd_server_accept(guest, 1);
    ck_assert_int_eq(client_receive(&clients[1], &reply, 0), 200);
    client_reply_free(&reply);
    client_close(&clients[0]);
    client_close(&clients[1]);
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, beside_its_host);
    tcase_add_test(tc, while_every_loop_is_stuck);
    tcase_add_test(tc, while_the_budget_is_spent);
    tcase_add_test(tc, without_descriptors);
    tcase_add_test(tc, lines_go_to_the_log_of_the_host);
    tcase_add_test(tc, while_its_host_drains);
    tcase_add_test(tc, its_host_is_freed_first);
    tcase_add_loop_test(tc, of_a_host_that_never_ran, 0, 3);
    tcase_add_loop_test(tc, it_ends_before_its_host, 0, 2);
    tcase_add_test(tc, many_times_on_a_running_loop);
    tcase_add_test(tc, both_end_at_once);
    tcase_add_test(tc, one_for_each_loop);
    tcase_add_test(tc, a_budget_that_is_too_small);
    tcase_add_test(tc, listeners_change_meanwhile);
}

int main(void)
{
    Suite *suite = suite_create("attached");
    TCase *tc = tcase_create("attached");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    add_tests(tc);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
