/* SPDX-License-Identifier: MIT */
/* Contents that are taken piece by piece (restd/stream.h), by real sockets: in
 * every framing and cut, held and let go, refused at any place, echoed while
 * they come, and left by their client. */
#include <restd/restd.h>

#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "site.h"
#include "support/suite.h"
#include "takers.h"

#define MIB (1024u * 1024)
#define ECHO_BYTES (50u * MIB)

static struct client clients[4];
static struct client *const c = &clients[0];
static struct content r;

/* --- fixture --------------------------------------------------------------- */

static void set_up(void)
{
    site_set_up();
    for (size_t i = 0; i < 4; i++) {
        clients[i].fd = -1;
    }
}

static void start(void)
{
    site_new();
    takers_add();
    site_start();
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
}

static void tear_down(void)
{
    for (size_t i = 0; i < 4; i++) {
        client_close(&clients[i]);
    }
    site_tear_down();
}

static void say_head(const char *path, const char *fields)
{
    char text[512];
    snprintf(text, sizeof(text), "POST %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path,
             fields);
    ck_assert_int_eq(client_say(c, text), 0);
}

static void say_length(const char *path, uint64_t len)
{
    char field[64];
    snprintf(field, sizeof(field), "Content-Length: %llu\r\n",
             (unsigned long long)len);
    say_head(path, field);
}

/* Bytes from..to of the pattern; 0 if the server stops listening. */
static int say_pattern(uint64_t from, uint64_t to)
{
    while (from < to) {
        size_t n = to - from < MIB ? (size_t)(to - from) : MIB;
        if (client_send(c, pattern + from % PERIOD, n) != 0) {
            return 0;
        }
        from += n;
    }
    return 1;
}

static void check_taken(const char *path, uint64_t len)
{
    char want[64];
    snprintf(want, sizeof(want), "%s %llu 0", path, (unsigned long long)len);
    ck_assert_int_eq(content_receive(c, &r, 0), 201);
    ck_assert_str_eq(r.body, want);
}

