/* SPDX-License-Identifier: MIT */
/* Patterns of routes: compiled once into segments, which point into a copy of
 * the text in the same block.
 *
 * A segment ends at the next '/', one that begins with '{' at its matching
 * '}': in a regex, braces are counted, escapes and sets in brackets stepped
 * over. Errors name the pattern and say what is wrong, since people write them.
 * Nothing here knows of routes or methods. Thread: see pattern.h. */
#include "route/pattern.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/slice.h"
#include "codec/chars.h"

/* The ']' of the set that begins at `p`, or NULL. */
static const char *set_end(const char *p)
{
    p += p[1] == '^' ? 2 : 1;
    p += *p == ']'; /* first, it is a member */
    for (; *p && *p != ']'; p++) {
        const char *named = p[0] == '[' && p[1] == ':' ? strstr(p, ":]") : NULL;
        if (named) {
            p = named + 1;
        } else if (*p == '\\' && p[1]) {
            p++;
        }
    }
    return *p ? p : NULL;
}

/* Behind the '}' that closes the '{' at `p`, or NULL. */
static const char *braces_end(const char *p)
{
    unsigned depth = 0;

    for (; p && *p; p++) {
        if (*p == '\\' && p[1]) {
            p++;
        } else if (*p == '[') {
            p = set_end(p);
            if (!p) {
                break;
            }
        } else if (*p == '{') {
            depth++;
        } else if (*p == '}' && --depth == 0) {
            return p + 1;
        }
    }
    return NULL;
}

static int is_word(char c)
{
    return rd_chars_is(c, RD_CHARS_ALPHA | RD_CHARS_DIGIT) || c == '-' ||
           c == '_';
}

/* What a decoded segment can be, and what needs no escape to be written. */
static int text_parse(struct rd_segment *seg, struct restd_slice s,
                      const char *pattern, struct restd_error *error)
{
    if (rd_slice_eq(s, rd_slice(".", 1)) || rd_slice_eq(s, rd_slice("..", 2))) {
        return rd_error(error, RESTD_EINVAL,
                        "no path has a segment of dots: \"%s\"", pattern);
    }
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c == '{' || c == '}') {
            return rd_error(error, RESTD_EINVAL,
                            "segment must be text or {name}: \"%s\"", pattern);
        }
        if (c <= ' ' || c == 0x7f) {
            return rd_error(error, RESTD_EINVAL,
                            "text of a segment has the byte 0x%02x: \"%s\"", c,
                            pattern);
        }
        if (c == '%' || c == '?' || c == '#') {
            return rd_error(error, RESTD_EINVAL,
                            "text of a segment is written decoded, without "
                            "'%c': \"%s\"",
                            c, pattern);
        }
    }
    seg->kind = RD_SEGMENT_TEXT;
    seg->text = s;
    return 0;
}

static int regex_parse(struct rd_segment *seg, struct restd_slice source,
                       const char *pattern, struct restd_error *error)
{
    if (source.len > 0 && memchr(source.data, '/', source.len)) {
        return rd_error(error, RESTD_EINVAL,
                        "a regex sees one segment, so '/' cannot be in it: "
                        "\"%s\"",
                        pattern);
    }
    seg->kind = RD_SEGMENT_REGEX;
    seg->text = source;
    return rd_regex_new(source, &seg->regex, error);
}

/* `s`: what is between the braces. */
static int variable_parse(struct rd_segment *seg, struct restd_slice s,
                          const char *pattern, struct restd_error *error)
{
    static const struct {
        const char *name;
        enum rd_segment_kind kind;
    } classes[] = {{"int", RD_SEGMENT_INT},
                   {"uuid", RD_SEGMENT_UUID},
                   {"slug", RD_SEGMENT_SLUG}};
    const char *colon = s.len > 0 ? memchr(s.data, ':', s.len) : NULL;
    size_t len = colon ? (size_t)(colon - s.data) : s.len;

    seg->kind = RD_SEGMENT_VARIABLE;
    if (!colon && len > 3 && memcmp(s.data + len - 3, "...", 3) == 0) {
        seg->kind = RD_SEGMENT_REST;
        len -= 3;
    }
    seg->name = rd_slice(s.data, len);
    for (size_t i = 0; i < len; i++) {
        if (!is_word(s.data[i]) && (unsigned char)s.data[i] < 0x80) {
            return rd_error(error, RESTD_EINVAL,
                            "a name is of letters, digits, '-' and '_': \"%s\"",
                            pattern);
        }
    }
    if (!colon) {
        return 0;
    }
    struct restd_slice type = rd_slice(colon + 1, s.len - len - 1);
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (rd_slice_eq(type, rd_slice_str(classes[i].name))) {
            seg->kind = classes[i].kind;
            return 0;
        }
    }
    return regex_parse(seg, type, pattern, error);
}

