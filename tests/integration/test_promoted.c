/* SPDX-License-Identifier: MIT */
/* Requests that outlive their turn, at their seams: a content in pieces with a
 * large reply, a taker that pauses and fails, a client that leaves in between.
 * Each test is named after a fault that there was. What `after` functions are
 * told is recorded, but for /plain, by which a test sees that the loop has gone
 * on. */
#include <restd/restd.h>

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "site.h"
#include "streams.h"
#include "support/suite.h"

#define KIB 1024u
#define MIB (1024u * 1024)
/* More than the kernel takes for a client that does not read. */
#define LARGE 9000000u
#define LARGE_TEXT "9000000"
#define RCVBUF 65536 /* a window that does not grow */

static struct client c;
static struct client other;
static struct content r;

/* Of the last request that ended. */
static struct {
    atomic_int n, status, aborted;
    atomic_ullong content;
    atomic_int local; /* what restd_request_local() returned */
    _Atomic(void *) data;
} ended;

static atomic_int gate;
static int mark; /* its address is the data of requests */
static int mark_of_end;

/* How the content of a POST arrives. */
enum framing { WHOLE, SPLIT, CHUNKED, FRAMINGS };

/* --- handlers -------------------------------------------------------------- */

static void record(struct restd_request *request,
                   const struct restd_outcome *outcome, void *data)
{
    char local[64];
    (void)data;

    if (restd_slice_is(restd_request_path(request), "/plain")) {
        return;
    }
    atomic_store(&ended.status, outcome->status);
    atomic_store(&ended.aborted, outcome->aborted);
    atomic_store(&ended.content, outcome->content_bytes);
    atomic_store(&ended.data, restd_request_data(request));
    atomic_store(&ended.local,
                 restd_request_local(request, local, sizeof(local)));
    atomic_fetch_add(&ended.n, 1);
}

/* `len` bytes; `gate`: not before the gate opens, and the loop waits. */
static int constant(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    (void)data;
    if (query_has(request, "gate")) {
        atomic_store(&seen.last, 1);
        while (!atomic_load(&gate)) {
            (void)pause_ms();
        }
    }
    return restd_response_body_static(response, pattern,
                                      query_number(request, "len", 1));
}

static void upload_closed(int complete, void *data)
{
    (void)data;
    atomic_fetch_add(&seen.uploads_complete, complete);
    atomic_fetch_add(&seen.uploads, 1);
}

static int piece_fails(struct restd_upload *upload, const char *bytes,
                       size_t len, void *data)
{
    (void)bytes;
    (void)len;
    (void)data;
    atomic_fetch_add(&seen.last, 1);
    restd_upload_pause(upload);
    return RESTD_EINVAL;
}

static int piece_pauses(struct restd_upload *upload, const char *bytes,
                        size_t len, void *data)
{
    (void)bytes;
    (void)len;
    (void)data;
    restd_upload_pause(upload);
    atomic_fetch_add(&seen.last, 1);
    return 0;
}

static int end_fine(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    if (data && restd_request_data(request) != &mark) {
        atomic_fetch_add(&seen.errors, 1);
    }
    if (query_has(request, "end")) {
        restd_request_set_data(request, &mark_of_end);
    }
    return restd_response_body_static(response, pattern,
                                      query_number(request, "len", 1));
}

static int receive_failing(struct restd_request *request,
                           struct restd_response *response, void *data)
{
    static const struct restd_upload_ops ops = {sizeof(ops), piece_fails,
                                                end_fine, upload_closed};
    (void)response;
    return restd_request_receive(request, &ops, data, NULL);
}

static int receive_pausing(struct restd_request *request,
                           struct restd_response *response, void *data)
{
    static const struct restd_upload_ops ops = {sizeof(ops), piece_pauses,
                                                end_fine, upload_closed};
    (void)response;
    return restd_request_receive(request, &ops, data, NULL);
}

static int receive_marked(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    static const struct restd_upload_ops ops = {sizeof(ops), drop_content,
                                                end_fine, upload_closed};
    (void)response;
    (void)data;
    int rc = restd_request_receive(request, &ops, &mark, NULL);
    restd_request_set_data(request, &mark);
    return rc;
}

static void end_at_once(struct restd_stream *stream, void *data)
{
    (void)data;
    restd_stream_end(stream);
}

