/* SPDX-License-Identifier: MIT */
/* A service that lists its own routes with their summaries: GET /endpoints as
 * text, /endpoints.yaml, /endpoints.json, and /openapi.json for tools. */
#include "example.h"

static int hello(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    (void)request, (void)data;
    return restd_response_printf(response, "Hello, world!\n");
}

/* Adds a route with its summary; 0, or a negative RESTD_E*. */
static int add(struct restd_router *router, const char *pattern,
               const char *summary, restd_handler_fn *handler, void *data,
               struct restd_error *error)
{
    struct restd_route_options options;
    int route = restd_router_add(router, "GET", pattern, handler, data, error);

    if (route < 0) {
        return route;
    }
    restd_route_options_init(&options);
    options.summary = summary;
    return restd_router_configure(router, route, &options, error);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *pattern, *summary;
        enum restd_listing_format format;
    } lists[] = {
        {"/endpoints", "this list as text", RESTD_LISTING_TEXT},
        {"/endpoints.yaml", "the same as YAML", RESTD_LISTING_YAML},
        {"/endpoints.json", "the same as JSON", RESTD_LISTING_JSON},
        {"/openapi.json", "an OpenAPI document", RESTD_LISTING_OPENAPI},
    };
    static struct restd_listing listings[EXAMPLE_N(lists)];
    struct restd_server *server;
    struct restd_error error;

    if (restd_server_new(NULL, &server, &error) != 0) {
        return example_failed(&error);
    }
    struct restd_router *router = restd_server_router(server);
    if (add(router, "/hello", "greets the world", hello, NULL, &error) != 0 ||
        add(router, "/hello/{name}", "greets a person", hello, NULL, &error) !=
            0) {
        return example_failed(&error);
    }
    for (size_t i = 0; i < EXAMPLE_N(lists); i++) {
        restd_listing_init(&listings[i]);
        listings[i].router = router;
        listings[i].format = lists[i].format;
        listings[i].title = "Greetings";
        listings[i].version = "1.0";
        if (add(router, lists[i].pattern, lists[i].summary,
                restd_listing_handler, &listings[i], &error) != 0) {
            return example_failed(&error);
        }
    }
    return example_serve(server, argc, argv);
}
