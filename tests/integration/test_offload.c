/* SPDX-License-Identifier: MIT */
/* Handlers that wait run on threads of their own, by real sockets: nothing of a
 * request is missing there, nobody else is held up, and whoever leaves, is late
 * or is stopped is told of it. */
#include <restd/plugins.h>
#include <restd/restd.h>

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "site.h"
#include "support/gunzip.h"
#include "support/suite.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
#define KIB 1024u

static struct client clients[8];
static struct client *const c = &clients[0];
static struct content r;
static sem_t entered, gate;
static atomic_int cancelled_n, returned_n;
static atomic_long loop_tid;

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) != 0) {
    }
}

/* --- handlers -------------------------------------------------------------- */

static int describe(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    char peer[64];
    struct restd_slice name = restd_request_param(request, "name");
    struct restd_slice q = restd_request_query_get(request, "q");
    struct restd_slice field = restd_request_header(request, "X-Field");
    struct restd_slice route = restd_request_pattern(request);
    struct restd_slice body = restd_request_body(request);

    (void)data;
    (void)restd_response_set_status(response, 201);
    (void)restd_response_set_header(response, "X-Made", "here");
    (void)restd_response_set_type(response, "text/x-description");
    if (restd_request_peer_host(request, peer, sizeof(peer)) < 0) {
        return RESTD_EOS;
    }
    return restd_response_printf(
        response, "%.*s|%.*s|%.*s|%.*s|%s|%u|%.*s", (int)name.len, name.data,
        (int)q.len, q.data, (int)field.len, field.data, (int)route.len,
        route.data, peer, restd_request_worker(request), (int)body.len,
        body.data);
}

static int thread_id(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    return restd_response_printf(response, "%ld", (long)syscall(SYS_gettid));
}

static int inline_id(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    (void)data;
    atomic_store(&loop_tid, (long)syscall(SYS_gettid));
    ck_assert_int_eq(restd_request_cancelled(request), 0);
    return restd_response_printf(response, "%ld", (long)syscall(SYS_gettid));
}

static int echo(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_slice body = restd_request_body(request);

    (void)data;
    return restd_response_body(response, body.data, body.len);
}

static int failing(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    (void)data;
    int rc = restd_response_printf(response, "never seen");
    return rc ? rc : -(int)query_number(request, "code", 1);
}

/* Content of a kind, of `len` bytes. */
static int large(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    size_t len = query_number(request, "len", 0);

    (void)data;
    if (query_has(request, "static")) {
        return restd_response_body_static(response, pattern, len);
    }
    if (query_has(request, "borrowed")) {
        restd_response_body_borrowed(response, pattern, len);
        return 0;
    }
    if (query_has(request, "prepared")) {
        struct restd_prepared *p;
        int rc = restd_prepared_new(200, NULL, pattern, len, &p);
        rc = rc ? rc : restd_response_prepared(response, p);
        restd_prepared_unref(p);
        return rc;
    }
    if (query_has(request, "file")) {
        char path[] = "/tmp/restd-test-XXXXXX";
        int fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        unlink(path);
        ck_assert_int_eq(write(fd, pattern, len), (ssize_t)len);
        return restd_response_file(response, fd, 0, len);
    }
    return restd_response_body(response, pattern, len);
}

/* Many fields, and a content that fills the small place beside them. */
static int fields(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    size_t len = query_number(request, "len", 0);

    (void)data;
    for (uint64_t i = query_number(request, "n", 0); i > 0; i--) {
        char name[16];
        snprintf(name, sizeof(name), "X-Field-%02u", (unsigned)i);
        int rc = restd_response_add_header(
            response, name, "a value of some length, of a field");
        if (rc != 0) {
            return rc;
        }
    }
    return restd_response_body(response, pattern, len);
}

static int streams(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {.size = sizeof(ops)};
    struct restd_stream *stream;

    (void)request;
    (void)data;
    int rc = restd_response_stream(response, &ops, NULL, &stream);
    char text[64];
    int local = restd_request_local(request, text, sizeof(text));
    return restd_response_printf(response, "%d %d", rc, local);
}

