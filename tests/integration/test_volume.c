/* SPDX-License-Identifier: MIT */
/* Much content through little memory: a large file out, a large upload in, and
 * many readers that are slow, in the default budget. */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "support/suite.h"

#define MIB (1024u * 1024)
#define READERS 1000

static struct restd_server *server;
static struct restd_options options;
static struct client client;
static int port;
static uint64_t size;
static char block[65536];  /* what is sent */
static char bucket[65536]; /* what has come; streams read the other */
static atomic_ullong taken;
static FILE *file;

/* Private memory of this process; the clients' part does not change. */
static long rss_anon_kb(void)
{
    char line[256];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "re");
    ck_assert_ptr_nonnull(f);
    while (kb < 0 && fgets(line, sizeof(line), f)) {
        if (strncmp(line, "RssAnon:", 8) == 0) {
            kb = strtol(line + 8, NULL, 10);
        }
    }
    fclose(f);
    ck_assert_int_gt(kb, 0);
    return kb;
}

/* --- handlers -------------------------------------------------------------- */

static int send_file(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    int fd = dup(fileno(file));
    return fd < 0 ? RESTD_EOS : restd_response_file(response, fd, 0, size);
}

static int content(struct restd_upload *upload, const char *bytes, size_t len,
                   void *data)
{
    (void)upload;
    (void)bytes;
    (void)data;
    atomic_fetch_add(&taken, len);
    return 0;
}

static int end(struct restd_request *request, struct restd_response *response,
               void *data)
{
    (void)request;
    (void)data;
    return restd_response_printf(response, "%llu", atomic_load(&taken));
}

static int receive(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    static const struct restd_upload_ops ops = {sizeof(ops), content, end,
                                                NULL};
    (void)response;
    return restd_request_receive(request, &ops, data, NULL);
}

static void ready(struct restd_stream *stream, void *data)
{
    uint64_t *left = data;
    while (*left > 0) {
        size_t len = *left < sizeof(block) ? (size_t)*left : sizeof(block);
        long n = restd_stream_write(stream, block, len);
        if (n <= 0) {
            return;
        }
        *left -= (uint64_t)n;
    }
    restd_stream_end(stream);
}

static void closed(struct restd_stream *stream, int complete, void *data)
{
    (void)stream;
    (void)complete;
    free(data);
}

static int stream(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), ready, closed};
    uint64_t *left = malloc(sizeof(*left));
    (void)request;
    (void)data;
    ck_assert_ptr_nonnull(left);
    *left = 100u * MIB;
    int rc = restd_response_stream(response, &ops, left, NULL);
    if (rc != 0) {
        free(left);
    }
    return rc;
}

static void set_up(void)
{
    struct restd_error error = {0, 0, ""};
    struct restd_route_options streaming;
    /* A sanitizer's process is slow, and its memory is not ours. */
    size = (getenv("RD_SANITIZED") ? 64u : 1024u) * (uint64_t)MIB;
    server_options(&options);
    options.body_max_bytes = size;
    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    struct restd_router *router = restd_server_router(server);
    ck_assert_int_ge(
        restd_router_add(router, "GET", "/file", send_file, NULL, &error), 0);
    ck_assert_int_ge(
        restd_router_add(router, "GET", "/stream", stream, NULL, &error), 0);
    int route =
        restd_router_add(router, "POST", "/sink", receive, NULL, &error);
    restd_route_options_init(&streaming);
    streaming.streaming = 1;
    ck_assert_int_eq(restd_router_configure(router, route, &streaming, &error),
                     0);
    ck_assert_int_eq(restd_server_listen(server, "127.0.0.1:0", &error), 0);
    ck_assert_int_eq(restd_server_start(server, &error), 0);
    port = restd_server_port(server, 0);
    atomic_store(&taken, 0);
    memset(block, 'x', sizeof(block));
    ck_assert_int_eq(client_connect(&client, port, 0), 0);
}

static void tear_down(void)
{
    client_close(&client);
    restd_server_free(server);
}