static int stream_marked(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {.size = sizeof(ops),
                                                .ready = end_at_once};
    (void)data;
    int rc = restd_response_stream(response, &ops, NULL, NULL);
    restd_request_set_data(request, &mark);
    return rc;
}

/* --- fixture --------------------------------------------------------------- */

static void set_up(void)
{
    site_set_up();
    memset(&ended, 0, sizeof(ended));
    atomic_store(&gate, 0);
    c.fd = -1;
    other.fd = -1;
}

static void prepare(void)
{
    struct restd_error error = {0, 0, ""};
    const struct restd_plugin recorder = {
        .size = sizeof(recorder), .name = "recorder", .after = record};

    site_new();
    ck_assert_int_eq(restd_router_use(site.router, &recorder, &error), 0);
    streams_add();
    site_add("GET", "/constant", constant, 0, 0);
    site_add("POST", "/constant", constant, 0, 0);
    site_add("POST", "/failing", receive_failing, 1, 0);
    site_add("POST", "/pausing", receive_pausing, 1, 0);
    site_add("POST", "/marked", receive_marked, 1, 0);
    site_add("GET", "/marked", stream_marked, 0, 0);
}

static void start(void)
{
    prepare();
    site_start();
    ck_assert_int_eq(client_connect(&c, site.port, RCVBUF), 0);
}

static void tear_down(void)
{
    client_close(&c);
    client_close(&other);
    site_tear_down();
}

static void reconnect(void)
{
    client_close(&c);
    ck_assert_int_eq(client_connect(&c, site.port, RCVBUF), 0);
}

/* Sends, and waits until the server has read it: what is sent behind comes to
 * it alone. */
static void say_alone(const char *text)
{
    uint64_t all = server_counters(site.server).received_bytes + strlen(text);

    ck_assert_int_eq(client_say(&c, text), 0);
    EVENTUALLY(server_counters(site.server).received_bytes == all);
}

/* A request with "ab" as its content. */
static void say_post(const char *target, enum framing framing,
                     const char *fields)
{
    char text[256];

    snprintf(text, sizeof(text), "POST %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n%s",
             target, fields,
             framing == CHUNKED ? "Transfer-Encoding: chunked\r\n"
                                : "Content-Length: 2\r\n",
             framing == WHOLE ? "ab" : "");
    if (framing == WHOLE) {
        ck_assert_int_eq(client_say(&c, text), 0);
        return;
    }
    say_alone(text);
    ck_assert_int_eq(
        client_say(&c, framing == CHUNKED ? "2\r\nab\r\n0\r\n\r\n" : "ab"), 0);
}

static void say_get(const char *target, const char *fields)
{
    char text[256];

    snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", target,
             fields);
    ck_assert_int_eq(client_say(&c, text), 0);
}

/* The loop has answered others, twice, so that turns have come and gone. */
static void others_are_served(void)
{
    char body[16];

    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(client_get(site.port, "/plain", body, sizeof(body)),
                         200);
    }
}

