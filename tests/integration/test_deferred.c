/* SPDX-License-Identifier: MIT */
/* Replies that come later, from any thread: in order, once, and to nobody else
 * when it is too late. */
#include <restd/restd.h>

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "site.h"
#include "support/suite.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
#define MANY 200u

static struct client clients[MANY];
static struct client *const c = &clients[0];
static struct content r;

/* Handles in the order in which they were given; the loop writes. */
static restd_deferred handles[MANY + 8];
static atomic_uint handles_n, left_n;
static atomic_ullong left_last;

static struct restd_prepared *text(const char *body, size_t len)
{
    struct restd_prepared *p = NULL;
    ck_assert_int_eq(restd_prepared_new(201, NULL, body, len, &p), 0);
    return p;
}

static int reply(restd_deferred handle, const char *body)
{
    struct restd_prepared *p = text(body, strlen(body));
    int rc = restd_deferred_reply(handle, p);

    restd_prepared_unref(p);
    return rc;
}

/* The handle of request number `i`, once it is there. */
static restd_deferred handle(unsigned i)
{
    EVENTUALLY(atomic_load(&handles_n) > i);
    return handles[i];
}

/* --- handlers -------------------------------------------------------------- */

static void note_left(restd_deferred gone, void *data)
{
    atomic_store(&left_last, gone);
    atomic_fetch_add(&left_n, data == &left_n);
}

static int later(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    static const struct restd_deferred_ops ops = {sizeof(ops), note_left};
    restd_deferred made;
    restd_deferred twice;

    (void)data;
    int rc = restd_response_printf(response, "dropped");
    if (rc == 0) {
        rc = restd_request_defer(request, &ops, &left_n, &made);
    }
    if (rc != 0) {
        return rc;
    }
    atomic_fetch_add(&seen.errors, restd_request_defer(request, NULL, NULL,
                                                       &twice) != RESTD_ESTATE);
    unsigned n = atomic_load(&handles_n);
    handles[n] = made;
    atomic_store(&handles_n, n + 1);
    return query_has(request, "fail") ? RESTD_EOS : 0;
}

/* It has the reply before it has returned. */
static int at_once(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    restd_deferred made;

    (void)response;
    (void)data;
    int rc = restd_request_defer(request, NULL, NULL, &made);
    return rc ? rc : reply(made, "at once");
}

static int inline_text(struct restd_request *request,
                       struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    return restd_response_printf(response, "inline");
}

static int elsewhere(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    restd_deferred made;

    (void)data;
    return restd_response_printf(
        response, "%d", restd_request_defer(request, NULL, NULL, &made));
}

static atomic_int rc_before, rc_after;

static int before(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    restd_deferred made;

    (void)data;
    atomic_store(&rc_before, restd_request_defer(request, NULL, NULL, &made));
    return restd_response_set_header(response, "X-Preset", "stays");
}

static void after(struct restd_request *request,
                  const struct restd_outcome *outcome, void *data)
{
    restd_deferred made;

    (void)outcome;
    (void)data;
    atomic_store(&rc_after, restd_request_defer(request, NULL, NULL, &made));
}

/* --- fixture --------------------------------------------------------------- */

static void set_up(void)
{
    site_set_up();
    for (size_t i = 0; i < MANY; i++) {
        clients[i].fd = -1;
    }
    atomic_store(&handles_n, 0);
    atomic_store(&left_n, 0);
}

static void start(void)
{
    struct restd_route_options options;

    site_new();
    (void)site_add("GET", "/later", later, 0, 0);
    (void)site_add("POST", "/later", later, 0, 0);
    (void)site_add("GET", "/at-once", at_once, 0, 0);
    (void)site_add("GET", "/inline", inline_text, 0, 0);
    int route = site_add("GET", "/elsewhere", elsewhere, 0, 0);
    restd_route_options_init(&options);
    options.offload = 1;
    ck_assert_int_eq(restd_router_configure(site.router, route, &options, NULL),
                     0);
    site_start();
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
}

static void tear_down(void)
{
    for (size_t i = 0; i < MANY; i++) {
        client_close(&clients[i]);
    }
    site_tear_down();
}

static void expect(struct client *client, int status, const char *body)
{
    ck_assert_int_eq(content_receive(client, &r, 0), status);
    ck_assert_str_eq(r.body, body);
}

/* --- replies --------------------------------------------------------------- */

