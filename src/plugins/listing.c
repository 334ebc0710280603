/* SPDX-License-Identifier: MIT */
/* The routes as text, YAML and JSON; openapi.c has OpenAPI. Routes come by
 * pattern, so those of one stand together; nothing is kept between requests,
 * as a listing is asked for by people and generators, not by clients. Thread:
 * set-up any, the handler [loop]. */
#include <restd/listing.h>

#include <string.h>
#include <strings.h>

#include <restd/response.h>

#include "base/sized.h"
#include "base/slice.h"
#include "codec/chars.h"
#include "plugins/openapi.h"

/* Routes `from` to `to` have one pattern. */
struct endpoint {
    const struct restd_router *router;
    unsigned from, to;
    const char *pattern, *summary; /* NULL: none has one */
};

void restd_listing_init_size(struct restd_listing *listing, size_t size)
{
    static const struct restd_listing defaults = {0};

    rd_sized_init(listing, size, &defaults, sizeof(defaults));
}

/* The one behind it; 0 behind the last. */
static int endpoint_next(struct endpoint *e)
{
    struct restd_route_info info;

    e->from = e->to;
    e->pattern = e->summary = NULL;
    while (restd_router_route_at(e->router, e->to, &info) == 0 &&
           (!e->pattern || strcmp(e->pattern, info.pattern) == 0)) {
        e->pattern = info.pattern;
        e->summary = e->summary ? e->summary : info.summary;
        e->to++;
    }
    return e->pattern != NULL;
}

/* Whether a route has another summary than its endpoint. */
static int has_own(const struct endpoint *e, unsigned i,
                   struct restd_route_info *info)
{
    return restd_router_route_at(e->router, i, info) == 0 && info->summary &&
           e->summary && strcmp(info->summary, e->summary) != 0;
}

/* --- text ------------------------------------------------------------------ */

static void text_endpoint(struct rd_document *doc, const struct endpoint *e)
{
    struct restd_route_info info;

    rd_document_puts(doc, e->pattern);
    rd_document_puts(doc, "\n");
    for (unsigned i = e->from;
         i < e->to && restd_router_route_at(e->router, i, &info) == 0; i++) {
        size_t len = strlen(info.method);
        rd_document_puts(doc, "    ");
        rd_document_puts(doc, info.method);
        if (info.summary) {
            rd_document_put(doc, rd_slice("         ", len < 8 ? 9 - len : 1));
            rd_document_puts(doc, info.summary);
        }
        rd_document_puts(doc, "\n");
    }
}

static void text_write(struct rd_document *doc,
                       const struct restd_listing *listing)
{
    struct endpoint e = {.router = listing->router};

    if (listing->title) {
        rd_document_puts(doc, listing->title);
        rd_document_puts(doc, listing->version ? " " : "");
    }
    rd_document_puts(doc, listing->version ? listing->version : "");
    rd_document_puts(doc, listing->title || listing->version ? "\n\n" : "");
    while (endpoint_next(&e)) {
        text_endpoint(doc, &e);
    }
}

/* --- YAML ------------------------------------------------------------------ */

/* What no reader takes for a number, a boolean, a comment or a mapping. */
static int is_plain(const char *text)
{
    static const char *const words[] = {"true", "false", "null", "yes", "no",
                                        "on",   "off",   "y",    "n"};
    size_t len = strlen(text);

    if (len == 0 || text[len - 1] == ' ' ||
        (*text != '/' && !rd_chars_is(*text, RD_CHARS_ALPHA))) {
        return 0;
    }
    for (size_t i = 0; i < len; i++) {
        if (!rd_chars_is(text[i], RD_CHARS_ALPHA | RD_CHARS_DIGIT) &&
            !strchr(" /_-.,(){}", text[i])) {
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(text, words[i]) == 0) {
            return 0;
        }
    }
    return 1;
}

static void yaml_put(struct rd_document *doc, const char *before,
                     const char *text, const char *behind)
{
    rd_document_puts(doc, before);
    if (is_plain(text)) {
        rd_document_puts(doc, text);
    } else {
        rd_document_quote(doc, rd_slice_str(text));
    }
    rd_document_puts(doc, behind);
}

