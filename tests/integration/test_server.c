/* SPDX-License-Identifier: MIT */
/* The life of a server through the public calls: what goes wrong before it
 * runs, starting, draining, stopping, and several at once. */
#include <restd/restd.h>

#include <check.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"
#include "support/folder.h"
#include "support/suite.h"

#define GET_HELLO "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"

static struct restd_options options;
static struct restd_error error;
static struct client clients[8];
static struct reply reply;
static char dir[FOLDER_MAX];

static void set_up(void)
{
    server_options(&options);
    memset(&error, 0, sizeof(error));
    folder_make(dir);
}

static void tear_down(void)
{
    folder_remove(dir);
}

static void check_hello(int port)
{
    char body[16];
    ck_assert_int_eq(client_get(port, "/hello", body, sizeof(body)), 200);
    ck_assert_str_eq(body, "hello");
}

/* --- before it runs --------------------------------------------------------- */

START_TEST(new_and_free)
{
    struct restd_server *server = NULL;
    int fds = fds_count();
    ck_assert_int_eq(restd_server_new(NULL, &server, NULL), 0);
    restd_server_free(server);
    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    ck_assert_int_eq(server_routes(server, &error), 0);
    ck_assert_int_eq(restd_server_listen(server, "127.0.0.1:0", &error), 0);
    restd_server_free(server);
    restd_server_free(NULL);
    ck_assert_int_eq(fds_count(), fds);
}
END_TEST

START_TEST(nothing_happens_before_start)
{
    struct restd_server *server = NULL;
    struct restd_stats stats;
    struct restd_loop_stats loop;
    struct restd_memory memory;
    struct pollfd fd = {.events = POLLIN};

    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    restd_server_drain(server);
    restd_server_stop(server);
    restd_server_wait(server);
    fd.fd = restd_server_stopped_fd(server);
    ck_assert_int_eq(poll(&fd, 1, 0), 0);
    restd_server_stats(server, &stats);
    ck_assert_int_eq(stats.state, RESTD_STATE_STARTING);
    ck_assert_uint_eq(stats.counters.active, 0);
    ck_assert_int_eq(restd_server_loop_stats(server, 0, &loop), RESTD_ENOENT);
    restd_server_memory(server, &memory);
    ck_assert_uint_eq(memory.budget_bytes, options.memory_budget_bytes);
    ck_assert_uint_gt(memory.used_bytes, 0);
    ck_assert_uint_le(memory.used_bytes, memory.reserved_bytes);
    restd_server_log(server, RESTD_LOG_ERROR, "%s", "nobody listens");
    restd_server_free(server);
}
END_TEST

START_TEST(start_needs_a_listener)
{
    struct restd_server *server = NULL;
    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    ck_assert_int_eq(restd_server_start(server, &error), RESTD_ESTATE);
    ck_assert_int_eq(error.code, RESTD_ESTATE);
    /* Nothing is spoilt by that. */
    ck_assert_int_eq(server_routes(server, &error), 0);
    ck_assert_int_eq(restd_server_listen(server, "127.0.0.1:0", &error), 0);
    ck_assert_int_eq(restd_server_start(server, &error), 0);
    check_hello(restd_server_port(server, 0));
    restd_server_free(server);
}
END_TEST

START_TEST(bad_options)
{
    struct restd_server *server = NULL;
    options.size++;
    ck_assert_int_eq(restd_server_new(&options, &server, &error), RESTD_EINVAL);
    options.size = 1;
    ck_assert_int_eq(restd_server_new(&options, &server, &error), RESTD_EINVAL);
    /* As from a program that was built against a header with fewer fields. */
    options.size = offsetof(struct restd_options, log);
    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    restd_server_free(server);
    server = NULL;
    server_options(&options);
    options.workers = 257;
    ck_assert_int_eq(restd_server_new(&options, &server, &error), RESTD_ERANGE);
    ck_assert_int_eq(error.code, RESTD_ERANGE);
    ck_assert_ptr_nonnull(strstr(error.message, "workers"));
    server_options(&options);
    options.output_low_bytes = options.output_high_bytes + 1;
    ck_assert_int_eq(restd_server_new(&options, &server, NULL), RESTD_ERANGE);
    ck_assert_ptr_null(server);
}
END_TEST