static void check_growth(long before_kb)
{
    long growth = rss_anon_kb() - before_kb;
    ck_assert_msg(growth <= 1024 || getenv("RD_SANITIZED"), "%ld kB", growth);
}

START_TEST(a_large_file_out)
{
    char head[4096];
    size_t head_len = 0;
    uint64_t got = 0;
    file = tmpfile();
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(ftruncate(fileno(file), (off_t)size), 0);
    client_say(&client, "GET /file HTTP/1.1\r\nHost: x\r\n\r\n");
    while (head_len < 4 || memcmp(head + head_len - 4, "\r\n\r\n", 4) != 0) {
        ck_assert_int_eq(recv(client.fd, head + head_len++, 1, 0), 1);
    }
    long before = rss_anon_kb();
    while (got < size) {
        ssize_t n = recv(client.fd, bucket, sizeof(bucket), 0);
        ck_assert_int_gt(n, 0);
        got += (uint64_t)n;
    }
    check_growth(before);
    fclose(file);
}
END_TEST

START_TEST(a_large_upload_in)
{
    struct reply reply;
    char text[128];
    snprintf(text, sizeof(text),
             "POST /sink HTTP/1.1\r\nHost: x\r\nContent-Length: %llu\r\n\r\n",
             (unsigned long long)size);
    client_say(&client, text);
    long before = rss_anon_kb();
    for (uint64_t sent = 0; sent < size; sent += sizeof(block)) {
        ck_assert_int_eq(client_send(&client, block, sizeof(block)), 0);
    }
    ck_assert_int_eq(client_receive(&client, &reply, 0), 200);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)size);
    ck_assert_str_eq(reply.body, text);
    client_reply_free(&reply);
    check_growth(before);
}
END_TEST

static uint64_t closed_by(const char *what)
{
    const char *name;
    uint64_t count;
    for (unsigned i = 0; restd_server_closed_by(server, i, &name, &count) == 0;
         i++) {
        if (strcmp(name, what) == 0) {
            return count;
        }
    }
    ck_abort_msg("no reason %s", what);
}

/* Reasons for which connections were closed so far. */
static const char *why_closed(void)
{
    static char text[1024];
    const char *name;
    uint64_t count;
    size_t len = 0;
    for (unsigned i = 0; restd_server_closed_by(server, i, &name, &count) == 0;
         i++) {
        if (count > 0 && len < sizeof(text)) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %llu ",
                                    name, (unsigned long long)count);
        }
    }
    return text;
}

/* In the default budget, so that they have to make do with less than
 * output_high each. */
START_TEST(a_thousand_slow_readers)
{
    static int fds[READERS];
    struct restd_memory memory;
    long before = rss_anon_kb();
    for (int i = 0; i < READERS; i++) {
        ck_assert_int_eq(client_connect(&client, port, 4096), 0);
        fds[i] = client.fd;
        client_say(&client, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    client.fd = -1;
    /* Ten times 10 kB for each, all of them in turn. */
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < READERS; i++) {
            for (size_t got = 0; got < 10000;) {
                ssize_t n = recv(fds[i], bucket, 10000 - got, 0);
                ck_assert_msg(n > 0, "reader %d, round %d: %s", i, round,
                              why_closed());
                got += (size_t)n;
            }
        }
    }
    restd_server_memory(server, &memory);
    ck_assert_uint_le(memory.peak_bytes, memory.budget_bytes);
    ck_assert_uint_eq(closed_by("no_memory"), 0);
    long growth = rss_anon_kb() - before;
    ck_assert_msg(growth < 10 * 1024 || getenv("RD_SANITIZED"), "%ld kB",
                  growth);
    printf("1000 slow readers: %ld kB\n", growth);
    for (int i = 0; i < READERS; i++) {
        close(fds[i]);
    }
}
END_TEST

static int level(void)
{
    struct restd_memory memory;
    restd_server_memory(server, &memory);
    return memory.level;
}

