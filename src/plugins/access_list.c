/* SPDX-License-Identifier: MIT */
/* Access list by client address: the lists are sets (networks.c), this is the
 * rule on top of them. Immutable once made. Thread: make any, the rest [loop].
 */
#include <restd/plugins.h>

#include "base/error.h"
#include "base/mem.h"
#include "plugins/make.h"

struct access_list {
    struct restd_networks *allow, *deny; /* NULL: no such list */
};

void restd_access_list_options_init_size(
    struct restd_access_list_options *options, size_t size)
{
    static const struct restd_access_list_options defaults = {0};

    memcpy(options, &defaults,
           size < sizeof(defaults) ? size : sizeof(defaults));
    options->size = size;
}

static int before(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    const struct access_list *list = data;

    if ((!list->allow || restd_networks_contains(list->allow, request)) &&
        (!list->deny || !restd_networks_contains(list->deny, request))) {
        return 0;
    }
    int rc = restd_response_problem(response, 403,
                                    "not for clients of this address");
    return rc != 0 ? rc : RESTD_ANSWERED;
}

static void list_free(void *data)
{
    struct access_list *list = data;

    restd_networks_free(list->allow);
    restd_networks_free(list->deny);
    rd_mem_free(list);
}

int restd_access_list(const struct restd_access_list_options *options,
                      struct restd_plugin *plugin, struct restd_error *error)
{
    struct restd_access_list_options o;

    restd_access_list_options_init(&o);
    int rc = rd_make_options(&o, sizeof(o), options, error);
    if (rc == 0 && !o.allow && !o.deny) {
        rc = rd_error(error, RESTD_EINVAL,
                      "an access list wants a list to allow or to deny");
    }
    if (rc != 0) {
        return rc;
    }
    struct access_list *list = rd_mem_alloc(sizeof(*list));
    if (!list) {
        return rd_make_no_memory(error);
    }
    rc = o.allow ? restd_networks_new(o.allow, &list->allow, error) : 0;
    if (rc == 0 && o.deny) {
        rc = restd_networks_new(o.deny, &list->deny, error);
    }
    if (rc != 0) {
        list_free(list);
        return rc;
    }
    rd_make_plugin(plugin, "access list", list_free, list);
    plugin->before = before;
    return 0;
}
