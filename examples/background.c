/* SPDX-License-Identifier: MIT */
/* A server in the background of a program that has work of its own:
 *
 *     background [PORT [SECONDS]]
 *
 * counts primes for some seconds (default 6), or until SIGTERM or SIGINT, while
 * GET /progress tells how far it is; then it stops the server and goes on. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <restd/restd.h>

/* Written by main, read by handlers on the loop threads. */
static atomic_uint primes;

static int progress(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    (void)request, (void)data;
    return restd_response_printf(response, "%u primes\n", atomic_load(&primes));
}

static int is_prime(unsigned n)
{
    for (unsigned i = 2; i <= n / i; i++) {
        if (n % i == 0) {
            return 0;
        }
    }
    return n > 1;
}

/* Works for a while, then looks for a signal for 10 ms, until time is up. */
static void work(const sigset_t *signals, time_t seconds)
{
    const struct timespec moment = {0, 10000000};
    struct timespec start, now;
    unsigned n = 0;

    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (unsigned i = 0; i < 1000; i++) {
            atomic_fetch_add(&primes, (unsigned)is_prime(n++));
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < seconds &&
             sigtimedwait(signals, NULL, &moment) < 0);
}

int main(int argc, char **argv)
{
    struct restd_server *server = NULL;
    struct restd_error error;
    char address[64];
    sigset_t signals;

    /* Blocked, signals wait for sigtimedwait(). The library's threads block
     * all of them. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);

    snprintf(address, sizeof(address), "127.0.0.1:%s",
             argc > 1 ? argv[1] : "8080");
    if (restd_server_new(NULL, &server, &error) != 0 ||
        restd_router_add(restd_server_router(server), "GET", "/progress",
                         progress, NULL, &error) < 0 ||
        restd_server_listen(server, address, &error) != 0 ||
        restd_server_start(server, &error) != 0) {
        fprintf(stderr, "%s\n", error.message);
        restd_server_free(server);
        return EXIT_FAILURE;
    }
    printf("listening on http://127.0.0.1:%d\n", restd_server_port(server, 0));
    fflush(stdout);

    work(&signals, argc > 2 ? strtol(argv[2], NULL, 10) : 6);

    restd_server_drain(server); /* what runs may finish */
    restd_server_wait(server);
    restd_server_free(server);
    printf("%u primes\n", atomic_load(&primes));
    return EXIT_SUCCESS;
}
