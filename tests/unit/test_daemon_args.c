/* SPDX-License-Identifier: MIT */
/* The daemon's command line: what each option gives, which exit code each
 * mistake has, and how listen addresses are read. Nothing is bound here. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/address.h"
#include "daemon/args.h"
#include "daemon/config_table.h"
#include "support/suite.h"

static struct rd_args args;

/* Parses the words of `line`, which the arguments then point into. */
static int parse(const char *line)
{
    static char buf[4096];
    static char name[] = "restdaemon";
    char *argv[64] = {name};
    char *save = NULL;
    int argc = 1;
    snprintf(buf, sizeof buf, "%s", line);
    for (char *word = strtok_r(buf, " ", &save); word != NULL;
         word = strtok_r(NULL, " ", &save)) {
        ck_assert_int_lt(argc, 63);
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    return rd_args_parse(&args, argc, argv);
}

START_TEST(test_no_arguments)
{
    ck_assert_int_eq(parse(""), 0);
    ck_assert_int_eq(args.action, RD_ARGS_RUN);
    ck_assert_uint_eq(args.listen_n, 0);
    ck_assert_uint_eq(args.settings_n, 0);
    ck_assert_int_eq(args.port, -1);
    ck_assert_ptr_null(args.config);
}
END_TEST

START_TEST(test_port_and_listeners)
{
    ck_assert_int_eq(parse("-p 0"), 0);
    ck_assert_int_eq(args.port, 0);
    ck_assert_int_eq(parse("-p 81 -l unix:/run/x:y -l [::1]:80 -l :80"), 0);
    ck_assert_int_eq(args.port, 81);
    ck_assert_uint_eq(args.listen_n, 3);
    ck_assert_str_eq(args.listen[0], "unix:/run/x:y");
    ck_assert_str_eq(args.listen[1], "[::1]:80");
    ck_assert_str_eq(args.listen[2], ":80");
}
END_TEST

/* The last value that the line gives to a directive, "" if none. */
static const char *setting(const char *line, const char *key)
{
    const char *value = "";
    ck_assert_msg(parse(line) == 0, "%s", line);
    for (unsigned i = 0; i < args.settings_n; i++) {
        if (strcmp(args.settings[i].key, key) == 0) {
            value = args.settings[i].value;
        }
    }
    return value;
}

START_TEST(test_settings)
{
    static const char line[] = "-fc none -w 3 -o limits.connections=7=7";
    ck_assert_str_eq(setting(line, "workers"), "3");
    ck_assert_str_eq(setting(line, "limits.connections"), "7=7");
    ck_assert_str_eq(setting(line, "daemon"), "false");
    ck_assert_str_eq(args.config, "none");
    ck_assert_str_eq(setting("-w 1 -w auto", "workers"), "auto");
}
END_TEST

START_TEST(test_log_level)
{
    ck_assert_str_eq(setting("", "log.level"), "");
    ck_assert_str_eq(setting("-q", "log.level"), "error");
    ck_assert_str_eq(setting("-v", "log.level"), "info");
    ck_assert_str_eq(setting("-vv", "log.level"), "debug");
    ck_assert_str_eq(setting("-vvv", "log.level"), "debug");
}
END_TEST

START_TEST(test_actions)
{
    ck_assert_int_eq(parse("-t"), 0);
    ck_assert_int_eq(args.action, RD_ARGS_TEST);
    ck_assert_int_eq(args.quiet, 0);
    ck_assert_int_eq(parse("-tq -c none"), 0);
    ck_assert_int_eq(args.action, RD_ARGS_TEST);
    ck_assert_int_eq(args.quiet, 1);
    ck_assert_str_eq(args.config, "none");
    ck_assert_int_eq(parse("-T"), 0);
    ck_assert_int_eq(args.action, RD_ARGS_DUMP);
}
END_TEST

START_TEST(test_help_and_version_come_first)
{
    ck_assert_int_eq(parse("-h -x"), 0);
    ck_assert_int_eq(args.action, RD_ARGS_HELP);
    ck_assert_int_eq(parse("--version"), 0);
    ck_assert_int_eq(args.action, RD_ARGS_VERSION);
}
END_TEST

static const struct {
    const char *line;
    int code;
    const char *says; /* a part of the sentence */
} bad[] = {
    {"-x", EX_USAGE, "-x"},
    {"-fx", EX_USAGE, "-x"},
    {"--nonsense", EX_USAGE, "--nonsense"},
    {"--help=1", EX_USAGE, "--help"},
    {"-p", EX_USAGE, "-p needs a value"},
    {"-o", EX_USAGE, "-o needs a value"},
    {"here", EX_USAGE, "\"here\""},
    {"-f here", EX_USAGE, "\"here\""},
    {"--healthcheck=unix:/x", EX_USAGE, "--healthcheck"},
    {"-p 65536", EX_CONFIG, "65536"},
    {"-p 99999999999999999999", EX_CONFIG, "-p"},
    {"-p -1", EX_CONFIG, "-1"},
    {"-p 80x", EX_CONFIG, "80x"},
    {"-o workers", EX_CONFIG, "section.name=value"},
    {"-o =1", EX_CONFIG, "section.name=value"},
};

START_TEST(test_mistakes)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int code = parse(bad[i].line);
        ck_assert_msg(code == bad[i].code, "%s: %d", bad[i].line, code);
        ck_assert_msg(strstr(args.error, bad[i].says) != NULL, "%s: %s",
                      bad[i].line, args.error);
        ck_assert_ptr_null(strchr(args.error, '\n'));
    }
}
END_TEST

