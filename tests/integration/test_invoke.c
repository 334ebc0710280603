/* SPDX-License-Identifier: MIT */
/* What runs around handlers (restd/plugin.h), by real sockets: in which order,
 * for which requests, what each may change, and what comes of its errors. The
 * same for requests that are handled at once and those that are promoted. */
#include <restd/restd.h>

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site.h"
#include "support/suite.h"

static struct client client;
static struct client *const c = &client;
static struct content r;

/* Calls in their order: "bA" before of A, "wA(" and ")A" its wrapper, "aA" its
 * after, "h" the handler. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* trace, outcomes */
static char trace[1024];
static size_t trace_len;
static atomic_int freed;
static struct restd_outcome outcomes[8]; /* of plugin A */
static int outcomes_n;

static void note(const char *what, const char *who)
{
    pthread_mutex_lock(&lock);
    trace_len += (size_t)snprintf(trace + trace_len, sizeof(trace) - trace_len,
                                  "%s%s ", what, who);
    pthread_mutex_unlock(&lock);
}

/* What the query has a plugin do: its value of the field named so, "bA" ... */
static int is_to(const struct restd_request *request, const char *what,
                 const char *who, const char *action)
{
    char name[8];
    snprintf(name, sizeof(name), "%s%s", what, who);
    return restd_slice_is(restd_request_query_get(request, name), action);
}

static int before(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    const char *who = data;
    char name[8];
    int rc;

    note("b", who);
    snprintf(name, sizeof(name), "X-%s", who);
    rc = restd_response_add_header(response, name, "before");
    if (rc == 0) {
        rc = restd_request_set_header(request, name,
                                      restd_request_path(request));
    }
    if (rc != 0) {
        return rc;
    }
    if (*who == 'A') {
        if (restd_request_data(request) ||
            restd_request_body(request).len != 0 ||
            restd_response_stream(response, NULL, NULL, NULL) != RESTD_ESTATE) {
            atomic_fetch_add(&seen.errors, 1);
        }
        restd_request_set_data(request, trace);
    }
    if (is_to(request, "b", who, "type")) {
        return restd_response_set_type(response, "application/x-before");
    }
    if (is_to(request, "b", who, "body")) {
        return restd_response_body(response, fill, 100000);
    }
    if (is_to(request, "b", who, "answer")) {
        rc = restd_response_problem(response, 401, who);
        return rc == 0 ? RESTD_ANSWERED : rc;
    }
    return is_to(request, "b", who, "fail")    ? RESTD_EINVAL
           : is_to(request, "b", who, "nomem") ? RESTD_ENOMEM
                                               : 0;
}

static int wrapper(struct restd_request *request,
                   struct restd_response *response, struct restd_next *next,
                   void *data)
{
    const char *who = data;
    int rc = 0;

    note("w", who);
    if (is_to(request, "w", who, "skip")) {
        (void)restd_response_set_status(response, 202);
        return restd_response_body(response, who, 1);
    }
    rc = restd_next(next);
    note(")", who);
    if (is_to(request, "w", who, "change")) {
        (void)restd_response_set_header(response, "X-Handler", "changed");
        (void)restd_response_set_status(response, 203);
        return restd_response_body(response, "changed", 7);
    }
    if (is_to(request, "w", who, "reset")) {
        restd_response_reset(response);
        return restd_response_body(response, "reset", 5);
    }
    return is_to(request, "w", who, "fail")   ? RESTD_EINVAL
           : is_to(request, "w", who, "mend") ? 0
                                              : rc;
}

static void after(struct restd_request *request,
                  const struct restd_outcome *outcome, void *data)
{
    const char *who = data;

    note("a", who);
    if (*who == 'A') {
        if (restd_request_target(request).data &&
            restd_request_data(request) != trace) {
            atomic_fetch_add(&seen.errors, 1);
        }
        pthread_mutex_lock(&lock);
        outcomes[outcomes_n++ % 8] = *outcome;
        pthread_mutex_unlock(&lock);
    }
}

static void plugin_free(void *data)
{
    (void)data;
    atomic_fetch_add(&freed, 1);
}

