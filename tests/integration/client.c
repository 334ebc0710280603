/* SPDX-License-Identifier: MIT */
/* The client and the server of the integration tests. Sockets block with a
 * timeout, so a reply that does not come fails a test instead of hanging it.
 * Nothing is pipelined or kept here unless the test says so. */
#include "client.h"

#include <arpa/inet.h>
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void set_timeouts(int fd)
{
    struct timeval wait = {CLIENT_WAIT_S, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
}

static int connect_to(struct client *c, int fd, const struct sockaddr *sa,
                      socklen_t len)
{
    c->start = 0;
    c->len = 0;
    c->fd = fd;
    if (fd < 0) {
        return -1;
    }
    set_timeouts(fd);
    if (connect(fd, sa, len) != 0) {
        int saved = errno;
        close(fd);
        c->fd = -1;
        errno = saved;
        return -1;
    }
    return 0;
}

int client_connect(struct client *c, int port, int rcvbuf)
{
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        if (rcvbuf > 0) {
            setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf));
        }
    }
    return connect_to(c, fd, (struct sockaddr *)&sa, sizeof(sa));
}

int client_connect_unix(struct client *c, const char *path)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
    return connect_to(c, fd, (struct sockaddr *)&sa, sizeof(sa));
}

void client_close(struct client *c)
{
    if (c->fd >= 0) {
        close(c->fd);
    }
    c->fd = -1;
}

void client_reset(struct client *c)
{
    struct linger linger = {1, 0};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    client_close(c);
}

