/* SPDX-License-Identifier: MIT */
/* Why a request finds the route that it finds, as JSON for people and tools.
 *
 * The verdict is rd_router_match()'s own. For the near misses each pattern is
 * compared with the path by itself, in as many passes as there are degrees of
 * nearness, so that the nearest come first and nothing has to be gathered.
 * Thread: see restd/router.h. */
#include <stdio.h>

#include <restd/json.h>

#include "base/slice.h"
#include "route/router_tree.h"

#define MISSES_MAX 16u
#define NEARNESS_N 4u
#define SHOWN_MAX 64 /* bytes of a segment */

struct explain {
    const struct restd_router *router;
    struct restd_json *json;
    unsigned method; /* number; 0: no route knows it */
    struct rd_router_work work;
    struct rd_uri_path path, collapsed;
    struct rd_match match;
};

/* How far a pattern is from the path. */
struct miss {
    unsigned fails, at; /* segments that do not fit, the first of them */
    int more;           /* segments that it has more */
};

static void put(struct explain *e, const char *key, const char *text)
{
    restd_json_key(e->json, key);
    if (text) {
        restd_json_string(e->json, text, strlen(text));
    } else {
        restd_json_null(e->json);
    }
}

static void put_slice(struct explain *e, const char *key,
                      struct restd_slice text)
{
    restd_json_key(e->json, key);
    restd_json_string(e->json, text.data, text.len);
}

static void put_method(struct explain *e, unsigned number)
{
    const char *name = e->router->methods[number];

    restd_json_string(e->json, name, strlen(name));
}

/* --- plugins --------------------------------------------------------------- */

enum stage { BEFORE, WRAPPER, AFTER };

static void put_list(struct explain *e, const struct rd_plugins *plugins,
                     enum stage stage)
{
    for (unsigned i = 0; i < plugins->n; i++) {
        const struct restd_plugin *p = &plugins->list[i];
        int runs = stage == BEFORE    ? p->before != NULL
                   : stage == WRAPPER ? p->wrapper != NULL
                                      : p->after != NULL;
        if (runs) {
            const char *name = p->name ? p->name : "unnamed";
            restd_json_string(e->json, name, strlen(name));
        }
    }
}

static void put_scopes(struct explain *e, const struct rd_scope *scope,
                       enum stage stage)
{
    if (scope) {
        put_scopes(e, scope->parent, stage);
        put_list(e, &scope->plugins, stage);
    }
}

static void put_plugins(struct explain *e)
{
    static const char *const keys[] = {"before", "wrapper", "after"};
    const struct rd_route *route = e->match.route;

    restd_json_key(e->json, "plugins");
    restd_json_object_begin(e->json);
    for (unsigned i = BEFORE; i <= AFTER; i++) {
        restd_json_key(e->json, keys[i]);
        restd_json_array_begin(e->json);
        if (route || i != WRAPPER) {
            put_scopes(e, e->match.scope, (enum stage)i);
        }
        if (route) {
            put_list(e, &route->plugins, (enum stage)i);
        }
        restd_json_array_end(e->json);
    }
    restd_json_object_end(e->json);
}

/* --- the route ------------------------------------------------------------- */

static void put_route(struct explain *e)
{
    const struct rd_route *route = e->match.route;
    const struct restd_route_options *o = &route->options;

    restd_json_key(e->json, "route");
    restd_json_object_begin(e->json);
    restd_json_key(e->json, "method");
    put_method(e, route->method);
    put(e, "pattern", route->pattern);
    put(e, "summary", o->summary);
    restd_json_key(e->json, "captures");
    restd_json_array_begin(e->json);
    for (unsigned i = 0; i < e->match.params_n; i++) {
        restd_json_object_begin(e->json);
        put_slice(e, "name", rd_match_name(&e->match, i));
        put_slice(e, "value", e->match.params[i]);
        restd_json_object_end(e->json);
    }
    restd_json_array_end(e->json);
    restd_json_key(e->json, "limits");
    restd_json_object_begin(e->json);
    restd_json_key(e->json, "body_max");
    if (o->body_max_bytes > 0) {
        restd_json_uint(e->json, o->body_max_bytes);
    } else {
        restd_json_null(e->json); /* the server's */
    }
    restd_json_key(e->json, "low_priority");
    restd_json_bool(e->json, o->low_priority != 0);
    restd_json_key(e->json, "streaming");
    restd_json_bool(e->json, o->streaming != 0);
    restd_json_key(e->json, "offload");
    restd_json_bool(e->json, o->offload != 0);
    restd_json_object_end(e->json);
    restd_json_object_end(e->json);
}

