/* SPDX-License-Identifier: MIT */
/* A server whose routes come in versions, for the tests of reloads: that one
 * has been freed is told by a plugin's `free`. Owner: a test. Thread: the
 * test's, but for what handlers write. */
#ifndef RD_TESTS_VERSIONS_H
#define RD_TESTS_VERSIONS_H

#include <semaphore.h>
#include <stdatomic.h>

#include "site.h"

#define HOST " HTTP/1.1\r\nHost: x\r\n"
#define GET(path) "GET " path HOST "\r\n"
#define RCVBUF 65536 /* a window that does not grow */
#define KIB 1024u
#define MIB (1024u * 1024)

/* A router that has been handed to the server, or is about to be. */
struct version {
    char name[16];
    struct restd_router *router;
    atomic_int freed, uses; /* calls of `free`; of /hold under way */
};

extern struct version first; /* with which the server starts */
extern struct client kept;
extern struct client other;
extern struct content r;
extern struct restd_error failure; /* of the last call */
/* /hold says that it has begun, and waits. */
extern sem_t entered;
extern sem_t open_gate;

/* Fixture; the server is made by version_start(), and `kept` connected. */
void version_set_up(void);
void version_tear_down(void);
void version_start(void);

/* Answers with name and loop. */
int who(struct restd_request *request, struct restd_response *response,
        void *data);
int constant(struct restd_request *request, struct restd_response *response,
             void *data);
/* Adds a route with the version as its data. */
void version_add(struct version *v, const char *method, const char *path,
                 restd_handler_fn *handler);
/* A router with /who, /hold, /constant, /up/..., /length, /take, and those of
 * streams.h. */
void make_version(struct version *v, const char *name);

int reload_rc(const struct restd_options *options, struct restd_router *router);
void reload(const struct restd_options *options, struct restd_router *router);
void reload_to(struct version *v, const char *name);

/* The reply has that status, and begins with `body`. */
void asks(struct client *client, const char *text, int status,
          const char *body);
/* As that, once the loop has ended the turn in which it was told. */
void becomes(struct client *client, const char *text, const char *body);

#endif
