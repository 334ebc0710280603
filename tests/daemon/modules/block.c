/* SPDX-License-Identifier: MIT */
/* A module for tests alone: GET BASE/now holds up the loop that serves it until
 * somebody opens the FIFO, which the configuration names, for writing. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <restd/module.h>
#include <restd/request.h>
#include <restd/response.h>

static int block(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    int fd = open(data, O_RDONLY);
    (void)request;
    if (fd >= 0) {
        close(fd);
    }
    return restd_response_printf(response, "released\n");
}

static int add_routes(struct restd_router *router, const char *argument,
                      struct restd_error *error)
{
    char *path = strdup(argument != NULL ? argument : "/nonexistent");
    const struct restd_plugin owner = {
        .size = sizeof owner, .name = "block", .free = free, .data = path};
    if (path == NULL) {
        return RESTD_ENOMEM;
    }
    int rc = restd_router_use(router, &owner, error);
    if (rc == 0) {
        rc = restd_router_add(router, "GET", "/now", block, path, error);
    }
    return rc < 0 ? rc : 0;
}

RESTD_MODULE("block", add_routes)