/* Waits until it is let go. */
static int wait_here(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    (void)data;
    sem_post(&entered);
    wait_for(&gate);
    atomic_fetch_add(&cancelled_n, restd_request_cancelled(request));
    atomic_fetch_add(&returned_n, 1);
    return restd_response_printf(response, "waited");
}

/* Waits until it is cancelled. */
static int wait_cancelled(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    (void)data;
    sem_post(&entered);
    while (!restd_request_cancelled(request)) {
        pause_ms();
    }
    atomic_fetch_add(&cancelled_n, 1);
    atomic_fetch_add(&returned_n, 1);
    return restd_response_printf(response, "nobody sees it");
}

/* --- fixture --------------------------------------------------------------- */

static void add(const char *method, const char *path, restd_handler_fn *handler,
                int by_fin)
{
    struct restd_error error = {0, 0, ""};
    struct restd_route_options options;
    int route =
        restd_router_add(site.router, method, path, handler, NULL, &error);

    ck_assert_msg(route >= 0, "%s", error.message);
    restd_route_options_init(&options);
    options.offload = 1;
    options.abandon_on_fin = (uint8_t)by_fin;
    ck_assert_int_eq(
        restd_router_configure(site.router, route, &options, &error), 0);
}

static void add_all(void)
{
    add("GET", "/describe/{name}", describe, 0);
    add("POST", "/describe/{name}", describe, 0);
    add("GET", "/id", thread_id, 0);
    add("POST", "/echo", echo, 0);
    add("GET", "/fail", failing, 0);
    add("GET", "/large", large, 0);
    add("GET", "/fields", fields, 0);
    add("GET", "/streams", streams, 0);
    add("GET", "/wait", wait_here, 0);
    add("GET", "/wait/fin", wait_here, 1);
    add("GET", "/cancelled", wait_cancelled, 0);
    add("GET", "/cancelled/fin", wait_cancelled, 1);
    (void)site_add("GET", "/inline", inline_id, 0, 0);
    (void)site_add("GET", "/inline/describe/{name}", describe, 0, 0);
}

static void set_up(void)
{
    site_set_up();
    for (size_t i = 0; i < 8; i++) {
        clients[i].fd = -1;
    }
    atomic_store(&cancelled_n, 0);
    atomic_store(&returned_n, 0);
    ck_assert_int_eq(sem_init(&entered, 0, 0), 0);
    ck_assert_int_eq(sem_init(&gate, 0, 0), 0);
}

static void start(void)
{
    site_new();
    add_all();
    site_start();
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
}

static void tear_down(void)
{
    for (size_t i = 0; i < 8; i++) {
        client_close(&clients[i]);
    }
    site_tear_down();
}

static struct restd_stats stats(void)
{
    struct restd_stats s;
    restd_server_stats(site.server, &s);
    return s;
}

/* --- the request ----------------------------------------------------------- */

START_TEST(it_runs_elsewhere)
{
    start();
    ck_assert_int_eq(content_ask(c, GET("/inline"), &r), 200);
    ck_assert_int_eq(content_ask(c, GET("/id"), &r), 200);
    long tid = strtol(r.body, NULL, 10);
    ck_assert_int_gt(tid, 0);
    ck_assert_int_ne(tid, atomic_load(&loop_tid));
    ck_assert_int_ne(tid, (long)syscall(SYS_gettid));
    EVENTUALLY(stats().offload_done == 1);
    ck_assert_uint_eq(stats().offload_threads, 1);
}
END_TEST

