/* SPDX-License-Identifier: MIT */
/* Views of /status: who is told what, several at once, what a reload tells; and
 * the built-in routes beside others. Requests come without a server, from
 * 127.0.0.1 and through a listener without a name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <restd/restd.h>

#include "daemon/builtin.h"
#include "daemon/health.h"
#include "daemon/status.h"
#include "json_valid.h"
#include "support/folder.h"
#include "support/suite.h"

static const struct rd_config_builtins all = {1, 1, 1, 1, 1};

static struct restd_server *server;
static struct rd_status *status;
static struct restd_error error;
static struct restd_reply *reply;
static char body[65536];
static char host[80];

static void must(int rc)
{
    ck_assert_msg(rc >= 0, "%s: %s", restd_error_name(rc), error.message);
}

static void set_up(void)
{
    char name[33] = "";

    reply = NULL;
    (void)gethostname(name, sizeof(name) - 1);
    (void)snprintf(host, sizeof(host), "\"host\":\"%s\"", name);
    must(restd_server_new(NULL, &server, &error));
    must(rd_status_new(server, NULL, &status, &error));
}

static void tear_down(void)
{
    restd_reply_free(reply);
    rd_status_free(status);
    restd_server_free(server);
}

/* A snapshot, as the daemon has one for each configuration. */
struct site {
    struct restd_router *router;
    struct rd_builtin builtin;
};

static void open_bare(struct site *site,
                      const struct rd_status_view_options *options)
{
    memset(site, 0, sizeof(*site));
    must(restd_router_new(RESTD_ROUTER_EXACT, &site->router));
    must(rd_status_view_new(status, options, &site->builtin.view, &error));
    site->builtin.server = server;
}

static void open_site(struct site *site,
                      const struct rd_status_view_options *options)
{
    open_bare(site, options);
    must(rd_builtin_routes(site->router, &site->builtin, &all, &error));
}

static void close_site(struct site *site)
{
    restd_router_free(site->router);
    rd_status_view_free(site->builtin.view);
}

static int ask(const struct site *site, const char *method, const char *target)
{
    struct restd_call call;

    restd_reply_free(reply);
    reply = NULL;
    restd_call_init(&call);
    call.method = method;
    call.target = target;
    must(restd_router_call(site->router, &call, &reply, &error));
    struct restd_slice s = restd_reply_body(reply);
    ck_assert_uint_lt(s.len, sizeof(body));
    memcpy(body, s.data, s.len);
    body[s.len] = '\0';
    return restd_reply_status(reply);
}

static void get(const struct site *site, const char *target)
{
    int got = ask(site, "GET", target);

    ck_assert_msg(got == 200, "%s: %d", target, got);
    char *end = strchr(body, '\n');
    ck_assert_msg(end != NULL && end[1] == '\0', "%s", body);
    *end = '\0';
    ck_assert_msg(json_valid(body), "%s", body);
    *end = '\n';
}

static void says(const char *text)
{
    ck_assert_msg(strstr(body, text) != NULL, "no %s in %s", text, body);
}

static void is_silent_on(const char *text)
{
    ck_assert_msg(strstr(body, text) == NULL, "%s in %s", text, body);
}

static void is_private_summary(void)
{
    char pid[32];

    (void)snprintf(pid, sizeof(pid), "\"pid\":%d,", (int)getpid());
    says(pid);
    says(host);
    says("\"load\":[");
    is_silent_on("\"schema\"");
}

static void is_public_summary(void)
{
    says("\"pid\":null,");
    says("\"host\":null,");
    says("\"load\":null}");
    says("\"workers\":");
    is_silent_on("\"schema\"");
    is_silent_on(host);
}

static void is_full(void)
{
    says("{\"schema\":1,");
    says("\"daemon\":{");
}

static void tells_all(struct site *site)
{
    get(site, "/status");
    is_private_summary();
    get(site, "/status?detail=full");
    is_full();
}