static void wait_gone(void)
{
    EVENTUALLY(server_counters(site.server).active == 0);
    EVENTUALLY(server_counters(site.server).requests_active == 0);
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* As EVENTUALLY, but soon. */
#define WITHIN_3_S(cond)                                                       \
    do {                                                                       \
        int64_t until_ = now_ms() + 3000;                                      \
        while (!(cond) && now_ms() < until_) {                                 \
            (void)pause_ms();                                                  \
        }                                                                      \
        ck_assert_msg(cond, "not within 3 s: %s", #cond);                      \
    } while (0)

/* --- takers that pause ----------------------------------------------------- */

static void check_one_refusal(int round)
{
    ck_assert_int_eq(content_receive(&c, &r, 0), 400);
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nConnection: close\r\n"));
    ck_assert(r.complete);
    ck_assert(client_at_end(&c)); /* nothing more comes */
    client_close(&c);
    wait_gone();
    ck_assert_int_eq(atomic_load(&seen.last), round);
    ck_assert_int_eq(atomic_load(&seen.uploads), round);
    ck_assert_int_eq(atomic_load(&seen.uploads_complete), 0);
    ck_assert_int_eq(atomic_load(&ended.n), round);
    ck_assert_int_eq(atomic_load(&ended.status), 400);
    ck_assert_uint_eq(site_closed_by("refused"), (unsigned)round);
    ck_assert_uint_eq(server_counters(site.server).timed_out, 0);
}

START_TEST(a_taker_that_pauses_and_fails_is_over)
{
    static const char head[] = "POST /failing HTTP/1.1\r\nHost: x\r\n"
                               "Content-Length: 10\r\n\r\n";
    static const char chunked[] = "POST /failing HTTP/1.1\r\nHost: x\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n";

    /* Whoever is not ended in time is seen soon. */
    site.options.body_timeout_ms = 1500;
    start();
    say_alone(head);
    ck_assert_int_eq(client_say(&c, "abc"), 0);
    check_one_refusal(1);

    reconnect(); /* with the head */
    ck_assert_int_eq(client_send(&c, head, sizeof(head) - 1), 0);
    ck_assert_int_eq(client_say(&c, "abc"), 0);
    check_one_refusal(2);

    reconnect(); /* with all of its content, and another request */
    say_alone(head);
    ck_assert_int_eq(client_say(&c, "abcdefghij"
                                    "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n"),
                     0);
    check_one_refusal(3);

    reconnect();
    say_alone(chunked);
    ck_assert_int_eq(client_say(&c, "a\r\nabc"), 0);
    check_one_refusal(4);
}
END_TEST

START_TEST(a_client_that_resets_a_paused_content_is_seen)
{
    for (int round = 1; round <= 2; round++) {
        if (round == 1) {
            start();
        } else {
            reconnect();
        }
        say_alone("POST /pausing HTTP/1.1\r\nHost: x\r\n"
                  "Content-Length: 1000\r\n\r\n");
        ck_assert_int_eq(client_say(&c, "abc"), 0);
        EVENTUALLY(atomic_load(&seen.last) == round);
        if (round == 2) {
            /* With bytes that the server does not read. */
            ck_assert_int_eq(client_say(&c, "def"), 0);
        }
        others_are_served();
        ck_assert_int_eq(atomic_load(&seen.uploads), round - 1);
        client_reset(&c);
        WITHIN_3_S(atomic_load(&seen.uploads) == round);
        wait_gone();
        ck_assert_int_eq(atomic_load(&seen.uploads_complete), 0);
        ck_assert_int_eq(atomic_load(&ended.n), round);
        ck_assert_int_eq(atomic_load(&ended.aborted), 1);
    }
}
END_TEST

/* --- streams --------------------------------------------------------------- */

START_TEST(a_client_that_resets_an_idle_stream_is_seen)
{
    static const char *const behind[] = {"", "GET /plain HTTP/1.1\r\n"};

    start();
    for (int round = 1; round <= 2; round++) {
        say_get("/stream?len=10&hold", "");
        EVENTUALLY(server_counters(site.server).sent_bytes > 0 &&
                   server_counters(site.server).requests_active == 1);
        ck_assert_int_eq(client_say(&c, behind[round - 1]), 0);
        others_are_served();
        ck_assert_int_eq(atomic_load(&seen.closed), round - 1);
        client_reset(&c);
        WITHIN_3_S(atomic_load(&seen.closed) == round);
        wait_gone();
        ck_assert_int_eq(atomic_load(&seen.complete), 0);
        ck_assert_int_eq(atomic_load(&ended.n), round);
        ck_assert_int_eq(atomic_load(&ended.aborted), 1);
        reconnect();
    }
}
END_TEST

/* A flood of events, and who reads it. */
static struct {
    atomic_ullong received;
    atomic_ullong call_max; /* bytes sent in one call of `ready` */
    atomic_int stop;
} flood;

static void flood_ready(struct restd_stream *stream, void *data)
{
    static char text[15000 + 1];
    const struct restd_event event = {.data =
                                          memset(text, 'x', sizeof(text) - 1)};
    uint64_t n = 0;
    int rc = 0;
    (void)data;

    /* An end, for a library that sets none. */
    while (rc == 0 && n < 8 * MIB) {
        rc = restd_stream_event(stream, &event);
        n += rc == 0 ? sizeof(text) - 1 : 0;
    }
    if (n > atomic_load(&flood.call_max)) {
        atomic_store(&flood.call_max, n);
    }
    if (rc == 0 || atomic_load(&flood.stop)) {
        restd_stream_end(stream);
    }
}

static void flood_closed(struct restd_stream *stream, int complete, void *data)
{
    (void)stream;
    (void)data;
    atomic_fetch_add(&seen.complete, complete);
    atomic_fetch_add(&seen.closed, 1);
}

static int flood_handler(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), flood_ready,
                                                flood_closed};
    (void)request;
    (void)data;
    return restd_response_events(response, &ops, NULL, 0, NULL);
}

