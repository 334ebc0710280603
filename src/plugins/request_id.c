/* SPDX-License-Identifier: MIT */
/* The request id plugin.
 *
 * The id is kept among the fields that plugins set in the request, so that it
 * lives as long as that, promoted or not; restd_request_id() asks the plugins
 * that hold for the request for the field's name. An id is two words, each a
 * bijection of a counter that begins at random, so that none comes twice from
 * one thread, and from two by chance of 128 bits only. No lock, and one system
 * call in the life of a thread. Thread: make any, the rest [loop]. */
#include "plugins/request_id.h"

#include <string.h>

#include <restd/plugins.h>

#include "base/mem.h"
#include "base/slice.h"
#include "codec/chars.h"
#include "http/h1.h"
#include "http/overlay.h"
#include "plugins/make.h"
#include "plugins/random.h"

#define MADE_LEN 32u
#define NAME_MAX_LEN 64u
#define EACH(octet) (UINT64_C(0x0101010101010101) * (octet))

struct request_id {
    int accept, traceparent;
    size_t name_len;
    char name[NAME_MAX_LEN + 1];
};

void restd_request_id_options_init_size(
    struct restd_request_id_options *options, size_t size)
{
    static const struct restd_request_id_options defaults = {
        .header = "X-Request-Id", .accept = 1, .traceparent = 1};

    rd_sized_init(options, size, &defaults, sizeof(defaults));
}

int rd_request_id_is_valid(struct restd_slice id)
{
    if (id.len == 0 || id.len > RD_REQUEST_ID_MAX) {
        return 0;
    }
    for (size_t i = 0; i < id.len; i++) {
        if (!rd_chars_is(id.data[i], RD_CHARS_UNRESERVED)) {
            return 0;
        }
    }
    return 1;
}

/* Lower-case hexadecimal digits; *all gathers them, 0: all were zeros. */
static int is_hex(const char *p, size_t len, unsigned *all)
{
    *all = 0;
    for (size_t i = 0; i < len; i++) {
        if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f'))) {
            return 0;
        }
        *all |= (unsigned)(p[i] ^ '0');
    }
    return 1;
}

int rd_request_id_is_traceparent(struct restd_slice value)
{
    const char *p = value.data;
    unsigned trace;
    unsigned parent;
    unsigned flags;

    return value.len == 55 && memcmp(p, "00-", 3) == 0 && p[35] == '-' &&
           p[52] == '-' && is_hex(p + 3, 32, &trace) && trace &&
           is_hex(p + 36, 16, &parent) && parent && is_hex(p + 53, 2, &flags);
}

/* Eight hexadecimal digits, one to a lane; their order does not matter. */
static uint64_t hex_of(uint64_t half)
{
    uint64_t x = half & 0xffffffffu;

    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t letters = ((x + EACH(6)) >> 4) & EACH(1);
    return x + EACH('0') + letters * ('a' - '0' - 10);
}

static void id_make(char out[MADE_LEN])
{
    static _Thread_local uint64_t count[2];
    static _Thread_local int is_seeded;

    if (__builtin_expect(!is_seeded, 0)) {
        rd_random_seed(count, 2);
        is_seeded = 1;
    }
    for (unsigned i = 0; i < 2; i++) {
        uint64_t word = rd_random_mix(count[i]++);
        uint64_t digits[2] = {hex_of(word), hex_of(word >> 32)};
        memcpy(out + 16 * (size_t)i, digits, sizeof(digits));
    }
}

/* Adds a field that needs no check. */
static int put_field(struct restd_response *response, struct restd_slice name,
                     struct restd_slice value)
{
    char line[NAME_MAX_LEN + RD_REQUEST_ID_MAX + 4];
    const struct restd_slice none = {NULL, 0};
    char *p = line;

    memcpy(p, name.data, name.len);
    p += name.len;
    memcpy(p, ": ", 2);
    memcpy(p + 2, value.data, value.len);
    p += 2 + value.len;
    memcpy(p, "\r\n", 2);
    return rd_fields_join(&response->fields,
                          rd_slice(line, (size_t)(p + 2 - line)), none);
}

