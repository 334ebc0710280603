/* SPDX-License-Identifier: MIT */
/* Routers without a server: restd_router_call(), and by it events and posts,
 * whose loop is the caller's. */
#include <check.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <restd/restd.h>

#include "base/mem.h"
#include "call_help.h"
#include "support/suite.h"

static int tell(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_slice id = restd_request_param(request, "id");
    struct restd_slice q = restd_request_query_get(request, "q");
    struct restd_slice h = restd_request_header(request, "x-one");
    struct restd_slice b = restd_request_body(request);
    (void)data;
    ck_assert_int_eq(restd_response_add_header(response, "X-Two", "2"), 0);
    /* It is routed by now. */
    ck_assert_int_eq(restd_request_set_path(request, "/x"), RESTD_ESTATE);
    return restd_response_printf(response, "%.*s|%.*s|%.*s|%.*s", (int)id.len,
                                 id.data, (int)q.len, q.data ? q.data : "",
                                 (int)h.len, h.data ? h.data : "", (int)b.len,
                                 b.data);
}

START_TEST(request_in_response_out)
{
    struct restd_call call;
    add("GET", "/a/{id}", tell);
    add("POST", "/a/{id}", tell);
    restd_call_init(&call);
    call.method = "POST";
    call.target = "/a/b%20c?x=1&q=2+3";
    call.headers = "X-One: yes\r\n";
    call.body = "content";
    call.body_len = 7;
    ck_assert_int_eq(ask_all(&call), 200);
    ck_assert_str_eq(body(), "b c|2 3|yes|content");
    ck_assert(restd_slice_is(restd_reply_header(reply, "x-two"), "2"));
    ck_assert_ptr_null(restd_reply_header(reply, "x-three").data);
    ck_assert_int_eq(ask("GET", "/a/7"), 200);
    ck_assert_str_eq(body(), "7|||");
    ck_assert_int_eq(ask("HEAD", "/a/7"), 200);
    ck_assert_str_eq(body(), "");
    ck_assert(restd_slice_is(restd_reply_header(reply, "Content-Length"), "4"));
    ck_assert_int_eq(ask("GET", "/b"), 404);
    ck_assert_int_eq(ask("PUT", "/a/7"), 405);
    ck_assert(restd_slice_is(restd_reply_header(reply, "Allow"),
                             "GET, HEAD, POST, OPTIONS"));
    /* A route added later is found. */
    add("GET", "/b", tell);
    ck_assert_int_eq(ask("GET", "/b"), 200);
    ck_assert_int_eq(ask("GET", "no path"), 400);
}
END_TEST

/* --- events ------------------------------------------------------------------ */

static int closed_n, closed_complete;
static struct restd_timer *timer;
static struct restd_post *post;
static struct restd_stream *events;
static int rounds;

static void events_closed(struct restd_stream *stream, int complete, void *data)
{
    (void)stream;
    (void)data;
    closed_n++;
    closed_complete = complete;
    restd_timer_free(timer);
    restd_post_free(post);
    timer = NULL;
    post = NULL;
}

static void events_ready(struct restd_stream *stream, void *data)
{
    const struct restd_event first = {.id = "1",
                                      .event = "greeting",
                                      .data = "one\ntwo\r\nthree\r\n",
                                      .retry_ms = 1500};
    const struct restd_event bad_id = {.id = "a\nb"};
    const struct restd_event bad_type = {.event = "a\rb"};
    static char big[20000];
    const struct restd_event too_big = {.data = memset(big, 'x', 19999)};
    const struct restd_event empty = {.data = ""};
    (void)data;
    ck_assert_int_eq(restd_stream_event(stream, &bad_id), RESTD_EINVAL);
    ck_assert_int_eq(restd_stream_event(stream, &bad_type), RESTD_EINVAL);
    ck_assert_int_eq(restd_stream_event(stream, &too_big), RESTD_ELIMIT);
    ck_assert_int_eq(restd_stream_event(stream, &first), 0);
    ck_assert_int_eq(restd_stream_event(stream, &empty), 0);
}

static void from_post(void *data)
{
    const struct restd_event last = {.data = "posted"};
    (void)data;
    ck_assert_int_eq(restd_stream_event(events, &last), 0);
    restd_stream_end(events);
    restd_stream_end(events);
    ck_assert_int_eq(restd_stream_event(events, &last), RESTD_ECLOSED);
}

