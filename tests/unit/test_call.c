/* SPDX-License-Identifier: MIT */
/* Routers without a server: restd_router_call(), and by it events and posts,
 * whose loop is the caller's. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <restd/restd.h>

#include "base/mem.h"
#include "support/suite.h"

static struct restd_router *router;
static struct restd_reply *reply;
static struct restd_error error;

static void add(const char *method, const char *pattern,
                restd_handler_fn *handler)
{
    ck_assert_int_ge(
        restd_router_add(router, method, pattern, handler, NULL, &error), 0);
}

static int ask_all(const struct restd_call *call)
{
    restd_reply_free(reply);
    reply = NULL;
    ck_assert_int_eq(restd_router_call(router, call, &reply, &error), 0);
    return restd_reply_status(reply);
}

static int ask(const char *method, const char *target)
{
    struct restd_call call;
    restd_call_init(&call);
    call.method = method;
    call.target = target;
    return ask_all(&call);
}

static const char *body(void)
{
    static char text[8192];
    struct restd_slice s = restd_reply_body(reply);
    ck_assert_uint_lt(s.len, sizeof(text));
    memcpy(text, s.data, s.len);
    text[s.len] = '\0';
    return text;
}

static void set_up(void)
{
    rd_mem_fail_nth(0);
    reply = NULL;
    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &router), 0);
}

static void tear_down(void)
{
    restd_reply_free(reply);
    restd_router_free(router);
}

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
    tcase_add_test(tc, without_memory);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
