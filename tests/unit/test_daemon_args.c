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
    ck_assert_uint_eq(args.listen_n, 1);
    ck_assert_str_eq(args.listen[0], "127.0.0.1:8888");
    ck_assert_uint_eq(args.options.log_level, RESTD_LOG_NOTICE);
}
END_TEST

START_TEST(test_port_of_default_and_of_first_tcp)
{
    ck_assert_int_eq(parse("-p 0"), 0);
    ck_assert_str_eq(args.listen[0], "127.0.0.1:0");
    ck_assert_int_eq(parse("-p 81 -l unix:/run/x:y -l [::1]:80 -l :80"), 0);
    ck_assert_uint_eq(args.listen_n, 3);
    ck_assert_str_eq(args.listen[0], "unix:/run/x:y");
    ck_assert_str_eq(args.listen[1], "[::1]:81");
    ck_assert_str_eq(args.listen[2], ":80");
}
END_TEST

START_TEST(test_values)
{
    ck_assert_int_eq(parse("-fc none -w 3 -o connections=77"), 0);
    ck_assert_uint_eq(args.options.workers, 3);
    ck_assert_uint_eq(args.options.connections_max, 77);
    ck_assert_str_eq(args.config, "none");
}
END_TEST

START_TEST(test_log_level)
{
    ck_assert_int_eq(parse("-q"), 0);
    ck_assert_uint_eq(args.options.log_level, RESTD_LOG_ERROR);
    ck_assert_int_eq(parse("-v"), 0);
    ck_assert_uint_eq(args.options.log_level, RESTD_LOG_INFO);
    ck_assert_int_eq(parse("-vv"), 0);
    ck_assert_uint_eq(args.options.log_level, RESTD_LOG_DEBUG);
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
    {"-t", EX_USAGE, "-t comes with a later version"},
    {"-T", EX_USAGE, "-T comes"},
    {"-d", EX_USAGE, "-d comes"},
    {"--healthcheck", EX_USAGE, "later version"},
    {"--healthcheck=unix:/x", EX_USAGE, "later version"},
    {"-c /nonexistent/restdaemon.conf", EX_NOINPUT, "/nonexistent"},
    {"-c /dev/null", EX_CONFIG, "not supported yet"},
    {"-p 65536", EX_CONFIG, "65536"},
    {"-p 99999999999999999999", EX_CONFIG, "-p"},
    {"-p -1", EX_CONFIG, "-1"},
    {"-p 80x", EX_CONFIG, "80x"},
    {"-l unix:/x -p 80", EX_CONFIG, "no TCP listener"},
    {"-w many", EX_CONFIG, "-w: "},
    {"-w -1", EX_CONFIG, "-w: "},
    {"-o nonsense=1", EX_CONFIG, "-o: "},
    {"-o workers", EX_CONFIG, "key=value"},
    {"-o =1", EX_CONFIG, "key=value"},
    {"-o connections=x", EX_CONFIG, "-o: "},
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

START_TEST(test_help_lists_every_option_once)
{
    char *text = NULL;
    size_t size = 0;
    struct restd_option_info info;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    rd_args_help(out);
    ck_assert_int_eq(fclose(out), 0);
    unsigned n = 0;
    for (; restd_option_info(n, &info) == 0; n++) {
        char start[80];
        snprintf(start, sizeof start, "\n  %s ", info.name);
        const char *at = strstr(text, start);
        ck_assert_msg(at != NULL, "%s is missing", info.name);
        ck_assert_ptr_null(strstr(at + 1, start));
    }
    ck_assert_uint_gt(n, 20);
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
    tcase_add_test(t, test_port_of_default_and_of_first_tcp);
    tcase_add_test(t, test_values);
    tcase_add_test(t, test_log_level);
    tcase_add_test(t, test_help_and_version_come_first);
    tcase_add_test(t, test_mistakes);
    tcase_add_test(t, test_empty_port_is_bad);
    tcase_add_test(t, test_listen_bounds);
    tcase_add_test(t, test_help_lists_every_option_once);
    suite_add_tcase(s, t);
    t = tcase_create("address");
    tcase_add_test(t, test_local_addresses);
    tcase_add_test(t, test_set_port);
    suite_add_tcase(s, t);
    return suite_run(s);
}
