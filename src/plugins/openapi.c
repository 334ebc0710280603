/* SPDX-License-Identifier: MIT */
/* The routes as an OpenAPI 3.1 document.
 *
 * OpenAPI tells paths apart by their text alone, so routes are sorted by
 * pattern with the variables' names and types taken out; neighbours that are
 * equal then are one path, and with one method one operation. Ids are made of
 * method and path, which may come out equal, so their hashes are kept.
 * Thread: [loop]. */
#include "plugins/openapi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "codec/chars.h"
#include "route/router.h"

#define ID_MAX 120

struct row {
    const struct rd_route *route;
    const char *method;
};

struct openapi {
    struct rd_document *doc;
    struct row *rows;
    unsigned n;
    uint64_t *ids; /* hashes of those that are taken; 0: free */
    size_t mask;
};

/* --- order ----------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
    const struct rd_route *a = ((const struct row *)left)->route;
    const struct rd_route *b = ((const struct row *)right)->route;
    int order = rd_openapi_compare(a->compiled, b->compiled);

    order = order ? order : (int)a->method - (int)b->method;
    order = order ? order : rd_pattern_compare(a->compiled, b->compiled);
    return order ? order : strcmp(a->pattern, b->pattern);
}

/* --- ids ------------------------------------------------------------------- */

/* 0 if the id was free. */
static int id_take(struct openapi *o, const char *id)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    size_t i;

    for (; *id; id++) {
        hash = (hash ^ (unsigned char)*id) * UINT64_C(1099511628211);
    }
    hash += hash == 0;
    for (i = hash & o->mask; o->ids[i] != 0; i = (i + 1) & o->mask) {
        if (o->ids[i] == hash) {
            return -1;
        }
    }
    o->ids[i] = hash;
    return 0;
}

static void put_id(struct openapi *o, const struct row *row)
{
    const struct rd_pattern *p = row->route->compiled;
    char id[ID_MAX + 16], buf[RD_OPENAPI_NAME];
    size_t len = 0;

    for (const char *m = row->method; *m; m++) {
        id[len++] = rd_ascii_lower(*m);
    }
    for (unsigned i = 0; i < p->n; i++) {
        struct restd_slice s = rd_openapi_is_variable(&p->segments[i])
                                   ? rd_openapi_name(p, i, buf)
                                   : p->segments[i].text;
        for (size_t k = 0; k < s.len && len < ID_MAX - 1; k++) {
            char c = s.data[k];
            if (k == 0) {
                id[len++] = '_';
            }
            id[len++] =
                rd_chars_is(c, RD_CHARS_ALPHA | RD_CHARS_DIGIT) ? c : '_';
        }
    }
    id[len] = '\0';
    for (unsigned n = 2; id_take(o, id) != 0; n++) {
        (void)snprintf(id + len, sizeof(id) - len, "_%u", n);
    }
    rd_document_member(o->doc, "operationId", id);
}

/* --- parameters ------------------------------------------------------------ */

/* Segment `at` of an operation's routes: their schemas, each once. */
static void put_schemas(struct openapi *o, unsigned from, unsigned to,
                        unsigned at)
{
    const struct rd_segment *first =
        &o->rows[from].route->compiled->segments[at];
    int several = 0;

    for (unsigned i = from; i < to; i++) {
        const struct rd_segment *s = &o->rows[i].route->compiled->segments[at];
        several |= rd_segment_compare(s, first) != 0;
    }
    if (!several) {
        rd_openapi_schema(o->doc, first);
        return;
    }
    rd_document_open(o->doc, '{');
    rd_document_key(o->doc, "anyOf");
    rd_document_open(o->doc, '[');
    for (unsigned i = from; i < to; i++) {
        const struct rd_segment *s = &o->rows[i].route->compiled->segments[at];
        unsigned k = from;
        while (rd_segment_compare(
                   s, &o->rows[k].route->compiled->segments[at]) != 0) {
            k++;
        }
        if (k == i) {
            rd_openapi_schema(o->doc, s);
        }
    }
    rd_document_close(o->doc, ']');
    rd_document_close(o->doc, '}');
}

/* `path`: whose names the path has. */
static void put_parameters(struct openapi *o, const struct rd_pattern *path,
                           unsigned from, unsigned to)
{
    struct rd_document *doc = o->doc;
    char buf[RD_OPENAPI_NAME];
    int some = 0;

    for (unsigned i = 0; i < path->n; i++) {
        if (!rd_openapi_is_variable(&path->segments[i])) {
            continue;
        }
        if (!some) {
            rd_document_key(doc, "parameters");
            rd_document_open(doc, '[');
            some = 1;
        }
        rd_document_open(doc, '{');
        rd_document_key(doc, "name");
        rd_document_quote(doc, rd_openapi_name(path, i, buf));
        doc->comma = 1;
        rd_document_member(doc, "in", "path");
        rd_document_key(doc, "required");
        rd_document_puts(doc, "true,\"schema\":");
        put_schemas(o, from, to, i);
        rd_document_close(doc, '}');
    }
    if (some) {
        rd_document_close(doc, ']');
    }
}

/* --- operations ------------------------------------------------------------ */

static const char *type_of(const struct row *row, int produced)
{
    const struct restd_route_options *options = &row->route->options;
    return produced ? options->produces : options->consumes;
}

