/* SPDX-License-Identifier: MIT */
/* Routers against a plain reference: random sets of routes, with children of
 * both modes mounted into one another, and for each request a matcher that
 * tries every route. Compared are refusals, route, values, Allow, scope and
 * the chain of wrappers. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "router_help.h"
#include "support/suite.h"

enum { ROUTES = 64, SCOPES = 8, SEGMENTS = 12, TEXT = 160 };

/* Patterns are kept as text and split anew for each comparison. */
struct parts {
    unsigned n;
    char part[SEGMENTS + 1][40];
};

struct ref_route {
    int live, router, list, scope;
    unsigned order; /* of adding */
    char method[8], pattern[TEXT];
};

struct ref_router {
    struct restd_router *real; /* NULL: mounted or refused */
    int prefix, parent, root;  /* parent and root: of the mounts */
    unsigned order;            /* of mounting */
    char base[TEXT];
};

static struct ref_route routes[ROUTES];
static unsigned routes_n, orders;
static struct ref_router routers[SCOPES];
static int routers_n;
static unsigned set;  /* its number is its seed */
static unsigned seed; /* as it goes on */

static unsigned some(unsigned n)
{
    return (unsigned)rand_r(&seed) % n;
}

/* Check writes to a file for each of its own, which takes most of the time
 * here. */
#define must_say(cond, ...)                                                    \
    do {                                                                       \
        if (!(cond)) {                                                         \
            ck_abort_msg(__VA_ARGS__);                                         \
        }                                                                      \
    } while (0)
#define must(cond) must_say(cond, "set %u: %s", set, #cond)

/* --- the reference ------------------------------------------------------- */

static void split(const char *text, int prefix, struct parts *out)
{
    out->n = 0;
    while (*text == '/') {
        const char *end = ++text;
        end += strcspn(text, "/");
        if (end > text || !prefix || !*end) {
            must(out->n < SEGMENTS);
            snprintf(out->part[out->n++], sizeof(out->part[0]), "%.*s",
                     (int)(end - text), text);
        }
        text = end;
    }
}

static int all_of(const char *text, const char *of)
{
    return *text != '\0' && text[strspn(text, of)] == '\0';
}

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define SAMPLE_UUID "01234567-89ab-cdef-0123-456789abcdef"

/* Specs of variables behind the colon, the more specific first, and whether a
 * segment fits. Regexes in the order of their text. */
static const char *const specs[] = {"",     "[0-9]{2,3}", "[a-b]{2}", "a|b",
                                    "uuid", "int",        "slug"};

static int spec_fits(unsigned spec, const char *value)
{
    size_t len = strlen(value);
    switch (spec) {
    case 0:
        return len == 0;
    case 1:
        return all_of(value, DIGITS) && (len == 2 || len == 3);
    case 2:
        return all_of(value, "ab") && len == 2;
    case 3:
        return strcmp(value, "a") == 0 || strcmp(value, "b") == 0;
    case 4:
        return strcmp(value, SAMPLE_UUID) == 0;
    case 5:
        value += *value == '-';
        return all_of(value, DIGITS) && strlen(value) <= 19;
    default:
        return all_of(value, LETTERS DIGITS "-_.~");
    }
}

/* What a part of a pattern is: 'A' text, 'B'.. a spec, 'V' a variable, 'Z' the
 * rest; its name. */
static char kind_of(const char *part, char *name)
{
    const char *colon = strchr(part, ':');
    *name = '\0';
    if (*part != '{') {
        return 'A';
    }
    snprintf(name, 8, "%.*s", (int)strcspn(part + 1, ":.}"), part + 1);
    if (!colon) {
        return strstr(part, "...}") ? 'Z' : 'V';
    }
    for (unsigned i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        size_t len = strlen(specs[i]);
        if (strlen(colon) == len + 2 && memcmp(colon + 1, specs[i], len) == 0) {
            return (char)('B' + i);
        }
    }
    ck_abort_msg("%s", part);
}

/* 1 if path parts fit; `rank` gets a letter a part. `open`: the pattern may be
 * shorter. */