START_TEST(budget_too_small)
{
    struct restd_server *server = NULL;
    int fds = fds_count();
    options.workers = 100;
    options.memory_budget_bytes = 4u << 20;
    ck_assert_int_eq(restd_server_new(&options, &server, &error),
                     RESTD_EBUDGET);
    ck_assert_ptr_nonnull(strstr(error.message, "memory_budget"));
    ck_assert_ptr_null(server);
    ck_assert_int_eq(fds_count(), fds);
}
END_TEST

static void log_nothing(enum restd_log_level level, int64_t time_unix_ms,
                        const char *line, void *data)
{
    (void)level;
    (void)time_unix_ms;
    (void)line;
    (void)data;
}

/* The smallest budget that new takes is enough to start and to serve. */
START_TEST(what_new_accepts_start_does_not_refuse)
{
    static const uint32_t workers[] = {1, 4, 30, 64};
    uint64_t least = 2u << 20;
    uint64_t most = 256u << 20;
    struct restd_server *server = NULL;
    int port;

    options.workers = workers[_i];
    options.log = log_nothing;
    while (most - least > 1024) {
        options.memory_budget_bytes = (least + most) / 2;
        int rc = restd_server_new(&options, &server, &error);
        ck_assert(rc == 0 || rc == RESTD_EBUDGET);
        if (rc == 0) {
            restd_server_free(server);
            most = options.memory_budget_bytes;
        } else {
            least = options.memory_budget_bytes;
        }
    }
    options.memory_budget_bytes = most;
    server = server_start(&options, &port);
    for (int i = 0; i < 10; i++) {
        check_hello(port);
    }
    restd_server_free(server);
}
END_TEST

START_TEST(bad_addresses)
{
    static const char *const bad[] = {
        "", "127.0.0.1", "localhost:80", "127.0.0.1:65536", "[::1]", "unix:"};
    struct restd_server *server = NULL;
    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(restd_server_listen(server, bad[i], &error),
                         RESTD_EINVAL);
        ck_assert_int_eq(error.code, RESTD_EINVAL);
    }
    ck_assert_int_eq(restd_server_port(server, 0), RESTD_ENOENT);
    restd_server_free(server);
}
END_TEST

START_TEST(a_busy_port)
{
    struct restd_server *first = NULL;
    struct restd_server *second = NULL;
    char address[FOLDER_MAX + 8];
    ck_assert_int_eq(restd_server_new(&options, &first, &error), 0);
    ck_assert_int_eq(restd_server_new(&options, &second, &error), 0);
    ck_assert_int_eq(restd_server_listen(first, "127.0.0.1:0", &error), 0);
    int n = restd_server_address(first, 0, address, sizeof(address));
    ck_assert_int_eq(n, (int)strlen(address));
    ck_assert_int_eq(restd_server_address(first, 0, address, 3), RESTD_ERANGE);
    ck_assert_int_eq(restd_server_address(first, 1, address, 64), RESTD_ENOENT);
    ck_assert_int_eq(restd_server_address(first, 0, address, 64), n);
    ck_assert_int_eq(restd_server_listen(second, address, &error),
                     RESTD_EADDRINUSE);
    ck_assert_int_eq(error.code, RESTD_EADDRINUSE);
    ck_assert_int_ne(error.os_errno, 0);
    ck_assert_ptr_nonnull(strstr(error.message, address));
    restd_server_free(first);
    ck_assert_int_eq(restd_server_listen(second, address, &error), 0);
    restd_server_free(second);
}
END_TEST

START_TEST(too_many_listeners)
{
    struct restd_server *server = NULL;
    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    for (int i = 0; i < 64; i++) {
        ck_assert_int_eq(restd_server_listen(server, "127.0.0.1:0", &error), 0);
    }
    ck_assert_int_eq(restd_server_listen(server, "127.0.0.1:0", &error),
                     RESTD_ELIMIT);
    ck_assert_int_ne(restd_server_port(server, 63),
                     restd_server_port(server, 62));
    ck_assert_int_eq(restd_server_port(server, 64), RESTD_ENOENT);
    restd_server_free(server);
}
END_TEST