START_TEST(test_empty_port_is_bad)
{
    char name[] = "restdaemon", option[] = "-p", value[] = "";
    char *argv[] = {name, option, value, NULL};
    ck_assert_int_eq(rd_args_parse(&args, 3, argv), EX_CONFIG);
}
END_TEST

START_TEST(test_listen_bounds)
{
    char line[1024] = "";
    for (int i = 0; i < RD_ARGS_LISTEN_MAX; i++) {
        strncat(line, " -l :0", sizeof line - strlen(line) - 1);
    }
    ck_assert_int_eq(parse(line), 0);
    ck_assert_uint_eq(args.listen_n, RD_ARGS_LISTEN_MAX);
    strncat(line, " -l :0", sizeof line - strlen(line) - 1);
    ck_assert_int_eq(parse(line), EX_CONFIG);

    char name[] = "restdaemon", option[] = "-l", value[300];
    char *argv[] = {name, option, value, NULL};
    memset(value, 'a', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    ck_assert_int_eq(rd_args_parse(&args, 3, argv), EX_CONFIG);
    value[0] = '\0';
    ck_assert_int_eq(rd_args_parse(&args, 3, argv), EX_CONFIG);
}
END_TEST

START_TEST(test_settings_bounds)
{
    char line[RD_ARGS_SETTINGS_MAX + 3] = "-";
    memset(line + 1, 'f', RD_ARGS_SETTINGS_MAX);
    ck_assert_int_eq(parse(line), 0);
    ck_assert_uint_eq(args.settings_n, RD_ARGS_SETTINGS_MAX);
    line[RD_ARGS_SETTINGS_MAX + 1] = 'f';
    ck_assert_int_eq(parse(line), EX_CONFIG);
}
END_TEST

/* Every directive that -o takes is there, once. */
START_TEST(test_help_lists_every_directive_once)
{
    char *text = NULL;
    size_t size = 0;
    const struct rd_directive *d = NULL;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    rd_args_help(out);
    ck_assert_int_eq(fclose(out), 0);
    unsigned n = 0;
    while ((d = rd_directive_next(d)) != NULL) {
        char path[64], start[80];
        const char *section = rd_section_info(d->section)->name;
        snprintf(path, sizeof path, "%s%s%s", section,
                 *section != '\0' ? "." : "", d->name);
        if (rd_directive_find_path(path) != d) {
            continue; /* of a listener, a route or a module */
        }
        snprintf(start, sizeof start, "\n  %s ", path);
        const char *at = strstr(text, start);
        ck_assert_msg(at != NULL, "%s is missing", d->name);
        ck_assert_ptr_null(strstr(at + 1, start));
        n++;
    }
    ck_assert_uint_gt(n, 40);
    free(text);
}
END_TEST

static const struct {
    const char *address;
    int local;
} places[] = {
    {"127.0.0.1:80", 1},
    {"127.1.2.3:80", 1},
    {"[::1]:80", 1},
    {"unix:/run/x.sock", 1},
    {":80", 0},
    {"0.0.0.0:80", 0},
    {"192.0.2.1:80", 0},
    {"[::]:80", 0},
    {"[2001:db8::1]:80", 0},
    {"127.x:80", 0},
    {"[::ffff:1.2.3.4]:1", 0},
    {"", 0},
    {"[", 0},
    {"]", 0},
};

START_TEST(test_local_addresses)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        ck_assert_msg(rd_address_is_local(places[i].address) == places[i].local,
                      "%s", places[i].address);
    }
}
END_TEST

