/* SPDX-License-Identifier: MIT */
/* Explanations: the route that wins, with captures, plugins and limits, or the
 * status, and why the near misses lost. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include <restd/json.h>
#include <restd/restd.h>

#include "base/mem.h"
#include "json_valid.h"
#include "router_help.h"
#include "support/suite.h"

static char text[16384];

static const char *explain(const char *method, const char *path)
{
    struct restd_json json;
    restd_json_init(&json, text, sizeof(text) - 1);
    ck_assert_int_eq(restd_router_explain(router, method, path, &json), 0);
    long len = restd_json_finish(&json);
    ck_assert_int_gt(len, 0);
    text[len] = '\0';
    ck_assert_msg(json_valid(text), "%s", text);
    return text;
}

/* The explanation has each of them, in that order. */
static void has_all(const char *method, const char *path,
                    const char *const *parts)
{
    const char *at = explain(method, path);
    for (; *parts; parts++) {
        const char *found = strstr(at, *parts);
        ck_assert_msg(found, "%s %s: no %s (or not there) in %s", method, path,
                      *parts, text);
        at = found + strlen(*parts);
    }
}
#define HAS(method, path, ...)                                                 \
    has_all(method, path, (const char *const[]){__VA_ARGS__, NULL})

static unsigned misses(void)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, "\"why\":")) != NULL; at++) {
        n++;
    }
    return n;
}

START_TEST(the_winner_whole)
{
    struct restd_route_options options;
    restd_route_options_init(&options);
    options.summary = "One \"user\"";
    options.body_max_bytes = 4096;
    options.low_priority = 1;
    int route = add("GET", "/users/{id:int}/posts/{path...}");
    ck_assert_int_eq(restd_router_configure(router, route, &options, NULL), 0);
    ck_assert_str_eq(
        explain("HEAD", "/users/42/posts/a%20b/c?x=1"),
        "{\"method\":\"HEAD\",\"path\":\"/users/42/posts/a%20b/c\","
        "\"route\":{\"method\":\"GET\","
        "\"pattern\":\"/users/{id:int}/posts/{path...}\","
        "\"summary\":\"One \\\"user\\\"\","
        "\"captures\":[{\"name\":\"id\",\"value\":\"42\"},"
        "{\"name\":\"path\",\"value\":\"a b/c\"}],"
        "\"limits\":{\"body_max\":4096,\"low_priority\":true,"
        "\"streaming\":false,\"offload\":false}},"
        "\"plugins\":{\"before\":[],\"wrapper\":[],\"after\":[]},"
        "\"near_misses\":[]}");
}
END_TEST

START_TEST(statuses)
{
    ck_assert_int_ge(add("GET", "/a"), 0);
    ck_assert_int_ge(add("PUT", "/a"), 0);
    HAS("GET", "/b", "\"path\":\"/b\",\"status\":404,\"plugins\"");
    HAS("POST", "/a", "\"status\":405,\"allow\":\"GET, HEAD, PUT, OPTIONS\"",
        "\"pattern\":\"/a\",\"methods\":[\"GET\",\"PUT\"],"
        "\"why\":\"lacks the method\"");
    HAS("OPTIONS", "/a", "\"status\":204,\"allow\":\"GET,");
    HAS("FETCH", "/a", "\"status\":501,\"plugins\"");
    HAS("GET", "/%zz", "\"status\":400,", "\"near_misses\":[]");
    ck_assert_ptr_null(strstr(explain("GET", "/a"), "status"));
}
END_TEST

START_TEST(bad_arguments)
{
    struct restd_json json;
    restd_json_init(&json, text, sizeof(text));
    ck_assert_int_ge(add("GET", "/{x:a+}"), 0);
    ck_assert_int_eq(restd_router_explain(router, "GET", "a", &json),
                     RESTD_EINVAL);
    ck_assert_int_eq(restd_router_explain(router, "GET", "", &json),
                     RESTD_EINVAL);
    ck_assert_int_eq(restd_router_explain(router, "GET", "?/a", &json),
                     RESTD_EINVAL);
    ck_assert_int_eq(restd_json_finish(&json), 0);
    restd_json_init(&json, text, 20);
    ck_assert_int_eq(restd_router_explain(router, "GET", "/a", &json), 0);
    ck_assert_int_eq(restd_json_finish(&json), RESTD_ELIMIT);
}
END_TEST

START_TEST(memory_that_cannot_be_had)
{
    struct restd_json json;
    int rc = RESTD_ENOMEM;
    unsigned n = 0;
    ck_assert_int_ge(add("GET", "/{x:a+}"), 0);
    while (rc == RESTD_ENOMEM) {
        restd_json_init(&json, text, sizeof(text));
        rd_mem_fail_nth(++n);
        rc = restd_router_explain(router, "GET", "/a", &json);
        rd_mem_fail_nth(0);
        ck_assert_uint_lt(n, 100);
    }
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_gt(n, 2);
}
END_TEST