static void tells_summary(struct site *site)
{
    get(site, "/status");
    is_public_summary();
    get(site, "/status?detail=full");
    is_public_summary();
}

/* --- views --------------------------------------------------------------- */

START_TEST(private_without_guards)
{
    const struct rd_status_view_options options = {.places = 1, .host = 1};
    struct site site;

    open_site(&site, &options);
    get(&site, "/status");
    is_private_summary();
    get(&site, "/status?detail=summary");
    is_private_summary();
    get(&site, "/status?detail=full");
    is_full();
    says("\"host\":{\"hostname\":");
    get(&site, "/status"); /* behind a full one */
    is_private_summary();
    close_site(&site);
}
END_TEST

/* A call without a server comes through no listener at all. */
START_TEST(public_by_listener)
{
    static const char *const named[] = {"main", ""};
    struct rd_status_view_options options = {.places = 1,
                                             .host = 1,
                                             .is_guarded = 1,
                                             .private_listeners = named,
                                             .private_n = 2};
    struct site site;

    /* Full by default or not: never to the public. */
    for (options.full = 0; options.full < 2; options.full++) {
        open_site(&site, &options);
        tells_summary(&site);
        close_site(&site);
    }
    options.full = 0;
    options.is_guarded = 0;
    open_site(&site, &options);
    tells_all(&site);
    close_site(&site);
}
END_TEST

static struct restd_networks *networks_of(const char *text)
{
    struct restd_networks *networks;

    must(restd_networks_new(text, &networks, &error));
    return networks;
}

/* With a list of peers the listeners do not matter. */
START_TEST(private_by_peer)
{
    struct restd_networks *with = networks_of("10.0.0.0/8, 127.0.0.1");
    struct restd_networks *without = networks_of("10.0.0.0/8, unix");
    struct rd_status_view_options options = {.places = 1, .host = 1};
    struct site site;

    for (options.is_guarded = 0; options.is_guarded < 2; options.is_guarded++) {
        options.allow = with;
        open_site(&site, &options);
        tells_all(&site);
        close_site(&site);

        options.allow = without;
        open_site(&site, &options);
        tells_summary(&site);
        close_site(&site);
    }
    restd_networks_free(with);
    restd_networks_free(without);
}
END_TEST

START_TEST(full_by_default)
{
    const struct rd_status_view_options options = {
        .places = 1, .full = 1, .host = 1};
    struct site site;

    open_site(&site, &options);
    get(&site, "/status");
    is_full();
    get(&site, "/status?detail=full");
    is_full();
    get(&site, "/status?detail=summary");
    is_private_summary();
    close_site(&site);
}
END_TEST

START_TEST(nothing_about_the_host)
{
    const struct rd_status_view_options options = {.places = 1};
    struct site site;

    open_site(&site, &options);
    get(&site, "/status");
    says("\"host\":null,");
    says("\"load\":null}");
    is_silent_on("\"pid\":null");
    get(&site, "/status?detail=full");
    is_full();
    says("\"host\":null}\n");
    close_site(&site);
}
END_TEST

/* Of an old snapshot and a new one; the old one ends first, or the new. */
START_TEST(two_at_once)
{
    const struct rd_status_view_options open = {.places = 4, .host = 1};
    const struct rd_status_view_options guarded = {
        .places = 1, .host = 1, .is_guarded = 1};
    struct site sites[2];

    open_site(&sites[0], &open);
    open_site(&sites[1], &guarded);
    for (int i = 0; i < 3; i++) {
        get(&sites[0], "/status");
        is_private_summary();
        get(&sites[1], "/status");
        is_public_summary();
        get(&sites[0], "/status?detail=full");
        is_full();
    }
    close_site(&sites[_i]);
    get(&sites[1 - _i], "/status");
    if (_i == 1) {
        is_private_summary();
    } else {
        is_public_summary();
    }
    close_site(&sites[1 - _i]);
}
END_TEST

