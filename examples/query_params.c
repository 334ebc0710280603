/* SPDX-License-Identifier: MIT */
/* The query of a request: GET /query?a=1&b=2 lists all fields in their order,
 * GET /query/a?a=1&b=2 looks one up. Names and values come decoded. */
#include "example.h"

static int all(struct restd_request *request, struct restd_response *response,
               void *data)
{
    struct restd_slice name, value;
    struct restd_json json;
    char text[16384];
    size_t cursor = 0;

    (void)data;
    restd_json_init(&json, text, sizeof(text));
    restd_json_array_begin(&json);
    while (restd_request_query_next(request, &cursor, &name, &value) == 0) {
        restd_json_object_begin(&json);
        restd_json_key(&json, "name");
        restd_json_string(&json, name.data, name.len);
        restd_json_key(&json, "value");
        restd_json_string(&json, value.data, value.len);
        restd_json_object_end(&json);
    }
    restd_json_array_end(&json);
    int rc = restd_response_json(response, &json);
    return rc == RESTD_ELIMIT
               ? restd_response_problem(response, 414, "too much to list")
               : rc;
}

static int one(struct restd_request *request, struct restd_response *response,
               void *data)
{
    struct restd_slice wanted = restd_request_param(request, "name");
    struct restd_slice value;
    char name[256];

    (void)data;
    snprintf(name, sizeof(name), "%.*s", (int)wanted.len, wanted.data);
    value = restd_request_query_get(request, name);
    if (value.data == NULL) {
        return restd_response_problem(response, 404, "not in the query");
    }
    /* The value lives until this function has returned: no copy is needed. */
    restd_response_body_borrowed(response, value.data, value.len);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct example_route routes[] = {
        {"GET", "/query", all, NULL},
        {"GET", "/query/{name}", one, NULL},
    };

    return example_main(routes, EXAMPLE_N(routes), argc, argv);
}
