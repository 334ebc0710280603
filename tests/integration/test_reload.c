/* SPDX-License-Identifier: MIT */
/* A running server gets other routes and options, seen by clients. */
#include <restd/restd.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "support/suite.h"
#include "versions.h"

/* --- routes ---------------------------------------------------------------- */

START_TEST(routes_change_between_two_requests_of_a_connection)
{
    static struct version second;
    static struct version third;

    version_start();
    asks(&kept, GET("/who"), 200, "first");
    make_version(&second, "second");
    version_add(&second, "GET", "/more", who);
    reload(NULL, second.router);
    EVENTUALLY(atomic_load(&first.freed) == 1);
    ck_assert_ptr_eq(restd_server_router(site.server), second.router);
    becomes(&kept, GET("/who"), "second");
    asks(&kept, GET("/more"), 200, "second");
    reload_to(&third, "third");
    EVENTUALLY(atomic_load(&second.freed) == 1);
    asks(&kept, GET("/more"), 404, "");
    /* With the same router: it is not freed. */
    reload(&site.options, NULL);
    reload(NULL, third.router);
    becomes(&kept, GET("/who"), "third");
    ck_assert_int_eq(atomic_load(&third.freed), 0);
    ck_assert_int_eq(
        restd_router_add(third.router, "GET", "/x", who, NULL, &failure),
        RESTD_ESTATE);
    client_close(&kept);
    site_tear_down();
    ck_assert_int_eq(atomic_load(&third.freed), 1);
    ck_assert_int_eq(atomic_load(&first.freed), 1);
    site.server = NULL;
}
END_TEST

START_TEST(what_is_under_way_ends_on_its_own_routes)
{
    static struct version second;
    static struct version third;
    static struct client stream;
    static struct client taker;

    version_start();
    /* Now, as streams_add() forgets who waits. */
    make_version(&second, "second");
    make_version(&third, "third");
    ck_assert_int_eq(client_say(&kept, "POST /up/na%6de/x/%2F/y" HOST
                                       "Content-Length: 4\r\n\r\nab"),
                     0);
    ck_assert_int_eq(client_connect(&stream, site.port, RCVBUF), 0);
    ck_assert_int_eq(client_say(&stream, GET("/stream?len=1000&hold&waiting")),
                     0);
    ck_assert_int_eq(client_connect(&taker, site.port, RCVBUF), 0);
    ck_assert_int_eq(
        client_say(&taker, "POST /take" HOST "Content-Length: 4\r\n\r\nab"), 0);
    EVENTUALLY(server_counters(site.server).requests_active == 3);
    reload(NULL, second.router);
    reload(NULL, third.router);
    EVENTUALLY(atomic_load(&second.freed) == 1);
    ck_assert_int_eq(client_connect(&other, site.port, RCVBUF), 0);
    becomes(&other, GET("/who"), "third");

    /* Each lets go, and with the last one the router. */
    ck_assert_int_eq(client_say(&kept, "cd"), 0);
    ck_assert_int_eq(content_receive(&kept, &r, 0), 200);
    ck_assert_str_eq(r.body, "first name x/%2F/y abcd");
    ck_assert_int_eq(client_say(&taker, "cd"), 0);
    ck_assert_int_eq(content_receive(&taker, &r, 0), 201);
    EVENTUALLY(atomic_load(&seen.uploads) == 1);
    becomes(&kept, GET("/who"), "third");
    becomes(&other, GET("/who"), "third");
    ck_assert_int_eq(atomic_load(&first.freed), 0);
    asks(&other, GET("/release?len=1000"), 200, "");
    ck_assert_int_eq(content_receive(&stream, &r, 0), 200);
    ck_assert(r.complete);
    EVENTUALLY(atomic_load(&first.freed) == 1);
    ck_assert_int_eq(atomic_load(&seen.closed), 1);
    ck_assert_int_eq(atomic_load(&third.freed), 0);
    client_close(&stream);
    client_close(&taker);
}
END_TEST

