/* SPDX-License-Identifier: MIT */
/* Listings of routes: text, YAML, JSON, OpenAPI, as their handler serves
 * them. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <restd/restd.h>

#include "base/mem.h"
#include "json_valid.h"
#include "router_help.h"
#include "support/suite.h"

static struct restd_listing listing;
static struct restd_reply *reply;
static char *body;

static void set_up(void)
{
    router_exact();
    reply = NULL;
    body = NULL;
    restd_listing_init(&listing);
    listing.router = router;
}

static void tear_down(void)
{
    restd_reply_free(reply);
    free(body);
    router_tear_down();
}

static void described(const char *method, const char *pattern,
                      const char *summary, const char *consumes,
                      const char *produces)
{
    struct restd_route_options options;
    restd_route_options_init(&options);
    options.summary = summary;
    options.consumes = consumes;
    options.produces = produces;
    ck_assert_int_eq(
        restd_router_configure(router, add(method, pattern), &options, NULL),
        0);
}

/* The document, by its own route, which is not there before and after. */
static const char *list(enum restd_listing_format format)
{
    static const char *const types[] = {"text/plain; charset=utf-8",
                                        "application/yaml", "application/json",
                                        "application/json"};
    struct restd_router *outer;
    struct restd_call call;

    listing.format = format;
    restd_reply_free(reply);
    reply = NULL;
    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &outer), 0);
    ck_assert_int_ge(restd_router_add(outer, "GET", "/list",
                                      restd_listing_handler, &listing, NULL),
                     0);
    restd_call_init(&call);
    call.target = "/list";
    ck_assert_int_eq(restd_router_call(outer, &call, &reply, NULL), 0);
    restd_router_free(outer);
    ck_assert_int_eq(restd_reply_status(reply), 200);
    ck_assert(restd_slice_is(restd_reply_header(reply, "content-type"),
                             types[format]));
    struct restd_slice s = restd_reply_body(reply);
    free(body);
    body = calloc(1, s.len + 1);
    ck_assert_ptr_nonnull(body);
    memcpy(body, s.data, s.len);
    ck_assert_uint_eq(strlen(body), s.len);
    return body;
}

static void is(enum restd_listing_format format, const char *want)
{
    ck_assert_str_eq(list(format), want);
}

static void has(const char *part)
{
    ck_assert_msg(strstr(body, part), "no %s in %s", part, body);
}

/* The document, which another reader has looked through. */
static const char *openapi(unsigned operations)
{
    const char *top = getenv("RD_TOP");
    char command[512];

    snprintf(command, sizeof(command),
             "python3 '%s/tests/unit/openapi_check.py' %u", top ? top : ".",
             operations);
    list(RESTD_LISTING_OPENAPI);
    FILE *check = popen(command, "w");
    ck_assert_ptr_nonnull(check);
    ck_assert_int_ge(fputs(body, check), 0);
    int status = pclose(check);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                  "status %d of: %s", status, body);
    return body;
}

static void fill(void)
{
    ck_assert_int_ge(add("GET", "/"), 0);
    described("GET", "/customers/{id:int}", "One: a customer", NULL,
              "application/json");
    described("DELETE", "/customers/{id:int}", "Removes \"it\"", NULL, NULL);
    ck_assert_int_ge(add("PATCH", "/customers/{id:int}"), 0);
    described("POST", "/customers", "Customers", "application/json", NULL);
    described("GET", "/customers", "Customers", NULL, NULL);
    ck_assert_int_ge(add("BAN", "/customers"), 0);
}

START_TEST(as_text)
{
    fill();
    is(RESTD_LISTING_TEXT, "/\n"
                           "    GET\n"
                           "/customers\n"
                           "    GET      Customers\n"
                           "    POST     Customers\n"
                           "    BAN\n"
                           "/customers/{id:int}\n"
                           "    GET      One: a customer\n"
                           "    DELETE   Removes \"it\"\n"
                           "    PATCH\n");
    listing.title = "Shop";
    ck_assert_ptr_eq(strstr(list(RESTD_LISTING_TEXT), "Shop\n\n/\n"), body);
    listing.version = "2";
    ck_assert_ptr_eq(strstr(list(RESTD_LISTING_TEXT), "Shop 2\n\n/\n"), body);
}
END_TEST

START_TEST(as_yaml)
{
    fill();
    listing.title = "Shop & more";
    listing.version = "2.0";
    is(RESTD_LISTING_YAML, "---\n"
                           "title: \"Shop & more\"\n"
                           "version: \"2.0\"\n"
                           "endpoints:\n"
                           "  - endpoint: /\n"
                           "    methods:\n"
                           "      - GET\n"
                           "  - endpoint: /customers\n"
                           "    summary: Customers\n"
                           "    methods:\n"
                           "      - GET\n"
                           "      - POST\n"
                           "      - BAN\n"
                           "  - endpoint: \"/customers/{id:int}\"\n"
                           "    summary: \"One: a customer\"\n"
                           "    methods:\n"
                           "      - GET\n"
                           "      - DELETE\n"
                           "      - PATCH\n"
                           "    summaries:\n"
                           "      DELETE: \"Removes \\\"it\\\"\"\n");
}
END_TEST

