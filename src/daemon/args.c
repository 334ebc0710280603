/* SPDX-License-Identifier: MIT */
/* Parsing of the command line into struct rd_args.
 *
 * Options take effect in order, so the last one wins. What sets a directive of
 * the configuration is only noted, as text: the configuration judges it, by the
 * table that the second half of the help is written from. Prints nothing and
 * never exits: main does. Thread: main.
 */
#include "daemon/args.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <restd/api.h>

#include "daemon/config_table.h"

/* "+": stop at the first word that is no option; ":": tell a missing value
 * from an unknown option. */
#define SHORT_OPTIONS "+:c:p:l:w:o:fqvhVtTd"

enum { LONG_HEALTHCHECK = 256 }; /* beyond every letter */

static int fail(struct rd_args *args, int code, const char *format, ...)
    RESTD_PRINTF(3, 4);

static int fail(struct rd_args *args, int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(args->error, sizeof args->error, format, list);
    va_end(list);
    return code;
}

static int set_port(struct rd_args *args, const char *value)
{
    char *end = NULL;
    long port = strtol(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || port > 65535) {
        return fail(args, EX_CONFIG, "-p: \"%s\" is no port (0 to 65535)",
                    value);
    }
    args->port = port;
    return 0;
}

static int add_listen(struct rd_args *args, const char *value)
{
    size_t len = strlen(value);
    if (args->listen_n == RD_ARGS_LISTEN_MAX) {
        return fail(args, EX_CONFIG, "-l: more than %d addresses",
                    RD_ARGS_LISTEN_MAX);
    }
    if (len == 0 || len >= RD_ARGS_ADDRESS_MAX) {
        return fail(args, EX_CONFIG, "-l: \"%s\" is no address", value);
    }
    memcpy(args->listen[args->listen_n++], value, len + 1);
    return 0;
}

static int add_setting(struct rd_args *args, const char *key, size_t key_len,
                       const char *value)
{
    if (args->settings_n == RD_ARGS_SETTINGS_MAX || key_len == 0 ||
        key_len >= RD_ARGS_KEY_MAX) {
        return fail(args, EX_CONFIG,
                    "-o: more than %d settings, or no name: \"%.60s\"",
                    RD_ARGS_SETTINGS_MAX, key);
    }
    struct rd_args_setting *s = &args->settings[args->settings_n++];
    memcpy(s->key, key, key_len);
    s->key[key_len] = '\0';
    s->value = value;
    return 0;
}

static int set(struct rd_args *args, const char *key, const char *value)
{
    return add_setting(args, key, strlen(key), value);
}

static int set_option(struct rd_args *args, const char *text)
{
    size_t len = strcspn(text, "=");
    if (text[len] != '=' || len == 0) {
        return fail(args, EX_CONFIG,
                    "-o: \"%s\" is not of the form section.name=value", text);
    }
    return add_setting(args, text, len, text + len + 1);
}

/* -v, and again. */
static int more_verbose(struct rd_args *args)
{
    const char *level = "info";
    for (unsigned i = 0; i < args->settings_n; i++) {
        if (strcmp(args->settings[i].key, "log.level") == 0 &&
            strcmp(args->settings[i].value, "info") == 0) {
            level = "debug";
        }
    }
    return set(args, "log.level", level);
}

static int unknown(struct rd_args *args, char **argv)
{
    /* For a long option optopt is 0, or its letter if only its argument is
     * wrong. */
    if (optopt > 0 && strchr(SHORT_OPTIONS, optopt) == NULL) {
        return fail(args, EX_USAGE, "unknown option -%c (try -h)", optopt);
    }
    return fail(args, EX_USAGE, "unknown option %s (try -h)", argv[optind - 1]);
}

static int apply(struct rd_args *args, int option, char **argv)
{
    switch (option) {
    case 'c':
        args->config = optarg;
        return 0;
    case 'p':
        return set_port(args, optarg);
    case 'l':
        return add_listen(args, optarg);
    case 'w':
        return set(args, "workers", optarg);
    case 'o':
        return set_option(args, optarg);
    case 'f':
        return set(args, "daemon", "false");
    case 'q':
        args->quiet = 1;
        return set(args, "log.level", "error");
    case 'v':
        return more_verbose(args);
    case 'h':
        args->action = RD_ARGS_HELP;
        return 0;
    case 'V':
        args->action = RD_ARGS_VERSION;
        return 0;
    case 't':
        args->action = RD_ARGS_TEST;
        return 0;
    case 'T':
        args->action = RD_ARGS_DUMP;
        return 0;
    case 'd':
        return set(args, "daemon", "true");
    case LONG_HEALTHCHECK:
        args->action = RD_ARGS_HEALTHCHECK;
        return 0;
    case ':':
        return fail(args, EX_USAGE, "-%c needs a value (try -h)", optopt);
    default:
        return unknown(args, argv);
    }
}