static const struct {
    const char *address;
    const char *says; /* a part of the fault; NULL: none */
} forms[] = {
    {"127.0.0.1:80", NULL},
    {":0", NULL},
    {"[::1]:65535", NULL},
    {"unix:/run/x", NULL},
    {"unix:", "107 bytes"},
    {"127.0.0.1", "port"},
    {"127.0.0.1:", "port"},
    {"127.0.0.1:65536", "port"},
    {"127.0.0.1:-1", "port"},
    {"127.0.0.1:8 ", "port"},
    {"::1:80", "brackets"},
    {"[::g]:80", "IPv6"},
    {"[]:80", "IPv6"},
    {"localhost:80", "not resolved"},
    {"*:80", "\":port\" for all addresses"},
    {"http://127.0.0.1:80", "brackets"},
    {"", "port"},
};

START_TEST(test_address_faults)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct rd_address address;
        const char *fault = rd_address_parse(forms[i].address, &address);
        ck_assert_msg((fault == NULL) == (forms[i].says == NULL), "\"%s\": %s",
                      forms[i].address, fault ? fault : "good");
        ck_assert_msg(fault == NULL || strstr(fault, forms[i].says) != NULL,
                      "\"%s\": %s", forms[i].address, fault);
    }
}
END_TEST

static const struct {
    const char *a, *b;
    int clash;
} pairs[] = {
    {":80", "127.0.0.1:80", 1},
    {"127.0.0.1:80", "0.0.0.0:80", 1},
    {"127.0.0.1:80", "127.0.0.1:80", 1},
    {"127.0.0.1:80", "127.0.0.2:80", 0},
    {"127.0.0.1:80", "127.0.0.1:81", 0},
    {"127.0.0.1:0", "127.0.0.1:0", 0},
    {"[::]:80", "[::1]:80", 1},
    {"[::1]:80", "[::1]:80", 1},
    {"[::2]:80", "[::1]:80", 0},
    {"[::]:80", ":80", 0},
    {"unix:/a", "unix:/a", 1},
    {"unix:/a", "unix:/b", 0},
    {"unix:/a", ":80", 0},
    {"nonsense", "nonsense", 0},
};

START_TEST(test_clashes)
{
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        ck_assert_msg(rd_address_clashes(pairs[i].a, pairs[i].b) ==
                          pairs[i].clash,
                      "%s, %s", pairs[i].a, pairs[i].b);
        ck_assert_int_eq(rd_address_clashes(pairs[i].b, pairs[i].a),
                         pairs[i].clash);
    }
}
END_TEST

START_TEST(test_set_port)
{
    char text[24] = "[2001:db8::1]";
    ck_assert_int_eq(rd_address_set_port(text, sizeof text, 80), 0);
    ck_assert_str_eq(text, "[2001:db8::1]:80");
    ck_assert_int_eq(rd_address_set_port(text, sizeof text, 65535), 0);
    ck_assert_str_eq(text, "[2001:db8::1]:65535");
    char small[] = "127.0.0.1:1";
    ck_assert_int_eq(rd_address_set_port(small, sizeof small, 80), -1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("daemon_args");
    TCase *t = tcase_create("args");
    tcase_add_test(t, test_no_arguments);
    tcase_add_test(t, test_port_and_listeners);
    tcase_add_test(t, test_settings);
    tcase_add_test(t, test_log_level);
    tcase_add_test(t, test_actions);
    tcase_add_test(t, test_settings_bounds);
    tcase_add_test(t, test_help_and_version_come_first);
    tcase_add_test(t, test_mistakes);
    tcase_add_test(t, test_empty_port_is_bad);
    tcase_add_test(t, test_listen_bounds);
    tcase_add_test(t, test_help_lists_every_directive_once);
    suite_add_tcase(s, t);
    t = tcase_create("address");
    tcase_add_test(t, test_local_addresses);
    tcase_add_test(t, test_address_faults);
    tcase_add_test(t, test_clashes);
    tcase_add_test(t, test_set_port);
    suite_add_tcase(s, t);
    return suite_run(s);
}