static int pass_traceparent(const struct restd_request *request,
                            struct restd_response *response)
{
    static const char name[] = "traceparent";
    unsigned cursor = 0;
    struct restd_slice field;
    struct restd_slice value;
    struct restd_slice other;

    if (restd_request_header_next(request, &cursor, name, &field, &value) !=
            0 ||
        !rd_request_id_is_traceparent(value) ||
        restd_request_header_next(request, &cursor, name, &field, &other) ==
            0) {
        return 0;
    }
    return put_field(response, rd_slice(name, sizeof(name) - 1), value);
}

static int before(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    const struct request_id *plugin = data;
    struct restd_slice name = {plugin->name, plugin->name_len};
    struct restd_slice id = {NULL, 0};
    char made[MADE_LEN];

    if (restd_request_id(request).data) {
        return 0;
    }
    if (plugin->accept) {
        id = restd_request_header(request, plugin->name);
    }
    if (!id.data || !rd_request_id_is_valid(id)) {
        id_make(made);
        id = rd_slice(made, MADE_LEN);
    }
    int rc = plugin->traceparent ? pass_traceparent(request, response) : 0;
    rc = rc ? rc : put_field(response, name, id);
    return rc ? rc : rd_overlay_put(&request->overlay, name, id);
}

/* What the first such plugin of the list, if there is one, has set. */
static struct restd_slice find(const struct restd_request *request,
                               const struct rd_plugins *plugins)
{
    struct restd_slice none = {NULL, 0};
    struct restd_slice name;
    struct restd_slice value;

    for (unsigned i = 0; i < plugins->n; i++) {
        unsigned at = 0;
        if (plugins->list[i].before != before) {
            continue;
        }
        const struct request_id *plugin = plugins->list[i].data;
        struct restd_slice own = {plugin->name, plugin->name_len};
        while (rd_overlay_next(&request->overlay, &at, &name, &value)) {
            if (rd_slice_eq(name, own)) {
                return value;
            }
        }
    }
    return none;
}

struct restd_slice restd_request_id(const struct restd_request *request)
{
    const struct rd_match *match = request->match;
    const struct rd_scope *scope =
        match->scope ? match->scope
                     : rd_router_scope(request->h1->view->router);
    struct restd_slice id = {NULL, 0};

    if (request->overlay.len == 0) {
        return id;
    }
    for (; scope && !id.data; scope = scope->parent) {
        id = find(request, &scope->plugins);
    }
    return id.data || !match->route ? id
                                    : find(request, &match->route->plugins);
}

/* 1 for a name that a reply may have besides the library's own fields. */
static int is_free_name(const char *name)
{
    char text[NAME_MAX_LEN + 8];
    struct rd_fields fields = {.text = text};
    struct restd_slice s = rd_slice_str(name);

    return s.len <= NAME_MAX_LEN &&
           rd_fields_add(&fields, s, rd_slice("1", 1)) == 0 &&
           fields.type_len == 0;
}

int restd_request_id_plugin(const struct restd_request_id_options *options,
                            struct restd_plugin *plugin,
                            struct restd_error *error)
{
    struct restd_request_id_options o;

    restd_request_id_options_init(&o);
    int rc = rd_make_options(&o, sizeof(o), options, error);
    if (rc != 0) {
        return rc;
    }
    const char *name = o.header ? o.header : "X-Request-Id";
    if (!is_free_name(name)) {
        return rd_error(error, RESTD_EINVAL,
                        "\"%s\" is no field for a request id", name);
    }
    struct request_id *own = rd_mem_alloc(sizeof(*own));
    if (!own) {
        return rd_make_no_memory(error);
    }
    own->accept = o.accept;
    own->traceparent = o.traceparent;
    own->name_len = strlen(name);
    memcpy(own->name, name, own->name_len);
    rd_make_plugin(plugin, "request id", rd_mem_free, own);
    plugin->before = before;
    return 0;
}