static void yaml_endpoint(struct rd_document *doc, const struct endpoint *e)
{
    struct restd_route_info info;
    int own = 0;

    yaml_put(doc, "  - endpoint: ", e->pattern, "\n");
    if (e->summary) {
        yaml_put(doc, "    summary: ", e->summary, "\n");
    }
    rd_document_puts(doc, "    methods:\n");
    for (unsigned i = e->from; i < e->to; i++) {
        own += has_own(e, i, &info);
        yaml_put(doc, "      - ", info.method, "\n");
    }
    rd_document_puts(doc, own > 0 ? "    summaries:\n" : "");
    for (unsigned i = e->from; i < e->to; i++) {
        if (has_own(e, i, &info)) {
            yaml_put(doc, "      ", info.method, "");
            yaml_put(doc, ": ", info.summary, "\n");
        }
    }
}

static void yaml_write(struct rd_document *doc,
                       const struct restd_listing *listing)
{
    struct endpoint e = {.router = listing->router};
    struct restd_route_info any;

    rd_document_puts(doc, "---\n");
    if (listing->title) {
        yaml_put(doc, "title: ", listing->title, "\n");
    }
    if (listing->version) {
        yaml_put(doc, "version: ", listing->version, "\n");
    }
    rd_document_puts(doc, restd_router_route_at(e.router, 0, &any) == 0
                              ? "endpoints:\n"
                              : "endpoints: []\n");
    while (endpoint_next(&e)) {
        yaml_endpoint(doc, &e);
    }
}

/* --- JSON ------------------------------------------------------------------ */

static void json_endpoint(struct rd_document *doc, const struct endpoint *e)
{
    struct restd_route_info info;
    int own = 0;

    rd_document_open(doc, '{');
    rd_document_member(doc, "endpoint", e->pattern);
    if (e->summary) {
        rd_document_member(doc, "summary", e->summary);
    }
    rd_document_key(doc, "methods");
    rd_document_open(doc, '[');
    for (unsigned i = e->from; i < e->to; i++) {
        own += has_own(e, i, &info);
        rd_document_next(doc);
        rd_document_quote(doc, rd_slice_str(info.method));
    }
    rd_document_close(doc, ']');
    if (own > 0) {
        rd_document_key(doc, "summaries");
        rd_document_open(doc, '{');
        for (unsigned i = e->from; i < e->to; i++) {
            if (has_own(e, i, &info)) {
                rd_document_member(doc, info.method, info.summary);
            }
        }
        rd_document_close(doc, '}');
    }
    rd_document_close(doc, '}');
}

static void json_write(struct rd_document *doc,
                       const struct restd_listing *listing)
{
    struct endpoint e = {.router = listing->router};

    rd_document_open(doc, '{');
    if (listing->title) {
        rd_document_member(doc, "title", listing->title);
    }
    if (listing->version) {
        rd_document_member(doc, "version", listing->version);
    }
    rd_document_key(doc, "endpoints");
    rd_document_open(doc, '[');
    while (endpoint_next(&e)) {
        json_endpoint(doc, &e);
    }
    rd_document_close(doc, ']');
    rd_document_close(doc, '}');
    rd_document_puts(doc, "\n");
}

int restd_listing_handler(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    const struct restd_listing *listing = data;
    struct rd_document doc;
    const char *type = "application/json";
    int rc = 0;

    (void)request;
    rd_document_init(&doc, response);
    switch (listing->format) {
    case RESTD_LISTING_TEXT:
        type = "text/plain; charset=utf-8";
        text_write(&doc, listing);
        break;
    case RESTD_LISTING_YAML:
        type = "application/yaml";
        yaml_write(&doc, listing);
        break;
    case RESTD_LISTING_JSON:
        json_write(&doc, listing);
        break;
    case RESTD_LISTING_OPENAPI:
        rc = rd_openapi_write(&doc, listing);
        break;
    }
    (void)restd_response_set_type(response, type);
    return rc ? rc : rd_document_finish(&doc);
}