static int fits(const struct parts *pattern, const struct parts *path,
                int prefix, int open, char *rank)
{
    char name[8];
    unsigned i = 0;
    for (; i < pattern->n; i++) {
        const char *value = path->part[i];
        char kind = kind_of(pattern->part[i], name);
        int last_any = prefix && !open && i + 1 == pattern->n &&
                       pattern->part[i][0] == '\0';
        if (i >= path->n ||
            (kind == 'A' && !last_any &&
             strcmp(pattern->part[i], value) != 0) ||
            (kind > 'A' && kind < 'V' &&
             !spec_fits((unsigned)(kind - 'B'), value)) ||
            (kind == 'V' && *value == '\0')) {
            return 0;
        }
        rank[i] = kind;
        if (kind == 'Z') {
            rank[i + 1] = '\0';
            return 1;
        }
    }
    rank[i] = '\0';
    return prefix || open || i == path->n;
}

/* Same but for the names. */
static int equal_patterns(const char *a, const char *b)
{
    struct parts p, q;
    char name[8];
    split(a, 0, &p);
    split(b, 0, &q);
    if (p.n != q.n) {
        return 0;
    }
    for (unsigned i = 0; i < p.n; i++) {
        char kind = kind_of(p.part[i], name);
        if (kind != kind_of(q.part[i], name) ||
            (kind == 'A' && strcmp(p.part[i], q.part[i]) != 0)) {
            return 0;
        }
    }
    return 1;
}

static int has_method(const struct ref_route *r, const char *method)
{
    return strcmp(r->method, method) == 0;
}

/* Of the routes that `is_one` marks, the one for the method. */
static const struct ref_route *choose(const unsigned char *is_one,
                                      const char *method, uint32_t *allowed)
{
    const struct ref_route *get = NULL, *own = NULL;
    for (unsigned i = 0; i < routes_n; i++) {
        const struct ref_route *r = &routes[i];
        if (!is_one[i]) {
            continue;
        }
        *allowed |= 1u << rd_router_method(router, rd_slice_str(r->method)) |
                    1u << RESTD_METHOD_OPTIONS;
        if (has_method(r, "GET")) {
            *allowed |= 1u << RESTD_METHOD_HEAD;
            get = r;
        }
        if (has_method(r, method)) {
            own = r;
        }
    }
    return own ? own : strcmp(method, "HEAD") == 0 ? get : NULL;
}

static const struct ref_route *
match_exact(const char *method, const struct parts *path, uint32_t *allowed)
{
    unsigned char is_one[ROUTES] = {0};
    char ranks[ROUTES][SEGMENTS + 2];
    char best[SEGMENTS + 2] = "~";
    const struct ref_route *found = NULL;
    struct parts pattern;
    for (unsigned i = 0; i < routes_n; i++) {
        is_one[i] = 0;
        if (routes[i].live && routes[i].router == 0 && routes[i].list < 0) {
            split(routes[i].pattern, 0, &pattern);
            is_one[i] = (unsigned char)fits(&pattern, path, 0, 0, ranks[i]);
        }
    }
    (void)choose(is_one, method, allowed);
    for (unsigned i = 0; i < routes_n; i++) {
        unsigned char group[ROUTES] = {0};
        uint32_t ignored = 0;
        if (!is_one[i] || strcmp(ranks[i], best) >= 0) {
            continue;
        }
        for (unsigned k = 0; k < routes_n; k++) {
            group[k] = is_one[k] && strcmp(ranks[k], ranks[i]) == 0;
        }
        const struct ref_route *r = choose(group, method, &ignored);
        if (r) {
            found = r;
            memcpy(best, ranks[i], sizeof(best));
        }
    }
    return found;
}

static int level_of(int scope)
{
    int n = 0;
    for (; scope != 0; scope = routers[scope].parent) {
        n++;
    }
    return n;
}