int client_send(struct client *c, const void *data, size_t len)
{
    const char *at = data;
    while (len > 0) {
        ssize_t n = send(c->fd, at, len, MSG_NOSIGNAL);
        if (n <= 0) {
            return -1;
        }
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

int client_say(struct client *c, const char *text)
{
    return client_send(c, text, strlen(text));
}

/* Receives more; 0 at the end. */
static int fill_buffer(struct client *c)
{
    memmove(c->buf, c->buf + c->start, c->len - c->start);
    c->len -= c->start;
    c->start = 0;
    ck_assert_uint_lt(c->len, sizeof(c->buf));
    ssize_t n = recv(c->fd, c->buf + c->len, sizeof(c->buf) - c->len, 0);
    ck_assert_msg(n >= 0 || errno == ECONNRESET, "recv: %s", strerror(errno));
    c->len += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static int receive_head(struct client *c, struct reply *r)
{
    const char *end;
    while ((end = memmem(c->buf + c->start, c->len - c->start, "\r\n\r\n",
                         4)) == NULL) {
        if (!fill_buffer(c)) {
            return 0;
        }
    }
    size_t len = (size_t)(end + 4 - (c->buf + c->start));
    ck_assert_uint_lt(len, sizeof(r->head));
    memcpy(r->head, c->buf + c->start, len);
    r->head[len] = '\0';
    c->start += len;
    ck_assert_msg(strncmp(r->head, "HTTP/1.1 ", 9) == 0, "%s", r->head);
    r->status = (int)strtol(r->head + 9, NULL, 10);
    r->close = strstr(r->head, "\r\nConnection: close\r\n") != NULL;
    return 1;
}

static int receive_body(struct client *c, struct reply *r)
{
    const char *length = strstr(r->head, "\r\nContent-Length: ");
    size_t want = length ? strtoul(length + 18, NULL, 10) : 0;

    r->body = calloc(1, want + 1);
    ck_assert_ptr_nonnull(r->body);
    while (r->body_len < want) {
        size_t n = c->len - c->start;
        if (n == 0 && !fill_buffer(c)) {
            return 0;
        }
        n = c->len - c->start;
        n = n < want - r->body_len ? n : want - r->body_len;
        memcpy(r->body + r->body_len, c->buf + c->start, n);
        c->start += n;
        r->body_len += n;
    }
    return 1;
}

int client_receive(struct client *c, struct reply *r, int head_only)
{
    memset(r, 0, sizeof(*r));
    do {
        if (!receive_head(c, r)) {
            r->status = 0;
            return 0;
        }
    } while (r->status < 200);
    if (!head_only && !receive_body(c, r)) {
        r->status = 0;
    }
    return r->status;
}

void client_reply_free(struct reply *r)
{
    free(r->body);
    r->body = NULL;
}

int client_ask(struct client *c, const char *text, struct reply *r)
{
    memset(r, 0, sizeof(*r));
    /* A server that refuses may close before it has read all. */
    (void)client_say(c, text);
    return client_receive(c, r, strncmp(text, "HEAD ", 5) == 0);
}

int client_get(int port, const char *path, char *body, size_t size)
{
    static struct client c;
    static struct reply r;
    char text[512];
    if (client_connect(&c, port, 0) != 0) {
        return 0;
    }
    snprintf(text, sizeof(text),
             "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
    int status = client_ask(&c, text, &r);
    if (status > 0 && size > 0) {
        snprintf(body, size, "%s", r.body);
    }
    client_reply_free(&r);
    client_close(&c);
    return status;
}

int client_at_end(struct client *c)
{
    return c->start == c->len && !fill_buffer(c);
}

/* --- the server ------------------------------------------------------------ */

char fill[FILL_MAX + 256];

static unsigned long param_number(const struct restd_request *request,
                                  const char *name)
{
    char text[24];
    struct restd_slice s = restd_request_param(request, name);
    snprintf(text, sizeof(text), "%.*s", (int)s.len, s.data ? s.data : "");
    return strtoul(text, NULL, 10);
}

static int hello(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    (void)request;
    restd_response_body_borrowed(response, data, strlen(data));
    return 0;
}

static int put_slice(struct restd_response *response, const char *name,
                     struct restd_slice s)
{
    return s.data ? restd_response_printf(response, "%s=%.*s\n", name,
                                          (int)s.len, s.data)
                  : restd_response_printf(response, "%s absent\n", name);
}

static int describe(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    char peer[128];
    struct restd_slice name;
    struct restd_slice value;
    int rc = put_slice(response, "method", restd_request_method_name(request));
    (void)data;

    rc |= put_slice(response, "target", restd_request_target(request));
    rc |= put_slice(response, "path", restd_request_path(request));
    rc |= put_slice(response, "query", restd_request_query(request));
    rc |= put_slice(response, "host", restd_request_host(request));
    rc |= put_slice(response, "x-one", restd_request_header(request, "x-OnE"));
    rc |= put_slice(response, "none", restd_request_header(request, "none"));
    rc |= put_slice(response, "param", restd_request_param(request, "none"));
    rc |= put_slice(response, "body", restd_request_body(request));
    rc |= restd_response_printf(
        response, "version=1.%d\nflag=%d\nk=v:%d\n",
        restd_request_version_minor(request),
        restd_slice_is(restd_request_query_get(request, "flag"), ""),
        restd_slice_is(restd_request_query_get(request, "k"), "v"));
    if (restd_request_peer(request, peer, 4) != RESTD_ERANGE ||
        restd_request_peer(request, peer, sizeof(peer)) < 0) {
        return RESTD_ESTATE;
    }
    peer[strcspn(peer, ":")] = '\0'; /* the port is anyone's guess */
    rc |= restd_response_printf(response, "peer=%s\n", peer);
    unsigned cursor = 0;
    for (unsigned i = 0;
         restd_request_header_next(request, &cursor, NULL, &name, &value) == 0;
         i++) {
        rc |=
            restd_response_printf(response, "%u:%.*s=%.*s\n", i, (int)name.len,
                                  name.data, (int)value.len, value.data);
    }
    rc |= restd_response_set_status(response, 201);
    rc |= restd_response_set_type(response, "text/x-description");
    return rc | restd_response_add_header(response, "X-Two", "2");
}

static int params(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    struct restd_slice a = restd_request_param(request, "a");
    struct restd_slice b = restd_request_param(request, "b");
    (void)data;
    return restd_response_printf(response, "%.*s|%.*s", (int)a.len, a.data,
                                 (int)b.len, b.data);
}

static int echo(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_slice body = restd_request_body(request);
    (void)data;
    return restd_response_body(response, body.data, body.len);
}

static int fill_borrowed(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    unsigned long at = param_number(request, "at") % 256;
    (void)data;
    restd_response_body_borrowed(response, fill + at,
                                 param_number(request, "len"));
    return 0;
}

static int fill_copied(struct restd_request *request,
                       struct restd_response *response, void *data)
{
    unsigned long at = param_number(request, "at") % 256;
    (void)data;
    return restd_response_body(response, fill + at,
                               param_number(request, "len"));
}

static int failing(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    (void)data;
    /* None of this may be seen. */
    (void)restd_response_set_status(response, 202);
    (void)restd_response_add_header(response, "X-Leak", "1");
    int rc = restd_response_printf(response, "leak");
    return rc != 0 ? rc : -(int)param_number(request, "code");
}

static int loop_number(struct restd_request *request,
                       struct restd_response *response, void *data)
{
    (void)data;
    return restd_response_printf(response, "%u", restd_request_worker(request));
}

int handler_of_nothing(struct restd_request *request,
                       struct restd_response *response, void *data)
{
    (void)request;
    (void)response;
    (void)data;
    return 0;
}

void server_options(struct restd_options *options)
{
    restd_options_init(options);
    options->workers = 1;
    options->defer_accept_s = 0;
}

int server_routes(struct restd_server *server, struct restd_error *error)
{
    static char text[] = "hello";
    static const struct {
        const char *method, *pattern;
        restd_handler_fn *handler;
    } routes[] = {
        {"GET", "/hello", hello},
        {"GET", "/describe", describe},
        {"GET", "/params/{a}/and/{b}", params},
        {"POST", "/echo", echo},
        {"PUT", "/echo", echo},
        {"GET", "/fill/{at}/{len}", fill_borrowed},
        {"GET", "/copy/{at}/{len}", fill_copied},
        {"GET", "/fail/{code}", failing},
        {"GET", "/loop", loop_number},
    };
    for (size_t i = 0; i < sizeof(fill); i++) {
        fill[i] = (char)('!' + i * 31 % 89);
    }
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        int rc =
            restd_router_add(restd_server_router(server), routes[i].method,
                             routes[i].pattern, routes[i].handler, text, error);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

struct restd_server *server_start(const struct restd_options *options,
                                  int *port)
{
    struct restd_server *server = NULL;
    struct restd_error error = {0, 0, ""};
    int rc = restd_server_new(options, &server, &error);
    if (rc == 0) {
        rc = server_routes(server, &error);
    }
    if (rc == 0) {
        rc = restd_server_listen(server, "127.0.0.1:0", &error);
    }
    if (rc == 0) {
        rc = restd_server_start(server, &error);
    }
    ck_assert_msg(rc == 0, "%s: %s", restd_error_name(rc), error.message);
    *port = restd_server_port(server, 0);
    ck_assert_int_gt(*port, 0);
    return server;
}

int pause_ms(void)
{
    (void)poll(NULL, 0, 2);
    return 2;
}

struct restd_counters server_counters(const struct restd_server *server)
{
    struct restd_counters counters;
    restd_server_counters(server, &counters);
    return counters;
}

int fds_count(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    ck_assert_ptr_nonnull(dir);
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n;
}
