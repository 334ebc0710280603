/* SPDX-License-Identifier: MIT */
/* PREFIX routers: the rules that programs written for first-match prefix
 * routing rely on, one test each. */
#include <check.h>
#include <string.h>

#include "base/slice.h"
#include "router_help.h"
#include "support/suite.h"

struct expectation {
    const char *method, *path, *want;
};

#define check_all(list) check_each(list, sizeof(list) / sizeof((list)[0]))

static void check_each(const struct expectation *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = describe(list[i].method, list[i].path);
        ck_assert_msg(strcmp(got, list[i].want) == 0, "%s %s: %s, not %s",
                      list[i].method, list[i].path, got, list[i].want);
    }
}

static void add_all(const char *const (*list)[2])
{
    for (; (*list)[0]; list++) {
        ck_assert_int_ge(add((*list)[0], (*list)[1]), 0);
    }
}

START_TEST(slashes_collapse)
{
    static const struct expectation want[] = {
        {"GET", "/a/b", "//a///b"},
        {"GET", "//a////b", "//a///b"},
        {"GET", "//a////b//", "//a///b"},
        {"GET", "/%61//b", "//a///b"},
        {"GET", "/x/../a/./b", "//a///b"},
        {"GET", "//a", "404"},
        {"GET", "/", "404"},
        {"GET", "", "404"},
        {"GET", "//", "404"},
    };
    ck_assert_int_eq(add("GET", "//a///b"), 0);
    check_all(want);
}
END_TEST

START_TEST(the_first_segments_must_fit)
{
    static const struct expectation want[] = {
        {"GET", "/a/b", "/a/b"},
        {"GET", "/a/b/", "/a/b"},
        {"GET", "/a/b/c", "/a/b"},
        {"GET", "/a", "404"},
        {"GET", "/a/", "404"},
        {"GET", "/A/b", "404"},
        {"GET", "/a/bc", "404"},
        {"HEAD", "/a/b/c/d", "/a/b"},
        {"OPTIONS", "/a/b/c", "405 GET, HEAD, OPTIONS"},
        {"POST", "/a/b/c", "405 GET, HEAD, OPTIONS"},
        {"GET", "/a/%", "400"},
    };
    ck_assert_int_eq(add("GET", "/a/b"), 0);
    ck_assert_int_eq(add("POST", "/b"), 1);
    check_all(want);
}
END_TEST

START_TEST(a_final_slash_needs_a_segment)
{
    static const struct expectation want[] = {
        {"GET", "/a", "404"},     {"GET", "/a/", "/a/"},
        {"GET", "/a//", "/a/"},   {"GET", "/a/b", "/a/"},
        {"GET", "/a/b/c", "/a/"},
    };
    ck_assert_int_eq(add("GET", "/a/"), 0);
    check_all(want);
}
END_TEST

START_TEST(an_empty_regex_ends_the_path)
{
    static const struct expectation want[] = {
        {"GET", "/a/", "/a/{x:} x="},
        {"GET", "/a//", "/a/{x:} x="},
        {"GET", "/a", "404"},
        {"GET", "/a/b", "404"},
    };
    ck_assert_int_eq(add("GET", "/a/{x:}"), 0);
    check_all(want);
}
END_TEST

START_TEST(variables_and_regexes)
{
    static const struct expectation want[] = {
        {"GET", "/v/7", "/v/{a} a=7"},
        {"GET", "/v/a%2Fb%20c", "/v/{a} a=a/b c"},
        {"GET", "/v/7/more", "/v/{a} a=7"},
        {"GET", "/v/", "404"},
        {"GET", "/v", "404"},
        {"GET", "/n/7", "/n/{}"},
        {"GET", "/n/", "404"},
        {"GET", "/r/123", "/r/{a:[0-9]+} a=123"},
        {"GET", "/r/123x", "404"},
        {"GET", "/c/12", "/c/{:[0-9]{2}}"},
        {"GET", "/c/123", "404"},
        {"GET", "/i/-5", "/i/{i:int} i=-5"},
        {"GET", "/i/x", "404"},
        {"GET", "/rest/a//b%2Fc/", "/rest/{r...} r=a/b%2Fc/"},
        {"GET", "/rest/", "/rest/{r...} r="},
        {"GET", "/rest", "404"},
        /* The last value of a name stays. */
        {"GET", "/twice/1/2/3", "/twice/{a}/{b}/{a} a=3 b=2"},
    };
    static const char *const patterns[][2] = {
        {"GET", "/v/{a}"},
        {"GET", "/n/{}"},
        {"GET", "/r/{a:[0-9]+}"},
        {"GET", "/c/{:[0-9]{2}}"},
        {"GET", "/i/{i:int}"},
        {"GET", "/rest/{r...}"},
        {"GET", "/twice/{a}/{b}/{a}"},
        {NULL, NULL},
    };
    add_all(patterns);
    check_all(want);
}
END_TEST

