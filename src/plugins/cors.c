/* SPDX-License-Identifier: MIT */
/* The CORS protocol, Fetch standard 3.2.
 *
 * All that a reply may need is laid out when the plugin is made: a line for
 * each origin, and what follows it in replies to actual requests and to
 * preflights. Set before the handler runs, it stays whoever makes the reply.
 * Whether a request is allowed is the client's to decide: nothing is refused
 * here. Thread: make any, the rest [loop]. */
#include "plugins/cors.h"

#include <stdio.h>
#include <string.h>

#include <restd/plugins.h>

#include "base/mem.h"
#include "base/slice.h"
#include "codec/field.h"
#include "http/message.h"
#include "plugins/make.h"

#define ALLOW "Access-Control-Allow-Origin: "
#define ALLOW_LEN (sizeof(ALLOW) - 1)
#define VARY "Vary: Origin\r\n"
#define ORIGINS_MAX 256u
#define FIELDS_MAX 2048u

struct cors {
    int any; /* origin */
    /* What follows an origin's line; begin with Vary unless `any`. */
    struct restd_slice actual, preflight;
    size_t origins_n;
    struct restd_slice lines[]; /* ALLOW, origin, CRLF */
};

void restd_cors_options_init_size(struct restd_cors_options *options,
                                  size_t size)
{
    static const struct restd_cors_options defaults = {.max_age_s = 600};

    rd_sized_init(options, size, &defaults, sizeof(defaults));
}

int rd_cors_is_origin(struct restd_slice origin)
{
    const char *sep = memmem(origin.data, origin.len, "://", 3);

    if (!sep) {
        return restd_slice_is(origin, "null");
    }
    for (size_t i = 0; i < origin.len; i++) {
        char c = origin.data[i];
        if ((c >= 'A' && c <= 'Z') || c == '*') {
            return 0;
        }
    }
    struct restd_slice scheme = {origin.data, (size_t)(sep - origin.data)};
    struct restd_slice host = {sep + 3, origin.len - scheme.len - 3};
    for (size_t i = 0; i < scheme.len; i++) {
        char c = scheme.data[i];
        int digit = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
        if (!(c >= 'a' && c <= 'z') && !(digit && i > 0)) {
            return 0;
        }
    }
    return scheme.len > 0 && host.len > 0 && rd_field_is_authority(host);
}

/* Line of an allowed origin; absent for another. */
static struct restd_slice line_of(const struct cors *cors,
                                  struct restd_slice origin)
{
    const struct restd_slice none = {NULL, 0};

    if (cors->any) {
        return cors->lines[0];
    }
    for (size_t i = 0; i < cors->origins_n && origin.data; i++) {
        const struct restd_slice *line = &cors->lines[i];
        if (line->len == ALLOW_LEN + origin.len + 2 &&
            memcmp(line->data + ALLOW_LEN, origin.data, origin.len) == 0) {
            return *line;
        }
    }
    return none;
}

static int is_preflight(const struct restd_request *request)
{
    return restd_request_method(request) == RESTD_METHOD_OPTIONS &&
           restd_request_header(request, "Origin").data &&
           restd_request_header(request, "Access-Control-Request-Method").data;
}

static int before(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    const struct cors *cors = data;
    const struct restd_slice none = {NULL, 0};
    struct rd_fields *fields = &response->fields;
    int preflight = is_preflight(request);
    struct restd_slice line = line_of(
        cors, cors->any ? none : restd_request_header(request, "Origin"));
    struct restd_slice tail = preflight ? cors->preflight : cors->actual;
    int rc = 0;

    if (line.data) {
        rc = rd_fields_join(fields, line, none);
    } else {
        tail = rd_slice(VARY, sizeof(VARY) - 1);
    }
    rc = rc ? rc : rd_fields_join(fields, tail, none);
    if (rc != 0 || !preflight) {
        return rc;
    }
    rc = restd_response_set_status(response, 204);
    return rc != 0 ? rc : RESTD_ANSWERED;
}

/* A list of tokens, without "*" if credentials may be sent. */
static int check_list(const char *name, const char *list, int credentials,
                      struct restd_error *error)
{
    struct restd_slice rest = rd_slice_str(list ? list : "");
    struct restd_slice s;

    while (rd_field_list_next(&rest, &s)) {
        if (!rd_field_is_token(s)) {
            return rd_error(error, RESTD_EINVAL,
                            "%s of CORS: \"%.*s\" is no token", name,
                            (int)s.len, s.data);
        }
        if (credentials && restd_slice_is(s, "*")) {
            return rd_error(error, RESTD_EINVAL,
                            "%s of CORS: \"*\" and credentials exclude each "
                            "other",
                            name);
        }
    }
    return 0;
}

static int check_origins(const struct restd_cors_options *o, size_t *n,
                         struct restd_error *error)
{
    struct restd_slice rest = rd_slice_str(o->origins ? o->origins : "");
    struct restd_slice s;
    int any = 0;