START_TEST(yaml_is_quoted_where_it_must_be)
{
    static const char *const bare[] = {"A plain (short) text, it is.", "a-b_c",
                                       "Is no number 5", "trueish"};
    static const char *const quoted[] = {
        "yes", "NULL", "on",  "5",        "- a", "a: b", "a #b", "ends ", "'a'",
        "~",   "@a",   "{a}", "\xc3\xa9", " a",  "%a",   "*a",   "-"};
    char want[128];
    ck_assert_int_ge(add("no", "/x"), 0);
    for (size_t i = 0; i < sizeof(bare) / sizeof(bare[0]); i++) {
        listing.title = bare[i];
        list(RESTD_LISTING_YAML);
        snprintf(want, sizeof(want), "title: %s\n", bare[i]);
        has(want);
        has("      - \"no\"\n");
    }
    for (size_t i = 0; i < sizeof(quoted) / sizeof(quoted[0]); i++) {
        listing.title = quoted[i];
        list(RESTD_LISTING_YAML);
        snprintf(want, sizeof(want), "title: \"%s\"\n", quoted[i]);
        has(want);
    }
    listing.title = "";
    list(RESTD_LISTING_YAML);
    has("title: \"\"\n");
}
END_TEST

START_TEST(as_json)
{
    fill();
    list(RESTD_LISTING_JSON);
    ck_assert_ptr_eq(strchr(body, '\n'), body + strlen(body) - 1);
    ck_assert_str_eq(
        body, "{\"endpoints\":[{\"endpoint\":\"/\",\"methods\":[\"GET\"]},"
              "{\"endpoint\":\"/customers\",\"summary\":\"Customers\","
              "\"methods\":[\"GET\",\"POST\",\"BAN\"]},"
              "{\"endpoint\":\"/customers/{id:int}\","
              "\"summary\":\"One: a customer\","
              "\"methods\":[\"GET\",\"DELETE\",\"PATCH\"],"
              "\"summaries\":{\"DELETE\":\"Removes \\\"it\\\"\"}}]}\n");
    listing.title = "A\nB\x7f\xc2\x85\xe2\x80\xa8\xef\xbb\xbf\xff\\"
                    "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    listing.version = "1";
    list(RESTD_LISTING_JSON);
    has("{\"title\":\"A\\u000aB\\u007f\\u0085\\u2028\\ufeff\xef\xbf\xbd\\\\"
        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\",\"version\":\"1\","
        "\"endpoints\":[");
    body[strlen(body) - 1] = '\0';
    ck_assert(json_valid(body));
}
END_TEST

START_TEST(no_routes)
{
    is(RESTD_LISTING_TEXT, "");
    is(RESTD_LISTING_YAML, "---\nendpoints: []\n");
    is(RESTD_LISTING_JSON, "{\"endpoints\":[]}\n");
    ck_assert_str_eq(openapi(0),
                     "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"API\","
                     "\"version\":\"0\"},\"paths\":{}}\n");
}
END_TEST

START_TEST(as_openapi)
{
    fill();
    listing.title = "Shop";
    listing.version = "2.0";
    openapi(6);
    has("{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Shop\","
        "\"version\":\"2.0\"},\"paths\":{\"/\":{\"get\":{"
        "\"operationId\":\"get\",\"responses\":{\"default\":{"
        "\"description\":\"Not described\"}}}},"
        "\"/customers\":{\"get\":{\"operationId\":\"get_customers\","
        "\"summary\":\"Customers\",");
    has("\"post\":{\"operationId\":\"post_customers\",\"summary\":"
        "\"Customers\",\"requestBody\":{\"required\":true,\"content\":{"
        "\"application/json\":{}}},\"responses\":{\"default\"");
    has("\"x-methods\":[\"BAN\"]}");
    has("\"/customers/{id}\":{\"get\":{\"operationId\":"
        "\"get_customers_id\",\"summary\":\"One: a customer\","
        "\"parameters\":[{\"name\":\"id\",\"in\":\"path\","
        "\"required\":true,\"schema\":{\"type\":\"integer\"}}],"
        "\"responses\":{\"200\":{\"description\":\"Success\",\"content\":{"
        "\"application/json\":{}}},\"default\":{\"description\":\"Problem\","
        "\"content\":{\"application/problem+json\":{}}}}}");
}
END_TEST

