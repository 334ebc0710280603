/* SPDX-License-Identifier: MIT */
/* How a drain goes: its delay, the spread of its closes, what streams are told,
 * and its receipt. */
#include <restd/restd.h>

#include <check.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "site.h"
#include "support/suite.h"

#define GET_HELLO "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
#define HALF "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\na"
#define MANY 60

static struct client clients[MANY];
static struct reply reply;
static struct content content;
static char last[160]; /* line of the log; the writer has ended when read */

static void log_last(enum restd_log_level level, int64_t time_unix_ms,
                     const char *line, void *data)
{
    (void)level;
    (void)time_unix_ms;
    (void)data;
    snprintf(last, sizeof(last), "%s", line);
}

static void stream_closed(struct restd_stream *stream, int complete, void *data)
{
    (void)stream;
    (void)data;
    atomic_fetch_add(&seen.closed, 1);
    atomic_fetch_add(&seen.complete, complete);
}

static int events(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    struct restd_stream_ops ops = {sizeof(ops), NULL, stream_closed};

    (void)request;
    (void)data;
    return restd_response_events(response, &ops, NULL, 0, NULL);
}

static int hold(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_stream_ops ops = {sizeof(ops), NULL, stream_closed};

    (void)request;
    (void)data;
    return restd_response_stream(response, &ops, NULL, NULL);
}

static void start(void)
{
    struct restd_error error = {0, 0, ""};

    site.options.log = log_last;
    site.options.log_level = RESTD_LOG_DEBUG;
    site_new();
    ck_assert_int_eq(server_routes(site.server, &error), 0);
    site_add("GET", "/events", events, 0, 0);
    site_add("GET", "/hold", hold, 0, 0);
    site_start();
}

static void connect_one(unsigned i)
{
    ck_assert_int_eq(client_connect(&clients[i], site.port, 0), 0);
}

/* Takes nothing before it is read. */
static void connect_narrow(unsigned i)
{
    struct restd_error error;
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ck_assert_int_eq(restd_server_adopt(site.server, pair[1], 0, &error), 0);
    clients[i] = (struct client){.fd = pair[0]};
}

static int says_close(unsigned i)
{
    ck_assert_int_eq(client_ask(&clients[i], GET_HELLO, &reply), 200);
    client_reply_free(&reply);
    return reply.close;
}

static void begin_drain(void)
{
    restd_server_drain(site.server);
    EVENTUALLY(restd_server_state(site.server) == RESTD_STATE_DRAINING);
}

/* The receipt, in figures and as the last line of the log. */
static void check_receipt(unsigned finished, unsigned cut)
{
    struct restd_stats stats;
    char line[sizeof(last)];

    restd_server_wait(site.server);
    restd_server_stats(site.server, &stats);
    ck_assert_uint_eq(stats.drain_finished, finished);
    ck_assert_uint_eq(stats.drain_cut, cut);
    snprintf(line, sizeof(line), "drained: %u requests finished, %u cut",
             finished, cut);
    ck_assert_str_eq(last, line);
}

START_TEST(the_delay_goes_on_as_before)
{
    site.options.shutdown_delay_ms = 1500;
    start();
    connect_one(0);
    ck_assert(!says_close(0));
    begin_drain();
    ck_assert(!says_close(0));
    connect_one(1);
    ck_assert(!says_close(1));
    EVENTUALLY(says_close(0));
    ck_assert(client_at_end(&clients[0]));
    ck_assert(client_at_end(&clients[1]));
    EVENTUALLY(client_get(site.port, "/hello", NULL, 0) == 0);
    restd_server_wait(site.server);
}
END_TEST

START_TEST(a_stop_within_the_delay)
{
    site.options.shutdown_delay_ms = 3600000;
    start();
    connect_one(0);
    connect_one(1);
    client_say(&clients[0], HALF);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    ck_assert(!says_close(1));
    begin_drain();
    ck_assert(!says_close(1));
    ck_assert(!says_close(1));
    restd_server_stop(site.server);
    check_receipt(2, 1);
}
END_TEST

START_TEST(no_delay_for_who_has_passed_its_sockets_on)
{
    site.options.shutdown_delay_ms = 3600000;
    start();
    restd_server_keep_paths(site.server, 1);
    restd_server_drain(site.server);
    check_receipt(0, 0);
}
END_TEST

