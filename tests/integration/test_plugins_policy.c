/* SPDX-License-Identifier: MIT */
/* CORS, the rate limit and the access list in a running server, seen from
 * outside. */
#include "plugin_server.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "support/suite.h"

static void set_up(void)
{
    server_options(&options);
    make_server();
}

/* --- CORS ------------------------------------------------------------------ */

#define A "Origin: https://a.example\r\n"
#define OTHER "Origin: https://a.example.evil\r\n"
#define PREFLIGHT(path) "OPTIONS " path HOST "Access-Control-Request-Method: "

static int refuse(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    must(restd_response_problem(response, 401, NULL));
    return RESTD_ANSWERED;
}

static void use_cors(const char *origins, int credentials)
{
    struct restd_cors_options o;

    restd_cors_options_init(&o);
    o.origins = origins;
    o.headers = "Content-Type, X-One";
    o.exposed = "X-Two";
    o.credentials = (uint8_t)credentials;
    use(restd_cors(&o, &plugin, &error));
}

START_TEST(cors_of_actual_requests)
{
    static const struct {
        const char *text;
        int status;
    } requests[] = {
        {GET("/hello"), 200},         {GET("/none"), 404},
        {GET("/fail/4"), 500},        {"DELETE /hello" HOST, 405},
        {"OPTIONS /hello" HOST, 204},
    };
    char text[256];

    use_cors("http://b.example:1, https://a.example", 1);
    start();
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        (void)snprintf(text, sizeof(text), "%s" A END, requests[i].text);
        ask(text, requests[i].status);
        has("Access-Control-Allow-Origin: https://a.example");
        has("Access-Control-Allow-Credentials: true");
        has("Access-Control-Expose-Headers: X-Two");
        has("Vary: Origin");
        lacks("Access-Control-Allow-Methods:");
        (void)snprintf(text, sizeof(text), "%s" OTHER END, requests[i].text);
        ask(text, requests[i].status);
        has("Vary: Origin");
        lacks("Access-Control-Allow-Origin:");
        lacks("Access-Control-Allow-Credentials:");
        (void)snprintf(text, sizeof(text), "%s" END, requests[i].text);
        ask(text, requests[i].status);
        has("Vary: Origin");
        lacks("Access-Control-Allow-Origin:");
    }
}
END_TEST

START_TEST(cors_wants_the_very_origin)
{
    static const char *const others[] = {
        "",      "https://a.exampl",  "https://a.examplf",
        "null",  "https://A.example", "https://a.example:443",
        "https", "http://a.example",  "https://a.example https://a.example"};
    char text[256];

    use_cors("https://a.example, https://a.example.net", 0);
    start();
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        (void)snprintf(text, sizeof(text), GET("/hello") "Origin: %s\r\n" END,
                       others[i]);
        ask(text, 200);
        lacks("Access-Control-Allow-Origin:");
    }
    ask(GET("/hello") "Origin: https://a.example.net\r\n" END, 200);
    has("Access-Control-Allow-Origin: https://a.example.net");
}
END_TEST

START_TEST(cors_preflights)
{
    static const char *const paths[] = {PREFLIGHT("/hello") "PUT\r\n",
                                        PREFLIGHT("/none") "PUT\r\n"};
    char text[256];

    use_cors("https://a.example", 0);
    /* An authentication that refuses all does not see them. */
    memset(&plugin, 0, sizeof(plugin));
    plugin.size = sizeof(plugin);
    plugin.before = refuse;
    use(0);
    start();
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(text, sizeof(text), "%s" A END, paths[i]);
        ask(text, 204);
        has("Access-Control-Allow-Origin: https://a.example");
        has("Access-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, "
            "DELETE");
        has("Access-Control-Allow-Headers: Content-Type, X-One");
        has("Access-Control-Max-Age: 600");
        has("Vary: Origin");
        lacks("Access-Control-Allow-Credentials:");
        lacks("Access-Control-Expose-Headers:");
        lacks("Content-Length:");
        (void)snprintf(text, sizeof(text), "%s" OTHER END, paths[i]);
        ask(text, 204);
        has("Vary: Origin");
        lacks("Access-Control-Allow-Origin:");
        lacks("Access-Control-Allow-Methods:");
    }
    /* These are none. */
    ask(PREFLIGHT("/hello") "PUT\r\n" END, 401);
    ask("OPTIONS /hello" HOST A END, 401);
    has("Access-Control-Allow-Origin: https://a.example");
    ask(GET("/hello") "Access-Control-Request-Method: PUT\r\n" A END, 401);
}
END_TEST

