/* SPDX-License-Identifier: MIT */
/* Access log, request ids and default headers in a running server, seen from
 * outside. test_plugins_policy.c has the plugins that refuse. */
#include "plugin_server.h"

#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/suite.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char lines[32][1024];
static unsigned lines_n;

static void keep_line(const char *line, size_t len, void *data)
{
    (void)data;
    pthread_mutex_lock(&lock);
    if (lines_n < 32 && strlen(line) == len) {
        (void)snprintf(lines[lines_n], sizeof(lines[0]), "%s", line);
    }
    lines_n++;
    pthread_mutex_unlock(&lock);
}

static void keep_log(enum restd_log_level level, int64_t time_unix_ms,
                     const char *line, void *data)
{
    (void)time_unix_ms;
    if (level == RESTD_LOG_ACCESS) {
        keep_line(line, strlen(line), data);
    }
}

static unsigned lines_seen(void)
{
    pthread_mutex_lock(&lock);
    unsigned n = lines_n;
    pthread_mutex_unlock(&lock);
    return n;
}

/* Says what plugins have told of the request. */
static int show(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_slice id = restd_request_id(request);
    struct restd_slice field = restd_request_header(request, data);

    return restd_response_printf(response, "%.*s|%.*s", (int)id.len,
                                 id.data ? id.data : "", (int)field.len,
                                 field.data ? field.data : "");
}

static void flood(struct restd_stream *stream, void *data)
{
    (void)data;
    while (restd_stream_write(stream, fill, 65536) > 0) {
    }
}

static int endless(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {.size = sizeof(ops),
                                                .ready = flood};
    (void)request;
    (void)data;
    return restd_response_stream(response, &ops, NULL, NULL);
}

static int replace(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    return restd_response_set_header(response, "X-Frame-Options", "SAMEORIGIN");
}

static void add(const char *method, const char *path, restd_handler_fn *handler,
                char *data)
{
    must(restd_router_add(plugin_router, method, path, handler, data, &error));
}

static void set_up(void)
{
    static char name[] = "X-Request-Id";

    server_options(&options);
    options.log = keep_log;
    options.header_timeout_ms = 1000;
    lines_n = 0;
    make_server();
    add("GET", "/show", show, name);
    add("POST", "/show", show, name);
    add("GET", "/endless", endless, NULL);
    add("GET", "/replace", replace, NULL);
}

static int is_hex32(const char *s)
{
    return strlen(s) == 32 && strspn(s, "0123456789abcdef") == 32;
}

/* --- access log ------------------------------------------------------------ */

#define COMMON                                                                 \
    "$remote_addr - $remote_user [$time_local] \"$request\" $status "          \
    "$body_bytes_sent"

static void use_access_log(const char *format)
{
    struct restd_access_log_options o;

    restd_access_log_options_init(&o);
    o.write = keep_line;
    o.format = format;
    use(restd_access_log(&o, &plugin, &error));
}

/* Line number `n`, behind the time, once it is there; the time is right. */
static const char *line_at(unsigned n)
{
    static const char head[] = "127.0.0.1 - - [";
    struct tm tm;
    EVENTUALLY(lines_seen() > n);

    ck_assert_msg(strncmp(lines[n], head, sizeof(head) - 1) == 0, "%s",
                  lines[n]);
    memset(&tm, 0, sizeof(tm));
    const char *end =
        strptime(lines[n] + sizeof(head) - 1, "%d/%b/%Y:%H:%M:%S ", &tm);
    ck_assert_msg(end && strncmp(end, "+0545] ", 7) == 0, "%s", lines[n]);
    time_t at = timegm(&tm) - (5 * 60 + 45) * 60;
    ck_assert_int_le(labs((long)(time(NULL) - at)), 60);
    return end + 7;
}