static struct restd_plugin plugin(const char *who)
{
    struct restd_plugin p = {.size = sizeof(p),
                             .name = who,
                             .before = before,
                             .wrapper = wrapper,
                             .after = after,
                             .free = plugin_free,
                             .data = (void *)(uintptr_t)who};
    return p;
}

/* Says what it sees. */
static int handler(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    struct restd_slice path = restd_request_path(request);
    struct restd_slice x = restd_request_header(request, "X-G");
    struct restd_slice param = restd_request_param(request, "p");
    (void)data;

    note("h", "");
    if (query_has(request, "fail")) {
        (void)restd_response_add_header(response, "X-Handler", "failed");
        return RESTD_ESTATE;
    }
    int rc = restd_response_add_header(response, "X-Handler", "handled");
    return rc != 0 ? rc
                   : restd_response_printf(
                         response, "%.*s %.*s %.*s %zu", (int)path.len,
                         path.data, x.data ? (int)x.len : 1,
                         x.data ? x.data : "-", param.data ? (int)param.len : 1,
                         param.data ? param.data : "-",
                         restd_request_body(request).len);
}

static void stream_ready(struct restd_stream *stream, void *data)
{
    (void)data;
    if (restd_stream_write(stream, pattern, 1000) != 1000) {
        atomic_fetch_add(&seen.errors, 1);
    }
    restd_stream_end(stream);
}

static int stream_handler(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), stream_ready,
                                                NULL};
    (void)request;
    (void)data;
    note("h", "");
    return restd_response_stream(response, &ops, NULL, NULL);
}

static int take_handler(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    static const struct restd_upload_ops ops = {sizeof(ops), drop_content,
                                                handler, NULL};
    (void)response;
    note("t", "");
    return restd_request_receive(request, &ops, data, NULL);
}

/* Leads to other routes: restd_request_set_path(). */
static int rewrite(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    static const char *const bad[] = {"",      "x",     "x/y",      "/a?b",
                                      "/a#b",  "/a b",  "/\r\n",    "/\x7f",
                                      "/\x01", "/\x80", "/\xc3\xa4"};
    char path[5000];
    (void)response;
    (void)data;

    struct restd_slice to = restd_request_header(request, "X-To");
    if (!to.data) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (restd_request_set_path(request, bad[i]) != RESTD_EINVAL) {
            atomic_fetch_add(&seen.errors, 1);
        }
    }
    memset(path, '/', sizeof(path));
    path[sizeof(path) - 1] = '\0';
    if (restd_request_set_path(request, path) != RESTD_ELIMIT ||
        restd_request_set_path(request, "/not/this/one") != 0) {
        atomic_fetch_add(&seen.errors, 1);
    }
    snprintf(path, sizeof(path), "%.*s", (int)to.len, to.data);
    return restd_request_set_path(request, path);
}

/* --- fixture --------------------------------------------------------------- */

static void set_up(void)
{
    site_set_up();
    trace_len = 0;
    trace[0] = '\0';
    outcomes_n = 0;
    atomic_store(&freed, 0);
    memset(fill, 'f', sizeof(fill));
    client.fd = -1;
}

static void ok(int rc, const struct restd_error *error)
{
    ck_assert_msg(rc >= 0, "%s", error->message);
}

static struct restd_router *child_with(const char *who, const char *path)
{
    struct restd_error error = {0, 0, ""};
    struct restd_router *child = NULL;
    struct restd_plugin p = plugin(who);

    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &child), 0);
    ok(restd_router_use(child, &p, &error), &error);
    ok(restd_router_add(child, "GET", path, handler, NULL, &error), &error);
    ok(restd_router_add(child, "POST", path, handler, NULL, &error), &error);
    return child;
}

