/* SPDX-License-Identifier: MIT */
/* See versions.h. Thread: handlers and plugins run on the loops, `free` on
 * control, the rest on the test's. */
#include "versions.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "streams.h"

struct version first;
struct client kept;
struct client other;
struct content r;
struct restd_error failure; /* of the last call */
sem_t entered;
sem_t open_gate;

/* --- handlers -------------------------------------------------------------- */

int who(struct restd_request *request, struct restd_response *response,
        void *data)
{
    const struct version *v = data;

    return restd_response_printf(response, "%s %u", v->name,
                                 restd_request_worker(request));
}

/* Answers with its version, a value of its path, and the content. */
static int upload(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    const struct version *v = data;
    struct restd_slice name = restd_request_param(request, "name");
    struct restd_slice rest = restd_request_param(request, "rest");
    struct restd_slice body = restd_request_body(request);

    return restd_response_printf(response, "%s %.*s %.*s %.*s", v->name,
                                 (int)name.len, name.data, (int)rest.len,
                                 rest.data, (int)body.len, body.data);
}

/* Holds up its loop until the gate is opened. */
static int hold(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct version *v = data;

    (void)request;
    atomic_fetch_add(&v->uses, 1);
    sem_post(&entered);
    while (sem_wait(&open_gate) != 0) {
    }
    atomic_fetch_sub(&v->uses, 1);
    return restd_response_printf(response, "%s", v->name);
}

int constant(struct restd_request *request, struct restd_response *response,
             void *data)
{
    (void)data;
    return restd_response_body_static(response, pattern,
                                      query_number(request, "len", 1));
}

static int length(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    (void)data;
    return restd_response_printf(response, "%zu",
                                 restd_request_body(request).len);
}

static int piece_taken(struct restd_upload *upload, const char *bytes,
                       size_t len, void *data)
{
    (void)upload;
    (void)bytes;
    (void)len;
    (void)data;
    return 0;
}

static int all_taken(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    return restd_response_set_status(response, 201);
}

static void taken_closed(int complete, void *data)
{
    (void)data;
    atomic_fetch_add(&seen.uploads, complete);
}

static int take(struct restd_request *request, struct restd_response *response,
                void *data)
{
    static const struct restd_upload_ops ops = {sizeof(ops), piece_taken,
                                                all_taken, taken_closed};
    (void)response;
    (void)data;
    return restd_request_receive(request, &ops, NULL, NULL);
}

static void version_after(struct restd_request *request,
                          const struct restd_outcome *outcome, void *data)
{
    struct version *v = data;

    (void)request;
    (void)outcome;
    if (atomic_load(&v->freed)) {
        atomic_fetch_add(&seen.errors, 1);
    }
}

static void version_free(void *data)
{
    struct version *v = data;

    if (atomic_load(&v->uses) != 0) {
        atomic_fetch_add(&seen.errors, 1);
    }
    atomic_fetch_add(&v->freed, 1);
}

/* --- routers --------------------------------------------------------------- */

void version_add(struct version *v, const char *method, const char *path,
                 restd_handler_fn *handler)
{
    int rc = restd_router_add(v->router, method, path, handler, v, &failure);
    ck_assert_msg(rc >= 0, "%s", failure.message);
}

static void fill_version(struct version *v)
{
    struct restd_plugin plugin = {.size = sizeof(plugin),
                                  .name = "version",
                                  .after = version_after,
                                  .free = version_free,
                                  .data = v};

    ck_assert_int_eq(restd_router_use(v->router, &plugin, &failure), 0);
    version_add(v, "GET", "/who", who);
    version_add(v, "GET", "/hold", hold);
    version_add(v, "GET", "/constant", constant);
    version_add(v, "POST", "/up/{name:[a-z%]+}/{rest...}", upload);
    site.router = v->router;
    streams_add();
    version_add(v, "POST", "/length", length);
    site_add("POST", "/take", take, 1, 0);
}

void make_version(struct version *v, const char *name)
{
    memset(v, 0, sizeof(*v));
    snprintf(v->name, sizeof(v->name), "%s", name);
    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &v->router), 0);
    fill_version(v);
}

int reload_rc(const struct restd_options *options, struct restd_router *router)
{
    memset(&failure, 0, sizeof(failure));
    return restd_server_reload(site.server, options, router, &failure);
}

void reload(const struct restd_options *options, struct restd_router *router)
{
    int rc = reload_rc(options, router);
    ck_assert_msg(rc == 0, "%s: %s", restd_error_name(rc), failure.message);
}

void reload_to(struct version *v, const char *name)
{
    make_version(v, name);
    reload(NULL, v->router);
}

/* --- fixture --------------------------------------------------------------- */

void version_set_up(void)
{
    site_set_up();
    kept.fd = other.fd = -1;
    sem_init(&entered, 0, 0);
    sem_init(&open_gate, 0, 0);
}

void version_start(void)
{
    site_new();
    memset(&first, 0, sizeof(first));
    memcpy(first.name, "first", 6);
    first.router = site.router;
    fill_version(&first);
    site_start();
    ck_assert_int_eq(client_connect(&kept, site.port, RCVBUF), 0);
}

void version_tear_down(void)
{
    client_close(&kept);
    client_close(&other);
    site_tear_down();
    sem_destroy(&entered);
    sem_destroy(&open_gate);
}

void asks(struct client *client, const char *text, int status, const char *body)
{
    ck_assert_int_eq(content_ask(client, text, &r), status);
    ck_assert_msg(strncmp(r.body, body, strlen(body)) == 0, "\"%s\", not %s",
                  r.body, body);
}

void becomes(struct client *client, const char *text, const char *body)
{
    EVENTUALLY(content_ask(client, text, &r) == 200 &&
               strncmp(r.body, body, strlen(body)) == 0);
}
