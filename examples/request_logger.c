/* SPDX-License-Identifier: MIT */
/* Two plugins: one of our own that prints method and target of each request
 * before it is routed, and the access log that comes with the library, which
 * has a line when it has ended. Both write to the server's log, so that no
 * handler waits for the terminal: that is printed by a thread of its own. */
#include "example.h"

static int before(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    struct restd_slice method = restd_request_method_name(request);
    struct restd_slice target = restd_request_target(request);

    (void)response;
    restd_server_log(data, RESTD_LOG_INFO, "before: %.*s %.*s", (int)method.len,
                     method.data, (int)target.len, target.data);
    return 0; /* go on; RESTD_ANSWERED would end it here */
}

static int any(struct restd_request *request, struct restd_response *response,
               void *data)
{
    (void)request, (void)data;
    return restd_response_printf(response, "logged\n");
}

int main(int argc, char **argv)
{
    static const struct example_route routes[] = {
        {"GET", "/{path...}", any, NULL},
    };
    struct restd_plugin logger = {
        .size = sizeof(logger), .name = "request logger", .before = before};
    struct restd_plugin access_log;
    struct restd_options options;
    struct restd_server *server;
    struct restd_error error;

    example_print_log(&options);
    if (restd_server_new(&options, &server, &error) != 0 ||
        restd_access_log(NULL, &access_log, &error) != 0) {
        return example_failed(&error);
    }
    struct restd_router *router = restd_server_router(server);
    logger.data = server;
    if (restd_router_use(router, &logger, &error) != 0 ||
        restd_router_use(router, &access_log, &error) != 0 ||
        example_add(server, routes, EXAMPLE_N(routes), &error) != 0) {
        return example_failed(&error);
    }
    return example_serve(server, argc, argv);
}
