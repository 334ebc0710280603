/* SPDX-License-Identifier: MIT */
/* Replies that are sent piece by piece (restd/stream.h), by real sockets: how
 * they are framed, where they are ended or given up, who does not read, and
 * that `closed` and the after functions are called once whatever happens. */
#include <restd/restd.h>

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "site.h"
#include "streams.h"
#include "support/suite.h"

#define MANY 1000

static struct client clients[MANY];
static struct client *const c = &clients[0];
static struct content r;

static void set_up(void)
{
    site_set_up();
    for (size_t i = 0; i < MANY; i++) {
        clients[i].fd = -1;
    }
}

static void start(void)
{
    site_new();
    streams_add();
    site_start();
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
}

static void tear_down(void)
{
    for (size_t i = 0; i < MANY; i++) {
        client_close(&clients[i]);
    }
    site_tear_down();
}

static int ask(const char *query)
{
    char text[256];
    snprintf(text, sizeof(text), "GET /stream?%s HTTP/1.1\r\nHost: x\r\n\r\n",
             query);
    return content_ask(c, text, &r);
}

static void check_whole(uint64_t len)
{
    ck_assert_int_eq(r.status, 200);
    ck_assert(r.complete);
    ck_assert_uint_eq(r.len, len);
    ck_assert_uint_eq(r.bad, 0);
}

