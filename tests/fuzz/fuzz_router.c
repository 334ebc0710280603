/* SPDX-License-Identifier: MIT */
/* Patterns and paths. The first octet of the input is 'p' for a PREFIX router;
 * lines follow: 'r' or 's' and a pattern for GET or POST, 'm' or 'n' and the
 * base at which an EXACT or PREFIX child is mounted, or a path.
 *
 * Checked: a pattern that is taken is taken again from its text and is equal
 * to itself; a path that finds a route fits its pattern, segment by segment,
 * with values that lie in the path or in the scratch; what HEAD finds GET
 * finds; a 405 has a method; the scope's base fits the path. */
#include <stdio.h>

#include "base/mem.h"
#include "base/slice.h"
#include "fuzz.h"
#include "route/router.h"

#define LINE_MAX_LEN 512u

static int handler(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    (void)request;
    (void)response;
    (void)data;
    return 0;
}

static int within(struct restd_slice s, const char *data, size_t len)
{
    uintptr_t at = (uintptr_t)s.data;
    return at >= (uintptr_t)data && at + s.len <= (uintptr_t)data + len;
}

static void check_pattern(const char *text, enum restd_router_mode mode)
{
    struct rd_pattern *one, *two;
    struct restd_error error = {0, 0, ""};
    if (rd_pattern_new(text, mode, 0, &one, &error) != 0) {
        FUZZ_CHECK(error.code == RESTD_EINVAL && error.message[0] != '\0');
        return;
    }
    FUZZ_CHECK(one->n > 0 && one->n <= RD_URI_SEGMENTS_MAX);
    FUZZ_CHECK(one->params_n <= one->n && strcmp(one->text, text) == 0);
    for (unsigned i = 0; i < one->n; i++) {
        const struct rd_segment *s = &one->segments[i];
        size_t len = strlen(text) + 1;
        FUZZ_CHECK(s->name.len == 0 || within(s->name, one->text, len));
        FUZZ_CHECK(s->text.len == 0 || within(s->text, one->text, len));
        FUZZ_CHECK((s->kind == RD_SEGMENT_REGEX) == (s->regex != NULL));
        FUZZ_CHECK(s->kind < RD_SEGMENT_REST || i + 1 == one->n);
    }
    FUZZ_CHECK(rd_pattern_new(text, mode, 0, &two, NULL) == 0);
    FUZZ_CHECK(rd_pattern_compare(one, two) == 0);
    rd_pattern_free(one);
    rd_pattern_free(two);
}

static void collapse(struct rd_uri_path *path)
{
    unsigned n = 0;
    for (unsigned i = 0; i < path->n; i++) {
        if (path->segments[i].len > 0 || i + 1 == path->n) {
            path->segments[n++] = path->segments[i];
        }
    }
    path->n = n;
}

static int fits(const struct rd_pattern *pattern, enum restd_router_mode mode,
                struct restd_slice raw, struct rd_regex_work *work)
{
    static char scratch[LINE_MAX_LEN + 1];
    static struct rd_uri_path path;
    FUZZ_CHECK(rd_uri_split(raw, scratch, &path) == 0);
    if (mode == RESTD_ROUTER_PREFIX) {
        collapse(&path);
    }
    return rd_pattern_fits(pattern, &path, work);
}

static void check_path(struct restd_router *router, struct restd_slice raw)
{
    struct rd_router_work work;
    struct rd_match match, head;
    FUZZ_CHECK(rd_router_freeze(router) == 0);
    FUZZ_CHECK(rd_router_work_init(&work, router, raw.len + 1) == 0);
    int rc_head =
        rd_router_match(router, RESTD_METHOD_HEAD, raw, 0, &work, &head);
    int rc = rd_router_match(router, RESTD_METHOD_GET, raw, 0, &work, &match);
    FUZZ_CHECK(rc == rc_head && head.route == match.route);
    FUZZ_CHECK(rc == 0 || rc == -400 || rc == -404 || rc == -405);
    FUZZ_CHECK((rc == 0) == (match.route != NULL) && match.scope != NULL);
    FUZZ_CHECK((rc == -405) == (rc != 0 && match.allowed != 0));
    if (rc == 0) {
        const struct rd_route *r = match.route;
        FUZZ_CHECK(match.params_n == r->compiled->params_n);
        FUZZ_CHECK(match.scope == r->scope);
        FUZZ_CHECK(fits(r->compiled,
                        r->list ? RESTD_ROUTER_PREFIX : RESTD_ROUTER_EXACT, raw,
                        work.regex));
        for (unsigned i = 0; i < match.params_n; i++) {
            struct restd_slice v = match.params[i];
            FUZZ_CHECK(within(v, raw.data, raw.len) ||
                       within(v, work.scratch, 2 * raw.len));
        }
    }
    if (rc != -400) {
        FUZZ_CHECK(
            match.scope->parent == NULL ||
            fits(match.scope->pattern, match.scope->mode, raw, work.regex));
    }
    FUZZ_CHECK(restd_router_supports(router, "NONE", "/") == 0);
    rd_router_work_fini(&work);
}

static void mount(struct restd_router *router, enum restd_router_mode mode,
                  const char *base)
{
    struct restd_router *child;
    FUZZ_CHECK(restd_router_new(mode, &child) == 0);
    FUZZ_CHECK(restd_router_add(child, "GET", "/c/{c:[a-c]+}", handler, NULL,
                                NULL) == 0);
    FUZZ_CHECK(
        restd_router_add(child, "PUT", "/{rest...}", handler, NULL, NULL) == 1);
    if (restd_router_mount(router, base, child, NULL) != 0) {
        restd_router_free(child);
    }
}

static void line(struct restd_router *router, enum restd_router_mode mode,
                 const char *text, size_t len)
{
    char copy[LINE_MAX_LEN + 1];
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (*copy == 'r' || *copy == 's') {
        check_pattern(copy + 1, mode);
        (void)!restd_router_add(router, *copy == 'r' ? "GET" : "POST", copy + 1,
                                handler, NULL, NULL);
    } else if (*copy == 'm' || *copy == 'n') {
        mount(router, *copy == 'm' ? RESTD_ROUTER_EXACT : RESTD_ROUTER_PREFIX,
              copy + 1);
    } else if (memchr(text, '\0', len) == NULL) {
        check_path(router, rd_slice(text, len));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    const char *end = at + size;
    enum restd_router_mode mode = RESTD_ROUTER_EXACT;
    struct restd_router *router;
    if (size > 0 && *at == 'p') {
        mode = RESTD_ROUTER_PREFIX;
    }
    FUZZ_CHECK(restd_router_new(mode, &router) == 0);
    for (at += size > 0; at < end; at++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        if (stop > at && (size_t)(stop - at) <= LINE_MAX_LEN) {
            line(router, mode, at, (size_t)(stop - at));
        }
        at = stop;
    }
    restd_router_free(router);
    return 0;
}
