/* SPDX-License-Identifier: MIT */
/* Routes that cannot be meant as they are.
 *
 * Which paths a pattern takes is compared segment by segment: of two that are
 * tried one after the other, the second is unreachable if each segment of the
 * first takes all that its own takes. In the tree only a regex can do that, as
 * all else that stands earlier takes less. What regexes do is measured, see
 * regex_probe.c, once for each text. Thread: see restd/router.h. */
#include <stdarg.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/slice.h"
#include "codec/chars.h"
#include "route/router_tree.h"

struct study {
    struct restd_slice source;
    struct rd_regex_traits traits;
};

struct lint {
    const struct restd_router *router;
    restd_lint_fn *fn;
    void *data;
    int found;
    struct rd_regex_work *regex; /* NULL: no route has one */
    struct study *studies;
    unsigned studies_n;
};

__attribute__((format(printf, 4, 5))) static void
tell(struct lint *l, enum restd_lint_kind kind, const char *pattern,
     const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    l->found++;
    l->fn(kind, pattern, text, l->data);
}

/* --- regexes by themselves ------------------------------------------------- */

static const struct rd_regex_traits *traits_of(const struct lint *l,
                                               const struct rd_segment *seg)
{
    for (unsigned i = 0; i < l->studies_n; i++) {
        if (rd_slice_eq(l->studies[i].source, seg->text)) {
            return &l->studies[i].traits;
        }
    }
    return NULL;
}

static int is_word(struct restd_slice s)
{
    size_t i = 0;

    while (i < s.len && rd_chars_is(s.data[i], RD_CHARS_ALPHA)) {
        i++;
    }
    return s.len > 0 && i == s.len;
}

static int regex_check(struct lint *l, const struct rd_route *route, unsigned i)
{
    const struct rd_segment *seg = &route->compiled->segments[i];
    const struct rd_regex_traits *traits = traits_of(l, seg);
    struct study *s = &l->studies[l->studies_n];
    int len = seg->text.len < 128 ? (int)seg->text.len : 128;

    if (!traits) {
        RD_ASSERT(l->studies && l->studies_n < l->router->regexes_n);
        int rc = rd_regex_study(seg->regex, seg->text, &s->traits);
        if (rc != 0) {
            return rc;
        }
        s->source = seg->text;
        l->studies_n++;
        traits = &s->traits;
        if (traits->slow) {
            tell(l, RESTD_LINT_SLOW, route->pattern,
                 "\"%.*s\" can be made to take more than %u steps, and does "
                 "not match then",
                 len, seg->text.data, RD_REGEX_STEPS_MAX);
        }
    }
    if (is_word(seg->text)) {
        tell(l, RESTD_LINT_WORD, route->pattern,
             "\"%.*s\" matches that word only; the classes are int, uuid and "
             "slug",
             len, seg->text.data);
    }
    /* The empty regex stands for a final '/'. */
    if (traits->takes_none &&
        (seg->text.len > 0 || i + 1 < route->compiled->n)) {
        tell(l, RESTD_LINT_EMPTY, route->pattern, "\"%.*s\" matches %s", len,
             seg->text.data,
             traits->takes_empty ? "only an empty segment" : "no segment");
    }
    return 0;
}

static int route_check(struct lint *l, const struct rd_route *route)
{
    const struct rd_pattern *p = route->compiled;
    unsigned named = 0;
    int rc = 0;

    for (unsigned i = 0; i < p->n && rc == 0; i++) {
        named += p->segments[i].name.len > 0;
        rc = p->segments[i].regex ? regex_check(l, route, i) : 0;
    }
    if (named > p->params_n) {
        tell(l, RESTD_LINT_NAMES, route->pattern,
             "two segments have one name; the last one counts");
    }
    return rc;
}

/* --- one route after another ----------------------------------------------- */

enum { TAKES_NO, TAKES_MOST, TAKES_ALL };