START_TEST(the_first_one_added_wins)
{
    static const struct expectation want[] = {
        {"GET", "/a/b", "/a"},
        {"GET", "/b/c", "/{x} x=b"},
        {"GET", "/b", "/{x} x=b"},
        {"GET", "/", "/"},
    };
    static const char *const patterns[][2] = {
        {"GET", "/a"}, {"GET", "/a/b"}, {"GET", "/{x}"},
        {"GET", "/b"}, {"GET", "/"},    {NULL, NULL},
    };
    add_all(patterns);
    check_all(want);
}
END_TEST

START_TEST(a_root_route_swallows_what_follows)
{
    static const struct expectation want[] = {
        {"GET", "/", "/"},
        {"GET", "/a", "/"},
        {"POST", "/a", "405 GET, HEAD, OPTIONS"},
    };
    ck_assert_int_eq(add("GET", "/"), 0);
    ck_assert_int_eq(add("POST", "/a"), 1);
    check_all(want);
}
END_TEST

START_TEST(a_missing_method_ends_the_search)
{
    static const struct expectation want[] = {
        {"GET", "/a/b", "/a/b"},
        {"POST", "/a/b", "405 GET, HEAD, OPTIONS"},
        {"POST", "/a/c", "/a"},
    };
    ck_assert_int_eq(add("GET", "/a/b"), 0);
    ck_assert_int_eq(add("POST", "/a"), 1);
    check_all(want);
}
END_TEST

START_TEST(methods_in_a_row_stand_together)
{
    static const struct expectation want[] = {
        {"GET", "/a", "/a"},
        {"POST", "/a", "/a"},
        {"MINE", "/a/b", "/a"},
        {"PUT", "/a", "405 GET, HEAD, POST, OPTIONS, MINE"},
    };
    ck_assert_int_eq(add("GET", "/a"), 0);
    ck_assert_int_eq(add("POST", "/a"), 1);
    ck_assert_int_eq(add("MINE", "/a"), 2);
    check_all(want);
}
END_TEST

START_TEST(a_pattern_added_again_replaces)
{
    static const struct expectation want[] = {
        {"GET", "/a/b", "/{x} x=a"}, /* which is the first one now */
        {"PUT", "/a", "405 GET, HEAD, OPTIONS"},
    };
    struct restd_route_options o;
    struct restd_route_info info;
    struct restd_error error;
    ck_assert_int_eq(add("GET", "/a"), 0);
    ck_assert_int_eq(add("PUT", "/a"), 1);
    ck_assert_int_eq(add("GET", "/{x}"), 2);
    ck_assert_str_eq(describe("PUT", "/a"), "/a");
    ck_assert_int_eq(add("GET", "/a"), 3);
    check_all(want);
    ck_assert_int_eq(restd_router_route_at(router, 1, &info), 0);
    ck_assert_str_eq(info.pattern, "/{x}");
    ck_assert_int_eq(restd_router_route_at(router, 2, &info), RESTD_ENOENT);
    /* Their numbers are gone, the others stay. */
    restd_route_options_init(&o);
    ck_assert_int_eq(restd_router_configure(router, 0, &o, &error),
                     RESTD_ENOENT);
    ck_assert_int_eq(restd_router_configure(router, 1, &o, &error),
                     RESTD_ENOENT);
    ck_assert_int_eq(restd_router_configure(router, 2, &o, NULL), 0);
    ck_assert_int_eq(restd_router_configure(router, 3, &o, NULL), 0);
}
END_TEST

