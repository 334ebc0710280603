/* SPDX-License-Identifier: MIT */
/* A server with a plugin in front of its routes, and what its replies say. */
#include "plugin_server.h"

#include <stdio.h>
#include <string.h>

struct restd_options options;
struct restd_server *server;
struct restd_router *plugin_router;
struct restd_error error;
struct restd_plugin plugin;
struct reply reply;
int port;
char socket_path[FOLDER_MAX + 2];
static char folder[FOLDER_MAX];
struct client *const c = &(struct client){.fd = -1};

void must(int rc)
{
    ck_assert_msg(rc >= 0, "%s: %s", restd_error_name(rc), error.message);
}

void use(int rc)
{
    must(rc);
    must(restd_router_use(plugin_router, &plugin, &error));
}

void make_server(void)
{
    c->fd = -1;
    folder_make(folder);
    (void)snprintf(socket_path, sizeof(socket_path), "%s/s", folder);
    must(restd_server_new(&options, &server, &error));
    must(server_routes(server, &error));
    plugin_router = restd_server_router(server);
}

void start(void)
{
    char address[sizeof(socket_path) + 8];

    must(restd_server_listen(server, "127.0.0.1:0", &error));
    (void)snprintf(address, sizeof(address), "unix:%s", socket_path);
    must(restd_server_listen(server, address, &error));
    must(restd_server_start(server, &error));
    port = restd_server_port(server, 0);
    ck_assert_int_eq(client_connect(c, port, 0), 0);
}

void tear_down(void)
{
    client_reply_free(&reply);
    client_close(c);
    restd_server_free(server);
    folder_remove(folder);
}

void ask(const char *text, int status)
{
    client_reply_free(&reply);
    int got = client_ask(c, text, &reply);
    ck_assert_msg(got == status, "%s: %d, not %d", text, got, status);
}

/* On a connection of its own, which the reply ends. */
void ask_once(const char *text, int status)
{
    client_close(c);
    ck_assert_int_eq(client_connect(c, port, 0), 0);
    ask(text, status);
}

/* How many fields of the reply are this line. */
unsigned count(const char *line)
{
    const char *p = reply.head;
    size_t len = strlen(line);
    unsigned n = 0;

    while ((p = strstr(p, "\r\n")) != NULL) {
        p += 2;
        size_t end = strcspn(p, "\r");
        /* A line that ends with a colon is a name. */
        n += strncmp(p, line, len) == 0 && (end == len || line[len - 1] == ':');
    }
    return n;
}

void has(const char *line)
{
    ck_assert_msg(count(line) == 1, "%s: %s", line, reply.head);
}

void lacks(const char *name)
{
    ck_assert_msg(count(name) == 0, "%s: %s", name, reply.head);
}

void value_of(const char *name, char *value, size_t size)
{
    const char *at = strstr(reply.head, name);

    ck_assert_msg(at != NULL, "%s: %s", name, reply.head);
    at += strlen(name) + 2;
    (void)snprintf(value, size, "%.*s", (int)strcspn(at, "\r"), at);
}