/* A, B on the server's router; C below /c, G below /c/g; R on a route. */
static void start(void)
{
    struct restd_error error = {0, 0, ""};
    struct restd_plugin a = plugin("A");
    struct restd_plugin b = plugin("B");
    struct restd_plugin route = plugin("R");
    struct restd_plugin to = {
        .size = sizeof(to), .name = "rewrite", .before = rewrite};

    site_new();
    ok(restd_router_use(site.router, &to, &error), &error);
    ok(restd_router_use(site.router, &a, &error), &error);
    ok(restd_router_use(site.router, &b, &error), &error);
    (void)site_add("GET", "/root", handler, 0, 0);
    (void)site_add("POST", "/root", handler, 0, 0);
    struct restd_router *child = child_with("C", "/x");
    struct restd_router *grandchild = child_with("G", "/x/{p}");
    int n =
        restd_router_add(grandchild, "GET", "/r/{p}", handler, NULL, &error);
    ok(n, &error);
    ok(restd_router_use_on(grandchild, n, &route, &error), &error);
    n = restd_router_add(grandchild, "POST", "/r/{p}", handler, NULL, &error);
    ok(n, &error);
    route = plugin("R");
    ok(restd_router_use_on(grandchild, n, &route, &error), &error);
    ok(restd_router_add(child, "GET", "/stream", stream_handler, NULL, &error),
       &error);
    n = restd_router_add(child, "POST", "/take", take_handler, NULL, &error);
    ok(n, &error);
    struct restd_route_options options;
    restd_route_options_init(&options);
    options.streaming = 1;
    ok(restd_router_configure(child, n, &options, &error), &error);
    ok(restd_router_mount(child, "/g", grandchild, &error), &error);
    ok(restd_router_mount(site.router, "/c", child, &error), &error);
    site_start();
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
}

static void tear_down(void)
{
    int server = site.server != NULL;
    client_close(c);
    site_tear_down();
    ck_assert_int_eq(atomic_load(&freed), server ? 6 : 0);
}

static size_t trace_length(void)
{
    pthread_mutex_lock(&lock);
    size_t len = trace_len;
    pthread_mutex_unlock(&lock);
    return len;
}

/* Waits for as many calls, and compares them. */
static void check_trace(const char *want)
{
    EVENTUALLY(trace_length() >= strlen(want));
    pthread_mutex_lock(&lock);
    ck_assert_str_eq(trace, want);
    trace_len = 0;
    trace[0] = '\0';
    pthread_mutex_unlock(&lock);
}

static struct restd_outcome outcome_of(int n)
{
    pthread_mutex_lock(&lock);
    ck_assert_int_lt(n, outcomes_n);
    struct restd_outcome outcome = outcomes[n];
    pthread_mutex_unlock(&lock);
    return outcome;
}

static void get(const char *target, int status)
{
    char text[512];
    snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target);
    ck_assert_int_eq(content_ask(c, text, &r), status);
    ck_assert(r.complete);
}

/* The content comes when the head has been seen. */
static void post_in_pieces(const char *target, int status)
{
    char text[512];
    uint64_t before_n = server_counters(site.server).requests;
    snprintf(text, sizeof(text),
             "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab",
             target);
    ck_assert_int_eq(client_say(c, text), 0);
    EVENTUALLY(server_counters(site.server).requests == before_n + 1);
    ck_assert_int_eq(client_say(c, "cde"), 0);
    ck_assert_int_eq(content_receive(c, &r, 0), status);
    ck_assert(r.complete);
}

static void post_whole(const char *target, int status)
{
    char text[512];
    snprintf(text, sizeof(text),
             "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde",
             target);
    ck_assert_int_eq(content_ask(c, text, &r), status);
    ck_assert(r.complete);
}

static int has(const char *line)
{
    char text[128];
    snprintf(text, sizeof(text), "\r\n%s\r\n", line);
    return strstr(r.head, text) != NULL;
}

static void close_and_wait(void)
{
    client_close(c);
    site_at_rest();
}

/* --- order ----------------------------------------------------------------- */

#define ALL "bA bB bC bG bR wA wB wC wG wR h )R )G )C )B )A aA aB aC aG aR "

