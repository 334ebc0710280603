/* SPDX-License-Identifier: MIT */
/* Contents both ways without a server: sizes, refusals, pauses. */
#include <time.h>

#include "call_help.h"
#include "support/suite.h"

static int closed_n, closed_complete;

static int count_content(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    (void)data;
    return restd_response_printf(response, "%zu",
                                 restd_request_body(request).len);
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

START_TEST(contents_larger_than_a_read_and_refusals)
{
    static char content[65537];
    struct restd_call call;
    uint64_t start = now_ms();
    add("POST", "/count", count_content);
    memset(content, 'x', sizeof(content));
    restd_call_init(&call);
    call.method = "POST";
    call.target = "/count";
    call.body = content;
    call.body_len = 65536;
    ck_assert_int_eq(ask_all(&call), 200);
    ck_assert_str_eq(body(), "65536");
    call.body_len = 65537;
    ck_assert_int_eq(ask_all(&call), 413);
    call.body_len = 0;
    call.headers = "X: y";
    ck_assert_int_eq(restd_router_call(router, &call, &reply, &error),
                     RESTD_EINVAL);
    ck_assert_ptr_nonnull(strstr(error.message, "CR LF"));
    /* No deadline was waited for. */
    ck_assert_uint_lt(now_ms() - start, 1500);
}
END_TEST

static void end_at_once(struct restd_stream *stream, void *data)
{
    (void)data;
    restd_stream_end(stream);
}

static int sizeless(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    const struct restd_stream_ops ops = {.ready = end_at_once};
    (void)request;
    ck_assert_int_eq(restd_response_stream(response, &ops, data, NULL),
                     RESTD_EINVAL);
    ck_assert_int_eq(restd_response_events(response, &ops, data, 0, NULL),
                     RESTD_EINVAL);
    return 0;
}

START_TEST(ops_without_a_size)
{
    add("GET", "/sizeless", sizeless);
    ck_assert_int_eq(ask("GET", "/sizeless"), 200);
}
END_TEST

static size_t dropped_n;

static int drop(struct restd_upload *upload, const char *bytes, size_t len,
                void *data)
{
    (void)upload;
    (void)bytes;
    (void)data;
    dropped_n += len;
    return 0;
}

static void upload_closed(int complete, void *data)
{
    (void)data;
    closed_n++;
    closed_complete = complete;
}

static int pause_and_end(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    static const struct restd_upload_ops upload_ops = {sizeof(upload_ops), drop,
                                                       NULL, upload_closed};
    static const struct restd_stream_ops ops = {sizeof(ops), end_at_once, NULL};
    struct restd_upload *upload;
    ck_assert_int_eq(restd_request_receive(request, &upload_ops, data, &upload),
                     0);
    restd_upload_pause(upload);
    return restd_response_stream(response, &ops, data, NULL);
}

START_TEST(a_paused_content_goes_on_when_the_stream_has_ended)
{
    struct restd_route_options streaming;
    struct restd_call call;
    int route =
        restd_router_add(router, "POST", "/pause", pause_and_end, NULL, &error);
    uint64_t start = now_ms();
    restd_route_options_init(&streaming);
    streaming.streaming = 1;
    ck_assert_int_eq(restd_router_configure(router, route, &streaming, &error),
                     0);
    restd_call_init(&call);
    call.method = "POST";
    call.target = "/pause";
    call.body = "content";
    for (call.body_len = 0; call.body_len <= 7; call.body_len += 7) {
        closed_n = 0;
        dropped_n = 0;
        ck_assert_int_eq(ask_all(&call), 200);
        ck_assert_int_eq(closed_n, 1);
        ck_assert_int_eq(closed_complete, 1);
        ck_assert_uint_eq(dropped_n, call.body_len);
    }
    ck_assert_uint_lt(now_ms() - start, 5000);
}
END_TEST

static int reset_content(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), NULL, NULL};
    (void)data;
    ck_assert_int_eq(restd_response_set_status(response, 205), 0);
    return restd_slice_is(restd_request_query(request), "stream")
               ? restd_response_stream(response, &ops, NULL, NULL)
               : restd_response_printf(response, "not to be seen");
}

/* RFC 9110 15.3.6. */
START_TEST(status_205_has_no_content)
{
    add("GET", "/205", reset_content);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ask("GET", i ? "/205?stream" : "/205"), 205);
        ck_assert_str_eq(body(), "");
        ck_assert(
            restd_slice_is(restd_reply_header(reply, "Content-Length"), "0"));
        ck_assert_ptr_null(restd_reply_header(reply, "Transfer-Encoding").data);
    }
}
END_TEST

static int numbers(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    int64_t n = 0;
    int rc = restd_request_param_int(request, "n", &n);
    (void)data;
    ck_assert_int_eq(restd_request_param_int(request, "m", &n), RESTD_ENOENT);
    return restd_response_printf(response, "%s %lld",
                                 rc ? restd_error_name(rc) : "", (long long)n);
}

START_TEST(parameters_as_numbers)
{
    static const char *const cases[][2] = {
        {"/n/0", " 0"},
        {"/n/-12", " -12"},
        {"/n/9223372036854775807", " 9223372036854775807"},
        {"/n/-9223372036854775808", " -9223372036854775808"},
        {"/n/9223372036854775808", "RESTD_ERANGE"},
        {"/n/123456789012345678901234567890", "RESTD_ERANGE"},
        {"/n/x", "RESTD_EINVAL"},
        {"/n/-", "RESTD_EINVAL"},
        {"/n/1x", "RESTD_EINVAL"},
        {"/n/+1", "RESTD_EINVAL"},
        {"/n/%201", "RESTD_EINVAL"},
    };
    add("GET", "/n/{n}", numbers);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(ask("GET", cases[i][0]), 200);
        ck_assert_msg(strncmp(body(), cases[i][1], strlen(cases[i][1])) == 0,
                      "%s: %s", cases[i][0], body());
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("call_content");
    TCase *tc = tcase_create("call_content");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, contents_larger_than_a_read_and_refusals);
    tcase_add_test(tc, ops_without_a_size);
    tcase_add_test(tc, parameters_as_numbers);
    tcase_add_test(tc, a_paused_content_goes_on_when_the_stream_has_ended);
    tcase_add_test(tc, status_205_has_no_content);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