START_TEST(unix_sockets)
{
    struct restd_server *first = NULL;
    struct restd_server *second = NULL;
    char address[FOLDER_MAX + 8];
    snprintf(address, sizeof(address), "unix:%s/s", dir);

    /* One that nobody listens on is replaced. */
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int stale = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/s", dir);
    ck_assert_int_eq(bind(stale, (struct sockaddr *)&sa, sizeof(sa)), 0);
    close(stale);
    ck_assert_int_eq(restd_server_new(&options, &first, &error), 0);
    ck_assert_int_eq(server_routes(first, &error), 0);
    ck_assert_int_eq(restd_server_listen(first, address, &error), 0);
    ck_assert_int_eq(restd_server_start(first, &error), 0);

    /* One that is in use is not. */
    ck_assert_int_eq(restd_server_new(&options, &second, &error), 0);
    ck_assert_int_eq(restd_server_listen(second, address, &error),
                     RESTD_EADDRINUSE);
    restd_server_free(second);

    ck_assert_int_eq(client_connect_unix(&clients[0], address + 5), 0);
    ck_assert_int_eq(client_ask(&clients[0], GET_HELLO, &reply), 200);
    client_reply_free(&reply);
    client_close(&clients[0]);
    ck_assert_int_eq(restd_server_port(first, 0), RESTD_ENOENT);
    restd_server_free(first);
    ck_assert_int_ne(access(address + 5, F_OK), 0);
}
END_TEST

START_TEST(a_file_in_the_way_is_kept)
{
    struct restd_server *server = NULL;
    char address[FOLDER_MAX + 8];
    snprintf(address, sizeof(address), "unix:%s/s", dir);
    int fd = open(address + 5, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    ck_assert_int_eq(restd_server_listen(server, address, &error),
                     RESTD_EADDRINUSE);
    restd_server_free(server);
    ck_assert_int_eq(unlink(address + 5), 0);
}
END_TEST

START_TEST(after_start_it_is_too_late)
{
    int port;
    struct restd_server *server = server_start(&options, &port);
    ck_assert_int_eq(restd_server_start(server, &error), RESTD_ESTATE);
    ck_assert_int_eq(restd_router_add(restd_server_router(server), "GET",
                                      "/late", NULL, NULL, &error),
                     RESTD_ESTATE);
    check_hello(port);
    restd_server_stop(server);
    ck_assert_int_eq(restd_server_start(server, &error), RESTD_ESTATE);
    restd_server_free(server);
}
END_TEST

/* --- stopping ---------------------------------------------------------------- */

static int maps_count(void)
{
    FILE *f = fopen("/proc/self/maps", "re");
    int n = 0;
    for (int c; (c = getc(f)) != EOF;) {
        n += c == '\n';
    }
    fclose(f);
    return n;
}

START_TEST(fifty_times)
{
    int fds = fds_count();
    int maps = 0;
    size_t heap = 0;
    options.log = log_nothing;
    for (int i = 0; i < 50; i++) {
        int port;
        struct restd_server *server = server_start(&options, &port);
        check_hello(port);
        if (i % 2) {
            restd_server_drain(server);
            restd_server_wait(server);
        } else if (i % 4) {
            restd_server_stop(server);
        }
        restd_server_free(server);
        ck_assert_int_eq(fds_count(), fds);
        if (i == 20) {
            /* The C library has its arenas and cached stacks by now. */
            maps = maps_count();
            heap = mallinfo2().uordblks;
        }
    }
    ck_assert_int_le(maps_count(), maps + 4);
    ck_assert_uint_le(mallinfo2().uordblks, heap + 4096);
}
END_TEST

START_TEST(two_servers)
{
    int ports[2];
    struct restd_server *servers[2];
    for (int i = 0; i < 2; i++) {
        options.workers = (uint32_t)i + 1;
        servers[i] = server_start(&options, &ports[i]);
    }
    ck_assert_int_ne(ports[0], ports[1]);
    for (int i = 0; i < 10; i++) {
        check_hello(ports[i % 2]);
    }
    ck_assert_uint_eq(server_counters(servers[0]).requests, 5);
    ck_assert_uint_eq(server_counters(servers[1]).requests, 5);
    restd_server_free(servers[0]);
    check_hello(ports[1]);
    ck_assert_int_eq(client_get(ports[0], "/hello", NULL, 0), 0);
    restd_server_free(servers[1]);
}
END_TEST

START_TEST(free_without_stop)
{
    int port;
    struct restd_server *server = server_start(&options, &port);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(client_connect(&clients[i], port, 0), 0);
    }
    /* Idle, within a head, within a content, and never used. */
    ck_assert_int_eq(client_ask(&clients[0], GET_HELLO, &reply), 200);
    client_reply_free(&reply);
    client_say(&clients[1], "GET /he");
    client_say(&clients[2],
               "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na");
    EVENTUALLY(server_counters(server).active == 4 &&
               server_counters(server).reading == 2);
    restd_server_free(server);
    for (int i = 0; i < 4; i++) {
        ck_assert(client_at_end(&clients[i]));
        client_close(&clients[i]);
    }
}
END_TEST

