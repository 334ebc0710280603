/* SPDX-License-Identifier: MIT */
/* Mounting into an EXACT router: one tree, the lists of PREFIX children behind
 * it, scopes and wrappers, and refusals that leave everything as it was. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "router_help.h"
#include "support/suite.h"

static struct restd_router *child;
static struct restd_error error;

static void set_up(void)
{
    router_exact();
    child = child_new(RESTD_ROUTER_EXACT);
    memset(&error, 0, sizeof(error));
}

static void tear_down(void)
{
    router_tear_down();
    restd_router_free(child);
}

static int mount(const char *base)
{
    int rc = restd_router_mount(router, base, child, &error);
    if (rc == 0) {
        child = NULL;
    }
    return rc;
}

/* Same text as describe(), and the base of the scope. */
static void check_is(const char *method, const char *path, const char *want,
                     const char *base)
{
    const char *got = describe(method, path);
    ck_assert_msg(strcmp(got, want) == 0, "%s %s: %s, not %s", method, path,
                  got, want);
    ck_assert_msg(strcmp(match.scope->base, base) == 0, "%s %s: in \"%s\"",
                  method, path, match.scope->base);
}

START_TEST(one_tree)
{
    ck_assert_int_eq(add("GET", "/api/{any}/x"), 0);
    ck_assert_int_eq(add("PUT", "/api/users/x"), 1);
    ck_assert_int_eq(add_to(child, "GET", "/users/x"), 0);
    ck_assert_int_eq(add_to(child, "POST", "/{id}/x"), 1);
    ck_assert_int_eq(add_to(child, "GET", "/"), 2);
    ck_assert_int_eq(add_to(child, "MINE", "/users/x"), 3);
    ck_assert_int_eq(mount("/api"), 0);
    /* The parent's numbers stay. */
    struct restd_route_options o;
    restd_route_options_init(&o);
    o.body_max_bytes = 5;
    ck_assert_int_eq(restd_router_configure(router, 1, &o, NULL), 0);

    check_is("GET", "/api/users/x", "/api/users/x", "/api");
    check_is("PUT", "/api/users/x", "/api/users/x", "");
    ck_assert_uint_eq(match.route->options.body_max_bytes, 5);
    check_is("POST", "/api/users/x", "/api/{id}/x id=users", "/api");
    check_is("GET", "/api/7/x", "/api/{any}/x any=7", "");
    check_is("POST", "/api/7/x", "/api/{id}/x id=7", "/api");
    check_is("MINE", "/api/users/x", "/api/users/x", "/api");
    check_is("DELETE", "/api/users/x",
             "405 GET, HEAD, POST, PUT, OPTIONS, MINE", "/api");
    check_is("GET", "/api/", "/api/", "/api");
    check_is("GET", "/api", "404", "/api");
    check_is("GET", "/apis", "404", "");
    check_is("GET", "/", "404", "");
    check_is("GET", "/api/%", "400", "");
}
END_TEST

START_TEST(listing_has_all)
{
    static const char *const want[] = {"GET /a", "GET /api/b", "POST /api/b",
                                       "GET /z"};
    struct restd_route_info info;
    char text[64];
    ck_assert_int_eq(add("GET", "/z"), 0);
    ck_assert_int_eq(add("GET", "/a"), 1);
    ck_assert_int_eq(add_to(child, "POST", "/b"), 0);
    ck_assert_int_eq(add_to(child, "GET", "/b"), 1);
    ck_assert_int_eq(mount("/api"), 0);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_int_eq(restd_router_route_at(router, i, &info), 0);
        snprintf(text, sizeof(text), "%s %s", info.method, info.pattern);
        ck_assert_str_eq(text, want[i]);
    }
    ck_assert_int_eq(restd_router_route_at(router, 4, &info), RESTD_ENOENT);
}
END_TEST

START_TEST(a_base_with_variables)
{
    ck_assert_int_eq(add_to(child, "GET", "/b/{v}"), 0);
    ck_assert_int_eq(mount("/{tenant:slug}/{n:[0-9]{2}}"), 0);
    check_is("GET", "/t/12/b/x",
             "/{tenant:slug}/{n:[0-9]{2}}/b/{v} tenant=t n=12 v=x",
             "/{tenant:slug}/{n:[0-9]{2}}");
    check_is("GET", "/t/12/zzz", "404", "/{tenant:slug}/{n:[0-9]{2}}");
    check_is("GET", "/t/123/zzz", "404", "");
    ck_assert_uint_eq(match.params_n, 0);
}
END_TEST

START_TEST(a_base_of_nothing)
{
    ck_assert_int_eq(add_to(child, "GET", "/a"), 0);
    ck_assert_int_eq(mount("/"), 0);
    child = child_new(RESTD_ROUTER_EXACT);
    ck_assert_int_eq(add_to(child, "GET", "/b"), 0);
    ck_assert_int_eq(mount(""), 0);
    check_is("GET", "/a", "/a", "");
    ck_assert_ptr_eq(match.scope->parent, rd_router_scope(router));
    check_is("GET", "/b", "/b", "");
    check_is("GET", "/c", "404", "");
    ck_assert_ptr_eq(match.scope->parent, rd_router_scope(router));
}
END_TEST