START_TEST(access_log_common)
{
    static const struct {
        const char *text;
        int status;
        const char *line;
    } requests[] = {
        {GET("/hello?q=1") END, 200, "\"GET /hello?q=1 HTTP/1.1\" 200 5"},
        {"HEAD /hello" HOST END, 200, "\"HEAD /hello HTTP/1.1\" 200 -"},
        {"POST /echo" HOST "Content-Length: 3\r\n\r\nabc", 200,
         "\"POST /echo HTTP/1.1\" 200 3"},
        {"POST /echo" HOST "Transfer-Encoding: chunked\r\n\r\n"
         "3\r\nabc\r\n0\r\n\r\n",
         200, "\"POST /echo HTTP/1.1\" 200 3"},
        {GET("/none") END, 404, "\"GET /none HTTP/1.1\" 404 "},
        {GET("/a%22%0a\"\\b") END, 404,
         "\"GET /a%22%0a\\x22\\x5cb HTTP/1.1\" 404 "},
        {"DELETE /hello" HOST END, 405, "\"DELETE /hello HTTP/1.1\" 405 "},
        {"OPTIONS /hello" HOST END, 204, "\"OPTIONS /hello HTTP/1.1\" 204 -"},
        {"BREW /pot" HOST END, 501, "\"BREW /pot HTTP/1.1\" 501 "},
        {GET("/fail/3") END, 503, "\"GET /fail/3 HTTP/1.1\" 503 "},
        {"GET /hello HTTP/1.0\r\n\r\n", 200, "\"GET /hello HTTP/1.0\" 200 5"},
        {"POST /echo" HOST "Content-Length: 9999999\r\n\r\n", 413,
         "\"POST /echo HTTP/1.1\" 413 "},
        {"no request\r\n\r\n", 400, "\"-\" 400 "},
        {GET("/hello") "A : b\r\n\r\n", 400, "\"-\" 400 "},
        {GET("/hello"), 408, "\"-\" 408 "},
    };
    const unsigned n = sizeof(requests) / sizeof(requests[0]);

    use_access_log("common");
    start();
    for (unsigned i = 0; i < n; i++) {
        ask_once(requests[i].text, requests[i].status);
        const char *line = line_at(i);
        const char *want = requests[i].line;
        size_t len = strlen(want);
        ck_assert_msg(strncmp(line, want, len) == 0, "%s: %s", want, line);
        /* The rest is the length of the problem. */
        if (want[len - 1] == ' ') {
            ck_assert_uint_eq(strtoul(line + len, NULL, 10), reply.body_len);
            len += strspn(line + len, "0123456789");
        }
        ck_assert_str_eq(line + len, "");
    }
    ck_assert_uint_eq(lines_seen(), n);
}
END_TEST

START_TEST(access_log_header_too_large)
{
    char text[20000] = GET("/hello") "A: ";

    size_t len = strlen(text);
    memset(text + len, 'a', sizeof(text) - len - 5);
    (void)snprintf(text + sizeof(text) - 5, 5, END END);
    use_access_log("common");
    start();
    ask(text, 431);
    ck_assert_ptr_eq(strstr(line_at(0), "\"-\" 431 "), line_at(0));
}
END_TEST

START_TEST(access_log_combined)
{
    regex_t pattern;

    use(restd_request_id_plugin(NULL, &plugin, &error));
    use_access_log(COMMON " \"$http_referer\" \"$http_user_agent\" "
                          "$request_id $request_time");
    start();
    ask(GET("/hello") "Referer: http://r/\"x\r\nX-Request-Id: me-1\r\n"
                      "User-Agent: a\tb\\ \xc3\xa9\r\n" END,
        200);
    ck_assert_int_eq(
        regcomp(&pattern,
                "^\"GET /hello HTTP/1\\.1\" 200 5 \"http://r/\\\\x22x\" "
                "\"a\\\\x09b\\\\x5c \\\\xc3\\\\xa9\" me-1 0\\.[0-9]{6}$",
                REG_EXTENDED | REG_NOSUB),
        0);
    ck_assert_msg(regexec(&pattern, line_at(0), 0, NULL, 0) == 0, "%s",
                  lines[0]);
    regfree(&pattern);
    /* No `before` has seen it, so it has no id. */
    ask("x\r\n\r\n", 400);
    ck_assert_msg(strstr(line_at(1), " \"-\" \"-\" - ") != NULL, "%s",
                  lines[1]);
}
END_TEST

START_TEST(access_log_of_a_client_that_leaves)
{
    use(restd_request_id_plugin(NULL, &plugin, &error));
    use_access_log(COMMON " $request_id $request_time");
    start();
    ck_assert_int_eq(
        client_say(c, GET("/endless") "X-Request-Id: gone\r\n" END), 0);
    ck_assert_int_eq(client_receive(c, &reply, 1), 200);
    ck_assert_uint_eq(lines_seen(), 0);
    client_reset(c);
    const char *line = line_at(0);
    ck_assert_msg(strncmp(line, "\"GET /endless HTTP/1.1\" 200 ", 28) == 0,
                  "%s", line);
    /* About what the kernel has taken: framing counts as content there. */
    ck_assert_uint_ge(strtoul(line + 28, NULL, 10), 60000);
    ck_assert_msg(strstr(line, " gone ") != NULL, "%s", line);
}
END_TEST

