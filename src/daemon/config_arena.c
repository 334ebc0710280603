/* SPDX-License-Identifier: MIT */
/* One anonymous mapping that is filled from its start.
 *
 * It is reserved at its largest size, so that pieces never move and there is
 * one place that can fail; what is not touched costs nothing. Without huge
 * pages, of which the first byte would cost two megabytes. No piece is freed
 * alone. Thread: one at a time.
 */
#include "daemon/config_arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int rd_arena_init(struct rd_arena *arena, size_t size)
{
    memset(arena, 0, sizeof *arena);
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        return -1;
    }
    madvise(map, size, MADV_NOHUGEPAGE);
    arena->map = map;
    arena->size = size;
    return 0;
}

void rd_arena_trim(struct rd_arena *arena, size_t more)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t keep = (arena->used + more + page - 1) / page * page;
    if (keep < arena->size &&
        munmap(arena->map + keep, arena->size - keep) == 0) {
        arena->size = keep;
    }
}

void rd_arena_fini(struct rd_arena *arena)
{
    if (arena->map != NULL) {
        munmap(arena->map, arena->size);
    }
    arena->map = NULL;
}

void *rd_arena_alloc(struct rd_arena *arena, size_t size)
{
    size_t at = (arena->used + 15) / 16 * 16;
    if (at > arena->size || size > arena->size - at) {
        arena->full = 1;
        return NULL;
    }
    arena->used = at + size;
    return arena->map + at;
}

const char *rd_arena_copy(struct rd_arena *arena, const char *text, size_t len)
{
    if (arena->used >= arena->size || len >= arena->size - arena->used) {
        arena->full = 1;
        return "";
    }
    char *copy = arena->map + arena->used;
    memcpy(copy, text, len);
    copy[len] = '\0';
    arena->used += len + 1;
    return copy;
}

const char *rd_arena_print(struct rd_arena *arena, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t room = arena->size - arena->used;
    char *text = arena->map + arena->used;
    int n = vsnprintf(text, room, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= room) {
        arena->full = 1;
        return "";
    }
    arena->used += (size_t)n + 1;
    return text;
}
