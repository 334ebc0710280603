/* SPDX-License-Identifier: MIT */
/* Requests through a running server: what handlers see and answer, contents
 * in pieces, readers that are late, limits, and counters that add up. */
#include <restd/restd.h>

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "support/suite.h"

#define GET_HELLO "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"

static struct restd_options options;
static struct restd_server *server;
static struct client clients[64];
static struct client *const c = &clients[0];
static struct reply reply;
static int port;

static void start(void)
{
    server = server_start(&options, &port);
}

static void set_up(void)
{
    server_options(&options);
    server = NULL;
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
        clients[i].fd = -1;
    }
}

static void tear_down(void)
{
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++) {
        client_close(&clients[i]);
    }
    restd_server_free(server);
}

static void connect_one(struct client *client)
{
    ck_assert_int_eq(client_connect(client, port, 0), 0);
}

/* Asks on clients[0] and checks status and content. */
static void ask(const char *text, int status, const char *body)
{
    int got = client_ask(c, text, &reply);
    ck_assert_msg(got == status, "%s: %d, not %d", text, got, status);
    if (body) {
        ck_assert_str_eq(reply.body, body);
    }
    client_reply_free(&reply);
}

/* --- handlers ---------------------------------------------------------------- */

START_TEST(a_handler_sees_the_request)
{
    start();
    connect_one(c);
    ck_assert_int_eq(
        client_ask(c,
                   "GET /describe?k=v&flag HTTP/1.1\r\nHost: h:1\r\n"
                   "X-One:  one \r\nX-One: again\r\n\r\n",
                   &reply),
        201);
    ck_assert_str_eq(reply.body, "method=GET\n"
                                 "target=/describe?k=v&flag\n"
                                 "path=/describe\n"
                                 "query=k=v&flag\n"
                                 "host=h:1\n"
                                 "x-one=one\n"
                                 "none absent\n"
                                 "param absent\n"
                                 "body=\n"
                                 "version=1.1\n"
                                 "flag=1\n"
                                 "k=v:1\n"
                                 "peer=127.0.0.1\n"
                                 "0:Host=h:1\n"
                                 "1:X-One=one\n"
                                 "2:X-One=again\n");
    ck_assert_ptr_nonnull(
        strstr(reply.head, "\r\nContent-Type: text/x-description\r\n"));
    ck_assert_ptr_nonnull(strstr(reply.head, "\r\nX-Two: 2\r\n"));
    ck_assert(!reply.close);
    client_reply_free(&reply);

    /* In one piece with a content, absolute form, HTTP/1.0. */
    ck_assert_int_eq(client_ask(c,
                                "GET http://a.b/describe HTTP/1.0\r\n"
                                "Content-Length: 3\r\n\r\nxyz",
                                &reply),
                     201);
    ck_assert_str_eq(reply.body, "method=GET\n"
                                 "target=http://a.b/describe\n"
                                 "path=/describe\n"
                                 "query absent\n"
                                 "host=a.b\n"
                                 "x-one absent\n"
                                 "none absent\n"
                                 "param absent\n"
                                 "body=xyz\n"
                                 "version=1.0\n"
                                 "flag=0\n"
                                 "k=v:0\n"
                                 "peer=127.0.0.1\n"
                                 "0:Content-Length=3\n");
    ck_assert(reply.close);
    client_reply_free(&reply);
    ck_assert(client_at_end(c));
}
END_TEST

START_TEST(a_suspended_request_sees_the_same)
{
    /* The head is a copy then, and another head has come in between. */
    start();
    connect_one(c);
    connect_one(&clients[1]);
    client_say(c, "GET /describe?flag HTTP/1.1\r\nHost: h\r\nX-One: 1\r\n"
                  "Content-Length: 4\r\n\r\nab");
    EVENTUALLY(server_counters(server).reading == 1);
    ck_assert_int_eq(
        client_ask(&clients[1],
                   "GET /params/1/and/2 HTTP/1.1\r\nHost: y\r\n\r\n", &reply),
        200);
    client_reply_free(&reply);
    ask("cd", 201,
        "method=GET\ntarget=/describe?flag\npath=/describe\nquery=flag\n"
        "host=h\nx-one=1\nnone absent\nparam absent\nbody=abcd\n"
        "version=1.1\nflag=1\nk=v:0\npeer=127.0.0.1\n"
        "0:Host=h\n1:X-One=1\n2:Content-Length=4\n");
}
END_TEST

