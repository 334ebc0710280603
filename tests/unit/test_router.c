/* SPDX-License-Identifier: MIT */
/* The router: tables of routes and paths, refusals, and a random comparison
 * with a matcher that tries every route. */
#include "http/router.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "http/uri.h"
#include "router_table.h"
#include "support/suite.h"

static struct rd_router *router;
static struct rd_match match;
static char scratch[4096];

static int handler(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    (void)request;
    (void)response;
    (void)data;
    return 0;
}

static int add(const char *method, const char *pattern)
{
    struct restd_error error = {0, 0, ""};
    int rc = rd_router_add(router, method, pattern, handler, NULL, &error);
    ck_assert_int_eq(error.code, rc);
    ck_assert_int_eq(error.message[0] != '\0', rc != 0);
    return rc;
}

static void set_up(void)
{
    rd_mem_fail_nth(0);
    ck_assert_int_eq(rd_router_new(&router), 0);
}

static void tear_down(void)
{
    rd_router_free(router);
}

/* What the parser says of a path: RD_H1_PLAIN_PATH. */
static int is_plain(const char *path)
{
    size_t n = strlen(path);
    return strchr(path, '%') == NULL && strstr(path, "/./") == NULL &&
           strstr(path, "/../") == NULL && strstr(path, "//") == NULL &&
           !(n >= 2 && strcmp(path + n - 2, "/.") == 0) &&
           !(n >= 3 && strcmp(path + n - 3, "/..") == 0);
}

static int look_up(const char *method, const char *path)
{
    unsigned number = rd_router_method(router, rd_slice_str(method));
    memset(&match, 0xaa, sizeof(match));
    int rc = rd_router_match(router, number, rd_slice_str(path), is_plain(path),
                             scratch, &match);
    if (is_plain(path)) {
        /* The short way and the long one agree. */
        static struct rd_match slow;
        static char other[4096];
        ck_assert_int_eq(rd_router_match(router, number, rd_slice_str(path), 0,
                                         other, &slow),
                         rc);
        ck_assert(rc != 0 || slow.route == match.route);
        ck_assert(rc != -405 || slow.allowed == match.allowed);
    }
    return rc;
}

/* "pattern name=value name=value", "405 GET, HEAD", "404" ... */
static const char *describe(const char *method, const char *path)
{
    static char text[RD_ALLOW_MAX + 8];
    int rc = look_up(method, path);
    if (rc == 0) {
        int n = snprintf(text, sizeof(text), "%s", match.route->pattern);
        ck_assert_uint_eq(match.params_n, match.route->params_n);
        for (unsigned i = 0; i < match.params_n; i++) {
            const struct restd_slice *name = &match.route->params[i];
            n += snprintf(text + n, sizeof(text) - (size_t)n, " %.*s=%.*s",
                          (int)name->len, name->data, (int)match.params[i].len,
                          match.params[i].data);
        }
    } else if (rc == -405) {
        char allow[RD_ALLOW_MAX];
        ck_assert_int_gt(
            rd_router_allow_text(router, match.allowed, allow, sizeof(allow)),
            0);
        snprintf(text, sizeof(text), "405 %s", allow);
    } else {
        snprintf(text, sizeof(text), "%d", -rc);
    }
    return text;
}

static void check_table(void)
{
    ck_assert_int_eq(rd_router_freeze(router), 0);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const char *got = describe(paths[i].method, paths[i].path);
        ck_assert_msg(strcmp(got, paths[i].want) == 0, "%s %s: %s, not %s",
                      paths[i].method, paths[i].path, got, paths[i].want);
    }
}