START_TEST(loops_without_a_place)
{
    const struct rd_status_view_options options = {.places = 0};
    struct site site;

    open_site(&site, &options);
    ck_assert_int_eq(ask(&site, "GET", "/status"), 500);
    close_site(&site);
}
END_TEST

START_TEST(what_a_reload_tells)
{
    const struct rd_status_view_options options = {.places = 1, .host = 1};
    static char noise[2000];
    struct rd_status_config config = {
        .path = "/etc/a \"b\".conf",
        .generation = 7,
        .loaded_unix_ms = 1000,
        .last_reload_error = "a.conf:4: error: 'heeder'\nand more"};
    struct site site;

    open_site(&site, &options);
    get(&site, "/status?detail=full");
    says("\"config\":{\"path\":null,\"generation\":1,\"loaded\":\"20");
    says("\"last_reload_ok\":true,\"last_reload_error\":null}");
    rd_status_set_config(status, &config);
    get(&site, "/status?detail=full");
    says("\"config\":{\"path\":\"/etc/a \\\"b\\\".conf\",\"generation\":7,"
         "\"loaded\":\"1970-01-01T00:00:01.000Z\",\"last_reload_ok\":false,"
         "\"last_reload_error\":\"a.conf:4: error: 'heeder'\\nand more\"}");
    /* Whatever they say, it fits. */
    memset(noise, '\1', sizeof(noise) - 1);
    config.path = config.last_reload_error = noise;
    config.generation = UINT64_MAX;
    rd_status_set_config(status, &config);
    get(&site, "/status?detail=full");
    says("\"generation\":18446744073709551615,");
    says("\"last_reload_error\":\"\\u0001\\u0001");
    close_site(&site);
}
END_TEST

/* More listeners than the first room for the document holds. */
START_TEST(the_document_grows)
{
    const struct rd_status_view_options options = {.places = 1, .host = 1};
    char folder[FOLDER_MAX];
    char addresses[64][112], name[64];
    struct restd_listen_options o;
    struct site site;

    folder_make(folder);
    restd_listen_options_init(&o);
    o.name = name;
    for (unsigned i = 0; i < 64; i++) {
        (void)snprintf(name, sizeof(name), "%063u", i);
        (void)snprintf(addresses[i], sizeof(addresses[i]), "unix:%s/%032u",
                       folder, i);
        must(restd_server_listen_with(server, addresses[i], &o, &error));
    }
    open_site(&site, &options);
    get(&site, "/status?detail=full");
    ck_assert_uint_gt(strlen(body), 16384);
    says("0062\",\"address\":\"unix:");
    says("\"sampled\":");
    close_site(&site);
    for (unsigned i = 0; i < 64; i++) {
        (void)unlink(addresses[i] + strlen("unix:"));
    }
    folder_remove(folder);
}
END_TEST

/* --- health and routes --------------------------------------------------- */

START_TEST(readiness_by_order)
{
    struct restd_stats stats = {.state = RESTD_STATE_RUNNING,
                                .connections_max = 1};
    const char *why = NULL;

    ck_assert_int_eq(rd_health_ready(&stats, &why), 1);
    rd_health_set_draining(1);
    ck_assert_int_eq(rd_health_ready(&stats, &why), 0);
    ck_assert_str_eq(why, "drained by the administrator");
    rd_health_set_draining(0);
    ck_assert_int_eq(rd_health_ready(&stats, &why), 1);
}
END_TEST

/* The server has not started, so it is not ready. */
START_TEST(failures_are_explained_to_private_requests)
{
    static const char *const paths[] = {"/readyz", "/healthz"};
    struct rd_status_view_options options = {.places = 1};
    struct site site;

    for (options.is_guarded = 0; options.is_guarded < 2; options.is_guarded++) {
        open_site(&site, &options);
        for (size_t i = 0; i < 2; i++) {
            ck_assert_int_eq(ask(&site, "GET", paths[i]), 503);
            ck_assert_int_eq(strstr(body, "\"starting\"") != NULL,
                             options.is_guarded == 0);
        }
        close_site(&site);
    }
}
END_TEST

