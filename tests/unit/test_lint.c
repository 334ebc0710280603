/* SPDX-License-Identifier: MIT */
/* Lint of routers: what it finds, and that ordinary tables are quiet. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include <restd/restd.h>

#include "base/mem.h"
#include "base/slice.h"
#include "route/regex.h"
#include "router_help.h"
#include "support/suite.h"

static char text[16384];
static size_t text_len;

static void note(enum restd_lint_kind kind, const char *pattern,
                 const char *message, void *data)
{
    static const char *const names[] = {"unreachable", "hidden", "empty",
                                        "slow",        "names",  "word"};
    ck_assert_ptr_eq(data, &text_len);
    ck_assert_ptr_null(strchr(message, '\n'));
    text_len += (size_t)snprintf(text + text_len, sizeof(text) - text_len,
                                 "%s %s: %s\n", names[kind], pattern, message);
    ck_assert_uint_lt(text_len, sizeof(text));
}

static void lint_is(int n, const char *want)
{
    text_len = 0;
    text[0] = '\0';
    int found = restd_router_lint(router, note, &text_len);
    ck_assert_msg(found == n, "%d findings, not %d:\n%s", found, n, text);
    ck_assert_str_eq(text, want);
}

static void quiet(void)
{
    lint_is(0, "");
}

/* Adds GETs up to a NULL. */
static void add_gets(const char *const *patterns)
{
    for (; *patterns; patterns++) {
        ck_assert_int_ge(add("GET", *patterns), 0);
    }
}
#define GETS(...) add_gets((const char *const[]){__VA_ARGS__, NULL})

START_TEST(ordinary_tables_are_quiet)
{
    static const char *const rows[] = {
        "GET /",
        "GET /healthz",
        "GET /customers",
        "POST /customers",
        "GET /customers/{id:int}",
        "PUT /customers/{id:int}",
        "DELETE /customers/{id:int}",
        "GET /customers/{id:int}/orders",
        "GET /customers/{name:slug}",
        "GET /customers/search",
        "GET /customers/{any}",
        "GET /orders/{id:uuid}",
        "GET /orders/{id:uuid}/lines/{line:int}",
        "GET /orders/{number:[A-Z]{2}[0-9]{6}}",
        "GET /orders/{id}",
        "GET /archive/{year:[0-9]{4}}/{month:(0[1-9]|1[0-2])}",
        "GET /archive/{id:int}/{part:int}",
        "GET /releases/{v:v[0-9]+(\\.[0-9]+)*}",
        "GET /releases/{tag:slug}",
        "GET /pages/{p:[a-z0-9]+(?:-[a-z0-9]+)*}",
        "GET /mail/{a:[\\w.+-]+@[\\w-]+\\.[\\w.-]+}",
        "GET /files/{name:[^.]+\\.(?:png|jpe?g)}",
        "GET /files/{path...}",
        "GET /notes/{n:(?!admin$).+}",
        "GET /notes/{n}",
        "GET /dates/{d:\\d{4}-\\d{2}-\\d{2}}",
        "GET /colors/{c:#?[0-9a-fA-F]{6}}",
        "GET /langs/{l:[a-z]{2}(-[A-Z]{2})?}/about",
        "GET /old/{x:.*}",
        "GET /ip/{ip:(?:\\d{1,3}\\.){3}\\d{1,3}}",
        "GET /hash/{h:[0-9a-f]{40}}",
        "GET /tags/{t:[a-z0-9-]+-[a-z]+}",
        "GET /b64/{b:[A-Za-z0-9_-]+={0,2}}",
        "PURGE /files/{path...}",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char method[16];
        int n = 0;
        ck_assert_int_eq(sscanf(rows[i], "%15s %n", method, &n), 1);
        ck_assert_int_ge(add(method, rows[i] + n), 0);
    }
    quiet();
}
END_TEST

