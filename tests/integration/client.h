/* SPDX-License-Identifier: MIT */
/* A plain HTTP client for the integration tests, and a server with handlers
 * that show what a request looks like from within.
 *
 * Owner: a test. Thread: one at a time for each client. Every wait ends after
 * CLIENT_WAIT_S seconds with a failure. */
#ifndef RD_TESTS_CLIENT_H
#define RD_TESTS_CLIENT_H

#include <stddef.h>

#include <restd/restd.h>

#define CLIENT_WAIT_S 30

struct client {
    int fd;
    size_t start, len; /* received and not used: buf[start .. len) */
    char buf[65536];
};

struct reply {
    int status;      /* 0: the connection ended before a whole reply */
    int close;       /* it says Connection: close */
    char head[8192]; /* with the empty line, terminated */
    char *body;      /* terminated; client_reply_free() */
    size_t body_len;
};

/* Connects; -1 and errno if that fails. `rcvbuf` > 0 sets SO_RCVBUF. */
int client_connect(struct client *c, int port, int rcvbuf);
int client_connect_unix(struct client *c, const char *path);
void client_close(struct client *c);
/* Closes with a RST. */
void client_reset(struct client *c);
/* Sends everything; -1 if the peer has gone. */
int client_send(struct client *c, const void *data, size_t len);
int client_say(struct client *c, const char *text);
/* Receives one reply with a status of 200 or above, and its content unless
 * `head_only`; returns its status, or 0. `r` needs client_reply_free(). */
int client_receive(struct client *c, struct reply *r, int head_only);
void client_reply_free(struct reply *r);
/* Sends and receives; the status, or 0. */
int client_ask(struct client *c, const char *text, struct reply *r);
/* One GET on a connection of its own; the status, or 0. */
int client_get(int port, const char *path, char *body, size_t size);
/* Waits for the end of the connection: 1, or 0 if more data came. */
int client_at_end(struct client *c);

/* Bytes that /fill/{at}/{len} answers with; up to FILL_MAX of them. */
#define FILL_MAX (4u * 1024 * 1024)
extern char fill[FILL_MAX + 256];

/* A handler whose response is 200 without content. */
int handler_of_nothing(struct restd_request *request,
                       struct restd_response *response, void *data);
/* Options for tests: 1 loop, no TCP_DEFER_ACCEPT, so that a connection counts
 * from connect() on. */
void server_options(struct restd_options *options);
/* Adds the handlers below; 0, or what restd_router_add() says:
 *   GET /hello                "hello"
 *   GET /describe             what the request's functions say, line by line
 *   GET /params/{a}/and/{b}   "a|b"
 *   POST, PUT /echo           the content
 *   GET /fill/{at}/{len}      borrowed;  GET /copy/{at}/{len}  copied
 *   GET /fail/{code}          returns -code
 *   GET /loop                 number of the loop */
int server_routes(struct restd_server *server, struct restd_error *error);
/* Makes a server with these handlers, listening on a free port. Fails the
 * test if that does not work. */
struct restd_server *server_start(const struct restd_options *options,
                                  int *port);

/* Waits until `cond` holds, which another thread brings about. */
#define EVENTUALLY(cond)                                                       \
    do {                                                                       \
        int ms_ = 0;                                                           \
        while (!(cond) && ms_ < CLIENT_WAIT_S * 1000) {                        \
            ms_ += pause_ms();                                                 \
        }                                                                      \
        ck_assert_msg(ms_ < CLIENT_WAIT_S * 1000, "never: %s", #cond);         \
    } while (0)
int pause_ms(void);

struct restd_counters server_counters(const struct restd_server *server);

/* Open descriptors of this process. */
int fds_count(void);

#endif