START_TEST(stop_is_idempotent)
{
    int port;
    struct restd_stats stats;
    struct restd_server *server = server_start(&options, &port);
    restd_server_stop(server);
    restd_server_stop(server);
    restd_server_drain(server);
    restd_server_wait(server);
    restd_server_stats(server, &stats);
    ck_assert_int_eq(stats.state, RESTD_STATE_STOPPED);
    ck_assert_str_eq(restd_state_name(stats.state), "stopped");
    ck_assert_int_eq(client_get(port, "/hello", NULL, 0), 0);
    restd_server_free(server);
}
END_TEST

static void *wait_for_stop(void *arg)
{
    restd_server_wait(arg);
    return arg;
}

static void *stop_it(void *arg)
{
    restd_server_stop(arg);
    return arg;
}

START_TEST(many_threads_wait_and_stop)
{
    pthread_t threads[8];
    int port;
    struct restd_server *server = server_start(&options, &port);
    struct pollfd fd = {.fd = restd_server_stopped_fd(server),
                        .events = POLLIN};
    check_hello(port);
    ck_assert_int_eq(poll(&fd, 1, 0), 0);
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL,
                                        i < 6 ? wait_for_stop : stop_it,
                                        server),
                         0);
    }
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ck_assert_int_eq(poll(&fd, 1, CLIENT_WAIT_S * 1000), 1);
    restd_server_free(server);
}
END_TEST

/* --- draining ----------------------------------------------------------------- */

static void begin_drain(struct restd_server *server)
{
    struct restd_stats stats;
    restd_server_drain(server);
    restd_server_drain(server);
    do {
        pause_ms();
        restd_server_stats(server, &stats);
    } while (stats.state < RESTD_STATE_DRAINING);
}

START_TEST(drain_with_nobody_there)
{
    int port;
    struct restd_server *server = server_start(&options, &port);
    struct pollfd fd = {.fd = restd_server_stopped_fd(server),
                        .events = POLLIN};
    restd_server_drain(server);
    ck_assert_int_eq(poll(&fd, 1, CLIENT_WAIT_S * 1000), 1);
    restd_server_wait(server);
    ck_assert_int_eq(client_get(port, "/hello", NULL, 0), 0);
    restd_server_free(server);
}
END_TEST

START_TEST(drain_lets_what_runs_finish)
{
    int port;
    options.drain_silence_ms = 1000;
    struct restd_server *server = server_start(&options, &port);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(client_connect(&clients[i], port, 0), 0);
        ck_assert_int_eq(client_ask(&clients[i], GET_HELLO, &reply), 200);
        ck_assert(!reply.close);
        client_reply_free(&reply);
    }
    client_say(&clients[0],
               "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\na");
    EVENTUALLY(server_counters(server).reading == 1);
    begin_drain(server);

    /* The idle one still gets its answer, the silent one is closed. */
    ck_assert_int_eq(client_ask(&clients[1], GET_HELLO, &reply), 200);
    ck_assert(reply.close);
    client_reply_free(&reply);
    ck_assert(client_at_end(&clients[1]));
    ck_assert(client_at_end(&clients[2]));

    /* The one in the middle takes as long as it needs. */
    ck_assert_int_eq(client_ask(&clients[0], "bcd", &reply), 200);
    ck_assert_str_eq(reply.body, "abcd");
    ck_assert(reply.close);
    client_reply_free(&reply);
    ck_assert(client_at_end(&clients[0]));
    restd_server_wait(server);
    struct restd_counters counters = server_counters(server);
    ck_assert_uint_eq(counters.accepted, counters.closed);
    ck_assert_uint_eq(counters.requests, 5);
    ck_assert_uint_eq(counters.timed_out, 0);
    ck_assert_uint_eq(counters.aborted, 0);
    restd_server_free(server);
    for (int i = 0; i < 3; i++) {
        client_close(&clients[i]);
    }
}
END_TEST

START_TEST(drain_refuses_new_connections)
{
    int port;
    struct restd_server *server = server_start(&options, &port);
    ck_assert_int_eq(client_connect(&clients[0], port, 0), 0);
    client_say(&clients[0],
               "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\na");
    EVENTUALLY(server_counters(server).reading == 1);
    begin_drain(server);
    EVENTUALLY(client_get(port, "/hello", NULL, 0) == 0);
    client_close(&clients[0]);
    restd_server_wait(server);
    ck_assert_uint_eq(server_counters(server).aborted, 1);
    restd_server_free(server);
}
END_TEST