START_TEST(ordinary_lists_are_quiet)
{
    GETS("/a/b", "/a/", "/a", "/b/{id:[0-9]+}", "/b/{name}", "/c/{x:}",
         "/c/{x}", "/d/{y:int}", "/d/{y:slug}", "/");
    quiet();
}
END_TEST

START_TEST(a_word_is_no_class)
{
    GETS("/a/{id:integer}", "/b/{id:UUID}", "/c/{id:int}", "/d/{x:a|b}");
    lint_is(2, "word /a/{id:integer}: \"integer\" matches that word only; the "
               "classes are int, uuid and slug\n"
               "word /b/{id:UUID}: \"UUID\" matches that word only; the "
               "classes are int, uuid and slug\n");
}
END_TEST

START_TEST(a_regex_of_everything_hides_the_rest)
{
    GETS("/a/{x:.+}", "/a/{y}", "/b/{x:.*}/c", "/b/{y:int}/c", "/b/{z}",
         "/d/{x:[^:]+}", "/d/{y}", "/e/{x:.*}", "/e/{y:[a-z]+}");
    ck_assert_int_ge(add("POST", "/a/{y}"), 0);
    lint_is(3, "unreachable /a/{y}: all of its paths go to /a/{x:.+}, which "
               "comes first (GET)\n"
               "unreachable /b/{y:int}/c: all of its paths go to /b/{x:.*}/c, "
               "which comes first (GET)\n"
               "unreachable /e/{y:[a-z]+}: all of its paths go to /e/{x:.*}, "
               "which comes first (GET)\n");
}
END_TEST

START_TEST(a_regex_hides_a_class)
{
    GETS("/a/{x:[0-9]+}", "/a/{y:int}", "/b/{x:[a-z0-9_-]+}", "/b/{y:slug}",
         "/c/{x:[0-9a-fA-F-]{36}}", "/c/{y:uuid}", "/d/{x:[0-9]+}/x",
         "/d/{y:int}/y");
    lint_is(3, "hidden /a/{y:int}: most of its paths go to /a/{x:[0-9]+}, "
               "which comes first (GET)\n"
               "hidden /b/{y:slug}: most of its paths go to "
               "/b/{x:[a-z0-9_-]+}, which comes first (GET)\n"
               "hidden /c/{y:uuid}: most of its paths go to "
               "/c/{x:[0-9a-fA-F-]{36}}, which comes first (GET)\n");
}
END_TEST

START_TEST(get_hides_head)
{
    GETS("/a/{x:.+}");
    ck_assert_int_ge(add("HEAD", "/a/{y}"), 0);
    ck_assert_int_ge(add("PUT", "/a/{y}"), 0);
    lint_is(1, "unreachable /a/{y}: all of its paths go to /a/{x:.+}, which "
               "comes first (HEAD)\n");
}
END_TEST

START_TEST(regexes_that_take_nothing)
{
    GETS("/a/{x:a^b}", "/b/{x:^$}", "/c/{x:$x}", "/d/{x:(?!)}", "/e/{x:a?}",
         "/f/{x:[a-z]+-suffix}", "/g/{x:(?=b)a}", "/h/{x:\\d{60}}");
    lint_is(5, "empty /a/{x:a^b}: \"a^b\" matches no segment\n"
               "empty /b/{x:^$}: \"^$\" matches only an empty segment\n"
               "empty /c/{x:$x}: \"$x\" matches no segment\n"
               "empty /d/{x:(?!)}: \"(?!)\" matches no segment\n"
               "empty /g/{x:(?=b)a}: \"(?=b)a\" matches no segment\n");
}
END_TEST

START_TEST(an_empty_regex_is_a_slash_at_the_end_only)
{
    GETS("/a/{x:}", "/b/{x:}/c");
    lint_is(1, "empty /b/{x:}/c: \"\" matches only an empty segment\n");
}
END_TEST