/* The connection takes a further request. */
static void check_goes_on(void)
{
    ck_assert_int_eq(
        content_ask(c, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n", &r), 200);
    ck_assert_str_eq(r.body, "plain");
}

static void wait_closed(int closed, int complete)
{
    EVENTUALLY(atomic_load(&seen.closed) == closed);
    ck_assert_int_eq(atomic_load(&seen.complete), complete);
}

/* --- framing --------------------------------------------------------------- */

START_TEST(chunked_and_the_connection_goes_on)
{
    static const unsigned lens[] = {0,     1,     999,    1000,   32767,
                                    32768, 65536, 100000, 262144, 1000000};
    static const unsigned pieces[] = {1000, 40000, 1000000};
    int n = 0;

    start();
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        for (size_t k = 0; k < 3; k++) {
            char query[100];
            snprintf(query, sizeof(query), "len=%u&piece=%u", lens[i],
                     pieces[k]);
            ask(query);
            check_whole(lens[i]);
            ck_assert(r.chunked && !r.length);
            ck_assert_ptr_nonnull(
                strstr(r.head, "\r\nContent-Type: application/x-pattern\r\n"));
            ck_assert_ptr_null(strstr(r.head, "\r\nConnection:"));
            n++;
            wait_closed(n, n);
            EVENTUALLY(atomic_load(&seen.content) == lens[i]);
            ck_assert_int_eq(atomic_load(&seen.status), 200);
        }
    }
    check_goes_on();
    client_close(c);
    site_at_rest();
    ck_assert_uint_eq(site_closed_by("peer"), 1);
}
END_TEST

START_TEST(of_http_1_0_the_end_of_the_connection_is_the_end)
{
    static const char *const asks[] = {
        "GET /stream?len=100000 HTTP/1.0\r\n\r\n",
        "GET /stream?len=100000&trailers HTTP/1.0\r\n\r\n",
        "GET /stream?len=100000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    };
    start();
    client_close(c);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(client_connect(c, site.port, 0), 0);
        content_ask(c, asks[i], &r);
        check_whole(100000);
        ck_assert(!r.chunked && !r.length && r.ended);
        ck_assert_ptr_nonnull(strstr(r.head, "\r\nConnection: close\r\n"));
        client_close(c);
        wait_closed(i + 1, i + 1);
    }
}
END_TEST

START_TEST(what_has_no_content_is_not_asked_for_any)
{
    static const char *const asks[] = {
        "HEAD /stream?len=1000 HTTP/1.1\r\nHost: x\r\n\r\n",
        "HEAD /stream?len=1000 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "GET /stream?len=1000&status=204 HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /stream?len=1000&status=304 HTTP/1.1\r\nHost: x\r\n\r\n",
        "HEAD /stream?len=1000&ended HTTP/1.1\r\nHost: x\r\n\r\n",
    };
    start();
    for (int i = 0; i < 5; i++) {
        content_ask(c, asks[i], &r);
        ck_assert_int_eq(r.status, i == 2 ? 204 : i == 3 ? 304 : 200);
        ck_assert_int_eq(r.chunked, i == 0 || i == 4);
        ck_assert(!r.length);
        check_goes_on();
        wait_closed(i + 1, i + 1);
    }
    client_close(c);
}
END_TEST

START_TEST(close_when_the_request_says_so)
{
    start();
    content_ask(c,
                "GET /stream?len=100000 HTTP/1.1\r\nHost: x\r\n"
                "Connection: close\r\n\r\n",
                &r);
    check_whole(100000);
    ck_assert(r.chunked);
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nConnection: close\r\n"));
    ck_assert(client_at_end(c));
    wait_closed(1, 1);
    site_at_rest();
    ck_assert_uint_eq(site_closed_by("done"), 1);
}
END_TEST

START_TEST(trailers_and_their_limits)
{
    start();
    ask("len=10&trailers");
    check_whole(10);
    ck_assert_int_eq(strncmp(r.trailers, "X-One: 1\r\nX-V: vvv", 18), 0);
    ck_assert_ptr_nonnull(strstr(r.trailers, "\r\nX-Two: \r\n"));
    ck_assert_uint_eq(strlen(r.trailers), 10 + 4 * 206 + 9);
    /* None are carried over. */
    ask("len=10");
    check_whole(10);
    ck_assert_str_eq(r.trailers, "");
    client_close(c);
    wait_closed(2, 2);
}
END_TEST

/* --- ends ------------------------------------------------------------------ */

START_TEST(ended_before_it_begins)
{
    start();
    ask("ended&len=5");
    check_whole(0);
    ck_assert(r.chunked);
    ask("ended&trailers");
    check_whole(0);
    ck_assert_int_eq(strncmp(r.trailers, "X-One", 5), 0);
    check_goes_on();
    client_close(c);
    wait_closed(2, 2);
}
END_TEST

START_TEST(ended_from_a_timer)
{
    static const char *const queries[] = {"len=0&timer", "len=100&timer",
                                          "len=3000000&timer&piece=100000"};
    static const unsigned lens[] = {0, 100, 3000000};
    start();
    for (int i = 0; i < 3; i++) {
        ask(queries[i]);
        check_whole(lens[i]);
    }
    check_goes_on();
    client_close(c);
    wait_closed(3, 3);
}
END_TEST

START_TEST(ended_from_the_handler_of_another_request)
{
    struct client *other = &clients[1];

    start();
    ck_assert_int_eq(client_say(c,
                                "GET /stream?len=10&hold&waiting HTTP/1.1\r\n"
                                "Host: x\r\n\r\n"),
                     0);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    ck_assert_int_eq(client_connect(other, site.port, 0), 0);
    ck_assert_int_eq(content_ask(other,
                                 "GET /release?len=2000000 HTTP/1.1\r\n"
                                 "Host: x\r\n\r\n",
                                 &r),
                     200);
    content_receive(c, &r, 0);
    check_whole(2000000);
    check_goes_on();
    client_close(c);
    client_close(other);
    wait_closed(1, 1);
}
END_TEST

START_TEST(a_request_behind_a_stream_waits_for_its_end)
{
    start();
    ck_assert_int_eq(
        client_say(c, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n"
                      "GET /stream?len=100000&timer HTTP/1.1\r\nHost: x\r\n\r\n"
                      "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n"
                      "GET /stream?len=5 HTTP/1.1\r\nHost: x\r\n\r\n"
                      "GET /stream?ended HTTP/1.1\r\nHost: x\r\n\r\n"
                      "HEAD /stream?len=7 HTTP/1.1\r\nHost: x\r\n\r\n"
                      "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n"),
        0);
    content_receive(c, &r, 0);
    ck_assert_str_eq(r.body, "plain");
    content_receive(c, &r, 0);
    check_whole(100000);
    content_receive(c, &r, 0);
    ck_assert_str_eq(r.body, "plain");
    content_receive(c, &r, 0);
    check_whole(5);
    content_receive(c, &r, 0);
    check_whole(0);
    content_receive(c, &r, 1);
    ck_assert_int_eq(r.status, 200);
    content_receive(c, &r, 0);
    ck_assert_str_eq(r.body, "plain");
    client_close(c);
    wait_closed(4, 4);
    ck_assert_uint_eq(server_counters(site.server).requests, 7);
}
END_TEST

START_TEST(a_half_closed_client_still_gets_it_all)
{
    start();
    ck_assert_int_eq(client_say(c, "GET /stream?len=3000000&timer HTTP/1.1\r\n"
                                   "Host: x\r\n\r\n"
                                   "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n"),
                     0);
    ck_assert_int_eq(shutdown(c->fd, SHUT_WR), 0);
    content_receive(c, &r, 0);
    check_whole(3000000);
    content_receive(c, &r, 0);
    ck_assert_str_eq(r.body, "plain");
    ck_assert(client_at_end(c));
    wait_closed(1, 1);
}
END_TEST

/* --- back-pressure --------------------------------------------------------- */

START_TEST(ten_megabytes_in_one_call_to_a_slow_reader)
{
    start();
    client_close(c);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(client_connect(c, site.port, 4096), 0);
        ask(i == 0 ? "len=10485760&piece=10485760" : "len=10485760&piece=777");
        check_whole(PATTERN_MAX);
        check_goes_on();
        client_close(c);
        wait_closed(i + 1, i + 1);
    }
    /* output_high, framing, and what chunks lose at their ends. */
    ck_assert_uint_lt(site_memory("output", 1), 65536 + 16384);
    ck_assert_uint_gt(site_memory("output", 1), 16384);
}
END_TEST