START_TEST(a_method_added_again_replaces_all)
{
    ck_assert_int_eq(add("GET", "/a"), 0);
    ck_assert_int_eq(add("POST", "/a"), 1);
    ck_assert_int_eq(add("GET", "/a"), 2);
    ck_assert_str_eq(describe("POST", "/a"), "405 GET, HEAD, OPTIONS");
    ck_assert_str_eq(describe("GET", "/a"), "/a");
}
END_TEST

START_TEST(a_base_with_variables)
{
    static const struct expectation want[] = {
        {"GET", "/b/7/", "/b/{id:int}/ id=7"},
        {"GET", "/b/7/x", "/b/{id:int}/ id=7"},
        {"GET", "/b/7", "404"},
        {"GET", "/b/x/", "404"},
        {"GET", "/c", "404"},
        {"POST", "/b/7/a/1", "/b/{id:int}/a/{v} id=7 v=1"},
    };
    struct restd_router *child = child_new(RESTD_ROUTER_PREFIX);
    ck_assert_int_eq(add_to(child, "POST", "/a/{v}"), 0);
    ck_assert_int_eq(add_to(child, "GET", "/"), 1);
    ck_assert_int_eq(restd_router_mount(router, "/b/{id:int}", child, NULL), 0);
    check_all(want);
    ck_assert_str_eq(match.scope->base, "/b/{id:int}");
    ck_assert_str_eq(describe("GET", "/b/x/"), "404");
    ck_assert_str_eq(match.scope->base, "");
    ck_assert_str_eq(describe("GET", "//b//7"), "404");
    ck_assert_str_eq(match.scope->base, "/b/{id:int}");
}
END_TEST

/* As if its routes had been added here with the base in front. */
START_TEST(a_child_comes_last_and_replaces)
{
    static const struct expectation want[] = {
        {"GET", "/a/b", "/a/b"},
        {"PUT", "/a/b", "405 GET, HEAD, OPTIONS"},
        {"GET", "/a/c", "/a"},
    };
    struct restd_router *child = child_new(RESTD_ROUTER_PREFIX);
    ck_assert_int_eq(add("PUT", "/a/b"), 0);
    ck_assert_int_eq(add("GET", "/a"), 1);
    ck_assert_int_eq(add_to(child, "GET", "/b"), 0);
    ck_assert_int_eq(restd_router_mount(router, "/a", child, NULL), 0);
    ck_assert_str_eq(describe("GET", "/a/b"), "/a");
    ck_assert_str_eq(describe("PUT", "/a/b"), "405 GET, HEAD, OPTIONS");
    ck_assert_int_ge(add("GET", "/a"), 0);
    check_all(want);
}
END_TEST

START_TEST(an_exact_child_is_refused)
{
    struct restd_error error = {0, 0, ""};
    struct restd_router *child = child_new(RESTD_ROUTER_EXACT);
    ck_assert_int_eq(restd_router_mount(router, "/a", child, &error),
                     RESTD_EINVAL);
    ck_assert_str_eq(error.message,
                     "a PREFIX router cannot take an EXACT one, at \"/a\"");
    restd_router_free(child);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("router_prefix");
    TCase *tc = tcase_create("router_prefix");
    tcase_add_checked_fixture(tc, router_prefix, router_tear_down);
    tcase_add_test(tc, slashes_collapse);
    tcase_add_test(tc, the_first_segments_must_fit);
    tcase_add_test(tc, a_final_slash_needs_a_segment);
    tcase_add_test(tc, an_empty_regex_ends_the_path);
    tcase_add_test(tc, variables_and_regexes);
    tcase_add_test(tc, the_first_one_added_wins);
    tcase_add_test(tc, a_root_route_swallows_what_follows);
    tcase_add_test(tc, a_missing_method_ends_the_search);
    tcase_add_test(tc, methods_in_a_row_stand_together);
    tcase_add_test(tc, a_pattern_added_again_replaces);
    tcase_add_test(tc, a_method_added_again_replaces_all);
    tcase_add_test(tc, a_base_with_variables);
    tcase_add_test(tc, a_child_comes_last_and_replaces);
    tcase_add_test(tc, an_exact_child_is_refused);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
