/* SPDX-License-Identifier: MIT */
/* Memory that cannot be had: every allocation of a whole scenario failing in
 * turn, and budgets that have no room. A start fails cleanly, or one
 * connection is lost; nothing else is. */
#include <restd/restd.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "client.h"
#include "support/folder.h"
#include "support/suite.h"

#define GET_HELLO "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
#define POST_HEAD                                                              \
    "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 6000\r\n\r\n"

static struct restd_options options;
static struct client clients[64];
static struct reply reply;
static char dir[FOLDER_MAX];
static int port;

static void log_nothing(enum restd_log_level level, int64_t time_unix_ms,
                        const char *line, void *data)
{
    (void)level;
    (void)time_unix_ms;
    (void)line;
    (void)data;
}

static void set_up(void)
{
    rd_mem_fail_nth(0);
    server_options(&options);
    options.log = log_nothing;
    folder_make(dir);
}

static void tear_down(void)
{
    rd_mem_fail_nth(0);
    folder_remove(dir);
}

/* Makes and starts a server; an error code, and no server, if that fails. */
static int start(struct restd_server **out, const char *path)
{
    struct restd_error error = {0, 0, ""};
    struct restd_server *server = NULL;

    int rc = restd_server_new(&options, &server, &error);
    if (rc < 0) {
        ck_assert_ptr_null(server);
    }
    if (rc == 0) {
        rc = server_routes(server, &error);
    }
    if (rc == 0) {
        rc = restd_server_listen(server, "127.0.0.1:0", &error);
    }
    if (rc == 0) {
        rc = restd_server_listen(server, path, &error);
    }
    if (rc == 0) {
        rc = restd_server_start(server, &error);
    }
    if (rc != 0) {
        struct restd_stats stats;
        struct restd_memory memory;
        struct restd_loop_stats loop;
        ck_assert_int_eq(error.code, rc);
        ck_assert_uint_gt(strlen(error.message), 0);
        if (server != NULL) {
            /* What did not start can still be looked at. */
            restd_server_stats(server, &stats);
            restd_server_memory(server, &memory);
            (void)!restd_server_loop_stats(server, 0, &loop);
            restd_server_free(server);
        }
        return rc;
    }
    *out = server;
    return 0;
}

/* --- the requests of the scenario -------------------------------------------- */

/* Each returns 1 if it was served, 0 if it was lost or refused with 503. */
static int finish(struct client *c, size_t want)
{
    int status = client_receive(c, &reply, 0);
    int fine = status == 200 && reply.body_len == want;
    ck_assert_msg(fine || status == 503 || status == 0, "status %d", status);
    if (fine && want > 5) {
        ck_assert(memcmp(reply.body, fill, want) == 0);
    }
    client_reply_free(&reply);
    return fine;
}

static int open_tcp(struct client *c)
{
    return client_connect(c, port, 0) == 0;
}

static int plain(struct client *c)
{
    return open_tcp(c) && client_say(c, GET_HELLO) == 0 && finish(c, 5);
}

static int half_a_head(const struct restd_server *server, struct client *c)
{
    struct restd_counters before = server_counters(server);
    if (!open_tcp(c) || client_say(c, "GET /hel") != 0) {
        return 0;
    }
    EVENTUALLY(server_counters(server).reading == before.reading + 1 ||
               server_counters(server).closed > before.closed);
    (void)client_say(c, "lo HTTP/1.1\r\nHost: x\r\n\r\n");
    return finish(c, 5);
}

/* Waits until the server has what was sent, or has closed. */
static void taken(const struct restd_server *server, uint64_t bytes,
                  uint64_t closed)
{
    EVENTUALLY(server_counters(server).received_bytes >= bytes ||
               server_counters(server).closed > closed);
}