static const struct {
    const char *text;
    int status;
    const char *body; /* NULL: any */
} table[] = {
    {GET_HELLO, 200, "hello"},
    {"HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n", 200, NULL},
    {"GET /params/a%20b/and/c%2Fd HTTP/1.1\r\nHost: x\r\n\r\n", 200, "a b|c/d"},
    {"GET /params/a/../b/and/c HTTP/1.1\r\nHost: x\r\n\r\n", 200, "b|c"},
    {"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", 404, NULL},
    {"GET /hello/ HTTP/1.1\r\nHost: x\r\n\r\n", 404, NULL},
    {"DELETE /hello HTTP/1.1\r\nHost: x\r\n\r\n", 405, NULL},
    {"OPTIONS /hello HTTP/1.1\r\nHost: x\r\n\r\n", 204, NULL},
    {"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 204, NULL},
    {"BREW /hello HTTP/1.1\r\nHost: x\r\n\r\n", 501, NULL},
    {"GET /fail/4 HTTP/1.1\r\nHost: x\r\n\r\n", 500, NULL},
    {"GET /fail/14 HTTP/1.1\r\nHost: x\r\n\r\n", 500, NULL},
    {"GET /fail/3 HTTP/1.1\r\nHost: x\r\n\r\n", 503, NULL},
    {"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 200,
     "abc"},
    {"PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 200, ""},
    {"POST /echo HTTP/1.1\r\nHost: x\r\n\r\n", 200, ""},
    {"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: 1\r\n\r\n",
     200, "abcde"},
    {"GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 200,
     "hello"},
    {GET_HELLO, 200, "hello"},
};

/* All on one connection: none of these ends it. */
START_TEST(table_on_one_connection)
{
    start();
    connect_one(c);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int status = client_ask(c, table[i].text, &reply);
        ck_assert_msg(status == table[i].status, "%s: %d", table[i].text,
                      status);
        ck_assert_msg(!reply.close, "%s", table[i].text);
        ck_assert_ptr_null(strstr(reply.head, "X-Leak"));
        if (table[i].body) {
            ck_assert_str_eq(reply.body, table[i].body);
        }
        ck_assert_int_eq(strstr(reply.head, "\r\nRetry-After: ") != NULL,
                         status == 503);
        ck_assert_int_eq(strstr(reply.head, "\r\nAllow: ") != NULL,
                         status == 405 || status == 204);
        client_reply_free(&reply);
    }
    ck_assert_uint_eq(server_counters(server).accepted, 1);
}
END_TEST

/* The same, byte by byte, with as many reads as can be had. */
START_TEST(table_in_pieces)
{
    start();
    connect_one(c);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        size_t len = strlen(table[i].text);
        for (size_t at = 0; at < len; at++) {
            ck_assert_int_eq(client_send(c, table[i].text + at, 1), 0);
        }
        int status =
            client_receive(c, &reply, strncmp(table[i].text, "HEAD ", 5) == 0);
        ck_assert_int_eq(status, table[i].status);
        if (table[i].body) {
            ck_assert_str_eq(reply.body, table[i].body);
        }
        client_reply_free(&reply);
        if (reply.close) { /* refused before its content was there */
            client_close(c);
            connect_one(c);
        }
    }
}
END_TEST

START_TEST(contents_of_every_size)
{
    static const size_t sizes[] = {1,     1000,  1328,  1329, 8191,
                                   20000, 32768, 65535, 65536};
    static char head[128];
    start();
    connect_one(c);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t len = sizes[i];
        snprintf(head, sizeof(head),
                 "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n"
                 "\r\n",
                 len);
        client_say(c, head);
        size_t cut = len / 3;
        client_send(c, fill, cut);
        if (i % 2) {
            uint64_t before = server_counters(server).received_bytes;
            EVENTUALLY(server_counters(server).reading == 1 ||
                       server_counters(server).received_bytes > before);
        }
        client_send(c, fill + cut, len - cut);
        ck_assert_int_eq(client_receive(c, &reply, 0), 200);
        ck_assert_uint_eq(reply.body_len, len);
        ck_assert(memcmp(reply.body, fill, len) == 0);
        client_reply_free(&reply);
    }
    /* The limit is 65536. */
    ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n", 413,
        NULL);
    ck_assert(client_at_end(c));
}
END_TEST

