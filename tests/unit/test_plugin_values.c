/* SPDX-License-Identifier: MIT */
/* What the shipped plugins take for an id, a traceparent and an origin, and
 * the options that they refuse. */
#include <restd/plugins.h>

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "plugins/cors.h"
#include "plugins/rate_limit.h"
#include "plugins/request_id.h"
#include "support/suite.h"

static struct restd_plugin plugin;
static struct restd_error error;

static void set_up(void)
{
    memset(&plugin, 0, sizeof(plugin));
    memset(&error, 0, sizeof(error));
}

/* A sentence, and nothing made. */
static void refused(int rc, int code, const char *word)
{
    ck_assert_int_eq(rc, code);
    ck_assert_int_eq(error.code, code);
    ck_assert_msg(strstr(error.message, word) != NULL, "%s", error.message);
    ck_assert_ptr_null(plugin.data);
    set_up();
}

static void made(int rc)
{
    ck_assert_msg(rc == 0, "%s", error.message);
    ck_assert_uint_eq(plugin.size, sizeof(plugin));
    ck_assert(plugin.before || plugin.after);
    plugin.free(plugin.data);
    set_up();
}

START_TEST(ids)
{
    static const char *const good[] = {"a", "0", "A-Za-z.0_9~",
                                       "550e8400-e29b-41d4-a716-446655440000"};
    static const char *const bad[] = {"",    "a b", "a\tb", "a\"", "a,b",
                                      "a/b", "a+b", "\xe4", "[",   "`",
                                      "{",   "@",   "a:b",  "a%"};
    char id[RD_REQUEST_ID_MAX + 1];

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(rd_request_id_is_valid(rd_slice_str(good[i])), "%s",
                      good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!rd_request_id_is_valid(rd_slice_str(bad[i])), "%s",
                      bad[i]);
    }
    memset(id, 'x', sizeof(id));
    ck_assert(rd_request_id_is_valid(rd_slice(id, RD_REQUEST_ID_MAX)));
    ck_assert(!rd_request_id_is_valid(rd_slice(id, RD_REQUEST_ID_MAX + 1)));
    ck_assert(!rd_request_id_is_valid(rd_slice(NULL, 0)));
}
END_TEST

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

START_TEST(traceparents)
{
    static const char *const bad[] = {
        "01-" TRACE "-" PARENT "-01",
        "ff-" TRACE "-" PARENT "-01",
        "00-" TRACE "-" PARENT "-01-",
        "00-" TRACE "-" PARENT "-1",
        "00-" TRACE "-" PARENT "-0G",
        "00-" TRACE "-" PARENT "_01",
        "00-" TRACE "_" PARENT "-01",
        "00_" TRACE "-" PARENT "-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-" TRACE "-00F067AA0BA902B7-01",
        "",
    };

    ck_assert(rd_request_id_is_traceparent(
        rd_slice_str("00-" TRACE "-" PARENT "-01")));
    ck_assert(rd_request_id_is_traceparent(
        rd_slice_str("00-" TRACE "-" PARENT "-ff")));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!rd_request_id_is_traceparent(rd_slice_str(bad[i])), "%s",
                      bad[i]);
    }
}
END_TEST

START_TEST(origins)
{
    static const char *const good[] = {"null",
                                       "https://a.example",
                                       "http://a.example:8080",
                                       "http://127.0.0.1:3000",
                                       "http://[::1]:80",
                                       "app+x-1.0://host"};
    static const char *const bad[] = {
        "",
        "a.example",
        "*",
        "NULL",
        "https://",
        "://a",
        "https://a.example/",
        "https://a.example/path",
        "https://A.example",
        "HTTPS://a.example",
        "https://*.example",
        "https://u@a.example",
        "https://a.example:x",
        "1http://a",
        "https://a b",
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(rd_cors_is_origin(rd_slice_str(good[i])), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!rd_cors_is_origin(rd_slice_str(bad[i])), "%s", bad[i]);
    }
}
END_TEST