static int in_pieces(const struct restd_server *server, struct client *c)
{
    struct restd_counters n = server_counters(server);
    size_t head = strlen(POST_HEAD);
    if (!open_tcp(c) || client_say(c, POST_HEAD) != 0) {
        return 0;
    }
    taken(server, n.received_bytes + head, n.closed);
    (void)client_send(c, fill, 2000);
    taken(server, n.received_bytes + head + 2000, n.closed);
    (void)client_send(c, fill + 2000, 4000);
    return finish(c, 6000);
}

static int chunked(struct client *c)
{
    if (!open_tcp(c)) {
        return 0;
    }
    (void)client_say(c, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 4; i++) {
        (void)client_say(c, "400\r\n");
        (void)client_send(c, fill + i * 1024, 1024);
        (void)client_say(c, "\r\n");
    }
    (void)client_say(c, "0\r\n\r\n");
    return finish(c, 4096);
}

static int large(struct client *c, const char *kind)
{
    char text[64];
    snprintf(text, sizeof(text), "GET /%s/0/100000 HTTP/1.1\r\nHost: x\r\n\r\n",
             kind);
    return open_tcp(c) && client_say(c, text) == 0 && finish(c, 100000);
}

/* A unix socket's buffer does not grow, so that much is left over. */
static int slow(const struct restd_server *server, struct client *c,
                const char *path)
{
    uint64_t closed = server_counters(server).closed;
    if (client_connect_unix(c, path) != 0) {
        return 0;
    }
    (void)client_say(c, "GET /fill/0/260000 HTTP/1.1\r\nHost: x\r\n\r\n");
    EVENTUALLY(server_counters(server).writing > 0 ||
               server_counters(server).closed > closed);
    return finish(c, 260000);
}

/* One of the 20; all connections stay open until the end. */
static int request(const struct restd_server *server, int i, const char *path)
{
    struct client *c = &clients[i];
    switch (i % 7) {
    case 0:
        return half_a_head(server, c);
    case 1:
        return in_pieces(server, c);
    case 2:
        return chunked(c);
    case 3:
        return large(c, "fill");
    case 4:
        return large(c, "copy");
    case 5:
        return slow(server, c, path);
    default:
        return plain(c);
    }
}

#define REQUESTS 20

/* How many of the requests failed; -1 if it did not even start. */
static int scenario(void)
{
    struct restd_server *server = NULL;
    char address[FOLDER_MAX + 8];
    int lost = 0;

    snprintf(address, sizeof(address), "unix:%s/s", dir);
    int rc = start(&server, address);
    if (rc != 0) {
        ck_assert_int_eq(rc, RESTD_ENOMEM);
        return -1;
    }
    port = restd_server_port(server, 0);
    for (int i = 0; i < REQUESTS; i++) {
        clients[i].fd = -1;
        lost += !request(server, i, address + 5);
    }
    struct restd_counters n = server_counters(server);
    ck_assert_uint_eq(n.accepted - n.closed, n.active);
    ck_assert_uint_ge(n.active, REQUESTS - 1);
    restd_server_stop(server);
    for (int i = 0; i < REQUESTS; i++) {
        client_close(&clients[i]);
    }
    /* All that connections held has been given back. */
    struct restd_memory memory;
    restd_server_memory(server, &memory);
    for (unsigned i = 0; i < memory.owners_n; i++) {
        const char *name = memory.owners[i].name;
        ck_assert_msg(strcmp(name, "fixed") == 0 || strcmp(name, "pool") == 0 ||
                          strcmp(name, "connections") == 0 ||
                          strcmp(name, "scratch") == 0 ||
                          memory.owners[i].live_bytes == 0,
                      "%s: %llu", name,
                      (unsigned long long)memory.owners[i].live_bytes);
    }
    restd_server_free(server);
    return lost;
}

