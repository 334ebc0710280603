/* SPDX-License-Identifier: MIT */
/* Fields for every reply. They are set before the handler runs, so that they
 * stay whoever makes the reply, and go out for the price of a copy. No reply
 * to what is no request has them: no `before` runs for it. Thread: make any,
 * the rest [loop]. */
#include <restd/plugins.h>

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "http/message.h"
#include "plugins/make.h"

struct defaults {
    size_t len;
    char text[];
};

static int before(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    const struct defaults *d = data;
    struct restd_slice none = {NULL, 0};
    struct restd_slice text = {d->text, d->len};

    (void)request;
    return rd_fields_join(&response->fields, text, none);
}

int restd_default_headers(const struct restd_fields *fields,
                          struct restd_plugin *plugin,
                          struct restd_error *error)
{
    if (!fields) {
        return rd_error(error, RESTD_EINVAL, "no default headers");
    }
    if (fields->fields.type_len > 0) {
        return rd_error(error, RESTD_EINVAL,
                        "Content-Type is no default header");
    }
    size_t len = fields->fields.len;
    struct defaults *d = rd_mem_alloc(sizeof(*d) + len);
    if (!d) {
        return rd_make_no_memory(error);
    }
    d->len = len;
    memcpy(d->text, fields->text, len);
    rd_make_plugin(plugin, "default headers", rd_mem_free, d);
    plugin->before = before;
    return 0;
}