static void from_timer(struct restd_timer *t, void *data)
{
    const struct restd_event tick = {.data = "tick"};
    (void)t;
    (void)data;
    if (rounds == 2) {
        return; /* late: the post has not run yet */
    }
    ck_assert_int_eq(restd_stream_event(events, &tick), 0);
    if (++rounds == 2) {
        restd_post_send(post);
        restd_post_send(post);
    }
}

static int serve_events(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), events_ready,
                                                events_closed};
    struct restd_loop *loop = restd_request_loop(request);
    rounds = 0;
    ck_assert_int_eq(restd_timer_new(loop, 1, 1, from_timer, NULL, &timer), 0);
    ck_assert_int_eq(restd_post_new(loop, from_post, NULL, &post), 0);
    /* Not as restd_response_events() does, which ends in a drain. */
    ck_assert_int_eq(restd_response_stream(response, &ops, data, &events), 0);
    ck_assert_int_eq(restd_response_stream(response, &ops, data, NULL),
                     RESTD_ESTATE);
    return restd_response_set_type(response, "text/event-stream");
}

START_TEST(a_stream_runs_to_its_end)
{
    add("GET", "/events", serve_events);
    closed_n = 0;
    ck_assert_int_eq(ask("GET", "/events"), 200);
    ck_assert_str_eq(body(), "retry: 1500\nid: 1\nevent: greeting\ndata: one\n"
                             "data: two\ndata: three\ndata: \n\ndata: \n\n"
                             "data: tick\n\ndata: tick\n\ndata: posted\n\n");
    ck_assert_int_eq(closed_n, 1);
    ck_assert_int_eq(closed_complete, 1);
    ck_assert(restd_slice_is(restd_reply_header(reply, "Content-Type"),
                             "text/event-stream"));
}
END_TEST

static int start_events(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), events_ready,
                                                events_closed};
    (void)request;
    timer = NULL;
    post = NULL;
    return restd_response_events(response, &ops, data, 1000, NULL);
}

START_TEST(events_end_by_themselves)
{
    add("GET", "/events", start_events);
    closed_n = 0;
    ck_assert_int_eq(ask("GET", "/events"), 200);
    ck_assert_int_eq(closed_n, 1);
    ck_assert_int_eq(closed_complete, 1);
    ck_assert(
        restd_slice_is(restd_reply_header(reply, "Cache-Control"), "no-store"));
    ck_assert_ptr_nonnull(strstr(body(), "data: three\n"));
}
END_TEST

/* --- replies that end early or without content ------------------------------- */

static void short_ready(struct restd_stream *stream, void *data)
{
    (void)data;
    ck_assert_int_eq(restd_stream_write(stream, "some", 4), 4);
    if (stream_end == ABORTED) {
        restd_stream_abort(stream);
        return;
    }
    ck_assert_int_eq(restd_stream_trailer(stream, "X-In", "time"), 0);
    restd_stream_end(stream);
    if (stream_end == TRAILER_BEHIND_IT) {
        ck_assert_int_eq(restd_stream_trailer(stream, "X-Too", "late"),
                         RESTD_ECLOSED);
    }
}

static void short_closed(struct restd_stream *stream, int complete, void *data)
{
    (void)data;
    closed_n++;
    closed_complete = complete;
    if (stream_end == TRAILER_BEHIND_IT) {
        ck_assert_int_eq(restd_stream_trailer(stream, "X-Too", "late"),
                         RESTD_ECLOSED);
    }
}

static const struct restd_stream_ops short_ops = {sizeof(short_ops),
                                                  short_ready, short_closed};

static int serve_short(struct restd_request *request,
                       struct restd_response *response, void *data)
{
    (void)request;
    return restd_response_stream(response, &short_ops, data, NULL);
}

static int serve_cut_file(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    int fd = memfd_create("cut", MFD_CLOEXEC);
    (void)request;
    (void)data;

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, 20000), 0);
    return restd_response_file(response, fd, 0, 100000);
}

static int serve_nothing(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    struct restd_slice status = restd_request_query(request);
    (void)data;

    ck_assert_int_eq(restd_response_set_status(
                         response, restd_slice_is(status, "204") ? 204 : 304),
                     0);
    return restd_response_printf(response, "not to be sent");
}