START_TEST(chunked_up_to_the_limit)
{
    char size[16];
    start();
    for (int over = 0; over <= 1; over++) {
        connect_one(c);
        client_say(c, "POST /echo HTTP/1.1\r\nHost: x\r\n"
                      "Transfer-Encoding: chunked\r\n\r\n");
        for (size_t at = 0; at < 65536; at += 4096) {
            client_say(c, "1000\r\n");
            client_send(c, fill + at, 4096);
            client_say(c, "\r\n");
        }
        snprintf(size, sizeof(size), "%s", over ? "1\r\nx\r\n" : "");
        client_say(c, size);
        client_say(c, "0\r\n\r\n");
        ck_assert_int_eq(client_receive(c, &reply, 0), over ? 413 : 200);
        if (!over) {
            ck_assert_uint_eq(reply.body_len, 65536);
            ck_assert(memcmp(reply.body, fill, 65536) == 0);
        }
        client_reply_free(&reply);
        client_close(c);
    }
}
END_TEST

/* --- readers that are late ----------------------------------------------------- */

START_TEST(large_answers_arrive_intact)
{
    static const char *const kinds[] = {"fill", "copy"};
    static const unsigned sizes[] = {4095,  4096,   4097,   9000,
                                     28000, 100000, 1048576};
    char text[128];
    start();
    connect_one(c);
    for (unsigned i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned size = sizes[i / 2];
        snprintf(text, sizeof(text),
                 "GET /%s/%u/%u HTTP/1.1\r\nHost: x\r\n\r\n", kinds[i % 2], i,
                 size);
        ck_assert_int_eq(client_ask(c, text, &reply), 200);
        ck_assert_uint_eq(reply.body_len, size);
        ck_assert(memcmp(reply.body, fill + i, size) == 0);
        client_reply_free(&reply);
    }
}
END_TEST

/* Reads a reply of `size` bytes bit by bit from a socket of few bytes. */
START_TEST(a_slow_reader_gets_every_byte)
{
    static const char *const kinds[] = {"fill", "copy"};
    enum { SIZE = 4 * 1024 * 1024 };
    struct restd_memory memory;
    char text[128];

    options.memory_budget_bytes = 32u << 20;
    start();
    ck_assert_int_eq(client_connect(c, port, 4096), 0);
    snprintf(text, sizeof(text), "GET /%s/7/%d HTTP/1.1\r\nHost: x\r\n\r\n",
             kinds[_i], SIZE);
    client_say(c, text);
    EVENTUALLY(server_counters(server).writing == 1);
    /* What the kernel has not taken is charged to the output. */
    restd_server_memory(server, &memory);
    for (unsigned i = 0; i < memory.owners_n; i++) {
        if (strcmp(memory.owners[i].name, "output") == 0) {
            ck_assert_uint_gt(memory.owners[i].live_bytes, 0);
        }
    }
    ck_assert_int_eq(client_receive(c, &reply, 0), 200);
    ck_assert_uint_eq(reply.body_len, SIZE);
    ck_assert(memcmp(reply.body, fill + 7, SIZE) == 0);
    client_reply_free(&reply);
    ask(GET_HELLO, 200, "hello");
    EVENTUALLY(server_counters(server).idle == 1);
    restd_server_memory(server, &memory);
    for (unsigned i = 0; i < memory.owners_n; i++) {
        if (strcmp(memory.owners[i].name, "output") == 0) {
            ck_assert_uint_eq(memory.owners[i].live_bytes, 0);
        }
    }
}
END_TEST

#define PIPELINED 2000
#define PIPELINED_BYTES 9000u

static void pipelined_text(int i, char *text, size_t size)
{
    if (i % 5 == 4) {
        snprintf(text, size,
                 "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n"
                 "%08d",
                 i);
    } else {
        snprintf(text, size, "GET /%s/%d/%u HTTP/1.1\r\nHost: x\r\n\r\n",
                 i % 2 ? "fill" : "copy", i, PIPELINED_BYTES + (unsigned)i);
    }
}

