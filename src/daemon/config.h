/* SPDX-License-Identifier: MIT */
/* A configuration: what the file, the environment and the command line say
 * together, checked, as one immutable object.
 *
 * Owner: main. Lifetime: rd_config_load() to rd_config_free(); every string
 * and array is the configuration's own (config_arena.h). Thread: loaded and
 * freed by main, one at a time, as libConfuse's lexer is the process's; what
 * is loaded may be read by any thread.
 */
#ifndef RD_DAEMON_CONFIG_H
#define RD_DAEMON_CONFIG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <restd/options.h>
#include <restd/plugins.h>

#include "daemon/builtin_config.h"
#include "daemon/log_config.h"

#define RD_CONFIG_FILE "/etc/restdaemon/restdaemon.conf"

struct rd_args;

/* Where a value comes from. */
struct rd_config_origin {
    const char *file; /* path, "environment", "command line", "default" */
    int line;         /* 0 unless it is a file */
};

/* What a route does. */
enum rd_config_kind {
    RD_ROUTE_RESPOND,
    RD_ROUTE_FILE,
    RD_ROUTE_DOCROOT,
    RD_ROUTE_REDIRECT,
    RD_ROUTE_ECHO,
    RD_ROUTE_STATUS,
    RD_ROUTE_HEALTH
};

struct rd_config_list {
    const char **items;
    unsigned n;
};

struct rd_config_cors {
    uint8_t is_set; /* there is such a section */
    const char *origins, *methods, *headers, *exposed; /* NULL: none given */
    uint32_t max_age_s;
    uint8_t credentials;
};

struct rd_config_rate {
    uint8_t is_set;
    uint32_t rate, period_ms, burst, entries;
};

/* Of the whole server, or of one route. */
struct rd_config_plugins {
    struct rd_config_cors cors; /* whole server only */
    struct rd_config_rate rate_limit;
    const char *allow, *deny; /* as restd_networks_new() has it; NULL: none */
    struct rd_config_list headers; /* "Name: value" */
    uint8_t gzip, request_id;      /* whole server only */
};

struct rd_config_route {
    const char *methods; /* "GET,POST", never NULL */
    const char *pattern;
    enum rd_config_kind kind;
    int status;       /* respond, redirect */
    const char *text; /* respond: content; file, docroot: path; redirect:
                         location; health: "live" or "ready"; else NULL */
    size_t text_len;
    const char *type;          /* media type; NULL: that of the kind */
    const char *index;         /* docroot; NULL: none */
    uint8_t low_priority;      /* 503 while memory is short */
    const char *cache_control; /* NULL: none */
    const char *summary;       /* NULL: none */
    uint64_t body_max_bytes;   /* 0: the server's */
    struct rd_config_plugins plugins;
    struct rd_config_origin origin;
};

struct rd_config_listen {
    const char
        *name; /* never NULL: "listen1" of -l, "default" of the default */
    const char *address;
    int mode;          /* of a unix path; -1: by umask */
    uint32_t uid, gid; /* likewise; UINT32_MAX: unchanged */
    uint32_t backlog;  /* 0: that of the options */
    uint8_t admin;
    struct rd_config_origin origin;
};

struct rd_config_module {
    const char *path, *base, *argument; /* base, argument: NULL: none */
    struct rd_config_origin origin;
};

struct rd_config {
    struct restd_options options; /* log, log_data: the caller's to set */
    struct rd_config_log log, access_log;
    struct rd_config_listen *listens; /* at least one that is not admin */
    unsigned listens_n;
    struct rd_config_route *routes;
    unsigned routes_n;
    struct rd_config_module *modules;
    unsigned modules_n;
    struct rd_config_plugins plugins;
    struct rd_config_builtins builtins;
    struct {
        uint8_t full;      /* the document without ?detail= */
        uint8_t host;      /* host, pid and load are told */
        const char *allow; /* to whom, as above; NULL: see the manual */
    } status;
    const char *user, *group, *pid_file; /* NULL: none */
    uint8_t daemon, core_dumps;
    const char *file; /* NULL: none was read */

    struct rd_config_tree *tree; /* for rd_config_dump() */
};

/* What was wrong, in the order in which it was found. */
struct rd_config_errors {
    unsigned n;       /* found */
    int code;         /* exit code of the first, sysexits.h */
    unsigned shown_n; /* bytes of text */
    char text[16384]; /* lines "file:line: error: ...\n"; at the end, where
                          there is no room, none */
};

/* Loads the file that `args` names (or RD_CONFIG_FILE if it exists), the
 * environment and the options of `args`. Returns 0, or -1 with at least one
 * error and no configuration. Opens only the file and what it includes. */
int rd_config_load(struct rd_config **config, const struct rd_args *args,
                   struct rd_config_errors *errors);
#define RD_CONFIG_METHOD_MAX 32

/* The next of a route's methods: from *at, which is `methods` at first, into
 * `method`. 1; 0 behind the last; -1: it is too long. */
int rd_config_method(const char **at, char method[RD_CONFIG_METHOD_MAX]);
/* Zeroed memory that ends with the configuration; NULL: there is no more. */
void *rd_config_alloc(struct rd_config *config, size_t size);
/* The plugin that a section describes, as restd_cors() makes it. */
RESTD_MUST_CHECK int rd_config_cors(const struct rd_config_cors *cors,
                                    struct restd_plugin *plugin,
                                    struct restd_error *error);
int rd_config_has_admin(const struct rd_config *config);
/* NULL is allowed. */
void rd_config_free(struct rd_config *config);

/* Opens what the configuration names, as a start would, and lets go of it.
 * `with_server`: also what a start finds out itself, by making a server with
 * the options and looking where the pid file goes. Returns 0, or -1 with
 * errors. */
int rd_config_probe(const struct rd_config *config, int with_server,
                    struct rd_config_errors *errors);

/* Writes the effective configuration, each directive with the origin of its
 * value, in a form that loads to the same again. */
void rd_config_dump(const struct rd_config *config, FILE *out);

#endif
