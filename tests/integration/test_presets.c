/* SPDX-License-Identifier: MIT */
/* What `before` functions have set of a response, and what becomes of it when
 * the handler replaces it, takes it back, or fails: the same for requests that
 * are served at once and for those whose content is late. */
#include <restd/restd.h>

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "site.h"
#include "support/suite.h"

static struct client c;
static struct content r;

static int preset(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    int rc = restd_response_add_header(response, "X-First", "of before");
    if (rc == 0) {
        rc = restd_response_add_header(response, "X-Second", "of before");
    }
    return rc ? rc : restd_response_set_type(response, "application/x-before");
}

/* What the query says, in this order. */
static int preset_handler(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    int rc = 0;
    (void)data;

    if (query_has(request, "set")) {
        rc = restd_response_set_header(response, "X-First", "of the handler");
    }
    if (query_has(request, "remove")) {
        restd_response_remove_header(response, "X-First");
    }
    if (query_has(request, "add") && rc == 0) {
        rc = restd_response_add_header(response, "X-First", "another");
    }
    if (query_has(request, "reset")) {
        restd_response_reset(response);
    }
    if (query_has(request, "fail") && rc == 0) {
        rc = RESTD_EINVAL;
    }
    return rc ? rc : restd_response_printf(response, "fine");
}

/* Values of X-First, one behind the other. */
static const char *firsts(void)
{
    static char text[256];
    size_t n = 0;

    text[0] = '\0';
    for (const char *p = r.head; (p = strstr(p, "\r\nX-First: ")); p += 11) {
        int len = (int)strcspn(p + 11, "\r");
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s;", len, p + 11);
        ck_assert_uint_lt(n, sizeof(text));
    }
    return text;
}

/* Query of the request; the reply's status, fields and type. */
static const struct {
    const char *query;
    int status;
    const char *firsts, *type;
} presets[] = {
    {"none", 200, "of before;", "application/x-before"},
    {"set", 200, "of the handler;", "application/x-before"},
    {"add", 200, "of before;another;", "application/x-before"},
    {"remove", 200, "", "application/x-before"},
    /* What `before` has set outlives a reset and an error ... */
    {"reset", 200, "of before;", "text/plain"}, /* ... but for the type */
    {"add&reset", 200, "of before;", "text/plain"},
    {"set&reset", 200, "of before;", "text/plain"},
    {"remove&reset", 200, "of before;", "text/plain"},
    {"fail", 500, "of before;", "application/problem+json"},
    {"add&fail", 500, "of before;", "application/problem+json"},
    {"set&fail", 500, "of before;", "application/problem+json"},
    {"remove&fail", 500, "of before;", "application/problem+json"},
};

static void check_preset(size_t i, const char *how)
{
    char type[64];

    snprintf(type, sizeof(type), "\r\nContent-Type: %s\r\n", presets[i].type);
    ck_assert_int_eq(content_receive(&c, &r, 0), presets[i].status);
    ck_assert_msg(strcmp(firsts(), presets[i].firsts) == 0, "%s, %s: %s",
                  presets[i].query, how, r.head);
    ck_assert_msg(strstr(r.head, type) != NULL, "%s, %s: %s", presets[i].query,
                  how, r.head);
    ck_assert_msg(strstr(r.head, "\r\nX-Second: of before\r\n") != NULL,
                  "%s, %s: %s", presets[i].query, how, r.head);
}

/* --- fixture --------------------------------------------------------------- */

static void set_up(void)
{
    site_set_up();
    c.fd = -1;
}

static void start(void)
{
    const struct restd_plugin plugin = {
        .size = sizeof(plugin), .name = "preset", .before = preset};
    struct restd_error error = {0, 0, ""};

    site_new();
    int route = site_add("POST", "/preset", preset_handler, 0, 0);
    ck_assert_int_eq(restd_router_use_on(site.router, route, &plugin, &error),
                     0);
    site_start();
    ck_assert_int_eq(client_connect(&c, site.port, 0), 0);
}

static void tear_down(void)
{
    client_close(&c);
    site_tear_down();
}

static void say_head(size_t i, const char *framing)
{
    char text[256];

    snprintf(text, sizeof(text),
             "POST /preset?%s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n",
             presets[i].query, framing);
    ck_assert_int_eq(client_say(&c, text), 0);
}

START_TEST(they_outlive_what_a_handler_does_to_them)
{
    start();
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        say_head(i, "Content-Length: 0");
        check_preset(i, "whole");
        say_head(i, "Content-Length: 2");
        EVENTUALLY(server_counters(site.server).requests == 3 * i + 2);
        ck_assert_int_eq(client_say(&c, "ab"), 0);
        check_preset(i, "split");
        say_head(i, "Transfer-Encoding: chunked");
        ck_assert_int_eq(client_say(&c, "2\r\nab\r\n0\r\n\r\n"), 0);
        check_preset(i, "chunked");
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("presets");
    TCase *tc = tcase_create("presets");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, they_outlive_what_a_handler_does_to_them);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
