/* SPDX-License-Identifier: MIT */
/* From the tree to struct rd_config.
 *
 * Most directives say in the table where they belong; here is what is left:
 * options of the library, titles, what a route does, and defaults that depend
 * on something else. Every value was judged when the tree took it, so nothing
 * is explained here. Thread: main.
 */
#include "daemon/config_build.h"

#include <stdio.h>
#include <string.h>

#include "daemon/config_value.h"

struct build {
    struct rd_config *config;
    struct rd_config_tree *tree;
};

static void option_store(struct rd_config *config,
                         const struct rd_directive *directive, uint64_t number)
{
    char text[32];
    struct rd_directive_range range;
    rd_directive_range(directive, &range);
    snprintf(text, sizeof text, "%llu%s", (unsigned long long)number,
             strcmp(range.unit, "ms") == 0 ? "ms" : "");
    int rc = restd_options_set(&config->options, directive->option, text, NULL);
    (void)rc; /* the range was looked up at the option */
}

/* The items with commas between them; NULL without any, or without memory, as
 * the arena will tell. */
static const char *join(struct rd_arena *arena,
                        const struct rd_config_list *list)
{
    size_t len = 0;
    for (unsigned i = 0; i < list->n; i++) {
        len += strlen(list->items[i]) + 1;
    }
    char *text = len > 0 ? rd_arena_alloc(arena, len) : NULL;
    char *to = text;
    for (unsigned i = 0; text != NULL && i < list->n; i++) {
        size_t n = strlen(list->items[i]);
        memcpy(to, list->items[i], n);
        to += n;
        *to++ = i + 1 < list->n ? ',' : '\0';
    }
    return text;
}

static void list_store(struct build *b, char *place,
                       const struct rd_directive *directive,
                       const struct rd_config_list *list)
{
    if (directive->type == RD_TYPE_NETWORKS) {
        const char *text = join(b->tree->arena, list);
        memcpy(place, &text, sizeof text);
    } else {
        memcpy(place, list, sizeof *list);
    }
}

static void directive_store(struct build *b, void *base,
                            const struct rd_directive *directive,
                            const struct rd_config_node *node)
{
    char why[320];
    uint64_t number;
    struct rd_directive_range range;
    rd_directive_range(directive, &range);
    if (rd_directive_is_list(directive)) {
        if (node != NULL) {
            list_store(b, (char *)base + directive->offset, directive,
                       &node->values);
        }
        return;
    }
    const char *text = range.def;
    if (node != NULL) {
        text = node->values.n > 0 ? node->values.items[0] : NULL;
    }
    if (text == NULL ||
        rd_value_parse(directive, text, &number, why, sizeof why) < 0) {
        return;
    }
    if (directive->option != NULL) {
        option_store(b->config, directive, number);
    } else {
        /* A default of the library stands in a buffer of ours. */
        rd_value_store(directive, base, number, text);
    }
}

/* Every directive of the section, given or not. `section` may be NULL. */
static void section_store(struct build *b, enum rd_section kind, void *base,
                          const struct rd_config_section *section)
{
    const struct rd_directive *d = NULL;
    while ((d = rd_directive_next(d)) != NULL) {
        if (d->section == kind) {
            directive_store(b, base, d,
                            section != NULL ? rd_tree_get(section, d->name)
                                            : NULL);
        }
    }
}

/* Room for one entry for each section of a kind. */
static void *array_for(struct build *b, enum rd_section kind, size_t size)
{
    unsigned n = 0;
    struct rd_config_section *s = NULL;
    while ((s = rd_tree_next(b->tree, kind, s)) != NULL) {
        n++;
    }
    return rd_arena_alloc(b->tree->arena, n * size);
}

static void build_listens(struct build *b)
{
    struct rd_config *config = b->config;
    struct rd_config_section *s = NULL;
    config->listens = array_for(b, RD_SECTION_LISTEN, sizeof *config->listens);
    while (config->listens != NULL &&
           (s = rd_tree_next(b->tree, RD_SECTION_LISTEN, s)) != NULL) {
        struct rd_config_listen *l = &config->listens[config->listens_n++];
        l->name = s->title;
        l->origin = s->origin;
        l->mode = -1;
        l->uid = UINT32_MAX;
        l->gid = UINT32_MAX;
        section_store(b, RD_SECTION_LISTEN, l, s);
        if (l->admin && l->mode == -1) {
            l->mode = 0660;
        }
    }
}

