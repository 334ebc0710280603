/* SPDX-License-Identifier: MIT */
/* The admin listener's routes. What they say of routes is read from the router
 * that serves now: the library gives an old one back on the control thread
 * alone, which is where these handlers run.
 * A reload is main's work: the handler sends the signal for it.
 * Threads: see admin.h. */
#include "daemon/admin.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <restd/restd.h>

#include "daemon/fault.h"
#include "daemon/health.h"
#include "daemon/log_line.h"

enum { EXPLAIN_BYTES = 16384, TEXT_MAX = 1024 };

static int answer(struct restd_response *response, int status, const char *text)
{
    restd_response_set_status(response, status);
    restd_response_set_type(response, "text/plain");
    restd_response_add_header(response, "Cache-Control", "no-store");
    return restd_response_body(response, text, strlen(text));
}

/* Who has asked, for the log. */
static void log_command(struct rd_admin *admin, struct restd_request *request,
                        const char *what)
{
    char peer[160] = "";
    int64_t pid;
    uint32_t uid, gid;
    if (restd_request_peer_credentials(request, &pid, &uid, &gid) == 0) {
        snprintf(peer, sizeof peer, "uid %u, pid %lld", uid, (long long)pid);
    } else if (restd_request_peer(request, peer, sizeof peer) < 0) {
        peer[0] = '\0';
    }
    restd_server_log(admin->main, RESTD_LOG_NOTICE, "admin: %s (%s)", what,
                     peer);
}

/* --- commands ------------------------------------------------------------ */

static int handle_drain(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    log_command(data, request, "drain");
    rd_health_set_draining(1);
    return answer(response, 200, "draining: /readyz says 503\n");
}

static int handle_undrain(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    log_command(data, request, "undrain");
    rd_health_set_draining(0);
    return answer(response, 200, "ready\n");
}

static int handle_reload(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    log_command(data, request, "reload");
    if (kill(getpid(), SIGHUP) != 0) {
        return RESTD_EOS;
    }
    return answer(response, 202,
                  "reloading: see daemon.config in /status?detail=full\n");
}

static int handle_log_level(struct restd_request *request,
                            struct restd_response *response, void *data)
{
    struct rd_admin *admin = data;
    struct restd_slice wanted = restd_request_query_get(request, "level");
    for (int i = RESTD_LOG_ERROR; i <= RESTD_LOG_DEBUG; i++) {
        enum restd_log_level level = (enum restd_log_level)i;
        char what[32], text[34];
        if (restd_slice_is(wanted, rd_log_level_name(level))) {
            snprintf(what, sizeof what, "log level %s",
                     rd_log_level_name(level));
            snprintf(text, sizeof text, "%s\n", what);
            log_command(admin, request, what);
            restd_server_set_log_level(admin->main, level);
            return answer(response, 200, text);
        }
    }
    return restd_response_problem(
        response, 400, "level has to be error, warning, notice, info or debug");
}

/* --- routes -------------------------------------------------------------- */

static int handle_explain(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    struct rd_admin *admin = data;
    char buf[EXPLAIN_BYTES], method[40], path[TEXT_MAX];
    struct restd_json json;
    struct restd_slice m = restd_request_query_get(request, "method");
    snprintf(method, sizeof method, "%.*s", m.data != NULL ? (int)m.len : 3,
             m.data != NULL ? m.data : "GET");
    /* Behind the method, as decoded values share one place. */
    struct restd_slice p = restd_request_query_get(request, "path");
    if (p.data == NULL || p.len >= sizeof path || m.len >= sizeof method) {
        return restd_response_problem(
            response, 400, "needs ?path=/..., and may have &method=");
    }
    snprintf(path, sizeof path, "%.*s", (int)p.len, p.data);
    restd_json_init(&json, buf, sizeof buf);
    if (restd_router_explain(restd_server_router(admin->main), method, path,
                             &json) != 0) {
        return restd_response_problem(response, 400,
                                      "path has to begin with '/'");
    }
    restd_response_add_header(response, "Cache-Control", "no-store");
    return restd_response_json(response, &json);
}