START_TEST(nothing_of_the_request_is_missing)
{
    static const char tail[] = "?q=a%20b HTTP/1.1\r\nHost: x\r\nX-Field: f\r\n"
                               "\r\n";
    char text[256];
    char there[512];

    start();
    snprintf(text, sizeof(text), "GET /inline/describe/n%%61me%s", tail);
    ck_assert_int_eq(content_ask(c, text, &r), 201);
    ck_assert_str_eq(r.body, "name|a b|f|/inline/describe/{name}|127.0.0.1|0|");
    snprintf(text, sizeof(text), "GET /describe/n%%61me%s", tail);
    ck_assert_int_eq(content_ask(c, text, &r), 201);
    ck_assert_str_eq(r.body, "name|a b|f|/describe/{name}|127.0.0.1|0|");
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nX-Made: here\r\n"));
    ck_assert_ptr_nonnull(
        strstr(r.head, "\r\nContent-Type: text/x-description\r\n"));
    snprintf(there, sizeof(there),
             "POST /describe/x HTTP/1.1\r\nHost: x\r\n"
             "Content-Length: 7\r\n\r\ncontent");
    ck_assert_int_eq(content_ask(c, there, &r), 201);
    ck_assert_ptr_nonnull(strstr(r.body, "|content"));
}
END_TEST

/* HEAD has the fields of GET and no content; HTTP/1.0 ends. */
START_TEST(methods_and_versions)
{
    start();
    ck_assert_int_eq(
        client_say(c, "HEAD /describe/x HTTP/1.1\r\nHost: x\r\n\r\n"), 0);
    ck_assert_int_eq(content_receive(c, &r, 1), 201);
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nX-Made: here\r\n"));
    ck_assert_int_eq(content_ask(c, "GET /describe/x HTTP/1.0\r\n\r\n", &r),
                     201);
    ck_assert(client_at_end(c));
}
END_TEST

static void echo_of(size_t len, size_t piece, int chunked)
{
    char head[128];

    snprintf(head, sizeof(head), "POST /echo HTTP/1.1\r\nHost: x\r\n%s: ",
             chunked ? "Transfer-Encoding" : "Content-Length");
    ck_assert_int_eq(client_say(c, head), 0);
    snprintf(head, sizeof(head), chunked ? "chunked\r\n\r\n" : "%zu\r\n\r\n",
             len);
    ck_assert_int_eq(client_say(c, head), 0);
    for (size_t at = 0; at < len; at += piece) {
        size_t n = len - at < piece ? len - at : piece;
        if (chunked) {
            snprintf(head, sizeof(head), "%zx\r\n", n);
            ck_assert_int_eq(client_say(c, head), 0);
        }
        ck_assert_int_eq(client_send(c, pattern + at, n), 0);
        if (chunked) {
            ck_assert_int_eq(client_say(c, "\r\n"), 0);
        }
    }
    if (chunked) {
        ck_assert_int_eq(client_say(c, "0\r\n\r\n"), 0);
    }
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_uint_eq(r.len, len);
    ck_assert_uint_eq(r.bad, 0);
}

START_TEST(contents_of_all_sizes)
{
    static const size_t lens[] = {0,    1,    638,  639,  640,   641,  1000,
                                  1327, 1328, 1329, 4096, 20000, 65536};

    start();
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        echo_of(lens[i], 70000, 0);
        echo_of(lens[i], 1000, 0);
        echo_of(lens[i], 900, 1);
    }
}
END_TEST

/* --- the response ---------------------------------------------------------- */

START_TEST(responses_of_all_kinds)
{
    static const char *const kinds[] = {"copied", "static", "borrowed",
                                        "prepared", "file"};
    static const unsigned lens[] = {0, 600, 700, 5000, 20000, 1000000};
    char text[128];

    site.options.memory_budget_bytes = 20u * KIB * KIB;
    start();
    for (size_t k = 0; k < 5; k++) {
        for (size_t i = 0; i < 6; i++) {
            snprintf(text, sizeof(text),
                     "GET /large?%s&len=%u HTTP/1.1\r\nHost: x\r\n\r\n",
                     kinds[k], lens[i]);
            ck_assert_int_eq(content_ask(c, text, &r), 200);
            ck_assert_uint_eq(r.len, lens[i]);
            ck_assert_uint_eq(r.bad, 0);
        }
    }
}
END_TEST