START_TEST(access_log_to_the_servers_log)
{
    use(restd_access_log(NULL, &plugin, &error));
    start();
    ask(GET("/hello") "User-Agent: \xff\r\n" END, 200);
    EVENTUALLY(lines_seen() > 0);
    unsigned n = lines_seen();
    pthread_mutex_lock(&lock);
    int found = 0;
    for (unsigned i = 0; i < n && i < 32; i++) {
        found |= strstr(lines[i], "\"GET /hello HTTP/1.1\" 200 5 \"-\" "
                                  "\"\\xff\"") != NULL;
    }
    pthread_mutex_unlock(&lock);
    ck_assert_msg(found, "%s", lines[0]);
}
END_TEST

/* Which of `n` requests for /hello have a line, as a number in binary. */
static unsigned logged(unsigned n, const char *path)
{
    char text[64];
    unsigned mask = 0;
    unsigned seen = lines_seen();

    for (unsigned i = 0; i < n; i++) {
        (void)snprintf(text, sizeof(text), "GET %s" HOST END, path);
        client_reply_free(&reply);
        ck_assert_int_eq(client_say(c, text), 0);
        ck_assert_int_gt(client_receive(c, &reply, 0), 0);
        /* The line comes before the reply does. */
        mask = mask << 1 | (lines_seen() > seen);
        seen = lines_seen();
    }
    return mask;
}

static void use_filter(uint32_t sample, uint32_t slow_ms, int min_status)
{
    struct restd_access_log_options o;

    restd_access_log_options_init(&o);
    o.write = keep_line;
    o.sample = sample;
    o.slow_ms = slow_ms;
    o.min_status = min_status;
    use(restd_access_log(&o, &plugin, &error));
}

START_TEST(access_log_of_one_in_so_many)
{
    use_filter(3, 0, 0);
    start();
    ck_assert_uint_eq(logged(7, "/hello"), 0x49);
    ck_assert_uint_eq(logged(3, "/none"), 7); /* errors always */
    ck_assert_uint_eq(logged(4, "/hello"), 2);
}
END_TEST

START_TEST(access_log_of_high_status)
{
    use_filter(1, 0, 404);
    start();
    ck_assert_uint_eq(logged(2, "/hello"), 0);
    ck_assert_uint_eq(logged(2, "/none"), 3);
    ck_assert_uint_eq(logged(2, "/fail/3"), 3);
}
END_TEST

static int slow(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct timespec pause = {.tv_nsec = 20000000};

    (void)request;
    (void)data;
    while (nanosleep(&pause, &pause) != 0) {
    }
    return restd_response_printf(response, "slow");
}

START_TEST(access_log_of_slow_requests)
{
    use_filter(1000, 20, 500);
    add("GET", "/slow", slow, NULL);
    start();
    ck_assert_uint_eq(logged(2, "/hello"), 0);
    ck_assert_uint_eq(logged(2, "/slow"), 3);
}
END_TEST

START_TEST(access_log_options_that_are_none)
{
    struct restd_access_log_options o;
    static const char near[] = "did you mean \"combined\"?";

    restd_access_log_options_init(&o);
    o.format = "conbined";
    ck_assert_int_eq(restd_access_log(&o, &plugin, &error), RESTD_EINVAL);
    ck_assert_msg(strstr(error.message, near) != NULL, "%s", error.message);
    o.format = NULL;
    o.sample = 0;
    ck_assert_int_eq(restd_access_log(&o, &plugin, &error), RESTD_EINVAL);
    o.sample = 1;
    o.min_status = 600;
    ck_assert_int_eq(restd_access_log(&o, &plugin, &error), RESTD_EINVAL);
    o.min_status = 0;
    ck_assert_int_eq(restd_access_log(&o, &plugin, &error), 0);
    plugin.free(plugin.data);
}
END_TEST

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned flushes;

static void gated_log(enum restd_log_level level, int64_t time_unix_ms,
                      const char *line, void *data)
{
    pthread_mutex_lock(&gate);
    keep_log(level, time_unix_ms, line, data);
    pthread_mutex_unlock(&gate);
}

static void count_flush(void *data)
{
    (void)data;
    flushes++;
}

