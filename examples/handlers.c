/* SPDX-License-Identifier: MIT */
/* Several patterns and methods: a plain path, a variable, and a variable that
 * only takes digits. HEAD, OPTIONS and 405 with Allow come by themselves. */
#include "example.h"

static int get_all(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    (void)request, (void)data;
    return restd_response_printf(response, "all handlers\n");
}

static int get_one(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    struct restd_slice id = restd_request_param(request, "id");

    (void)data;
    return restd_response_printf(response, "id: %.*s\n", (int)id.len, id.data);
}

static int get_number(struct restd_request *request,
                      struct restd_response *response, void *data)
{
    struct restd_slice id = restd_request_param(request, "id");
    struct restd_slice number = restd_request_param(request, "number");

    (void)data;
    return restd_response_printf(response, "id: %.*s, number: %.*s\n",
                                 (int)id.len, id.data, (int)number.len,
                                 number.data);
}

/* For POST and PATCH: the content comes back as it is, with its type. */
static int echo(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_slice body = restd_request_body(request);
    struct restd_slice type = restd_request_header(request, "Content-Type");
    char text[128];

    if (type.data != NULL) {
        snprintf(text, sizeof(text), "%.*s", (int)type.len, type.data);
        restd_response_set_type(response, text);
    }
    restd_response_set_status(response, *(const int *)data);
    /* The content stays where it is until this function has returned. */
    restd_response_body_borrowed(response, body.data, body.len);
    return 0;
}

int main(int argc, char **argv)
{
    static int ok = 200, created = 201;
    static const struct example_route routes[] = {
        {"GET", "/handlers", get_all, NULL},
        {"POST", "/handlers", echo, &created},
        {"GET", "/handlers/{id}", get_one, NULL},
        {"POST", "/handlers/{id}", echo, &created},
        {"PATCH", "/handlers/{id}", echo, &ok},
        {"GET", "/handlers/{id}/{number:[0-9]+}", get_number, NULL},
        {"POST", "/handlers/{id}/{number:[0-9]+}", echo, &created},
        {"PATCH", "/handlers/{id}/{number:[0-9]+}", echo, &ok},
    };

    return example_main(routes, EXAMPLE_N(routes), argc, argv);
}
