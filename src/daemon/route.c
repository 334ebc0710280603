/* SPDX-License-Identifier: MIT */
/* Configured routes: fixed reply, file, folder, redirect, echo, status, health.
 * What can be made beforehand is, so that a request only refers to it.
 * Threads: see route.h; handlers [loop]. */
#include "daemon/route.h"

#include <stdio.h>
#include <string.h>

#include <restd/restd.h>

#include "daemon/fault.h"

/* --- handlers ------------------------------------------------------------ */

static int handle_prepared(struct restd_request *request,
                           struct restd_response *response, void *data)
{
    const struct rd_route_data *route = data;
    (void)request;
    return restd_response_prepared(response, route->prepared);
}

static int handle_redirect(struct restd_request *request,
                           struct restd_response *response, void *data)
{
    const struct rd_config_route *config = data;
    (void)request;
    return restd_response_redirect(response, config->status, config->text);
}

/* To the folder's own path, so that relative links in its index hold. */
static int handle_folder(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    char location[512];
    struct restd_slice path = restd_request_path(request);
    (void)data;
    if (path.len + 2 > sizeof location) {
        return restd_response_problem(response, 414, NULL);
    }
    memcpy(location, path.data, path.len);
    memcpy(location + path.len, "/", 2);
    return restd_response_redirect(response, 301, location);
}

/* --- what handlers need -------------------------------------------------- */

int rd_route_fields(const struct rd_config_list *lines,
                    struct restd_fields **fields, struct restd_error *error)
{
    char name[128];
    int rc = restd_fields_new(fields);
    for (unsigned i = 0; rc == 0 && i < lines->n; i++) {
        const char *line = lines->items[i];
        size_t len = strcspn(line, ":");
        const char *value = line + len + (line[len] == ':');
        value += strspn(value, " \t");
        if (len >= sizeof name) {
            rc = RESTD_ELIMIT;
            break;
        }
        memcpy(name, line, len);
        name[len] = '\0';
        rc = restd_fields_add(*fields, name, value);
    }
    if (rc != 0) {
        restd_fields_free(*fields);
        *fields = NULL;
        return rd_fault(error, rc, "header fields: %s", restd_strerror(rc));
    }
    return 0;
}

static int prepare(struct rd_route_data *data, struct restd_error *error)
{
    const struct rd_config_route *config = data->config;
    struct restd_fields *fields = NULL;
    int rc = restd_fields_new(&fields);
    if (rc == 0 && (config->type != NULL || config->text_len > 0)) {
        rc = restd_fields_add(
            fields, "Content-Type",
            config->type != NULL ? config->type : "text/plain; charset=utf-8");
    }
    if (rc == 0 && config->cache_control != NULL) {
        rc = restd_fields_add(fields, "Cache-Control", config->cache_control);
    }
    if (rc == 0) {
        rc = restd_prepared_new(config->status, fields, config->text,
                                config->text_len, &data->prepared);
    }
    restd_fields_free(fields);
    return rc == 0 ? 0 : rd_fault(error, rc, "%s", restd_strerror(rc));
}

static int open_folder(struct rd_route_data *data, struct restd_error *error)
{
    const struct rd_config_route *config = data->config;
    char folder[4096];
    struct restd_files_options options;
    restd_files_options_init(&options);
    options.root = config->text;
    options.index = config->index;
    options.cache_control = config->cache_control;
    if (config->kind == RD_ROUTE_FILE) {
        const char *slash = strrchr(config->text, '/');
        size_t len = slash == NULL ? 0 : (size_t)(slash - config->text) + 1;
        if (len >= sizeof folder) {
            return rd_fault(error, RESTD_ELIMIT, "too long a path");
        }
        snprintf(folder, sizeof folder, "%.*s", (int)len, config->text);
        options.root = len > 0 ? folder : ".";
        options.file = config->text + len;
        options.index = NULL;
    }
    return restd_files_new(&options, &data->files, error);
}

/* --- adding -------------------------------------------------------------- */

static int is_rest(const char *pattern)
{
    size_t len = strlen(pattern);
    return len > 4 && strcmp(pattern + len - 4, "...}") == 0;
}

/* Where a folder's files are: the pattern itself if it ends with {name...}. */
static int below(const char *pattern, char *buf, size_t size)
{
    size_t len = strlen(pattern);
    int n;
    if (is_rest(pattern)) {
        n = snprintf(buf, size, "%s", pattern);
    } else {
        len -= pattern[len - 1] == '/';
        n = snprintf(buf, size, "%.*s/{path...}", (int)len, pattern);
    }
    return n > 0 && (size_t)n < size ? 0 : RESTD_ELIMIT;
}

struct target {
    restd_handler_fn *handler;
    void *data;
    const char *pattern;
};

/* The library hands `data` back unread, and handlers take it as const. */
static void *unconst(const void *data)
{
    return (void *)(uintptr_t)data;
}

static int find_target(struct rd_route_data *data, char *buf, size_t size,
                       struct target *target, struct restd_error *error)
{
    const struct rd_config_route *config = data->config;
    target->pattern = config->pattern;
    target->data = data;
    switch (config->kind) {
    case RD_ROUTE_RESPOND:
        target->handler = handle_prepared;
        return prepare(data, error);
    case RD_ROUTE_REDIRECT:
        target->handler = handle_redirect;
        target->data = unconst(config);
        return 0;
    case RD_ROUTE_DOCROOT:
        target->pattern = buf;
        if (below(config->pattern, buf, size) != 0) {
            return rd_fault(error, RESTD_ELIMIT, "too long a pattern");
        }
        /* fall through */
    case RD_ROUTE_FILE: {
        int rc = open_folder(data, error);
        target->handler = restd_files_handler;
        target->data = data->files;
        return rc;
    }
    case RD_ROUTE_ECHO:
        target->handler = rd_builtin_echo;
        target->data = NULL;
        return 0;
    case RD_ROUTE_STATUS:
        target->handler = rd_status_handle;
        target->data = data->view;
        return 0;
    case RD_ROUTE_HEALTH:
        target->handler = strcmp(config->text, "live") == 0 ? rd_builtin_livez
                                                            : rd_builtin_readyz;
        target->data = unconst(data->builtin);
        return 0;
    }
    return RESTD_EINVAL;
}

