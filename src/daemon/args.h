/* SPDX-License-Identifier: MIT */
/* The command line.
 *
 * Owner: main. Lifetime: the process's. Thread: main, before any other.
 */
#ifndef RD_DAEMON_ARGS_H
#define RD_DAEMON_ARGS_H

#include <stdio.h>

#define RD_ARGS_LISTEN_MAX 16
#define RD_ARGS_ADDRESS_MAX 128
#define RD_ARGS_SETTINGS_MAX 128
#define RD_ARGS_KEY_MAX 64

enum rd_args_action {
    RD_ARGS_RUN,
    RD_ARGS_HELP,
    RD_ARGS_VERSION,
    RD_ARGS_TEST, /* -t */
    RD_ARGS_DUMP, /* -T */
    RD_ARGS_HEALTHCHECK
};

/* A directive of the configuration, as -o, -w, -q, -v and -f set it. */
struct rd_args_setting {
    char key[RD_ARGS_KEY_MAX]; /* "section.name", or "name" at the top */
    const char *value;         /* borrowed from argv, or static */
};

struct rd_args {
    enum rd_args_action action;
    const char *config; /* borrowed from argv; NULL: not given */
    long port;          /* -1: not given */
    int quiet;
    unsigned listen_n; /* 0: as the configuration has it */
    char listen[RD_ARGS_LISTEN_MAX][RD_ARGS_ADDRESS_MAX];
    unsigned settings_n;
    struct rd_args_setting settings[RD_ARGS_SETTINGS_MAX];
    char error[320]; /* why parsing failed, one line */
};

/* Fills in `args`. Returns 0, or the exit code (sysexits.h) with a sentence in
 * args->error. Values are judged by rd_config_load(). */
int rd_args_parse(struct rd_args *args, int argc, char **argv);
void rd_args_help(FILE *out);

#endif