/* Requests of the old routes that are cut off let go as well. */
START_TEST(a_client_that_leaves_lets_go)
{
    static struct version second;

    version_start();
    ck_assert_int_eq(client_say(&kept, GET("/stream?len=10&hold")), 0);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    reload_to(&second, "second");
    ck_assert_int_eq(client_connect(&other, site.port, 0), 0);
    becomes(&other, GET("/who"), "second");
    ck_assert_int_eq(atomic_load(&first.freed), 0);
    client_reset(&kept);
    EVENTUALLY(atomic_load(&first.freed) == 1);
}
END_TEST

/* A constant may be freed with the routes: it is not before it has gone. There
 * is no plugin that would have the reply promoted. */
START_TEST(a_constant_outlives_a_reload)
{
    struct version plain = {.name = "plain"};
    struct version bare = {.name = "bare"};
    uint64_t fixed;

    version_start();
    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &plain.router), 0);
    version_add(&plain, "GET", "/constant", constant);
    version_add(&plain, "GET", "/who", who);
    reload(NULL, plain.router);
    EVENTUALLY(atomic_load(&first.freed) == 1);
    fixed = site_memory("fixed", 0);
    ck_assert_int_eq(client_say(&kept, GET("/constant?len=9000000")), 0);
    EVENTUALLY(site_memory("output", 0) > 0);
    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &bare.router), 0);
    version_add(&bare, "GET", "/who", who);
    reload(NULL, bare.router);
    ck_assert_int_eq(client_connect(&other, site.port, 0), 0);
    becomes(&other, GET("/who"), "bare");
    ck_assert_uint_gt(site_memory("fixed", 0), fixed);
    ck_assert_int_eq(content_receive(&kept, &r, 0), 200);
    ck_assert_uint_eq(r.len, 9000000);
    ck_assert_uint_eq(r.bad, 0);
    EVENTUALLY(site_memory("fixed", 0) < fixed);
}
END_TEST

START_TEST(a_stuck_loop_holds_only_what_it_uses)
{
    static struct version next[4];

    version_start();
    ck_assert_int_eq(client_say(&kept, GET("/hold")), 0);
    sem_wait(&entered);
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof(name), "v%d", i);
        reload_to(&next[i], name);
    }
    /* The acceptor lets go of them, and the loop never had them. */
    for (int i = 0; i < 3; i++) {
        EVENTUALLY(atomic_load(&next[i].freed) == 1);
    }
    ck_assert_int_eq(atomic_load(&first.freed), 0);
    sem_post(&open_gate);
    ck_assert_int_eq(content_receive(&kept, &r, 0), 200);
    ck_assert_str_eq(r.body, "first");
    EVENTUALLY(atomic_load(&first.freed) == 1);
    becomes(&kept, GET("/who"), "v3");
}
END_TEST

/* --- memory ---------------------------------------------------------------- */

START_TEST(routes_that_do_not_fit_change_nothing)
{
    struct restd_route_options options;
    static struct version large;
    char *summary = calloc(1, 50u * KIB + 1);
    struct restd_memory memory;
    uint64_t fixed;

    memset(summary, 'x', 50u * KIB);
    site.options.memory_budget_bytes = 4 * MIB;
    version_start();
    asks(&kept, GET("/who"), 200, "first");
    make_version(&large, "large");
    restd_route_options_init(&options);
    options.summary = summary;
    for (int i = 0; i < 80; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/large/%d", i);
        int n = restd_router_add(large.router, "GET", path, who, &large, NULL);
        ck_assert_int_ge(n, 0);
        ck_assert_int_eq(
            restd_router_configure(large.router, n, &options, NULL), 0);
    }
    fixed = site_memory("fixed", 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(reload_rc(NULL, large.router), RESTD_EBUDGET);
        ck_assert_ptr_nonnull(strstr(failure.message, "memory_budget"));
    }
    restd_server_memory(site.server, &memory);
    ck_assert_int_eq(memory.level, 0);
    ck_assert_uint_eq(site_memory("fixed", 0), fixed);
    asks(&kept, GET("/who"), 200, "first");
    asks(&kept, GET("/large/1"), 404, "");
    /* It is still the test's. */
    ck_assert_int_eq(atomic_load(&large.freed), 0);
    ck_assert_int_ge(
        restd_router_add(large.router, "GET", "/y", who, NULL, NULL), 0);
    restd_router_free(large.router);
    ck_assert_int_eq(atomic_load(&large.freed), 1);
    free(summary);
}
END_TEST

