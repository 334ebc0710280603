/* SPDX-License-Identifier: MIT */
/* The floor: what the kernel alone asks for. One thread, raw epoll, no parser,
 * no deadlines, no limits, no accounting. Each read is answered in one write
 * with as many canned replies as it has ends of a request head ("\r\n\r\n"),
 * which is the least that a pipelining client needs. A head cut by two reads
 * is not seen: the load generators write whole requests.
 *
 * keep   connections stay open, edge-triggered
 * close  one request per connection: accept, epoll_ctl, read, write, close
 * defer  as close, but the listener has TCP_DEFER_ACCEPT and the request is
 *        read straight after accept, without epoll
 *
 * This is a yardstick for tests/bench/bench.py, never a server to use. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    EVENTS_MAX = 512,
    REPLIES_MAX = 256, /* answered per read, so requests have 64 bytes or so */
    REPLY_MAX_BYTES = 1024,
    INPUT_MAX_BYTES = 16 * 1024,
    DEFER_S = 1
};

enum mode { MODE_KEEP, MODE_CLOSE, MODE_DEFER };

struct floor_server {
    enum mode mode;
    int epoll_fd;
    int listen_fd;
    size_t reply_bytes;
    char input[INPUT_MAX_BYTES];
    char replies[REPLIES_MAX * REPLY_MAX_BYTES]; /* back to back */
};

static void die(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

/* Looks at every fourth byte only: an end of four bytes covers one of them. */
static size_t count_heads(const char *data, size_t data_bytes)
{
    size_t count = 0;
    size_t i = 3;

    while (i < data_bytes) {
        if (data[i] == '\n') {
            if (memcmp(data + i - 3, "\r\n\r\n", 4) == 0) {
                count++;
                i += 4;
            } else {
                i += 2;
            }
        } else {
            i += data[i] == '\r' ? 1 : 4;
        }
    }
    return count;
}

/* Answers what one read gives. False: the connection has to be closed. */
static bool answer(struct floor_server *server, int fd)
{
    ssize_t got = recv(fd, server->input, sizeof server->input, 0);
    size_t heads, bytes;

    if (got < 0 && errno == EAGAIN) {
        return true;
    }
    if (got <= 0) {
        return false;
    }
    heads = count_heads(server->input, (size_t)got);
    if (heads > REPLIES_MAX) {
        return false;
    }
    bytes = heads * server->reply_bytes;
    if (send(fd, server->replies, bytes, MSG_NOSIGNAL) != (ssize_t)bytes) {
        return false;
    }
    return server->mode == MODE_KEEP;
}

static void watch(struct floor_server *server, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    if (server->mode == MODE_KEEP) {
        event.events |= EPOLLET;
    }
    if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
        die("epoll_ctl");
    }
}

static void accept_one(struct floor_server *server)
{
    int fd =
        accept4(server->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0) {
        if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR) {
            die("accept4");
        }
        return;
    }
    if (server->mode == MODE_DEFER && !answer(server, fd)) {
        close(fd);
        return;
    }
    watch(server, fd);
}

static void serve(struct floor_server *server)
{
    struct epoll_event events[EVENTS_MAX];
    int count, i;

    for (;;) {
        count = epoll_wait(server->epoll_fd, events, EVENTS_MAX, -1);
        if (count < 0 && errno != EINTR) {
            die("epoll_wait");
        }
        for (i = 0; i < count; i++) {
            if (events[i].data.fd == server->listen_fd) {
                accept_one(server);
            } else if (!answer(server, events[i].data.fd)) {
                close(events[i].data.fd);
            }
        }
    }
}

/* Returns the port, which the kernel chooses if `port` is 0. */
static unsigned open_listener(struct floor_server *server, unsigned port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t address_bytes = sizeof address;
    struct epoll_event event = {.events = EPOLLIN};
    int on = 1, defer_s = DEFER_S;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        die("socket");
    }
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        /* Inherited by accepted sockets. */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0) {
        die("setsockopt");
    }
    if (server->mode == MODE_DEFER &&
        setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &defer_s,
                   sizeof defer_s) < 0) {
        die("TCP_DEFER_ACCEPT");
    }
    if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &address_bytes) < 0) {
        die("listen");
    }
    server->listen_fd = fd;
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    event.data.fd = fd;
    if (server->epoll_fd < 0 ||
        epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
        die("epoll");
    }
    return ntohs(address.sin_port);
}

/* `Connection: keep-alive` is for ab, which speaks HTTP/1.0. */
static void make_replies(struct floor_server *server, const char *body_path)
{
    char body[REPLY_MAX_BYTES / 2 + 1];
    FILE *file = fopen(body_path, "r");
    size_t body_bytes;
    int i, bytes;

    if (file == NULL) {
        die(body_path);
    }
    body_bytes = fread(body, 1, sizeof body - 1, file);
    fclose(file);
    body[body_bytes] = '\0';
    bytes = snprintf(server->replies, REPLY_MAX_BYTES,
                     "HTTP/1.1 200 OK\r\n"
                     "Content-Type: application/json\r\n"
                     "Content-Length: %zu\r\n"
                     "Connection: %s\r\n"
                     "\r\n"
                     "%s",
                     body_bytes,
                     server->mode == MODE_KEEP ? "keep-alive" : "close", body);
    if (body_bytes == 0 || bytes < 0 || bytes >= REPLY_MAX_BYTES) {
        fprintf(stderr, "%s: not a small file of text\n", body_path);
        exit(EXIT_FAILURE);
    }
    server->reply_bytes = (size_t)bytes;
    for (i = 1; i < REPLIES_MAX; i++) {
        memcpy(server->replies + (size_t)i * server->reply_bytes,
               server->replies, server->reply_bytes);
    }
}

static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0) {
            die("setrlimit");
        }
    }
}

static enum mode mode_of(const char *name)
{
    static const char *const names[] = {
        [MODE_KEEP] = "keep", [MODE_CLOSE] = "close", [MODE_DEFER] = "defer"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return (enum mode)i;
        }
    }
    fprintf(stderr, "floor: unknown mode: %s\n", name);
    exit(64);
}

int main(int argc, char **argv)
{
    static struct floor_server server;
    const char *body_path = NULL;
    unsigned long port = 0;
    int option;

    while ((option = getopt(argc, argv, "m:p:b:")) != -1) {
        switch (option) {
        case 'm':
            server.mode = mode_of(optarg);
            break;
        case 'p':
            port = strtoul(optarg, NULL, 10);
            break;
        case 'b':
            body_path = optarg;
            break;
        default:
            body_path = NULL;
            optind = argc;
            break;
        }
    }
    if (body_path == NULL || port > 65535) {
        fprintf(stderr,
                "usage: floor -b BODY [-m keep|close|defer] [-p PORT]\n");
        return 64;
    }
    raise_descriptor_limit();
    make_replies(&server, body_path);
    printf("%u\n", open_listener(&server, (unsigned)port));
    fflush(stdout);
    serve(&server);
}