static uint64_t key_of(const char *text)
{
    struct sockaddr_in6 sa = {.sin6_family = AF_INET6};
    struct rd_addr addr;

    ck_assert_int_eq(inet_pton(AF_INET6, text, &sa.sin6_addr), 1);
    rd_addr_from_sockaddr(&addr, (struct sockaddr *)&sa);
    return rd_rate_limit_key(&addr);
}

START_TEST(addresses_that_are_one_client)
{
    ck_assert_uint_eq(key_of("2001:db8:1:2::1"),
                      key_of("2001:db8:1:2:ffff:ffff:ffff:ffff"));
    ck_assert_uint_ne(key_of("2001:db8:1:2::1"), key_of("2001:db8:1:3::1"));
    ck_assert_uint_ne(key_of("2001:db8:1:2::1"), key_of("2001:db9:1:2::1"));
    ck_assert_uint_ne(key_of("::ffff:192.0.2.1"), key_of("::ffff:192.0.2.2"));
    ck_assert_uint_ne(key_of("::ffff:192.0.2.1"), key_of("::ffff:193.0.2.1"));
    ck_assert_uint_ne(key_of("::ffff:192.0.2.1"), key_of("::1"));
}
END_TEST

START_TEST(defaults_are_enough)
{
    made(restd_access_log(NULL, &plugin, &error));
    made(restd_request_id_plugin(NULL, &plugin, &error));
    made(restd_rate_limit(NULL, &plugin, &error));
}
END_TEST

static void cors_refused(const struct restd_cors_options *o, int code,
                         const char *word)
{
    refused(restd_cors(o, &plugin, &error), code, word);
}

START_TEST(cors_options)
{
    struct restd_cors_options o;
    char many[8000] = "";

    refused(restd_cors(NULL, &plugin, &error), RESTD_EINVAL, "list of origins");
    restd_cors_options_init(&o);
    cors_refused(&o, RESTD_EINVAL, "list of origins");
    o.origins = " , ";
    cors_refused(&o, RESTD_EINVAL, "list of origins");
    o.origins = "*, https://a.example";
    cors_refused(&o, RESTD_EINVAL, "alone");
    o.origins = "https://a.example, https://b.example/";
    cors_refused(&o, RESTD_EINVAL, "\"https://b.example/\" is no origin");
    o.origins = "*";
    o.credentials = 1;
    cors_refused(&o, RESTD_EINVAL, "credentials");
    o.origins = "https://a.example";
    made(restd_cors(&o, &plugin, &error));
    o.headers = "*";
    cors_refused(&o, RESTD_EINVAL, "headers of CORS");
    o.headers = "X-A, X-B\r\nSet-Cookie: a";
    cors_refused(&o, RESTD_EINVAL, "no token");
    o.headers = NULL;
    o.methods = "GET, P T";
    cors_refused(&o, RESTD_EINVAL, "methods of CORS");
    o.methods = NULL;
    memset(many, 'x', 2100);
    o.exposed = many;
    cors_refused(&o, RESTD_ELIMIT, "bytes of fields");
    o.exposed = NULL;
    for (size_t i = 0; i < 257; i++) {
        memcpy(many + i * 11, "http://a.b,", 12);
    }
    o.origins = many;
    cors_refused(&o, RESTD_ELIMIT, "256 origins");
    many[256 * 11] = '\0';
    made(restd_cors(&o, &plugin, &error));
}
END_TEST