/* Of a class, by what it is there for. */
static int takes_class(const struct lint *l, const struct rd_segment *a,
                       enum rd_segment_kind kind)
{
    static const char *const usual[][4] = {
        {"7", "42", "1234", "1234567890"}, /* int */
        {"0b8e4c1a-93d7-4f26-8a5b-d0c1e2f3a4b5",
         "00000000-0000-0000-0000-000000000000",
         "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
         "0B8E4C1A-93D7-4F26-8A5B-D0C1E2F3A4B5"},
        {"a", "first", "some-name", "item_2"}, /* slug */
    };
    unsigned n = 0;
    unsigned row = kind == RD_SEGMENT_INT ? 0 : kind == RD_SEGMENT_UUID ? 1 : 2;

    for (unsigned i = 0; i < 4; i++) {
        n += rd_regex_match(a->regex, rd_slice_str(usual[row][i]), l->regex);
    }
    return n >= 3 ? TAKES_MOST : TAKES_NO;
}

/* How much of what `b` takes `a` takes as well. */
static int takes(const struct lint *l, const struct rd_segment *a,
                 const struct rd_segment *b)
{
    const struct rd_regex_traits *of_a, *of_b;
    int b_empty = b->kind == RD_SEGMENT_ANY || b->kind == RD_SEGMENT_REST;

    if (a->kind == RD_SEGMENT_REST || a->kind == RD_SEGMENT_ANY ||
        rd_segment_compare(a, b) == 0) {
        return TAKES_ALL;
    }
    if (b->kind == RD_SEGMENT_TEXT) {
        return rd_segment_fits(a, b->text, l->regex) ? TAKES_ALL : TAKES_NO;
    }
    if (b->kind == RD_SEGMENT_REGEX) {
        of_b = traits_of(l, b);
        b_empty = !of_b || of_b->takes_empty;
    }
    if (a->kind == RD_SEGMENT_VARIABLE) {
        return b_empty ? TAKES_NO : TAKES_ALL;
    }
    if (a->kind == RD_SEGMENT_SLUG) {
        return b->kind == RD_SEGMENT_INT || b->kind == RD_SEGMENT_UUID
                   ? TAKES_ALL
                   : TAKES_NO;
    }
    of_a = a->kind == RD_SEGMENT_REGEX ? traits_of(l, a) : NULL;
    if (of_a && of_a->takes_all && (of_a->takes_empty || !b_empty)) {
        return TAKES_ALL;
    }
    return of_a && (b->kind == RD_SEGMENT_INT || b->kind == RD_SEGMENT_UUID ||
                    b->kind == RD_SEGMENT_SLUG)
               ? takes_class(l, a, b->kind)
               : TAKES_NO;
}

/* The same of whole patterns; `prefix`: of `a`, behind which more may come. */
static int takes_paths(const struct lint *l, const struct rd_pattern *a,
                       const struct rd_pattern *b, int prefix)
{
    int most = TAKES_ALL;

    for (unsigned i = 0; i < a->n; i++) {
        int is_rest = a->segments[i].kind == RD_SEGMENT_REST;
        if (i >= b->n ||
            (!is_rest && !prefix && b->segments[i].kind == RD_SEGMENT_REST)) {
            return TAKES_NO;
        }
        int how = takes(l, &a->segments[i], &b->segments[i]);
        most = how < most ? how : most;
        if (is_rest || most == TAKES_NO) {
            return most;
        }
    }
    return prefix || a->n == b->n ? most : TAKES_NO;
}

static int begins_apart(const struct rd_pattern *a, const struct rd_pattern *b)
{
    return a->segments[0].kind == RD_SEGMENT_TEXT &&
           rd_segment_compare(&a->segments[0], &b->segments[0]) != 0;
}