START_TEST(from_another_thread)
{
    start();
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(client_say(c, GET("/later")), 0);
        restd_deferred h = handle(i);
        ck_assert_int_eq(restd_deferred_is_awaited(h), 1);
        ck_assert_int_eq(reply(h, "here it is"), 0);
        expect(c, 201, "here it is");
        ck_assert_int_eq(restd_deferred_is_awaited(h), 0);
        ck_assert_int_eq(reply(h, "again"), RESTD_ECLOSED);
    }
    ck_assert_int_eq(atomic_load(&left_n), 0);
}
END_TEST

START_TEST(before_its_handler_has_returned)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/at-once") GET("/inline")), 0);
    expect(c, 201, "at once");
    expect(c, 200, "inline");
}
END_TEST

START_TEST(one_of_two_is_taken)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/later")), 0);
    restd_deferred h = handle(0);
    int first = reply(h, "first");
    int second = reply(h, "second");
    ck_assert_int_eq(first, 0);
    ck_assert(second == RESTD_ESTATE || second == RESTD_ECLOSED);
    expect(c, 201, "first");
    ck_assert_int_eq(content_ask(c, GET("/inline"), &r), 200);
}
END_TEST

START_TEST(pipelined_requests_are_answered_in_order)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/inline") GET("/later") GET("/inline")
                                       GET("/later") GET("/inline")),
                     0);
    expect(c, 200, "inline");
    ck_assert_int_eq(reply(handle(0), "one"), 0);
    expect(c, 201, "one");
    expect(c, 200, "inline");
    ck_assert_int_eq(reply(handle(1), "two"), 0);
    expect(c, 201, "two");
    expect(c, 200, "inline");
}
END_TEST

START_TEST(methods_versions_and_contents)
{
    start();
    ck_assert_int_eq(client_say(c, "HEAD /later HTTP/1.1\r\nHost: x\r\n\r\n"),
                     0);
    ck_assert_int_eq(reply(handle(0), "12345"), 0);
    ck_assert_int_eq(content_receive(c, &r, 1), 201);
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nContent-Length: 5\r\n"));
    ck_assert_int_eq(client_say(c, "POST /later HTTP/1.1\r\nHost: x\r\n"
                                   "Transfer-Encoding: chunked\r\n\r\n3\r\nab"),
                     0);
    ck_assert_int_eq(client_say(c, "c\r\n0\r\n\r\n"), 0);
    ck_assert_int_eq(reply(handle(1), "taken"), 0);
    expect(c, 201, "taken");
    ck_assert_int_eq(client_say(c, "GET /later HTTP/1.0\r\n\r\n"), 0);
    ck_assert_int_eq(reply(handle(2), "and closed"), 0);
    expect(c, 201, "and closed");
    ck_assert(client_at_end(c));
}
END_TEST

START_TEST(a_large_one)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/later")), 0);
    struct restd_prepared *p = text(pattern, 1000000);
    ck_assert_int_eq(restd_deferred_reply(handle(0), p), 0);
    restd_prepared_unref(p);
    ck_assert_int_eq(content_receive(c, &r, 0), 201);
    ck_assert_uint_eq(r.len, 1000000);
    ck_assert_uint_eq(r.bad, 0);
}
END_TEST

START_TEST(plugins_see_it)
{
    struct restd_plugin plugin = {.size = sizeof(plugin),
                                  .name = "both",
                                  .before = before,
                                  .after = after};

    site_new();
    ck_assert_int_eq(restd_router_use(site.router, &plugin, NULL), 0);
    (void)site_add("GET", "/later", later, 0, 0);
    site_start();
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
    ck_assert_int_eq(client_say(c, GET("/later")), 0);
    restd_deferred h = handle(0);
    ck_assert_int_eq(atomic_load(&seen.after), 0);
    ck_assert_int_eq(reply(h, "late"), 0);
    expect(c, 201, "late");
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nX-Preset: stays\r\n"));
    EVENTUALLY(atomic_load(&seen.after) == 1);
    ck_assert_int_eq(atomic_load(&seen.status), 201);
    ck_assert_uint_eq(atomic_load(&seen.content), 4);
    ck_assert_int_eq(atomic_load(&rc_before), RESTD_ESTATE);
    ck_assert_int_eq(atomic_load(&rc_after), RESTD_ESTATE);
}
END_TEST

