/* SPDX-License-Identifier: MIT */
/* The handler kinds of the library side by side, each with the same empty
 * handler: `kinds -b BODY -k KIND -p PORT` serves GET /status with the bytes of
 * a file until SIGTERM or SIGINT. For tests/bench/bench.py. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <restd/restd.h>

enum { BODY_MAX_BYTES = 512 };

static char body[BODY_MAX_BYTES];
static size_t body_len;

static int answer(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    (void)restd_response_set_type(response, "application/json");
    restd_response_body_borrowed(response, body, body_len);
    return 0;
}

static int fail(const char *what)
{
    fprintf(stderr, "kinds: %s\n", what);
    return EXIT_FAILURE;
}

static int read_body(const char *path)
{
    FILE *file = path ? fopen(path, "rb") : NULL;

    if (file) {
        body_len = fread(body, 1, sizeof(body), file);
        fclose(file);
    }
    return body_len > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    const char *path = NULL, *kind = "inline", *port = "0";
    struct restd_options options;
    struct restd_route_options route_options;
    struct restd_server *server;
    struct restd_error error;
    char address[64];
    sigset_t signals;
    int option, received;

    while ((option = getopt(argc, argv, "b:k:p:")) != -1) {
        switch (option) {
        case 'b':
            path = optarg;
            break;
        case 'k':
            kind = optarg;
            break;
        case 'p':
            port = optarg;
            break;
        default:
            return fail("usage: kinds -b BODY [-k inline|offload] [-p PORT]");
        }
    }
    if (read_body(path) != 0) {
        return fail("no body");
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    restd_options_init(&options);
    options.workers = 1;
    if (restd_server_new(&options, &server, &error) != 0) {
        return fail(error.message);
    }
    struct restd_router *router = restd_server_router(server);
    int route =
        restd_router_add(router, "GET", "/status", answer, NULL, &error);
    restd_route_options_init(&route_options);
    route_options.offload = strcmp(kind, "offload") == 0;
    snprintf(address, sizeof(address), "127.0.0.1:%s", port);
    if (route < 0 ||
        restd_router_configure(router, route, &route_options, &error) != 0 ||
        restd_server_listen(server, address, &error) != 0 ||
        restd_server_start(server, &error) != 0) {
        return fail(error.message);
    }
    sigwait(&signals, &received);
    restd_server_free(server);
    return 0;
}
