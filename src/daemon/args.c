/* SPDX-License-Identifier: MIT */
/* Parsing of the command line into struct rd_args.
 *
 * Options take effect in order, so the last one wins; -p and the default
 * address are applied at the end. Values of server options are judged by
 * restd_options_set(), whose table also writes the second half of the help, so
 * that no default and no range is stated here. Prints nothing and never exits:
 * main does. Thread: main.
 */
#include "daemon/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/address.h"

#define DEFAULT_LISTEN "127.0.0.1:8888"
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

static int set_config(struct rd_args *args, const char *path)
{
    args->config = path;
    if (strcmp(path, "none") == 0 || access(path, R_OK) == 0) {
        return 0;
    }
    int code = errno == ENOENT || errno == ENOTDIR ? EX_NOINPUT : EX_NOPERM;
    return fail(args, code, "-c: %s: %s", path, strerror(errno));
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

static int set_workers(struct rd_args *args, const char *value)
{
    struct restd_error error;
    if (restd_options_set(&args->options, "workers", value, &error) < 0) {
        return fail(args, EX_CONFIG, "-w: %s", error.message);
    }
    return 0;
}

static int set_option(struct rd_args *args, const char *text)
{
    char key[64];
    struct restd_error error;
    size_t len = strcspn(text, "=");
    if (text[len] != '=' || len == 0 || len >= sizeof key) {
        return fail(args, EX_CONFIG, "-o: \"%s\" is not of the form key=value",
                    text);
    }
    memcpy(key, text, len);
    key[len] = '\0';
    if (restd_options_set(&args->options, key, text + len + 1, &error) < 0) {
        return fail(args, EX_CONFIG, "-o: %s", error.message);
    }
    return 0;
}

static void more_verbose(struct restd_options *options)
{
    options->log_level =
        options->log_level < RESTD_LOG_INFO ? RESTD_LOG_INFO : RESTD_LOG_DEBUG;
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
        return set_config(args, optarg);
    case 'p':
        return set_port(args, optarg);
    case 'l':
        return add_listen(args, optarg);
    case 'w':
        return set_workers(args, optarg);
    case 'o':
        return set_option(args, optarg);
    case 'f':
        return 0;
    case 'q':
        args->options.log_level = RESTD_LOG_ERROR;
        return 0;
    case 'v':
        more_verbose(&args->options);
        return 0;
    case 'h':
        args->action = RD_ARGS_HELP;
        return 0;
    case 'V':
        args->action = RD_ARGS_VERSION;
        return 0;
    case 't':
    case 'T':
    case 'd':
        return fail(args, EX_USAGE, "-%c comes with a later version", option);
    case LONG_HEALTHCHECK:
        return fail(args, EX_USAGE, "--healthcheck comes with a later version");
    case ':':
        return fail(args, EX_USAGE, "-%c needs a value (try -h)", optopt);
    default:
        return unknown(args, argv);
    }
}

/* Default address and -p. */
static int finish(struct rd_args *args)
{
    if (args->config != NULL && strcmp(args->config, "none") != 0) {
        return fail(args, EX_CONFIG,
                    "-c: configuration files are not supported yet, %s is not "
                    "read; use -c none",
                    args->config);
    }
    if (args->listen_n == 0) {
        memcpy(args->listen[args->listen_n++], DEFAULT_LISTEN,
               sizeof DEFAULT_LISTEN);
    }
    for (unsigned i = 0; i < args->listen_n && args->port >= 0; i++) {
        if (rd_address_is_unix(args->listen[i])) {
            continue;
        }
        if (rd_address_set_port(args->listen[i], RD_ARGS_ADDRESS_MAX,
                                (unsigned)args->port) < 0) {
            return fail(args, EX_CONFIG, "-l: \"%s\" is no address",
                        args->listen[i]);
        }
        return 0;
    }
    return args->port < 0
               ? 0
               : fail(args, EX_CONFIG, "-p: there is no TCP listener to set");
}

int rd_args_parse(struct rd_args *args, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {"healthcheck", optional_argument, NULL, LONG_HEALTHCHECK},
        {NULL, 0, NULL, 0}};
    memset(args, 0, sizeof *args);
    args->port = -1;
    restd_options_init(&args->options);
    optind = 0; /* start afresh, for tests that parse more than once */
    for (;;) {
        int option = getopt_long(argc, argv, SHORT_OPTIONS, long_options, NULL);
        if (option < 0) {
            break;
        }
        int code = apply(args, option, argv);
        if (code != 0 || args->action != RD_ARGS_RUN) {
            return code;
        }
    }
    if (optind < argc) {
        return fail(args, EX_USAGE, "unexpected argument \"%s\" (try -h)",
                    argv[optind]);
    }
    return finish(args);
}

/* A value in the largest unit that leaves a whole number. */
static void format_value(char *buf, size_t size, uint64_t value,
                         const char *unit)
{
    static const char *const letters[] = {"", "K", "M", "G"};
    unsigned power = 0;
    if (strcmp(unit, "bytes") == 0) {
        for (; power < 3 && value != 0 && value % 1024 == 0; power++) {
            value /= 1024;
        }
        unit = letters[power];
    } else if (strcmp(unit, "ms") == 0 && value % 1000 == 0) {
        value /= 1000;
        unit = "s";
    }
    snprintf(buf, size, "%llu%s", (unsigned long long)value, unit);
}

void rd_args_help(FILE *out)
{
    struct restd_option_info info;
    char def[32], min[32], max[32];
    fputs("usage: restdaemon [-fqv] [-c none] [-p PORT] [-l ADDR]... [-w N]\n"
          "                  [-o key=value]...\n"
          "       restdaemon -h | -V\n"
          "\n"
          "Serves GET /status and other built-in resources over HTTP, by\n"
          "default on http://" DEFAULT_LISTEN ".\n"
          "\n"
          "  -c FILE       configuration file; only \"none\" in this version\n"
          "  -p PORT       port of the first TCP listener, 0: a free one\n"
          "  -l ADDR       listen there instead: 127.0.0.1:80, [::1]:80, :80,\n"
          "                unix:/path; may be given 16 times\n"
          "  -w N          worker threads, 0: one per usable CPU\n"
          "  -o key=value  set a server option, see below\n"
          "  -f            stay in the foreground (always so in this version)\n"
          "  -q            log errors only\n"
          "  -v            log more; -vv: debug\n"
          "  -V            version and build\n"
          "  -h            this help\n"
          "\n"
          "Sizes take K, M, G; times take ms, s, m, h (plain numbers: s).\n"
          "Options for -o, with default and range:\n",
          out);
    for (unsigned i = 0; restd_option_info(i, &info) == 0; i++) {
        format_value(def, sizeof def, info.default_value, info.unit);
        format_value(min, sizeof min, info.min, info.unit);
        format_value(max, sizeof max, info.max, info.unit);
        fprintf(out, "  %-24s %8s  %s (%s to %s)\n", info.name, def, info.help,
                min, max);
    }
}