START_TEST(cors_of_any_origin)
{
    use_cors("*", 0);
    start();
    ask(GET("/hello") OTHER END, 200);
    has("Access-Control-Allow-Origin: *");
    has("Access-Control-Expose-Headers: X-Two");
    lacks("Vary:");
    ask(GET("/none") END, 404);
    has("Access-Control-Allow-Origin: *");
    lacks("Vary:");
    ask(PREFLIGHT("/hello") "PUT\r\n" OTHER END, 204);
    has("Access-Control-Allow-Origin: *");
    has("Access-Control-Max-Age: 600");
    lacks("Vary:");
}
END_TEST

START_TEST(cors_of_a_mounted_router)
{
    struct restd_router *outer = plugin_router;

    must(restd_router_new(RESTD_ROUTER_EXACT, &plugin_router));
    must(restd_router_add(plugin_router, "GET", "/a", handler_of_nothing, NULL,
                          &error));
    use_cors("https://a.example", 0);
    must(restd_router_mount(outer, "/api", plugin_router, &error));
    start();
    ask(GET("/api/a") A END, 200);
    has("Access-Control-Allow-Origin: https://a.example");
    ask(GET("/api/none") A END, 404);
    has("Access-Control-Allow-Origin: https://a.example");
    ask(PREFLIGHT("/api/a") "GET\r\n" A END, 204);
    has("Access-Control-Allow-Headers: Content-Type, X-One");
    ask(PREFLIGHT("/hello") "GET\r\n" A END, 204);
    has("Allow: GET, HEAD, OPTIONS");
    lacks("Access-Control-Allow-Origin:");
}
END_TEST

/* --- rate limit ------------------------------------------------------------ */

static void make_rate_limit(uint32_t period_ms, uint32_t burst)
{
    struct restd_rate_limit_options o;

    restd_rate_limit_options_init(&o);
    o.rate = 1;
    o.period_ms = period_ms;
    o.burst = burst;
    must(restd_rate_limit(&o, &plugin, &error));
}

/* Connects from another address of this host. */
static void connect_from(const char *address)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};

    client_close(c);
    c->start = c->len = 0;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(c->fd, 0);
    ck_assert_int_eq(inet_pton(AF_INET, address, &sa.sin_addr), 1);
    ck_assert_int_eq(bind(c->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    sa.sin_port = htons((uint16_t)port);
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(connect(c->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
}

START_TEST(rate_limit_by_address)
{
    char seconds[24];

    make_rate_limit(3600000, 3);
    use(0);
    start();
    for (int i = 0; i < 3; i++) {
        ask_once(GET("/hello") END, 200);
    }
    ask_once(GET("/hello") END, 429);
    has("Content-Type: application/problem+json");
    ck_assert_ptr_nonnull(strstr(reply.body, "\"status\":429"));
    value_of("Retry-After", seconds, sizeof(seconds));
    unsigned long wait = strtoul(seconds, NULL, 10);
    ck_assert_uint_gt(wait, 3400);
    ck_assert_uint_le(wait, 3600);
    ck_assert_int_eq(reply.close, 0);
    ask(GET("/none") END, 429);

    connect_from("127.0.0.2");
    for (int i = 0; i < 3; i++) {
        ask(GET("/hello") END, 200);
    }
    ask(GET("/hello") END, 429);
    /* A content that is still to come is not waited for. */
    ask("POST /echo" HOST "Content-Length: 5\r\n\r\n", 429);
    ck_assert_int_eq(reply.close, 1);

    client_close(c);
    ck_assert_int_eq(client_connect_unix(c, socket_path), 0);
    for (int i = 0; i < 10; i++) {
        ask(GET("/hello") END, 200);
    }
}
END_TEST

START_TEST(rate_limit_asks_for_a_second_at_least)
{
    make_rate_limit(200, 1);
    use(0);
    start();
    ck_assert_int_eq(client_say(c, GET("/hello") END GET("/hello") END), 0);
    ck_assert_int_eq(client_receive(c, &reply, 0), 200);
    client_reply_free(&reply);
    ck_assert_int_eq(client_receive(c, &reply, 0), 429);
    has("Retry-After: 1");
    /* It passes. */
    EVENTUALLY(client_get(port, "/hello", NULL, 0) == 200);
}
END_TEST

START_TEST(rate_limit_of_one_route)
{
    make_rate_limit(3600000, 1);
    int route = restd_router_add(plugin_router, "GET", "/dear",
                                 handler_of_nothing, NULL, &error);
    must(route);
    must(restd_router_use_on(plugin_router, route, &plugin, &error));
    start();
    ask(GET("/dear") END, 200);
    ask(GET("/dear") END, 429);
    for (int i = 0; i < 5; i++) {
        ask(GET("/hello") END, 200);
    }
}
END_TEST

#define THREADS 8
static _Atomic unsigned served;

static void *asker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 50; i++) {
        struct client *own = calloc(1, sizeof(*own));
        struct reply got;
        ck_assert_ptr_nonnull(own);
        ck_assert_int_eq(client_connect(own, port, 0), 0);
        served += client_ask(own, GET("/hello") END, &got) == 200;
        client_reply_free(&got);
        client_close(own);
        free(own);
    }
    return NULL;
}

/* The limit is one for all loops. */
START_TEST(rate_limit_over_all_loops)
{
    pthread_t threads[THREADS];

    restd_server_free(server);
    options.workers = 4;
    make_server();
    make_rate_limit(3600000, 100);
    use(0);
    start();
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, asker, NULL), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    ck_assert_uint_ge(served, 100);
    ck_assert_uint_le(served, 100 + 4); /* see rate_table.c */
}
END_TEST

