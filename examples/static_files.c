/* SPDX-License-Identifier: MIT */
/* Serves a folder:
 *
 *     static_files [FOLDER [PORT]]
 *
 * Below /static/ with a lifetime for caches, and at / without. Port 0 (the
 * default) takes a free one. Ends on SIGTERM or SIGINT, when what runs then has
 * been answered. */
#include <restd/restd.h>

#include <signal.h>
#include <stdio.h>

static struct restd_error error;

static int make_files(const char *root, const char *cache_control,
                      struct restd_files **files)
{
    struct restd_files_options options;

    restd_files_options_init(&options);
    options.root = root;
    options.cache_control = cache_control;
    return restd_files_new(&options, files, &error);
}

/* Runs the server until a signal comes. */
static int serve(struct restd_server *server, const char *port)
{
    char address[64];
    sigset_t ends;
    int number;

    /* Threads of the library block all signals; so does main, until it waits
     * for one. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);

    (void)snprintf(address, sizeof(address), "127.0.0.1:%s", port);
    int rc = restd_server_listen(server, address, &error);
    if (rc == 0) {
        rc = restd_server_start(server, &error);
    }
    if (rc == 0) {
        printf("listening on http://127.0.0.1:%d\n",
               restd_server_port(server, 0));
        fflush(stdout);
        sigwait(&ends, &number);
        restd_server_drain(server);
        restd_server_wait(server);
    }
    return rc;
}

int main(int argc, char **argv)
{
    const char *root = argc > 1 ? argv[1] : ".";
    struct restd_files *cached = NULL;
    struct restd_files *plain = NULL;
    struct restd_server *server = NULL;

    int rc = make_files(root, "public, max-age=3600", &cached);
    if (rc >= 0) {
        rc = make_files(root, NULL, &plain);
    }
    if (rc >= 0) {
        rc = restd_server_new(NULL, &server, &error);
    }
    if (rc >= 0) {
        rc = restd_router_add(restd_server_router(server), "GET",
                              "/static/{path...}", restd_files_handler, cached,
                              &error);
    }
    if (rc >= 0) {
        rc = restd_router_add(restd_server_router(server), "GET", "/{path...}",
                              restd_files_handler, plain, &error);
    }
    if (rc >= 0) {
        rc = serve(server, argc > 2 ? argv[2] : "0");
    }
    if (rc < 0) {
        (void)fprintf(stderr, "static_files: %s\n", error.message);
    }
    restd_server_free(server);
    restd_files_free(plain);
    restd_files_free(cached);
    return rc < 0;
}