/* Whatever the kernel takes at once, the time runs for who reads nothing. */
START_TEST(who_never_reads_is_left)
{
    site.options.write_timeout_ms = 300;
    start();
    client_close(c);
    for (int i = 0; i < 16; i++) {
        ck_assert_int_eq(
            client_connect(&clients[i], site.port, 2048 + i * 30000), 0);
        ck_assert_int_eq(
            client_say(&clients[i],
                       "GET /stream?len=100000000&piece=10485760 HTTP/1.1\r\n"
                       "Host: x\r\n\r\n"),
            0);
    }
    wait_closed(16, 0);
    EVENTUALLY(atomic_load(&seen.aborted) == 16);
    ck_assert_uint_eq(site_closed_by("write_timeout"), 16);
}
END_TEST

/* A reader that takes all for longer than write_timeout is not without
 * progress. */
START_TEST(a_steady_reader_is_not_late)
{
    site.options.write_timeout_ms = 200;
    start();
    ask("len=400000000&piece=10485760");
    check_whole(400000000);
    client_close(c);
    wait_closed(1, 1);
}
END_TEST

/* --- given up -------------------------------------------------------------- */

START_TEST(given_up_the_content_is_cut)
{
    static const char *const queries[] = {
        "aborted&len=5",        /* in the handler */
        "abort&len=0",          /* in `ready` */
        "abort&len=1000",       /* behind what is in the scratch */
        "abort&len=200000",     /* behind what was sent */
        "abort&len=1000&timer", /* with nothing waiting */
        "abort&len=9000000&piece=10000000",
        "ended&aborted",
    };
    int n = (int)(sizeof(queries) / sizeof(queries[0]));

    start();
    client_close(c);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(client_connect(c, site.port, 0), 0);
        ask(queries[i]);
        ck_assert_int_eq(r.status, 200);
        ck_assert_msg(!r.complete && r.ended, "%s", queries[i]);
        ck_assert_uint_eq(r.bad, 0);
        client_close(c);
        wait_closed(i + 1, 0);
        EVENTUALLY(atomic_load(&seen.aborted) == i + 1);
    }
    site_at_rest();
    ck_assert_uint_eq(site_closed_by("truncated"), (unsigned)n);
}
END_TEST

START_TEST(given_up_from_elsewhere_while_the_client_waits)
{
    start();
    ck_assert_int_eq(client_say(c,
                                "GET /stream?len=10&hold&waiting HTTP/1.1\r\n"
                                "Host: x\r\n\r\n"),
                     0);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    ck_assert_int_eq(client_connect(&clients[1], site.port, 0), 0);
    ck_assert_int_eq(content_ask(&clients[1],
                                 "GET /release?abort HTTP/1.1\r\n"
                                 "Host: x\r\n\r\n",
                                 &r),
                     200);
    content_receive(c, &r, 0);
    ck_assert(!r.complete && r.ended);
    ck_assert_uint_eq(r.len, 10);
    client_close(c);
    client_close(&clients[1]);
    wait_closed(1, 0);
}
END_TEST

START_TEST(a_client_that_resets_is_told_once)
{
    start();
    client_close(c);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(client_connect(c, site.port, 4096), 0);
        ck_assert_int_eq(
            client_say(c, "GET /stream?len=100000000&piece=65536&misuse "
                          "HTTP/1.1\r\nHost: x\r\n\r\n"),
            0);
        char byte;
        ck_assert_int_eq(recv(c->fd, &byte, 1, 0), 1);
        client_reset(c);
        wait_closed(i + 1, 0);
        EVENTUALLY(atomic_load(&seen.aborted) == i + 1);
    }
    site_at_rest();
    ck_assert_uint_eq(site_closed_by("reset"), 10);
}
END_TEST

