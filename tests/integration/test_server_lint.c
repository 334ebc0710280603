/* SPDX-License-Identifier: MIT */
/* What a server says of its routes at its start. */
#include <restd/restd.h>

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client.h"
#include "support/suite.h"

/* Lines of level WARNING, each with its newline. */
static char text[16384];

static void log_keep(enum restd_log_level level, int64_t time_unix_ms,
                     const char *line, void *data)
{
    size_t len = strlen(text);
    (void)time_unix_ms;
    (void)data;
    if (level == RESTD_LOG_WARNING) {
        snprintf(text + len, sizeof(text) - len, "%s\n", line);
    }
}

/* Starts a server with GETs of the patterns, up to NULL, and stops it. */
static void serve(const char *const *patterns)
{
    struct restd_options options;
    struct restd_server *server;

    rd_mem_fail_nth(0);
    text[0] = '\0';
    server_options(&options);
    options.log = log_keep;
    ck_assert_int_eq(restd_server_new(&options, &server, NULL), 0);
    for (; *patterns; patterns++) {
        ck_assert_int_ge(restd_router_add(restd_server_router(server), "GET",
                                          *patterns, handler_of_nothing, NULL,
                                          NULL),
                         0);
    }
    ck_assert_int_eq(restd_server_listen(server, "127.0.0.1:0", NULL), 0);
    ck_assert_int_eq(restd_server_start(server, NULL), 0);
    restd_server_free(server);
}

START_TEST(a_finding_is_a_warning)
{
    static const char *const patterns[] = {"/a/{x:.+}", "/a/{y}", "/b", NULL};
    serve(patterns);
    ck_assert_str_eq(text, "route /a/{y}: all of its paths go to /a/{x:.+}, "
                           "which comes first (GET)\n");
}
END_TEST

START_TEST(none_is_silence)
{
    static const char *const patterns[] = {"/a/{x:[a-z]+}", "/a/{y}", NULL};
    serve(patterns);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(many_are_counted)
{
    static char names[25][32];
    const char *patterns[26] = {NULL};
    for (int i = 0; i < 25; i++) {
        snprintf(names[i], sizeof(names[i]), "/a%d/{x:a^%d}", i, i);
        patterns[i] = names[i];
    }
    serve(patterns);
    const char *last = strstr(text, "and 5 more of such routes\n");
    ck_assert_msg(last && strchr(last, '\n')[1] == '\0', "%s", text);
    unsigned lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++) {
        lines++;
    }
    ck_assert_uint_eq(lines, 21);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("server_lint");
    TCase *tcase = tcase_create("lint");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_finding_is_a_warning);
    tcase_add_test(tcase, none_is_silence);
    tcase_add_test(tcase, many_are_counted);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