START_TEST(head_of_a_stream_has_no_content)
{
    add("GET", "/stream", serve_short);
    closed_n = 0;
    ck_assert_int_eq(ask("HEAD", "/stream"), 200);
    ck_assert_uint_eq(restd_reply_body(reply).len, 0);
    ck_assert_int_eq(closed_n, 1);
    ck_assert_int_eq(closed_complete, 1);
    ck_assert_int_eq(ask("GET", "/stream"), 200);
    ck_assert_str_eq(body(), "some");
    ck_assert_int_eq(closed_n, 2);
}
END_TEST

START_TEST(a_reply_whose_status_has_no_content_is_whole)
{
    add("GET", "/nothing", serve_nothing);
    ck_assert_int_eq(ask("GET", "/nothing?204"), 204);
    ck_assert_uint_eq(restd_reply_body(reply).len, 0);
    ck_assert_int_eq(ask("GET", "/nothing?304"), 304);
    ck_assert_uint_eq(restd_reply_body(reply).len, 0);
}
END_TEST

static void check_cut(const char *target)
{
    struct restd_call call;

    restd_call_init(&call);
    call.target = target;
    ck_assert_int_eq(restd_router_call(router, &call, &reply, &error),
                     RESTD_EINVAL);
}

START_TEST(a_reply_that_is_cut_is_none)
{
    add("GET", "/stream", serve_short);
    add("GET", "/file", serve_cut_file);
    closed_n = 0;
    stream_end = ABORTED;
    check_cut("/stream");
    ck_assert_int_eq(closed_n, 1);
    ck_assert_int_eq(closed_complete, 0);
    check_cut("/file");
    ck_assert_int_eq(ask("HEAD", "/file"), 200);
}
END_TEST

START_TEST(trailers_behind_the_end_are_too_late)
{
    add("GET", "/stream", serve_short);
    closed_n = 0;
    stream_end = TRAILER_BEHIND_IT;
    ck_assert_int_eq(ask("GET", "/stream"), 200);
    ck_assert_str_eq(body(), "some");
    ck_assert_int_eq(closed_n, 1);
}
END_TEST

/* --- events without room ----------------------------------------------------- */

static int fill_fields(struct restd_response *response)
{
    int rc;

    do { /* 5 bytes each: not one more field that says anything fits */
        rc = restd_response_add_header(response, "A", "");
    } while (rc == 0);
    return rc;
}

static int events_without_room(struct restd_request *request,
                               struct restd_response *response, void *data)
{
    struct restd_slice then = restd_request_query(request);
    (void)data;

    ck_assert_int_eq(fill_fields(response), RESTD_ELIMIT);
    int rc = restd_response_events(response, &short_ops, NULL, 1000, NULL);
    ck_assert_int_eq(rc, RESTD_ELIMIT);
    ck_assert_uint_eq(restd_response_body_len(response), 0);
    if (restd_slice_is(then, "fail")) {
        return rc;
    }
    return restd_slice_is(then, "stream")
               ? restd_response_stream(response, &short_ops, NULL, NULL)
               : restd_response_printf(response, "none");
}

START_TEST(events_that_fail_are_no_stream)
{
    add("GET", "/events", events_without_room);
    closed_n = 0;
    ck_assert_int_eq(ask("GET", "/events"), 200);
    ck_assert_str_eq(body(), "none");
    ck_assert(restd_slice_is(restd_reply_header(reply, "Content-Length"), "4"));
    ck_assert_int_eq(closed_n, 0);
    ck_assert_int_eq(ask("GET", "/events?fail"), 500);
    ck_assert_int_eq(closed_n, 0);
    ck_assert_int_eq(ask("GET", "/events?stream"), 200);
    ck_assert_str_eq(body(), "some");
    ck_assert_int_eq(closed_n, 1);
    ck_assert_int_eq(closed_complete, 1);
}
END_TEST

/* --- posts ------------------------------------------------------------------- */

static void post_too_late(void *data)
{
    (void)data;
    ck_abort_msg("the loop has ended, and its post was freed");
}