START_TEST(the_last_call_may_still_name_the_stream)
{
    start();
    ask("len=1000&misuse");
    check_whole(1000);
    check_goes_on();
    wait_closed(1, 1);
    ask("len=1000&misuse&dropped");
    ck_assert_str_eq(r.body, "instead");
    check_goes_on();
    wait_closed(2, 1);
    ask("len=1000&misuse&abort");
    ck_assert(!r.complete);
    wait_closed(3, 1);
    client_close(c);
}
END_TEST

/* --- no stream after all --------------------------------------------------- */

START_TEST(another_response_takes_its_place)
{
    static const char *const queries[] = {"dropped", "dropped&ended",
                                          "dropped&aborted", "dropped&timer",
                                          "dropped&trailers"};
    start();
    for (int i = 0; i < 5; i++) {
        ask(queries[i]);
        ck_assert_int_eq(r.status, 200);
        ck_assert(r.length && r.complete);
        ck_assert_str_eq(r.body, "instead");
        wait_closed(i + 1, 0);
        check_goes_on();
    }
    client_close(c);
    site_at_rest();
    ck_assert_int_eq(atomic_load(&seen.aborted), 0);
}
END_TEST

START_TEST(an_error_of_its_handler_takes_its_place)
{
    static const char *const queries[] = {"fails", "fails&ended",
                                          "fails&aborted", "fails&timer"};
    start();
    for (int i = 0; i < 4; i++) {
        ask(queries[i]);
        ck_assert_int_eq(r.status, 500);
        ck_assert(r.complete);
        wait_closed(i + 1, 0);
        check_goes_on();
    }
    client_close(c);
    site_at_rest();
    ck_assert_int_eq(atomic_load(&seen.aborted), 0);
}
END_TEST

/* The same when the content of the request has come in pieces. */
START_TEST(streams_behind_a_content_in_pieces)
{
    static const struct {
        const char *query;
        int status, complete;
        unsigned len;
    } cases[] = {
        {"len=100000", 200, 1, 100000},
        {"ended", 200, 1, 0},
        {"fails", 500, 0, 0},
        {"fails&ended", 500, 0, 0},
        {"fails&aborted", 500, 0, 0},
        {"dropped", 200, 0, 0},
        {"dropped&ended", 200, 0, 0},
        {"dropped&misuse", 200, 0, 0},
        {"len=1000&timer", 200, 1, 1000},
    };
    int complete = 0;

    start();
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); i++) {
        char text[200];
        snprintf(text, sizeof(text),
                 "POST /stream?%s HTTP/1.1\r\nHost: x\r\n"
                 "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n",
                 cases[i].query);
        ck_assert_int_eq(client_say(c, text), 0);
        EVENTUALLY(server_counters(site.server).requests_active == 1);
        ck_assert_int_eq(client_say(c, "0\r\n\r\nGET /plain HTTP/1.1\r\n"
                                       "Host: x\r\n\r\n"),
                         0);
        ck_assert_int_eq(content_receive(c, &r, 0), cases[i].status);
        ck_assert_msg(r.complete, "%s", cases[i].query);
        if (cases[i].complete) {
            check_whole(cases[i].len);
        }
        complete += cases[i].complete;
        content_receive(c, &r, 0);
        ck_assert_str_eq(r.body, "plain");
        wait_closed(i + 1, complete);
        EVENTUALLY(server_counters(site.server).requests_active == 0);
    }
    client_close(c);
}
END_TEST

/* --- many, and the end of the server --------------------------------------- */