int rd_args_parse(struct rd_args *args, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {"healthcheck", no_argument, NULL, LONG_HEALTHCHECK},
        {NULL, 0, NULL, 0}};
    memset(args, 0, sizeof *args);
    args->port = -1;
    optind = 0; /* start afresh, for tests that parse more than once */
    for (;;) {
        int option = getopt_long(argc, argv, SHORT_OPTIONS, long_options, NULL);
        if (option < 0) {
            break;
        }
        int code = apply(args, option, argv);
        if (code != 0 || args->action == RD_ARGS_HELP ||
            args->action == RD_ARGS_VERSION) {
            return code;
        }
    }
    if (optind < argc) {
        return fail(args, EX_USAGE, "unexpected argument \"%s\" (try -h)",
                    argv[optind]);
    }
    return 0;
}

/* One directive that -o can set, with its default and range. */
static void help_directive(FILE *out, const struct rd_directive *d)
{
    char name[80], least[32], most[32];
    const char *section = rd_section_info(d->section)->name;
    struct rd_directive_range range;
    rd_directive_range(d, &range);
    snprintf(name, sizeof name, "%s%s%s", section, *section != '\0' ? "." : "",
             d->name);
    fprintf(out, "  %-26s %s", name, d->help);
    if (d->words != NULL && range.def != NULL &&
        (range.max == 0 || d->type == RD_TYPE_ENUM)) {
        fprintf(out, " (%s)", d->words);
    } else if (range.max > 1) {
        rd_directive_format(least, sizeof least, range.min, range.unit);
        rd_directive_format(most, sizeof most, range.max, range.unit);
        fprintf(out, " (%s to %s)", least, most);
    }
    fprintf(out, range.def != NULL ? " [%s]\n" : "\n", range.def);
}

void rd_args_help(FILE *out)
{
    const struct rd_directive *d = NULL;
    fputs(
        "usage: restdaemon [-dfqv] [-c FILE] [-p PORT] [-l ADDR]... [-w N]\n"
        "                  [-o section.name=value]...\n"
        "       restdaemon -t | -T | --healthcheck [the same options]\n"
        "       restdaemon -h | -V\n"
        "\n"
        "Serves GET /status and other built-in resources over HTTP, and the\n"
        "routes of a configuration file, by default on\n"
        "http://127.0.0.1:8888.\n"
        "\n"
        "  -c FILE       configuration file, or \"none\"; by default\n"
        "                /etc/restdaemon/restdaemon.conf if it exists\n"
        "  -p PORT       port of the first TCP listener, 0: a free one\n"
        "  -l ADDR       listen there instead: 127.0.0.1:80, [::1]:80, :80,\n"
        "                unix:/path; may be given 16 times\n"
        "  -w N          worker threads, auto: one per usable CPU\n"
        "  -o section.name=value\n"
        "                set a directive of the configuration, see below\n"
        "  -t            test the configuration and what it names, and exit\n"
        "  -T            print the configuration as it would hold, and exit\n"
        "  -d            go into the background, once it serves\n"
        "  -f            stay in the foreground, whatever the file says\n"
        "  --healthcheck exit with 0 if the running daemon is alive\n"
        "  -q            log errors only\n"
        "  -v            log more; -vv: debug\n"
        "  -V            version and build\n"
        "  -h            this help\n"
        "\n"
        "Sizes take K, M, G; times take ms, s, m, h (plain numbers: s).\n"
        "Directives for -o, with range and [default]; restdaemon.conf(5) has\n"
        "those of listeners and routes as well:\n",
        out);
    while ((d = rd_directive_next(d)) != NULL) {
        const struct rd_section_info *info = rd_section_info(d->section);
        if (info->title == NULL && info->parent == RD_SECTION_TOP) {
            help_directive(out, d);
        }
    }
}