/* The loop ends with this turn. */
static void post_and_free(struct restd_stream *stream, int complete, void *data)
{
    (void)stream;
    (void)complete;
    (void)data;
    restd_post_send(post);
    restd_post_free(post);
    closed_n++;
}

static int serve_post(struct restd_request *request,
                      struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), short_ready,
                                                post_and_free};

    ck_assert_int_eq(
        restd_post_new(restd_request_loop(request), post_too_late, NULL, &post),
        0);
    return restd_response_stream(response, &ops, data, NULL);
}

/* Bytes of the heap in use; 0 where that cannot be known. */
static size_t heap_bytes(void)
{
#ifdef __GLIBC__
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

/* Under a leak checker the first call is enough. */
START_TEST(a_post_freed_while_the_loop_stops_is_given_back)
{
    add("GET", "/post", serve_post);
    closed_n = 0;
    size_t before = 0;
    for (int i = 0; i < 1000; i++) {
        before = i == 500 ? heap_bytes() : before; /* caches are full then */
        ck_assert_int_eq(ask("GET", "/post"), 200);
    }
    ck_assert_int_eq(closed_n, 1000);
    ck_assert_uint_lt(heap_bytes(), before + 500 * sizeof(void *));
}
END_TEST

/* --- plugins ----------------------------------------------------------------- */

static int handled_n, inner_n;
static int first_rc, second_rc;

static int count_handled(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    (void)data;
    handled_n++;
    return restd_slice_is(restd_request_query(request), "fail")
               ? RESTD_EINVAL
               : restd_response_printf(response, "handled");
}

static int answer_with(struct restd_request *request,
                       struct restd_response *response, void *data)
{
    (void)request;
    ck_assert_int_eq(restd_response_set_status(response, 203), 0);
    ck_assert_int_eq(restd_response_printf(response, "answered"), 0);
    return *(const int *)data;
}

START_TEST(any_positive_value_of_a_before_says_answered)
{
    static const int values[] = {
        RESTD_ANSWERED, 2, 100, 200, 204, 404, 500, 7000, INT_MAX};
    static int value;
    const struct restd_plugin plugin = {.size = sizeof(plugin),
                                        .name = "answering",
                                        .before = answer_with,
                                        .data = &value};

    add("GET", "/outer", count_handled);
    int route =
        restd_router_add(router, "GET", "/inner", count_handled, NULL, &error);
    ck_assert_int_eq(restd_router_use_on(router, route, &plugin, &error), 0);
    handled_n = 0;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        value = values[i];
        ck_assert_int_eq(ask("GET", "/inner"), 203);
        ck_assert_str_eq(body(), "answered");
    }
    ck_assert_int_eq(handled_n, 0);
    ck_assert_int_eq(ask("GET", "/outer"), 200);
    ck_assert_int_eq(restd_router_use(router, &plugin, &error), 0);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        value = values[i];
        ck_assert_int_eq(ask("GET", "/outer"), 203);
        ck_assert_str_eq(body(), "answered");
    }
    ck_assert_int_eq(handled_n, 1);
}
END_TEST

static int next_twice(struct restd_request *request,
                      struct restd_response *response, struct restd_next *next,
                      void *data)
{
    (void)request;
    (void)response;
    (void)data;
    first_rc = restd_next(next);
    second_rc = restd_next(next);
    return first_rc;
}

static int next_once(struct restd_request *request,
                     struct restd_response *response, struct restd_next *next,
                     void *data)
{
    (void)request;
    (void)response;
    (void)data;
    inner_n++;
    return restd_next(next);
}

START_TEST(next_runs_once)
{
    const struct restd_plugin twice = {
        .size = sizeof(twice), .name = "twice", .wrapper = next_twice};
    const struct restd_plugin once = {
        .size = sizeof(once), .name = "once", .wrapper = next_once};

    ck_assert_int_eq(restd_router_use(router, &twice, &error), 0);
    ck_assert_int_eq(restd_router_use(router, &once, &error), 0);
    add("GET", "/", count_handled);
    handled_n = 0;
    inner_n = 0;
    ck_assert_int_eq(ask("GET", "/"), 200);
    ck_assert_str_eq(body(), "handled");
    ck_assert_int_eq(first_rc, 0);
    ck_assert_int_eq(second_rc, RESTD_ESTATE);
    ck_assert_int_eq(inner_n, 1);
    ck_assert_int_eq(handled_n, 1);
    ck_assert_int_eq(ask("GET", "/?fail"), 500);
    ck_assert_int_eq(first_rc, RESTD_EINVAL);
    ck_assert_int_eq(second_rc, RESTD_ESTATE);
    ck_assert_int_eq(inner_n, 2);
    ck_assert_int_eq(handled_n, 2);
}
END_TEST