/* Once the streams have stopped growing: what they hold has not changed for
 * longer than a turn takes. */
static int settled_level(void)
{
    struct restd_memory memory;
    uint64_t used = 0;

    restd_server_memory(server, &memory);
    for (int same = 0; same < 20; same++) {
        (void)pause_ms();
        used = memory.used_bytes;
        restd_server_memory(server, &memory);
        same = memory.used_bytes == used ? same : 0;
    }
    return memory.level;
}

/* A reader may find that memory has just become short: 503, or it is closed
 * before its request has come. */
static uint64_t answered(void)
{
    struct restd_counters n = server_counters(server);
    return n.responses[1] + n.responses[4] + n.closed;
}

static int answer(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    return restd_response_printf(response, "here\n");
}

/* At 90 % of the budget, which readers who do not read bring about. */
/* While memory is short a connection may be closed before its request has
 * come, as the idle ones are. */
static int ask(const char *request, struct reply *reply)
{
    int status = 0;

    for (int tries = 0; status == 0 && tries < 100; tries++) {
        ck_assert_int_eq(client_connect(&client, port, 0), 0);
        status = client_ask(&client, request, reply);
        if (status == 0) {
            client_close(&client);
        }
    }
    return status;
}

START_TEST(low_priority_goes_first)
{
    static int fds[READERS];
    int n = 0;
    struct restd_error error = {0, 0, ""};
    struct restd_route_options low;
    struct reply reply;

    client_close(&client);
    restd_server_free(server);
    options.memory_budget_bytes = 4u * MIB;
    options.output_high_bytes = 32u * 1024;
    ck_assert_int_eq(restd_server_new(&options, &server, &error), 0);
    struct restd_router *router = restd_server_router(server);
    ck_assert_int_ge(
        restd_router_add(router, "GET", "/stream", stream, NULL, &error), 0);
    ck_assert_int_ge(
        restd_router_add(router, "GET", "/high", answer, NULL, &error), 0);
    int route = restd_router_add(router, "GET", "/low", answer, NULL, &error);
    restd_route_options_init(&low);
    low.low_priority = 1;
    ck_assert_int_eq(restd_router_configure(router, route, &low, &error), 0);
    ck_assert_int_eq(restd_server_listen(server, "127.0.0.1:0", &error), 0);
    ck_assert_int_eq(restd_server_start(server, &error), 0);
    port = restd_server_port(server, 0);

    ck_assert_int_eq(client_connect(&client, port, 0), 0);
    ck_assert_int_eq(
        client_ask(&client, "GET /low HTTP/1.1\r\nHost: x\r\n\r\n", &reply),
        200);
    client_reply_free(&reply);
    client_close(&client);
    /* One more until it is there, one less when it is beyond. */
    for (int tries = 0; level() < 3 || settled_level() != 3; tries++) {
        ck_assert_int_lt(tries, READERS);
        if (level() > 3) {
            close(fds[--n]);
            (void)pause_ms();
            continue;
        }
        ck_assert_int_eq(client_connect(&client, port, 4096), 0);
        fds[n++] = client.fd;
        uint64_t before = answered();
        client_say(&client, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
        EVENTUALLY(answered() > before || level() >= 3);
    }
    ck_assert_int_eq(ask("GET /low HTTP/1.1\r\nHost: x\r\n\r\n", &reply), 503);
    ck_assert_ptr_nonnull(strstr(reply.head, "\r\nRetry-After: "));
    client_reply_free(&reply);
    client_close(&client);
    ck_assert_int_eq(ask("GET /high HTTP/1.1\r\nHost: x\r\n\r\n", &reply), 200);
    client_reply_free(&reply);
    while (n > 0) {
        close(fds[--n]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("volume");
    TCase *tc = tcase_create("volume");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, a_large_file_out);
    tcase_add_test(tc, a_large_upload_in);
    tcase_add_test(tc, a_thousand_slow_readers);
    tcase_add_test(tc, low_priority_goes_first);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
