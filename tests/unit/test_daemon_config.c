/* SPDX-License-Identifier: MIT */
/* Configurations from within: the table and the library's options, types of
 * values, text before libConfuse, the arena, and what a file becomes
 * as a struct. Mistakes of whole files are tests/daemon/t_config.py's. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <restd/restd.h>

#include "daemon/args.h"
#include "daemon/config.h"
#include "daemon/config_arena.h"
#include "daemon/config_table.h"
#include "daemon/config_text.h"
#include "daemon/config_value.h"
#include "support/suite.h"

static struct rd_config_errors errors;

/* A file in memory with that text; its descriptor is at the start. */
static int text_fd(const char *text)
{
    int fd = memfd_create("config", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static struct rd_config *load(const char *text, const char *more)
{
    static struct rd_args args;
    static char name[] = "restdaemon", dash_c[] = "-c", path[64], buf[256];
    char *argv[16] = {name, dash_c, path}, *save = NULL;
    int argc = 3, fd = text_fd(text);
    struct rd_config *config = NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snprintf(buf, sizeof buf, "%s", more);
    for (char *word = strtok_r(buf, " ", &save); word != NULL;
         word = strtok_r(NULL, " ", &save)) {
        argv[argc++] = word;
    }
    ck_assert_int_eq(rd_args_parse(&args, argc, argv), 0);
    int rc = rd_config_load(&config, &args, &errors);
    ck_assert_msg((rc == 0) == (errors.n == 0), "%s", errors.text);
    close(fd);
    return config;
}

static struct rd_config *load_good(const char *text, const char *more)
{
    struct rd_config *config = load(text, more);
    ck_assert_msg(config != NULL, "%s", errors.text);
    return config;
}

/* --- table ---------------------------------------------------------------- */

/* An option that no file could set would be forgotten. */
START_TEST(test_every_option_has_a_directive)
{
    struct restd_option_info info;
    for (unsigned i = 0; restd_option_info(i, &info) == 0; i++) {
        const struct rd_directive *d = NULL;
        unsigned n = 0;
        while ((d = rd_directive_next(d)) != NULL) {
            n += d->option != NULL && strcmp(d->option, info.name) == 0;
        }
        ck_assert_msg(n == 1, "%s has %u directives", info.name, n);
    }
}
END_TEST

/* Names are unique, help is there, defaults are valid values. */
START_TEST(test_table_is_sound)
{
    const struct rd_directive *d = NULL;
    char why[320];
    uint64_t number;
    while ((d = rd_directive_next(d)) != NULL) {
        struct rd_directive_range range;
        rd_directive_range(d, &range);
        ck_assert_msg(rd_directive_find(d->section, d->name) == d, "%s twice",
                      d->name);
        ck_assert_msg(rd_section_find(d->section, d->name) == RD_SECTIONS_N,
                      "%s is a section as well", d->name);
        ck_assert_msg(strlen(d->help) > 5 || d->help[0] == '/', "%s", d->name);
        ck_assert_msg(d->help[strlen(d->help) - 1] != '.', "%s", d->name);
        ck_assert_msg(range.def == NULL || rd_value_parse(d, range.def, &number,
                                                          why, sizeof why) == 0,
                      "%s: %s", d->name, why);
    }
    for (int i = 0; i < RD_SECTIONS_N; i++) {
        ck_assert_ptr_nonnull(rd_section_info(i)->help);
        ck_assert_int_le(rd_section_info(i)->parent, i);
    }
}
END_TEST

START_TEST(test_find_path)
{
    ck_assert_ptr_eq(rd_directive_find_path("workers"),
                     rd_directive_find(RD_SECTION_TOP, "workers"));
    ck_assert_ptr_eq(rd_directive_find_path("rate_limit.rate"),
                     rd_directive_find(RD_SECTION_RATE_LIMIT, "rate"));
    static const char *const none[] = {
        "",       ".",          "limits", "limits.",        ".workers",
        "x.rate", "route.file", "a.b.c",  "listen.address", "log.rate"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        ck_assert_msg(rd_directive_find_path(none[i]) == NULL, "%s", none[i]);
    }
}
END_TEST

static const struct {
    enum rd_section section;
    const char *name, *says;
} suggestions[] = {
    {RD_SECTION_TIMEOUTS, "heeder", " (did you mean 'header'?)"},
    {RD_SECTION_TIMEOUTS, "draini_dle", " (did you mean 'drain_idle'?)"},
    {RD_SECTION_TOP, "limit", " (did you mean 'limits'?)"},
    {RD_SECTION_TOP, "lsiten", " (did you mean 'listen'?)"},
    {RD_SECTION_TOP, "header", " (did you mean 'headers'?)"},
    {RD_SECTION_TOP, "keepalive", " (its place is in 'timeouts')"},
    {RD_SECTION_LIMITS, "user", " (its place is outside of any section)"},
    {RD_SECTION_TOP, "x", ""},
    {RD_SECTION_TOP, "", ""},
    {RD_SECTION_TOP, "this_name_is_longer_than_all_of_them_are", ""},
};

START_TEST(test_suggestions)
{
    char buf[120];
    rd_directive_suggest(suggestions[_i].section, suggestions[_i].name, buf,
                         sizeof buf);
    ck_assert_str_eq(buf, suggestions[_i].says);
}
END_TEST

/* --- values --------------------------------------------------------------- */

static const struct {
    const char *path, *text;
    long long number; /* -1: refused */
} values[] = {
    {"gzip", "true", 1},
    {"gzip", "on", 1},
    {"gzip", "no", 0},
    {"gzip", "1", -1},
    {"gzip", "TRUE", 1},
    {"gzip", "On", 1},
    {"gzip", "falsehood", -1},
    {"gzip", "", -1},
    {"gzip", "true|no", -1},
    {"workers", "auto", 0},
    {"workers", "5", 5},
    {"workers", "+5", -1},
    {"workers", " 5", -1},
    {"workers", "5 ", -1},
    {"workers", "aut", -1},
    {"memory_budget", "10M", 10 << 20},
    {"memory_budget", "2097152", 2097152},
    {"memory_budget", "2097151", -1},
    {"memory_budget", "10m", 10 << 20},
    {"memory_budget", "18446744073709551616", -1},
    {"memory_budget", "18446744073709551615G", -1},
    {"memory_budget", "17179869185G", -1},
    {"timeouts.header", "100ms", 100},
    {"timeouts.header", "99ms", -1},
    {"timeouts.header", "1", 1000},
    {"timeouts.header", "2m", 120000},
    {"timeouts.header", "1h", 3600000},
    {"timeouts.header", "3600001ms", -1},
    {"timeouts.header", "1.5s", -1},
    {"timeouts.keepalive", "1d", 86400000},
    {"tuning.defer_accept", "2000ms", 2},
    {"tuning.defer_accept", "1m", 60},
    {"tuning.defer_accept", "61", -1},
    {"cors.max_age", "1d", 86400},
    {"log.level", "error", 3},
    {"log.level", "debug", 7},
    {"log.level", "7", -1},
    {"log.target", "off", RD_LOG_OFF},
    {"status.detail", "full", 1},
    {"access_log.format", "json", 0},
    {"access_log.format", "$status", 0},
    {"access_log.format", "$status\n", -1},
    {"access_log.format", "status", -1},
    {"headers", "A:", 0},
    {"headers", "A: b: c", 0},
    {"headers", "A b: c", -1},
    {"headers", ": c", -1},
    {"headers", "A : c", -1},
    {"headers", "content-type: a/b", -1},
    {"headers", "Date: x", -1},
    {"allow", "::ffff:1.2.3.4", 0},
    {"allow", "1.2.3", -1},
    {"allow", "", -1},
    {"pid_file", "", -1},
    {"user", "root", 0},
    {"user", "0", 0},
    {"user", "-1", -1},
    {"group", "root", 0},
};

START_TEST(test_values)
{
    char why[320] = "";
    uint64_t number;
    const struct rd_directive *d = rd_directive_find_path(values[_i].path);
    ck_assert_ptr_nonnull(d);
    int rc = rd_value_parse(d, values[_i].text, &number, why, sizeof why);
    ck_assert_msg((rc == 0) == (values[_i].number >= 0), "%s = \"%s\": %s",
                  values[_i].path, values[_i].text, why);
    if (rc == 0) {
        ck_assert_uint_eq(number, (uint64_t)values[_i].number);
    } else {
        ck_assert_int_ne(why[0], '\0');
    }
}
END_TEST

static const struct {
    const char *text;
    int good;
} types[] = {
    {"text/html", 1},
    {"text/html; charset=utf-8", 1},
    {"text/html ;charset=utf-8", 1},
    {"application/problem+json", 1},
    {"text", 0},
    {"text/", 0},
    {"/html", 0},
    {"text/h tml", 0},
    {"text/html/x", 0},
    {"", 0},
    {";", 0},
    {"text/html;\r\nA: b", 0},
};

START_TEST(test_media_types)
{
    char why[320] = "";
    uint64_t number;
    int rc = rd_value_parse(rd_directive_find(RD_SECTION_ROUTE, "type"),
                            types[_i].text, &number, why, sizeof why);
    ck_assert_msg((rc == 0) == types[_i].good, "%s", types[_i].text);
}
END_TEST

/* --- text and arena ------------------------------------------------------- */

static const struct {
    const char *text, *becomes; /* NULL: a fault */
    int line;                   /* of the fault */
} texts[] = {
    {"a = b", "\"a\" = \"b\"", 0},
    {"a # b\nc", "\"a\" \n\"c\"", 0},
    {"a /* b\n c */ d", "\"a\" \n  \"d\"", 0},
    {"// b\na", "\n\"a\"", 0},
    {"/a//b", "\"/a//b\"", 0},
    {"a+b a+=b", "\"a+b\" \"a\"+=\"b\"", 0},
    {"a\"b\"'c'", "\"a\"\"b\"'c'", 0},
    {"\"#\" '/*'", "\"#\" '/*'", 0},
    {"'a\\'b' \"a\\\"b\"", "'a\\'b' \"a\\\"b\"", 0},
    {"a\\b$c", "\"a\\\\b\\$c\"", 0},
    {"${RD_V}", "\"v\\\"\\\\\\n\"", 0},
    {"\"${RD_V}\"", "\"v\\\"\\\\\\n\"", 0},
    {"'${RD_V}'", "'${RD_V}'", 0},
    {"\"\\${RD_V}\"", "\"\\${RD_V}\"", 0},
    {"${RD_N:-{x}", "\"{x\"", 0},
    {"{}", "{}", 0},
    {"", "", 0},
    {"\n\n{\n{ }\n", NULL, 3},
    {"\n\"a\n\n", NULL, 2},
    {"\n'a\\'", NULL, 2},
    {"\n/*\n", NULL, 2},
    {"/*/", NULL, 1},
    {"\n${RD_N}", NULL, 2},
    {"${1A}", NULL, 1},
    {"${}", NULL, 1},
    {"${RD_V:=x}", NULL, 1},
    {"${RD_V\n}", NULL, 1},
    {"\na;", NULL, 2},
    {"\n\x7f", NULL, 2},
    {"a(b)", "\"a\"(\"b\")", 0},
    {"a ( /* x */ 'b' , c )", "\"a\" (   'b' , \"c\" )", 0},
    {"a() )", "\"a\"() )", 0},
    {"a(", NULL, 1},
    {"a('b'\n'c')", NULL, 2},
    {"a('b',)", NULL, 1},
    {"a(,'b')", NULL, 1},
    {"a(b=c)", NULL, 1},
    {"a({b})", NULL, 1},
    {"a((b))", NULL, 1},
};

START_TEST(test_texts)
{
    struct rd_text text;
    setenv("RD_V", "v\"\\\n", 1);
    unsetenv("RD_N");
    int fd = text_fd(texts[_i].text);
    int rc = rd_text_load(&text, fd, 1000);
    close(fd);
    if (texts[_i].becomes == NULL) {
        ck_assert_int_eq(rc, -1);
        ck_assert_int_eq(text.line, texts[_i].line);
        ck_assert_int_ne(text.fault[0], '\0');
    } else {
        ck_assert_msg(rc == 0, "%s", text.fault);
        ck_assert_uint_eq(text.len, strlen(texts[_i].becomes));
        ck_assert_mem_eq(text.data, texts[_i].becomes, text.len);
    }
    rd_text_free(&text);
}
END_TEST

START_TEST(test_text_bound)
{
    struct rd_text text;
    int fd = text_fd("a a a a a ");
    ck_assert_int_eq(rd_text_load(&text, fd, 10), 0);
    ck_assert_uint_eq(text.file_len, 10);
    rd_text_free(&text);
    lseek(fd, 0, SEEK_SET);
    ck_assert_int_eq(rd_text_load(&text, fd, 9), -1);
    rd_text_free(&text);
    rd_text_free(&text); /* twice is once */
    close(fd);
    ck_assert_int_eq(rd_text_load(&text, -1, 9), -1);
    ck_assert_int_ne(text.os_errno, 0);
    rd_text_free(&text);
}
END_TEST

START_TEST(test_arena)
{
    struct rd_arena arena;
    ck_assert_int_eq(rd_arena_init(&arena, 4096), 0);
    const char *text = rd_arena_copy(&arena, "abcdef", 3);
    ck_assert_str_eq(text, "abc");
    char *piece = rd_arena_alloc(&arena, 100);
    ck_assert_uint_eq((uintptr_t)piece % 16, 0);
    ck_assert_str_eq(rd_arena_print(&arena, "%d-%s", 7, "x"), "7-x");
    ck_assert_int_eq(piece[0] | piece[99], 0);
    ck_assert_ptr_null(rd_arena_alloc(&arena, 4096));
    ck_assert(arena.full);
    ck_assert_ptr_null(rd_arena_alloc(&arena, SIZE_MAX));
    ck_assert_ptr_nonnull(rd_arena_alloc(&arena, 3000));
    while (*rd_arena_copy(&arena, "0123456789", 10) != '\0') {
        ck_assert_uint_le(arena.used, 4096);
    }
    ck_assert_str_eq(rd_arena_print(&arena, "%0900d", 7), "");
    ck_assert_str_eq(text, "abc");
    rd_arena_fini(&arena);
    rd_arena_fini(&arena);
}
END_TEST

/* --- struct --------------------------------------------------------------- */

START_TEST(test_defaults)
{
    struct restd_options options;
    struct rd_config *config = load_good("", "");
    restd_options_init(&options);
    ck_assert_mem_eq(&config->options, &options, sizeof options);
    ck_assert_uint_eq(config->listens_n, 1);
    ck_assert_str_eq(config->listens[0].address, "127.0.0.1:8888");
    ck_assert_int_eq(config->listens[0].mode, -1);
    ck_assert_uint_eq(config->listens[0].uid, UINT32_MAX);
    ck_assert_uint_eq(config->listens[0].gid, UINT32_MAX);
    ck_assert_uint_eq(config->routes_n + config->modules_n, 0);
    ck_assert_int_eq(config->log.target, RD_LOG_STDERR);
    ck_assert_str_eq(config->log.format, "auto");
    ck_assert_int_eq(config->access_log.target, RD_LOG_OFF);
    ck_assert_uint_eq(config->access_log.sample, 1);
    ck_assert(config->builtins.status && config->builtins.index);
    ck_assert(!config->builtins.echo);
    ck_assert(!config->status.full && config->status.host);
    ck_assert(!config->plugins.cors.is_set);
    ck_assert(!config->plugins.rate_limit.is_set);
    ck_assert_ptr_null(config->user);
    ck_assert_ptr_nonnull(config->file);
    rd_config_free(config);
    rd_config_free(NULL);
}
END_TEST

START_TEST(test_builtins_have_no_file)
{
    struct rd_config *config = load_good("", "-c none");
    ck_assert_ptr_null(config->file);
    ck_assert(config->builtins.echo);
    rd_config_free(config);
    config = load_good("", "-c none -o builtins.echo=off");
    ck_assert(!config->builtins.echo);
    rd_config_free(config);
}
END_TEST

START_TEST(test_options_reach_the_library)
{
    struct rd_config *config =
        load_good("workers = 3 memory_budget = 12M log { level = debug }"
                  "limits { connections = 5 body_size = 0 body_rate = 2K }"
                  "timeouts { header = 1s drain = 2m shutdown_delay = 1500ms }"
                  "tuning { defer_accept = 2s output_high = 1M }",
                  "-q");
    ck_assert_uint_eq(config->options.workers, 3);
    ck_assert_uint_eq(config->options.memory_budget_bytes, 12 << 20);
    ck_assert_uint_eq(config->options.log_level, RESTD_LOG_ERROR);
    ck_assert_uint_eq(config->options.connections_max, 5);
    ck_assert_uint_eq(config->options.body_max_bytes, 0);
    ck_assert_uint_eq(config->options.body_rate_min_bytes, 2048);
    ck_assert_uint_eq(config->options.header_timeout_ms, 1000);
    ck_assert_uint_eq(config->options.drain_timeout_ms, 120000);
    ck_assert_uint_eq(config->options.shutdown_delay_ms, 1500);
    ck_assert_uint_eq(config->options.defer_accept_s, 2);
    ck_assert_uint_eq(config->options.output_high_bytes, 1 << 20);
    rd_config_free(config);
}
END_TEST

START_TEST(test_plugins)
{
    struct rd_config *config = load_good(
        "gzip = on request_id = on allow = {::1, 10.0.0.0/8} allow += {::2}"
        "headers = {'A: b', \"C: d\"} status { detail = summary host = off }"
        "cors { origins = \"https://a.example\" max_age = 5m } rate_limit { }",
        "-o deny=10.1.0.0/16,10.2.0.0/16");
    const struct rd_config_plugins *p = &config->plugins;
    ck_assert(p->gzip && p->request_id);
    ck_assert_str_eq(p->allow, "::1,10.0.0.0/8,::2");
    ck_assert_str_eq(p->deny, "10.1.0.0/16,10.2.0.0/16");
    ck_assert_uint_eq(p->headers.n, 2);
    ck_assert_str_eq(p->headers.items[0], "A: b");
    ck_assert(!config->status.full && !config->status.host);
    ck_assert(p->cors.is_set && p->rate_limit.is_set);
    ck_assert_str_eq(p->cors.origins, "https://a.example");
    ck_assert_ptr_null(p->cors.headers);
    ck_assert_uint_eq(p->cors.max_age_s, 300);
    ck_assert_uint_eq(p->rate_limit.rate, 10);
    ck_assert_uint_eq(p->rate_limit.period_ms, 1000);
    ck_assert_uint_eq(p->rate_limit.entries, 4096);
    rd_config_free(config);
}
END_TEST

static const struct {
    const char *text, *methods, *pattern;
    enum rd_config_kind kind;
    int status;
    const char *content;
} routes[] = {
    {"route /a { respond = \"x\\ny\" }", "GET", "/a", RD_ROUTE_RESPOND, 200,
     "x\ny"},
    {"route 'GET , PUT\t/ab' { respond = '' status = 404 }", "GET,PUT", "/ab",
     RD_ROUTE_RESPOND, 404, ""},
    {"route /a { file = /b }", "GET", "/a", RD_ROUTE_FILE, 200, "/b"},
    {"route '/a/{p...}' { docroot = /b }", "GET", "/a/{p...}", RD_ROUTE_DOCROOT,
     200, "/b"},
    {"route /a { redirect = 'https://b/?c' }", "GET", "/a", RD_ROUTE_REDIRECT,
     302, "https://b/?c"},
    {"route /a { redirect = /b status = 308 }", "GET", "/a", RD_ROUTE_REDIRECT,
     308, "/b"},
    {"route /a { builtin = echo }", "POST", "/a", RD_ROUTE_ECHO, 200, NULL},
    {"route 'PUT /a' { builtin = echo }", "PUT", "/a", RD_ROUTE_ECHO, 200,
     NULL},
    {"route /a { builtin = status }", "GET", "/a", RD_ROUTE_STATUS, 200, NULL},
    {"route /a { builtin = ready }", "GET", "/a", RD_ROUTE_HEALTH, 200,
     "ready"},
};

START_TEST(test_routes)
{
    struct rd_config *config = load_good(routes[_i].text, "");
    ck_assert_uint_eq(config->routes_n, 1);
    const struct rd_config_route *route = config->routes;
    ck_assert_str_eq(route->methods, routes[_i].methods);
    ck_assert_str_eq(route->pattern, routes[_i].pattern);
    ck_assert_int_eq(route->kind, routes[_i].kind);
    ck_assert_int_eq(route->status, routes[_i].status);
    ck_assert_pstr_eq(route->text, routes[_i].content);
    ck_assert_uint_eq(route->text_len,
                      routes[_i].content ? strlen(routes[_i].content) : 0);
    ck_assert_pstr_eq(route->index,
                      route->kind == RD_ROUTE_DOCROOT ? "index.html" : NULL);
    ck_assert_int_eq(route->origin.line, 1);
    rd_config_free(config);
}
END_TEST

START_TEST(test_route_details)
{
    struct rd_config *config = load_good(
        "route /a { respond = x type = a/b summary = s body_size = 2K\n"
        "  low_priority = on cache_control = no-store allow = ::1\n"
        "  rate_limit { burst = 3 } }\n"
        "route /b { respond = y }\n"
        "listen adm { address = 'unix:/x' admin = on owner = 0 backlog = 3 }\n"
        "listen b { address = ':1' }\n"
        "module /x.so { base = /m argument = 'a b' }\n",
        "");
    const struct rd_config_route *route = config->routes;
    ck_assert_uint_eq(config->routes_n, 2);
    ck_assert_str_eq(route->type, "a/b");
    ck_assert_str_eq(route->summary, "s");
    ck_assert_str_eq(route->cache_control, "no-store");
    ck_assert_uint_eq(route->body_max_bytes, 2048);
    ck_assert_str_eq(route->plugins.allow, "::1");
    ck_assert(route->plugins.rate_limit.is_set);
    ck_assert_uint_eq(route->plugins.rate_limit.burst, 3);
    ck_assert_uint_eq(route->plugins.rate_limit.rate, 10);
    ck_assert(!route[1].plugins.rate_limit.is_set);
    ck_assert_ptr_null(route[1].type);
    ck_assert_int_eq(route[1].origin.line, 4);
    ck_assert(!config->plugins.rate_limit.is_set);
    ck_assert_uint_eq(config->listens_n, 2);
    ck_assert_str_eq(config->listens[0].name, "adm");
    ck_assert_int_eq(config->listens[0].mode, 0660);
    ck_assert_uint_eq(config->listens[0].uid, 0);
    ck_assert_uint_eq(config->listens[0].gid, UINT32_MAX);
    ck_assert_uint_eq(config->listens[0].backlog, 3);
    ck_assert(config->listens[0].admin && !config->listens[1].admin);
    ck_assert_uint_eq(config->modules_n, 1);
    ck_assert_str_eq(config->modules[0].path, "/x.so");
    ck_assert_str_eq(config->modules[0].base, "/m");
    ck_assert_str_eq(config->modules[0].argument, "a b");
    rd_config_free(config);
}
END_TEST

/* Loading leaves nothing behind, good or bad: it is done at every reload. */
START_TEST(test_many_loads)
{
    for (int i = 0; i < 90; i++) {
        struct rd_config *config =
            load(i % 3 == 0   ? "route /a { respond = x }"
                 : i % 3 == 1 ? "route /a { respond = x }\ngzip = x"
                              : "log { {",
                 "");
        ck_assert(errors.n == (i % 3 == 0 ? 0 : 1));
        rd_config_free(config);
    }
}
END_TEST

#define LOOP(tcase, test, table)                                               \
    tcase_add_loop_test(tcase, test, 0,                                        \
                        (int)(sizeof(table) / sizeof((table)[0])))

int main(void)
{
    Suite *s = suite_create("daemon_config");
    TCase *t = tcase_create("table");
    tcase_add_test(t, test_every_option_has_a_directive);
    tcase_add_test(t, test_table_is_sound);
    tcase_add_test(t, test_find_path);
    LOOP(t, test_suggestions, suggestions);
    suite_add_tcase(s, t);
    t = tcase_create("values");
    LOOP(t, test_values, values);
    LOOP(t, test_media_types, types);
    suite_add_tcase(s, t);
    t = tcase_create("text");
    LOOP(t, test_texts, texts);
    tcase_add_test(t, test_text_bound);
    tcase_add_test(t, test_arena);
    suite_add_tcase(s, t);
    t = tcase_create("struct");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, test_defaults);
    tcase_add_test(t, test_builtins_have_no_file);
    tcase_add_test(t, test_options_reach_the_library);
    tcase_add_test(t, test_plugins);
    LOOP(t, test_routes, routes);
    tcase_add_test(t, test_route_details);
    tcase_add_test(t, test_many_loads);
    suite_add_tcase(s, t);
    return suite_run(s);
}