static void tree_check(struct lint *l)
{
    const struct rd_routes *exact = &l->router->exact;
    const char *told = NULL;

    for (unsigned i = 1; i < exact->n && l->regex; i++) {
        const struct rd_route *b = exact->list[i];
        for (unsigned k = i; k-- > 0 && b->compiled->text != told;) {
            const struct rd_route *a = exact->list[k];
            if (begins_apart(a->compiled, b->compiled)) {
                break; /* as do all before */
            }
            if (a->compiled->regexes_n == 0 ||
                (a->method != b->method && (a->method != RESTD_METHOD_GET ||
                                            b->method != RESTD_METHOD_HEAD)) ||
                rd_pattern_compare(a->compiled, b->compiled) == 0) {
                continue;
            }
            int how = takes_paths(l, a->compiled, b->compiled, 0);
            if (how == TAKES_NO) {
                continue;
            }
            told = b->compiled->text;
            tell(l,
                 how == TAKES_ALL ? RESTD_LINT_UNREACHABLE : RESTD_LINT_HIDDEN,
                 b->pattern, "%s of its paths go to %s, which comes first (%s)",
                 how == TAKES_ALL ? "all" : "most", a->pattern,
                 l->router->methods[b->method]);
        }
    }
}

/* Methods of an entry that routes of the tree have for all its paths. */
static uint32_t taken_by_tree(const struct lint *l,
                              const struct rd_router_entry *entry,
                              const char **by)
{
    const struct rd_routes *exact = &l->router->exact;
    uint32_t methods = 0;

    for (unsigned i = 0; i < exact->n; i++) {
        const struct rd_route *a = exact->list[i];
        if (a->compiled->segments[a->compiled->n - 1].kind == RD_SEGMENT_REST &&
            takes_paths(l, a->compiled, entry->pattern, 0) == TAKES_ALL) {
            methods |= 1u << a->method | 1u << RESTD_METHOD_OPTIONS |
                       (uint32_t)(a->method == RESTD_METHOD_GET)
                           << RESTD_METHOD_HEAD;
            *by = a->pattern;
        }
    }
    return methods;
}

/* Earlier entries of the same list take paths whatever the method, those of
 * lists that are asked before need it. */
static void list_check(struct lint *l, const struct rd_scope *scope,
                       const struct rd_router_entry *entry)
{
    const char *by = NULL;
    int hidden =
        (entry->end.methods & ~taken_by_tree(l, entry, &by)) == 0 && by;

    for (const struct rd_scope *s = l->router->scopes; !hidden; s = s->next) {
        const struct rd_router_entry *e = s->entries;
        for (unsigned i = 0; i < s->entries_n && e != entry && !hidden;
             i++, e++) {
            hidden = (s == scope || !(entry->end.methods & ~e->end.methods)) &&
                     takes_paths(l, e->pattern, entry->pattern, 1) == TAKES_ALL;
            by = e->pattern->text;
        }
        if (s == scope) {
            break;
        }
    }
    if (hidden) {
        tell(l, RESTD_LINT_UNREACHABLE, entry->pattern->text,
             "all of its paths go to %s, which comes first", by);
    }
}

int restd_router_lint(struct restd_router *router, restd_lint_fn *fn,
                      void *data)
{
    struct lint l = {.router = router, .fn = fn, .data = data};
    const struct rd_routes *listed = &router->listed;
    int rc = rd_router_freeze(router);

    if (rc == 0 && router->regexes_n > 0) {
        l.studies = rd_mem_alloc(router->regexes_n * sizeof(*l.studies));
        rc = l.studies ? rd_regex_work_new(&l.regex) : RESTD_ENOMEM;
    }
    for (unsigned i = 0; i < listed->n && rc == 0; i++) {
        if (i == 0 || strcmp(listed->list[i - 1]->pattern,
                             listed->list[i]->pattern) != 0) {
            rc = route_check(&l, listed->list[i]);
        }
    }
    if (rc == 0) {
        tree_check(&l);
    }
    for (struct rd_scope *s = router->scopes; s && rc == 0; s = s->next) {
        for (unsigned i = 0; i < s->entries_n; i++) {
            list_check(&l, s, &s->entries[i]);
        }
    }
    rd_regex_work_free(l.regex);
    rd_mem_free(l.studies);
    return rc ? rc : l.found;
}