START_TEST(from_the_outermost_router_inwards)
{
    start();
    get("/root", 200);
    check_trace("bA bB wA wB h )B )A aA aB ");
    get("/c/x", 200);
    check_trace("bA bB bC wA wB wC h )C )B )A aA aB aC ");
    get("/c/g/x/1", 200);
    check_trace("bA bB bC bG wA wB wC wG h )G )C )B )A aA aB aC aG ");
    get("/c/g/r/1", 200);
    check_trace(ALL);
    ck_assert_str_eq(r.body, "/c/g/r/1 /c/g/r/1 1 0");
    ck_assert(has("X-A: before") && has("X-B: before") && has("X-C: before"));
    ck_assert(has("X-G: before") && has("X-R: before"));
    client_close(c);
}
END_TEST

START_TEST(the_same_for_promoted_requests)
{
    start();
    post_whole("/c/g/r/1", 200);
    ck_assert_str_eq(r.body, "/c/g/r/1 /c/g/r/1 1 5");
    check_trace(ALL);
    post_in_pieces("/c/g/r/1", 200);
    ck_assert_str_eq(r.body, "/c/g/r/1 /c/g/r/1 1 5");
    ck_assert(has("X-A: before") && has("X-G: before") && has("X-R: before"));
    check_trace(ALL);
    post_in_pieces("/c/take", 200);
    ck_assert_str_eq(r.body, "/c/take - - 0");
    ck_assert(has("X-A: before") && has("X-C: before"));
    check_trace("bA bB bC wA wB wC t )C )B )A h aA aB aC ");
    get("/c/stream", 200);
    ck_assert_uint_eq(r.len, 1000);
    ck_assert(has("X-A: before") && has("X-C: before"));
    check_trace("bA bB bC wA wB wC h )C )B )A aA aB aC ");
    client_close(c);
}
END_TEST