/* The sink hangs: requests are answered, and what finds no room is counted. */
START_TEST(access_log_without_room)
{
    struct restd_stats stats;
    unsigned asked = 0;

    restd_server_free(server);
    options.log = gated_log;
    options.log_flush = count_flush;
    options.log_ring_bytes = 4096;
    make_server();
    use(restd_access_log(NULL, &plugin, &error));
    start();
    restd_server_log_flush(server);
    EVENTUALLY(flushes > 0);
    pthread_mutex_lock(&gate);
    do {
        client_reply_free(&reply);
        ck_assert_int_eq(client_say(c, GET("/hello") END), 0);
        ck_assert_int_eq(client_receive(c, &reply, 0), 200);
        ck_assert_uint_lt(asked++, 1000);
        restd_server_stats(server, &stats);
    } while (stats.access_dropped < 5);
    ck_assert_uint_eq(stats.log_dropped, 0);
    pthread_mutex_unlock(&gate);
    EVENTUALLY(lines_seen() + stats.access_dropped == asked);
}
END_TEST

START_TEST(access_log_of_pipelined_requests_in_order)
{
    use_access_log("common");
    start();
    ck_assert_int_eq(client_say(c, GET("/hello?1") END GET("/none?2")
                                       END GET("/hello?3") END),
                     0);
    for (unsigned i = 0; i < 3; i++) {
        client_reply_free(&reply);
        ck_assert_int_eq(client_receive(c, &reply, 0), i == 1 ? 404 : 200);
        char mark[] = {'?', (char)('1' + i), ' ', '\0'};
        ck_assert_msg(strstr(line_at(i), mark) != NULL, "%s", lines[i]);
    }
}
END_TEST

/* --- request id ------------------------------------------------------------ */

#define TRACEPARENT                                                            \
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

START_TEST(request_id_is_kept_or_made)
{
    char first[64];
    char second[64];

    use(restd_request_id_plugin(NULL, &plugin, &error));
    start();
    ask(GET("/show") "x-request-ID: mine.1\r\n" END, 200);
    has("X-Request-Id: mine.1");
    ck_assert_str_eq(reply.body, "mine.1|mine.1");

    ask(GET("/show") "X-Request-Id: not mine\r\n" END, 200);
    value_of("X-Request-Id", first, sizeof(first));
    ck_assert_msg(is_hex32(first), "%s", first);
    ck_assert_uint_eq(strncmp(reply.body, first, 32), 0);
    ck_assert_str_eq(reply.body + 33, first); /* in front of the received one */

    ask(GET("/none") END, 404);
    value_of("X-Request-Id", second, sizeof(second));
    ck_assert_msg(is_hex32(second), "%s", second);
    ck_assert_str_ne(first, second);
    ask(GET("/fail/4") "X-Request-Id: a\r\n" END, 500);
    has("X-Request-Id: a");
    lacks("traceparent:");
}
END_TEST

START_TEST(request_id_of_a_content_in_two_pieces)
{
    use(restd_request_id_plugin(NULL, &plugin, &error));
    start();
    ck_assert_int_eq(client_say(c, "POST /show" HOST "X-Request-Id: two\r\n"
                                   "Content-Length: 2\r\n\r\na"),
                     0);
    EVENTUALLY(server_counters(server).requests_active == 1);
    /* Another request of the same loop comes in between. */
    ck_assert_int_eq(client_get(port, "/show", NULL, 0), 200);
    ask("b", 200);
    has("X-Request-Id: two");
    ck_assert_str_eq(reply.body, "two|two");
}
END_TEST

START_TEST(request_id_options)
{
    struct restd_request_id_options o;
    char id[64];

    restd_request_id_options_init(&o);
    o.header = "X-Correlation-Id";
    o.accept = 0;
    o.traceparent = 0;
    use(restd_request_id_plugin(&o, &plugin, &error));
    start();
    ask(GET("/show") "X-Correlation-Id: a\r\nX-Request-Id: b\r\n" TRACEPARENT
                     "\r\n" END,
        200);
    value_of("X-Correlation-Id", id, sizeof(id));
    ck_assert_msg(is_hex32(id), "%s", id);
    lacks("X-Request-Id:");
    lacks("traceparent:");
    ck_assert_uint_eq(strncmp(reply.body, id, 32), 0);
    ck_assert_str_eq(reply.body + 32, "|b");
}
END_TEST