/* "GET, POST /path" into its two parts. Without methods: those of the kind. */
static void build_title(struct build *b, struct rd_config_route *route,
                        const char *title)
{
    const char *path = strchr(title, '/');
    if (path == NULL) {
        path = title;
    }
    char *methods = rd_arena_alloc(b->tree->arena, (size_t)(path - title) + 1);
    route->methods = route->kind == RD_ROUTE_ECHO ? "POST" : "GET";
    route->pattern = path;
    if (path == title || methods == NULL) {
        return;
    }
    route->methods = methods;
    for (const char *at = title; at < path; at++) {
        if (*at != ' ' && *at != '\t') {
            *methods++ = *at;
        }
    }
    *methods = '\0';
}

static void build_kind(struct rd_config_route *route,
                       const struct rd_config_section *section)
{
    static const struct {
        const char *name;
        enum rd_config_kind kind;
    } kinds[] = {
        {"respond", RD_ROUTE_RESPOND}, {"file", RD_ROUTE_FILE},
        {"docroot", RD_ROUTE_DOCROOT}, {"redirect", RD_ROUTE_REDIRECT},
        {"builtin", RD_ROUTE_HEALTH},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const struct rd_config_node *node = rd_tree_get(section, kinds[i].name);
        if (node != NULL && node->values.n > 0) {
            route->kind = kinds[i].kind;
            route->text = node->values.items[0];
        }
    }
    if (route->kind == RD_ROUTE_HEALTH && strcmp(route->text, "echo") == 0) {
        route->kind = RD_ROUTE_ECHO;
        route->text = NULL;
    } else if (route->kind == RD_ROUTE_HEALTH &&
               strcmp(route->text, "status") == 0) {
        route->kind = RD_ROUTE_STATUS;
        route->text = NULL;
    }
    route->text_len = route->text != NULL ? strlen(route->text) : 0;
}

static void build_routes(struct build *b)
{
    struct rd_config *config = b->config;
    struct rd_config_section *s = NULL;
    config->routes = array_for(b, RD_SECTION_ROUTE, sizeof *config->routes);
    while (config->routes != NULL &&
           (s = rd_tree_next(b->tree, RD_SECTION_ROUTE, s)) != NULL) {
        struct rd_config_route *route = &config->routes[config->routes_n++];
        route->origin = s->origin;
        section_store(b, RD_SECTION_ROUTE, route, s);
        build_kind(route, s);
        build_title(b, route, s->title);
        if (route->kind != RD_ROUTE_DOCROOT || *route->index == '\0') {
            route->index = NULL;
        }
        if (route->status == 0) {
            route->status = route->kind == RD_ROUTE_REDIRECT ? 302 : 200;
        }
        if (s->next != NULL && s->next->parent == s) {
            section_store(b, RD_SECTION_ROUTE_RATE_LIMIT, route, s->next);
            route->plugins.rate_limit.is_set = 1;
        }
    }
}

static void build_modules(struct build *b)
{
    struct rd_config *config = b->config;
    struct rd_config_section *s = NULL;
    config->modules = array_for(b, RD_SECTION_MODULE, sizeof *config->modules);
    while (config->modules != NULL &&
           (s = rd_tree_next(b->tree, RD_SECTION_MODULE, s)) != NULL) {
        struct rd_config_module *m = &config->modules[config->modules_n++];
        m->path = s->title;
        m->origin = s->origin;
        section_store(b, RD_SECTION_MODULE, m, s);
    }
}

void rd_config_build(struct rd_config *config, struct rd_config_tree *tree)
{
    struct build b = {config, tree};
    config->tree = tree;
    restd_options_init(&config->options);
    for (int kind = RD_SECTION_TOP; kind < RD_SECTIONS_N; kind++) {
        const struct rd_section_info *info = rd_section_info(kind);
        if (info->title == NULL && info->parent == RD_SECTION_TOP) {
            section_store(&b, kind, config, rd_tree_next(tree, kind, NULL));
        }
    }
    config->plugins.cors.is_set =
        rd_tree_next(tree, RD_SECTION_CORS, NULL) != NULL;
    config->plugins.rate_limit.is_set =
        rd_tree_next(tree, RD_SECTION_RATE_LIMIT, NULL) != NULL;
    build_listens(&b);
    build_routes(&b);
    build_modules(&b);
}