static int preset(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    return restd_response_set_header(response, "X-Preset", "of one");
}

/* At every place where they may go beside a content, or not. */
START_TEST(many_fields)
{
    struct restd_plugin plugin = {
        .size = sizeof(plugin), .name = "preset", .before = preset};
    char text[128];

    site_new();
    ck_assert_int_eq(restd_router_use(site.router, &plugin, NULL), 0);
    add_all();
    site_start();
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
    for (unsigned n = 0; n < 70; n += 3) {
        for (unsigned len = 0; len < 700; len += 87) {
            snprintf(text, sizeof(text),
                     "GET /fields?n=%u&len=%u HTTP/1.1\r\nHost: x\r\n\r\n", n,
                     len);
            ck_assert_int_eq(content_ask(c, text, &r), 200);
            ck_assert_uint_eq(r.len, len);
            ck_assert_uint_eq(r.bad, 0);
            snprintf(text, sizeof(text),
                     "\r\nX-Field-%02u: a value of some "
                     "length, of a field\r\n",
                     n);
            ck_assert(n == 0 || strstr(r.head, text));
            ck_assert_ptr_nonnull(strstr(r.head, "\r\nX-Preset: "));
        }
    }
}
END_TEST

START_TEST(errors_are_replies)
{
    char text[128];

    start();
    ck_assert_int_eq(content_ask(c, GET("/fail?code=4"), &r), 500);
    ck_assert_ptr_null(strstr(r.body, "never seen"));
    snprintf(text, sizeof(text),
             "GET /fail?code=%d HTTP/1.1\r\nHost: x\r\n\r\n", -RESTD_ENOMEM);
    ck_assert_int_eq(content_ask(c, text, &r), 503);
    ck_assert_int_eq(content_ask(c, GET("/id"), &r), 200);
}
END_TEST

START_TEST(what_needs_its_loop_says_so)
{
    char text[32];

    start();
    ck_assert_int_eq(content_ask(c, GET("/streams"), &r), 200);
    snprintf(text, sizeof(text), "%d %d", RESTD_ESTATE, RESTD_ECLOSED);
    ck_assert_str_eq(r.body, text);
}
END_TEST

START_TEST(wrappers_go_along)
{
    static char plain[100001];
    struct restd_error error = {0, 0, ""};
    struct restd_plugin gzip;

    site_new();
    add_all();
    ck_assert_int_eq(restd_gzip(NULL, &gzip, &error), 0);
    ck_assert_int_eq(restd_router_use(site.router, &gzip, &error), 0);
    site_start();
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(client_connect(c, site.port, 0), 0);
        ck_assert_int_eq(
            content_ask(c,
                        "GET /large?len=50000 HTTP/1.1\r\nHost: x\r\n"
                        "Accept-Encoding: gzip\r\n\r\n",
                        &r),
            200);
        ck_assert_ptr_nonnull(strstr(r.head, "\r\nContent-Encoding: gzip\r\n"));
        ck_assert_uint_eq(gunzip(r.body, (size_t)r.len, plain, sizeof(plain)),
                          50000);
        ck_assert_int_eq(memcmp(plain, pattern, 50000), 0);
        client_close(c);
    }
}
END_TEST

/* --- beside others --------------------------------------------------------- */

START_TEST(nobody_is_held_up)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/wait")), 0);
    wait_for(&entered);
    ck_assert_int_eq(client_connect(&clients[1], site.port, 0), 0);
    ck_assert_int_eq(content_ask(&clients[1], GET("/inline"), &r), 200);
    ck_assert_int_eq(content_ask(&clients[1], GET("/id"), &r), 200);
    EVENTUALLY(stats().offload_running == 1);
    sem_post(&gate);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_str_eq(r.body, "waited");
}
END_TEST

