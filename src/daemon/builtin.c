/* SPDX-License-Identifier: MIT */
/* The built-in resources but /status: health, version, echo, and the list of
 * them all at "/". One table names path, method and handler.
 *
 * Handlers keep no state and allocate nothing; what they need stands in struct
 * rd_builtin, which nobody writes after start. They run on every loop at once.
 */
#include "daemon/builtin.h"

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
                              struct restd_response *response, const char *why)
{
    restd_response_add_header(response, "Cache-Control", "no-store");
    return restd_response_problem(response, 503,
                                  builtin->is_public ? NULL : why);
}

static int handle_livez(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    const struct rd_builtin *builtin = data;
    (void)request;
    if (!rd_health_alive(builtin->server)) {
        return answer_unavailable(builtin, response, "a worker is stuck");
    }
    return answer_text(response, "ok\n");
}

static int handle_readyz(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    const struct rd_builtin *builtin = data;
    struct restd_stats stats;
    const char *why = NULL;
    (void)request;
    restd_server_stats(builtin->server, &stats);
    if (!rd_health_ready(&stats, &why)) {
        return answer_unavailable(builtin, response, why);
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

static int handle_echo(struct restd_request *request,
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

static int handle_index(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    static const char text[] =
        "GET  /status   state and figures (?detail=full for all)\n"
        "GET  /livez    200 while every worker turns\n"
        "GET  /readyz   200 while new connections are served (also /healthz)\n"
        "GET  /version  what is running\n"
        "POST /echo     returns what it is sent\n";
    (void)request;
    (void)data;
    return answer_text(response, text);
}

int rd_builtin_routes(const struct rd_builtin *builtin,
                      struct restd_error *error)
{
    /* The library hands `data` back unread, and every handler takes it as
     * const again. */
    void *self = (void *)(uintptr_t)builtin;
    const struct {
        const char *method, *path;
        restd_handler_fn *handler;
        void *data;
    } routes[] = {
        {"GET", "/", handle_index, self},
        {"GET", "/status", rd_status_handle, builtin->status},
        {"GET", "/livez", handle_livez, self},
        {"GET", "/readyz", handle_readyz, self},
        {"GET", "/healthz", handle_readyz, self},
        {"GET", "/version", handle_version, self},
        {"POST", "/echo", handle_echo, self},
    };
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        int rc = restd_router_add(restd_server_router(builtin->server),
                                  routes[i].method, routes[i].path,
                                  routes[i].handler, routes[i].data, error);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}