static void put_status(struct explain *e, int status)
{
    char allow[RD_ALLOW_MAX];

    if (status == 405 && e->method == RESTD_METHOD_OPTIONS) {
        status = 204;
    }
    restd_json_key(e->json, "status");
    restd_json_int(e->json, status);
    if (status == 405 || status == 204) {
        (void)rd_router_allow_text(e->router, e->match.allowed, allow,
                                   sizeof(allow));
        put(e, "allow", allow);
    }
}

/* --- near misses ----------------------------------------------------------- */

static unsigned measure(struct explain *e, const struct rd_route *route,
                        struct miss *m)
{
    const struct rd_pattern *p = route->compiled;
    const struct rd_uri_path *path = route->list ? &e->collapsed : &e->path;
    int open = route->list || p->segments[p->n - 1].kind == RD_SEGMENT_REST;

    memset(m, 0, sizeof(*m));
    m->more = (int)p->n - (int)path->n;
    if (m->more < 0 && open) {
        m->more = 0;
    }
    for (unsigned i = 0; i < p->n && i < path->n; i++) {
        if (!rd_segment_fits(&p->segments[i], path->segments[i],
                             e->work.regex)) {
            m->at = m->fails++ ? m->at : i;
        }
    }
    return m->fails + (unsigned)(m->more < 0 ? -m->more : m->more);
}

/* Why one that fits, and has the method, did not win. */
static const char *lost(const struct rd_route *route,
                        const struct rd_route *winner)
{
    if (!route->list) {
        return "less specific";
    }
    if (winner && !winner->list) {
        return "exact routes come first";
    }
    return winner && winner->list != route->list ? "a deeper base comes first"
                                                 : "added later";
}

static void say_segment(const struct rd_segment *seg, unsigned at,
                        struct restd_slice value, char *why, size_t size)
{
    const char *verb = "is not ", *quote = "";
    struct restd_slice what = rd_slice_str("int");

    if (seg->kind == RD_SEGMENT_TEXT || seg->kind == RD_SEGMENT_REGEX) {
        verb = seg->kind == RD_SEGMENT_TEXT ? verb : "does not match ";
        quote = "\"";
        what = seg->text;
    } else if (seg->kind == RD_SEGMENT_VARIABLE) {
        verb = "is empty";
        what.len = 0;
    } else if (seg->kind == RD_SEGMENT_UUID) {
        what = rd_slice_str("uuid");
    } else if (seg->kind == RD_SEGMENT_SLUG) {
        what = rd_slice_str("slug");
    }
    (void)snprintf(why, size, "segment %u: \"%.*s%s\" %s%s%.*s%s", at + 1,
                   value.len < SHOWN_MAX ? (int)value.len : SHOWN_MAX,
                   value.data, value.len > SHOWN_MAX ? "..." : "", verb, quote,
                   what.len < SHOWN_MAX ? (int)what.len : SHOWN_MAX, what.data,
                   quote);
}