START_TEST(pipelined_requests_are_answered_in_order)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/inline") GET("/wait") GET("/inline")
                                       GET("/id") GET("/inline")),
                     0);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    long tid = strtol(r.body, NULL, 10);
    wait_for(&entered);
    sem_post(&gate);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_str_eq(r.body, "waited");
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_int_eq(strtol(r.body, NULL, 10), tid);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_int_ne(strtol(r.body, NULL, 10), tid);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_int_eq(strtol(r.body, NULL, 10), tid);
}
END_TEST

START_TEST(a_full_queue_says_when_to_come_again)
{
    site.options.offload_threads = 1;
    site.options.offload_queue = 2;
    start();
    ck_assert_int_eq(client_say(c, GET("/wait")), 0);
    wait_for(&entered);
    for (int i = 1; i < 3; i++) {
        ck_assert_int_eq(client_connect(&clients[i], site.port, 0), 0);
        ck_assert_int_eq(client_say(&clients[i], GET("/id")), 0);
    }
    EVENTUALLY(stats().offload_queued == 2);
    ck_assert_int_eq(client_connect(&clients[3], site.port, 0), 0);
    ck_assert_int_eq(content_ask(&clients[3], GET("/id"), &r), 503);
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nRetry-After: 1\r\n"));
    ck_assert_uint_eq(stats().offload_refused, 1);
    sem_post(&gate);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(content_receive(&clients[i], &r, 0), 200);
    }
    /* The connection that was refused goes on. */
    ck_assert_int_eq(content_ask(&clients[3], GET("/id"), &r), 200);
}
END_TEST

/* --- clients that leave ---------------------------------------------------- */

START_TEST(a_reset_is_seen_by_the_handler)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/cancelled")), 0);
    wait_for(&entered);
    client_reset(c);
    EVENTUALLY(atomic_load(&cancelled_n) == 1);
    ck_assert_uint_eq(site_closed_by("reset"), 1);
}
END_TEST

START_TEST(a_reset_behind_pipelined_bytes_is_seen_as_well)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/cancelled") GET("/inline")), 0);
    wait_for(&entered);
    ck_assert_int_eq(client_say(c, GET("/inline")), 0);
    client_reset(c);
    EVENTUALLY(atomic_load(&cancelled_n) == 1);
}
END_TEST

START_TEST(who_left_before_its_turn_is_never_begun)
{
    site.options.offload_threads = 1;
    start();
    ck_assert_int_eq(client_say(c, GET("/wait")), 0);
    wait_for(&entered);
    ck_assert_int_eq(client_connect(&clients[1], site.port, 0), 0);
    ck_assert_int_eq(client_say(&clients[1], GET("/wait")), 0);
    EVENTUALLY(stats().offload_queued == 1);
    client_reset(&clients[1]);
    EVENTUALLY(site_closed_by("reset") == 1);
    sem_post(&gate);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    EVENTUALLY(stats().offload_dropped == 1);
    ck_assert_int_eq(atomic_load(&returned_n), 1);
}
END_TEST

START_TEST(a_half_closed_client_is_answered)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/wait")), 0);
    wait_for(&entered);
    ck_assert_int_eq(shutdown(c->fd, SHUT_WR), 0);
    /* Its hang-up has been seen when that of a later one has. */
    ck_assert_int_eq(client_connect(&clients[1], site.port, 0), 0);
    ck_assert_int_eq(client_say(&clients[1], GET("/cancelled/fin")), 0);
    wait_for(&entered);
    ck_assert_int_eq(shutdown(clients[1].fd, SHUT_WR), 0);
    EVENTUALLY(atomic_load(&cancelled_n) == 1);
    sem_post(&gate);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_str_eq(r.body, "waited");
    ck_assert_int_eq(atomic_load(&cancelled_n), 1);
    ck_assert(client_at_end(c));
}
END_TEST