/* Deepest first, then the more specific, the inner, the one mounted first. */
static int scope_before(int a, int b)
{
    struct parts p, q;
    char name[8];
    split(routers[a].base, routers[a].prefix, &p);
    split(routers[b].base, routers[b].prefix, &q);
    if (p.n != q.n) {
        return p.n > q.n;
    }
    for (unsigned i = 0; i < p.n; i++) {
        char x = kind_of(p.part[i], name), y = kind_of(q.part[i], name);
        int order = x != y     ? x - y
                    : x == 'A' ? strcmp(p.part[i], q.part[i])
                               : 0;
        if (order != 0) {
            return order < 0;
        }
    }
    if (level_of(a) != level_of(b)) {
        return level_of(a) > level_of(b);
    }
    return routers[a].order < routers[b].order;
}

static unsigned scopes_sorted(int *out)
{
    unsigned n = 0;
    for (int i = 0; i < routers_n; i++) {
        if (routers[i].root == 0) {
            unsigned at = n++;
            for (; at > 0 && scope_before(i, out[at - 1]); at--) {
                out[at] = out[at - 1];
            }
            out[at] = i;
        }
    }
    return n;
}

static const struct ref_route *match_list(int list, const char *method,
                                          const struct parts *path,
                                          uint32_t *allowed)
{
    unsigned char is_one[ROUTES] = {0};
    const struct ref_route *first = NULL;
    struct parts pattern;
    char rank[SEGMENTS + 2];
    for (unsigned i = 0; i < routes_n; i++) {
        const struct ref_route *r = &routes[i];
        split(r->pattern, 1, &pattern);
        if (r->live && r->router == 0 && r->list == list &&
            (!first || r->order < first->order) &&
            fits(&pattern, path, 1, 0, rank)) {
            first = r;
        }
    }
    for (unsigned i = 0; first && i < routes_n; i++) {
        const struct ref_route *r = &routes[i];
        is_one[i] = r->live && r->router == 0 && r->list == list &&
                    strcmp(r->pattern, first->pattern) == 0;
    }
    return choose(is_one, method, allowed);
}

/* --- making the same of both --------------------------------------------- */

static void some_pattern(char *out, int prefix, int base)
{
    static const char *const texts[] = {"a", "b", "ab", "12", "x.y"};
    unsigned n = base ? some(3) : 1 + some(3);
    char *at = out;
    *at = '\0';
    for (unsigned i = 0; i < n; i++) {
        int last = i + 1 == n;
        /* Distinct names, but where one may come twice. */
        int name = 'c' + (int)(prefix ? some(2) : some(12));
        unsigned what = some(12);
        *at++ = '/';
        if (what < 5) {
            at += snprintf(at, 64, "%s", texts[some(5)]);
        } else if (what < 6 && !base) {
            *at = '\0';
        } else if (what < 8) {
            at += some(4) ? snprintf(at, 64, "{%c}", name)
                          : snprintf(at, 64, "{}");
        } else if (what < 9 && last && !base) {
            at += snprintf(at, 64, "{%c...}", name);
        } else {
            const char *spec = specs[some(sizeof(specs) / sizeof(specs[0]))];
            at += some(4) ? snprintf(at, 64, "{%c:%s}", name, spec)
                          : snprintf(at, 64, "{:%s}", spec);
        }
    }
}