/* --- access list ----------------------------------------------------------- */

static void make_access_list(const char *allow, const char *deny)
{
    struct restd_access_list_options o;

    restd_access_list_options_init(&o);
    o.allow = allow;
    o.deny = deny;
    must(restd_access_list(&o, &plugin, &error));
}

static void connect_unix(void)
{
    client_close(c);
    c->start = c->len = 0;
    ck_assert_int_eq(client_connect_unix(c, socket_path), 0);
}

START_TEST(access_list_denies_what_it_allows)
{
    make_access_list("127.0.0.0/24, unix", "127.0.0.2");
    use(0);
    start();
    ask(GET("/hello") END, 200);
    connect_unix();
    ask(GET("/hello") END, 200);
    connect_from("127.0.1.1");
    ask(GET("/hello") END, 403);
    has("Content-Type: application/problem+json");
    ck_assert_ptr_nonnull(strstr(reply.body, "\"status\":403"));
    ck_assert_int_eq(reply.close, 0);
    /* What is there is not told. */
    ask(GET("/none") END, 403);
    ask("DELETE /hello" HOST END, 403);
    /* A content that is still to come is not waited for. */
    ask("POST /echo" HOST "Content-Length: 5\r\n\r\n", 403);
    ck_assert_int_eq(reply.close, 1);
    connect_from("127.0.0.2");
    ask(GET("/hello") END, 403);
    connect_from("127.0.0.3");
    ask(GET("/hello") END, 200);
}
END_TEST

START_TEST(access_list_that_only_denies)
{
    make_access_list(NULL, "unix, 127.0.0.2, ::/0");
    use(0);
    start();
    ask(GET("/hello") END, 200);
    connect_from("127.0.0.2");
    ask(GET("/hello") END, 403);
    connect_unix();
    ask(GET("/hello") END, 403);
}
END_TEST

START_TEST(access_list_of_one_route)
{
    make_access_list("unix", NULL);
    int route = restd_router_add(plugin_router, "GET", "/own",
                                 handler_of_nothing, NULL, &error);
    must(route);
    must(restd_router_use_on(plugin_router, route, &plugin, &error));
    start();
    ask(GET("/own") END, 403);
    ask(GET("/hello") END, 200);
    connect_unix();
    ask(GET("/own") END, 200);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plugins_policy");
    TCase *tcase = tcase_create("policy");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, cors_of_actual_requests);
    tcase_add_test(tcase, cors_wants_the_very_origin);
    tcase_add_test(tcase, cors_preflights);
    tcase_add_test(tcase, cors_of_any_origin);
    tcase_add_test(tcase, cors_of_a_mounted_router);
    tcase_add_test(tcase, rate_limit_by_address);
    tcase_add_test(tcase, rate_limit_asks_for_a_second_at_least);
    tcase_add_test(tcase, rate_limit_of_one_route);
    tcase_add_test(tcase, rate_limit_over_all_loops);
    tcase_add_test(tcase, access_list_denies_what_it_allows);
    tcase_add_test(tcase, access_list_that_only_denies);
    tcase_add_test(tcase, access_list_of_one_route);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
