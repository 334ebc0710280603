/* SPDX-License-Identifier: MIT */
/* Loading a configuration: built-in defaults, then the file, then the
 * environment, then the command line, each over the one before.
 *
 * All of it goes into one tree of text, so that origins, checks and the dump
 * are the same for all four; then the tree becomes the struct, and the struct
 * is checked as a whole. Everything lives in one arena, the configuration
 * included. Thread: main.
 */
#include "daemon/config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/address.h"
#include "daemon/args.h"
#include "daemon/config_build.h"
#include "daemon/config_parse.h"
#include "daemon/config_tree.h"
#include "daemon/config_value.h"

#define ARENA_BYTES ((size_t)32 * 1024 * 1024)
/* For rd_config_alloc(): in all, and for each route. */
#define ROOM_BYTES ((size_t)64 * 1024)
#define ROUTE_BYTES 512
#define DEFAULT_LISTEN "127.0.0.1:8888"

static const struct rd_config_origin from_default = {"default", 0};
static const struct rd_config_origin from_environment = {"environment", 0};
static const struct rd_config_origin from_arguments = {"command line", 0};

/* Sets a directive of a section without a title; networks may be several,
 * with commas. */
static void set(struct rd_config_tree *tree,
                const struct rd_directive *directive, const char *text,
                struct rd_config_origin origin)
{
    char item[256];
    struct rd_config_section *section =
        rd_tree_section(tree, tree->sections, directive->section, NULL, origin);
    int more = 0;
    if (section == NULL || directive->type != RD_TYPE_NETWORKS) {
        if (section != NULL) {
            rd_tree_set(tree, section, directive, text, origin, 0);
        }
        return;
    }
    for (const char *at = text; *at != '\0'; more = 1) {
        at += strspn(at, ", ");
        size_t len = strcspn(at, ", ");
        snprintf(item, sizeof item, "%.*s", len < 255 ? (int)len : 255, at);
        if (len > 0) {
            rd_tree_set(tree, section, directive, item, origin, more);
        }
        at += len;
    }
}

static void apply_environment(struct rd_config_tree *tree)
{
    char name[80];
    const struct rd_directive *d = NULL;
    while ((d = rd_directive_next(d)) != NULL) {
        const struct rd_section_info *info = rd_section_info(d->section);
        if (info->title != NULL || info->parent != RD_SECTION_TOP) {
            continue;
        }
        snprintf(name, sizeof name, "RESTDAEMON_%s%s%s", info->name,
                 *info->name != '\0' ? "_" : "", d->name);
        for (char *c = name; *c != '\0'; c++) {
            *c = (char)toupper((unsigned char)*c);
        }
        const char *value = getenv(name);
        if (value != NULL) {
            set(tree, d, value, from_environment);
        }
    }
}

/* Where the name of an unknown "section.name" should have been. */
static void suggest_path(const char *key, char *hint, size_t size)
{
    char section[40];
    size_t len = strcspn(key, ".");
    const char *name = key;
    int kind = RD_SECTION_TOP;
    if (len < sizeof section && key[len] == '.') {
        memcpy(section, key, len);
        section[len] = '\0';
        kind = rd_section_find(RD_SECTION_TOP, section);
        name = kind == RD_SECTIONS_N ? section : key + len + 1;
        kind = kind == RD_SECTIONS_N ? RD_SECTION_TOP : kind;
    }
    rd_directive_suggest(kind, name, hint, size);
}

static void apply_arguments(struct rd_config_tree *tree,
                            const struct rd_args *args)
{
    char hint[120];
    for (unsigned i = 0; i < args->settings_n; i++) {
        const struct rd_args_setting *s = &args->settings[i];
        const struct rd_directive *d = rd_directive_find_path(s->key);
        if (d != NULL) {
            set(tree, d, s->value, from_arguments);
        } else {
            suggest_path(s->key, hint, sizeof hint);
            rd_config_fault(tree->errors, EX_CONFIG, from_arguments,
                            "-o: there is no directive '%s'%s", s->key, hint);
        }
    }
}

static void add_listen(struct rd_config_tree *tree, const char *name,
                       const char *address, struct rd_config_origin origin)
{
    struct rd_config_section *section =
        rd_tree_section(tree, tree->sections, RD_SECTION_LISTEN, name, origin);
    if (section != NULL) {
        rd_tree_set(tree, section,
                    rd_directive_find(RD_SECTION_LISTEN, "address"), address,
                    origin, 0);
    }
}

static int is_admin(const struct rd_config_section *section)
{
    char why[320];
    uint64_t number = 0;
    const struct rd_config_node *admin = rd_tree_get(section, "admin");
    return admin != NULL && admin->values.n > 0 &&
           rd_value_parse(admin->directive, admin->values.items[0], &number,
                          why, sizeof why) == 0 &&
           number != 0;
}

/* Whether a listener is there that serves the routes. */
static int has_listen(const struct rd_config_tree *tree)
{
    struct rd_config_section *s = NULL;
    while ((s = rd_tree_next(tree, RD_SECTION_LISTEN, s)) != NULL) {
        if (!is_admin(s)) {
            return 1;
        }
    }
    return 0;
}

