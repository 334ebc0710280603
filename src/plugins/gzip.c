/* SPDX-License-Identifier: MIT */
/* The gzip plugin: what is compressed, and what a reply then says.
 *
 * It wraps the handler and looks at the response behind it. What decides is
 * asked from the cheapest on, so that a small reply costs a few loads. Where
 * the type and the length call for compression the reply varies with
 * Accept-Encoding, whatever this client gets (RFC 9110 12.5.5). A strong
 * validator holds for one sequence of octets (8.8.1), so a compressed content
 * has the weak form of the tag, as with nginx; a suffix to the tag, as Apache
 * adds, would have to be taken off again from what clients send back before
 * handlers see it. Thread: make any, the rest [loop]. */
#include "plugins/gzip.h"

#include <stdio.h>
#include <string.h>

#include <restd/plugins.h>

#include "base/mem.h"
#include "base/slice.h"
#include "codec/etag.h"
#include "codec/field.h"
#include "codec/negotiate.h"
#include "codec/param.h"
#include "plugins/make.h"

#define VARY "Vary: Accept-Encoding\r\n"
#define ENCODED "Content-Encoding: gzip\r\n"
/* Both, and the mark of a weak tag. */
#define ROOM (sizeof(VARY) + sizeof(ENCODED))
#define MAX_BYTES_MAX (1024u * 1024)

static const char usual_types[] =
    "text/*, application/json, +json, application/xml, +xml, +yaml, "
    "application/javascript, application/x-ndjson, application/yaml, "
    "application/wasm, application/rtf, application/vnd.ms-fontobject, "
    "font/ttf, font/otf, image/bmp, image/vnd.microsoft.icon";

struct gzip {
    uint32_t min_bytes, max_bytes;
    int level;
    size_t state_size;
    size_t types_n;
    struct restd_slice types[]; /* "a/b", "a/" for all of a, or "+b" */
};

void restd_gzip_options_init_size(struct restd_gzip_options *options,
                                  size_t size)
{
    static const struct restd_gzip_options defaults = {
        .min_bytes = 1024, .max_bytes = 65536, .level = 4};

    rd_sized_init(options, size, &defaults, sizeof(defaults));
}

static int type_matches(struct restd_slice type, struct restd_slice pattern)
{
    if (type.len > pattern.len && pattern.data[pattern.len - 1] == '/') {
        type.len = pattern.len;
    } else if (type.len > pattern.len && pattern.data[0] == '+') {
        type.data += type.len - pattern.len;
        type.len = pattern.len;
    }
    return rd_slice_ieq(type, pattern);
}

/* Of no event stream either. An absent type is text/plain. */
static int is_compressible(const struct gzip *gzip,
                           const struct restd_response *response)
{
    struct restd_slice rest = {response->fields.type,
                               response->fields.type_len};
    struct restd_slice type =
        rest.len > 0 ? rd_param_head(&rest) : rd_slice_str("text/plain");

    for (size_t i = 0; i < gzip->types_n; i++) {
        if (type_matches(type, gzip->types[i])) {
            return !rd_slice_ieq(type, rd_slice_str("text/event-stream"));
        }
    }
    return 0;
}

/* The content is said to be what it is, octet by octet. */
static int is_final(const struct restd_response *response)
{
    static const char *const names[] = {"Content-Encoding", "Content-Range",
                                        "Content-Digest",   "Repr-Digest",
                                        "Digest",           "Content-MD5"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (restd_response_header(response, names[i]).data) {
            return 1;
        }
    }
    return 0;
}