static int param_add(struct rd_pattern *p, enum restd_router_mode mode,
                     struct restd_error *error)
{
    struct restd_slice name = p->segments[p->n - 1].name;
    unsigned i = 0;

    if (name.len == 0) {
        return 0;
    }
    while (i < p->params_n &&
           !rd_slice_eq(p->segments[p->params[i]].name, name)) {
        i++;
    }
    if (i < p->params_n && mode == RESTD_ROUTER_EXACT) {
        return rd_error(error, RESTD_EINVAL, "two segments of one name: \"%s\"",
                        p->text);
    }
    if (i == RD_PARAMS_MAX) {
        return rd_error(error, RESTD_EINVAL, "more than %d names: \"%s\"",
                        RD_PARAMS_MAX, p->text);
    }
    p->params[i] = (uint8_t)(p->n - 1);
    p->params_n += i == p->params_n;
    return 0;
}

/* The segment that begins at *at, which moves behind it. */
static int segment_parse(struct rd_pattern *p, const char **at,
                         enum restd_router_mode mode, struct restd_error *error)
{
    const char *start = *at;
    const char *end =
        *start == '{' ? braces_end(start) : start + strcspn(start, "/");
    int prefix = mode == RESTD_ROUTER_PREFIX;

    if (!end || (*end && *end != '/')) {
        return rd_error(error, RESTD_EINVAL,
                        "segment must be text or {name}: \"%s\"", p->text);
    }
    *at = end;
    if (prefix && end == start && *end) {
        return 0;
    }
    if (p->n == RD_URI_SEGMENTS_MAX) {
        return rd_error(error, RESTD_EINVAL, "more than %d segments: \"%s\"",
                        RD_URI_SEGMENTS_MAX, p->text);
    }
    struct rd_segment *seg = &p->segments[p->n++];
    struct restd_slice s = rd_slice(start, (size_t)(end - start));
    if (prefix && s.len == 0) {
        seg->kind = RD_SEGMENT_ANY;
        return 0;
    }
    int rc = *start == '{' ? variable_parse(seg, rd_slice(start + 1, s.len - 2),
                                            p->text, error)
                           : text_parse(seg, s, p->text, error);
    if (rc == 0 && seg->kind == RD_SEGMENT_REST && *end) {
        rc = rd_error(error, RESTD_EINVAL,
                      "{name...} must be the last segment: \"%s\"", p->text);
    }
    p->regexes_n += seg->regex != NULL;
    return rc ? rc : param_add(p, mode, error);
}

static int pattern_parse(struct rd_pattern *p, enum restd_router_mode mode,
                         int base, struct restd_error *error)
{
    const char *at = p->text;
    size_t len = strlen(at);
    int rc = 0;

    if (base && (len == 0 || strcmp(at, "/") == 0)) {
        return 0;
    }
    if (*at != '/') {
        return rd_error(error, RESTD_EINVAL,
                        "pattern must begin with '/': \"%s\"", at);
    }
    if (base && at[len - 1] == '/') {
        return rd_error(error, RESTD_EINVAL,
                        "a base must not end with '/': \"%s\"", at);
    }
    while (rc == 0 && *at) {
        at++; /* the '/' */
        rc = segment_parse(p, &at, mode, error);
    }
    if (rc == 0 && base && p->segments[p->n - 1].kind == RD_SEGMENT_REST) {
        rc = rd_error(error, RESTD_EINVAL,
                      "a base cannot have {name...}: \"%s\"", p->text);
    }
    return rc;
}

