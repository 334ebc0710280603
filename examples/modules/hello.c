/* SPDX-License-Identifier: MIT */
/* A module for restdaemon: GET BASE/{name} greets, with a word from the
 * configuration.
 *
 *     cc -shared -fPIC -o hello.so hello.c $(pkg-config --cflags librestd)
 *
 *     module "/usr/lib/restdaemon/hello.so" { base = "/hello"
 *                                             argument = "Good day" }
 *
 * Nothing of the library is linked: the daemon that loads a module has it. */
#include <stdlib.h>
#include <string.h>

#include <restd/module.h>
#include <restd/request.h>
#include <restd/response.h>

static int greet(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    const char *word = data;
    struct restd_slice name = restd_request_param(request, "name");

    return restd_response_printf(response, "%s, %.*s!\n", word, (int)name.len,
                                 name.data);
}

/* The routes may outlive the call, and a reload calls again: what they use is
 * their own, and goes with the plugin that owns it. */
static int add_routes(struct restd_router *router, const char *argument,
                      struct restd_error *error)
{
    char *word = strdup(argument ? argument : "Hello");
    const struct restd_plugin owner = {
        .size = sizeof(owner), .name = "hello", .free = free, .data = word};

    if (!word) {
        return RESTD_ENOMEM;
    }
    int rc = restd_router_use(router, &owner, error);
    if (rc == 0) {
        rc = restd_router_add(router, "GET", "/{name}", greet, word, error);
    }
    return rc < 0 ? rc : 0;
}

RESTD_MODULE("hello", add_routes)