static int wrap(struct restd_request *request, struct restd_response *response,
                struct restd_next *next, void *data)
{
    (void)next;
    return router_handler(request, response, data);
}

static void use(struct restd_router *on, int route, const char *name)
{
    struct restd_plugin plugin = {.size = sizeof(plugin),
                                  .name = name,
                                  .before = router_handler,
                                  .wrapper = wrap};
    ck_assert_int_eq(route < 0 ? restd_router_use(on, &plugin, NULL)
                               : restd_router_use_on(on, route, &plugin, NULL),
                     0);
}

static const char *wrappers(void)
{
    static char text[64];
    int n = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < match.route->wrappers_n; i++) {
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s ",
                      match.route->wrappers[i]->name);
    }
    return text;
}

START_TEST(wrappers_nest_as_routers_do)
{
    struct restd_router *inner = child_new(RESTD_ROUTER_PREFIX);
    use(inner, -1, "inner");
    ck_assert_int_eq(add_to(inner, "GET", "/x/"), 0);
    use(inner, 0, "own1");
    use(inner, 0, "own2");
    use(child, -1, "child1");
    use(child, -1, "child2");
    ck_assert_int_eq(add_to(child, "GET", "/y"), 0);
    ck_assert_int_eq(restd_router_mount(child, "/in", inner, NULL), 0);
    use(router, -1, "outer");
    ck_assert_int_eq(add("GET", "/z"), 0);
    ck_assert_int_eq(mount("/child"), 0);

    check_is("GET", "/child/in/x/7", "/child/in/x/", "/child/in");
    ck_assert_str_eq(wrappers(), "outer child1 child2 inner own1 own2 ");
    ck_assert_uint_eq(match.route->has, RD_HAS_BEFORE);
    ck_assert_str_eq(match.scope->parent->base, "/child");
    ck_assert_ptr_eq(match.scope->parent->parent, rd_router_scope(router));
    ck_assert_uint_eq(match.scope->has, RD_HAS_BEFORE);
    check_is("GET", "/child/y", "/child/y", "/child");
    ck_assert_str_eq(wrappers(), "outer child1 child2 ");
    check_is("GET", "/z", "/z", "");
    ck_assert_str_eq(wrappers(), "outer ");
    ck_assert_uint_eq(match.route->has, 0);
    check_is("GET", "/child/in/no", "404", "/child/in");
    check_is("GET", "/child/no", "404", "/child");
    /* One more for a router that has been looked up in. */
    use(router, -1, "late");
    check_is("GET", "/z", "/z", "");
    ck_assert_str_eq(wrappers(), "outer late ");
}
END_TEST

START_TEST(lists_stand_behind_the_tree)
{
    struct restd_router *list = child_new(RESTD_ROUTER_PREFIX);
    struct restd_router *deep = child_new(RESTD_ROUTER_PREFIX);
    ck_assert_int_eq(add("GET", "/old/exact"), 0);
    ck_assert_int_eq(add("GET", "/{v}/var"), 1);
    ck_assert_int_eq(add_to(list, "GET", "/a"), 0);
    ck_assert_int_eq(add_to(list, "POST", "/exact"), 1);
    ck_assert_int_eq(add_to(list, "PUT", "/"), 2);
    ck_assert_int_eq(restd_router_mount(router, "/old", list, NULL), 0);
    ck_assert_int_eq(add_to(deep, "DELETE", "/b"), 0);
    ck_assert_int_eq(restd_router_mount(router, "/old/a", deep, NULL), 0);

    check_is("GET", "/old/exact", "/old/exact", "");
    /* The tree has the path, but not the method. */
    check_is("POST", "/old/exact", "/old/exact", "/old");
    check_is("PATCH", "/old/exact", "405 GET, HEAD, POST, OPTIONS", "/old");
    check_is("GET", "/old/var", "/{v}/var v=old", "");
    check_is("GET", "//old//a/x/y", "/old/a", "/old");
    /* The deeper base first, then the other. */
    check_is("DELETE", "/old/a/b", "/old/a/b", "/old/a");
    check_is("GET", "/old/a/b", "/old/a", "/old");
    check_is("PATCH", "/old/a/b", "405 GET, HEAD, DELETE, OPTIONS", "/old/a");
    check_is("PUT", "/old/zz", "/old/", "/old");
    /* Within a list the first that fits decides. */
    check_is("PUT", "/old/a", "405 GET, HEAD, OPTIONS", "/old/a");
}
END_TEST