static void check_goes_on(void)
{
    ck_assert_int_eq(
        content_ask(c, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n", &r), 200);
    ck_assert_str_eq(r.body, "plain 0");
}

static void wait_closed(int uploads, int complete)
{
    EVENTUALLY(atomic_load(&seen.uploads) == uploads);
    ck_assert_int_eq(atomic_load(&seen.uploads_complete), complete);
}

static void reconnect(void)
{
    client_close(c);
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
}

/* --- framing --------------------------------------------------------------- */

START_TEST(by_content_length)
{
    static const unsigned lens[] = {0, 1, 100, 20000, 65536, 70000, 1048576};
    start();
    for (int i = 0; i < 7; i++) {
        say_length("/take?k=v", lens[i]);
        ck_assert(say_pattern(0, lens[i]));
        check_taken("/take", lens[i]);
        check_goes_on();
        wait_closed(i + 1, i + 1);
    }
    client_close(c);
}
END_TEST

START_TEST(without_content)
{
    start();
    ck_assert_int_eq(
        content_ask(c, "GET /take HTTP/1.1\r\nHost: x\r\n\r\n", &r), 201);
    ck_assert_str_eq(r.body, "/take 0 0");
    say_head("/take?gate", "");
    EVENTUALLY(server_counters(site.server).requests == 2);
    atomic_store(&gate, 1);
    check_taken("/take", 0);
    say_head("/take", "Transfer-Encoding: chunked\r\n");
    ck_assert_int_eq(client_say(c, "0\r\n\r\n"), 0);
    check_taken("/take", 0);
    check_goes_on();
    client_close(c);
    wait_closed(3, 3);
}
END_TEST

/* Each cut arrives alone: the server has seen the first part by itself. */
START_TEST(cut_at_every_place)
{
    static char text[] = "POST /take HTTP/1.1\r\nHost: x\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n"
                         "5;ext=\"a\"\r\n.....\r\n1\r\n.\r\n0\r\nA: b\r\n\r\n"
                         "POST /take HTTP/1.1\r\nHost: x\r\n"
                         "Content-Length: 6\r\n\r\n......"
                         "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n";
    size_t len = sizeof(text) - 1;
    int n = 0;

    /* The dots become the pattern, 0 to 5, twice; not that of HTTP/1.1. */
    for (size_t i = 1; i < len; i++) {
        if (text[i] == '.' && text[i - 1] != '1') {
            text[i] = (char)(n++ % 6);
        }
    }
    ck_assert_int_eq(n, 12);
    start();
    for (size_t cut = 1; cut < len; cut++) {
        uint64_t before = server_counters(site.server).received_bytes;
        ck_assert_int_eq(client_send(c, text, cut), 0);
        EVENTUALLY(server_counters(site.server).received_bytes == before + cut);
        ck_assert_int_eq(client_send(c, text + cut, len - cut), 0);
        check_taken("/take", 6);
        check_taken("/take", 6);
        ck_assert_int_eq(content_receive(c, &r, 0), 200);
    }
    client_close(c);
    n = 2 * ((int)len - 1);
    wait_closed(n, n);
}
END_TEST

START_TEST(byte_by_byte)
{
    start();
    say_length("/take", 300);
    for (uint64_t i = 0; i < 300; i++) {
        ck_assert(say_pattern(i, i + 1));
    }
    check_taken("/take", 300);
    client_close(c);
    wait_closed(1, 1);
}
END_TEST

START_TEST(pipelined_requests_are_answered_in_order)
{
    start();
    say_length("/take?pause", 5);
    ck_assert_int_eq(client_send(c, pattern, 5), 0);
    say_length("/plain", 3);
    ck_assert_int_eq(client_say(c, "abc"), 0);
    say_head("/take", "Transfer-Encoding: chunked\r\n");
    ck_assert_int_eq(client_send(c, "1\r\n\0\r\n0\r\n\r\n", 11), 0);
    ck_assert_int_eq(client_say(c, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n"),
                     0);
    check_taken("/take", 5);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_str_eq(r.body, "plain 3");
    check_taken("/take", 1);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_str_eq(r.body, "plain 0");
    client_close(c);
    wait_closed(2, 2);
}
END_TEST

START_TEST(the_end_of_a_half_closed_client_is_seen)
{
    start();
    say_length("/take?pause", 100000);
    ck_assert(say_pattern(0, 100000));
    ck_assert_int_eq(shutdown(c->fd, SHUT_WR), 0);
    check_taken("/take", 100000);
    ck_assert(client_at_end(c));
    wait_closed(1, 1);
}
END_TEST

/* --- Expect ---------------------------------------------------------------- */

START_TEST(it_is_asked_to_continue_only_if_it_is_wanted)
{
    start();
    say_head("/take", "Content-Length: 3\r\nExpect: 100-continue\r\n");
    ck_assert_int_eq(content_receive(c, &r, 0), 100);
    ck_assert_int_eq(client_send(c, pattern, 3), 0);
    check_taken("/take", 3);
    say_head("/take?refuse", "Content-Length: 3\r\nExpect: 100-continue\r\n");
    ck_assert_int_eq(content_receive(c, &r, 0), 403);
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nConnection: close\r\n"));
    ck_assert(client_at_end(c));
    reconnect();
    say_head("/take?error=5", "Content-Length: 3\r\nExpect: 100-continue\r\n");
    ck_assert_int_eq(content_receive(c, &r, 0), 500);
    ck_assert(client_at_end(c));
    reconnect();
    /* Who does not wait is not told. */
    say_head("/take", "Content-Length: 3\r\nExpect: 100-continue\r\n"
                      "\r\nabc"
                      "GET /plain HTTP/1.1\r\nHost: x\r\n");
    ck_assert_int_eq(content_receive(c, &r, 0), 201);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    client_close(c);
    wait_closed(3, 2);
}
END_TEST

START_TEST(continue_comes_before_a_reply_under_way)
{
    start();
    say_head("/echo", "Content-Length: 3\r\nExpect: 100-continue\r\n");
    ck_assert_int_eq(content_receive(c, &r, 0), 100);
    ck_assert_int_eq(client_send(c, pattern, 3), 0);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_uint_eq(r.len, 3);
    ck_assert(r.complete && r.bad == 0);
    check_goes_on();
    client_close(c);
    wait_closed(1, 1);
}
END_TEST

/* --- held ------------------------------------------------------------------ */

START_TEST(held_in_each_piece)
{
    start();
    say_length("/take?pause", 500000);
    ck_assert(say_pattern(0, 500000));
    check_taken("/take", 500000);
    say_head("/take?pause", "Transfer-Encoding: chunked\r\n");
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_int_eq(client_say(c, "2000\r\n"), 0);
        ck_assert(say_pattern(i * 8192u, (i + 1) * 8192u));
        ck_assert_int_eq(client_say(c, "\r\n"), 0);
    }
    ck_assert_int_eq(client_say(c, "0\r\n\r\n"), 0);
    check_taken("/take", 819200);
    check_goes_on();
    client_close(c);
    wait_closed(2, 2);
}
END_TEST

/* Bytes that can be sent while nobody takes them. */
static uint64_t send_until_full(uint64_t max)
{
    struct pollfd p = {c->fd, POLLOUT, 0};
    uint64_t at = 0;

    while (at < max && poll(&p, 1, 300) == 1) {
        ssize_t n = send(c->fd, pattern + at % PERIOD, 65536,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        ck_assert_int_gt(n, 0);
        at += (uint64_t)n;
    }
    return at;
}

START_TEST(held_by_its_handler_the_window_holds_the_client)
{
    uint64_t len = 60u * MIB;

    start();
    say_length("/big?gate", len);
    uint64_t at = send_until_full(len);
    ck_assert_uint_lt(at, 20u * MIB); /* the kernel's buffers, no more */
    ck_assert_uint_eq(atomic_load(&taken), 0);
    ck_assert_uint_lt(site_memory("input", 1), 65536);
    ck_assert_uint_eq(server_counters(site.server).processing, 1);
    atomic_store(&gate, 1);
    ck_assert(say_pattern(at, len));
    check_taken("/big", len);
    client_close(c);
    wait_closed(1, 1);
}
END_TEST

START_TEST(held_by_its_handler_with_content_at_hand)
{
    start();
    say_head("/take?gate", "Content-Length: 10\r\n\r\nabcde");
    ck_assert_int_eq(client_say(c, "fgh"), 0); /* 2 were the empty line */
    EVENTUALLY(server_counters(site.server).processing == 1);
    ck_assert_uint_eq(atomic_load(&taken), 0);
    atomic_store(&gate, 1);
    ck_assert_int_eq(content_receive(c, &r, 0), 201);
    ck_assert_int_eq(strncmp(r.body, "/take 10 ", 9), 0);
    check_goes_on();
    client_close(c);
    wait_closed(1, 1);
}
END_TEST

START_TEST(held_from_elsewhere_at_once)
{
    start();
    say_length("/take?turned", 20);
    ck_assert(say_pattern(0, 10));
    EVENTUALLY(atomic_load(&taken) == 10);
    atomic_store(&gate, 1);
    EVENTUALLY(atomic_load(&seen.last) == 1);
    ck_assert(say_pattern(10, 20));
    /* The loop has been round when it has answered this. */
    ck_assert_int_eq(client_connect(&clients[1], site.port, 0), 0);
    ck_assert_int_eq(
        content_ask(&clients[1], "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n", &r),
        200);
    ck_assert_uint_eq(atomic_load(&taken), 10);
    ck_assert_uint_eq(server_counters(site.server).processing, 1);
    atomic_store(&gate, 2);
    check_taken("/take", 20);
    client_close(c);
    client_close(&clients[1]);
    wait_closed(1, 1);
}
END_TEST

START_TEST(held_it_is_not_late)
{
    site.options.body_timeout_ms = 200;
    site.options.body_rate_grace_ms = 200;
    start();
    say_length("/take?gate", 10);
    ck_assert(say_pattern(0, 5));
    EVENTUALLY(server_counters(site.server).processing == 1);
    /* Longer than it might be silent, by the server's own clock. */
    ck_assert_int_eq(client_connect(&clients[1], site.port, 0), 0);
    ck_assert_int_eq(client_say(&clients[1],
                                "POST /take HTTP/1.1\r\nHost: x\r\n"
                                "Content-Length: 10\r\n\r\n"),
                     0);
    ck_assert_int_eq(content_receive(&clients[1], &r, 0), 408);
    ck_assert_uint_eq(server_counters(site.server).processing, 1);
    atomic_store(&gate, 1);
    ck_assert(say_pattern(5, 10));
    check_taken("/take", 10);
    client_close(c);
    client_close(&clients[1]);
    wait_closed(2, 1);
}
END_TEST

/* --- refused --------------------------------------------------------------- */

START_TEST(a_taker_refuses_at_any_piece)
{
    static const struct {
        int error, status;
    } errors[] = {{-RESTD_EINVAL, 400},
                  {-RESTD_ELIMIT, 413},
                  {-RESTD_ENOMEM, 503},
                  {-RESTD_ESTATE, 500},
                  {-RESTD_EOS, 500}};
    static const unsigned at[] = {1, 100000, 200000};
    int n = 0;

    start();
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 6; k++) {
            char path[100];
            snprintf(path, sizeof(path), "/take?misuse&fail=%d&at=%u",
                     errors[i].error, at[k % 3]);
            if (k < 3) {
                say_length(path, 200000);
                (void)say_pattern(0, 200000);
            } else {
                say_head(path, "Transfer-Encoding: chunked\r\n");
                (void)client_say(c, "30d40\r\n");
                (void)say_pattern(0, 200000);
                (void)client_say(c, "\r\n0\r\n\r\n");
            }
            ck_assert_int_eq(content_receive(c, &r, 0), errors[i].status);
            ck_assert_ptr_nonnull(strstr(r.head, "\r\nConnection: close\r\n"));
            ck_assert(r.complete);
            reconnect();
            n++;
            wait_closed(n, 0);
            EVENTUALLY(atomic_load(&seen.after) == n);
            ck_assert_int_eq(atomic_load(&seen.status), errors[i].status);
        }
    }
    client_close(c);
    ck_assert_int_eq(atomic_load(&seen.aborted), 0);
}
END_TEST

START_TEST(an_error_in_an_echo_cuts_it)
{
    start();
    say_length("/echo?fail=1&at=5", 100);
    ck_assert(say_pattern(0, 10));
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert(!r.complete && r.ended);
    reconnect();
    wait_closed(1, 0);
    EVENTUALLY(atomic_load(&seen.aborted) == 1);
    say_length("/echo?error=1", 100);
    ck_assert_int_eq(content_receive(c, &r, 0), 500);
    ck_assert(r.complete);
    ck_assert(client_at_end(c));
    wait_closed(2, 0);
    ck_assert_int_eq(atomic_load(&seen.closed), 2);
    ck_assert_int_eq(atomic_load(&seen.complete), 0);
}
END_TEST

START_TEST(what_its_end_says_is_the_reply)
{
    start();
    say_length("/take?end=1", 3);
    ck_assert(say_pattern(0, 3));
    ck_assert_int_eq(content_receive(c, &r, 0), 500);
    check_goes_on();
    /* Without an end there is no reply: not to be waited for. */
    say_length("/take?endless", 3);
    ck_assert(say_pattern(0, 3));
    ck_assert_int_eq(content_receive(c, &r, 0), 500);
    check_goes_on();
    client_close(c);
    wait_closed(2, 2);
}
END_TEST

START_TEST(a_handler_that_takes_nothing)
{
    start();
    /* All there: the connection goes on. */
    say_head("/take?refuse", "Content-Length: 3\r\n\r\nabc"
                             "GET /plain HTTP/1.1\r\nHost: x\r\n");
    ck_assert_int_eq(content_receive(c, &r, 0), 403);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    /* Not all there: it ends. */
    say_length("/take?refuse", 1000);
    ck_assert_int_eq(content_receive(c, &r, 0), 403);
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nConnection: close\r\n"));
    ck_assert(client_at_end(c));
    client_close(c);
    site_at_rest();
    ck_assert_uint_eq(site_closed_by("refused"), 1);
    wait_closed(0, 0);
}
END_TEST

START_TEST(an_error_of_the_handler_is_the_reply)
{
    start();
    say_head("/take?error=1", "Content-Length: 3\r\n\r\nabc"
                              "GET /plain HTTP/1.1\r\nHost: x\r\n");
    ck_assert_int_eq(content_receive(c, &r, 0), 500);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    say_length("/take?error=1&body", 1000);
    ck_assert_int_eq(content_receive(c, &r, 0), 500);
    ck_assert(client_at_end(c));
    wait_closed(2, 0);
}
END_TEST

START_TEST(a_response_made_beside_it_is_not_left_behind)
{
    start();
    say_length("/take?body", 3);
    ck_assert(say_pattern(0, 3));
    check_taken("/take", 3);
    client_close(c);
    wait_closed(1, 1);
}
END_TEST

START_TEST(limits_of_the_route)
{
    start();
    say_length("/little", 1000);
    ck_assert(say_pattern(0, 1000));
    check_taken("/little", 1000);
    say_length("/little", 1001);
    ck_assert_int_eq(content_receive(c, &r, 0), 413);
    reconnect();
    say_head("/little", "Transfer-Encoding: chunked\r\n");
    ck_assert_int_eq(client_say(c, "3e9\r\n"), 0);
    ck_assert_int_eq(content_receive(c, &r, 0), 413);
    reconnect();
    say_head("/little", "Transfer-Encoding: chunked\r\n");
    ck_assert_int_eq(client_say(c, "3e8\r\n"), 0);
    ck_assert(say_pattern(0, 1000));
    ck_assert_int_eq(client_say(c, "\r\n1\r\n"), 0);
    ck_assert_int_eq(content_receive(c, &r, 0), 413);
    reconnect();
    say_head("/take", "Transfer-Encoding: chunked\r\n");
    ck_assert_int_eq(client_say(c, "zz\r\n"), 0);
    ck_assert_int_eq(content_receive(c, &r, 0), 400);
    client_close(c);
    EVENTUALLY(atomic_load(&seen.uploads) == 4);
    ck_assert_int_eq(atomic_load(&seen.uploads_complete), 1);
    EVENTUALLY(atomic_load(&seen.after) == 5);
}
END_TEST

START_TEST(of_another_route_nothing_can_be_taken)
{
    start();
    say_length("/plain", 3);
    ck_assert_int_eq(client_say(c, "abc"), 0);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_str_eq(r.body, "plain 3");
    client_close(c);
    wait_closed(0, 0);
}
END_TEST

/* --- large ----------------------------------------------------------------- */

START_TEST(far_more_than_the_budget_holds)
{
    uint64_t len = 20u * MIB;

    start();
    say_length("/big", len);
    ck_assert(say_pattern(0, len));
    check_taken("/big", len);
    client_close(c);
    wait_closed(1, 1);
    ck_assert_uint_eq(site_memory("bodies", 1), 0);
    ck_assert_uint_lt(site_memory("input", 1), 65536);
}
END_TEST

static void *send_content(void *data)
{
    const uint64_t *len = data;
    return say_pattern(0, *len) ? NULL : data;
}

START_TEST(fifty_megabytes_there_and_back)
{
    uint64_t len = ECHO_BYTES;
    pthread_t thread;
    void *failed = NULL;

    start();
    uint64_t before = resident_bytes();
    say_length("/echo", len);
    ck_assert_int_eq(pthread_create(&thread, NULL, send_content, &len), 0);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    pthread_join(thread, &failed);
    ck_assert_ptr_null(failed);
    ck_assert(r.complete);
    ck_assert_uint_eq(r.len, len);
    ck_assert_uint_eq(r.bad, 0);
    if (!is_sanitized()) {
        ck_assert_uint_lt(resident_bytes(), before + MIB);
    }
    ck_assert_uint_lt(site_memory("output", 1), 65536 + 16384);
    check_goes_on();
    client_close(c);
    wait_closed(1, 1);
    EVENTUALLY(atomic_load(&seen.complete) == 1);
}
END_TEST

START_TEST(an_echo_of_chunks_ends_with_them)
{
    start();
    say_head("/echo", "Transfer-Encoding: chunked\r\n");
    for (unsigned i = 0; i < 50; i++) {
        ck_assert_int_eq(client_say(c, "3e8\r\n"), 0);
        ck_assert(say_pattern(i * 1000u, (i + 1) * 1000u));
        ck_assert_int_eq(client_say(c, "\r\n"), 0);
    }
    ck_assert_int_eq(client_say(c, "0\r\n\r\n"), 0);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert(r.complete);
    ck_assert_uint_eq(r.len, 50000);
    ck_assert_uint_eq(r.bad, 0);
    check_goes_on();
    client_close(c);
    wait_closed(1, 1);
}
END_TEST

/* --- who leaves ------------------------------------------------------------ */

START_TEST(too_slow)
{
    site.options.body_timeout_ms = 200;
    start();
    say_length("/take", 10);
    ck_assert(say_pattern(0, 5));
    ck_assert_int_eq(content_receive(c, &r, 0), 408);
    ck_assert(client_at_end(c));
    wait_closed(1, 0);
    EVENTUALLY(atomic_load(&seen.after) == 1);
    ck_assert_int_eq(atomic_load(&seen.status), 408);
    reconnect();
    say_length("/echo", 10);
    ck_assert(say_pattern(0, 5));
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert(!r.complete && r.ended);
    wait_closed(2, 0);
}
END_TEST

START_TEST(a_client_that_leaves_is_told_once)
{
    static const char *const paths[] = {"/take", "/take?misuse", "/echo"};
    start();
    for (int i = 0; i < 6; i++) {
        reconnect();
        say_length(paths[i % 3], 100000);
        ck_assert(say_pattern(0, 50000));
        EVENTUALLY(server_counters(site.server).requests_active == 1);
        if (i < 3) {
            client_reset(c);
        } else {
            client_close(c);
        }
        wait_closed(i + 1, 0);
        EVENTUALLY(atomic_load(&seen.aborted) == i + 1);
    }
    ck_assert_int_eq(atomic_load(&seen.closed), 2);
    ck_assert_int_eq(atomic_load(&seen.complete), 0);
}
END_TEST

START_TEST(a_stop_tells_them_once)
{
    start();
    ck_assert_int_eq(client_connect(&clients[1], site.port, 0), 0);
    say_length("/take?gate", 100000);
    ck_assert_int_eq(client_say(&clients[1],
                                "POST /echo HTTP/1.1\r\nHost: x\r\n"
                                "Content-Length: 10\r\n\r\n12345"),
                     0);
    EVENTUALLY(server_counters(site.server).requests_active == 2);
    restd_server_stop(site.server);
    wait_closed(2, 0);
    ck_assert_int_eq(atomic_load(&seen.closed), 1);
    ck_assert_int_eq(atomic_load(&seen.aborted), 2);
}
END_TEST

START_TEST(a_drain_lets_them_come_to_their_end)
{
    start();
    say_length("/take", 10);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    restd_server_drain(site.server);
    EVENTUALLY(restd_server_state(site.server) == RESTD_STATE_DRAINING);
    ck_assert(say_pattern(0, 10));
    check_taken("/take", 10);
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nConnection: close\r\n"));
    ck_assert(client_at_end(c));
    restd_server_wait(site.server);
    wait_closed(1, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("uploads");
    TCase *tc = tcase_create("uploads");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, by_content_length);
    tcase_add_test(tc, without_content);
    tcase_add_test(tc, cut_at_every_place);
    tcase_add_test(tc, byte_by_byte);
    tcase_add_test(tc, pipelined_requests_are_answered_in_order);
    tcase_add_test(tc, the_end_of_a_half_closed_client_is_seen);
    tcase_add_test(tc, it_is_asked_to_continue_only_if_it_is_wanted);
    tcase_add_test(tc, continue_comes_before_a_reply_under_way);
    tcase_add_test(tc, held_in_each_piece);
    tcase_add_test(tc, held_by_its_handler_the_window_holds_the_client);
    tcase_add_test(tc, held_by_its_handler_with_content_at_hand);
    tcase_add_test(tc, held_from_elsewhere_at_once);
    tcase_add_test(tc, held_it_is_not_late);
    tcase_add_test(tc, a_taker_refuses_at_any_piece);
    tcase_add_test(tc, an_error_in_an_echo_cuts_it);
    tcase_add_test(tc, what_its_end_says_is_the_reply);
    tcase_add_test(tc, a_handler_that_takes_nothing);
    tcase_add_test(tc, an_error_of_the_handler_is_the_reply);
    tcase_add_test(tc, a_response_made_beside_it_is_not_left_behind);
    tcase_add_test(tc, limits_of_the_route);
    tcase_add_test(tc, of_another_route_nothing_can_be_taken);
    tcase_add_test(tc, far_more_than_the_budget_holds);
    tcase_add_test(tc, fifty_megabytes_there_and_back);
    tcase_add_test(tc, an_echo_of_chunks_ends_with_them);
    tcase_add_test(tc, too_slow);
    tcase_add_test(tc, a_client_that_leaves_is_told_once);
    tcase_add_test(tc, a_stop_tells_them_once);
    tcase_add_test(tc, a_drain_lets_them_come_to_their_end);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
