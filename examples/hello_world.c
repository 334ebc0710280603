/* SPDX-License-Identifier: MIT */
/* GET /hello, served by ten loop threads. */
#include "example.h"

static int hello(struct restd_request *req, struct restd_response *res, void *d)
{
    (void)req, (void)d;
    return restd_response_printf(res, "Hello, world!\n");
}

int main(int argc, char **argv)
{
    struct restd_options options;
    struct restd_server *server;
    struct restd_error error;

    restd_options_init(&options);
    options.workers = 10;
    if (restd_server_new(&options, &server, &error) != 0 ||
        restd_router_add(restd_server_router(server), "GET", "/hello", hello,
                         NULL, &error) < 0) {
        return example_failed(&error);
    }
    return example_serve(server, argc, argv);
}