START_TEST(the_deepest_scope_of_no_route)
{
    static const char *const bases[] = {"/a", "/{v}", "/a/{v}", "/a/b",
                                        "/{v:int}"};
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        restd_router_free(child);
        child = child_new(RESTD_ROUTER_EXACT);
        ck_assert_int_eq(mount(bases[i]), 0);
    }
    check_is("GET", "/a", "404", "/a");
    check_is("GET", "/b", "404", "/{v}");
    check_is("GET", "/7", "404", "/{v:int}");
    check_is("GET", "/a/b/c", "404", "/a/b");
    check_is("GET", "/a/c/c", "404", "/a/{v}");
    check_is("GET", "/a/", "404", "/a");
    check_is("GET", "/", "404", "");
}
END_TEST

START_TEST(refusals_change_nothing)
{
    static const struct {
        const char *base, *says;
        int rc;
    } bad[] = {
        {"/api", "GET /api/{y} is the same as /api/{x}", RESTD_EEXIST},
        {"api", "pattern must begin", RESTD_EINVAL},
        {"/api/", "a base must not end with '/'", RESTD_EINVAL},
        {"/{r...}", "a base cannot have {name...}", RESTD_EINVAL},
        {"/{y}", "two segments of one name: \"/{y}/{y}\"", RESTD_EINVAL},
        {"/{x:(}", "regex \"(\"", RESTD_EINVAL},
        {"/..", "no path has a segment of dots", RESTD_EINVAL},
    };
    ck_assert_int_eq(add("GET", "/api/{x}"), 0);
    ck_assert_int_eq(add_to(child, "MINE", "/a"), 0);
    ck_assert_int_eq(add_to(child, "GET", "/{y}"), 1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int rc = mount(bad[i].base);
        ck_assert_msg(rc == bad[i].rc, "%s: %d", bad[i].base, rc);
        ck_assert_int_eq(error.code, rc);
        ck_assert_msg(strstr(error.message, bad[i].says) != NULL, "%s: %s",
                      bad[i].base, error.message);
        ck_assert_uint_eq(rd_router_method(router, rd_slice_str("MINE")), 0);
        check_is("GET", "/api/1", "/api/{x} x=1", "");
        check_is("POST", "/api/1", "405 GET, HEAD, OPTIONS", "");
    }
    ck_assert_int_eq(restd_router_mount(router, "/a", router, &error),
                     RESTD_EINVAL);
    ck_assert_int_eq(restd_router_mount(router, "/a", NULL, &error),
                     RESTD_EINVAL);
    ck_assert_int_eq(restd_router_mount(router, NULL, child, &error),
                     RESTD_EINVAL);
    /* The child is as it was, too. */
    ck_assert_int_eq(restd_router_supports(child, "GET", "/7"), 1);
    ck_assert_int_eq(mount("/other"), 0);
    check_is("MINE", "/other/a", "/other/a", "/other");
}
END_TEST

START_TEST(methods_have_a_limit)
{
    char token[16];
    for (unsigned i = RESTD_METHODS_N; i < RD_METHODS_MAX; i++) {
        snprintf(token, sizeof(token), "M%u", i);
        ck_assert_int_ge(add(token, "/a"), 0);
    }
    ck_assert_int_eq(add_to(child, "M10", "/a"), 0);
    ck_assert_int_eq(add_to(child, "MORE", "/a"), 1);
    ck_assert_int_eq(mount("/b"), RESTD_ELIMIT);
    restd_router_free(child);
    child = child_new(RESTD_ROUTER_EXACT);
    /* Numbers of the child's own are not the parent's. */
    ck_assert_int_eq(add_to(child, "M20", "/a"), 0);
    ck_assert_int_eq(mount("/b"), 0);
    check_is("M20", "/b/a", "/b/a", "/b");
    check_is("M10", "/b/a", "405 OPTIONS, M20", "/b");
}
END_TEST

START_TEST(a_looked_up_child_may_be_mounted)
{
    ck_assert_int_eq(add_to(child, "GET", "/{a:x+}"), 0);
    ck_assert_int_eq(restd_router_supports(child, "GET", "/xx"), 1);
    ck_assert_int_eq(restd_router_supports(router, "GET", "/xx"), 0);
    ck_assert_int_eq(mount("/b"), 0);
    ck_assert_int_eq(restd_router_supports(router, "GET", "/b/xx"), 1);
    ck_assert_int_eq(restd_router_supports(router, "GET", "/b/yy"), 0);
    ck_assert_uint_eq(rd_router_work_bytes(router, 0), RD_REGEX_WORK_BYTES);
    ck_assert_uint_eq(rd_router_work_bytes(NULL, 0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("router_mount");
    TCase *tc = tcase_create("router_mount");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, one_tree);
    tcase_add_test(tc, listing_has_all);
    tcase_add_test(tc, a_base_with_variables);
    tcase_add_test(tc, a_base_of_nothing);
    tcase_add_test(tc, wrappers_nest_as_routers_do);
    tcase_add_test(tc, lists_stand_behind_the_tree);
    tcase_add_test(tc, the_deepest_scope_of_no_route);
    tcase_add_test(tc, refusals_change_nothing);
    tcase_add_test(tc, methods_have_a_limit);
    tcase_add_test(tc, a_looked_up_child_may_be_mounted);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