START_TEST(any_allocation_of_a_reload_may_fail)
{
    struct restd_options options;
    static struct version second;
    struct restd_stats stats;
    int rc = RESTD_ENOMEM;
    uint64_t fixed;
    int fds;

    version_start();
    asks(&kept, GET("/who"), 200, "first");
    make_version(&second, "second");
    options = site.options;
    options.workers = 3;
    fixed = site_memory("fixed", 0);
    fds = fds_count();
    for (unsigned n = 1; rc == RESTD_ENOMEM && n < 1000; n++) {
        rd_mem_fail_nth(n);
        rc = reload_rc(&options, second.router);
        unsigned calls = rd_mem_calls();
        rd_mem_fail_nth(0);
        if (rc == RESTD_ENOMEM) {
            ck_assert_uint_ge(calls, n);
            ck_assert_str_ne(failure.message, "");
            ck_assert_uint_eq(site_memory("fixed", 0), fixed);
            ck_assert_int_eq(fds_count(), fds);
            asks(&kept, GET("/who"), 200, "first");
        }
    }
    ck_assert_msg(rc == 0, "%s: %s", restd_error_name(rc), failure.message);
    restd_server_stats(site.server, &stats);
    ck_assert_uint_eq(stats.workers, 3);
    becomes(&kept, GET("/who"), "second");
}
END_TEST

/* --- options --------------------------------------------------------------- */

START_TEST(options_that_need_a_restart_are_named)
{
    static const char *const values[][2] = {
        {"memory_budget", "20M"},   {"connections", "77"},
        {"stack", "512K"},          {"target_max", "4K"},
        {"header_max", "8K"},       {"header_fields", "50"},
        {"body_buffered_max", "1K"}};
    static struct version second;

    version_start();
    make_version(&second, "second");
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct restd_options options = site.options;
        ck_assert_int_eq(
            restd_options_set(&options, values[i][0], values[i][1], &failure),
            0);
        ck_assert_int_eq(reload_rc(&options, second.router), RESTD_ESTATE);
        ck_assert_ptr_nonnull(strstr(failure.message, values[i][0]));
    }
    struct restd_options options = site.options;
    options.size = 1;
    ck_assert_int_eq(reload_rc(&options, second.router), RESTD_EINVAL);
    options = site.options;
    options.linger_timeout_ms = 1;
    ck_assert_int_eq(reload_rc(&options, second.router), RESTD_ERANGE);
    asks(&kept, GET("/who"), 200, "first");
    /* What was asked for, though less was had, and what is had. */
    reload(&site.options, second.router);
    becomes(&kept, GET("/who"), "second");
}
END_TEST

START_TEST(timeouts_hold_from_the_next_request_on)
{
    struct restd_options options;
    static struct version second;

    version_start();
    asks(&kept, GET("/who"), 200, "first");
    options = site.options;
    options.keepalive_timeout_ms = 200;
    make_version(&second, "second");
    reload(&options, second.router);
    ck_assert_int_eq(client_connect(&other, site.port, 0), 0);
    becomes(&other, GET("/who"), "second");
    ck_assert(client_at_end(&other));
    EVENTUALLY(site_closed_by("keepalive_timeout") == 1);
    asks(&kept, GET("/who"), 200, "second");
    ck_assert(client_at_end(&kept));
    EVENTUALLY(site_closed_by("keepalive_timeout") == 2);
}
END_TEST

