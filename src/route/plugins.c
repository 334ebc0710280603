/* SPDX-License-Identifier: MIT */
/* Lists of plugins: copies that own their data from the call that adds them,
 * whether it succeeds or not. They are few and made before the first request,
 * so the array grows by one. Thread: see plugins.h. */
#include "route/plugins.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

void rd_plugin_fini(const struct restd_plugin *plugin)
{
    if (plugin && plugin->size >= sizeof(*plugin) && plugin->free) {
        plugin->free(plugin->data);
    }
}

int rd_plugins_add(struct rd_plugins *plugins,
                   const struct restd_plugin *plugin, struct restd_error *error)
{
    /* All fields of the first release: where `free` stands in less is not
     * known. */
    if (!plugin || plugin->size < sizeof(*plugin)) {
        return rd_error(error, RESTD_EINVAL, "no plugin of a known size");
    }
    if (!plugins) {
        rd_plugin_fini(plugin);
        return rd_error(error, RESTD_ENOENT, "no route of that number");
    }
    struct restd_plugin *list =
        rd_mem_alloc((plugins->n + 1) * sizeof(*plugin));
    if (!list) {
        rd_plugin_fini(plugin);
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    if (plugins->n > 0) {
        memcpy(list, plugins->list, plugins->n * sizeof(*plugin));
    }
    list[plugins->n] = *plugin;
    rd_mem_free(plugins->list);
    plugins->list = list;
    plugins->n++;
    return 0;
}

void rd_plugins_free(struct rd_plugins *plugins)
{
    for (unsigned i = plugins->n; i-- > 0;) {
        rd_plugin_fini(&plugins->list[i]);
    }
    rd_mem_free(plugins->list);
    plugins->list = NULL;
    plugins->n = 0;
}