/* --- cookies ----------------------------------------------------------------- */

/* "a=;" */
#define COOKIES_FEW 330
#define COOKIES_MANY (16 * COOKIES_FEW)

static int64_t cookies_ns; /* the least time that they took */

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int look_for_cookies(struct restd_request *request,
                            struct restd_response *response, void *data)
{
    struct restd_slice name;
    struct restd_slice value;
    int64_t start = cpu_ns();
    size_t cursor = 0;
    unsigned n = 0;
    (void)data;

    ck_assert_ptr_null(restd_request_cookie(request, "none").data);
    while (restd_request_cookie_next(request, &cursor, &name, &value) == 0) {
        n++;
    }
    int64_t ns = cpu_ns() - start;
    if (ns < cookies_ns) {
        cookies_ns = ns;
    }
    return restd_response_printf(response, "%u", n);
}

/* In `fields` field lines. */
static int64_t time_of_cookies(unsigned n, unsigned fields)
{
    static char headers[3 * COOKIES_MANY + 1024];
    struct restd_call call;
    char want[16];
    size_t len = 0;

    for (unsigned i = 0; i < n; i++) {
        const char *line = i % (n / fields) != 0 ? ""
                           : i == 0              ? "Cookie: "
                                                 : "\r\nCookie: ";
        len += (size_t)snprintf(headers + len, sizeof(headers) - len, "%sa=;",
                                line);
    }
    snprintf(headers + len, sizeof(headers) - len, "\r\n");
    snprintf(want, sizeof(want), "%u", n);
    restd_call_init(&call);
    call.headers = headers;
    cookies_ns = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(ask_all(&call), 200);
        ck_assert_str_eq(body(), want);
    }
    return cookies_ns;
}

/* 16 times the cookies take 16 times as long, not 256 times. */
START_TEST(time_for_cookies_grows_with_their_number)
{
    add("GET", "/", look_for_cookies);
    int64_t few = time_of_cookies(COOKIES_FEW, 1);
    ck_assert_int_lt(time_of_cookies(COOKIES_MANY, 1), 64 * few);
    /* A further field line is one more step for each cookie. */
    ck_assert_int_lt(time_of_cookies(COOKIES_MANY, 30), 64 * 16 * few);
}
END_TEST

START_TEST(without_memory)
{
    struct restd_call call;
    restd_call_init(&call);
    add("GET", "/a/{id}", tell);
    call.target = "/a/1";
    int rc = RESTD_ENOMEM;
    unsigned n = 0;
    while (rc != 0 && n < 1000) {
        restd_reply_free(reply);
        reply = NULL;
        rd_mem_fail_nth(++n);
        rc = restd_router_call(router, &call, &reply, &error);
        rd_mem_fail_nth(0);
        ck_assert(rc == 0 || rc == RESTD_ENOMEM || rc == RESTD_EINVAL);
    }
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_gt(n, 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("call");
    TCase *tc = tcase_create("call");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, request_in_response_out);
    tcase_add_test(tc, a_stream_runs_to_its_end);
    tcase_add_test(tc, events_end_by_themselves);
    tcase_add_test(tc, head_of_a_stream_has_no_content);
    tcase_add_test(tc, a_reply_whose_status_has_no_content_is_whole);
    tcase_add_test(tc, a_reply_that_is_cut_is_none);
    tcase_add_test(tc, trailers_behind_the_end_are_too_late);
    tcase_add_test(tc, events_that_fail_are_no_stream);
    tcase_add_test(tc, a_post_freed_while_the_loop_stops_is_given_back);
    tcase_add_test(tc, any_positive_value_of_a_before_says_answered);
    tcase_add_test(tc, next_runs_once);
    tcase_add_test(tc, time_for_cookies_grows_with_their_number);
    tcase_add_test(tc, without_memory);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
