/* SPDX-License-Identifier: MIT */
/* What the examples do alike, so that each shows only what it is about: add a
 * table of routes, listen on the port given as argument, say so, serve until
 * SIGTERM or SIGINT, and let what runs finish. background.c has it written
 * out. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

/* For sigwait() with a strict -std=c11; in front of every #include. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <restd/restd.h>

static inline int example_failed(const struct restd_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return EXIT_FAILURE;
}

/* On the server's log writer thread, which may wait for the terminal. */
static inline void example_print(enum restd_log_level level, int64_t time_ms,
                                 const char *line, void *data)
{
    (void)level, (void)time_ms, (void)data;
    puts(line);
    fflush(stdout);
}

/* Options of a server whose log goes to standard output. */
static inline void example_print_log(struct restd_options *options)
{
    restd_options_init(options);
    options->log = example_print;
    options->log_level = RESTD_LOG_INFO;
}

struct example_route {
    const char *method, *pattern;
    restd_handler_fn *handler;
    void *data;
};

/* Adds `n` routes; 0, or a negative RESTD_E*. */
static inline int example_add(struct restd_server *server,
                              const struct example_route *routes, size_t n,
                              struct restd_error *error)
{
    struct restd_router *router = restd_server_router(server);
    int rc = 0;

    for (size_t i = 0; i < n && rc >= 0; i++) {
        rc = restd_router_add(router, routes[i].method, routes[i].pattern,
                              routes[i].handler, routes[i].data, error);
    }
    return rc < 0 ? rc : 0;
}

/* PROGRAM [PORT]: 8080 without one, 0 takes a free one. Takes the server;
 * returns the exit status of main(). */
static inline int example_serve(struct restd_server *server, int argc,
                                char **argv)
{
    struct restd_error error;
    char address[64];
    sigset_t signals;
    int number;

    /* Blocked, they wait for sigwait(). The library's threads block all. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);

    snprintf(address, sizeof(address), "127.0.0.1:%s",
             argc > 1 ? argv[1] : "8080");
    if (restd_server_listen(server, address, &error) != 0 ||
        restd_server_start(server, &error) != 0) {
        restd_server_free(server);
        return example_failed(&error);
    }
    printf("listening on http://127.0.0.1:%d\n", restd_server_port(server, 0));
    fflush(stdout);
    sigwait(&signals, &number);
    restd_server_drain(server);
    restd_server_wait(server);
    restd_server_free(server);
    return EXIT_SUCCESS;
}

/* A server of default options with `n` routes, as above. */
static inline int example_main(const struct example_route *routes, size_t n,
                               int argc, char **argv)
{
    struct restd_server *server = NULL;
    struct restd_error error;

    if (restd_server_new(NULL, &server, &error) != 0 ||
        example_add(server, routes, n, &error) != 0) {
        restd_server_free(server);
        return example_failed(&error);
    }
    return example_serve(server, argc, argv);
}

#define EXAMPLE_N(array) (sizeof(array) / sizeof((array)[0]))

#endif