START_TEST(a_content_that_was_let_in_is_taken)
{
    struct restd_options options;
    static struct version second;
    static struct version third;
    static char text[60001];

    version_start();
    memset(text, 'x', sizeof(text) - 1);
    options = site.options;
    ck_assert_int_eq(
        client_say(&kept, "POST /length" HOST "Content-Length: 60000\r\n\r\n"),
        0);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    options.body_max_bytes = 1000;
    make_version(&second, "second");
    reload(&options, second.router);
    ck_assert_int_eq(client_connect(&other, site.port, 0), 0);
    becomes(&other, GET("/who"), "second");
    asks(&other,
         "POST /length" HOST
         "Connection: close\r\nContent-Length: 1001\r\n\r\n",
         413, "");
    ck_assert_int_eq(client_say(&kept, text), 0);
    ck_assert_int_eq(content_receive(&kept, &r, 0), 200);
    ck_assert_str_eq(r.body, "60000");
    /* And the scratch for whole contents is of the right size again. */
    make_version(&third, "third");
    reload(&site.options, third.router);
    becomes(&kept, GET("/who"), "third");
    ck_assert_int_eq(
        client_say(&kept, "POST /length" HOST "Content-Length: 60000\r\n\r\n"),
        0);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    ck_assert_int_eq(client_say(&kept, text), 0);
    ck_assert_int_eq(content_receive(&kept, &r, 0), 200);
    ck_assert_str_eq(r.body, "60000");
}
END_TEST

static atomic_int lines;

static void count_line(enum restd_log_level level, int64_t time_unix_ms,
                       const char *line, void *data)
{
    (void)level;
    (void)time_unix_ms;
    (void)data;
    atomic_fetch_add(&lines, line && strncmp(line, "mark ", 5) == 0);
}

START_TEST(the_log_level_changes)
{
    struct restd_options options;

    atomic_store(&lines, 0);
    site.options.log = count_line;
    site.options.log_level = RESTD_LOG_NOTICE;
    version_start();
    restd_server_log(site.server, RESTD_LOG_INFO, "mark a");
    restd_server_set_log_level(site.server, RESTD_LOG_INFO);
    restd_server_log(site.server, RESTD_LOG_INFO, "mark b");
    restd_server_log(site.server, RESTD_LOG_DEBUG, "mark c");
    /* The sink stays, whatever the options say. */
    options = site.options;
    options.log = NULL;
    options.log_level = RESTD_LOG_ERROR;
    reload(&options, NULL);
    restd_server_log(site.server, RESTD_LOG_WARNING, "mark d");
    restd_server_log(site.server, RESTD_LOG_ERROR, "mark e");
    restd_server_stop(site.server);
    ck_assert_int_eq(atomic_load(&lines), 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reload");
    TCase *routes = tcase_create("routes");
    TCase *settings = tcase_create("settings");

    tcase_add_checked_fixture(routes, version_set_up, version_tear_down);
    tcase_set_timeout(routes, 60);
    tcase_add_test(routes, routes_change_between_two_requests_of_a_connection);
    tcase_add_test(routes, what_is_under_way_ends_on_its_own_routes);
    tcase_add_test(routes, a_client_that_leaves_lets_go);
    tcase_add_test(routes, a_constant_outlives_a_reload);
    tcase_add_test(routes, a_stuck_loop_holds_only_what_it_uses);
    tcase_add_test(routes, routes_that_do_not_fit_change_nothing);
    tcase_add_test(routes, any_allocation_of_a_reload_may_fail);
    suite_add_tcase(suite, routes);
    tcase_add_checked_fixture(settings, version_set_up, version_tear_down);
    tcase_set_timeout(settings, 60);
    tcase_add_test(settings, options_that_need_a_restart_are_named);
    tcase_add_test(settings, timeouts_hold_from_the_next_request_on);
    tcase_add_test(settings, a_content_that_was_let_in_is_taken);
    tcase_add_test(settings, the_log_level_changes);
    suite_add_tcase(suite, settings);
    return suite_run(suite);
}