START_TEST(request_id_of_the_outer_router_counts)
{
    struct restd_request_id_options o;
    struct restd_router *child = NULL;
    static char name[] = "X-Inner";

    restd_request_id_options_init(&o);
    o.header = "X-Inner";
    must(restd_router_new(RESTD_ROUTER_EXACT, &child));
    int route = restd_router_add(child, "GET", "/a", show, name, &error);
    must(route);
    must(restd_request_id_plugin(&o, &plugin, &error));
    must(restd_router_use(child, &plugin, &error));
    must(restd_request_id_plugin(&o, &plugin, &error));
    must(restd_router_use_on(child, route, &plugin, &error));
    if (_i) {
        use(restd_request_id_plugin(NULL, &plugin, &error));
    }
    must(restd_router_mount(plugin_router, "/in", child, &error));
    start();
    ask(GET("/in/a") "X-Inner: in\r\nX-Request-Id: out\r\n" END, 200);
    ck_assert_str_eq(reply.body, _i ? "out|in" : "in|in");
    ck_assert_uint_eq(count("X-Request-Id: out"), (unsigned)_i);
    ck_assert_uint_eq(count("X-Inner: in"), !_i);
    ask(GET("/show") "X-Request-Id: out\r\n" END, 200);
    ck_assert_str_eq(reply.body, _i ? "out|out" : "|out");
}
END_TEST

START_TEST(traceparent_is_passed_if_it_is_one)
{
    use(restd_request_id_plugin(NULL, &plugin, &error));
    start();
    ask(GET("/hello") TRACEPARENT "\r\n" END, 200);
    has(TRACEPARENT);
    ask(GET("/none") TRACEPARENT "\r\n" END, 404);
    has(TRACEPARENT);
    ask(GET("/hello") TRACEPARENT "x\r\n" END, 200);
    lacks("traceparent:");
    ask(GET("/hello") TRACEPARENT "\r\n" TRACEPARENT "\r\n" END, 200);
    lacks("traceparent:");
}
END_TEST

/* --- default headers ------------------------------------------------------- */

START_TEST(default_headers_in_every_reply)
{
    struct restd_fields *fields = NULL;

    must(restd_fields_new(&fields));
    must(restd_fields_add(fields, "X-Frame-Options", "DENY"));
    must(restd_fields_add(fields, "X-Content-Type-Options", "nosniff"));
    must(restd_default_headers(fields, &plugin, &error));
    restd_fields_free(fields);
    use(0);
    start();
    ask(GET("/hello") END, 200);
    has("X-Frame-Options: DENY");
    has("X-Content-Type-Options: nosniff");
    ask(GET("/replace") END, 200);
    has("X-Frame-Options: SAMEORIGIN");
    ck_assert_uint_eq(count("X-Frame-Options:"), 1);
    has("X-Content-Type-Options: nosniff");
    ask(GET("/none") END, 404);
    has("X-Frame-Options: DENY");
    ask(GET("/fail/4") END, 500);
    has("X-Frame-Options: DENY");
    ask("POST /echo" HOST "Transfer-Encoding: chunked\r\n\r\n"
        "1\r\na\r\n0\r\n\r\n",
        200);
    has("X-Frame-Options: DENY");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plugins");
    TCase *tcase = tcase_create("plugins");

    /* A zone that is nobody's default, before any thread is there. */
    if (setenv("TZ", "<+0545>-5:45", 1) != 0) {
        return EXIT_FAILURE;
    }
    tzset();
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, access_log_common);
    tcase_add_test(tcase, access_log_header_too_large);
    tcase_add_test(tcase, access_log_combined);
    tcase_add_test(tcase, access_log_of_a_client_that_leaves);
    tcase_add_test(tcase, access_log_to_the_servers_log);
    tcase_add_test(tcase, access_log_of_pipelined_requests_in_order);
    tcase_add_test(tcase, access_log_without_room);
    tcase_add_test(tcase, access_log_of_one_in_so_many);
    tcase_add_test(tcase, access_log_of_high_status);
    tcase_add_test(tcase, access_log_of_slow_requests);
    tcase_add_test(tcase, access_log_options_that_are_none);
    tcase_add_test(tcase, request_id_is_kept_or_made);
    tcase_add_test(tcase, request_id_of_a_content_in_two_pieces);
    tcase_add_test(tcase, request_id_options);
    tcase_add_loop_test(tcase, request_id_of_the_outer_router_counts, 0, 2);
    tcase_add_test(tcase, traceparent_is_passed_if_it_is_one);
    tcase_add_test(tcase, default_headers_in_every_reply);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