struct lint {
    struct restd_response *response;
    int rc;
};

static void on_finding(enum restd_lint_kind kind, const char *pattern,
                       const char *message, void *data)
{
    struct lint *lint = data;
    (void)kind;
    if (lint->rc == 0) {
        lint->rc =
            restd_response_printf(lint->response, "%s: %s\n", pattern, message);
    }
}

static int handle_lint(struct restd_request *request,
                       struct restd_response *response, void *data)
{
    struct rd_admin *admin = data;
    struct lint lint = {response, 0};
    (void)request;
    restd_response_set_type(response, "text/plain");
    restd_response_add_header(response, "Cache-Control", "no-store");
    int n =
        restd_router_lint(restd_server_router(admin->main), on_finding, &lint);
    if (n == 0) {
        return restd_response_printf(response, "no findings\n");
    }
    return n < 0 ? n : lint.rc;
}

static int handle_routes(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    struct rd_admin *admin = data;
    struct restd_route_info info;
    const struct restd_router *router = restd_server_router(admin->main);
    int rc = 0;
    (void)request;
    restd_response_set_type(response, "text/plain");
    restd_response_add_header(response, "Cache-Control", "no-store");
    for (unsigned i = 0;
         rc == 0 && restd_router_route_at(router, i, &info) == 0; i++) {
        rc = restd_response_printf(response, "%-8s %s%s%s\n", info.method,
                                   info.pattern,
                                   info.summary != NULL ? "  " : "",
                                   info.summary != NULL ? info.summary : "");
    }
    return rc;
}

/* --- life ---------------------------------------------------------------- */

static int add_routes(struct rd_admin *admin, struct restd_error *error)
{
    static const struct rd_config_builtins builtins = {
        .status = 1, .health = 1, .version = 1};
    static const struct {
        const char *method, *path;
        restd_handler_fn *handler;
    } routes[] = {
        {"POST", "/admin/drain", handle_drain},
        {"POST", "/admin/undrain", handle_undrain},
        {"POST", "/admin/reload", handle_reload},
        {"POST", "/admin/log-level", handle_log_level},
        {"GET", "/admin/explain", handle_explain},
        {"GET", "/admin/lint", handle_lint},
        {"GET", "/admin/routes", handle_routes},
    };
    struct restd_router *router = restd_server_router(admin->server);
    int rc = rd_builtin_routes(router, &admin->builtin, &builtins, error);
    for (size_t i = 0; rc >= 0 && i < sizeof routes / sizeof routes[0]; i++) {
        rc = restd_router_add(router, routes[i].method, routes[i].path,
                              routes[i].handler, admin, error);
    }
    return rc < 0 ? rc : 0;
}

int rd_admin_new(struct rd_admin *admin, struct restd_server *main,
                 const struct restd_options *options, struct rd_status *status,
                 struct restd_error *error)
{
    const struct rd_status_view_options view = {
        .places = 1, .full = 0, .host = 1};
    struct restd_options own;
    restd_options_init(&own);
    own.workers = 1;
    own.memory_budget_bytes = RD_ADMIN_MEMORY_BYTES;
    own.connections_max = RD_ADMIN_CONNECTIONS;
    own.log_level = options->log_level;
    own.log = options->log;
    own.log_data = options->log_data;
    own.log_flush = options->log_flush;
    admin->main = main;
    int rc = restd_server_new_on(restd_server_control(main), &own,
                                 &admin->server, error);
    if (rc == 0) {
        rc = rd_status_view_new(status, &view, &admin->view, error);
    }
    if (rc == 0) {
        admin->builtin.server = main;
        admin->builtin.view = admin->view;
        rc = add_routes(admin, error);
    }
    return rc;
}

void rd_admin_fini(struct rd_admin *admin)
{
    restd_server_free(admin->server);
    rd_status_view_free(admin->view);
    admin->server = NULL;
    admin->view = NULL;
}