START_TEST(rate_limit_options)
{
    static const size_t fields[] = {
        offsetof(struct restd_rate_limit_options, rate),
        offsetof(struct restd_rate_limit_options, period_ms),
        offsetof(struct restd_rate_limit_options, burst),
        offsetof(struct restd_rate_limit_options, entries)};
    static const char *const names[] = {"rate of", "period_ms of", "burst of",
                                        "entries of"};
    static const uint32_t bad[] = {0, 4000000};
    struct restd_rate_limit_options o;

    for (size_t i = 0; i < 8; i++) {
        restd_rate_limit_options_init(&o);
        memcpy((char *)&o + fields[i / 2], &bad[i % 2], sizeof(bad[0]));
        refused(restd_rate_limit(&o, &plugin, &error), RESTD_EINVAL,
                names[i / 2]);
    }
    restd_rate_limit_options_init(&o);
    o.rate = 1000000;
    o.period_ms = 1;
    made(restd_rate_limit(&o, &plugin, &error));
    o.size = 1;
    refused(restd_rate_limit(&o, &plugin, &error), RESTD_EINVAL, "size");
}
END_TEST

START_TEST(request_id_options)
{
    static const char *const bad[] = {"",     "a b",          "Connection",
                                      "date", "Content-Type", "X\r\nY"};
    struct restd_request_id_options o;
    char name[66];

    restd_request_id_options_init(&o);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        o.header = bad[i];
        refused(restd_request_id_plugin(&o, &plugin, &error), RESTD_EINVAL,
                "no field");
    }
    memset(name, 'x', 65);
    name[65] = '\0';
    o.header = name;
    refused(restd_request_id_plugin(&o, &plugin, &error), RESTD_EINVAL,
            "no field");
    name[64] = '\0';
    made(restd_request_id_plugin(&o, &plugin, &error));
}
END_TEST

START_TEST(default_headers)
{
    struct restd_fields *fields = NULL;

    refused(restd_default_headers(NULL, &plugin, &error), RESTD_EINVAL, "no");
    ck_assert_int_eq(restd_fields_new(&fields), 0);
    ck_assert_int_eq(restd_fields_add(fields, "X-A", "1"), 0);
    made(restd_default_headers(fields, &plugin, &error));
    ck_assert_int_eq(restd_fields_add(fields, "Content-Type", "a/b"), 0);
    refused(restd_default_headers(fields, &plugin, &error), RESTD_EINVAL,
            "Content-Type");
    restd_fields_free(fields);
}
END_TEST

/* Fields that a caller of an older library does not know are not read. */
START_TEST(older_callers_have_shorter_options)
{
    struct restd_cors_options o;

    memset(&o, 0xff, sizeof(o));
    restd_cors_options_init_size(&o,
                                 offsetof(struct restd_cors_options, methods));
    o.origins = "https://a.example";
    made(restd_cors(&o, &plugin, &error));
    ck_assert_uint_eq(o.max_age_s, UINT32_MAX);
}
END_TEST

static int make_any(int which)
{
    struct restd_cors_options cors;

    restd_cors_options_init(&cors);
    cors.origins = "*";
    return which == 0   ? restd_access_log(NULL, &plugin, &error)
           : which == 1 ? restd_request_id_plugin(NULL, &plugin, &error)
           : which == 2 ? restd_rate_limit(NULL, &plugin, &error)
                        : restd_cors(&cors, &plugin, &error);
}

START_TEST(no_memory)
{
    rd_mem_fail_nth(0);
    made(make_any(_i));
    unsigned calls = rd_mem_calls();
    ck_assert_uint_gt(calls, 0);
    for (unsigned n = 1; n <= calls; n++) {
        rd_mem_fail_nth(n);
        refused(make_any(_i), RESTD_ENOMEM, "memory");
    }
    rd_mem_fail_nth(0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plugin_values");
    TCase *tcase = tcase_create("values");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, ids);
    tcase_add_test(tcase, traceparents);
    tcase_add_test(tcase, origins);
    tcase_add_test(tcase, addresses_that_are_one_client);
    tcase_add_test(tcase, defaults_are_enough);
    tcase_add_test(tcase, cors_options);
    tcase_add_test(tcase, rate_limit_options);
    tcase_add_test(tcase, request_id_options);
    tcase_add_test(tcase, default_headers);
    tcase_add_test(tcase, older_callers_have_shorter_options);
    tcase_add_loop_test(tcase, no_memory, 0, 4);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