START_TEST(why_the_others_lost)
{
    ck_assert_int_ge(add("GET", "/u/{id:int}"), 0);
    ck_assert_int_ge(add("POST", "/u/{id:int}"), 0);
    ck_assert_int_ge(add("GET", "/u/{id}"), 0);
    ck_assert_int_ge(add("DELETE", "/u/{name:slug}"), 0);
    ck_assert_int_ge(add("GET", "/u/{id:uuid}"), 0);
    ck_assert_int_ge(add("GET", "/u/{id:[a-f]+}"), 0);
    ck_assert_int_ge(add("GET", "/u/me"), 0);
    ck_assert_int_ge(add("GET", "/v/{id}"), 0);
    ck_assert_int_ge(add("GET", "/u/{id}/x"), 0);
    ck_assert_int_ge(add("GET", "/u/{id}/x/y/z"), 0);
    ck_assert_int_ge(add("GET", "/u"), 0);
    ck_assert_int_ge(add("GET", "/other/place/far"), 0);
    ck_assert_int_ge(add("GET", "/{all...}"), 0);
    ck_assert_str_eq(
        strstr(explain("GET", "/u/42"), "\"near_misses\""),
        "\"near_misses\":["
        "{\"pattern\":\"/u/{id}\",\"methods\":[\"GET\"],"
        "\"why\":\"less specific\"},"
        "{\"pattern\":\"/u/{name:slug}\",\"methods\":[\"DELETE\"],"
        "\"why\":\"lacks the method\"},"
        "{\"pattern\":\"/{all...}\",\"methods\":[\"GET\"],"
        "\"why\":\"less specific\"},"
        "{\"pattern\":\"/u\",\"methods\":[\"GET\"],"
        "\"why\":\"one segment fewer\"},"
        "{\"pattern\":\"/u/me\",\"methods\":[\"GET\"],"
        "\"why\":\"segment 2: \\\"42\\\" is not \\\"me\\\"\"},"
        "{\"pattern\":\"/u/{id:[a-f]+}\",\"methods\":[\"GET\"],"
        "\"why\":\"segment 2: \\\"42\\\" does not match \\\"[a-f]+\\\"\"},"
        "{\"pattern\":\"/u/{id:uuid}\",\"methods\":[\"GET\"],"
        "\"why\":\"segment 2: \\\"42\\\" is not uuid\"},"
        "{\"pattern\":\"/u/{id}/x\",\"methods\":[\"GET\"],"
        "\"why\":\"one segment more\"},"
        "{\"pattern\":\"/v/{id}\",\"methods\":[\"GET\"],"
        "\"why\":\"segment 1: \\\"u\\\" is not \\\"v\\\"\"},"
        "{\"pattern\":\"/u/{id}/x/y/z\",\"methods\":[\"GET\"],"
        "\"why\":\"3 segments more\"}]}");
    HAS("GET", "/u/a!", "\"/u/{id:int}\"", "\\\"a!\\\" is not int");
    HAS("GET", "/u/a!", "\"/u/{name:slug}\"", "\\\"a!\\\" is not slug");
    HAS("GET", "/u/", "\"/u/{id}\"", "segment 2: \\\"\\\" is empty");
}
END_TEST

START_TEST(at_most_16)
{
    char pattern[64];
    for (int i = 0; i < 40; i++) {
        snprintf(pattern, sizeof(pattern), "/a/b%d", i);
        ck_assert_int_ge(add("GET", pattern), 0);
    }
    ck_assert_int_ge(add("PUT", "/a/x"), 0);
    HAS("GET", "/a/x", "\"near_misses\":[{\"pattern\":\"/a/x\"");
    ck_assert_uint_eq(misses(), 16);
}
END_TEST

START_TEST(long_values_are_cut)
{
    char path[400] = "/a/";
    memset(path + 3, 'x', 300);
    ck_assert_int_ge(add("GET", "/a/{id:int}"), 0);
    HAS("GET", path, "segment 2: \\\"xxxx", "xxx...\\\" is not int");
}
END_TEST

/* --- lists ------------------------------------------------------------------- */