START_TEST(table_whatever_the_order)
{
    enum { N = sizeof(routes) / sizeof(routes[0]) };
    unsigned order[N];
    unsigned seed = (unsigned)_i;
    for (unsigned i = 0; i < N; i++) {
        order[i] = i;
    }
    /* As written, backwards, and shuffled. */
    for (unsigned i = N - 1; i > 0 && _i > 0; i--) {
        unsigned k = _i == 1 ? (i >= N / 2 ? N - 1 - i : i)
                             : (unsigned)rand_r(&seed) % (i + 1);
        unsigned swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (unsigned i = 0; i < N; i++) {
        const char *const *route = routes[order[i]];
        int want = strchr(route[1], ' ') ? RESTD_EINVAL : 0;
        ck_assert_msg(add(route[0], route[1]) == want, "%s", route[1]);
    }
    check_table();
}
END_TEST

START_TEST(head_of_its_own_wins_over_get)
{
    int get;
    int head;
    ck_assert_int_eq(rd_router_add(router, "GET", "/a", handler, &get, NULL),
                     0);
    ck_assert_int_eq(rd_router_add(router, "HEAD", "/a", handler, &head, NULL),
                     0);
    ck_assert_int_eq(rd_router_freeze(router), 0);
    ck_assert_int_eq(look_up("HEAD", "/a"), 0);
    ck_assert_ptr_eq(match.route->data, &head);
    ck_assert_int_eq(look_up("GET", "/a"), 0);
    ck_assert_ptr_eq(match.route->data, &get);
}
END_TEST

START_TEST(duplicates)
{
    static const struct {
        const char *method, *pattern;
        int rc;
    } steps[] = {
        {"GET", "/a", 0},
        {"GET", "/a", RESTD_EEXIST},
        {"POST", "/a", 0},
        {"get", "/a", 0},
        {"get", "/a", RESTD_EEXIST},
        {"GET", "/a/", 0},
        {"GET", "/{x}/b", 0},
        {"GET", "/{y}/b", RESTD_EEXIST},
        {"PUT", "/{y}/b", 0},
        {"GET", "/{x}/{y}", 0},
        {"GET", "/{y}/{x}", RESTD_EEXIST},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int rc = add(steps[i].method, steps[i].pattern);
        ck_assert_msg(rc == steps[i].rc, "%s %s: %d", steps[i].method,
                      steps[i].pattern, rc);
    }
    /* Each route has its own names. */
    ck_assert_int_eq(rd_router_freeze(router), 0);
    ck_assert_str_eq(describe("GET", "/1/b"), "/{x}/b x=1");
    ck_assert_str_eq(describe("PUT", "/1/b"), "/{y}/b y=1");
    ck_assert_str_eq(describe("get", "/a"), "/a");
}
END_TEST

START_TEST(bad_routes)
{
    static const struct {
        const char *method, *pattern;
    } bad[] = {
        {"GET", ""},
        {"GET", "a"},
        {"GET", "*"},
        {"GET", "/{}"},
        {"GET", "/{a"},
        {"GET", "/a}"},
        {"GET", "/x{a}"},
        {"GET", "/{a}x"},
        {"GET", "/{a}{b}"},
        {"GET", "/{{a}}"},
        {"GET", "/a?b"},
        {"GET", "/a#b"},
        {"GET", "/a b"},
        {"GET", "/\t"},
        {"GET", "/a\r\n"},
        {"GET", "/{a b}"},
        {"GET", "/{a?}"},
        {"GET", "/{a}/{a}"},
        {"GET", "/."},
        {"GET", "/a/../b"},
        {"", "/a"},
        {"A B", "/a"},
        {"GET\r\n", "/a"},
        {"G:T", "/a"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZ1234567", "/a"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(add(bad[i].method, bad[i].pattern) == RESTD_EINVAL,
                      "%s %s", bad[i].method, bad[i].pattern);
    }
    ck_assert_int_eq(rd_router_add(router, "GET", "/a", NULL, NULL, NULL),
                     RESTD_EINVAL);
    /* None of them has left a trace that matches. */
    ck_assert_int_eq(rd_router_freeze(router), 0);
    ck_assert_int_eq(look_up("GET", "/a"), -404);
    ck_assert_int_eq(look_up("GET", "/x"), -404);
    ck_assert_uint_eq(rd_router_allowed(router), 0);
}
END_TEST

START_TEST(segments_and_params_have_a_limit)
{
    char pattern[2048];
    size_t n = 0;
    for (int i = 0; i < RD_PARAMS_MAX; i++) {
        n += (size_t)snprintf(pattern + n, sizeof(pattern) - n, "/{p%d}", i);
    }
    ck_assert_int_eq(add("GET", pattern), 0);
    snprintf(pattern + n, sizeof(pattern) - n, "/{q}");
    ck_assert_int_eq(add("GET", pattern), RESTD_EINVAL);

    memset(pattern, 0, sizeof(pattern));
    for (int i = 0; i < RD_URI_SEGMENTS_MAX; i++) {
        memcpy(pattern + 2 * i, "/s", 3);
    }
    ck_assert_int_eq(add("GET", pattern), 0);
    ck_assert_int_eq(rd_router_freeze(router), 0);
    ck_assert_int_eq(look_up("GET", pattern), 0);
    ck_assert_str_eq(match.route->pattern, pattern);
    memcpy(pattern + strlen(pattern), "/s", 3);
    ck_assert_int_eq(add("GET", pattern), RESTD_EINVAL);
    ck_assert_int_eq(look_up("GET", pattern), -404);
    ck_assert_int_eq(look_up("GET", "/0/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f"), 0);
    ck_assert_uint_eq(match.params_n, RD_PARAMS_MAX);
    ck_assert_int_eq(look_up("GET", "/0/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g"),
                     -404);
}
END_TEST

START_TEST(methods_have_a_limit)
{
    char token[40];
    char allow[RD_ALLOW_MAX];
    unsigned custom = RD_METHODS_MAX - RESTD_METHODS_N;
    for (unsigned i = 0; i < custom; i++) {
        snprintf(token, sizeof(token), "A-METHOD-OF-THIRTY-TWO-LETTERS%02u", i);
        ck_assert_int_eq(add(token, "/a"), 0);
        ck_assert_uint_eq(rd_router_method(router, rd_slice_str(token)),
                          RESTD_METHODS_N + i);
    }
    ck_assert_int_eq(add("ONE-MORE", "/a"), RESTD_ELIMIT);
    ck_assert_int_eq(add(token, "/b"), 0);
    for (unsigned i = 1; i < RESTD_METHODS_N; i++) {
        ck_assert_int_eq(add(restd_method_name((enum restd_method)i), "/a"), 0);
    }
    /* The longest Allow there is. */
    uint32_t all = rd_router_allowed(router);
    ck_assert_uint_eq(all, ~UINT32_C(1));
    int n = rd_router_allow_text(router, all, allow, sizeof(allow));
    ck_assert_int_gt(n, (int)custom * 34);
    ck_assert_int_eq((int)strlen(allow), n);
    for (int size = 0; size <= n; size++) {
        memset(allow, 'x', sizeof(allow));
        ck_assert_int_eq(rd_router_allow_text(router, all, allow, (size_t)size),
                         RESTD_ERANGE);
        ck_assert(size == 0 || memchr(allow, '\0', (size_t)size));
        ck_assert_int_eq(allow[size], 'x');
    }
    ck_assert_uint_eq(rd_router_method(router, rd_slice_str("NONE")), 0);
    ck_assert_uint_eq(rd_router_method(router, rd_slice("GETX", 3)), RESTD_GET);
}
END_TEST

START_TEST(many_routes)
{
    enum { N = 3000 };
    char pattern[64];
    for (int i = 0; i < N; i++) {
        snprintf(pattern, sizeof(pattern), "/r%d/fixed", i);
        ck_assert_int_eq(add("GET", pattern), 0);
        snprintf(pattern, sizeof(pattern), "/r%d/{v}/more", i);
        ck_assert_int_eq(add("GET", pattern), 0);
    }
    ck_assert_int_eq(rd_router_freeze(router), 0);
    for (int i = 0; i < N; i++) {
        char want[80];
        snprintf(pattern, sizeof(pattern), "/r%d/fixed", i);
        ck_assert_str_eq(describe("GET", pattern), pattern);
        snprintf(pattern, sizeof(pattern), "/r%d/%d/more", i, i);
        snprintf(want, sizeof(want), "/r%d/{v}/more v=%d", i, i);
        ck_assert_str_eq(describe("GET", pattern), want);
        snprintf(pattern, sizeof(pattern), "/r%d/other", i);
        ck_assert_str_eq(describe("GET", pattern), "404");
    }
}
END_TEST

/* --- against a matcher that tries every route -------------------------- */

#define REF_MAX 40

static struct ref {
    const char *method;
    char pattern[64];
} refs[REF_MAX];
static unsigned refs_n;

static const char *segment_end(const char *at)
{
    return at + strcspn(at, "/");
}

/* 1 if the path fits; `rank` gets 't' for text and 'v' for a variable in each
 * place, so that the smaller one is the more specific. */
static int ref_fits(const char *pattern, const char *path, char *rank)
{
    while (*pattern == '/' && *path == '/') {
        const char *a = segment_end(++pattern);
        const char *b = segment_end(++path);
        if (*pattern == '{'
                ? b == path
                : a - pattern != b - path ||
                      memcmp(pattern, path, (size_t)(a - pattern)) != 0) {
            return 0;
        }
        *rank++ = *pattern == '{' ? 'v' : 't';
        pattern = a;
        path = b;
    }
    *rank = '\0';
    return *pattern == '\0' && *path == '\0';
}

/* The pattern, or NULL with `*known` if another method would do. */
static const char *ref_match(const char *method, const char *path, int *known)
{
    const struct ref *best = NULL;
    char best_rank[32] = "";
    char rank[32];
    *known = 0;
    for (unsigned i = 0; i < refs_n; i++) {
        const struct ref *r = &refs[i];
        if (!ref_fits(r->pattern, path, rank)) {
            continue;
        }
        *known = 1;
        int fits =
            strcmp(method, r->method) == 0 ||
            (strcmp(method, "HEAD") == 0 && strcmp(r->method, "GET") == 0);
        if (fits && (best == NULL || strcmp(rank, best_rank) < 0)) {
            best = r;
            memcpy(best_rank, rank, sizeof(rank));
        }
    }
    return best ? best->pattern : NULL;
}

/* A path of few segments of few kinds, so that they often meet. */
static void some_path(unsigned *seed, int pattern, char *out)
{
    static const char *const texts[] = {"a", "b", "ab", ""};
    int n = 1 + rand_r(seed) % 4;
    for (int i = 0; i < n; i++) {
        *out++ = '/';
        if (pattern && rand_r(seed) % 3 == 0) {
            out += snprintf(out, 8, "{v%d}", i);
        } else {
            const char *text = texts[rand_r(seed) % 4];
            out += snprintf(out, 8, "%s", text);
        }
    }
    *out = '\0';
}

static void compare(const char *method, const char *path)
{
    int known;
    const char *want = ref_match(method, path, &known);
    int rc = look_up(method, path);
    ck_assert_msg(rc == (want    ? 0
                         : known ? -405
                                 : -404),
                  "%s %s: %d", method, path, rc);
    ck_assert_msg(!want || strcmp(match.route->pattern, want) == 0,
                  "%s %s: %s, not %s", method, path,
                  match.route ? match.route->pattern : "none", want);
}

START_TEST(random_against_every_route)
{
    static const char *const methods[] = {"GET", "POST", "MINE", "HEAD"};
    unsigned seed = (unsigned)_i + 1;
    char path[64];
    refs_n = 0;
    while (refs_n < REF_MAX) {
        struct ref *r = &refs[refs_n];
        r->method = methods[rand_r(&seed) % 3];
        some_path(&seed, 1, r->pattern);
        if (add(r->method, r->pattern) == 0) {
            refs_n++;
        }
    }
    ck_assert_int_eq(rd_router_freeze(router), 0);
    for (int i = 0; i < 2000; i++) {
        some_path(&seed, 0, path);
        compare(methods[rand_r(&seed) % 4], path);
    }
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    for (unsigned n = 1;; n++) {
        struct rd_router *r = NULL;
        rd_mem_fail_nth(n);
        int rc = rd_router_new(&r);
        if (rc == 0) {
            rc = rd_router_add(r, "GET", "/a/{b}/c", handler, NULL, NULL);
        }
        if (rc == 0) {
            rc = rd_router_add(r, "MINE", "/a/d", handler, NULL, NULL);
        }
        if (rc == 0) {
            rc = rd_router_freeze(r);
        }
        unsigned calls = rd_mem_calls();
        rd_mem_fail_nth(0);
        rd_router_free(r);
        ck_assert_int_eq(rc, calls < n ? 0 : RESTD_ENOMEM);
        if (calls < n) {
            ck_assert_uint_gt(n, 8);
            break;
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("router");
    TCase *tc = tcase_create("router");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, table_whatever_the_order, 0, 20);
    tcase_add_test(tc, head_of_its_own_wins_over_get);
    tcase_add_test(tc, duplicates);
    tcase_add_test(tc, bad_routes);
    tcase_add_test(tc, segments_and_params_have_a_limit);
    tcase_add_test(tc, methods_have_a_limit);
    tcase_add_test(tc, many_routes);
    tcase_add_loop_test(tc, random_against_every_route, 0, 40);
    tcase_add_test(tc, every_allocation_may_fail);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
