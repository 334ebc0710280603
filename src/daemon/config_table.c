/* SPDX-License-Identifier: MIT */
/* The table of directives: every name, type, default, range, unit and help of
 * a configuration, once.
 *
 * What is an option of the library has its default, range and unit from
 * restd_option_info(). Everything else about a configuration is derived:
 * questions are answered by config_lookup.c, types by config_value.c. A new
 * directive is one row here, and `make directives`; one that has no place in a
 * struct is a line in config_build.c as well. Thread: any, no state.
 */
#include "daemon/config_table.h"

#include <string.h>

#include "daemon/config.h"

#define PLACE(type, field) offsetof(type, field), sizeof(((type *)0)->field)
#define CONFIG(field) PLACE(struct rd_config, field)
#define LISTEN(field) PLACE(struct rd_config_listen, field)
#define ROUTE(field) PLACE(struct rd_config_route, field)
#define MODULE(field) PLACE(struct rd_config_module, field)
#define NOWHERE 0, 0

enum { RELOAD, RESTART };

/* One of the library's options. */
#define OPTION(section, name, type, option, when, help)                        \
    {                                                                          \
        RD_SECTION_##section, name, RD_TYPE_##type, NULL, option, 0, 0, NULL,  \
            NULL, NOWHERE, when, help                                          \
    }
#define BOOL(section, name, def, place, when, help)                            \
    {                                                                          \
        RD_SECTION_##section, name, RD_TYPE_BOOL, def, NULL, 0, 1, NULL, NULL, \
            place, when, help                                                  \
    }
#define NUMBER(section, name, type, def, min, max, word, unit, place, help)    \
    {                                                                          \
        RD_SECTION_##section, name, RD_TYPE_##type, def, NULL, min, max, word, \
            unit, place, RELOAD, help                                          \
    }
/* One of some words, the first of which is kept as 0. */
#define WORDS(section, name, type, def, words, place, help)                    \
    {                                                                          \
        RD_SECTION_##section, name, RD_TYPE_##type, def, NULL, 0, 0, words,    \
            NULL, place, RELOAD, help                                          \
    }
#define TEXT(section, name, type, def, place, when, help)                      \
    {                                                                          \
        RD_SECTION_##section, name, RD_TYPE_##type, def, NULL, 0, 0, NULL,     \
            NULL, place, when, help                                            \
    }

static const struct rd_section_info sections[RD_SECTIONS_N] = {
    {"", "a directive", NULL, RD_SECTION_TOP, 1,
     "These stand outside of any section and hold for the whole server."},
    {"log", "a directive of 'log'", NULL, RD_SECTION_TOP, 1,
     "Where messages go, and which."},
    {"access_log", "a directive of 'access_log'", NULL, RD_SECTION_TOP, 1,
     "One line for each request."},
    {"limits", "a limit", NULL, RD_SECTION_TOP, 1,
     "What a client may ask for."},
    {"timeouts", "a timeout", NULL, RD_SECTION_TOP, 1,
     "How long things may take."},
    {"tuning", "a directive of 'tuning'", NULL, RD_SECTION_TOP, 1,
     "What seldom needs a change."},
    {"builtins", "a built-in resource", NULL, RD_SECTION_TOP, 1,
     "Resources that are there without a route. A route of the same path "
     "takes their place."},
    {"status", "a directive of 'status'", NULL, RD_SECTION_TOP, 1,
     "What /status tells, and to whom."},
    {"cors", "a directive of 'cors'", NULL, RD_SECTION_TOP, 1,
     "What pages of other origins may do. Without this section: nothing."},
    {"rate_limit", "a directive of 'rate_limit'", NULL, RD_SECTION_TOP, 1,
     "Requests of one address beyond a rate are answered 429, but for those "
     "after /livez, /readyz and /healthz. Without this "
     "section there is no such limit."},
    {"listen", "a directive of 'listen'", "NAME", RD_SECTION_TOP, 64,
     "A listener. Without one that serves routes, there is one on "
     "127.0.0.1:8888."},
    {"route", "a directive of 'route'", "METHOD,METHOD /PATTERN",
     RD_SECTION_TOP, 1000,
     "A route, with exactly one of respond, file, docroot, redirect and "
     "builtin. Without methods it serves GET and HEAD, an echo POST."},
    {"rate_limit", "a directive of 'rate_limit'", NULL, RD_SECTION_ROUTE, 1000,
     "The section of the same name, for one route."},
    {"module", "a directive of 'module'", "/PATH.so", RD_SECTION_TOP, 64,
     "A shared object that adds routes of its own."},
};

