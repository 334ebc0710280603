/* SPDX-License-Identifier: MIT */
/* The router: tables of routes and paths, refusals, and a random comparison
 * with a matcher that tries every route. */
#include "route/router.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "codec/uri.h"
#include "router_help.h"
#include "router_table.h"
#include "support/suite.h"

static void check_table(void)
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const char *got = describe(paths[i].method, paths[i].path);
        ck_assert_msg(strcmp(got, paths[i].want) == 0, "%s %s: %s, not %s",
                      paths[i].method, paths[i].path, got, paths[i].want);
    }
}

START_TEST(table_whatever_the_order)
{
    enum { N = sizeof(routes) / sizeof(routes[0]) };
    unsigned order[N];
    unsigned seed = (unsigned)_i;
    for (unsigned i = 0; i < N; i++) {
        order[i] = i;
    }
    /* As written, backwards, and shuffled. */
    for (unsigned i = N - 1; i > 0 && _i > 0; i--) {
        unsigned k = _i == 1 ? (i >= N / 2 ? N - 1 - i : i)
                             : (unsigned)rand_r(&seed) % (i + 1);
        unsigned swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (unsigned i = 0; i < N; i++) {
        const char *const *route = routes[order[i]];
        int rc = add(route[0], route[1]);
        ck_assert_msg(strchr(route[1], ' ') ? rc == RESTD_EINVAL : rc >= 0,
                      "%s", route[1]);
    }
    check_table();
}
END_TEST

START_TEST(head_of_its_own_wins_over_get)
{
    int get;
    int head;
    ck_assert_int_eq(
        restd_router_add(router, "GET", "/a", router_handler, &get, NULL), 0);
    ck_assert_int_eq(
        restd_router_add(router, "HEAD", "/a", router_handler, &head, NULL), 1);
    ck_assert_int_eq(look_up("HEAD", "/a"), 0);
    ck_assert_ptr_eq(match.route->data, &head);
    ck_assert_int_eq(look_up("GET", "/a"), 0);
    ck_assert_ptr_eq(match.route->data, &get);
}
END_TEST

START_TEST(duplicates)
{
    static const struct {
        const char *method, *pattern;
        int rc;
    } steps[] = {
        {"GET", "/a", 0},
        {"GET", "/a", RESTD_EEXIST},
        {"POST", "/a", 0},
        {"get", "/a", 0},
        {"get", "/a", RESTD_EEXIST},
        {"GET", "/a/", 0},
        {"GET", "/{x}/b", 0},
        {"GET", "/{y}/b", RESTD_EEXIST},
        {"PUT", "/{y}/b", 0},
        {"GET", "/{x}/{y}", 0},
        {"GET", "/{y}/{x}", RESTD_EEXIST},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int rc = add(steps[i].method, steps[i].pattern);
        ck_assert_msg((rc < 0 ? rc : 0) == steps[i].rc, "%s %s: %d",
                      steps[i].method, steps[i].pattern, rc);
    }
    /* Each route has its own names. */
    ck_assert_str_eq(describe("GET", "/1/b"), "/{x}/b x=1");
    ck_assert_str_eq(describe("PUT", "/1/b"), "/{y}/b y=1");
    ck_assert_str_eq(describe("get", "/a"), "/a");
}
END_TEST

START_TEST(bad_routes)
{
    static const struct {
        const char *method, *pattern;
    } bad[] = {
        {"GET", ""},
        {"GET", "a"},
        {"GET", "*"},
        {"GET", "/{...}"},
        {"GET", "/a%20b"},
        {"GET", "/a\x7f"},
        {"GET", "/{a...}/b"},
        {"GET", "/{a.b}"},
        {"GET", "/{a:[}"},
        {"GET", "/{a:(}"},
        {"GET", "/{a:x{2}"},
        {"GET", "/{a:x/y}"},
        {"GET", "/{a"},
        {"GET", "/a}"},
        {"GET", "/x{a}"},
        {"GET", "/{a}x"},
        {"GET", "/{a}{b}"},
        {"GET", "/{{a}}"},
        {"GET", "/a?b"},
        {"GET", "/a#b"},
        {"GET", "/a b"},
        {"GET", "/\t"},
        {"GET", "/a\r\n"},
        {"GET", "/{a b}"},
        {"GET", "/{a?}"},
        {"GET", "/{a}/{a}"},
        {"GET", "/."},
        {"GET", "/a/../b"},
        {"", "/a"},
        {"A B", "/a"},
        {"GET\r\n", "/a"},
        {"G:T", "/a"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZ1234567", "/a"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(add(bad[i].method, bad[i].pattern) == RESTD_EINVAL,
                      "%s %s", bad[i].method, bad[i].pattern);
    }
    ck_assert_int_eq(restd_router_add(router, "GET", "/a", NULL, NULL, NULL),
                     RESTD_EINVAL);
    /* None of them has left a trace that matches. */
    ck_assert_int_eq(look_up("GET", "/a"), -404);
    ck_assert_int_eq(look_up("GET", "/x"), -404);
    ck_assert_uint_eq(rd_router_allowed(router), 0);
}
END_TEST

START_TEST(segments_and_params_have_a_limit)
{
    char pattern[2048];
    size_t n = 0;
    for (int i = 0; i < RD_PARAMS_MAX; i++) {
        n += (size_t)snprintf(pattern + n, sizeof(pattern) - n, "/{p%d}", i);
    }
    ck_assert_int_ge(add("GET", pattern), 0);
    snprintf(pattern + n, sizeof(pattern) - n, "/{q}");
    ck_assert_int_eq(add("GET", pattern), RESTD_EINVAL);

    memset(pattern, 0, sizeof(pattern));
    for (int i = 0; i < RD_URI_SEGMENTS_MAX; i++) {
        memcpy(pattern + 2 * i, "/s", 3);
    }
    ck_assert_int_ge(add("GET", pattern), 0);
    ck_assert_int_eq(look_up("GET", pattern), 0);
    ck_assert_str_eq(match.route->pattern, pattern);
    memcpy(pattern + strlen(pattern), "/s", 3);
    ck_assert_int_eq(add("GET", pattern), RESTD_EINVAL);
    ck_assert_int_eq(look_up("GET", pattern), -404);
    ck_assert_int_eq(look_up("GET", "/0/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f"), 0);
    ck_assert_uint_eq(match.params_n, RD_PARAMS_MAX);
    ck_assert_int_eq(look_up("GET", "/0/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g"),
                     -404);
}
END_TEST

START_TEST(methods_have_a_limit)
{
    char token[40];
    char allow[RD_ALLOW_MAX];
    unsigned custom = RD_METHODS_MAX - RESTD_METHODS_N;
    for (unsigned i = 0; i < custom; i++) {
        snprintf(token, sizeof(token), "A-METHOD-OF-THIRTY-TWO-LETTERS%02u", i);
        ck_assert_int_ge(add(token, "/a"), 0);
        ck_assert_uint_eq(rd_router_method(router, rd_slice_str(token)),
                          RESTD_METHODS_N + i);
    }
    ck_assert_int_eq(add("ONE-MORE", "/a"), RESTD_ELIMIT);
    ck_assert_int_ge(add(token, "/b"), 0);
    for (unsigned i = 1; i < RESTD_METHODS_N; i++) {
        ck_assert_int_ge(add(restd_method_name((enum restd_method)i), "/a"), 0);
    }
    /* The longest Allow there is. */
    ck_assert_int_eq(rd_router_freeze(router), 0);
    uint32_t all = rd_router_allowed(router);
    ck_assert_uint_eq(all, ~UINT32_C(1));
    int n = rd_router_allow_text(router, all, allow, sizeof(allow));
    ck_assert_int_gt(n, (int)custom * 34);
    ck_assert_int_eq((int)strlen(allow), n);
    for (int size = 0; size <= n; size++) {
        memset(allow, 'x', sizeof(allow));
        ck_assert_int_eq(rd_router_allow_text(router, all, allow, (size_t)size),
                         RESTD_ERANGE);
        ck_assert(size == 0 || memchr(allow, '\0', (size_t)size));
        ck_assert_int_eq(allow[size], 'x');
    }
    ck_assert_uint_eq(rd_router_method(router, rd_slice_str("NONE")), 0);
    ck_assert_uint_eq(rd_router_method(router, rd_slice("GETX", 3)),
                      RESTD_METHOD_GET);
}
END_TEST

START_TEST(many_routes)
{
    enum { N = 3000 };
    char pattern[64];
    for (int i = 0; i < N; i++) {
        snprintf(pattern, sizeof(pattern), "/r%d/fixed", i);
        ck_assert_int_ge(add("GET", pattern), 0);
        snprintf(pattern, sizeof(pattern), "/r%d/{v}/more", i);
        ck_assert_int_ge(add("GET", pattern), 0);
    }
    for (int i = 0; i < N; i++) {
        char want[80];
        snprintf(pattern, sizeof(pattern), "/r%d/fixed", i);
        ck_assert_str_eq(describe("GET", pattern), pattern);
        snprintf(pattern, sizeof(pattern), "/r%d/%d/more", i, i);
        snprintf(want, sizeof(want), "/r%d/{v}/more v=%d", i, i);
        ck_assert_str_eq(describe("GET", pattern), want);
        snprintf(pattern, sizeof(pattern), "/r%d/other", i);
        ck_assert_str_eq(describe("GET", pattern), "404");
    }
}
END_TEST

START_TEST(numbers_options_and_listing)
{
    struct restd_route_options o;
    struct restd_route_info info;
    struct restd_error error;
    char summary[] = "a summary";
    ck_assert_int_eq(add("POST", "/b"), 0);
    ck_assert_int_eq(add("GET", "/b"), 1);
    ck_assert_int_eq(add("GET", "/{x"), RESTD_EINVAL);
    ck_assert_int_eq(add("GET", "/a/{x}"), 2);
    memset(&o, 0xaa, sizeof(o));
    restd_route_options_init(&o);
    ck_assert_ptr_null(o.summary);
    ck_assert_uint_eq(o.body_max_bytes, 0);
    o.summary = summary;
    o.consumes = "text/plain";
    o.body_max_bytes = 7;
    o.low_priority = 1;
    ck_assert_int_eq(restd_router_configure(router, 1, &o, NULL), 0);
    summary[0] = 'X';
    /* One that was built with fewer fields. */
    o.size = offsetof(struct restd_route_options, produces);
    o.produces = "not/seen";
    ck_assert_int_eq(restd_router_configure(router, 2, &o, NULL), 0);
    o.size = 0;
    ck_assert_int_eq(restd_router_configure(router, 2, &o, &error),
                     RESTD_EINVAL);
    ck_assert_int_eq(restd_router_configure(router, 2, NULL, &error),
                     RESTD_EINVAL);
    o.size = sizeof(o);
    o.produces = "";
    ck_assert_int_eq(restd_router_configure(router, 2, &o, &error),
                     RESTD_EINVAL);
    o.produces = "text/html";
    o.summary = "two\nlines";
    ck_assert_int_eq(restd_router_configure(router, 2, &o, &error),
                     RESTD_EINVAL);
    ck_assert_int_eq(restd_router_configure(router, 3, &o, &error),
                     RESTD_ENOENT);
    ck_assert_int_eq(restd_router_configure(router, -1, &o, &error),
                     RESTD_ENOENT);

    ck_assert_int_eq(restd_router_route_at(router, 0, &info), 0);
    ck_assert_str_eq(info.pattern, "/a/{x}");
    ck_assert_str_eq(info.summary, "X summary");
    ck_assert_ptr_null(info.produces);
    ck_assert_int_eq(restd_router_route_at(router, 1, &info), 0);
    ck_assert_str_eq(info.pattern, "/b");
    ck_assert_str_eq(info.method, "GET");
    ck_assert_str_eq(info.summary, "a summary");
    ck_assert_str_eq(info.consumes, "text/plain");
    ck_assert_int_eq(restd_router_route_at(router, 2, &info), 0);
    ck_assert_str_eq(info.method, "POST");
    ck_assert_ptr_null(info.summary);
    ck_assert_int_eq(restd_router_route_at(router, 3, &info), RESTD_ENOENT);

    ck_assert_int_eq(look_up("GET", "/b"), 0);
    ck_assert_uint_eq(match.route->options.body_max_bytes, 7);
    ck_assert_uint_eq(match.route->options.low_priority, 1);
}
END_TEST

START_TEST(routes_may_be_added_after_a_look_up)
{
    ck_assert_int_eq(add("GET", "/a"), 0);
    ck_assert_str_eq(describe("GET", "/b"), "404");
    ck_assert_int_eq(rd_router_freeze(router), 0);
    size_t bytes = rd_router_bytes(router);
    ck_assert_int_eq(rd_router_freeze(router), 0);
    ck_assert_uint_eq(rd_router_bytes(router), bytes);
    ck_assert_int_eq(add("GET", "/b"), 1);
    ck_assert_str_eq(describe("GET", "/b"), "/b");
    ck_assert_str_eq(describe("GET", "/a"), "/a");
    ck_assert_uint_gt(rd_router_bytes(router), bytes);
    ck_assert_int_eq(restd_router_supports(router, "HEAD", "/a"), 1);
    ck_assert_int_eq(restd_router_supports(router, "NONE", "/a"), 0);
    ck_assert_int_eq(restd_router_supports(router, "GET", "a"), 0);
    ck_assert_int_eq(restd_router_supports(router, "GET", ""), 0);
}
END_TEST

/* --- plugins -------------------------------------------------------------- */

static int before(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    return router_handler(request, response, data);
}

static int wrapper(struct restd_request *request,
                   struct restd_response *response, struct restd_next *next,
                   void *data)
{
    (void)next;
    return router_handler(request, response, data);
}

static void after(struct restd_request *request,
                  const struct restd_outcome *outcome, void *data)
{
    (void)request;
    (void)outcome;
    (void)data;
}

static void count_free(void *data)
{
    ++*(int *)data;
}

static struct restd_plugin plugin_of(int *freed)
{
    struct restd_plugin plugin = {sizeof(plugin), "test",     before, wrapper,
                                  after,          count_free, freed};
    return plugin;
}

START_TEST(plugins_are_freed_once)
{
    struct restd_error error;
    int freed[6] = {0};
    struct restd_plugin plugin = plugin_of(&freed[0]);
    ck_assert_int_eq(add("GET", "/a"), 0);
    ck_assert_int_eq(restd_router_use(router, &plugin, NULL), 0);
    plugin.data = &freed[1];
    plugin.wrapper = NULL;
    ck_assert_int_eq(restd_router_use(router, &plugin, NULL), 0);
    plugin = plugin_of(&freed[2]);
    ck_assert_int_eq(restd_router_use_on(router, 0, &plugin, NULL), 0);
    plugin.data = &freed[3];
    ck_assert_int_eq(restd_router_use_on(router, 1, &plugin, &error),
                     RESTD_ENOENT);
    ck_assert_int_eq(freed[3], 1);
    plugin.data = &freed[4];
    rd_mem_fail_nth(1);
    ck_assert_int_eq(restd_router_use(router, &plugin, &error), RESTD_ENOMEM);
    rd_mem_fail_nth(0);
    ck_assert_int_eq(freed[4], 1);
    plugin.data = &freed[5];
    plugin.size = 8;
    ck_assert_int_eq(restd_router_use(router, &plugin, &error), RESTD_EINVAL);
    ck_assert_int_eq(restd_router_use(router, NULL, &error), RESTD_EINVAL);

    ck_assert_int_eq(look_up("GET", "/a"), 0);
    ck_assert_uint_eq(match.route->wrappers_n, 2);
    ck_assert_ptr_eq(match.route->wrappers[0]->data, &freed[0]);
    ck_assert_ptr_eq(match.route->wrappers[1]->data, &freed[2]);
    ck_assert_uint_eq(match.route->has, RD_HAS_BEFORE | RD_HAS_AFTER);
    ck_assert_ptr_eq(match.scope, rd_router_scope(router));
    ck_assert_uint_eq(match.scope->plugins.n, 2);
    ck_assert_uint_eq(match.scope->has, 0);
    ck_assert_int_eq(freed[0] + freed[1] + freed[2], 0);
    restd_router_free(router);
    router = NULL;
    ck_assert_int_eq(freed[0], 1);
    ck_assert_int_eq(freed[1], 1);
    ck_assert_int_eq(freed[2], 1);
}
END_TEST

/* One that only ends something with the router is none to requests. */
START_TEST(plugin_without_calls)
{
    int freed[2] = {0};
    const struct restd_plugin owner = {
        .size = sizeof(owner), .free = count_free, .data = &freed[0]};
    struct restd_plugin plugin = plugin_of(&freed[1]);

    ck_assert_int_eq(add("GET", "/a"), 0);
    ck_assert_int_eq(restd_router_use(router, &owner, NULL), 0);
    ck_assert_int_eq(rd_router_freeze(router), 0);
    ck_assert_uint_eq(rd_router_plugins(router), 0);
    ck_assert_int_eq(restd_router_use_on(router, 0, &plugin, NULL), 0);
    ck_assert_int_eq(rd_router_freeze(router), 0);
    ck_assert_uint_eq(rd_router_plugins(router), 1);
    restd_router_free(router);
    router = NULL;
    ck_assert_int_eq(freed[0], 1);
    ck_assert_int_eq(freed[1], 1);
}
END_TEST

/* --- failing allocations --------------------------------------------------- */

/* Does everything that allocates, `child` mounted in the end. */
static int fill(struct restd_router *r, struct restd_router **child, int *freed)
{
    struct restd_route_options o;
    struct restd_plugin plugin = plugin_of(freed);
    int rc =
        restd_router_add(r, "GET", "/a/{b:x+}/c", router_handler, NULL, NULL);
    if (rc >= 0) {
        rc = restd_router_add(r, "MINE", "/a/d", router_handler, NULL, NULL);
    }
    restd_route_options_init(&o);
    o.summary = "one";
    o.consumes = o.produces = "text/plain";
    if (rc >= 0) {
        rc = restd_router_configure(r, 0, &o, NULL);
    }
    if (rc == 0) {
        rc = restd_router_use(r, &plugin, NULL);
    }
    if (rc == 0) {
        rc = restd_router_use_on(r, 0, &plugin, NULL);
    }
    if (rc == 0) {
        rc = rd_router_freeze(r);
    }
    if (rc == 0) {
        rc = restd_router_new(RESTD_ROUTER_PREFIX, child);
    }
    if (rc == 0) {
        rc = restd_router_add(*child, "OTHER", "/e/", router_handler, NULL,
                              NULL);
    }
    if (rc == 0) {
        rc = restd_router_use(*child, &plugin, NULL);
    }
    if (rc == 0) {
        rc = restd_router_mount(r, "/{m:y+}", *child, NULL);
        *child = rc == 0 ? NULL : *child;
    }
    return rc == 0 ? rd_router_freeze(r) : rc;
}

START_TEST(every_allocation_may_fail)
{
    for (unsigned n = 1;; n++) {
        struct restd_router *r = NULL;
        struct restd_router *child = NULL;
        struct rd_router_work work = {0};
        struct restd_route_info info;
        int freed = 0;
        rd_mem_fail_nth(n);
        int rc = restd_router_new(RESTD_ROUTER_EXACT, &r);
        if (rc == 0) {
            rc = fill(r, &child, &freed);
        }
        if (rc == 0) {
            rc = rd_router_work_init(&work, r, 100);
        }
        unsigned calls = rd_mem_calls();
        rd_mem_fail_nth(0);
        ck_assert_int_eq(rc, calls < n ? 0 : RESTD_ENOMEM);
        if (child) {
            /* The failed mount has changed nothing. */
            ck_assert_int_eq(restd_router_route_at(r, 2, &info), RESTD_ENOENT);
            ck_assert_uint_eq(rd_router_method(r, rd_slice_str("OTHER")), 0);
        }
        if (r) {
            ck_assert_int_eq(rd_router_freeze(r), 0);
        }
        rd_router_work_fini(&work);
        restd_router_free(child);
        restd_router_free(r);
        if (calls < n) {
            ck_assert_int_eq(freed, 3);
            ck_assert_uint_gt(n, 40);
            break;
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("router");
    TCase *tc = tcase_create("router");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, router_exact, router_tear_down);
    tcase_add_loop_test(tc, table_whatever_the_order, 0, 20);
    tcase_add_test(tc, head_of_its_own_wins_over_get);
    tcase_add_test(tc, duplicates);
    tcase_add_test(tc, bad_routes);
    tcase_add_test(tc, segments_and_params_have_a_limit);
    tcase_add_test(tc, methods_have_a_limit);
    tcase_add_test(tc, many_routes);
    tcase_add_test(tc, numbers_options_and_listing);
    tcase_add_test(tc, routes_may_be_added_after_a_look_up);
    tcase_add_test(tc, plugins_are_freed_once);
    tcase_add_test(tc, plugin_without_calls);
    tcase_add_test(tc, every_allocation_may_fail);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