START_TEST(schemas)
{
    static const char *const rows[][2] = {
        {"{x}", "{\"type\":\"string\"}"},
        {"{x:int}", "{\"type\":\"integer\"}"},
        {"{x:uuid}", "{\"type\":\"string\",\"format\":\"uuid\"}"},
        {"{x:slug}",
         "{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_.~-]+$\"}"},
        {"{x...}", "{\"type\":\"string\",\"description\":"
                   "\"the rest of the path\"}"},
        {"{x:a|b}", "{\"type\":\"string\",\"pattern\":\"^(?:a|b)$\"}"},
        {"{x:\\d{4}}", "\"pattern\":\"^(?:\\\\d{4})$\"}"},
        {"{x:[\\w\\-\"]+}", "\"pattern\":\"^(?:[\\\\w\\\\-\\\"]+)$\"}"},
        {"{x:[^.]+\\.(?:png|gif)}",
         "\"pattern\":\"^(?:[^.]+\\\\.(?:png|gif))$\"}"},
        {"{x:(?!no).+}", "\"pattern\":\"^(?:(?!no).+)$\"}"},
        /* not for ECMA-262, or not the same there */
        {"{x:(?i)a}", "\"description\":\"matches, as PCRE2: (?i)a\"}"},
        {"{x:[[:alpha:]]+}", "PCRE2: [[:alpha:]]+\"}"},
        {"{x:[a[:alpha:]]+}", "PCRE2: [a[:alpha:]]+\"}"},
        {"{x:[]a]+}", "PCRE2: []a]+\"}"},
        {"{x:[^]a]+}", "PCRE2: [^]a]+\"}"},
        {"{x:a++}", "PCRE2: a++\"}"},
        {"{x:(?>a)}", "PCRE2: (?>a)\"}"},
        {"{x:(?P<n>a)}", "PCRE2: (?P<n>a)\"}"},
        {"{x:\\Aa}", "PCRE2: \\\\Aa\"}"},
        {"{x:a\\-b}", "PCRE2: a\\\\-b\"}"},
        {"{x:(*ANYCRLF)a}", "PCRE2: (*ANYCRLF)a\"}"},
        {"{x:a]}", "PCRE2: a]\"}"},
    };
    char pattern[64];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        tear_down();
        set_up();
        snprintf(pattern, sizeof(pattern), "/a/%s", rows[i][0]);
        ck_assert_int_eq(add("GET", pattern), 0);
        openapi(1);
        has("\"/a/{x}\":{\"get\":{\"operationId\":\"get_a_x\",");
        has(rows[i][1]);
    }
}
END_TEST

START_TEST(equal_paths_are_one)
{
    described("GET", "/a/{id:int}", NULL, NULL, "text/plain");
    described("GET", "/a/{key:uuid}", "By key", NULL, "application/json");
    described("GET", "/a/{name}", "By name", NULL, "text/plain");
    ck_assert_int_ge(add("POST", "/a/{other}"), 0);
    ck_assert_int_ge(add("GET", "/a/{id:int}/b"), 0);
    ck_assert_int_ge(add("GET", "/a/{rest...}"), 0);
    ck_assert_int_ge(add("BAN", "/a/{x:int}"), 0);
    ck_assert_int_ge(add("BAN", "/a/{x}"), 0);
    ck_assert_int_ge(add("GET", "/a/id"), 0);
    openapi(4);
    has("\"/a/{key}\":{\"get\":{\"operationId\":\"get_a_key\","
        "\"summary\":\"By key\",\"parameters\":[{\"name\":\"key\","
        "\"in\":\"path\",\"required\":true,\"schema\":{\"anyOf\":["
        "{\"type\":\"string\",\"format\":\"uuid\"},{\"type\":\"integer\"},"
        "{\"type\":\"string\"},{\"type\":\"string\",\"description\":"
        "\"the rest of the path\"}]}}],\"responses\":{\"200\":{"
        "\"description\":\"Success\",\"content\":{\"application/json\":{},"
        "\"text/plain\":{}}}");
    has("\"post\":{\"operationId\":\"post_a_other\",\"parameters\":["
        "{\"name\":\"key\"");
    has("\"x-methods\":[\"BAN\"]");
}
END_TEST

START_TEST(ids_are_unique)
{
    char pattern[400] = "/";
    ck_assert_int_ge(add("GET", "/a/{b}"), 0);
    ck_assert_int_ge(add("GET", "/a/b"), 0);
    ck_assert_int_ge(add("GET", "/a_b"), 0);
    ck_assert_int_ge(add("GET", "/a-b"), 0);
    ck_assert_int_ge(add("GET", "/a-b_2"), 0);
    ck_assert_int_ge(add("GET", "/"), 0);
    ck_assert_int_ge(add("GET", "//"), 0);
    memset(pattern + 1, 'l', 300);
    for (int i = 0; i < 3; i++) {
        pattern[280] = (char)('a' + i);
        ck_assert_int_ge(add("GET", pattern), 0);
    }
    openapi(10);
    has("\"get_a_b_3\"");
}
END_TEST