static void say_why(struct explain *e, const struct rd_route *route,
                    const struct miss *m, int has_method, char *why,
                    size_t size)
{
    unsigned n = (unsigned)(m->more < 0 ? -m->more : m->more);

    if (m->fails > 0) {
        const struct rd_uri_path *path = route->list ? &e->collapsed : &e->path;
        say_segment(&route->compiled->segments[m->at], m->at,
                    path->segments[m->at], why, size);
    } else if (n > 0) {
        char number[12] = "one";
        if (n > 1) {
            (void)snprintf(number, sizeof(number), "%u", n);
        }
        (void)snprintf(why, size, "%s segment%s %s", number, n > 1 ? "s" : "",
                       m->more > 0 ? "more" : "fewer");
    } else {
        (void)snprintf(why, size, "%s",
                       has_method ? lost(route, e->match.route)
                                  : "lacks the method");
    }
}

/* Of routes `from` to `to`, which have the pattern. */
static void put_miss(struct explain *e, unsigned from, unsigned to,
                     const struct miss *m)
{
    char why[256];
    int has_method = 0;

    restd_json_object_begin(e->json);
    put(e, "pattern", e->router->listed.list[from]->pattern);
    restd_json_key(e->json, "methods");
    restd_json_array_begin(e->json);
    for (unsigned i = from; i < to; i++) {
        unsigned method = e->router->listed.list[i]->method;
        put_method(e, method);
        has_method |= method == e->method || (method == RESTD_METHOD_GET &&
                                              e->method == RESTD_METHOD_HEAD);
    }
    restd_json_array_end(e->json);
    say_why(e, e->router->listed.list[from], m, has_method, why, sizeof(why));
    put(e, "why", why);
    restd_json_object_end(e->json);
}

static int same_pattern(const struct rd_route *a, const struct rd_route *b)
{
    return a && b && a->list == b->list && strcmp(a->pattern, b->pattern) == 0;
}

static void put_misses(struct explain *e)
{
    const struct rd_routes *listed = &e->router->listed;
    unsigned count = 0;

    for (unsigned pass = 0; pass < NEARNESS_N; pass++) {
        for (unsigned i = 0, to; i < listed->n && count < MISSES_MAX; i = to) {
            struct miss m;
            for (to = i + 1; to < listed->n &&
                             same_pattern(listed->list[i], listed->list[to]);) {
                to++;
            }
            unsigned far = measure(e, listed->list[i], &m);
            int begins = m.fails == 0 || m.at > 0;
            if ((far < NEARNESS_N ? far : NEARNESS_N - 1) == pass &&
                (far < 2 || begins) &&
                !same_pattern(listed->list[i], e->match.route)) {
                put_miss(e, i, to, &m);
                count++;
            }
        }
    }
}

int restd_router_explain(struct restd_router *router, const char *method,
                         const char *path, struct restd_json *json)
{
    struct explain e = {.router = router, .json = json};
    struct restd_slice raw = rd_slice(path, strcspn(path, "?"));
    int rc =
        raw.len > 0 && *path == '/' ? rd_router_freeze(router) : RESTD_EINVAL;

    if (rc == 0) {
        rc = rd_router_work_init(&e.work, router, raw.len);
    }
    if (rc != 0) {
        return rc;
    }
    e.method = rd_router_method(router, rd_slice_str(method));
    e.match.scope = router->root;
    rc = e.method > 0
             ? rd_router_match(router, e.method, raw, 0, &e.work, &e.match)
             : -501;
    restd_json_object_begin(json);
    put(&e, "method", method);
    put_slice(&e, "path", raw);
    if (rc == 0) {
        put_route(&e);
    } else {
        put_status(&e, -rc);
    }
    put_plugins(&e);
    restd_json_key(json, "near_misses");
    restd_json_array_begin(json);
    /* Into the same memory, so that captures would stay. */
    if (rd_uri_split(raw, e.work.scratch, &e.path) == 0) {
        rd_router_collapse(&e.path, &e.collapsed);
        put_misses(&e);
    }
    restd_json_array_end(json);
    restd_json_object_end(json);
    rd_router_work_fini(&e.work);
    return 0;
}