static const struct rd_directive rows[] = {
    {RD_SECTION_TOP, "workers", RD_TYPE_COUNT, NULL, "workers", 0, 0, "auto",
     NULL, NOWHERE, RELOAD,
     "loop threads; auto: one for each usable CPU; fewer of them need a "
     "restart"},
    OPTION(TOP, "memory_budget", SIZE, "memory_budget", RESTART,
           "private memory of the process"),
    TEXT(TOP, "user", USER, NULL, CONFIG(user), RESTART,
         "account to run as, after a start as root"),
    TEXT(TOP, "group", GROUP, NULL, CONFIG(group), RESTART,
         "group to run as; by default that of user"),
    BOOL(TOP, "daemon", "false", CONFIG(daemon), RESTART,
         "go into the background, as -d"),
    TEXT(TOP, "pid_file", PATH, NULL, CONFIG(pid_file), RESTART,
         "file that gets the process id"),
    BOOL(TOP, "core_dumps", "false", CONFIG(core_dumps), RESTART,
         "let the kernel write one after a crash"),
    TEXT(TOP, "allow", NETWORKS, NULL, CONFIG(plugins.allow), RELOAD,
         "only clients in these networks are served, others get 403"),
    TEXT(TOP, "deny", NETWORKS, NULL, CONFIG(plugins.deny), RELOAD,
         "clients in these networks get 403; wins over allow"),
    TEXT(TOP, "headers", FIELDS, NULL, CONFIG(plugins.headers), RELOAD,
         "fields that are added to every reply"),
    BOOL(TOP, "gzip", "false", CONFIG(plugins.gzip), RELOAD,
         "compress texts for clients that take it"),
    BOOL(TOP, "request_id", "false", CONFIG(plugins.request_id), RELOAD,
         "keep the client's X-Request-Id or make one, and send it back"),

    WORDS(LOG, "target", ENUM, "stderr", "stderr|file|syslog|journal|off",
          CONFIG(log.target), "where messages go"),
    TEXT(LOG, "file", PATH, NULL, CONFIG(log.path), RELOAD,
         "file of target = file"),
    {RD_SECTION_LOG, "level", RD_TYPE_ENUM, NULL, "log_level", 0, 0,
     "error|warning|notice|info|debug", NULL, NOWHERE, RELOAD,
     "least severe messages that are written"},
    WORDS(LOG, "format", WORD, "auto", "auto|text|logfmt|json",
          CONFIG(log.format),
          "form of a line; auto: for the journal if that reads standard error, "
          "else text"),

    WORDS(ACCESS_LOG, "target", ENUM, "off", "stderr|file|syslog|journal|off",
          CONFIG(access_log.target), "where lines go"),
    TEXT(ACCESS_LOG, "file", PATH, NULL, CONFIG(access_log.path), RELOAD,
         "file of target = file"),
    WORDS(ACCESS_LOG, "format", FORMAT, "combined",
          "common|combined|vcombined|json|logfmt", CONFIG(access_log.format),
          "form of a line, or a pattern with variables such as $remote_addr"),
    NUMBER(ACCESS_LOG, "sample", COUNT, "1", 1, 1000000, NULL, "",
           CONFIG(access_log.sample),
           "write one line of so many; errors and slow ones always"),
    NUMBER(ACCESS_LOG, "slow", DURATION, "0s", 0, 3600000, NULL, "ms",
           CONFIG(access_log.slow_ms),
           "time from which a request is slow; 0: none is"),
    NUMBER(ACCESS_LOG, "min_status", COUNT, "0", 0, 599, NULL, "",
           CONFIG(access_log.min_status),
           "leave out replies with a lower status, but for slow ones"),

    OPTION(LIMITS, "connections", COUNT, "connections", RESTART,
           "open connections of clients"),
    OPTION(LIMITS, "target_size", SIZE, "target_max", RESTART,
           "request target; more: 414"),
    OPTION(LIMITS, "header_size", SIZE, "header_max", RESTART,
           "header section; more: 431"),
    OPTION(LIMITS, "header_count", COUNT, "header_fields", RESTART,
           "header fields; more: 431"),
    OPTION(LIMITS, "body_size", SIZE, "body_max", RELOAD, "content; more: 413"),
    OPTION(LIMITS, "body_buffered", SIZE, "body_buffered_max", RESTART,
           "content held in memory, as handlers that want it whole have it; "
           "more: 413"),
    OPTION(LIMITS, "body_rate", SIZE, "body_rate_min", RELOAD,
           "least content per second, on average; 0: any"),

    OPTION(TIMEOUTS, "header", DURATION, "header_timeout", RELOAD,
           "from the first byte of a request to the end of its header "
           "section"),
    OPTION(TIMEOUTS, "body", DURATION, "body_timeout", RELOAD,
           "silence within a content"),
    OPTION(TIMEOUTS, "body_grace", DURATION, "body_rate_grace", RELOAD,
           "before limits.body_rate is asked for"),
    OPTION(TIMEOUTS, "keepalive", DURATION, "keepalive_timeout", RELOAD,
           "idle between requests"),
    OPTION(TIMEOUTS, "write", DURATION, "write_timeout", RELOAD,
           "reply that is not taken, without progress"),
    OPTION(TIMEOUTS, "handler", DURATION, "handler_timeout", RELOAD,
           "reply of a module's handler that may wait"),
    OPTION(TIMEOUTS, "linger", DURATION, "linger_timeout", RELOAD,
           "reading on after an early reply"),
    OPTION(TIMEOUTS, "drain", DURATION, "drain_timeout", RELOAD,
           "hard end of a drain"),
    OPTION(TIMEOUTS, "drain_idle", DURATION, "drain_silence", RELOAD,
           "silence that ends an idle connection in a drain"),
    OPTION(TIMEOUTS, "shutdown_delay", DURATION, "shutdown_delay", RELOAD,
           "first part of a drain: not ready, but still accepting"),
    OPTION(TIMEOUTS, "close_spread", DURATION, "close_spread", RELOAD,
           "time over which a drain spreads the closing of idle "
           "connections"),

    OPTION(TUNING, "backlog", COUNT, "backlog", RELOAD,
           "accept queue of each listener that is opened from then on"),
    OPTION(TUNING, "defer_accept", DURATION, "defer_accept", RELOAD,
           "wake for a TCP connection when its first data is there; 0: at "
           "once"),
    OPTION(TUNING, "stack", SIZE, "stack", RESTART, "stack of a thread"),
    OPTION(TUNING, "linger_size", SIZE, "linger_max_bytes", RELOAD,
           "read and dropped after an early reply"),
    OPTION(TUNING, "linger_connections", COUNT, "linger_max", RELOAD,
           "connections in that state, for each worker"),
    OPTION(TUNING, "output_high", SIZE, "output_high", RELOAD,
           "unsent output that pauses reading"),
    OPTION(TUNING, "output_low", SIZE, "output_low", RELOAD,
           "unsent output that lets it go on"),
    OPTION(TUNING, "offload_threads", COUNT, "offload_threads", RESTART,
           "most threads for handlers that may wait; started on demand"),
    OPTION(TUNING, "offload_queue", COUNT, "offload_queue", RESTART,
           "requests that wait for one of them; more: 503"),
    OPTION(TUNING, "log_ring", SIZE, "log_ring", RESTART,
           "log lines that a thread holds for the writer; a power of two"),

    BOOL(BUILTINS, "status", "true", CONFIG(builtins.status), RELOAD,
         "/status"),
    BOOL(BUILTINS, "health", "true", CONFIG(builtins.health), RELOAD,
         "/livez, /readyz and /healthz"),
    BOOL(BUILTINS, "version", "true", CONFIG(builtins.version), RELOAD,
         "/version"),
    BOOL(BUILTINS, "index", "true", CONFIG(builtins.index), RELOAD,
         "/, which lists the others"),
    BOOL(BUILTINS, "echo", "false", CONFIG(builtins.echo), RELOAD,
         "POST /echo and GET /ok; true when there is no file"),

    WORDS(STATUS, "detail", ENUM, "summary", "summary|full",
          CONFIG(status.full), "what /status answers without ?detail="),
    BOOL(STATUS, "host", "true", CONFIG(status.host), RELOAD,
         "tell name, process id and load of the host"),
    TEXT(STATUS, "allow", NETWORKS, NULL, CONFIG(status.allow), RELOAD,
         "clients that are told all; others get the summary without host, "
         "process id and load; without it all are that come through a "
         "listener that other machines cannot reach"),

    TEXT(CORS, "origins", STRING, NULL, CONFIG(plugins.cors.origins), RELOAD,
         "origins, with commas, or *; has to be given"),
    TEXT(CORS, "methods", STRING, "GET, HEAD, POST, PUT, PATCH, DELETE",
         CONFIG(plugins.cors.methods), RELOAD, "methods, with commas"),
    TEXT(CORS, "headers", STRING, NULL, CONFIG(plugins.cors.headers), RELOAD,
         "fields of requests beside the safelisted, with commas"),
    TEXT(CORS, "exposed", STRING, NULL, CONFIG(plugins.cors.exposed), RELOAD,
         "fields of replies that a page may read, with commas"),
    NUMBER(CORS, "max_age", DURATION, "10m", 0, 86400, NULL, "s",
           CONFIG(plugins.cors.max_age_s),
           "how long a preflight's answer holds"),
    BOOL(CORS, "credentials", "false", CONFIG(plugins.cors.credentials), RELOAD,
         "cookies and the like may be sent"),

#define RATE_ROWS(section, place)                                              \
    NUMBER(section, "rate", COUNT, "10", 1, 1000000, NULL, "", place(rate),    \
           "requests per period"),                                             \
        NUMBER(section, "period", DURATION, "1s", 1, 3600000, NULL, "ms",      \
               place(period_ms), "time for so many requests"),                 \
        NUMBER(section, "burst", COUNT, "20", 1, 1000000, NULL, "",            \
               place(burst), "requests at once after a rest"),                 \
        NUMBER(section, "entries", COUNT, "4096", 4, 1048576, NULL, "",        \
               place(entries), "addresses that are told apart")
#define TOP_RATE(field) CONFIG(plugins.rate_limit.field)
#define ROUTE_RATE(field) ROUTE(plugins.rate_limit.field)
    RATE_ROWS(RATE_LIMIT, TOP_RATE),

    TEXT(LISTEN, "address", ADDRESS, NULL, LISTEN(address), RELOAD,
         "127.0.0.1:80, [::1]:80, :80 (all of IPv4) or unix:/path; has to be "
         "given"),
    TEXT(LISTEN, "mode", MODE, NULL, LISTEN(mode), RELOAD,
         "permissions of a unix socket; by default as umask has it, for an "
         "admin listener 0660"),
    TEXT(LISTEN, "owner", UID, NULL, LISTEN(uid), RELOAD,
         "owner of a unix socket"),
    TEXT(LISTEN, "group", GID, NULL, LISTEN(gid), RELOAD,
         "group of a unix socket"),
    NUMBER(LISTEN, "backlog", COUNT, "0", 0, 65535, NULL, "", LISTEN(backlog),
           "accept queue; 0: as tuning.backlog has it"),
    BOOL(LISTEN, "admin", "false", LISTEN(admin), RELOAD,
         "serves the administration in place of the routes; unix sockets only; "
         "keeps 1M of memory_budget; the first one needs a restart"),

    TEXT(ROUTE, "respond", STRING, NULL, NOWHERE, RELOAD,
         "answer with this text"),
    TEXT(ROUTE, "file", PATH, NULL, NOWHERE, RELOAD, "answer with this file"),
    TEXT(ROUTE, "docroot", PATH, NULL, NOWHERE, RELOAD,
         "serve the files of this folder below the pattern"),
    TEXT(ROUTE, "redirect", STRING, NULL, NOWHERE, RELOAD,
         "send clients to this place"),
    WORDS(ROUTE, "builtin", WORD, NULL, "echo|status|live|ready", NOWHERE,
          "what is answered otherwise by /echo, /status, /livez and /readyz"),
    NUMBER(ROUTE, "status", COUNT, NULL, 200, 599, NULL, "", ROUTE(status),
           "status code; 200 by default, 302 of a redirect"),
    TEXT(ROUTE, "type", MEDIA, NULL, ROUTE(type), RELOAD,
         "media type; text/plain; charset=utf-8 by default, of a file by its "
         "name"),
    TEXT(ROUTE, "index", STRING, "index.html", ROUTE(index), RELOAD,
         "file of a docroot that stands for its folder"),
    BOOL(ROUTE, "low_priority", "false", ROUTE(low_priority), RELOAD,
         "answer 503 while memory is short"),
    TEXT(ROUTE, "cache_control", FIELD, NULL, ROUTE(cache_control), RELOAD,
         "value of Cache-Control"),
    TEXT(ROUTE, "summary", STRING, NULL, ROUTE(summary), RELOAD,
         "one line for listings"),
    NUMBER(ROUTE, "body_size", SIZE, "0", 0, UINT64_C(1) << 40, NULL, "bytes",
           ROUTE(body_max_bytes),
           "content; more: 413; 0: as limits.body_size has it"),
    TEXT(ROUTE, "allow", NETWORKS, NULL, ROUTE(plugins.allow), RELOAD,
         "only clients in these networks are served, others get 403"),
    TEXT(ROUTE, "deny", NETWORKS, NULL, ROUTE(plugins.deny), RELOAD,
         "clients in these networks get 403; wins over allow"),
    TEXT(ROUTE, "headers", FIELDS, NULL, ROUTE(plugins.headers), RELOAD,
         "fields that are added to its replies"),
    RATE_ROWS(ROUTE_RATE_LIMIT, ROUTE_RATE),

    TEXT(MODULE, "base", STRING, NULL, MODULE(base), RELOAD,
         "path below which its routes are"),
    TEXT(MODULE, "argument", STRING, NULL, MODULE(argument), RELOAD,
         "text that it is given"),
};

const struct rd_section_info *rd_section_info(enum rd_section section)
{
    return &sections[section];
}

/* Whether the library has the option of that row. */
static int row_exists(const struct rd_directive *row)
{
    struct restd_option_info info;
    for (unsigned i = 0;
         row->option != NULL && restd_option_info(i, &info) == 0; i++) {
        if (strcmp(info.name, row->option) == 0) {
            return 1;
        }
    }
    return row->option == NULL;
}

const struct rd_directive *rd_directive_next(const struct rd_directive *row)
{
    row = row == NULL ? rows : row + 1;
    while (row < rows + sizeof rows / sizeof rows[0] && !row_exists(row)) {
        row++;
    }
    return row < rows + sizeof rows / sizeof rows[0] ? row : NULL;
}

const struct rd_directive *rd_directive_find(enum rd_section section,
                                             const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].section == section && strcmp(rows[i].name, name) == 0 &&
            row_exists(&rows[i])) {
            return &rows[i];
        }
    }
    return NULL;
}