static void *send_pipelined(void *arg)
{
    char text[128];
    int rc = 0;
    for (int i = 0; i < PIPELINED && rc == 0; i++) {
        pipelined_text(i, text, sizeof(text));
        rc = client_say(arg, text);
    }
    return rc == 0 ? arg : NULL;
}

START_TEST(pipelined_answers_keep_their_order_when_paused)
{
    pthread_t thread;
    void *sent;
    options.output_high_bytes = 16384;
    options.output_low_bytes = 4096;
    start();
    ck_assert_int_eq(client_connect(c, port, 8192), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, send_pipelined, c), 0);

    /* Nobody reads: the server stops answering, and reading. */
    EVENTUALLY(server_counters(server).writing == 1);
    uint64_t before;
    uint64_t now = server_counters(server).requests;
    do {
        before = now;
        for (int i = 0; i < 50; i++) {
            pause_ms();
        }
        now = server_counters(server).requests;
    } while (now != before);
    ck_assert_uint_lt(now, PIPELINED);

    for (int i = 0; i < PIPELINED; i++) {
        char want[16];
        ck_assert_int_eq(client_receive(c, &reply, 0), 200);
        if (i % 5 == 4) {
            snprintf(want, sizeof(want), "%08d", i);
            ck_assert_str_eq(reply.body, want);
        } else {
            ck_assert_uint_eq(reply.body_len, PIPELINED_BYTES + (unsigned)i);
            ck_assert_msg(memcmp(reply.body, fill + i % 256, reply.body_len) ==
                              0,
                          "answer %d", i);
        }
        client_reply_free(&reply);
    }
    ck_assert_int_eq(pthread_join(thread, &sent), 0);
    ck_assert_ptr_nonnull(sent);
    ck_assert_uint_eq(server_counters(server).requests, PIPELINED);
    ask(GET_HELLO, 200, "hello");
}
END_TEST

START_TEST(half_closed_clients_are_answered)
{
    start();
    connect_one(c);
    client_say(c, GET_HELLO GET_HELLO);
    shutdown(c->fd, SHUT_WR);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(client_receive(c, &reply, 0), 200);
        client_reply_free(&reply);
    }
    ck_assert(client_at_end(c));
}
END_TEST

/* --- limits ---------------------------------------------------------------------- */

START_TEST(at_the_connection_limit_the_oldest_idle_one_goes)
{
    options.connections_max = 8;
    start();
    for (int i = 0; i < 8; i++) {
        connect_one(&clients[i]);
        ck_assert_int_eq(client_ask(&clients[i], GET_HELLO, &reply), 200);
        client_reply_free(&reply);
        /* Ages are told apart by ticks of 100 ms. */
        for (int ms = 0; i == 1 && ms < 250;) {
            ms += pause_ms();
        }
    }
    /* The first is in the middle of a request, so the second is the oldest. */
    client_say(&clients[0], "GET /he");
    EVENTUALLY(server_counters(server).reading == 1);
    connect_one(&clients[8]);
    ck_assert_int_eq(client_ask(&clients[8], GET_HELLO, &reply), 200);
    client_reply_free(&reply);
    ck_assert(client_at_end(&clients[1]));
    for (int i = 0; i < 9; i++) {
        if (i != 1) {
            ck_assert_int_eq(
                client_ask(&clients[i],
                           i ? GET_HELLO : "llo HTTP/1.1\r\nHost: x\r\n\r\n",
                           &reply),
                200);
            client_reply_free(&reply);
        }
    }
    struct restd_counters n = server_counters(server);
    ck_assert_uint_eq(n.accepted, 9);
    ck_assert_uint_eq(n.closed, 1);
    ck_assert_uint_eq(n.rejected, 0);
    ck_assert_uint_eq(n.active, 8);
}
END_TEST

START_TEST(at_the_connection_limit_with_none_idle)
{
    options.connections_max = 4;
    start();
    for (int i = 0; i < 4; i++) {
        connect_one(&clients[i]);
        client_say(&clients[i], "GET /he");
    }
    EVENTUALLY(server_counters(server).reading == 4);
    connect_one(&clients[4]);
    ck_assert_int_eq(client_receive(&clients[4], &reply, 0), 503);
    ck_assert(reply.close);
    ck_assert_ptr_nonnull(strstr(reply.head, "\r\nRetry-After: 1\r\n"));
    client_reply_free(&reply);
    ck_assert(client_at_end(&clients[4]));
    ck_assert_uint_eq(server_counters(server).rejected, 1);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(
            client_ask(&clients[i], "llo HTTP/1.1\r\nHost: x\r\n\r\n", &reply),
            200);
        client_reply_free(&reply);
    }
}
END_TEST