/* After its FIN it resets: that is seen although FIN was let pass. */
START_TEST(a_reset_behind_a_fin)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/cancelled")), 0);
    wait_for(&entered);
    ck_assert_int_eq(shutdown(c->fd, SHUT_WR), 0);
    ck_assert_int_eq(client_connect(&clients[1], site.port, 0), 0);
    ck_assert_int_eq(client_say(&clients[1], GET("/cancelled/fin")), 0);
    wait_for(&entered);
    ck_assert_int_eq(shutdown(clients[1].fd, SHUT_WR), 0);
    EVENTUALLY(atomic_load(&cancelled_n) == 1);
    client_reset(c);
    EVENTUALLY(atomic_load(&cancelled_n) == 2);
}
END_TEST

/* --- time ------------------------------------------------------------------ */

START_TEST(a_handler_that_takes_too_long)
{
    site.options.handler_timeout_ms = 200;
    start();
    ck_assert_int_eq(client_say(c, GET("/wait")), 0);
    wait_for(&entered);
    ck_assert_int_eq(content_receive(c, &r, 0), 503);
    ck_assert(client_at_end(c));
    ck_assert_ptr_nonnull(strstr(r.body, "taken too long"));
    /* What plugins keep is the handler's until it returns. */
    ck_assert_int_eq(atomic_load(&seen.after), 0);
    sem_post(&gate);
    EVENTUALLY(atomic_load(&seen.after) == 1);
    ck_assert_int_eq(atomic_load(&cancelled_n), 1);
    ck_assert_int_eq(atomic_load(&seen.status), 503);
}
END_TEST

START_TEST(what_waits_too_long_is_never_begun)
{
    site.options.handler_timeout_ms = 200;
    site.options.offload_threads = 1;
    start();
    ck_assert_int_eq(client_say(c, GET("/wait")), 0);
    wait_for(&entered);
    ck_assert_int_eq(client_connect(&clients[1], site.port, 0), 0);
    ck_assert_int_eq(content_ask(&clients[1], GET("/wait"), &r), 503);
    ck_assert_int_eq(content_receive(c, &r, 0), 503);
    sem_post(&gate);
    EVENTUALLY(stats().offload_dropped == 1);
    ck_assert_int_eq(atomic_load(&returned_n), 1);
}
END_TEST

/* --- the end --------------------------------------------------------------- */

START_TEST(a_drain_lets_it_finish)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/wait")), 0);
    wait_for(&entered);
    restd_server_drain(site.server);
    EVENTUALLY(restd_server_state(site.server) == RESTD_STATE_DRAINING);
    sem_post(&gate);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_str_eq(r.body, "waited");
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nConnection: close\r\n"));
    restd_server_wait(site.server);
    ck_assert_int_eq(atomic_load(&cancelled_n), 0);
}
END_TEST

START_TEST(a_stop_cancels_it)
{
    site.options.offload_threads = 2;
    start();
    for (int i = 0; i < 5; i++) {
        if (i > 0) {
            ck_assert_int_eq(client_connect(&clients[i], site.port, 0), 0);
        }
        ck_assert_int_eq(client_say(&clients[i], GET("/cancelled")), 0);
    }
    wait_for(&entered);
    wait_for(&entered);
    EVENTUALLY(stats().offload_queued == 3);
    restd_server_stop(site.server);
    ck_assert_int_eq(atomic_load(&cancelled_n), 2);
    ck_assert_uint_eq(stats().offload_dropped, 3);
}
END_TEST

/* --- without a server, and on another's loop -------------------------------- */

