/* SPDX-License-Identifier: MIT */
/* What a configuration says, as text: sections with the directives that were
 * given, each with its origin, and the faults that were found on the way.
 *
 * Owner: rd_config_load(), then the configuration. Lifetime: its arena's.
 * Thread: main.
 */
#ifndef RD_DAEMON_CONFIG_TREE_H
#define RD_DAEMON_CONFIG_TREE_H

#include "daemon/config.h"
#include "daemon/config_arena.h"
#include "daemon/config_table.h"

/* A directive that was given. */
struct rd_config_node {
    const struct rd_directive *directive;
    struct rd_config_list values; /* of what is no list: one */
    unsigned room;                /* of values */
    struct rd_config_origin origin;
    struct rd_config_node *next;
};

struct rd_config_section {
    enum rd_section kind;
    const char *title; /* NULL: has none */
    struct rd_config_section *parent;
    struct rd_config_origin origin;
    struct rd_config_node *nodes;
    struct rd_config_section *next; /* of all, in order */
};

struct rd_config_tree {
    struct rd_arena *arena;
    struct rd_config_errors *errors;
    struct rd_config_section *sections, *last;
    unsigned counts[RD_SECTIONS_N];
    uint8_t is_partial; /* a fault of syntax has ended the reading */
};

/* Makes the tree and its section for the top. Returns 0 or -1. */
int rd_tree_init(struct rd_config_tree *tree, struct rd_arena *arena,
                 struct rd_config_errors *errors);
/* Another section; of those without title the one that there is. NULL if there
 * are too many, which is noted, or memory is short. */
struct rd_config_section *rd_tree_section(struct rd_config_tree *tree,
                                          struct rd_config_section *parent,
                                          enum rd_section kind,
                                          const char *title,
                                          struct rd_config_origin origin);
/* First section of that kind, or the next behind `section`; NULL: none. */
struct rd_config_section *rd_tree_next(const struct rd_config_tree *tree,
                                       enum rd_section kind,
                                       const struct rd_config_section *section);
/* Takes out all sections of that kind. */
void rd_tree_drop(struct rd_config_tree *tree, enum rd_section kind);
/* Checks and keeps a value. `more`: it is added to those that a list has.
 * Faults are noted, and the value left out. */
void rd_tree_set(struct rd_config_tree *tree, struct rd_config_section *section,
                 const struct rd_directive *directive, const char *text,
                 struct rd_config_origin origin, int more);
/* The directive where it was given; NULL: it was not. */
struct rd_config_node *rd_tree_get(const struct rd_config_section *section,
                                   const char *name);

/* Where a directive was given, or else its section; "default". */
struct rd_config_origin rd_tree_origin(const struct rd_config_tree *tree,
                                       enum rd_section kind, const char *name);

/* Notes a fault. `code` is the exit code for it. */
void rd_config_fault(struct rd_config_errors *errors, int code,
                     struct rd_config_origin origin, const char *format, ...)
    RESTD_PRINTF(4, 5);

#endif
