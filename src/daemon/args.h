/* SPDX-License-Identifier: MIT */
/* The command line.
 *
 * Owner: main. Lifetime: the process's. Thread: main, before any other.
 */
#ifndef RD_DAEMON_ARGS_H
#define RD_DAEMON_ARGS_H

#include <stdio.h>

#include <restd/options.h>

#define RD_ARGS_LISTEN_MAX 16
#define RD_ARGS_ADDRESS_MAX 128

enum rd_args_action { RD_ARGS_RUN, RD_ARGS_HELP, RD_ARGS_VERSION };

struct rd_args {
    enum rd_args_action action;
    struct restd_options options;
    const char *config; /* borrowed from argv; NULL or "none": built-ins */
    long port;          /* -1: not given */
    unsigned listen_n;
    /* "-p" applied; at least one when the action is to run. */
    char listen[RD_ARGS_LISTEN_MAX][RD_ARGS_ADDRESS_MAX];
    char error[320]; /* why parsing failed, one line */
};

/* Fills in `args`. Returns 0, or the exit code (sysexits.h) with a sentence in
 * args->error. */
int rd_args_parse(struct rd_args *args, int argc, char **argv);
void rd_args_help(FILE *out);

#endif