static int handle_own(struct restd_request *request,
                      struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    return restd_response_printf(response, "own");
}

START_TEST(routes_that_are_wanted)
{
    static const struct {
        struct rd_config_builtins which;
        const char *path; /* the first one of its kind */
    } parts[] = {{{.status = 1}, "/status"},
                 {{.health = 1}, "/livez"},
                 {{.version = 1}, "/version"},
                 {{.index = 1}, "/"},
                 {{.echo = 1}, "/ok"}};
    const struct rd_status_view_options options = {.places = 1};
    struct site site;

    open_bare(&site, &options);
    must(rd_builtin_routes(site.router, &site.builtin, &parts[_i].which,
                           &error));
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(ask(&site, "GET", parts[i].path), i == _i ? 200 : 404);
    }
    close_site(&site);
}
END_TEST

START_TEST(routes_beside_others)
{
    const struct rd_status_view_options options = {.places = 1};
    struct rd_config_builtins which = all;
    struct site site;

    which.version = 0;
    open_bare(&site, &options);
    must(restd_router_add(site.router, "GET", "/status", handle_own, NULL,
                          &error));
    must(restd_router_add(site.router, "POST", "/livez", handle_own, NULL,
                          &error));
    must(restd_router_add(site.router, "GET", "/{path...}", handle_own, NULL,
                          &error));
    must(rd_builtin_routes(site.router, &site.builtin, &which, &error));
    /* The paths that others have, and the page of a folder at "/". */
    ck_assert_int_eq(ask(&site, "GET", "/status"), 200);
    ck_assert_str_eq(body, "own");
    ck_assert_int_eq(ask(&site, "GET", "/"), 200);
    ck_assert_str_eq(body, "own");
    ck_assert_int_eq(ask(&site, "GET", "/version"), 200);
    ck_assert_str_eq(body, "own");
    /* But not the rest. */
    ck_assert_int_eq(ask(&site, "POST", "/livez"), 200);
    ck_assert_str_eq(body, "own");
    ck_assert_int_eq(ask(&site, "GET", "/livez"), 200);
    ck_assert_str_eq(body, "ok\n");
    ck_assert_int_eq(ask(&site, "GET", "/ok"), 200);
    ck_assert_str_eq(body, "");
    close_site(&site);
}
END_TEST

START_TEST(the_list_at_the_top)
{
    const struct rd_status_view_options options = {.places = 1};
    const struct rd_config_builtins which = {.health = 1, .index = 1};
    struct site site;

    open_site(&site, &options);
    ck_assert_int_eq(ask(&site, "GET", "/"), 200);
    says("GET  /status   state");
    says("GET  /readyz   200");
    says("POST /echo     returns");
    close_site(&site);

    open_bare(&site, &options);
    must(restd_router_add(site.router, "GET", "/livez", handle_own, NULL,
                          &error));
    must(rd_builtin_routes(site.router, &site.builtin, &which, &error));
    ck_assert_int_eq(ask(&site, "GET", "/"), 200);
    says("GET  /readyz   200");
    is_silent_on("/livez");
    is_silent_on("/status");
    close_site(&site);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("daemon_status");
    TCase *tcase = tcase_create("views");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, private_without_guards);
    tcase_add_test(tcase, public_by_listener);
    tcase_add_test(tcase, private_by_peer);
    tcase_add_test(tcase, full_by_default);
    tcase_add_test(tcase, nothing_about_the_host);
    tcase_add_loop_test(tcase, two_at_once, 0, 2);
    tcase_add_test(tcase, loops_without_a_place);
    tcase_add_test(tcase, what_a_reload_tells);
    tcase_add_test(tcase, the_document_grows);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("routes");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, readiness_by_order);
    tcase_add_test(tcase, failures_are_explained_to_private_requests);
    tcase_add_loop_test(tcase, routes_that_are_wanted, 0, 5);
    tcase_add_test(tcase, routes_beside_others);
    tcase_add_test(tcase, the_list_at_the_top);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