/* Whether a name comes twice. */
static int names_clash(const char *text)
{
    struct parts p;
    char name[8], other[8];
    split(text, 0, &p);
    for (unsigned i = 0; i < p.n; i++) {
        for (unsigned k = 0; k < i; k++) {
            kind_of(p.part[i], name);
            kind_of(p.part[k], other);
            if (*name && strcmp(name, other) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

static const struct ref_route *same_as(const struct ref_route *r)
{
    for (unsigned i = 0; i < routes_n; i++) {
        const struct ref_route *o = &routes[i];
        if (o != r && o->live && o->router == r->router && o->list < 0 &&
            strcmp(o->method, r->method) == 0 &&
            equal_patterns(o->pattern, r->pattern)) {
            return o;
        }
    }
    return NULL;
}

/* Puts a PREFIX route last in its list, by the rule about patterns that are
 * added again. */
static void list_append(struct ref_route *r)
{
    const struct ref_route *last = NULL;
    int again = 0, one_more;
    for (unsigned i = 0; i < routes_n; i++) {
        const struct ref_route *o = &routes[i];
        if (o != r && o->live && o->router == r->router && o->list == r->list) {
            last = !last || o->order > last->order ? o : last;
            again |= strcmp(o->pattern, r->pattern) == 0 &&
                     strcmp(o->method, r->method) == 0;
        }
    }
    one_more = last && strcmp(last->pattern, r->pattern) == 0 && !again;
    for (unsigned i = 0; i < routes_n && !one_more; i++) {
        struct ref_route *o = &routes[i];
        if (o != r && o->live && o->router == r->router && o->list == r->list &&
            strcmp(o->pattern, r->pattern) == 0) {
            o->live = 0;
        }
    }
    r->order = ++orders;
}

static void add_some(int to)
{
    static const char *const methods[] = {"GET", "POST", "MINE", "HEAD",
                                          "OPTIONS"};
    struct ref_router *owner = &routers[to];
    struct ref_route *r = &routes[routes_n++];
    memset(r, 0, sizeof(*r));
    r->router = r->scope = to;
    r->list = owner->prefix ? to : -1;
    snprintf(r->method, sizeof(r->method), "%s", methods[some(5)]);
    if (routes_n > 1 && some(4) == 0) {
        /* As it was, or with a base in front by now. */
        memcpy(r->pattern, routes[routes_n - 2].pattern, TEXT);
    } else {
        some_pattern(r->pattern, owner->prefix, 0);
    }
    int rc = restd_router_add(owner->real, r->method, r->pattern,
                              router_handler, r, NULL);
    if (!owner->prefix && names_clash(r->pattern)) {
        must_say(rc == RESTD_EINVAL, "%s: %d", r->pattern, rc);
        routes_n--;
    } else if (!owner->prefix && same_as(r)) {
        must_say(rc == RESTD_EEXIST, "%s: %d", r->pattern, rc);
        routes_n--;
    } else {
        must_say(rc >= 0, "%s: %d", r->pattern, rc);
        r->live = 1;
        if (owner->prefix) {
            list_append(r);
        }
    }
}

static int wrap(struct restd_request *request, struct restd_response *response,
                struct restd_next *next, void *data)
{
    (void)request;
    (void)response;
    (void)next;
    (void)data;
    return 0;
}

static int make_router(int prefix)
{
    int number = routers_n++;
    struct ref_router *r = &routers[number];
    struct restd_plugin plugin = {
        .size = sizeof(plugin), .wrapper = wrap, .data = r};
    memset(r, 0, sizeof(*r));
    r->prefix = prefix;
    r->root = number;
    must(restd_router_new(prefix ? RESTD_ROUTER_PREFIX : RESTD_ROUTER_EXACT,
                          &r->real) == 0);
    must(restd_router_use(r->real, &plugin, NULL) == 0);
    return number;
}

static void rebase(char *text, const char *base)
{
    char joined[2 * TEXT];
    snprintf(joined, sizeof(joined), "%s%s", base, text);
    must(strlen(joined) < TEXT);
    memcpy(text, joined, strlen(joined) + 1);
}

/* Whether mounting must be refused, and by what. */
static int mount_error(int to, int child, const char *base)
{
    if (routers[to].prefix && !routers[child].prefix) {
        return RESTD_EINVAL;
    }
    for (int i = 0; i < routers_n; i++) {
        char text[TEXT];
        snprintf(text, sizeof(text), "%s", routers[i].base);
        rebase(text, base);
        if (routers[i].root == child && !routers[i].prefix &&
            names_clash(text)) {
            return RESTD_EINVAL;
        }
    }
    int rc = 0;
    for (unsigned i = 0; i < routes_n && rc != RESTD_EINVAL; i++) {
        struct ref_route moved = routes[i];
        if (!moved.live || moved.router != child || moved.list >= 0) {
            continue;
        }
        rebase(moved.pattern, base);
        moved.router = to;
        if (names_clash(moved.pattern)) {
            rc = RESTD_EINVAL;
        } else if (same_as(&moved)) {
            rc = RESTD_EEXIST;
        }
    }
    return rc;
}

static int mount_some(int to, int child)
{
    struct restd_error error = {0, 0, ""};
    char base[TEXT];
    some_pattern(base, routers[to].prefix, 1);
    int want = mount_error(to, child, base);
    int rc =
        restd_router_mount(routers[to].real, base, routers[child].real, &error);
    /* Two errors at once: either is right. */
    must_say((rc == 0) == (want == 0), "\"%s\": %d, not %d: %s", base, rc, want,
             error.message);
    if (rc != 0) {
        return 0;
    }
    routers[child].real = NULL;
    routers[child].parent = to;
    for (int i = 0; i < routers_n; i++) {
        if (routers[i].root == child) {
            rebase(routers[i].base, base);
            routers[i].root = to;
            routers[i].order = ++orders;
        }
    }
    for (;;) {
        struct ref_route *next = NULL;
        for (unsigned i = 0; i < routes_n; i++) {
            struct ref_route *r = &routes[i];
            if (r->live && r->router == child &&
                (!next || r->order < next->order)) {
                next = r;
            }
        }
        if (!next) {
            return 1;
        }
        rebase(next->pattern, base);
        next->router = to;
        if (routers[to].prefix) {
            next->list = to;
        }
        if (next->list >= 0) {
            list_append(next);
        }
    }
}

/* --- comparing ------------------------------------------------------------ */

/* Segments, and the path that they are sent as. */
static void some_path(struct parts *out, char *raw)
{
    static const char *const texts[] = {"a",         "b",   "ab",  "12",
                                        "-7",        "",    "x.y", "a/b",
                                        SAMPLE_UUID, "123", "%2F"};
    out->n = 1 + some(5);
    for (unsigned i = 0; i < out->n; i++) {
        const char *text = texts[some(some(3) ? 5 : 11)];
        snprintf(out->part[i], sizeof(out->part[0]), "%s", text);
        if (some(8) == 0) {
            raw += snprintf(raw, 64, some(2) ? "/." : "/zz/..");
        }
        *raw++ = '/';
        for (; *text; text++) {
            if (*text == '/' || *text == '%' || some(8) == 0) {
                raw += snprintf(raw, 64, "%%%02x", *text);
            } else {
                *raw++ = *text;
            }
        }
    }
    *raw = '\0';
}

/* Values by name: the last one of a name holds. */
static void check_values(const struct ref_route *r, const struct parts *path)
{
    struct parts pattern;
    char name[8], value[512];
    split(r->pattern, r->list >= 0, &pattern);
    for (unsigned i = 0; i < match.params_n; i++) {
        struct restd_slice want = rd_match_name(&match, i);
        int found = 0;
        for (unsigned k = 0; k < pattern.n; k++) {
            char kind = kind_of(pattern.part[k], name);
            if (!rd_slice_eq(rd_slice_str(name), want)) {
                continue;
            }
            char *at = value;
            *at = '\0';
            found = 1;
            for (unsigned j = k; j == k || (kind == 'Z' && j < path->n); j++) {
                if (j > k) {
                    *at++ = '/';
                }
                for (const char *c = path->part[j]; *c; c++) {
                    if (kind == 'Z' && *c == '/') {
                        at += snprintf(at, 4, "%%2F");
                    } else {
                        *at++ = *c;
                    }
                }
                *at = '\0';
            }
        }
        must(found);
        must_say(rd_slice_eq(rd_slice_str(value), match.params[i]),
                 "%s: %s, not %.*s", r->pattern, value,
                 (int)match.params[i].len, match.params[i].data);
    }
    for (unsigned k = 0; k < pattern.n; k++) {
        int found = 0;
        kind_of(pattern.part[k], name);
        for (unsigned i = 0; i < match.params_n; i++) {
            found |= rd_slice_eq(rd_slice_str(name), rd_match_name(&match, i));
        }
        must(found == (*name != '\0'));
    }
}

static void check_wrappers(int scope)
{
    unsigned n = match.route->wrappers_n;
    for (;; scope = routers[scope].parent) {
        must(n > 0 && match.route->wrappers[--n]->data == &routers[scope]);
        if (scope == 0) {
            break;
        }
    }
    must(n == 0);
}

static void collapse(const struct parts *in, struct parts *out)
{
    out->n = 0;
    for (unsigned i = 0; i < in->n; i++) {
        if (in->part[i][0] || i + 1 == in->n) {
            memcpy(out->part[out->n++], in->part[i], sizeof(in->part[0]));
        }
    }
}

static int deepest_scope(const int *scopes, const struct parts *path,
                         const struct parts *collapsed)
{
    char rank[SEGMENTS + 2];
    for (;; scopes++) {
        struct parts base;
        int prefix = routers[*scopes].prefix;
        split(routers[*scopes].base, prefix, &base);
        if (fits(&base, prefix ? collapsed : path, prefix, 1, rank)) {
            return *scopes;
        }
    }
}

static void compare(struct rd_router_work *work)
{
    static const char *const methods[] = {"GET", "POST", "MINE", "HEAD", "PUT"};
    const char *method = methods[some(5)];
    unsigned number = rd_router_method(router, rd_slice_str(method));
    struct parts path = {0}, collapsed = {0};
    uint32_t allowed = 0;
    int scopes[SCOPES] = {0};
    char raw[1024];
    some_path(&path, raw);
    collapse(&path, &collapsed);
    unsigned scopes_n = scopes_sorted(scopes);
    const struct ref_route *want = match_exact(method, &path, &allowed);
    for (unsigned i = 0; !want && i < scopes_n; i++) {
        want = match_list(scopes[i], method, &collapsed, &allowed);
    }
    if (number == 0) {
        return; /* 501 in front of any router */
    }
    int rc =
        rd_router_match(router, number, rd_slice_str(raw), 0, work, &match);
    must_say(rc == (want      ? 0
                    : allowed ? -405
                              : -404),
             "%s %s: %d", method, raw, rc);
    if (!want) {
        int scope = deepest_scope(scopes, &path, &collapsed);
        must(match.allowed == allowed);
        must(strcmp(match.scope->base, routers[scope].base) == 0);
        must(match.scope->plugins.list[0].data == &routers[scope]);
        return;
    }
    must_say(match.route->data == want, "%s %s: %s, not %s", method, raw,
             match.route->pattern, want->pattern);
    must(strcmp(match.route->pattern, want->pattern) == 0);
    must(match.scope == match.route->scope);
    check_values(want, want->list >= 0 ? &collapsed : &path);
    check_wrappers(want->scope);
}

static void one_set(void)
{
    struct rd_router_work work;
    routes_n = orders = 0;
    routers_n = 0;
    (void)make_router(some(5) == 0);
    for (unsigned n = 2 + some(8); n > 0; n--) {
        add_some(0);
    }
    for (unsigned children = some(4); children > 0; children--) {
        int child = make_router(some(2) == 0);
        for (unsigned n = some(6); n > 0; n--) {
            add_some(child);
        }
        if (some(3) == 0) {
            int inner = make_router(some(2) == 0);
            add_some(inner);
            add_some(inner);
            if (!mount_some(child, inner)) {
                restd_router_free(routers[inner].real);
                routers[inner].root = -1;
            }
        }
        if (!mount_some(0, child)) {
            restd_router_free(routers[child].real);
            for (int i = 0; i < routers_n; i++) {
                routers[i].root =
                    routers[i].root == child ? -1 : routers[i].root;
            }
            for (unsigned i = 0; i < routes_n; i++) {
                routes[i].live &= routes[i].router != child;
            }
        }
        add_some(0);
    }
    router = routers[0].real;
    must(rd_router_freeze(router) == 0);
    must(rd_router_work_init(&work, router, 512) == 0);
    for (int i = 0; i < 25; i++) {
        compare(&work);
    }
    rd_router_work_fini(&work);
    restd_router_free(router);
}

START_TEST(random_sets)
{
    for (int i = 0; i < 1000; i++) {
        set = seed = (unsigned)(_i * 1000 + i + 1);
        one_set();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("router_random");
    TCase *tc = tcase_create("router_random");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, random_sets, 0, 10);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
