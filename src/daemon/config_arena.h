/* SPDX-License-Identifier: MIT */
/* Memory of one configuration: given piece by piece, freed whole.
 *
 * Owner: who loads. Lifetime: rd_arena_init() to rd_arena_fini(). Thread: one
 * at a time.
 */
#ifndef RD_DAEMON_CONFIG_ARENA_H
#define RD_DAEMON_CONFIG_ARENA_H

#include <stddef.h>

#include <restd/api.h>

struct rd_arena {
    char *map;
    size_t used, size;
    int full; /* something did not fit */
};

/* Reserves `size` bytes of address space, of which only those that are used
 * become memory. Returns 0 or -1. */
int rd_arena_init(struct rd_arena *arena, size_t size);
/* Gives back the address space behind `more` further bytes. */
void rd_arena_trim(struct rd_arena *arena, size_t more);
void rd_arena_fini(struct rd_arena *arena);
/* Zeroed, aligned for any type; NULL once it is full. */
void *rd_arena_alloc(struct rd_arena *arena, size_t size);
/* A terminated copy, or formatted text; "" once it is full. */
const char *rd_arena_copy(struct rd_arena *arena, const char *text, size_t len);
const char *rd_arena_print(struct rd_arena *arena, const char *format, ...)
    RESTD_PRINTF(2, 3);

#endif