static void *flood_read(void *data)
{
    static char buf[256 * KIB];
    ssize_t n;
    (void)data;

    while ((n = recv(other.fd, buf, sizeof(buf), 0)) > 0) {
        atomic_fetch_add(&flood.received, (uint64_t)n);
    }
    return NULL;
}

START_TEST(a_flood_of_events_leaves_others_their_turn)
{
    pthread_t reader;

    memset(&flood, 0, sizeof(flood));
    prepare();
    site_add("GET", "/flood", flood_handler, 0, 0);
    site_start();
    ck_assert_int_eq(client_connect(&other, site.port, 0), 0);
    ck_assert_int_eq(client_say(&other, "GET /flood HTTP/1.1\r\nHost: x\r\n"
                                        "Connection: close\r\n\r\n"),
                     0);
    ck_assert_int_eq(pthread_create(&reader, NULL, flood_read, NULL), 0);
    EVENTUALLY(atomic_load(&flood.received) > 16 * MIB ||
               atomic_load(&seen.closed));
    ck_assert_uint_le(atomic_load(&flood.call_max), 256 * KIB + 16 * KIB);
    ck_assert_int_eq(atomic_load(&seen.closed), 0);
    others_are_served();
    ck_assert_int_eq(atomic_load(&seen.closed), 0);
    atomic_store(&flood.stop, 1);
    ck_assert_int_eq(pthread_join(reader, NULL), 0);
    EVENTUALLY(atomic_load(&seen.closed) == 1);
    ck_assert_int_eq(atomic_load(&seen.complete), 1);
    ck_assert_uint_le(atomic_load(&flood.call_max), 256 * KIB + 16 * KIB);
}
END_TEST

/* One event after the other, as long as somebody listens. */
static struct {
    struct restd_stream *stream;
    struct restd_timer *timer;
} steady;

static void steady_tick(struct restd_timer *timer, void *data)
{
    const struct restd_event event = {.data = "x"};
    (void)timer;
    (void)data;

    (void)!restd_stream_event(steady.stream, &event);
}

static void steady_closed(struct restd_stream *stream, int complete, void *data)
{
    restd_timer_free(steady.timer);
    flood_closed(stream, complete, data);
}

static int steady_handler(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), NULL,
                                                steady_closed};
    int rc = restd_timer_new(restd_request_loop(request), 10, 10, steady_tick,
                             NULL, &steady.timer);
    (void)data;

    ck_assert_int_eq(rc, 0);
    return restd_response_events(response, &ops, NULL, 0, &steady.stream);
}

