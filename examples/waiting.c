/* SPDX-License-Identifier: MIT */
/* A handler that has to wait, on a thread of its own:
 *
 *     waiting [PORT]
 *
 * GET /quote/{item} asks a supplier, who takes 200 ms, for a price. GET /asking
 * tells at once how many are being asked, however many they are. */
#include "example.h"

#include <stdatomic.h>
#include <time.h>

enum { STEPS = 20, STEP_MS = 10 };

/* Written by handlers on their threads, read by one on a loop. */
static atomic_int asking;

/* The supplier: stands for a database, a file, another service. In steps, as
 * whoever is about to go on for nobody had better know. -1: nobody waits. */
static int ask_supplier(const struct restd_request *request,
                        struct restd_slice item)
{
    const struct timespec step = {0, STEP_MS * 1000000L};
    int price = 0;

    for (int i = 0; i < STEPS; i++) {
        if (restd_request_cancelled(request)) {
            return -1;
        }
        nanosleep(&step, NULL);
    }
    for (size_t i = 0; i < item.len; i++) {
        price = (price * 31 + item.data[i]) % 1000;
    }
    return price;
}

static int quote(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    struct restd_slice item = restd_request_param(request, "item");

    (void)data;
    atomic_fetch_add(&asking, 1);
    int price = ask_supplier(request, item);
    atomic_fetch_sub(&asking, 1);
    return restd_response_printf(response, "%.*s costs %d\n", (int)item.len,
                                 item.data, price);
}

static int count(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    (void)request, (void)data;
    return restd_response_printf(response, "%d\n", atomic_load(&asking));
}

int main(int argc, char **argv)
{
    struct restd_server *server = NULL;
    struct restd_route_options options;
    struct restd_error error;

    if (restd_server_new(NULL, &server, &error) != 0) {
        return example_failed(&error);
    }
    struct restd_router *router = restd_server_router(server);
    int route =
        restd_router_add(router, "GET", "/quote/{item}", quote, NULL, &error);
    restd_route_options_init(&options);
    options.offload = 1;
    if (route < 0 ||
        restd_router_configure(router, route, &options, &error) != 0 ||
        restd_router_add(router, "GET", "/asking", count, NULL, &error) < 0) {
        restd_server_free(server);
        return example_failed(&error);
    }
    return example_serve(server, argc, argv);
}