START_TEST(slow_heads_and_contents_time_out)
{
    static const char *const begun[] = {
        "GET /he",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na"};
    options.header_timeout_ms = 300;
    options.body_timeout_ms = 300;
    options.keepalive_timeout_ms = 300;
    start();
    for (int i = 0; i < 2; i++) {
        connect_one(&clients[i]);
        client_say(&clients[i], begun[i]);
        ck_assert_int_eq(client_receive(&clients[i], &reply, 0), 408);
        ck_assert(reply.close);
        client_reply_free(&reply);
        ck_assert(client_at_end(&clients[i]));
    }
    /* One that never said anything, and one that is idle. */
    connect_one(&clients[2]);
    connect_one(&clients[3]);
    ck_assert_int_eq(client_ask(&clients[3], GET_HELLO, &reply), 200);
    client_reply_free(&reply);
    ck_assert(client_at_end(&clients[2]));
    ck_assert(client_at_end(&clients[3]));
}
END_TEST

/* --- figures ----------------------------------------------------------------------- */

START_TEST(connections_are_dealt_in_turn)
{
    enum { N = 4, EACH = 10 };
    unsigned served[N] = {0};
    struct restd_loop_stats stats;

    options.workers = N;
    start();
    for (int i = 0; i < N * EACH; i++) {
        connect_one(&clients[i]);
        ck_assert_int_eq(client_ask(&clients[i],
                                    "GET /loop HTTP/1.1\r\nHost: x\r\n\r\n",
                                    &reply),
                         200);
        unsigned loop = (unsigned)strtoul(reply.body, NULL, 10);
        ck_assert_uint_lt(loop, N);
        served[loop]++;
        client_reply_free(&reply);
    }
    unsigned sum = 0;
    for (unsigned i = 0; i < N; i++) {
        ck_assert_int_eq(restd_server_loop_stats(server, i, &stats), 0);
        ck_assert_uint_eq(stats.counters.accepted, served[i]);
        ck_assert_uint_eq(stats.counters.requests, served[i]);
        ck_assert_int_gt(stats.tid, 0);
        /* A loop that is kept off the CPU for long is passed over. */
        ck_assert_uint_ge(served[i], EACH / 2);
        sum += served[i];
    }
    ck_assert_uint_eq(sum, N * EACH);
    ck_assert_int_eq(restd_server_loop_stats(server, N, &stats), RESTD_ENOENT);
}
END_TEST

static void check_sums(const struct restd_counters *n)
{
    ck_assert_uint_eq(n->active,
                      n->reading + n->processing + n->writing + n->idle);
    ck_assert_uint_eq(n->accepted - n->closed, n->active);
}

START_TEST(counters_add_up)
{
    static const char bad[] = "GET / HTTP/1.1\r\nHost : x\r\n\r\n";
    uint64_t sent = 0;
    uint64_t received = 0;
    uint64_t classes[5] = {0};

    start();
    connect_one(c);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int status = client_ask(c, table[i].text, &reply);
        sent += strlen(table[i].text);
        received += strlen(reply.head) + reply.body_len;
        classes[status / 100 - 1]++;
        client_reply_free(&reply);
    }
    /* Counted when the kernel has it, which the client may see sooner. */
    EVENTUALLY(server_counters(server).sent_bytes >= received);
    struct restd_counters n = server_counters(server);
    check_sums(&n);
    ck_assert_uint_eq(n.requests, sizeof(table) / sizeof(table[0]));
    ck_assert_uint_eq(n.received_bytes, sent);
    ck_assert_uint_eq(n.sent_bytes, received);
    for (int i = 0; i < 5; i++) {
        ck_assert_uint_eq(n.responses[i], classes[i]);
    }
    /* What is no request counts as an error and as a 4xx. */
    ck_assert_int_eq(client_ask(c, bad, &reply), 400);
    client_reply_free(&reply);
    ck_assert(client_at_end(c));
    /* One that leaves within a request, and one that never made any. */
    connect_one(&clients[1]);
    connect_one(&clients[2]);
    client_say(&clients[1], "POST /echo HTTP/1.1\r\nHost: x\r\n"
                            "Content-Length: 9\r\n\r\na");
    EVENTUALLY(server_counters(server).reading == 1);
    n = server_counters(server);
    ck_assert_uint_eq(n.requests_active, 1);
    client_reset(&clients[1]);
    client_close(&clients[2]);
    client_close(c);
    EVENTUALLY(server_counters(server).active == 0);
    n = server_counters(server);
    check_sums(&n);
    ck_assert_uint_eq(n.accepted, 3);
    ck_assert_uint_eq(n.closed, 3);
    ck_assert_uint_eq(n.parse_errors, 1);
    ck_assert_uint_eq(n.aborted, 1);
    ck_assert_uint_eq(n.requests_active, 0);
    ck_assert_uint_eq(n.responses[3], classes[3] + 1);
    ck_assert_uint_eq(n.timed_out, 0);
    ck_assert_uint_eq(n.rejected, 0);
}
END_TEST