/* "content" with the types of the routes, each once. 0 if there are none. */
static int put_content(struct openapi *o, unsigned from, unsigned to,
                       int produced, const char *before)
{
    struct rd_document *doc = o->doc;
    int some = 0;

    for (unsigned i = from; i < to; i++) {
        const char *type = type_of(&o->rows[i], produced);
        unsigned k = from;
        while (type && k < i &&
               (!type_of(&o->rows[k], produced) ||
                strcmp(type_of(&o->rows[k], produced), type) != 0)) {
            k++;
        }
        if (!type || k < i) {
            continue;
        }
        if (!some) {
            rd_document_puts(doc, before);
            rd_document_puts(doc, "\"content\":{");
            doc->comma = 0;
            some = 1;
        }
        rd_document_next(doc);
        rd_document_quote(doc, rd_slice_str(type));
        rd_document_puts(doc, ":{}");
    }
    rd_document_puts(doc, some ? "}}" : "");
    doc->comma = 1;
    return some;
}

/* Routes `from` to `to` have path and method in common. */
static void put_operation(struct openapi *o, const struct rd_pattern *path,
                          unsigned from, unsigned to)
{
    struct rd_document *doc = o->doc;
    const char *summary = NULL;
    char key[16] = "";

    for (size_t i = 0; i < strlen(o->rows[from].method); i++) {
        key[i] = rd_ascii_lower(o->rows[from].method[i]);
    }
    rd_document_key(doc, key);
    rd_document_open(doc, '{');
    put_id(o, &o->rows[from]);
    for (unsigned i = from; i < to && !summary; i++) {
        summary = o->rows[i].route->options.summary;
    }
    if (summary) {
        rd_document_member(doc, "summary", summary);
    }
    put_parameters(o, path, from, to);
    (void)put_content(o, from, to, 0, ",\"requestBody\":{\"required\":true,");
    rd_document_key(doc, "responses");
    if (put_content(o, from, to, 1, "{\"200\":{\"description\":\"Success\",")) {
        rd_document_puts(doc, ",\"default\":{\"description\":\"Problem\","
                              "\"content\":{\"application/problem+json\":"
                              "{}}}}");
    } else {
        rd_document_puts(doc,
                         "{\"default\":{\"description\":\"Not described\"}}");
    }
    rd_document_close(doc, '}');
}

/* The fields of a path item, OpenAPI 3.1 section 4.8.9. */
static int has_place(const struct rd_route *route)
{
    return route->method < RESTD_METHODS_N &&
           route->method != RESTD_METHOD_CONNECT;
}

/* Routes `from` to `to` have the path in common. */
static void put_item(struct openapi *o, unsigned from, unsigned to)
{
    const struct rd_pattern *path = o->rows[from].route->compiled;
    struct rd_document *doc = o->doc;
    int others = 0;

    rd_document_next(doc);
    rd_document_puts(doc, "\"");
    rd_openapi_path(doc, path);
    rd_document_puts(doc, "\":");
    doc->comma = 0;
    rd_document_open(doc, '{');
    for (unsigned i = from, end; i < to; i = end) {
        const struct rd_route *route = o->rows[i].route;
        for (end = i + 1;
             end < to && o->rows[end].route->method == route->method;) {
            end++;
        }
        if (has_place(route)) {
            put_operation(o, path, i, end);
        } else {
            o->rows[i].route = NULL; /* noted */
            others = 1;
        }
    }
    if (others) {
        rd_document_key(doc, "x-methods");
        rd_document_open(doc, '[');
        for (unsigned i = from; i < to; i++) {
            if (!o->rows[i].route) {
                rd_document_next(doc);
                rd_document_quote(doc, rd_slice_str(o->rows[i].method));
            }
        }
        rd_document_close(doc, ']');
    }
    rd_document_close(doc, '}');
}

static void put_document(struct openapi *o, const struct restd_listing *listing)
{
    struct rd_document *doc = o->doc;

    rd_document_open(doc, '{');
    rd_document_member(doc, "openapi", "3.1.0");
    rd_document_key(doc, "info");
    rd_document_open(doc, '{');
    rd_document_member(doc, "title", listing->title ? listing->title : "API");
    rd_document_member(doc, "version",
                       listing->version ? listing->version : "0");
    rd_document_close(doc, '}');
    rd_document_key(doc, "paths");
    rd_document_open(doc, '{');
    for (unsigned i = 0, end; i < o->n; i = end) {
        for (end = i + 1;
             end < o->n &&
             rd_openapi_compare(o->rows[i].route->compiled,
                                o->rows[end].route->compiled) == 0;) {
            end++;
        }
        put_item(o, i, end);
    }
    rd_document_close(doc, '}');
    rd_document_close(doc, '}');
    rd_document_puts(doc, "\n");
}

int rd_openapi_write(struct rd_document *doc,
                     const struct restd_listing *listing)
{
    struct openapi o = {.doc = doc, .mask = 3};
    struct restd_route_info info;
    unsigned n = 0;

    while (rd_router_route(listing->router, n)) {
        n++;
    }
    while (o.mask < 2 * (size_t)n) {
        o.mask = 2 * o.mask + 1;
    }
    /* The ids first, as they are the larger. */
    o.ids = rd_mem_alloc((o.mask + 1) * sizeof(*o.ids) + n * sizeof(*o.rows));
    if (!o.ids) {
        return RESTD_ENOMEM;
    }
    o.rows = (struct row *)(void *)(o.ids + o.mask + 1);
    for (; o.n < n && restd_router_route_at(listing->router, o.n, &info) == 0;
         o.n++) {
        o.rows[o.n].route = rd_router_route(listing->router, o.n);
        o.rows[o.n].method = info.method;
    }
    qsort(o.rows, o.n, sizeof(*o.rows), compare_rows);
    put_document(&o, listing);
    rd_mem_free(o.ids);
    return 0;
}
