/* SPDX-License-Identifier: MIT */
/* Tells the log, before anything runs, of routes that cannot be meant as they
 * are. It is advice: a server starts with them, and without the memory to look
 * for them. Thread: that of restd_server_start(). */
#include "base/log.h"
#include "server/server.h"

/* The log's ring has room for that many. */
#define LINES_MAX 20u

struct lint {
    struct rd_log *log;
    unsigned n;
};

static void warn(enum restd_lint_kind kind, const char *pattern,
                 const char *message, void *data)
{
    struct lint *lint = data;

    (void)kind;
    if (lint->n++ < LINES_MAX) {
        rd_log(lint->log, RESTD_LOG_WARNING, "route %s: %s", pattern, message);
    }
}

void rd_server_lint(struct restd_server *server)
{
    struct lint lint = {server->log, 0};

    (void)!restd_router_lint(server->router, warn, &lint);
    if (lint.n > LINES_MAX) {
        rd_log(server->log, RESTD_LOG_WARNING, "and %u more of such routes",
               lint.n - LINES_MAX);
    }
}
