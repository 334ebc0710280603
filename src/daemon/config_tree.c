/* SPDX-License-Identifier: MIT */
/* Sections and values as they were given, before they become a configuration.
 *
 * A later origin takes the place of an earlier one: that is how precedence
 * works (file, environment, command line), and how an included file changes
 * what the including one says. Twice in one section of one file is a fault.
 * Thread: main.
 */
#include "daemon/config_tree.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/config_value.h"

void rd_config_fault(struct rd_config_errors *errors, int code,
                     struct rd_config_origin origin, const char *format, ...)
{
    char line[1024];
    va_list list;
    int n = origin.line > 0
                ? snprintf(line, sizeof line, "%.400s:%d: error: ", origin.file,
                           origin.line)
                : snprintf(line, sizeof line, "%.400s: error: ", origin.file);
    va_start(list, format);
    vsnprintf(line + n, sizeof line - (size_t)n, format, list);
    va_end(list);
    /* What was found is quoted as it is; one fault stays one line. */
    size_t len = 0;
    for (; line[len] != '\0'; len++) {
        if ((unsigned char)line[len] < 0x20 || line[len] == 0x7f) {
            line[len] = '?';
        }
    }
    if (errors->n++ == 0) {
        errors->code = code;
    }
    if (errors->shown_n + len + 2 <= sizeof errors->text) {
        memcpy(errors->text + errors->shown_n, line, len);
        errors->shown_n += (unsigned)len;
        memcpy(errors->text + errors->shown_n++, "\n", 2);
    }
}

int rd_tree_init(struct rd_config_tree *tree, struct rd_arena *arena,
                 struct rd_config_errors *errors)
{
    struct rd_config_origin origin = {"default", 0};
    memset(tree, 0, sizeof *tree);
    tree->arena = arena;
    tree->errors = errors;
    return rd_tree_section(tree, NULL, RD_SECTION_TOP, NULL, origin) != NULL
               ? 0
               : -1;
}

struct rd_config_section *rd_tree_next(const struct rd_config_tree *tree,
                                       enum rd_section kind,
                                       const struct rd_config_section *section)
{
    struct rd_config_section *s =
        section != NULL ? section->next : tree->sections;
    while (s != NULL && s->kind != kind) {
        s = s->next;
    }
    return s;
}

static struct rd_config_section *
section_find(const struct rd_config_tree *tree,
             const struct rd_config_section *parent, enum rd_section kind)
{
    struct rd_config_section *s = NULL;
    /* Those of a route come right behind it. */
    if (parent != NULL && parent->kind != RD_SECTION_TOP) {
        for (s = parent->next; s != NULL && s->parent == parent; s = s->next) {
            if (s->kind == kind) {
                return s;
            }
        }
        return NULL;
    }
    return rd_tree_next(tree, kind, NULL);
}