START_TEST(those_that_find_no_route)
{
    start();
    get("/none", 404);
    ck_assert(has("X-A: before") && has("X-B: before"));
    check_trace("bA bB aA aB ");
    get("/c/none", 404);
    ck_assert(has("X-A: before") && has("X-C: before"));
    check_trace("bA bB bC aA aB aC ");
    get("/c/g/none", 404);
    check_trace("bA bB bC bG aA aB aC aG ");
    ck_assert_int_eq(
        content_ask(c, "DELETE /c/g/x/1 HTTP/1.1\r\nHost: x\r\n\r\n", &r), 405);
    check_trace("bA bB bC bG aA aB aC aG ");
    ck_assert_int_eq(
        content_ask(c, "OPTIONS /c/g/x/1 HTTP/1.1\r\nHost: x\r\n\r\n", &r),
        204);
    ck_assert(has("X-A: before") && has("X-G: before"));
    check_trace("bA bB bC bG aA aB aC aG ");
    ck_assert_int_eq(
        content_ask(c, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", &r), 204);
    check_trace("bA bB aA aB ");
    client_close(c);
}
END_TEST

START_TEST(what_is_no_request_has_only_the_outermost_after)
{
    site.options.header_timeout_ms = 200;
    start();
    ck_assert_int_eq(content_ask(c, "GET / HTTP/1.1\r\n\r\n", &r), 400);
    close_and_wait();
    check_trace("aA aB ");
    ck_assert_int_eq(outcome_of(0).status, 400);
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
    ck_assert_int_eq(content_ask(c, "GET / HT", &r), 408);
    close_and_wait();
    check_trace("aA aB ");
    ck_assert_int_eq(outcome_of(1).status, 408);
    ck_assert_int_eq(atomic_load(&seen.before), 0);
}
END_TEST

/* --- before ---------------------------------------------------------------- */

START_TEST(any_before_may_answer)
{
    static const struct {
        const char *who, *calls;
    } cases[] = {
        {"A", "bA aA aB "},
        {"B", "bA bB aA aB "},
        {"C", "bA bB bC aA aB aC aG aR "},
        {"G", "bA bB bC bG aA aB aC aG aR "},
        {"R", "bA bB bC bG bR aA aB aC aG aR "},
    };
    start();
    for (size_t i = 0; i < 5; i++) {
        char target[64];
        snprintf(target, sizeof(target), "/c/g/r/1?b%s=answer", cases[i].who);
        get(target, 401);
        ck_assert_ptr_nonnull(strstr(r.body, "\"status\":401"));
        ck_assert(has("X-A: before") &&
                  has(i > 0 ? "X-B: before" : "X-A: before"));
        check_trace(cases[i].calls);
        /* With all of the content at hand the connection goes on. */
        post_whole(target, 401);
        check_trace(cases[i].calls);
    }
    get("/none?bB=answer", 401);
    check_trace("bA bB aA aB ");
    get("/c/none?bC=answer", 401);
    check_trace("bA bB bC aA aB aC ");
    client_close(c);
}
END_TEST

START_TEST(it_answers_before_the_content_is_taken)
{
    start();
    ck_assert_int_eq(
        content_ask(c,
                    "POST /c/g/r/1?bR=answer HTTP/1.1\r\nHost: x\r\n"
                    "Expect: 100-continue\r\nContent-Length: 10\r\n\r\n",
                    &r),
        401);
    ck_assert(has("Connection: close"));
    ck_assert(client_at_end(c));
    client_close(c);
    check_trace("bA bB bC bG bR aA aB aC aG aR ");
}
END_TEST

START_TEST(errors_of_before_functions)
{
    start();
    get("/c/g/r/1?bB=fail", 500);
    check_trace("bA bB aA aB ");
    get("/c/g/r/1?bB=nomem", 503);
    check_trace("bA bB aA aB ");
    get("/c/g/r/1?bR=fail", 500);
    ck_assert(has("X-R: before"));
    check_trace("bA bB bC bG bR aA aB aC aG aR ");
    get("/root", 200);
    client_close(c);
}
END_TEST

START_TEST(a_type_set_before_holds_for_the_handlers_response)
{
    start();
    get("/root?bA=type", 200);
    ck_assert(has("Content-Type: application/x-before"));
    post_whole("/root?bA=type", 200);
    ck_assert(has("Content-Type: application/x-before"));
    post_in_pieces("/root?bA=type", 200);
    ck_assert(has("Content-Type: application/x-before"));
    post_in_pieces("/c/take?bA=type", 200);
    ck_assert(has("Content-Type: application/x-before"));
    get("/none?bA=type", 404);
    ck_assert(has("Content-Type: application/problem+json"));
    client_close(c);
}
END_TEST

START_TEST(content_begun_before_is_not_left_behind)
{
    start();
    post_in_pieces("/root?bA=body", 200);
    ck_assert_str_eq(r.body, "/root - - 5");
    post_in_pieces("/c/take?bA=body", 200);
    get("/none?bA=body", 404);
    client_close(c);
}
END_TEST

/* --- wrapper --------------------------------------------------------------- */

START_TEST(a_wrapper_may_skip_change_and_mend)
{
    start();
    get("/c/g/r/1?wC=skip", 202);
    ck_assert_str_eq(r.body, "C");
    check_trace("bA bB bC bG bR wA wB wC )B )A aA aB aC aG aR ");
    get("/c/g/r/1?wB=change", 203);
    ck_assert_str_eq(r.body, "changed");
    ck_assert(has("X-Handler: changed") && !has("X-Handler: handled"));
    ck_assert(has("X-A: before") && has("X-R: before"));
    get("/c/g/r/1?wA=reset", 200);
    ck_assert_str_eq(r.body, "reset");
    ck_assert(!has("X-Handler: handled") && has("X-R: before"));
    get("/c/g/r/1?wR=fail", 500);
    ck_assert(!has("X-Handler: handled") && has("X-R: before"));
    get("/c/g/r/1?fail", 500);
    ck_assert(!has("X-Handler: failed") && has("X-R: before"));
    get("/c/g/r/1?fail&wA=mend", 200);
    get("/c/g/r/1?fail&wA=change", 203);
    ck_assert_str_eq(r.body, "changed");
    post_in_pieces("/c/g/r/1?wB=change", 203);
    ck_assert(has("X-Handler: changed") && has("X-R: before"));
    get("/c/stream?wB=reset", 200);
    ck_assert_str_eq(r.body, "reset");
    get("/c/stream?wB=fail", 500);
    client_close(c);
}
END_TEST

/* --- what they change of the request ----------------------------------------- */

static void ask_for(const char *to, const char *method, int pieces, int status)
{
    char text[512];
    snprintf(text, sizeof(text),
             "%s /elsewhere?q=1 HTTP/1.1\r\nHost: x\r\nX-To: %s\r\n%s", method,
             to, pieces ? "Content-Length: 1\r\n\r\n" : "\r\n");
    uint64_t n = server_counters(site.server).requests;
    ck_assert_int_eq(client_say(c, text), 0);
    if (pieces) {
        EVENTUALLY(server_counters(site.server).requests == n + 1);
        ck_assert_int_eq(client_say(c, "."), 0);
    }
    ck_assert_int_eq(content_receive(c, &r, 0), status);
}

START_TEST(another_path_is_routed)
{
    start();
    ask_for("/root", "GET", 0, 200);
    ck_assert_str_eq(r.body, "/root - - 0");
    check_trace("bA bB wA wB h )B )A aA aB ");
    ask_for("/c/g/r/a%2Fb%20c", "GET", 0, 200);
    ck_assert_str_eq(r.body, "/c/g/r/a%2Fb%20c /c/g/r/a%2Fb%20c a/b c 0");
    check_trace(ALL);
    ask_for("/c/g/r/%41", "POST", 1, 200);
    ck_assert_str_eq(r.body, "/c/g/r/%41 /c/g/r/%41 A 1");
    check_trace(ALL);
    ask_for("/c/take", "POST", 1, 200);
    ck_assert_str_eq(r.body, "/c/take - - 0");
    ask_for("/none", "GET", 0, 404);
    ask_for("/c/g/r/%zz", "GET", 0, 400);
    get("/elsewhere", 404);
    client_close(c);
}
END_TEST

/* --- outcomes -------------------------------------------------------------- */

START_TEST(outcomes_are_those_of_the_replies)
{
    start();
    get("/root", 200);
    ck_assert_int_eq(
        content_ask(c, "HEAD /root HTTP/1.1\r\nHost: x\r\n\r\n", &r), 200);
    get("/none", 404);
    uint64_t len = r.len;
    get("/c/stream", 200);
    post_in_pieces("/root", 200);
    get("/root?fail", 500);
    close_and_wait();
    ck_assert_uint_eq(outcome_of(0).content_bytes, strlen("/root - - 0"));
    ck_assert_uint_eq(outcome_of(1).content_bytes, 0);
    ck_assert_int_eq(outcome_of(2).status, 404);
    ck_assert_uint_eq(outcome_of(2).content_bytes, len);
    ck_assert_uint_eq(outcome_of(3).content_bytes, 1000);
    ck_assert_uint_eq(outcome_of(4).content_bytes, strlen("/root - - 5"));
    ck_assert_int_eq(outcome_of(5).status, 500);
    for (int i = 0; i < 6; i++) {
        ck_assert_int_eq(outcome_of(i).aborted, 0);
        ck_assert_uint_gt(outcome_of(i).duration_ns, 0);
        ck_assert_uint_lt(outcome_of(i).duration_ns, UINT64_C(30000000000));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("invoke");
    TCase *tc = tcase_create("invoke");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, from_the_outermost_router_inwards);
    tcase_add_test(tc, the_same_for_promoted_requests);
    tcase_add_test(tc, those_that_find_no_route);
    tcase_add_test(tc, what_is_no_request_has_only_the_outermost_after);
    tcase_add_test(tc, any_before_may_answer);
    tcase_add_test(tc, it_answers_before_the_content_is_taken);
    tcase_add_test(tc, errors_of_before_functions);
    tcase_add_test(tc, a_type_set_before_holds_for_the_handlers_response);
    tcase_add_test(tc, content_begun_before_is_not_left_behind);
    tcase_add_test(tc, a_wrapper_may_skip_change_and_mend);
    tcase_add_test(tc, another_path_is_routed);
    tcase_add_test(tc, outcomes_are_those_of_the_replies);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
