/* SPDX-License-Identifier: MIT */
/* A server with a plugin in front of its routes, for the tests of plugins, and
 * one client. Owner: a test. Thread: the test's. */
#ifndef RD_TESTS_PLUGIN_SERVER_H
#define RD_TESTS_PLUGIN_SERVER_H

#include <check.h>

#include <restd/plugins.h>
#include <restd/restd.h>

#include "client.h"
#include "support/folder.h"

#define HOST " HTTP/1.1\r\nHost: x\r\n"
#define GET(path) "GET " path HOST
#define END "\r\n"

extern struct restd_options options;
extern struct restd_server *server;
extern struct restd_router *plugin_router;
extern struct restd_error error;   /* of the last call */
extern struct restd_plugin plugin; /* what was made last */
extern struct client *const c;
extern struct reply reply; /* the last one */
extern int port;
extern char socket_path[FOLDER_MAX + 2];

/* Fails the test with `error` for a negative result. */
void must(int rc);
/* The same; then adds `plugin` to `plugin_router`. */
void use(int rc);
/* `server` with `options` and the routes of client.h; nothing runs yet. */
void make_server(void);
/* Starts it on a free port and on socket_path, and connects. */
void start(void);
void tear_down(void);

/* Asks on the connection that there is; the status must be that. */
void ask(const char *text, int status);
/* The same on a new one. */
void ask_once(const char *text, int status);
/* How many fields of the reply are this line, or, if it ends with a colon,
 * have this name. */
unsigned count(const char *line);
/* Exactly one; none. */
void has(const char *line);
void lacks(const char *name);
/* The first one's value. */
void value_of(const char *name, char *value, size_t size);

#endif