START_TEST(only_a_handler_on_its_loop_may)
{
    char want[16];

    start();
    ck_assert_int_eq(content_ask(c, GET("/elsewhere"), &r), 200);
    snprintf(want, sizeof(want), "%d", RESTD_ESTATE);
    ck_assert_str_eq(r.body, want);
}
END_TEST

START_TEST(an_error_takes_it_back)
{
    start();
    ck_assert_int_eq(content_ask(c, GET("/later?fail"), &r), 500);
    ck_assert_int_eq(reply(handle(0), "too late"), RESTD_ECLOSED);
    ck_assert_int_eq(content_ask(c, GET("/inline"), &r), 200);
    ck_assert_int_eq(atomic_load(&left_n), 0);
}
END_TEST

/* --- too late -------------------------------------------------------------- */

START_TEST(what_names_nothing)
{
    start();
    ck_assert_int_eq(reply(0, "x"), RESTD_ECLOSED);
    ck_assert_int_eq(reply(UINT64_MAX, "x"), RESTD_ECLOSED);
    ck_assert_int_eq(restd_deferred_is_awaited(0), 0);
    ck_assert_int_eq(client_say(c, GET("/later")), 0);
    restd_deferred h = handle(0);
    ck_assert_int_eq(reply(h ^ (UINT64_C(1) << 32), "x"), RESTD_ECLOSED);
    ck_assert_int_eq(reply(h ^ 1, "x"), RESTD_ECLOSED);
    ck_assert_int_eq(reply(h ^ (1u << 20), "x"), RESTD_ECLOSED);
    ck_assert_int_eq(reply(h, "right"), 0);
    expect(c, 201, "right");
    /* The place is used again, by another name. */
    ck_assert_int_eq(client_say(c, GET("/later")), 0);
    ck_assert_uint_ne(handle(1), h);
    ck_assert_int_eq(reply(h, "wrong"), RESTD_ECLOSED);
    ck_assert_int_eq(reply(handle(1), "right"), 0);
    expect(c, 201, "right");
}
END_TEST

START_TEST(a_client_that_has_left)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/later")), 0);
    restd_deferred h = handle(0);
    client_reset(c);
    EVENTUALLY(atomic_load(&left_n) == 1);
    ck_assert_uint_eq(atomic_load(&left_last), h);
    ck_assert_int_eq(restd_deferred_is_awaited(h), 0);
    ck_assert_int_eq(reply(h, "nobody"), RESTD_ECLOSED);
}
END_TEST

START_TEST(no_reply_in_time)
{
    site.options.handler_timeout_ms = 200;
    start();
    ck_assert_int_eq(client_say(c, GET("/later") GET("/inline")), 0);
    restd_deferred h = handle(0);
    ck_assert_int_eq(content_receive(c, &r, 0), 503);
    ck_assert_ptr_nonnull(strstr(r.body, "no reply in time"));
    expect(c, 200, "inline");
    EVENTUALLY(atomic_load(&left_n) == 1);
    ck_assert_int_eq(reply(h, "late"), RESTD_ECLOSED);
}
END_TEST

/* --- many ------------------------------------------------------------------ */

static void *reply_part(void *arg)
{
    unsigned from = *(unsigned *)arg;
    char body[32];

    for (unsigned i = from; i < MANY; i += 4) {
        unsigned n = MANY - 1 - i;
        snprintf(body, sizeof(body), "%llx", (unsigned long long)handles[n]);
        ck_assert_int_eq(reply(handles[n], body), 0);
    }
    return NULL;
}

START_TEST(many_by_many_threads)
{
    static unsigned parts[4] = {0, 1, 2, 3};
    pthread_t threads[4];
    unsigned char got[MANY] = {0};

    start();
    for (unsigned i = 0; i < MANY; i++) {
        if (i > 0) {
            ck_assert_int_eq(client_connect(&clients[i], site.port, 0), 0);
        }
        ck_assert_int_eq(client_say(&clients[i], GET("/later")), 0);
    }
    (void)handle(MANY - 1);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, reply_part, &parts[i]), 0);
    }
    for (unsigned i = 0; i < MANY; i++) {
        ck_assert_int_eq(content_receive(&clients[i], &r, 0), 201);
        restd_deferred h = strtoull(r.body, NULL, 16);
        for (unsigned k = 0; k < MANY; k++) {
            got[k] += handles[k] == h;
        }
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    for (unsigned k = 0; k < MANY; k++) {
        ck_assert_uint_eq(got[k], 1);
    }
}
END_TEST