START_TEST(a_thousand_at_once_leave_nothing_behind)
{
    site.options.memory_budget_bytes = 40u * 1024 * 1024;
    start();
    client_close(c);
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(client_connect(&clients[i], site.port, 4096), 0);
        ck_assert_int_eq(
            client_say(&clients[i],
                       i % 2 ? "GET /stream?len=30000&piece=30000 HTTP/1.1\r\n"
                               "Host: x\r\n\r\n"
                             : "GET /stream?len=100&hold HTTP/1.1\r\n"
                               "Host: x\r\n\r\n"),
            0);
    }
    EVENTUALLY(server_counters(site.server).requests == MANY);
    ck_assert_uint_ge(server_counters(site.server).requests_active, MANY / 2);
    ck_assert_uint_ge(site_memory("requests", 0), MANY / 2 * 1000);
    ck_assert_uint_le(site_memory("requests", 1), MANY * 1400);
    for (int i = 1; i < MANY; i += 2) {
        content_receive(&clients[i], &r, 0);
        check_whole(30000);
    }
    wait_closed(MANY / 2, MANY / 2);
    for (int i = 0; i < MANY; i++) {
        client_reset(&clients[i]);
    }
    /* Those that have nothing to send see a reset only when they are ended. */
    restd_server_stop(site.server);
    wait_closed(MANY, MANY / 2);
    ck_assert_uint_eq(site_memory("requests", 0), 0);
    ck_assert_uint_eq(site_memory("output", 0), 0);
}
END_TEST

START_TEST(a_drain_lets_it_come_to_its_end)
{
    start();
    ck_assert_int_eq(
        client_say(c, "GET /stream?len=9000000&piece=65536 HTTP/1.1\r\n"
                      "Host: x\r\n\r\n"),
        0);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    restd_server_drain(site.server);
    EVENTUALLY(restd_server_state(site.server) == RESTD_STATE_DRAINING);
    content_receive(c, &r, 0);
    check_whole(9000000);
    ck_assert(client_at_end(c));
    restd_server_wait(site.server);
    wait_closed(1, 1);
}
END_TEST

START_TEST(a_stop_gives_it_up)
{
    start();
    ck_assert_int_eq(client_connect(&clients[1], site.port, 4096), 0);
    ck_assert_int_eq(client_say(c, "GET /stream?len=10&hold HTTP/1.1\r\n"
                                   "Host: x\r\n\r\n"),
                     0);
    ck_assert_int_eq(client_say(&clients[1],
                                "GET /stream?len=9000000&piece=65536 "
                                "HTTP/1.1\r\nHost: x\r\n\r\n"),
                     0);
    EVENTUALLY(server_counters(site.server).requests_active == 2);
    restd_server_stop(site.server);
    wait_closed(2, 0);
    ck_assert_int_eq(atomic_load(&seen.aborted), 2);
    content_receive(c, &r, 0);
    ck_assert(!r.complete && r.ended);
}
END_TEST

START_TEST(the_hard_end_of_a_drain_gives_it_up)
{
    site.options.drain_timeout_ms = 300;
    start();
    ck_assert_int_eq(client_say(c, "GET /stream?len=10&hold HTTP/1.1\r\n"
                                   "Host: x\r\n\r\n"),
                     0);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    restd_server_drain(site.server);
    restd_server_wait(site.server);
    wait_closed(1, 0);
    ck_assert_int_eq(atomic_load(&seen.aborted), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("streams");
    TCase *tc = tcase_create("streams");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, chunked_and_the_connection_goes_on);
    tcase_add_test(tc, of_http_1_0_the_end_of_the_connection_is_the_end);
    tcase_add_test(tc, what_has_no_content_is_not_asked_for_any);
    tcase_add_test(tc, close_when_the_request_says_so);
    tcase_add_test(tc, trailers_and_their_limits);
    tcase_add_test(tc, ended_before_it_begins);
    tcase_add_test(tc, ended_from_a_timer);
    tcase_add_test(tc, ended_from_the_handler_of_another_request);
    tcase_add_test(tc, a_request_behind_a_stream_waits_for_its_end);
    tcase_add_test(tc, a_half_closed_client_still_gets_it_all);
    tcase_add_test(tc, ten_megabytes_in_one_call_to_a_slow_reader);
    tcase_add_test(tc, who_never_reads_is_left);
    tcase_add_test(tc, a_steady_reader_is_not_late);
    tcase_add_test(tc, given_up_the_content_is_cut);
    tcase_add_test(tc, given_up_from_elsewhere_while_the_client_waits);
    tcase_add_test(tc, a_client_that_resets_is_told_once);
    tcase_add_test(tc, the_last_call_may_still_name_the_stream);
    tcase_add_test(tc, another_response_takes_its_place);
    tcase_add_test(tc, an_error_of_its_handler_takes_its_place);
    tcase_add_test(tc, streams_behind_a_content_in_pieces);
    tcase_add_test(tc, a_thousand_at_once_leave_nothing_behind);
    tcase_add_test(tc, a_drain_lets_it_come_to_its_end);
    tcase_add_test(tc, a_stop_gives_it_up);
    tcase_add_test(tc, the_hard_end_of_a_drain_gives_it_up);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