/* -p: of the first listener that has a port. */
static void apply_port(struct rd_config_tree *tree, long port)
{
    char address[RD_ARGS_ADDRESS_MAX];
    struct rd_config_section *s = NULL;
    while ((s = rd_tree_next(tree, RD_SECTION_LISTEN, s)) != NULL) {
        const struct rd_config_node *node = rd_tree_get(s, "address");
        if (node == NULL || node->values.n == 0 ||
            rd_address_is_unix(node->values.items[0])) {
            continue;
        }
        snprintf(address, sizeof address, "%s", node->values.items[0]);
        if (rd_address_set_port(address, sizeof address, (unsigned)port) == 0) {
            rd_tree_set(tree, s, node->directive, address, from_arguments, 0);
        }
        return;
    }
    rd_config_fault(tree->errors, EX_CONFIG, from_arguments,
                    "-p: there is no TCP listener to set");
}

static void apply_listens(struct rd_config_tree *tree,
                          const struct rd_args *args)
{
    char name[24];
    if (args->listen_n > 0) {
        rd_tree_drop(tree, RD_SECTION_LISTEN);
    }
    for (unsigned i = 0; i < args->listen_n; i++) {
        snprintf(name, sizeof name, i == 0 ? "main" : "listen%u", i + 1);
        add_listen(tree, name, args->listen[i], from_arguments);
    }
    if (!has_listen(tree)) {
        add_listen(tree, "default", DEFAULT_LISTEN, from_default);
    }
    if (args->port >= 0) {
        apply_port(tree, args->port);
    }
}

/* The file to read; NULL: none. */
static const char *choose_file(const struct rd_args *args)
{
    if (args->config == NULL) {
        return access(RD_CONFIG_FILE, F_OK) == 0 ? RD_CONFIG_FILE : NULL;
    }
    return strcmp(args->config, "none") == 0 ? NULL : args->config;
}

static void read_all(struct rd_config_tree *tree, const char *file,
                     const struct rd_args *args)
{
    if (file != NULL) {
        rd_config_parse(tree, file);
    } else {
        set(tree, rd_directive_find(RD_SECTION_BUILTINS, "echo"), "true",
            from_default);
    }
    apply_environment(tree);
    apply_arguments(tree, args);
    apply_listens(tree, args);
}

/* In the arena; NULL with a fault. */
static struct rd_config *load(struct rd_arena *arena,
                              const struct rd_args *args,
                              struct rd_config_errors *errors)
{
    struct rd_config *config = rd_arena_alloc(arena, sizeof *config);
    struct rd_config_tree *tree = rd_arena_alloc(arena, sizeof *tree);
    const char *file = choose_file(args);
    if (config == NULL || tree == NULL ||
        rd_tree_init(tree, arena, errors) < 0) {
        rd_config_fault(errors, EX_OSERR, from_default, "out of memory");
        return NULL;
    }
    read_all(tree, file, args);
    if (tree->is_partial || errors->code == EX_NOINPUT ||
        errors->code == EX_NOPERM) {
        return NULL; /* what is missing would only bring on more faults */
    }
    rd_config_build(config, tree);
    config->file =
        file == NULL ? NULL : rd_arena_copy(arena, file, strlen(file));
    if (!arena->full) {
        rd_config_check(config);
    }
    if (arena->full) {
        rd_config_fault(errors, EX_CONFIG, from_default,
                        "the configuration takes more than %zu MiB of memory",
                        ARENA_BYTES >> 20);
    }
    return errors->n == 0 ? config : NULL;
}

int rd_config_load(struct rd_config **config, const struct rd_args *args,
                   struct rd_config_errors *errors)
{
    struct rd_arena first;
    memset(errors, 0, sizeof *errors);
    if (rd_arena_init(&first, ARENA_BYTES) < 0) {
        rd_config_fault(errors, EX_OSERR, from_default, "out of memory");
        return -1;
    }
    /* It lives in itself from here on. */
    struct rd_arena *arena = rd_arena_alloc(&first, sizeof *arena);
    *arena = first;
    struct rd_config *loaded = load(arena, args, errors);
    if (loaded == NULL) {
        first = *arena;
        rd_arena_fini(&first);
        return -1;
    }
    loaded->tree->errors = NULL; /* the caller's */
    rd_arena_trim(arena, ROOM_BYTES + loaded->routes_n * ROUTE_BYTES);
    *config = loaded;
    return 0;
}

int rd_config_method(const char **at, char method[RD_CONFIG_METHOD_MAX])
{
    if (*at == NULL) {
        return 0;
    }
    size_t len = strcspn(*at, ",");
    if (len >= RD_CONFIG_METHOD_MAX) {
        return -1;
    }
    memcpy(method, *at, len);
    method[len] = '\0';
    *at = (*at)[len] == ',' ? *at + len + 1 : NULL;
    return 1;
}

void *rd_config_alloc(struct rd_config *config, size_t size)
{
    return rd_arena_alloc(config->tree->arena, size);
}

int rd_config_cors(const struct rd_config_cors *cors,
                   struct restd_plugin *plugin, struct restd_error *error)
{
    struct restd_cors_options options;
    restd_cors_options_init(&options);
    options.origins = cors->origins;
    options.methods = cors->methods;
    options.headers = cors->headers;
    options.exposed = cors->exposed;
    options.max_age_s = cors->max_age_s;
    options.credentials = cors->credentials;
    return restd_cors(&options, plugin, error);
}

int rd_config_has_admin(const struct rd_config *config)
{
    unsigned i = 0;
    while (i < config->listens_n && !config->listens[i].admin) {
        i++;
    }
    return i < config->listens_n;
}

void rd_config_free(struct rd_config *config)
{
    if (config != NULL) {
        struct rd_arena arena = *config->tree->arena;
        rd_arena_fini(&arena);
    }
}