START_TEST(drain_has_a_hard_end)
{
    int port;
    options.drain_timeout_ms = 300;
    struct restd_server *server = server_start(&options, &port);
    ck_assert_int_eq(client_connect(&clients[0], port, 0), 0);
    client_say(&clients[0], "GET /hel");
    EVENTUALLY(server_counters(server).reading == 1);
    restd_server_drain(server);
    restd_server_wait(server);
    ck_assert(client_at_end(&clients[0]));
    client_close(&clients[0]);
    restd_server_free(server);
}
END_TEST

START_TEST(stop_ends_a_drain)
{
    int port;
    struct restd_server *server = server_start(&options, &port);
    ck_assert_int_eq(client_connect(&clients[0], port, 0), 0);
    client_say(&clients[0], "GET /hel");
    EVENTUALLY(server_counters(server).reading == 1);
    begin_drain(server);
    restd_server_stop(server);
    ck_assert(client_at_end(&clients[0]));
    client_close(&clients[0]);
    restd_server_free(server);
}
END_TEST

/* --- the control loop and the log -------------------------------------------- */

static atomic_int ticks;

static void tick(struct restd_timer *timer, void *data)
{
    (void)timer;
    (void)data;
    atomic_fetch_add(&ticks, 1);
}

START_TEST(timers_on_the_control_loop)
{
    struct restd_server *server = NULL;
    struct restd_timer *timer = NULL;
    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    ck_assert_int_eq(restd_server_listen(server, "127.0.0.1:0", &error), 0);
    ck_assert_int_eq(
        restd_timer_new(restd_server_control(server), 5, 5, tick, NULL, &timer),
        0);
    ck_assert_int_eq(restd_server_start(server, &error), 0);
    EVENTUALLY(atomic_load(&ticks) >= 3);
    restd_server_stop(server);
    restd_timer_free(timer);
    restd_server_free(server);
}
END_TEST

static void log_keep(enum restd_log_level level, int64_t time_unix_ms,
                     const char *line, void *data)
{
    char *text = data;
    ck_assert_int_gt(time_unix_ms, 0);
    if (level == RESTD_LOG_WARNING) {
        snprintf(text, 64, "%s", line);
    }
}

START_TEST(log_lines_reach_the_sink)
{
    int port;
    char text[64] = "";
    options.log = log_keep;
    options.log_data = text;
    struct restd_server *server = server_start(&options, &port);
    restd_server_log(server, RESTD_LOG_WARNING, "seen %d\r\nx", 7);
    restd_server_log(server, RESTD_LOG_DEBUG, "not seen");
    restd_server_free(server);
    ck_assert_str_eq(text, "seen 7??x");
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, new_and_free);
    tcase_add_test(tc, nothing_happens_before_start);
    tcase_add_test(tc, start_needs_a_listener);
    tcase_add_test(tc, bad_options);
    tcase_add_test(tc, budget_too_small);
    tcase_add_loop_test(tc, what_new_accepts_start_does_not_refuse, 0, 4);
    tcase_add_test(tc, bad_addresses);
    tcase_add_test(tc, a_busy_port);
    tcase_add_test(tc, too_many_listeners);
    tcase_add_test(tc, unix_sockets);
    tcase_add_test(tc, a_file_in_the_way_is_kept);
    tcase_add_test(tc, after_start_it_is_too_late);
    tcase_add_test(tc, fifty_times);
    tcase_add_test(tc, two_servers);
    tcase_add_test(tc, free_without_stop);
    tcase_add_test(tc, stop_is_idempotent);
    tcase_add_test(tc, many_threads_wait_and_stop);
    tcase_add_test(tc, drain_with_nobody_there);
    tcase_add_test(tc, drain_lets_what_runs_finish);
    tcase_add_test(tc, drain_refuses_new_connections);
    tcase_add_test(tc, drain_has_a_hard_end);
    tcase_add_test(tc, stop_ends_a_drain);
    tcase_add_test(tc, timers_on_the_control_loop);
    tcase_add_test(tc, log_lines_reach_the_sink);
}

int main(void)
{
    Suite *suite = suite_create("server");
    TCase *tc = tcase_create("server");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    add_tests(tc);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