START_TEST(the_nth_allocation_fails)
{
    int fds = fds_count();
    int not_started = 0;
    int one_lost = 0;
    for (unsigned n = 1;; n++) {
        rd_mem_fail_nth(n);
        int lost = scenario();
        unsigned calls = rd_mem_calls();
        rd_mem_fail_nth(0);
        ck_assert_int_eq(fds_count(), fds);
        if (calls < n) {
            ck_assert_int_eq(lost, 0);
            break;
        }
        ck_assert_msg(lost <= 1, "allocation %u: %d requests lost", n, lost);
        not_started += lost < 0;
        one_lost += lost == 1;
    }
    /* Both did happen, and often. */
    ck_assert_int_gt(not_started, 20);
    ck_assert_int_gt(one_lost, 20);
}
END_TEST

/* --- budgets ---------------------------------------------------------------------- */

static struct restd_server *server_with_least_budget(void)
{
    struct restd_server *server = NULL;
    uint64_t least = 2u << 20;
    uint64_t most = 16u << 20;
    options.connections_max = 200;
    while (most - least > 4096) {
        options.memory_budget_bytes = (least + most) / 2;
        if (restd_server_new(&options, &server, NULL) == 0) {
            restd_server_free(server);
            most = options.memory_budget_bytes;
        } else {
            least = options.memory_budget_bytes;
        }
    }
    options.memory_budget_bytes = most;
    return server_start(&options, &port);
}

static void check_within_budget(const struct restd_server *server)
{
    struct restd_memory memory;
    restd_server_memory(server, &memory);
    ck_assert_uint_le(memory.used_bytes, memory.budget_bytes);
    ck_assert_uint_le(memory.reserved_bytes, memory.budget_bytes);
    ck_assert_uint_le(memory.peak_bytes, memory.budget_bytes);
}

START_TEST(many_contents_in_a_small_budget)
{
    struct restd_server *server = server_with_least_budget();
    int served = 0;
    int refused = 0;
    for (int i = 0; i < 64; i++) {
        ck_assert_int_eq(client_connect(&clients[i], port, 0), 0);
        (void)client_say(&clients[i], "POST /echo HTTP/1.1\r\nHost: x\r\n"
                                      "Content-Length: 60000\r\n\r\n");
        (void)client_send(&clients[i], fill, 40000);
        check_within_budget(server);
    }
    for (int i = 0; i < 64; i++) {
        (void)client_send(&clients[i], fill + 40000, 20000);
        int fine = finish(&clients[i], 60000);
        served += fine;
        refused += !fine;
        client_close(&clients[i]);
        check_within_budget(server);
    }
    ck_assert_int_gt(served, 0);
    ck_assert_int_gt(refused, 0);
    /* And when they have gone all is as before. */
    EVENTUALLY(server_counters(server).active == 0);
    EVENTUALLY(client_connect(&clients[0], port, 0) == 0 &&
               in_pieces(server, &clients[0]));
    client_close(&clients[0]);
    check_within_budget(server);
    restd_server_free(server);
}
END_TEST

START_TEST(an_answer_that_does_not_fit)
{
    struct restd_server *server = server_with_least_budget();
    char path[64];
    snprintf(path, sizeof(path), "/copy/0/%u", FILL_MAX);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(client_get(port, path, NULL, 0), 503);
        check_within_budget(server);
    }
    EVENTUALLY(client_get(port, "/hello", NULL, 0) == 200);
    restd_server_free(server);
}
END_TEST

START_TEST(a_scratch_that_cannot_fit_is_an_error)
{
    /* Beside the fixed part no whole content would find room. */
    struct restd_server *server = NULL;
    options.body_buffered_max_bytes = 9u << 20;
    options.body_max_bytes = 9u << 20;
    ck_assert_int_eq(restd_server_new(&options, &server, NULL), RESTD_EBUDGET);
    ck_assert_ptr_null(server);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("oom");
    TCase *tc = tcase_create("oom");
    tcase_set_timeout(tc, 300);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, the_nth_allocation_fails);
    tcase_add_test(tc, many_contents_in_a_small_budget);
    tcase_add_test(tc, an_answer_that_does_not_fit);
    tcase_add_test(tc, a_scratch_that_cannot_fit_is_an_error);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