struct rd_config_section *rd_tree_section(struct rd_config_tree *tree,
                                          struct rd_config_section *parent,
                                          enum rd_section kind,
                                          const char *title,
                                          struct rd_config_origin origin)
{
    const struct rd_section_info *info = rd_section_info(kind);
    if (info->title == NULL) {
        struct rd_config_section *old = section_find(tree, parent, kind);
        if (old != NULL) {
            return old;
        }
    }
    if (tree->counts[kind] >= info->max) {
        if (tree->counts[kind]++ == info->max) {
            rd_config_fault(tree->errors, EX_CONFIG, origin,
                            "more than %u sections '%s'", info->max,
                            info->name);
        }
        return NULL;
    }
    struct rd_config_section *s = rd_arena_alloc(tree->arena, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    tree->counts[kind]++;
    s->kind = kind;
    s->parent = parent;
    s->origin = origin;
    s->title =
        title == NULL ? NULL : rd_arena_copy(tree->arena, title, strlen(title));
    if (tree->last == NULL) {
        tree->sections = s;
    } else {
        tree->last->next = s;
    }
    tree->last = s;
    return s;
}

void rd_tree_drop(struct rd_config_tree *tree, enum rd_section kind)
{
    /* The first is the top and stays. */
    for (struct rd_config_section *s = tree->sections; s != NULL; s = s->next) {
        while (s->next != NULL && s->next->kind == kind) {
            s->next = s->next->next;
        }
        tree->last = s;
    }
    tree->counts[kind] = 0;
}

struct rd_config_node *rd_tree_get(const struct rd_config_section *section,
                                   const char *name)
{
    struct rd_config_node *node = section->nodes;
    while (node != NULL && strcmp(node->directive->name, name) != 0) {
        node = node->next;
    }
    return node;
}

struct rd_config_origin rd_tree_origin(const struct rd_config_tree *tree,
                                       enum rd_section kind, const char *name)
{
    const struct rd_config_origin none = {"default", 0};
    const struct rd_config_section *s = rd_tree_next(tree, kind, NULL);
    const struct rd_config_node *node = s != NULL ? rd_tree_get(s, name) : NULL;
    return node != NULL ? node->origin : s != NULL ? s->origin : none;
}

/* Names it as in "'header' of timeouts". */
static void directive_name(const struct rd_config_section *section,
                           const struct rd_directive *directive,
                           struct rd_config_origin origin, char *buf,
                           size_t size)
{
    const char *name = rd_section_info(section->kind)->name;
    /* In a file the reader sees in which section the line is. */
    if (origin.line > 0 || section->kind == RD_SECTION_TOP) {
        snprintf(buf, size, "'%s'", directive->name);
    } else {
        snprintf(buf, size, "'%s.%s'", name, directive->name);
    }
}

/* What a relative path stands for: it is relative to the file that has it, and
 * must not depend on the working directory later. */
static const char *resolve(struct rd_config_tree *tree, const char *text,
                           struct rd_config_origin origin)
{
    char cwd[PATH_MAX] = "";
    const char *slash = strrchr(origin.file, '/');
    if (*text == '/' || *text == '\0' || origin.line == 0) {
        return rd_arena_copy(tree->arena, text, strlen(text));
    }
    if (*origin.file != '/' && getcwd(cwd, sizeof cwd) == NULL) {
        cwd[0] = '\0';
    }
    return rd_arena_print(
        tree->arena, "%s%s%.*s%s", cwd, *cwd != '\0' ? "/" : "",
        slash == NULL ? 0 : (int)(slash - origin.file + 1), origin.file, text);
}

static void list_add(struct rd_config_tree *tree, struct rd_config_node *node,
                     const char *text)
{
    if (node->values.n == node->room) {
        unsigned room = node->room == 0 ? 1 : node->room * 2;
        const char **items = rd_arena_alloc(tree->arena, room * sizeof *items);
        if (items == NULL) {
            return;
        }
        if (node->values.n > 0) {
            memcpy(items, node->values.items, node->values.n * sizeof *items);
        }
        node->values.items = items;
        node->room = room;
    }
    node->values.items[node->values.n++] = text;
}

/* The node for a new value; NULL if it is refused. */
static struct rd_config_node *node_for(struct rd_config_tree *tree,
                                       struct rd_config_section *section,
                                       const struct rd_directive *directive,
                                       struct rd_config_origin origin, int more)
{
    struct rd_config_node *node = rd_tree_get(section, directive->name);
    if (node == NULL) {
        node = rd_arena_alloc(tree->arena, sizeof *node);
        if (node == NULL) {
            return NULL;
        }
        node->directive = directive;
        node->next = section->nodes;
        section->nodes = node;
    } else if (!more) {
        if (origin.line > 0 && strcmp(node->origin.file, origin.file) == 0) {
            rd_config_fault(tree->errors, EX_CONFIG, origin,
                            "'%s' has a value already, from line %d",
                            directive->name, node->origin.line);
            return NULL;
        }
        node->values.n = 0;
    }
    node->origin = origin;
    return node;
}

void rd_tree_set(struct rd_config_tree *tree, struct rd_config_section *section,
                 const struct rd_directive *directive, const char *text,
                 struct rd_config_origin origin, int more)
{
    char name[80], why[320];
    uint64_t number;
    struct rd_config_node *node =
        node_for(tree, section, directive, origin, more);
    if (node == NULL) {
        return;
    }
    if (rd_value_parse(directive, text, &number, why, sizeof why) < 0) {
        directive_name(section, directive, origin, name, sizeof name);
        rd_config_fault(tree->errors, EX_CONFIG, origin, "%s %s", name, why);
    }
    list_add(tree, node,
             directive->type == RD_TYPE_PATH
                 ? resolve(tree, text, origin)
                 : rd_arena_copy(tree->arena, text, strlen(text)));
}