/* One of the reply's fields of that name has one of the elements. */
static int lists(const struct restd_response *response, const char *name,
                 const char *element, const char *other)
{
    struct restd_slice lines = {response->fields.text, response->fields.len};
    size_t name_len = strlen(name);
    struct restd_slice s;

    while (lines.len > 0) {
        const char *lf = memchr(lines.data, '\n', lines.len);
        size_t len = (size_t)(lf + 1 - lines.data);
        if (len > name_len && lines.data[name_len] == ':' &&
            rd_slice_ieq(rd_slice(lines.data, name_len), rd_slice_str(name))) {
            struct restd_slice list = {lines.data + name_len + 1,
                                       len - name_len - 3};
            while (rd_field_list_next(&list, &s)) {
                if (rd_slice_ieq(s, rd_slice_str(element)) ||
                    rd_slice_ieq(s, rd_slice_str(other))) {
                    return 1;
                }
            }
        }
        lines.data += len;
        lines.len -= len;
    }
    return 0;
}

/* Whether a client that accepts gzip is to get it. A 304 stands for a reply
 * whose length is not known. */
static int is_wanted(const struct gzip *gzip,
                     const struct restd_response *response)
{
    int status = response->status;
    uint64_t len = restd_response_body_len(response);

    if (status != 304 && (status < 200 || status >= 300 || status == 204 ||
                          status == 205 || status == 206)) {
        return 0;
    }
    if (status != 304 && !response->stream &&
        (len < gzip->min_bytes || len > gzip->max_bytes)) {
        return 0;
    }
    return is_compressible(gzip, response) &&
           !(response->stream && response->stream->events) &&
           response->fields.len + ROOM <= RD_FIELDS_MAX &&
           !is_final(response) &&
           !lists(response, "Cache-Control", "no-transform", "");
}

static int client_accepts(const struct restd_request *request)
{
    struct rd_accept_encoding accept = {0, 0, 0};
    struct restd_slice name;
    struct restd_slice value;
    unsigned cursor = 0;

    while (restd_request_header_next(request, &cursor, "Accept-Encoding", &name,
                                     &value) == 0) {
        rd_accept_encoding_feed(&accept, value);
    }
    return rd_accept_encoding_best(&accept) == RD_CODING_GZIP;
}

static void weaken_tag(struct rd_fields *fields)
{
    struct restd_slice tag = rd_fields_get(fields, rd_slice_str("ETag"));

    if (tag.len > 0 && tag.data[0] == '"') {
        size_t at = (size_t)(tag.data - fields->text);
        char *p = fields->text + at;
        memmove(p + 2, p, fields->len - at);
        memcpy(p, "W/", 2);
        fields->len += 2;
    }
}

/* The client has the content as it is, so that this tag holds for it: weak, it
 * would be good for no range any more. */
static int has_plain(const struct restd_request *request,
                     const struct restd_response *response)
{
    struct restd_slice tag = restd_response_header(response, "ETag");
    struct restd_slice name;
    struct restd_slice value;
    unsigned cursor = 0;

    while (restd_request_header_next(request, &cursor, "If-None-Match", &name,
                                     &value) == 0) {
        if (!restd_slice_is(value, "*") && rd_etag_list_has(value, tag, 0)) {
            return 1;
        }
    }
    return 0;
}

/* 1 once the content is gzip's, or will be. */
static int encode(const struct gzip *gzip, struct restd_request *request,
                  struct restd_response *response)
{
    int is_stream = response->stream != NULL;

    if (is_stream && restd_request_method(request) == RESTD_METHOD_HEAD) {
        return 1;
    }
    struct rd_zstate *state =
        rd_zstate_take(request->h1, gzip->state_size, gzip->level, is_stream);
    if (!state) {
        return 0;
    }
    if (is_stream) {
        rd_gzip_stream(response->stream, state);
        return 1;
    }
    int rc = rd_gzip_content(response, state);
    rd_zstate_give(state);
    return rc == 0;
}