START_TEST(slow_regexes)
{
    static const char *const slow[] = {
        "(a+)+",         "(?:[a-z]+)*",   "(?:[a-z0-9]*)*-", "foo(?:x+)*bar",
        "(?:a|a)*",      "(?:a|ab|b)*",   "(\\w+\\s?)*",     ".*.*.*x",
        "(?:\\d+){2,}",  "(?:-?[a-z]+)+", "(?:x|[a-z]y?)*z", "(a*)*",
        "(?<n>[A-Z]+)+", "([^.]+)+\\.txt"};
    char pattern[128];
    for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
        router_tear_down();
        router_exact();
        snprintf(pattern, sizeof(pattern), "/a/{x:%s}", slow[i]);
        GETS(pattern);
        text_len = 0;
        ck_assert_msg(restd_router_lint(router, note, &text_len) == 1, "%s",
                      slow[i]);
        ck_assert_msg(strncmp(text, "slow ", 5) == 0, "%s: %s", slow[i], text);
    }
}
END_TEST

START_TEST(each_regex_is_told_once)
{
    GETS("/a/{x:(a+)+}", "/b/{x:(a+)+}", "/c/{x:(a+)+}/d");
    lint_is(1, "slow /a/{x:(a+)+}: \"(a+)+\" can be made to take more than "
               "10000 steps, and does not match then\n");
}
END_TEST

START_TEST(lists_hide_what_is_added_later)
{
    GETS("/a", "/a/b", "/c/{x}", "/c/{y:int}/d", "/c/d", "/e/{x:.+}", "/e/f",
         "/g/{x...}", "/g/h/i", "/k/{s:slug}", "/k/{i:int}", "/{a}/{a}");
    ck_assert_int_ge(add("POST", "/c/q"), 0);
    lint_is(
        8,
        "names /{a}/{a}: two segments have one name; the last one counts\n"
        "unreachable /a/b: all of its paths go to /a, which comes first\n"
        "unreachable /c/{y:int}/d: all of its paths go to /c/{x}, which "
        "comes first\n"
        "unreachable /c/d: all of its paths go to /c/{x}, which comes first\n"
        "unreachable /e/f: all of its paths go to /e/{x:.+}, which comes "
        "first\n"
        "unreachable /g/h/i: all of its paths go to /g/{x...}, which comes "
        "first\n"
        "unreachable /k/{i:int}: all of its paths go to /k/{s:slug}, which "
        "comes first\n"
        "unreachable /c/q: all of its paths go to /c/{x}, which comes first\n");
}
END_TEST

START_TEST(what_is_unreachable_is_never_reached)
{
    ck_assert_int_ge(add("GET", "/c/{x}"), 0);
    ck_assert_int_ge(add("POST", "/c/q"), 0);
    ck_assert_str_eq(describe("POST", "/c/q"), "405 GET, HEAD, OPTIONS");
}
END_TEST

static void mount(const char *base, const char *const (*rows)[2])
{
    struct restd_router *child = child_new(RESTD_ROUTER_PREFIX);
    for (; (*rows)[0]; rows++) {
        ck_assert_int_ge(add_to(child, (*rows)[0], (*rows)[1]), 0);
    }
    ck_assert_int_eq(restd_router_mount(router, base, child, NULL), 0);
}

START_TEST(what_is_mounted_may_be_hidden)
{
    static const char *const api[][2] = {
        {"GET", "/x"}, {"POST", "/y"}, {"GET", "/deep/z"}, {NULL, NULL}};
    static const char *const deep[][2] = {{"GET", "/{any}"}, {NULL, NULL}};
    GETS("/api/{path...}", "/other/{path...}");
    mount("/api", api);
    mount("/free", api);
    mount("/free/deep", deep);
    lint_is(3, "unreachable /api/x: all of its paths go to /api/{path...}, "
               "which comes first\n"
               "unreachable /api/deep/z: all of its paths go to "
               "/api/{path...}, which comes first\n"
               "unreachable /free/deep/z: all of its paths go to "
               "/free/deep/{any}, which comes first\n");
    ck_assert_str_eq(describe("GET", "/free/deep/z"), "/free/deep/{any} any=z");
    ck_assert_str_eq(describe("POST", "/api/y"), "/api/y");
}
END_TEST