/* --- other routes meanwhile ------------------------------------------------- */

static atomic_int old_freed;

static void free_old(void *data)
{
    (void)data;
    atomic_store(&old_freed, 1);
}

static sem_t entered, gate;

static int wait_here(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    (void)data;
    sem_post(&entered);
    while (sem_wait(&gate) != 0) {
    }
    struct restd_slice route = restd_request_pattern(request);
    return restd_response_printf(response, "%.*s", (int)route.len, route.data);
}

/* Those that are under way keep the routes that they have begun with. */
START_TEST(a_reload_lets_them_finish)
{
    struct restd_plugin plugin = {
        .size = sizeof(plugin), .name = "old", .free = free_old};
    struct restd_error error = {0, 0, ""};
    struct restd_route_options options;
    struct restd_router *next;

    atomic_store(&old_freed, 0);
    ck_assert_int_eq(sem_init(&entered, 0, 0), 0);
    ck_assert_int_eq(sem_init(&gate, 0, 0), 0);
    site_new();
    ck_assert_int_eq(restd_router_use(site.router, &plugin, &error), 0);
    (void)site_add("GET", "/later", later, 0, 0);
    int route = site_add("GET", "/wait", wait_here, 0, 0);
    restd_route_options_init(&options);
    options.offload = 1;
    ck_assert_int_eq(
        restd_router_configure(site.router, route, &options, &error), 0);
    site_start();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(client_connect(&clients[i], site.port, 0), 0);
    }
    ck_assert_int_eq(client_say(&clients[0], GET("/later") GET("/new")), 0);
    ck_assert_int_eq(client_say(&clients[1], GET("/wait") GET("/new")), 0);
    restd_deferred h = handle(0);
    while (sem_wait(&entered) != 0) {
    }
    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &next), 0);
    ck_assert_int_eq(
        restd_router_add(next, "GET", "/new", inline_text, NULL, &error), 0);
    int rc = restd_server_reload(site.server, &site.options, next, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
    ck_assert_int_eq(reply(h, "of the old"), 0);
    expect(&clients[0], 201, "of the old");
    expect(&clients[0], 200, "inline");
    ck_assert_int_eq(atomic_load(&old_freed), 0);
    sem_post(&gate);
    expect(&clients[1], 200, "/wait");
    expect(&clients[1], 200, "inline");
    EVENTUALLY(atomic_load(&old_freed) == 1);
    restd_server_stop(site.server);
}
END_TEST

static char peers[2][64];

static int note_peer(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    (void)response;
    (void)data;
    return restd_slice_is(restd_request_path(request), "/wait") &&
                   restd_request_peer(request, peers[0], sizeof(peers[0])) < 0
               ? RESTD_EOS
               : 0;
}

static void note_peer_after(struct restd_request *request,
                            const struct restd_outcome *outcome, void *data)
{
    (void)data;
    if (restd_slice_is(restd_request_path(request), "/wait")) {
        atomic_fetch_add(&seen.errors, !outcome->aborted);
        atomic_fetch_add(
            &seen.errors,
            restd_request_peer(request, peers[1], sizeof(peers[1])) < 0);
        atomic_store(&seen.last, 1);
    }
}

/* Its connection has gone, and others have come in its place. */
START_TEST(it_is_known_whose_it_was)
{
    struct restd_plugin plugin = {.size = sizeof(plugin),
                                  .name = "peer",
                                  .before = note_peer,
                                  .after = note_peer_after};
    struct restd_route_options options;

    ck_assert_int_eq(sem_init(&entered, 0, 0), 0);
    ck_assert_int_eq(sem_init(&gate, 0, 0), 0);
    site_new();
    ck_assert_int_eq(restd_router_use(site.router, &plugin, NULL), 0);
    (void)site_add("GET", "/inline", inline_text, 0, 0);
    int route = site_add("GET", "/wait", wait_here, 0, 0);
    restd_route_options_init(&options);
    options.offload = 1;
    ck_assert_int_eq(restd_router_configure(site.router, route, &options, NULL),
                     0);
    site_start();
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
    ck_assert_int_eq(client_say(c, GET("/wait")), 0);
    while (sem_wait(&entered) != 0) {
    }
    client_reset(c);
    EVENTUALLY(server_counters(site.server).active == 0);
    for (int i = 1; i < 40; i++) {
        ck_assert_int_eq(client_connect(&clients[i], site.port, 0), 0);
        ck_assert_int_eq(content_ask(&clients[i], GET("/inline"), &r), 200);
    }
    sem_post(&gate);
    EVENTUALLY(atomic_load(&seen.last) == 1);
    ck_assert_str_eq(peers[0], peers[1]);
}
END_TEST

