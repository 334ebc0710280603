/* SPDX-License-Identifier: MIT */
/* The built-in resources but /status: health, version, echo, and the list of
 * them all at "/". One table names path, method, handler and its line in that
 * list.
 *
 * Handlers keep no state and allocate nothing; what they need stands in struct
 * rd_builtin, which nobody writes once its router serves. They run on every
 * loop at once.
 */
#include "daemon/builtin.h"

#include <stddef.h>
#include <string.h>

#include <restd/restd.h>

#include "daemon/health.h"
#include "daemon/json_put.h"
#include "daemon/version.h"

static int answer_text(struct restd_response *response, const char *text)
{
    restd_response_set_type(response, "text/plain");
    restd_response_add_header(response, "Cache-Control", "no-store");
    restd_response_add_header(response, "X-Content-Type-Options", "nosniff");
    restd_response_body_borrowed(response, text, strlen(text));
    return 0;
}

static int answer_unavailable(const struct rd_builtin *builtin,
                              const struct restd_request *request,
                              struct restd_response *response, const char *why)
{
    int is_told = rd_status_view_is_private(builtin->view, request);
    restd_response_add_header(response, "Cache-Control", "no-store");
    return restd_response_problem(response, 503, is_told ? why : NULL);
}

int rd_builtin_livez(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    const struct rd_builtin *builtin = data;
    if (!rd_health_alive(builtin->server)) {
        return answer_unavailable(builtin, request, response,
                                  "a worker is stuck");
    }
    return answer_text(response, "ok\n");
}

int rd_builtin_readyz(struct restd_request *request,
                      struct restd_response *response, void *data)
{
    const struct rd_builtin *builtin = data;
    struct restd_stats stats;
    const char *why = NULL;
    restd_server_stats(builtin->server, &stats);
    if (!rd_health_ready(&stats, &why)) {
        return answer_unavailable(builtin, request, response, why);
    }
    return answer_text(response, "ok\n");
}

static int handle_version(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    char buf[1024];
    struct restd_json json;
    const char *feature;
    (void)request;
    (void)data;
    restd_json_init(&json, buf, sizeof buf - 1);
    restd_json_object_begin(&json);
    put_text(&json, "name", "restdaemon");
    put_text(&json, "version", restd_version());
    put_text(&json, "revision", rd_version_revision());
    put_text(&json, "built", rd_version_built());
    put_text(&json, "compiler", rd_version_compiler());
    restd_json_key(&json, "features");
    restd_json_array_begin(&json);
    for (unsigned i = 0; (feature = rd_version_feature(i)) != NULL; i++) {
        restd_json_string(&json, feature, strlen(feature));
    }
    restd_json_array_end(&json);
    restd_json_object_end(&json);
    long len = restd_json_finish(&json);
    if (len < 0) {
        return (int)len;
    }
    buf[len] = '\n';
    restd_response_set_type(response, "application/json");
    restd_response_add_header(response, "X-Content-Type-Options", "nosniff");
    return restd_response_body(response, buf, (size_t)len + 1);
}

int rd_builtin_echo(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    char type[256];
    struct restd_slice given = restd_request_header(request, "Content-Type");
    struct restd_slice body = restd_request_body(request);
    int rc = RESTD_EINVAL;
    (void)data;
    if (given.data != NULL && given.len < sizeof type) {
        memcpy(type, given.data, given.len);
        type[given.len] = '\0';
        rc = restd_response_set_type(response, type);
    }
    if (rc < 0) { /* none, or one that the library does not take */
        restd_response_set_type(response, "application/octet-stream");
    }
    restd_response_add_header(response, "X-Content-Type-Options", "nosniff");
    restd_response_body_borrowed(response, body.data, body.len);
    return 0;
}

static int handle_ok(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    return answer_text(response, "");
}

/* --- the table ----------------------------------------------------------- */

static restd_handler_fn handle_index;

/* Part of struct rd_config_builtins that a route belongs to. */
#define PART(name) offsetof(struct rd_config_builtins, name)

static const struct {
    size_t part;
    const char *method, *path;
    restd_handler_fn *handler;
    const char *about;
} routes[] = {
    {PART(index), "GET", "/", handle_index, NULL},
    {PART(status), "GET", "/status", rd_status_handle,
     "state and figures (?detail=full for all)"},
    {PART(health), "GET", "/livez", rd_builtin_livez,
     "200 while every worker turns"},
    {PART(health), "GET", "/readyz", rd_builtin_readyz,
     "200 while new connections are served (also /healthz)"},
    {PART(health), "GET", "/healthz", rd_builtin_readyz, NULL},
    {PART(version), "GET", "/version", handle_version, "what is running"},
    {PART(echo), "POST", "/echo", rd_builtin_echo, "returns what it is sent"},
    {PART(echo), "GET", "/ok", handle_ok, "200 without content"},
};

enum { ROUTES_N = sizeof routes / sizeof routes[0] };

static int handle_index(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    const struct rd_builtin *builtin = data;
    int rc = answer_text(response, "");
    (void)request;
    for (unsigned i = 0; i < ROUTES_N && rc >= 0; i++) {
        if ((builtin->added >> i & 1) && routes[i].about != NULL) {
            rc = restd_response_printf(response, "%-4s %-9s %s\n",
                                       routes[i].method, routes[i].path,
                                       routes[i].about);
        }
    }
    return rc < 0 ? rc : 0;
}

/* A folder that is served at "/" has a page of its own there, though its route
 * is a less specific one. */
static int is_routed(struct restd_router *router, const char *method,
                     const char *path)
{
    return strcmp(path, "/") == 0 &&
           restd_router_supports(router, method, path);
}

int rd_builtin_routes(struct restd_router *router, struct rd_builtin *builtin,
                      const struct rd_config_builtins *which,
                      struct restd_error *error)
{
    for (unsigned i = 0; i < ROUTES_N; i++) {
        void *data = builtin;
        if (*((const uint8_t *)which + routes[i].part) == 0 ||
            is_routed(router, routes[i].method, routes[i].path)) {
            continue;
        }
        if (routes[i].handler == rd_status_handle) {
            data = builtin->view;
        }
        int rc = restd_router_add(router, routes[i].method, routes[i].path,
                                  routes[i].handler, data, error);
        if (rc >= 0) {
            builtin->added |= 1u << i;
        } else if (rc != RESTD_EEXIST) {
            return rc;
        }
    }
    return 0;
}
