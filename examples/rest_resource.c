/* SPDX-License-Identifier: MIT */
/* A collection and its items: GET and POST on /customers; GET, PUT and DELETE
 * on /customers/{id}. customers.c keeps them, here they become HTTP. */
#include "example.h"
#include "customers.h"

/* The number in the path: {id:int} lets digits through only, 19 at most. */
static int id_of(const struct restd_request *request)
{
    struct restd_slice id = restd_request_param(request, "id");
    char text[24];

    snprintf(text, sizeof(text), "%.*s", (int)id.len, id.data);
    long long number = strtoll(text, NULL, 10);
    return number > 0 && number <= 1000000000 ? (int)number : -1;
}

/* Appends it to the content, and `end`. */
static int show(struct restd_response *response, const struct customer *c,
                const char *end)
{
    char text[1000]; /* enough if each octet becomes \u00XX */
    struct restd_json json;

    restd_json_init(&json, text, sizeof(text));
    restd_json_object_begin(&json);
    restd_json_key(&json, "id");
    restd_json_int(&json, c->id);
    restd_json_key(&json, "name");
    restd_json_string(&json, c->name, strlen(c->name));
    restd_json_key(&json, "email");
    restd_json_string(&json, c->email, strlen(c->email));
    restd_json_object_end(&json);
    restd_response_set_type(response, "application/json");
    return restd_response_printf(response, "%.*s%s",
                                 (int)restd_json_finish(&json), text, end);
}

static int refuse(struct restd_response *response, enum customers_result why)
{
    switch (why) {
    case CUSTOMERS_TAKEN:
        return restd_response_problem(response, 409, "email is taken");
    case CUSTOMERS_FULL:
        return restd_response_problem(response, 507, "no room for more");
    default:
        return restd_response_problem(response, 404, "no such customer");
    }
}

static int list(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct customer all[CUSTOMERS_MAX];
    int n = customers_list(all), rc = restd_response_printf(response, "[");

    (void)request, (void)data;
    for (int i = 0; i < n && rc == 0; i++) {
        rc = show(response, &all[i], i < n - 1 ? "," : "");
    }
    restd_response_set_type(response, "application/json");
    return rc == 0 ? restd_response_printf(response, "]\n") : rc;
}

/* POST on the collection, PUT on an item. */
static int store(struct restd_request *request, struct restd_response *response,
                 void *data)
{
    int is_new = restd_request_method(request) == RESTD_METHOD_POST;
    struct restd_slice body = restd_request_body(request);
    struct customer customer;
    char location[32];

    (void)data;
    if (customer_parse(body.data, body.len, &customer) != 0) {
        return restd_response_problem(response, 400, "name or email is bad");
    }
    customer.id = is_new ? 0 : id_of(request);
    enum customers_result result = customers_put(&customer);
    if (result != CUSTOMERS_OK) {
        return refuse(response, result);
    }
    if (is_new) {
        snprintf(location, sizeof(location), "/customers/%d", customer.id);
        restd_response_set_status(response, 201);
        restd_response_set_header(response, "Location", location);
    }
    return show(response, &customer, "\n");
}

/* GET and DELETE on an item. */
static int item(struct restd_request *request, struct restd_response *response,
                void *data)
{
    int removes = restd_request_method(request) == RESTD_METHOD_DELETE;
    struct customer customer;
    enum customers_result result =
        removes ? customers_remove(id_of(request))
                : customers_get(id_of(request), &customer);

    (void)data;
    if (result != CUSTOMERS_OK) {
        return refuse(response, result);
    }
    return removes ? restd_response_set_status(response, 204)
                   : show(response, &customer, "\n");
}

int main(int argc, char **argv)
{
    static const struct example_route routes[] = {
        {"GET", "/customers", list, NULL},
        {"POST", "/customers", store, NULL},
        {"GET", "/customers/{id:int}", item, NULL},
        {"PUT", "/customers/{id:int}", store, NULL},
        {"DELETE", "/customers/{id:int}", item, NULL},
    };
    return example_main(routes, EXAMPLE_N(routes), argc, argv);
}
