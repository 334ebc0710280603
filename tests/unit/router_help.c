/* SPDX-License-Identifier: MIT */
/* What the tests of routers share, see router_help.h. */
#include "router_help.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"

#define PATH_MAX_LEN 4096

struct restd_router *router;
struct rd_match match;

static void set_up(enum restd_router_mode mode)
{
    rd_mem_fail_nth(0);
    ck_assert_int_eq(restd_router_new(mode, &router), 0);
}

void router_exact(void)
{
    set_up(RESTD_ROUTER_EXACT);
}

void router_prefix(void)
{
    set_up(RESTD_ROUTER_PREFIX);
}

void router_tear_down(void)
{
    restd_router_free(router);
    router = NULL;
}

int router_handler(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    (void)request;
    (void)response;
    (void)data;
    return 0;
}

int add_to(struct restd_router *to, const char *method, const char *pattern)
{
    struct restd_error error = {0, 0, ""};
    int rc =
        restd_router_add(to, method, pattern, router_handler, NULL, &error);
    ck_assert_int_eq(error.code, rc < 0 ? rc : 0);
    ck_assert_int_eq(error.message[0] != '\0', rc < 0);
    return rc;
}

int add(const char *method, const char *pattern)
{
    return add_to(router, method, pattern);
}

struct restd_router *child_new(enum restd_router_mode mode)
{
    struct restd_router *child = NULL;
    ck_assert_int_eq(restd_router_new(mode, &child), 0);
    return child;
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

/* Values live until the next call. */
int look_up(const char *method, const char *path)
{
    static char texts[2][2 * PATH_MAX_LEN];
    static struct rd_regex_work *regex;
    struct rd_router_work work = {texts[0], 2 * strlen(path), NULL};
    unsigned number = rd_router_method(router, rd_slice_str(method));

    ck_assert_uint_le(strlen(path), PATH_MAX_LEN);
    ck_assert_int_eq(rd_router_freeze(router), 0);
    ck_assert_int_eq(rd_regex_work_new(&regex), 0);
    work.regex = regex;
    memset(&match, 0xaa, sizeof(match));
    int rc = rd_router_match(router, number, rd_slice_str(path), is_plain(path),
                             &work, &match);
    ck_assert_ptr_nonnull(match.scope);
    if (is_plain(path)) {
        static struct rd_match slow;
        work.scratch = texts[1];
        ck_assert_int_eq(rd_router_match(router, number, rd_slice_str(path), 0,
                                         &work, &slow),
                         rc);
        ck_assert(rc != 0 || slow.route == match.route);
        ck_assert(rc != -405 || slow.allowed == match.allowed);
        ck_assert_ptr_eq(slow.scope, match.scope);
    }
    ck_assert_int_eq(restd_router_supports(router, method, path), rc == 0);
    rd_regex_work_free(regex);
    return rc;
}

const char *describe(const char *method, const char *path)
{
    static char text[2 * PATH_MAX_LEN];
    int rc = look_up(method, path);
    if (rc == 0) {
        int n = snprintf(text, sizeof(text), "%s", match.route->pattern);
        for (unsigned i = 0; i < match.params_n; i++) {
            struct restd_slice name = rd_match_name(&match, i);
            n += snprintf(text + n, sizeof(text) - (size_t)n, " %.*s=%.*s",
                          (int)name.len, name.data, (int)match.params[i].len,
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