/* --- the end --------------------------------------------------------------- */

START_TEST(a_drain_waits_for_it)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/later")), 0);
    restd_deferred h = handle(0);
    restd_server_drain(site.server);
    EVENTUALLY(restd_server_state(site.server) == RESTD_STATE_DRAINING);
    ck_assert_int_eq(reply(h, "last"), 0);
    expect(c, 201, "last");
    restd_server_wait(site.server);
}
END_TEST

START_TEST(a_stop_does_not)
{
    start();
    ck_assert_int_eq(client_say(c, GET("/later")), 0);
    restd_deferred h = handle(0);
    restd_server_stop(site.server);
    ck_assert_int_eq(atomic_load(&left_n), 1);
    ck_assert_int_eq(reply(h, "late"), RESTD_ECLOSED);
    restd_server_free(site.server);
    site.server = NULL;
    ck_assert_int_eq(reply(h, "later still"), RESTD_ECLOSED);
}
END_TEST

static void *keep_replying(void *arg)
{
    while (!atomic_load((atomic_int *)arg)) {
        unsigned n = atomic_load(&handles_n);
        if (n > 0) {
            (void)reply(handles[n - 1], "any time");
        }
    }
    return NULL;
}

/* Replies that race with the end of their server. */
START_TEST(servers_come_and_go)
{
    atomic_int stop = 0;
    pthread_t thread;
    int rounds = is_sanitized() ? 20 : 50;

    ck_assert_int_eq(pthread_create(&thread, NULL, keep_replying, &stop), 0);
    for (int i = 0; i < rounds; i++) {
        start();
        unsigned before_n = atomic_load(&handles_n);
        ck_assert_int_eq(client_say(c, GET("/later")), 0);
        EVENTUALLY(atomic_load(&handles_n) > before_n);
        client_close(c);
        restd_server_stop(site.server);
        restd_server_free(site.server);
        site.server = NULL;
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
}
END_TEST

static void *reply_soon(void *arg)
{
    (void)arg;
    ck_assert_int_eq(reply(handle(0), "without a server"), 0);
    return NULL;
}

START_TEST(without_a_server)
{
    struct restd_error error = {0, 0, ""};
    struct restd_router *router;
    struct restd_reply *got;
    struct restd_call call;
    pthread_t thread;

    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &router), 0);
    ck_assert_int_eq(
        restd_router_add(router, "GET", "/later", later, NULL, &error), 0);
    restd_call_init(&call);
    call.target = "/later";
    ck_assert_int_eq(pthread_create(&thread, NULL, reply_soon, NULL), 0);
    ck_assert_int_eq(restd_router_call(router, &call, &got, &error), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(restd_reply_status(got), 201);
    ck_assert(restd_slice_is(restd_reply_body(got), "without a server"));
    restd_reply_free(got);
    restd_router_free(router);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deferred");
    TCase *tc = tcase_create("deferred");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, from_another_thread);
    tcase_add_test(tc, before_its_handler_has_returned);
    tcase_add_test(tc, one_of_two_is_taken);
    tcase_add_test(tc, pipelined_requests_are_answered_in_order);
    tcase_add_test(tc, methods_versions_and_contents);
    tcase_add_test(tc, a_large_one);
    tcase_add_test(tc, plugins_see_it);
    tcase_add_test(tc, only_a_handler_on_its_loop_may);
    tcase_add_test(tc, an_error_takes_it_back);
    tcase_add_test(tc, what_names_nothing);
    tcase_add_test(tc, a_client_that_has_left);
    tcase_add_test(tc, no_reply_in_time);
    tcase_add_test(tc, many_by_many_threads);
    tcase_add_test(tc, a_reload_lets_them_finish);
    tcase_add_test(tc, it_is_known_whose_it_was);
    tcase_add_test(tc, a_drain_waits_for_it);
    tcase_add_test(tc, a_stop_does_not);
    tcase_add_test(tc, servers_come_and_go);
    tcase_add_test(tc, without_a_server);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