START_TEST(a_router_alone_runs_it_in_place)
{
    struct restd_error error = {0, 0, ""};
    struct restd_router *router;
    struct restd_route_options options;
    struct restd_reply *reply;
    struct restd_call call;

    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &router), 0);
    int route = restd_router_add(router, "GET", "/id", thread_id, NULL, &error);
    restd_route_options_init(&options);
    options.offload = 1;
    ck_assert_int_eq(restd_router_configure(router, route, &options, &error),
                     0);
    options.streaming = 1;
    ck_assert_int_eq(restd_router_configure(router, route, &options, &error),
                     RESTD_EINVAL);
    restd_call_init(&call);
    call.target = "/id";
    ck_assert_int_eq(restd_router_call(router, &call, &reply, &error), 0);
    ck_assert_int_eq(restd_reply_status(reply), 200);
    ck_assert_int_eq(strtol(restd_reply_body(reply).data, NULL, 10),
                     (long)syscall(SYS_gettid));
    restd_reply_free(reply);
    restd_router_free(router);
    site_new();
    site_start();
}
END_TEST

/* The host ends while a handler of its guest runs. */
START_TEST(a_guest_waits_for_its_handlers)
{
    struct restd_error error = {0, 0, ""};
    struct restd_server *guest;
    struct restd_options options;
    struct restd_router *own;

    site_new();
    restd_options_init(&options);
    options.memory_budget_bytes = 2u * KIB * KIB;
    options.connections_max = 8;
    ck_assert_int_eq(restd_server_new_on(restd_server_control(site.server),
                                         &options, &guest, &error),
                     0);
    own = site.router;
    site.router = restd_server_router(guest);
    add("GET", "/id", thread_id, 0);
    add("GET", "/cancelled", wait_cancelled, 0);
    site.router = own;
    ck_assert_int_eq(restd_server_listen(guest, "127.0.0.1:0", &error), 0);
    ck_assert_int_eq(restd_server_start(guest, &error), 0);
    site_start();
    ck_assert_int_eq(client_connect(c, restd_server_port(guest, 0), 0), 0);
    ck_assert_int_eq(content_ask(c, GET("/id"), &r), 200);
    ck_assert_int_eq(client_say(c, GET("/cancelled")), 0);
    wait_for(&entered);
    restd_server_stop(site.server);
    ck_assert_int_eq(atomic_load(&cancelled_n), 1);
    restd_server_wait(guest);
    restd_server_free(guest);
}
END_TEST

START_TEST(threads_give_their_memory_back)
{
    start();
    ck_assert_uint_eq(site_memory("offload", 0), 0);
    ck_assert_int_eq(content_ask(c, GET("/id"), &r), 200);
    ck_assert_uint_gt(site_memory("offload", 0), 0);
    restd_server_stop(site.server);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("offload");
    TCase *tc = tcase_create("offload");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, it_runs_elsewhere);
    tcase_add_test(tc, nothing_of_the_request_is_missing);
    tcase_add_test(tc, methods_and_versions);
    tcase_add_test(tc, contents_of_all_sizes);
    tcase_add_test(tc, responses_of_all_kinds);
    tcase_add_test(tc, many_fields);
    tcase_add_test(tc, errors_are_replies);
    tcase_add_test(tc, what_needs_its_loop_says_so);
    tcase_add_test(tc, wrappers_go_along);
    tcase_add_test(tc, nobody_is_held_up);
    tcase_add_test(tc, pipelined_requests_are_answered_in_order);
    tcase_add_test(tc, a_full_queue_says_when_to_come_again);
    tcase_add_test(tc, a_reset_is_seen_by_the_handler);
    tcase_add_test(tc, a_reset_behind_pipelined_bytes_is_seen_as_well);
    tcase_add_test(tc, who_left_before_its_turn_is_never_begun);
    tcase_add_test(tc, a_half_closed_client_is_answered);
    tcase_add_test(tc, a_reset_behind_a_fin);
    tcase_add_test(tc, a_handler_that_takes_too_long);
    tcase_add_test(tc, what_waits_too_long_is_never_begun);
    tcase_add_test(tc, a_drain_lets_it_finish);
    tcase_add_test(tc, a_stop_cancels_it);
    tcase_add_test(tc, a_router_alone_runs_it_in_place);
    tcase_add_test(tc, a_guest_waits_for_its_handlers);
    tcase_add_test(tc, threads_give_their_memory_back);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