/* Who asks whether we live must not be told to come again later, or a load
 * balancer takes a busy server for a dead one. */
static int limit_others(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    static const char *const spared[] = {"/livez", "/readyz", "/healthz"};
    const struct restd_plugin *limit = data;
    struct restd_slice path = restd_request_path(request);
    for (size_t i = 0; i < sizeof spared / sizeof spared[0]; i++) {
        if (restd_slice_is(path, spared[i])) {
            return 0;
        }
    }
    return limit->before(request, response, limit->data);
}

static void limit_free(void *data)
{
    const struct restd_plugin *limit = data;
    limit->free(limit->data);
}

/* With `spared` that of the whole server, which spares questions after health;
 * there is place for the one that does not. */
static int make_rate_limit(const struct rd_config_rate *config,
                           struct restd_plugin *spared,
                           struct restd_plugin *plugin,
                           struct restd_error *error)
{
    struct restd_rate_limit_options options;
    restd_rate_limit_options_init(&options);
    options.rate = config->rate;
    options.period_ms = config->period_ms;
    options.burst = config->burst;
    options.entries = config->entries;
    int rc = restd_rate_limit(&options, plugin, error);
    if (rc == 0 && spared != NULL) {
        *spared = *plugin;
        plugin->before = limit_others;
        plugin->free = limit_free;
        plugin->data = spared;
    }
    return rc;
}

int rd_route_plugins(struct restd_router *router, int route,
                     const struct rd_config_plugins *plugins,
                     struct restd_plugin *spared, struct restd_error *error)
{
    struct restd_plugin made[3];
    unsigned n = 0;
    int rc = 0;
    if (plugins->allow != NULL || plugins->deny != NULL) {
        struct restd_access_list_options options;
        restd_access_list_options_init(&options);
        options.allow = plugins->allow;
        options.deny = plugins->deny;
        rc = restd_access_list(&options, &made[n++], error);
    }
    if (rc == 0 && plugins->rate_limit.is_set) {
        rc = make_rate_limit(&plugins->rate_limit, spared, &made[n++], error);
    }
    if (rc == 0 && plugins->headers.n > 0) {
        struct restd_fields *fields = NULL;
        rc = rd_route_fields(&plugins->headers, &fields, error);
        if (rc == 0) {
            rc = restd_default_headers(fields, &made[n++], error);
            restd_fields_free(fields);
        }
    }
    if (rc != 0 && n > 0) {
        n--; /* the last one has not been made */
    }
    for (unsigned i = 0; i < n; i++) {
        if (rc != 0) {
            made[i].free(made[i].data);
        } else if (route < 0) {
            rc = restd_router_use(router, &made[i], error);
        } else {
            rc = restd_router_use_on(router, route, &made[i], error);
        }
    }
    return rc;
}

static int add_one(struct restd_router *router,
                   const struct rd_config_route *route, const char *method,
                   const struct target *target, struct restd_error *error)
{
    struct restd_route_options options;
    int number = restd_router_add(router, method, target->pattern,
                                  target->handler, target->data, error);
    if (number < 0) {
        return number;
    }
    restd_route_options_init(&options);
    options.summary = route->summary;
    options.body_max_bytes = route->body_max_bytes;
    options.low_priority = route->low_priority;
    int rc = restd_router_configure(router, number, &options, error);
    return rc != 0
               ? rc
               : rd_route_plugins(router, number, &route->plugins, NULL, error);
}

static int add_methods(struct restd_router *router,
                       const struct rd_config_route *route,
                       const struct target *target, struct restd_error *error)
{
    char method[RD_CONFIG_METHOD_MAX];
    const char *at = route->methods;
    /* Those that are too long have been refused with the configuration. */
    while (rd_config_method(&at, method) > 0) {
        int rc = add_one(router, route, method, target, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int rd_route_add(struct restd_router *router, struct rd_route_data *data,
                 struct restd_error *error)
{
    const struct rd_config_route *route = data->config;
    char buf[1024];
    struct target target = {NULL, NULL, NULL};
    struct restd_error why = {0};
    int rc = find_target(data, buf, sizeof buf, &target, &why);
    if (rc == 0) {
        rc = add_methods(router, route, &target, &why);
    }
    if (rc == 0 && route->kind == RD_ROUTE_DOCROOT &&
        !is_rest(route->pattern) &&
        route->pattern[strlen(route->pattern) - 1] != '/') {
        const struct target folder = {handle_folder, NULL, route->pattern};
        rc = add_methods(router, route, &folder, &why);
    }
    if (rc != 0) {
        return rd_fault(error, rc, "%s:%d: route \"%s %s\": %.160s",
                        route->origin.file, route->origin.line, route->methods,
                        route->pattern, why.message);
    }
    return 0;
}

void rd_route_data_fini(struct rd_route_data *data)
{
    restd_prepared_unref(data->prepared);
    restd_files_free(data->files);
}