/* Each event put off the look at the client. */
START_TEST(a_client_that_leaves_frequent_events_is_seen)
{
    char head[64];

    prepare();
    site_add("GET", "/steady", steady_handler, 0, 0);
    site_start();
    ck_assert_int_eq(client_connect(&other, site.port, 0), 0);
    ck_assert_int_eq(
        client_say(&other, "GET /steady HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
    ck_assert_int_eq(recv(other.fd, head, sizeof(head), MSG_WAITALL),
                     (ssize_t)sizeof(head));
    ck_assert_int_eq(shutdown(other.fd, SHUT_WR), 0);
    WITHIN_3_S(atomic_load(&seen.closed) == 1);
    ck_assert_int_eq(atomic_load(&seen.complete), 0);
}
END_TEST

/* --- what `after` functions are told --------------------------------------- */

/* The client leaves between its content and the reply. */
START_TEST(after_once_when_the_reply_cannot_be_sent)
{
    start();
    for (int i = 0; i < FRAMINGS; i++) {
        atomic_store(&gate, 0);
        atomic_store(&seen.last, 0);
        say_post("/constant?gate&len=" LARGE_TEXT, (enum framing)i, "");
        EVENTUALLY(atomic_load(&seen.last) == 1);
        client_reset(&c);
        atomic_store(&gate, 1);
        wait_gone();
        ck_assert_int_eq(atomic_load(&ended.n), i + 1);
        ck_assert_int_eq(atomic_load(&ended.aborted), 1);
        ck_assert_int_eq(atomic_load(&ended.status), 200);
        reconnect();
    }
}
END_TEST

START_TEST(after_when_a_large_reply_to_a_late_content_has_gone)
{
    start();
    for (int i = 0; i < FRAMINGS; i++) {
        say_post("/constant?len=" LARGE_TEXT, (enum framing)i, "");
        EVENTUALLY(server_counters(site.server).writing == 1);
        others_are_served();
        ck_assert_int_eq(atomic_load(&ended.n), 2 * i);
        ck_assert_int_eq(content_receive(&c, &r, 0), 200);
        ck_assert(r.complete && r.bad == 0);
        ck_assert_uint_eq(r.len, LARGE);
        EVENTUALLY(atomic_load(&ended.n) == 2 * i + 1);
        ck_assert_int_eq(atomic_load(&ended.aborted), 0);
        ck_assert_uint_eq(atomic_load(&ended.content), LARGE);
        /* The connection goes on. */
        say_get("/constant?len=3", "");
        ck_assert_int_eq(content_receive(&c, &r, 0), 200);
        EVENTUALLY(atomic_load(&ended.n) == 2 * i + 2);
    }
}
END_TEST

START_TEST(after_when_who_does_not_read_a_large_reply_has_left)
{
    start();
    for (int i = 0; i < FRAMINGS; i++) {
        say_post("/constant?len=" LARGE_TEXT, (enum framing)i, "");
        EVENTUALLY(server_counters(site.server).writing == 1);
        others_are_served();
        ck_assert_int_eq(atomic_load(&ended.n), i);
        client_reset(&c);
        EVENTUALLY(atomic_load(&ended.n) == i + 1);
        wait_gone();
        ck_assert_int_eq(atomic_load(&ended.n), i + 1);
        ck_assert_int_eq(atomic_load(&ended.status), 200);
        ck_assert_int_eq(atomic_load(&ended.aborted), 1);
        ck_assert_uint_lt(atomic_load(&ended.content), LARGE);
        reconnect();
    }
}
END_TEST

/* Its descriptor is closed by then, and may be another's. */
START_TEST(a_connection_that_is_closed_has_no_local_address)
{
    static const char *const targets[] = {
        "/constant?len=" LARGE_TEXT,
        "/stream?piece=65536&len=" LARGE_TEXT,
    };

    start();
    say_get("/constant", "");
    ck_assert_int_eq(content_receive(&c, &r, 0), 200);
    EVENTUALLY(atomic_load(&ended.n) == 1);
    ck_assert_int_gt(atomic_load(&ended.local), 0);
    for (int i = 0; i < 2; i++) {
        say_get(targets[i], "");
        EVENTUALLY(server_counters(site.server).writing == 1);
        client_reset(&c);
        EVENTUALLY(atomic_load(&ended.n) == i + 2);
        ck_assert_int_eq(atomic_load(&ended.aborted), 1);
        ck_assert_int_eq(atomic_load(&ended.local), RESTD_ECLOSED);
        reconnect();
    }
}
END_TEST

START_TEST(data_set_once_it_is_promoted_is_kept)
{
    start();
    say_get("/marked", "");
    ck_assert_int_eq(content_receive(&c, &r, 0), 200);
    EVENTUALLY(atomic_load(&ended.n) == 1);
    ck_assert_ptr_eq(atomic_load(&ended.data), &mark);
    /* `end` counts an error if it does not see it. */
    for (int i = 0; i < FRAMINGS; i++) {
        say_post("/marked", (enum framing)i, "");
        ck_assert_int_eq(content_receive(&c, &r, 0), 200);
        EVENTUALLY(atomic_load(&ended.n) == i + 2);
        ck_assert_int_eq(atomic_load(&seen.errors), 0);
        ck_assert_ptr_eq(atomic_load(&ended.data), &mark);
    }
}
END_TEST

START_TEST(data_set_by_the_end_of_a_content_is_kept)
{
    static const char *const targets[] = {"/marked?end&len=5",
                                          "/marked?end&len=" LARGE_TEXT};

    start();
    for (int i = 0; i < 2; i++) {
        say_post(targets[i], SPLIT, "");
        ck_assert_int_eq(content_receive(&c, &r, 0), 200);
        EVENTUALLY(atomic_load(&ended.n) == i + 1);
        ck_assert_ptr_eq(atomic_load(&ended.data), &mark_of_end);
    }
}
END_TEST

/* --- the end of a connection ----------------------------------------------- */

/* Closing with unread bytes would reset it, and the rest of the reply with it.
 * What comes once the kernel has all of the reply is another matter. */
static void check_whole_reply_despite_more(void)
{
    char byte;

    EVENTUALLY(server_counters(site.server).writing == 1);
    ck_assert_int_eq(client_say(&c, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n"),
                     0);
    ck_assert_int_eq(content_receive(&c, &r, 0), 200);
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nConnection: close\r\n"));
    ck_assert_msg(r.complete, "cut after %llu", (unsigned long long)r.len);
    ck_assert_uint_eq(r.len, LARGE);
    ck_assert_uint_eq(r.bad, 0);
    ck_assert_int_eq(recv(c.fd, &byte, 1, 0), 0); /* and no RST */
    client_close(&c);
    wait_gone();
    ck_assert_int_eq(atomic_load(&ended.aborted), 0);
    ck_assert_int_eq(client_connect(&c, site.port, RCVBUF), 0);
}

START_TEST(a_request_behind_the_last_one_does_not_cut_its_reply)
{
    start();
    say_get("/constant?len=" LARGE_TEXT, "Connection: close\r\n");
    check_whole_reply_despite_more();
    say_get("/stream?piece=65536&len=" LARGE_TEXT, "Connection: close\r\n");
    check_whole_reply_despite_more();
    for (int i = 0; i < FRAMINGS; i++) {
        say_post("/constant?len=" LARGE_TEXT, (enum framing)i,
                 "Connection: close\r\n");
        check_whole_reply_despite_more();
    }
}
END_TEST

static uint64_t latency_count(void)
{
    struct restd_stats stats;

    restd_server_stats(site.server, &stats);
    return stats.latency_count;
}

START_TEST(a_timeout_that_was_answered_is_no_abort)
{
    static const char *const begun[] = {
        "GET /con",
        "POST /constant HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na",
        "POST /marked HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na",
    };

    site.options.header_timeout_ms = 200;
    site.options.body_timeout_ms = 200;
    start();
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(client_say(&c, begun[i]), 0);
        ck_assert_int_eq(content_receive(&c, &r, 0), 408);
        ck_assert(r.complete);
        ck_assert(client_at_end(&c));
        client_close(&c);
        wait_gone();
        ck_assert_uint_eq(server_counters(site.server).timed_out, i + 1);
        ck_assert_uint_eq(server_counters(site.server).aborted, 0);
        ck_assert_uint_eq(site_closed_by("read_timeout"), i + 1);
        ck_assert_int_eq(atomic_load(&ended.n), (int)i + 1);
        ck_assert_int_eq(atomic_load(&ended.status), 408);
        ck_assert_int_eq(atomic_load(&ended.aborted), 0);
        WITHIN_3_S(latency_count() == i + 1);
        if (i < 2) {
            reconnect();
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("promoted");
    TCase *tc = tcase_create("promoted");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, a_taker_that_pauses_and_fails_is_over);
    tcase_add_test(tc, a_client_that_resets_a_paused_content_is_seen);
    tcase_add_test(tc, a_client_that_resets_an_idle_stream_is_seen);
    tcase_add_test(tc, a_flood_of_events_leaves_others_their_turn);
    tcase_add_test(tc, a_client_that_leaves_frequent_events_is_seen);
    tcase_add_test(tc, after_once_when_the_reply_cannot_be_sent);
    tcase_add_test(tc, after_when_a_large_reply_to_a_late_content_has_gone);
    tcase_add_test(tc, after_when_who_does_not_read_a_large_reply_has_left);
    tcase_add_test(tc, a_connection_that_is_closed_has_no_local_address);
    tcase_add_test(tc, data_set_once_it_is_promoted_is_kept);
    tcase_add_test(tc, data_set_by_the_end_of_a_content_is_kept);
    tcase_add_test(tc, a_request_behind_the_last_one_does_not_cut_its_reply);
    tcase_add_test(tc, a_timeout_that_was_answered_is_no_abort);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