int rd_pattern_new(const char *text, enum restd_router_mode mode, int base,
                   struct rd_pattern **out, struct restd_error *error)
{
    size_t len = strlen(text);
    size_t slashes = 0;

    for (size_t i = 0; i < len && slashes < RD_URI_SEGMENTS_MAX; i++) {
        slashes += text[i] == '/';
    }
    size_t size =
        sizeof(struct rd_pattern) + slashes * sizeof(struct rd_segment);
    struct rd_pattern *p = rd_mem_alloc(size + len + 1);
    if (!p) {
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    p->text = memcpy((char *)p + size, text, len + 1);
    int rc = pattern_parse(p, mode, base, error);
    if (rc != 0) {
        rd_pattern_free(p);
        return rc;
    }
    *out = p;
    return 0;
}

void rd_pattern_free(struct rd_pattern *p)
{
    for (unsigned i = 0; p && i < p->n; i++) {
        rd_regex_free(p->segments[i].regex);
    }
    rd_mem_free(p);
}

size_t rd_pattern_bytes(const struct rd_pattern *p)
{
    size_t bytes = sizeof(*p) + p->n * sizeof(p->segments[0]) + strlen(p->text);

    for (unsigned i = 0; i < p->n; i++) {
        if (p->segments[i].regex) {
            bytes += rd_regex_bytes(p->segments[i].regex);
        }
    }
    return bytes;
}

int rd_segment_compare(const struct rd_segment *a, const struct rd_segment *b)
{
    size_t len = a->text.len < b->text.len ? a->text.len : b->text.len;
    int order = (int)a->kind - (int)b->kind;

    if (order == 0 && len > 0) {
        order = memcmp(a->text.data, b->text.data, len);
    }
    return order ? order : (a->text.len > len) - (b->text.len > len);
}

int rd_pattern_compare(const struct rd_pattern *a, const struct rd_pattern *b)
{
    for (unsigned i = 0; i < a->n && i < b->n; i++) {
        int order = rd_segment_compare(&a->segments[i], &b->segments[i]);
        if (order != 0) {
            return order;
        }
    }
    return a->n - b->n;
}

static int is_int(struct restd_slice s)
{
    size_t sign = s.len > 0 && s.data[0] == '-';

    for (size_t i = sign; i < s.len; i++) {
        if (!rd_chars_is(s.data[i], RD_CHARS_DIGIT)) {
            return 0;
        }
    }
    return s.len > sign && s.len - sign <= 19;
}

static int is_uuid(struct restd_slice s)
{
    for (size_t i = 0; i < s.len && s.len == 36; i++) {
        int dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.data[i] != '-' : !rd_chars_is(s.data[i], RD_CHARS_HEX)) {
            return 0;
        }
    }
    return s.len == 36;
}

static int is_slug(struct restd_slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!rd_chars_is(s.data[i], RD_CHARS_UNRESERVED)) {
            return 0;
        }
    }
    return s.len > 0;
}

int rd_segment_fits(const struct rd_segment *seg, struct restd_slice value,
                    struct rd_regex_work *work)
{
    switch (seg->kind) {
    case RD_SEGMENT_TEXT:
        return rd_slice_eq(seg->text, value);
    case RD_SEGMENT_REGEX:
        return rd_regex_match(seg->regex, value, work);
    case RD_SEGMENT_UUID:
        return is_uuid(value);
    case RD_SEGMENT_INT:
        return is_int(value);
    case RD_SEGMENT_SLUG:
        return is_slug(value);
    case RD_SEGMENT_VARIABLE:
        return value.len > 0;
    case RD_SEGMENT_REST:
    case RD_SEGMENT_ANY:
        break;
    }
    return 1;
}

int rd_pattern_fits(const struct rd_pattern *pattern,
                    const struct rd_uri_path *path, struct rd_regex_work *work)
{
    for (unsigned i = 0; i < pattern->n; i++) {
        if (i == path->n ||
            !rd_segment_fits(&pattern->segments[i], path->segments[i], work)) {
            return 0;
        }
    }
    return 1;
}
