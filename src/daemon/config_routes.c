/* SPDX-License-Identifier: MIT */
/* What can be wrong with the routes of a configuration.
 *
 * Patterns and methods, but for a likely slip, are judged by the library: they are added to a router
 * that is thrown away again, so that a bad or equal one is found with its line
 * and not when the server starts. Thread: main.
 */
#include "daemon/config_build.h"

#include <ctype.h>
#include <string.h>
#include <sysexits.h>

#include <restd/restd.h>

#include "daemon/fault.h"

#define KIND(kind) (1u << RD_ROUTE_##kind)

static void fault(const struct rd_config *config,
                  const struct rd_config_route *route, const char *text)
{
    rd_config_fault(config->tree->errors, EX_CONFIG, route->origin,
                    "route \"%.100s\" %s", route->pattern, text);
}

static int handle_nothing(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    (void)request;
    (void)response;
    (void)data;
    return 0;
}

/* A likely slip: methods are told apart by case, RFC 9110 section 9.1, so "get"
 * is one that nobody sends; nor is "GTE". `hint` is "" for others. */
static void suggest_method(const char *method, char *hint, size_t size)
{
    static const char known[] =
        "GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|CONNECT";
    char upper[RD_CONFIG_METHOD_MAX];
    size_t i = 0;
    for (; method[i] != '\0'; i++) {
        upper[i] = (char)toupper((unsigned char)method[i]);
    }
    upper[i] = '\0';
    *hint = '\0';
    if (rd_words_find(known, method) < 0) {
        rd_words_suggest(known, upper, hint, size);
    }
}

/* Adds the route with each of its methods; 0, or a refusal. */
static int add(struct restd_router *router, const struct rd_config_route *route,
               struct restd_error *error)
{
    char method[RD_CONFIG_METHOD_MAX];
    const char *at = route->methods;
    int more;
    while ((more = rd_config_method(&at, method)) > 0) {
        char hint[80];
        suggest_method(method, hint, sizeof hint);
        if (*hint != '\0') {
            return rd_fault(error, RESTD_EINVAL,
                            "its method \"%s\" is none that clients send%s",
                            method, hint);
        }
        int rc = restd_router_add(router, method, route->pattern,
                                  handle_nothing, NULL, error);
        if (rc < 0) {
            return rc;
        }
    }
    return more == 0 ? 0
                     : rd_fault(error, RESTD_EINVAL, "its method is too long");
}

/* The earlier route that this one is equal to; itself if none is. */
static const struct rd_config_route *
find_equal(const struct rd_config *config, const struct rd_config_route *route)
{
    struct restd_error error;
    for (const struct rd_config_route *r = config->routes; r < route; r++) {
        struct restd_router *router;
        if (restd_router_new(RESTD_ROUTER_EXACT, &router) < 0) {
            break;
        }
        int rc = add(router, r, &error);
        rc = rc < 0 ? 0 : add(router, route, &error);
        restd_router_free(router);
        if (rc == RESTD_EEXIST) {
            return r;
        }
    }
    return route;
}

static void check_pattern(const struct rd_config *config,
                          struct restd_router *router,
                          const struct rd_config_route *route)
{
    struct restd_error error;
    if (*route->pattern != '/') {
        fault(config, route,
              "needs a pattern that begins with '/', as in \"GET /hello\"");
        return;
    }
    int rc = add(router, route, &error);
    if (rc == RESTD_EEXIST) {
        const struct rd_config_route *equal = find_equal(config, route);
        if (equal == route) {
            fault(config, route, "has one method twice");
            return;
        }
        rd_config_fault(config->tree->errors, EX_CONFIG, route->origin,
                        "route \"%s %.100s\" is equal to the one of %.300s:%d",
                        route->methods, route->pattern, equal->origin.file,
                        equal->origin.line);
    } else if (rc < 0) {
        rd_config_fault(config->tree->errors, EX_CONFIG, route->origin,
                        "route \"%.100s\": %s", route->pattern, error.message);
    }
}

static void check_kinds(const struct rd_config *config,
                        const struct rd_config_route *route,
                        const struct rd_config_section *section)
{
    static const char *const names[] = {"respond", "file", "docroot",
                                        "redirect", "builtin"};
    unsigned n = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        n += rd_tree_get(section, names[i]) != NULL;
    }
    if (n != 1) {
        fault(config, route,
              n == 0 ? "needs one of respond, file, docroot, redirect and "
                       "builtin"
                     : "has more than one of respond, file, docroot, redirect "
                       "and builtin");
    }
}

/* Directives that only some kinds know. */
static void check_fitting(const struct rd_config *config,
                          const struct rd_config_route *route,
                          const struct rd_config_section *section)
{
    static const struct {
        const char *name;
        unsigned kinds;
        const char *text;
    } fitting[] = {
        {"status", KIND(RESPOND) | KIND(REDIRECT), "respond and redirect"},
        {"type", KIND(RESPOND) | KIND(FILE), "respond and file"},
        {"index", KIND(DOCROOT), "docroot"},
        {"cache_control",
         KIND(RESPOND) | KIND(FILE) | KIND(DOCROOT) | KIND(REDIRECT),
         "respond, file, docroot and redirect"},
    };
    for (size_t i = 0; i < sizeof fitting / sizeof fitting[0]; i++) {
        const struct rd_config_node *node =
            rd_tree_get(section, fitting[i].name);
        if (node != NULL && !(fitting[i].kinds & 1u << route->kind)) {
            rd_config_fault(config->tree->errors, EX_CONFIG, node->origin,
                            "'%s' is only for %s", fitting[i].name,
                            fitting[i].text);
        }
    }
}

static int is_location(const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c <= ' ' || *c == 0x7f) {
            return 0;
        }
    }
    return *text != '\0';
}

static void check_kind(const struct rd_config *config,
                       const struct rd_config_route *route)
{
    if (route->kind == RD_ROUTE_REDIRECT && !is_location(route->text)) {
        fault(config, route,
              "needs a location of printable ASCII characters "
              "without spaces");
    }
    if (route->kind == RD_ROUTE_REDIRECT &&
        (route->status < 301 || route->status > 308 ||
         (route->status >= 304 && route->status <= 306))) {
        fault(config, route,
              "needs a status of 301, 302, 303, 307 or 308 to redirect");
    }
    if (route->kind == RD_ROUTE_DOCROOT && strcmp(route->methods, "GET") != 0) {
        fault(config, route, "can only have the method GET for its docroot");
    }
}

void rd_config_check_routes(const struct rd_config *config)
{
    struct restd_router *router;
    const struct rd_config_section *s = NULL;
    struct rd_config_origin origin = {"configuration", 0};
    if (restd_router_new(RESTD_ROUTER_EXACT, &router) < 0) {
        rd_config_fault(config->tree->errors, EX_OSERR, origin,
                        "out of memory");
        return;
    }
    for (unsigned i = 0; i < config->routes_n; i++) {
        s = rd_tree_next(config->tree, RD_SECTION_ROUTE, s);
        check_pattern(config, router, &config->routes[i]);
        check_kinds(config, &config->routes[i], s);
        check_fitting(config, &config->routes[i], s);
        check_kind(config, &config->routes[i]);
    }
    restd_router_free(router);
}
