/* SPDX-License-Identifier: MIT */
/* The handler kinds of the library side by side, each with the same empty
 * handler: `kinds -b BODY -k KIND -p PORT` serves GET /status with the bytes of
 * a file until SIGTERM or SIGINT, and GET /wait by a handler that sleeps on a
 * thread of its own. For tests/bench/bench.py. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <restd/restd.h>

enum { BODY_MAX_BYTES = 512, WAIT_MS = 100, WAIT_THREADS = 64 };

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

static int wait_and_answer(struct restd_request *request,
                           struct restd_response *response, void *data)
{
    const struct timespec pause = {0, WAIT_MS * 1000000L};

    nanosleep(&pause, NULL);
    return answer(request, response, data);
}

static int add(struct restd_router *router, const char *path,
               restd_handler_fn *handler, int offload,
               struct restd_error *error)
{
    struct restd_route_options options;
    int route = restd_router_add(router, "GET", path, handler, NULL, error);

    restd_route_options_init(&options);
    options.offload = (uint8_t)offload;
    return route < 0 ? route
                     : restd_router_configure(router, route, &options, error);
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
    options.offload_threads = WAIT_THREADS;
    if (restd_server_new(&options, &server, &error) != 0) {
        return fail(error.message);
    }
    struct restd_router *router = restd_server_router(server);
    snprintf(address, sizeof(address), "127.0.0.1:%s", port);
    if (add(router, "/status", answer, strcmp(kind, "offload") == 0, &error) !=
            0 ||
        add(router, "/wait", wait_and_answer, 1, &error) != 0 ||
        restd_server_listen(server, address, &error) != 0 ||
        restd_server_start(server, &error) != 0) {
        return fail(error.message);
    }
    sigwait(&signals, &received);
    restd_server_free(server);
    return 0;
}