START_TEST(lists)
{
    struct restd_router *child = child_new(RESTD_ROUTER_PREFIX);
    struct restd_router *deep = child_new(RESTD_ROUTER_PREFIX);
    ck_assert_int_ge(add_to(child, "GET", "/x"), 0);
    ck_assert_int_ge(add_to(child, "GET", "/x/y"), 0);
    ck_assert_int_ge(add_to(child, "GET", "/d/{any}"), 0);
    ck_assert_int_ge(add_to(child, "GET", "/x/y/z/w"), 0);
    ck_assert_int_ge(add_to(deep, "GET", "/e"), 0);
    ck_assert_int_ge(add("GET", "/l/x/exact"), 0);
    ck_assert_int_eq(restd_router_mount(child, "/d", deep, NULL), 0);
    ck_assert_int_eq(restd_router_mount(router, "/l", child, NULL), 0);
    HAS("GET", "/l//x/y/z",
        "\"route\":{\"method\":\"GET\",\"pattern\":\"/l/x\"",
        "{\"pattern\":\"/l/x/y\",\"methods\":[\"GET\"],"
        "\"why\":\"added later\"}",
        "{\"pattern\":\"/l/x/y/z/w\",\"methods\":[\"GET\"],"
        "\"why\":\"one segment more\"}");
    HAS("GET", "/l/x/exact", "\"pattern\":\"/l/x/exact\"",
        "\"/l/x\",\"methods\":[\"GET\"],\"why\":\"exact routes come first\"");
    ck_assert_int_ge(add("GET", "/l/d/e/f"), 0);
    HAS("GET", "/l/d/e", "\"pattern\":\"/l/d/{any}\"",
        "\"/l/d/e\",\"methods\":[\"GET\"],\"why\":\"added later\"");
}
END_TEST

START_TEST(deeper_bases_come_first)
{
    struct restd_router *one = child_new(RESTD_ROUTER_PREFIX);
    struct restd_router *two = child_new(RESTD_ROUTER_PREFIX);
    ck_assert_int_ge(add_to(one, "GET", "/b/x"), 0);
    ck_assert_int_ge(add_to(two, "GET", "/{y}"), 0);
    ck_assert_int_eq(restd_router_mount(router, "/a", one, NULL), 0);
    ck_assert_int_eq(restd_router_mount(router, "/a/b", two, NULL), 0);
    HAS("GET", "/a/b/x", "\"pattern\":\"/a/b/{y}\"",
        "\"/a/b/x\",\"methods\":[\"GET\"],\"why\":\"a deeper base comes "
        "first\"");
}
END_TEST

/* --- plugins ----------------------------------------------------------------- */

static int nothing_before(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    (void)request;
    (void)response;
    (void)data;
    return 0;
}

static int nothing_around(struct restd_request *request,
                          struct restd_response *response,
                          struct restd_next *next, void *data)
{
    (void)request;
    (void)response;
    (void)data;
    return restd_next(next);
}

static void nothing_after(struct restd_request *request,
                          const struct restd_outcome *outcome, void *data)
{
    (void)request;
    (void)outcome;
    (void)data;
}

/* `route` < 0: for all. */
static void use(struct restd_router *on, int route, const char *name,
                const char *which)
{
    struct restd_plugin plugin = {.size = sizeof(plugin), .name = name};
    plugin.before = strchr(which, 'b') ? nothing_before : NULL;
    plugin.wrapper = strchr(which, 'w') ? nothing_around : NULL;
    plugin.after = strchr(which, 'a') ? nothing_after : NULL;
    ck_assert_int_eq(route < 0 ? restd_router_use(on, &plugin, NULL)
                               : restd_router_use_on(on, route, &plugin, NULL),
                     0);
}

START_TEST(plugins_in_their_order)
{
    struct restd_router *child = child_new(RESTD_ROUTER_EXACT);
    int route = add_to(child, "GET", "/x");
    use(child, route, "own", "bw");
    use(child, -1, "inner", "wa");
    use(child, -1, "second", "b");
    use(router, -1, "outer", "bwa");
    use(router, -1, NULL, "a");
    ck_assert_int_eq(restd_router_mount(router, "/c", child, NULL), 0);
    HAS("GET", "/c/x",
        "\"plugins\":{\"before\":[\"outer\",\"second\",\"own\"],"
        "\"wrapper\":[\"outer\",\"inner\",\"own\"],"
        "\"after\":[\"outer\",\"unnamed\",\"inner\"]}");
    HAS("GET", "/c/y",
        "\"status\":404,\"plugins\":{\"before\":[\"outer\",\"second\"],"
        "\"wrapper\":[],\"after\":[\"outer\",\"unnamed\",\"inner\"]}");
    HAS("GET", "/d",
        "\"status\":404,\"plugins\":{\"before\":[\"outer\"],"
        "\"wrapper\":[],\"after\":[\"outer\",\"unnamed\"]}");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("explain");
    TCase *tcase = tcase_create("explain");

    tcase_add_checked_fixture(tcase, router_exact, router_tear_down);
    tcase_add_test(tcase, the_winner_whole);
    tcase_add_test(tcase, statuses);
    tcase_add_test(tcase, bad_arguments);
    tcase_add_test(tcase, memory_that_cannot_be_had);
    tcase_add_test(tcase, why_the_others_lost);
    tcase_add_test(tcase, at_most_16);
    tcase_add_test(tcase, long_values_are_cut);
    tcase_add_test(tcase, lists);
    tcase_add_test(tcase, deeper_bases_come_first);
    tcase_add_test(tcase, plugins_in_their_order);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