START_TEST(traits_of_regexes)
{
    static const struct {
        const char *source;
        int empty, none, all, slow;
    } rows[] = {
        {"", 1, 1, 0, 0},
        {".*", 1, 0, 1, 0},
        {".+", 0, 0, 1, 0},
        {"[^x]*", 1, 0, 0, 0},
        {".{1,64}", 0, 0, 0, 0},
        {".{2,}", 0, 0, 0, 0},
        {"(?!a).*", 1, 0, 0, 0},
        {"\\S+", 0, 0, 0, 0},
        {"(.+)+", 0, 0, 1, 0},
        {"x{70}", 0, 0, 0, 0},
        {"[a-z]{2,}x^", 0, 0, 0, 0},
        {"a$", 0, 0, 0, 0},
        {"a\\z", 0, 0, 0, 0},
        {"[\\x80-\\xff]+", 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct restd_slice source = rd_slice_str(rows[i].source);
        struct rd_regex_traits t;
        struct rd_regex *regex;
        ck_assert_int_eq(rd_regex_new(source, &regex, NULL), 0);
        ck_assert_int_eq(rd_regex_study(regex, source, &t), 0);
        ck_assert_msg(t.takes_empty == rows[i].empty &&
                          t.takes_none == rows[i].none &&
                          t.takes_all == rows[i].all && t.slow == rows[i].slow,
                      "%s: empty %d none %d all %d slow %d", rows[i].source,
                      t.takes_empty, t.takes_none, t.takes_all, t.slow);
        rd_regex_free(regex);
    }
}
END_TEST

START_TEST(memory_that_cannot_be_had)
{
    int rc = RESTD_ENOMEM;
    GETS("/a/{x:.+}", "/a/{y}", "/b/{x:(a+)+}");
    ck_assert_int_eq(add("GET", "/c/{z:a^b}"), 3);
    for (unsigned n = 1; rc == RESTD_ENOMEM; n++) {
        text_len = 0;
        rd_mem_fail_nth(n);
        rc = restd_router_lint(router, note, &text_len);
        rd_mem_fail_nth(0);
        ck_assert_uint_lt(n, 100);
        ck_assert(n > 3 || rc == RESTD_ENOMEM);
    }
    ck_assert_int_eq(rc, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lint");
    TCase *exact = tcase_create("exact");
    TCase *prefix = tcase_create("prefix");

    tcase_add_checked_fixture(exact, router_exact, router_tear_down);
    tcase_add_test(exact, ordinary_tables_are_quiet);
    tcase_add_test(exact, a_word_is_no_class);
    tcase_add_test(exact, a_regex_of_everything_hides_the_rest);
    tcase_add_test(exact, a_regex_hides_a_class);
    tcase_add_test(exact, get_hides_head);
    tcase_add_test(exact, regexes_that_take_nothing);
    tcase_add_test(exact, slow_regexes);
    tcase_add_test(exact, each_regex_is_told_once);
    tcase_add_test(exact, what_is_mounted_may_be_hidden);
    tcase_add_test(exact, traits_of_regexes);
    tcase_add_test(exact, memory_that_cannot_be_had);
    suite_add_tcase(suite, exact);
    tcase_add_checked_fixture(prefix, router_prefix, router_tear_down);
    tcase_add_test(prefix, ordinary_lists_are_quiet);
    tcase_add_test(prefix, an_empty_regex_is_a_slash_at_the_end_only);
    tcase_add_test(prefix, lists_hide_what_is_added_later);
    tcase_add_test(prefix, what_is_unreachable_is_never_reached);
    suite_add_tcase(suite, prefix);
    return suite_run(suite);
}
