/* SPDX-License-Identifier: MIT */
/* What the functions that make plugins have in common. Inline, any thread. */
#ifndef RD_PLUGINS_MAKE_H
#define RD_PLUGINS_MAKE_H

#include <string.h>

#include <restd/plugin.h>

#include "base/error.h"
#include "base/sized.h"

/* Copies options of a caller who may know fewer fields than we, or more, over
 * our defaults. `from` NULL: the defaults. */
static inline int rd_make_options(void *to, size_t to_size, const void *from,
                                  struct restd_error *error)
{
    return from && rd_sized_in(to, to_size, from) != 0
               ? rd_error(error, RESTD_EINVAL, "options without a size")
               : 0;
}

static inline int rd_make_no_memory(struct restd_error *error)
{
    return rd_error(error, RESTD_ENOMEM, "out of memory");
}

/* An empty plugin. */
static inline void rd_make_plugin(struct restd_plugin *plugin, const char *name,
                                  void (*free_fn)(void *data), void *data)
{
    memset(plugin, 0, sizeof(*plugin));
    plugin->size = sizeof(*plugin);
    plugin->name = name;
    plugin->free = free_fn;
    plugin->data = data;
}

#endif
