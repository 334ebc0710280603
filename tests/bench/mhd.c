/* SPDX-License-Identifier: MIT */
/* The libmicrohttpd peer of the benchmark: one thread, its epoll loop, one
 * prepared response. Prints its port, serves until SIGTERM or SIGINT. Routing
 * is left out, so it has less to do than the daemon that it is compared with.
 * For tests/bench/bench.py, never a server to use. */
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <microhttpd.h>

enum { BODY_MAX_BYTES = 512, CONNECTIONS_MAX = 16384, IDLE_S = 75 };

static enum MHD_Result answer(void *data, struct MHD_Connection *connection,
                              const char *url, const char *method,
                              const char *version, const char *upload,
                              size_t *upload_bytes, void **state)
{
    static int seen;

    (void)url;
    (void)method;
    (void)version;
    (void)upload;
    (void)upload_bytes;
    /* The first call has the head only; a reply is due at the second. */
    if (*state == NULL) {
        *state = &seen;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK,
                              (struct MHD_Response *)data);
}

static struct MHD_Response *make_response(const char *body_path)
{
    static char body[BODY_MAX_BYTES];
    FILE *file = fopen(body_path, "r");
    struct MHD_Response *response;
    size_t body_bytes;

    if (file == NULL) {
        perror(body_path);
        return NULL;
    }
    body_bytes = fread(body, 1, sizeof body, file);
    fclose(file);
    response = MHD_create_response_from_buffer(body_bytes, body,
                                               MHD_RESPMEM_PERSISTENT);
    if (response != NULL) {
        (void)MHD_add_response_header(response, "Content-Type",
                                      "application/json");
    }
    return response;
}

static struct MHD_Daemon *start(unsigned port, struct MHD_Response *response)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };

    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, response,
        MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_LISTEN_BACKLOG_SIZE,
        (unsigned)SOMAXCONN, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_S, MHD_OPTION_END);
}

static int run(unsigned port, struct MHD_Response *response)
{
    const union MHD_DaemonInfo *info;
    struct MHD_Daemon *daemon;
    sigset_t signals;
    int signal_number;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    daemon = start(port, response);
    if (daemon == NULL) {
        return EXIT_FAILURE;
    }
    info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    printf("%u\n", info == NULL ? 0 : (unsigned)info->port);
    fflush(stdout);
    sigwait(&signals, &signal_number);
    MHD_stop_daemon(daemon);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *body_path = NULL;
    struct MHD_Response *response;
    struct rlimit limit;
    unsigned long port = 0;
    int option, status;

    while ((option = getopt(argc, argv, "p:b:")) != -1) {
        if (option == 'p') {
            port = strtoul(optarg, NULL, 10);
        } else if (option == 'b') {
            body_path = optarg;
        }
    }
    if (body_path == NULL || port > 65535) {
        fprintf(stderr, "usage: mhd -b BODY [-p PORT]\n");
        return 64;
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
    response = make_response(body_path);
    if (response == NULL) {
        return EXIT_FAILURE;
    }
    status = run((unsigned)port, response);
    MHD_destroy_response(response);
    return status;
}
