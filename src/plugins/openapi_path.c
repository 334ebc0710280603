/* SPDX-License-Identifier: MIT */
/* What OpenAPI and JSON Schema make of a pattern, see openapi.h. Patterns come
 * compiled from the router: no parsing here. Thread: any, writing [loop]. */
#include "plugins/openapi.h"

#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "codec/chars.h"

int rd_openapi_is_variable(const struct rd_segment *seg)
{
    return seg->kind != RD_SEGMENT_TEXT && seg->kind != RD_SEGMENT_ANY;
}

int rd_openapi_compare(const struct rd_pattern *a, const struct rd_pattern *b)
{
    for (unsigned i = 0; i < a->n && i < b->n; i++) {
        const struct rd_segment *s = &a->segments[i], *t = &b->segments[i];
        size_t len = s->text.len < t->text.len ? s->text.len : t->text.len;
        int order = rd_openapi_is_variable(s) - rd_openapi_is_variable(t);
        if (order == 0 && !rd_openapi_is_variable(s)) {
            order = len > 0 ? memcmp(s->text.data, t->text.data, len) : 0;
            order = order ? order : (s->text.len > len) - (t->text.len > len);
        }
        if (order != 0) {
            return order;
        }
    }
    return a->n - b->n;
}

static int is_named_before(const struct rd_pattern *p, unsigned n,
                           struct restd_slice name)
{
    unsigned i = 0;

    while (i < n && !rd_slice_eq(p->segments[i].name, name)) {
        i++;
    }
    return i < n;
}

struct restd_slice rd_openapi_name(const struct rd_pattern *p, unsigned i,
                                   char buf[RD_OPENAPI_NAME])
{
    struct restd_slice name = p->segments[i].name;

    if (name.len > 0 && !is_named_before(p, i, name)) {
        return name;
    }
    size_t len = (size_t)snprintf(buf, RD_OPENAPI_NAME, "segment%u", i + 1);
    while (is_named_before(p, p->n, rd_slice(buf, len))) {
        buf[len++] = '_';
    }
    return rd_slice(buf, len);
}

void rd_openapi_path(struct rd_document *doc, const struct rd_pattern *p)
{
    char buf[RD_OPENAPI_NAME];

    for (unsigned i = 0; i < p->n; i++) {
        struct restd_slice text = p->segments[i].text;
        rd_document_puts(doc, "/");
        if (rd_openapi_is_variable(&p->segments[i])) {
            rd_document_puts(doc, "{");
            rd_document_escape(doc, rd_openapi_name(p, i, buf));
            rd_document_puts(doc, "}");
            continue;
        }
        for (size_t k = 0; k < text.len; k++) {
            char c = text.data[k];
            if (rd_chars_is(c, RD_CHARS_REGNAME) || c == ':' || c == '@') {
                rd_document_put(doc, rd_slice(&c, 1));
            } else {
                (void)snprintf(buf, sizeof(buf), "%%%02X", (unsigned char)c);
                rd_document_puts(doc, buf);
            }
        }
    }
}

/* Whether ECMA-262 reads the regex, and as PCRE2 does; doubtful ones it does
 * not. */
static int is_ecma(struct restd_slice s)
{
    int in_set = 0;

    for (size_t i = 0; i < s.len; i++) {
        char c = s.data[i];
        char next = i + 1 < s.len ? s.data[i + 1] : '\0';
        char third = i + 2 < s.len ? s.data[i + 2] : '\0';
        if ((unsigned char)c < 0x20 || (unsigned char)c > 0x7e) {
            return 0;
        }
        if (c == '\\') {
            if (!next || !strchr("dDwWsSbBtnrfv^$\\.*+?()[]{}|/-", next) ||
                (next == '-' && !in_set)) {
                return 0;
            }
            i++;
        } else if (in_set) {
            in_set = c != ']';
            if (c == '[' && next == ':') {
                return 0;
            }
        } else if (c == '[') {
            in_set = 1;
            i += next == '^';
            if ((next == '^' ? third : next) == ']' || next == '[') {
                return 0;
            }
        } else if ((c == '(' && next == '*') ||
                   (c == '(' && next == '?' && !strchr(":=!", third)) ||
                   (c == '{' && !rd_chars_is(next, RD_CHARS_DIGIT)) ||
                   c == ']' || (strchr("*+?}", c) && next == '+')) {
            return 0;
        }
    }
    return 1;
}

static void put_regex(struct rd_document *doc, struct restd_slice source)
{
    int is_pattern = is_ecma(source);

    rd_document_key(doc, is_pattern ? "pattern" : "description");
    rd_document_puts(doc, is_pattern ? "\"^(?:" : "\"matches, as PCRE2: ");
    rd_document_escape(doc, source);
    rd_document_puts(doc, is_pattern ? ")$\"" : "\"");
    doc->comma = 1;
}

void rd_openapi_schema(struct rd_document *doc, const struct rd_segment *seg)
{
    rd_document_open(doc, '{');
    rd_document_member(doc, "type",
                       seg->kind == RD_SEGMENT_INT ? "integer" : "string");
    switch (seg->kind) {
    case RD_SEGMENT_REGEX:
        put_regex(doc, seg->text);
        break;
    case RD_SEGMENT_UUID:
        rd_document_member(doc, "format", "uuid");
        break;
    case RD_SEGMENT_SLUG:
        rd_document_member(doc, "pattern", "^[A-Za-z0-9_.~-]+$");
        break;
    case RD_SEGMENT_REST:
        rd_document_member(doc, "description", "the rest of the path");
        break;
    case RD_SEGMENT_TEXT:
    case RD_SEGMENT_INT:
    case RD_SEGMENT_VARIABLE:
    case RD_SEGMENT_ANY:
        break;
    }
    rd_document_close(doc, '}');
}