START_TEST(counters_add_up_while_it_runs)
{
    /* Read at any moment: the sums of one reading belong together to within
     * what is under way. */
    options.workers = 2;
    start();
    for (int i = 0; i < 20; i++) {
        connect_one(&clients[i]);
    }
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 20; i++) {
            client_say(&clients[i], GET_HELLO);
            struct restd_counters n = server_counters(server);
            ck_assert_uint_eq(n.active,
                              n.reading + n.processing + n.writing + n.idle);
            ck_assert_uint_le(n.active, 20);
            ck_assert_uint_le(n.requests, 1000);
        }
        for (int i = 0; i < 20; i++) {
            ck_assert_int_eq(client_receive(&clients[i], &reply, 0), 200);
            client_reply_free(&reply);
        }
    }
    ck_assert_uint_eq(server_counters(server).requests, 1000);
    ck_assert_uint_eq(server_counters(server).accepted, 20);
}
END_TEST

START_TEST(latency_appears_with_the_sampler)
{
    struct restd_stats stats;
    start();
    restd_server_stats(server, &stats);
    ck_assert_uint_eq(stats.latency_count, 0);
    ck_assert(stats.latency_p50 < 0 && stats.latency_mean < 0);
    ck_assert_uint_eq(stats.workers, 1);
    connect_one(c);
    for (int i = 0; i < 10; i++) {
        ask(GET_HELLO, 200, "hello");
    }
    do {
        pause_ms();
        restd_server_stats(server, &stats);
    } while (stats.latency_count < 10);
    ck_assert_uint_eq(stats.latency_count, 10);
    ck_assert(stats.latency_min >= 0);
    ck_assert(stats.latency_p50 >= stats.latency_min);
    ck_assert(stats.latency_p999 >= stats.latency_p50);
    ck_assert(stats.latency_max >= stats.latency_p999);
    ck_assert(stats.per_second[0] >= 0 && stats.uptime_seconds > 0);
}
END_TEST

static void add_tests(TCase *tc)
{
    tcase_add_test(tc, a_handler_sees_the_request);
    tcase_add_test(tc, a_suspended_request_sees_the_same);
    tcase_add_test(tc, table_on_one_connection);
    tcase_add_test(tc, table_in_pieces);
    tcase_add_test(tc, contents_of_every_size);
    tcase_add_test(tc, chunked_up_to_the_limit);
    tcase_add_test(tc, large_answers_arrive_intact);
    tcase_add_loop_test(tc, a_slow_reader_gets_every_byte, 0, 2);
    tcase_add_test(tc, pipelined_answers_keep_their_order_when_paused);
    tcase_add_test(tc, half_closed_clients_are_answered);
    tcase_add_test(tc, at_the_connection_limit_the_oldest_idle_one_goes);
    tcase_add_test(tc, at_the_connection_limit_with_none_idle);
    tcase_add_test(tc, slow_heads_and_contents_time_out);
    tcase_add_test(tc, connections_are_dealt_in_turn);
    tcase_add_test(tc, counters_add_up);
    tcase_add_test(tc, counters_add_up_while_it_runs);
    tcase_add_test(tc, latency_appears_with_the_sampler);
}

int main(void)
{
    Suite *suite = suite_create("serving");
    TCase *tc = tcase_create("serving");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    add_tests(tc);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
