/* SPDX-License-Identifier: MIT */
/* JSON replies by the streaming writer of restd/json.h, which allocates
 * nothing: GET /flat and GET /nested. */
#include "example.h"

static void member(struct restd_json *json, const char *key, const char *value)
{
    restd_json_key(json, key);
    restd_json_string(json, value, strlen(value));
}

static int flat(struct restd_request *request, struct restd_response *response,
                void *data)
{
    struct restd_json json;
    char text[512];

    (void)data;
    restd_json_init(&json, text, sizeof(text));
    restd_json_object_begin(&json);
    member(&json, "text", "two \"words\", and a line\nbreak");
    restd_json_key(&json, "integer");
    restd_json_int(&json, -42);
    restd_json_key(&json, "number");
    restd_json_double(&json, 1.5);
    restd_json_key(&json, "yes");
    restd_json_bool(&json, 1);
    restd_json_key(&json, "nothing");
    restd_json_null(&json);
    restd_json_key(&json, "time");
    restd_json_time(&json, restd_request_time_ms(request));
    restd_json_object_end(&json);
    return restd_response_json(response, &json);
}

static int nested(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    static const struct {
        const char *name;
        unsigned moons;
    } planets[] = {{"Mercury", 0}, {"Venus", 0}, {"Earth", 1}, {"Mars", 2}};
    struct restd_json json;
    char text[512];

    (void)request, (void)data;
    restd_json_init(&json, text, sizeof(text));
    restd_json_object_begin(&json);
    restd_json_key(&json, "star");
    restd_json_object_begin(&json);
    member(&json, "name", "Sun");
    restd_json_key(&json, "planets");
    restd_json_array_begin(&json);
    for (size_t i = 0; i < EXAMPLE_N(planets); i++) {
        restd_json_object_begin(&json);
        member(&json, "name", planets[i].name);
        restd_json_key(&json, "moons");
        restd_json_uint(&json, planets[i].moons);
        restd_json_object_end(&json);
    }
    restd_json_array_end(&json);
    restd_json_object_end(&json);
    restd_json_object_end(&json);
    return restd_response_json(response, &json);
}

int main(int argc, char **argv)
{
    static const struct example_route routes[] = {
        {"GET", "/flat", flat, NULL},
        {"GET", "/nested", nested, NULL},
    };

    return example_main(routes, EXAMPLE_N(routes), argc, argv);
}