START_TEST(names_are_found)
{
    ck_assert_int_ge(add("GET", "/a/{}/{:x+}/{segment3}/{}/caf\xc3\xa9<"), 0);
    openapi(1);
    has("\"/a/{segment2}/{segment3_}/{segment3}/{segment5}/caf%C3%A9%3C\"");
    has("\"operationId\":\"get_a_segment2_segment3__segment3_segment5_caf___"
        "\"");
}
END_TEST

START_TEST(prefix_routers)
{
    router_tear_down();
    router_prefix();
    listing.router = router;
    ck_assert_int_ge(add("GET", "//a//{x}/{x}/"), 0);
    openapi(1);
    has("\"/a/{x}/{segment3}/\"");
}
END_TEST

START_TEST(mounted_routes_are_there)
{
    struct restd_router *child = child_new(RESTD_ROUTER_EXACT);
    ck_assert_int_ge(add_to(child, "GET", "/x"), 0);
    ck_assert_int_eq(restd_router_mount(router, "/base/{b}", child, NULL), 0);
    is(RESTD_LISTING_TEXT, "/base/{b}/x\n    GET\n");
    openapi(1);
    has("\"/base/{b}/x\"");
}
END_TEST

START_TEST(a_listing_lists_itself)
{
    struct restd_call call;
    listing.format = RESTD_LISTING_JSON;
    ck_assert_int_eq(restd_router_add(router, "GET", "/routes.json",
                                      restd_listing_handler, &listing, NULL),
                     0);
    restd_call_init(&call);
    call.target = "/routes.json";
    ck_assert_int_eq(restd_router_call(router, &call, &reply, NULL), 0);
    ck_assert(restd_slice_is(restd_reply_body(reply),
                             "{\"endpoints\":[{\"endpoint\":"
                             "\"/routes.json\",\"methods\":[\"GET\"]}]}\n"));
}
END_TEST

START_TEST(a_thousand_routes)
{
    static const char *const kinds[] = {"text", "{id:int}", "{name}",
                                        "{x:[a-z]+}"};
    static char summary[3001];
    char pattern[64];
    memset(summary, 's', sizeof(summary) - 1);
    for (int i = 0; i < 1000; i++) {
        snprintf(pattern, sizeof(pattern), "/part%d/%s/item", i / 8,
                 kinds[i / 2 % 4]);
        described(i % 2 ? "GET" : "PUT", pattern, i == 7 ? summary : "Some",
                  "application/json", "application/json");
    }
    openapi(2 * 250);
    ck_assert_uint_gt(strlen(body), 100000);
    has(summary);
    list(RESTD_LISTING_YAML);
    has(summary);
    has("  - endpoint: \"/part124/{x:[a-z]+}/item\"\n");
    list(RESTD_LISTING_JSON);
    body[strlen(body) - 1] = '\0';
    ck_assert(json_valid(body));
}
END_TEST

START_TEST(memory_that_cannot_be_had)
{
    struct restd_call call;
    int rc = RESTD_ENOMEM, status = 503;
    unsigned n = 0, refused = 0;
    fill();
    listing.format = RESTD_LISTING_OPENAPI;
    ck_assert_int_ge(restd_router_add(router, "GET", "/list",
                                      restd_listing_handler, &listing, NULL),
                     0);
    restd_call_init(&call);
    call.target = "/list";
    while (rc != 0 || status != 200) {
        restd_reply_free(reply);
        reply = NULL;
        rd_mem_fail_nth(++n);
        rc = restd_router_call(router, &call, &reply, NULL);
        rd_mem_fail_nth(0);
        status = rc == 0 ? restd_reply_status(reply) : 0;
        refused += status == 503;
        ck_assert_uint_lt(n, 200);
    }
    ck_assert_uint_gt(refused, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("listing");
    TCase *tcase = tcase_create("listing");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, as_text);
    tcase_add_test(tcase, as_yaml);
    tcase_add_test(tcase, yaml_is_quoted_where_it_must_be);
    tcase_add_test(tcase, as_json);
    tcase_add_test(tcase, no_routes);
    tcase_add_test(tcase, as_openapi);
    tcase_add_test(tcase, schemas);
    tcase_add_test(tcase, equal_paths_are_one);
    tcase_add_test(tcase, ids_are_unique);
    tcase_add_test(tcase, names_are_found);
    tcase_add_test(tcase, prefix_routers);
    tcase_add_test(tcase, mounted_routes_are_there);
    tcase_add_test(tcase, a_listing_lists_itself);
    tcase_add_test(tcase, a_thousand_routes);
    tcase_add_test(tcase, memory_that_cannot_be_had);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
