/* SPDX-License-Identifier: MIT */
/* A service that lists its own routes with their summaries, as text, YAML or
 * JSON: GET /endpoints, /endpoints.yaml, /endpoints.json. */
#include "example.h"

static int hello(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    (void)request, (void)data;
    return restd_response_printf(response, "Hello, world!\n");
}

/* In the following, `data` is the router, which no longer changes. */
static int text(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_route_info route;
    int rc = 0;

    (void)request;
    for (unsigned i = 0; rc == 0 && restd_router_route_at(data, i, &route) == 0;
         i++) {
        rc = restd_response_printf(response, "%-6s %-20s %s\n", route.method,
                                   route.pattern, route.summary);
    }
    return rc;
}

/* Braces mean something in YAML; a JSON string is a quoted one there, too. */
static int yaml(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_route_info route;
    int rc = restd_response_printf(response, "---\n");

    (void)request;
    restd_response_set_type(response, "application/yaml");
    for (unsigned i = 0; rc == 0 && restd_router_route_at(data, i, &route) == 0;
         i++) {
        char quoted[512];
        struct restd_json json;
        restd_json_init(&json, quoted, sizeof(quoted));
        restd_json_string(&json, route.pattern, strlen(route.pattern));
        int len = (int)restd_json_finish(&json);
        rc = len < 0 ? RESTD_ELIMIT
                     : restd_response_printf(
                           response,
                           "- endpoint: %.*s\n  method: %s\n  summary: %s\n",
                           len, quoted, route.method, route.summary);
    }
    return rc;
}

static void member(struct restd_json *json, const char *key, const char *value)
{
    restd_json_key(json, key);
    restd_json_string(json, value, strlen(value));
}

static int json(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_route_info route;
    struct restd_json writer;
    char buffer[8192];

    (void)request;
    restd_json_init(&writer, buffer, sizeof(buffer));
    restd_json_array_begin(&writer);
    for (unsigned i = 0; restd_router_route_at(data, i, &route) == 0; i++) {
        restd_json_object_begin(&writer);
        member(&writer, "endpoint", route.pattern);
        member(&writer, "method", route.method);
        member(&writer, "summary", route.summary);
        restd_json_object_end(&writer);
    }
    restd_json_array_end(&writer);
    long len = restd_json_finish(&writer);
    restd_response_set_type(response, "application/json");
    return len < 0 ? RESTD_ELIMIT
                   : restd_response_body(response, buffer, (size_t)len);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *pattern, *summary;
        restd_handler_fn *handler;
    } routes[] = {
        {"/hello", "greets the world", hello},
        {"/hello/{name}", "greets a person", hello},
        {"/endpoints", "this list as text", text},
        {"/endpoints.yaml", "the same as YAML", yaml},
        {"/endpoints.json", "the same as JSON", json},
    };
    struct restd_route_options options;
    struct restd_server *server;
    struct restd_error error;

    if (restd_server_new(NULL, &server, &error) != 0) {
        return example_failed(&error);
    }
    struct restd_router *router = restd_server_router(server);
    for (size_t i = 0; i < EXAMPLE_N(routes); i++) {
        int route = restd_router_add(router, "GET", routes[i].pattern,
                                     routes[i].handler, router, &error);
        restd_route_options_init(&options);
        options.summary = routes[i].summary;
        if (route < 0 ||
            restd_router_configure(router, route, &options, &error) != 0) {
            return example_failed(&error);
        }
    }
    return example_serve(server, argc, argv);
}
