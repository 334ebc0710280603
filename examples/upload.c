/* SPDX-License-Identifier: MIT */
/* POST /upload takes a multipart form of up to 1 GB piece by piece, so that its
 * files pass without being kept, and reports how large its parts were. */
#include "example.h"

#include <inttypes.h>

enum { PARTS_MAX = 16 };
struct upload {
    struct restd_form *form;
    unsigned n; /* parts that are complete */
    uint64_t bytes[PARTS_MAX];
};

static int on_part(const struct restd_form_part *part, void *data)
{
    const struct upload *upload = data;

    (void)part;
    return upload->n < PARTS_MAX ? 0 : RESTD_ELIMIT; /* 413 */
}

/* Here a file would be written, its name one that the server has chosen. */
static int on_content(const char *bytes, size_t len, void *data)
{
    struct upload *upload = data;

    (void)bytes;
    upload->bytes[upload->n] += len;
    return 0;
}

static int on_end(void *data)
{
    ((struct upload *)data)->n++;
    return 0;
}

static int content(struct restd_upload *handle, const char *bytes, size_t len,
                   void *data)
{
    struct upload *upload = data;

    (void)handle;
    return restd_form_feed(upload->form, bytes, len);
}

static int end(struct restd_request *request, struct restd_response *response,
               void *data)
{
    const struct upload *upload = data;
    int rc = restd_form_finish(upload->form);

    (void)request;
    if (rc != 0) { /* too much, or the form is cut */
        rc = rc == RESTD_ELIMIT ? 413 : 400;
        return restd_response_problem(response, rc, NULL);
    }
    for (unsigned i = 0; rc == 0 && i < upload->n; i++) {
        rc = restd_response_printf(response, "%" PRIu64 " bytes\n",
                                   upload->bytes[i]);
    }
    return rc;
}

static void closed(int complete, void *data)
{
    struct upload *upload = data;

    (void)complete; /* 0: the client has left, or an error above */
    restd_form_free(upload->form);
    free(upload);
}

static int start(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    static const struct restd_form_ops parts = {sizeof(parts), on_part,
                                                on_content, on_end};
    static const struct restd_upload_ops ops = {sizeof(ops), content, end,
                                                closed};
    struct upload *upload = calloc(1, sizeof(*upload));

    (void)data;
    if (upload == NULL) {
        return RESTD_ENOMEM;
    }
    int rc = restd_form_new(restd_request_header(request, "Content-Type"), NULL,
                            &parts, upload, &upload->form);
    if (rc == 0) {
        rc = restd_request_receive(request, &ops, upload, NULL);
    }
    if (rc != 0) {
        closed(0, upload);
    }
    return rc == RESTD_EINVAL
               ? restd_response_problem(response, 415, "not a form")
               : rc;
}

int main(int argc, char **argv)
{
    struct restd_route_options route;
    struct restd_server *server;
    struct restd_error error;

    restd_route_options_init(&route);
    route.streaming = 1;
    route.body_max_bytes = 1000000000;
    if (restd_server_new(NULL, &server, &error) != 0) {
        return example_failed(&error);
    }
    struct restd_router *router = restd_server_router(server);
    int n = restd_router_add(router, "POST", "/upload", start, NULL, &error);
    if (n < 0 || restd_router_configure(router, n, &route, &error) != 0) {
        return example_failed(&error);
    }
    return example_serve(server, argc, argv);
}