/* Begun before or after: what is answered counts, once. */
START_TEST(what_was_finished)
{
    site.options.drain_silence_ms = 1000;
    start();
    for (unsigned i = 0; i < 4; i++) {
        if (i == 1) {
            connect_narrow(i);
        } else {
            connect_one(i);
        }
        ck_assert(!says_close(i));
    }
    client_say(&clients[0], HALF);
    client_say(&clients[1], "GET /fill/0/4000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    EVENTUALLY(server_counters(site.server).requests_active == 2);
    begin_drain();
    /* The state is known before the loops have been told. */
    EVENTUALLY(says_close(2));
    ck_assert_int_eq(client_ask(&clients[0], "bcd", &reply), 200);
    client_reply_free(&reply);
    ck_assert_int_eq(client_receive(&clients[1], &reply, 0), 200);
    ck_assert_uint_eq(reply.body_len, 4000000);
    client_reply_free(&reply);
    ck_assert(client_at_end(&clients[3]));
    check_receipt(3, 0);
}
END_TEST

START_TEST(what_was_cut)
{
    site.options.drain_timeout_ms = 500;
    start();
    for (unsigned i = 0; i < 5; i++) {
        if (i == 3) {
            connect_narrow(i);
        } else {
            connect_one(i);
        }
    }
    client_say(&clients[0], HALF);
    client_say(&clients[1], "GET /hel");
    client_say(&clients[2], "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    client_say(&clients[3], "GET /fill/0/4000000 HTTP/1.1\r\nHost: x\r\n\r\n");
    /* One that leaves by itself is neither. */
    client_say(&clients[4], HALF);
    EVENTUALLY(server_counters(site.server).requests_active == 4);
    EVENTUALLY(server_counters(site.server).active == 5);
    EVENTUALLY(server_counters(site.server).idle == 0);
    begin_drain();
    client_reset(&clients[4]);
    check_receipt(0, 4);
}
END_TEST

START_TEST(the_second_stop_cuts_at_once)
{
    start();
    connect_one(0);
    client_say(&clients[0], "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    begin_drain();
    restd_server_stop(site.server);
    restd_server_stop(site.server);
    check_receipt(0, 1);
}
END_TEST

START_TEST(listeners_to_events_are_told)
{
    start();
    connect_one(0);
    connect_one(1);
    for (unsigned i = 0; i < 2; i++) {
        client_say(&clients[i], "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    EVENTUALLY(server_counters(site.server).requests_active == 2);
    begin_drain();
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(content_receive(&clients[i], &content, 0), 200);
        ck_assert(content.complete);
        ck_assert_str_eq(content.body, "event: bye\ndata: draining\n\n");
    }
    check_receipt(2, 0);
    ck_assert_int_eq(atomic_load(&seen.complete), 2);
}
END_TEST

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* No half of the time sees more than three quarters of the closes. */
START_TEST(closes_are_spread)
{
    double begin;
    unsigned early = 0;
    site.options.drain_silence_ms = 100;
    site.options.close_spread_ms = 2000;
    start();
    for (unsigned i = 0; i < MANY; i++) {
        connect_one(i);
        ck_assert(!says_close(i));
    }
    begin = now();
    begin_drain();
    struct pollfd fds[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        fds[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
    }
    for (unsigned left = MANY; left > 0;) {
        ck_assert_int_gt(poll(fds, MANY, CLIENT_WAIT_S * 1000), 0);
        for (unsigned i = 0; i < MANY; i++) {
            if (fds[i].revents) {
                fds[i].fd = -1;
                left--;
                early += now() - begin < 1.1;
            }
        }
    }
    ck_assert_uint_le(early, MANY * 3 / 4);
    ck_assert_double_ge(now() - begin, 1.6);
    check_receipt(0, 0);
}
END_TEST

static void tear_down(void)
{
    for (unsigned i = 0; i < MANY; i++) {
        if (clients[i].fd > 0) {
            client_close(&clients[i]);
        }
    }
    memset(clients, 0, sizeof(clients));
    site_tear_down();
}

int main(void)
{
    Suite *suite = suite_create("drain");
    TCase *tc = tcase_create("drain");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, site_set_up, tear_down);
    tcase_add_test(tc, the_delay_goes_on_as_before);
    tcase_add_test(tc, a_stop_within_the_delay);
    tcase_add_test(tc, no_delay_for_who_has_passed_its_sockets_on);
    tcase_add_test(tc, what_was_finished);
    tcase_add_test(tc, what_was_cut);
    tcase_add_test(tc, the_second_stop_cuts_at_once);
    tcase_add_test(tc, listeners_to_events_are_told);
    tcase_add_test(tc, closes_are_spread);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