static int wrapper(struct restd_request *request,
                   struct restd_response *response, struct restd_next *next,
                   void *data)
{
    const struct gzip *gzip = data;
    const struct restd_slice none = {NULL, 0};
    int rc = restd_next(next);

    if (rc < 0 || !is_wanted(gzip, response)) {
        return rc;
    }
    if (!lists(response, "Vary", "Accept-Encoding", "*")) {
        (void)rd_fields_join(&response->fields,
                             rd_slice(VARY, sizeof(VARY) - 1), none);
    }
    if (!client_accepts(request)) {
        return rc;
    }
    if (response->status == 304) {
        if (!has_plain(request, response)) {
            weaken_tag(&response->fields);
        }
    } else if (encode(gzip, request, response)) {
        (void)rd_fields_join(&response->fields,
                             rd_slice(ENCODED, sizeof(ENCODED) - 1), none);
        restd_response_remove_header(response, "Accept-Ranges");
        weaken_tag(&response->fields);
    }
    return rc;
}

/* A pattern as struct gzip has it; absent if it is none. */
static struct restd_slice read_type(struct restd_slice s)
{
    const char *slash = memchr(s.data, '/', s.len);
    const struct restd_slice none = {NULL, 0};

    if (!slash) {
        return s.data[0] == '+' && rd_field_is_token(s) && s.len > 1 ? s : none;
    }
    struct restd_slice type = {s.data, (size_t)(slash - s.data)};
    struct restd_slice subtype = {slash + 1, s.len - type.len - 1};
    if (!rd_field_is_token(type) || !rd_field_is_token(subtype) ||
        s.data[0] == '+' || memchr(type.data, '*', type.len)) {
        return none;
    }
    if (memchr(subtype.data, '*', subtype.len)) {
        s.len--;
        return subtype.len == 1 ? s : none;
    }
    return s;
}

static int check(const struct restd_gzip_options *o, size_t *types_n,
                 struct restd_error *error)
{
    struct restd_slice rest = rd_slice_str(o->types);
    struct restd_slice s;

    if (o->level < 1 || o->level > 9) {
        return rd_error(error, RESTD_EINVAL, "level of gzip: 1 to 9, not %u",
                        o->level);
    }
    if (o->max_bytes > MAX_BYTES_MAX || o->min_bytes > o->max_bytes) {
        return rd_error(error, RESTD_EINVAL,
                        "gzip: min_bytes %u, max_bytes %u: not in order, or "
                        "above %u",
                        o->min_bytes, o->max_bytes, MAX_BYTES_MAX);
    }
    for (*types_n = 0; rd_field_list_next(&rest, &s); (*types_n)++) {
        if (!read_type(s).data) {
            return rd_error(error, RESTD_EINVAL,
                            "types of gzip: \"%.*s\" is none", (int)s.len,
                            s.data);
        }
    }
    if (*types_n == 0) {
        return rd_error(error, RESTD_EINVAL, "types of gzip: none");
    }
    return 0;
}

int restd_gzip(const struct restd_gzip_options *options,
               struct restd_plugin *plugin, struct restd_error *error)
{
    struct restd_gzip_options o;
    struct restd_slice s;
    size_t n = 0;

    restd_gzip_options_init(&o);
    int rc = rd_make_options(&o, sizeof(o), options, error);
    o.types = o.types ? o.types : usual_types;
    rc = rc ? rc : check(&o, &n, error);
    if (rc != 0) {
        return rc;
    }
    size_t len = strlen(o.types);
    size_t size = sizeof(struct gzip) + n * sizeof(struct restd_slice);
    size_t state_size = rd_zstate_size();
    struct gzip *gzip = state_size ? rd_mem_alloc(size + len) : NULL;
    if (!gzip) {
        return rd_make_no_memory(error);
    }
    gzip->min_bytes = o.min_bytes;
    gzip->max_bytes = o.max_bytes;
    gzip->level = o.level;
    gzip->state_size = state_size;
    struct restd_slice rest = {(char *)gzip + size, len};
    memcpy((char *)gzip + size, o.types, len);
    while (rd_field_list_next(&rest, &s)) {
        gzip->types[gzip->types_n++] = read_type(s);
    }
    rd_make_plugin(plugin, "gzip", rd_mem_free, gzip);
    plugin->wrapper = wrapper;
    return 0;
}