    for (*n = 0; rd_field_list_next(&rest, &s); (*n)++) {
        if (restd_slice_is(s, "*")) {
            any = 1;
        } else if (!rd_cors_is_origin(s)) {
            return rd_error(error, RESTD_EINVAL,
                            "\"%.*s\" is no origin: scheme://host or "
                            "scheme://host:port, in lower case",
                            (int)s.len, s.data);
        }
    }
    if (*n == 0 || (any && *n > 1)) {
        return rd_error(error, RESTD_EINVAL,
                        "CORS wants a list of origins, or \"*\" alone");
    }
    if (any && o->credentials) {
        return rd_error(error, RESTD_EINVAL,
                        "CORS: any origin and credentials exclude each other");
    }
    if (*n > ORIGINS_MAX) {
        return rd_error(error, RESTD_ELIMIT, "CORS: more than %u origins",
                        ORIGINS_MAX);
    }
    return 0;
}

static int check(const struct restd_cors_options *o, size_t *n,
                 struct restd_error *error)
{
    int rc = check_origins(o, n, error);

    rc = rc ? rc : check_list("methods", o->methods, o->credentials, error);
    rc = rc ? rc : check_list("headers", o->headers, o->credentials, error);
    return rc ? rc : check_list("exposed", o->exposed, o->credentials, error);
}

/* Fields laid out for a reply; `len` goes on counting when there is no room. */
struct layout {
    size_t len;
    char text[FIELDS_MAX];
};

static void layout_add(struct layout *layout, const char *name,
                       const char *value)
{
    size_t room = layout->len < FIELDS_MAX ? FIELDS_MAX - layout->len : 0;

    if (value && *value) {
        int n = snprintf(layout->text + FIELDS_MAX - room, room, "%s: %s\r\n",
                         name, value);
        layout->len += n > 0 ? (size_t)n : FIELDS_MAX;
    }
}

static void layout_both(const struct restd_cors_options *o, int any,
                        struct layout *actual, struct layout *preflight)
{
    const char *methods =
        o->methods ? o->methods : "GET, HEAD, POST, PUT, PATCH, DELETE";
    char age[16] = "";

    actual->len = 0;
    layout_add(actual, "Vary", any ? NULL : "Origin");
    layout_add(actual, "Access-Control-Allow-Credentials",
               o->credentials ? "true" : NULL);
    *preflight = *actual;
    layout_add(actual, "Access-Control-Expose-Headers", o->exposed);
    layout_add(preflight, "Access-Control-Allow-Methods", methods);
    layout_add(preflight, "Access-Control-Allow-Headers", o->headers);
    if (o->max_age_s > 0) {
        (void)snprintf(age, sizeof(age), "%u", o->max_age_s);
    }
    layout_add(preflight, "Access-Control-Max-Age", age);
}

static char *put_slice(char *p, struct restd_slice s)
{
    memcpy(p, s.data, s.len);
    return p + s.len;
}

static struct restd_slice put_layout(char **p, const struct layout *layout)
{
    struct restd_slice s = {*p, layout->len};

    *p = put_slice(*p, rd_slice(layout->text, layout->len));
    return s;
}

/* NULL without memory. */
static struct cors *cors_new(const char *origins, size_t n,
                             const struct layout *actual,
                             const struct layout *preflight)
{
    size_t head = sizeof(struct cors) + n * sizeof(struct restd_slice);
    size_t text = strlen(origins) + n * (ALLOW_LEN + 2);
    struct cors *cors =
        rd_mem_alloc(head + text + actual->len + preflight->len);
    struct restd_slice rest = rd_slice_str(origins);
    struct restd_slice s;

    if (!cors) {
        return NULL;
    }
    char *p = (char *)cors + head;
    while (rd_field_list_next(&rest, &s)) {
        char *line = p;
        p = put_slice(p, rd_slice(ALLOW, ALLOW_LEN));
        p = put_slice(p, s);
        p = put_slice(p, rd_slice("\r\n", 2));
        cors->lines[cors->origins_n++] = rd_slice(line, (size_t)(p - line));
        cors->any = restd_slice_is(s, "*");
    }
    cors->actual = put_layout(&p, actual);
    cors->preflight = put_layout(&p, preflight);
    return cors;
}

int restd_cors(const struct restd_cors_options *options,
               struct restd_plugin *plugin, struct restd_error *error)
{
    struct restd_cors_options o;
    struct layout actual;
    struct layout preflight;
    size_t n;

    restd_cors_options_init(&o);
    int rc = rd_make_options(&o, sizeof(o), options, error);
    rc = rc ? rc : check(&o, &n, error);
    if (rc != 0) {
        return rc;
    }
    layout_both(&o, strchr(o.origins, '*') != NULL, &actual, &preflight);
    if (actual.len >= FIELDS_MAX || preflight.len >= FIELDS_MAX) {
        return rd_error(error, RESTD_ELIMIT,
                        "CORS: more than %u bytes of fields", FIELDS_MAX);
    }
    struct cors *cors = cors_new(o.origins, n, &actual, &preflight);
    if (!cors) {
        return rd_make_no_memory(error);
    }
    rd_make_plugin(plugin, "CORS", rd_mem_free, cors);
    plugin->before = before;
    return 0;
}
