/* SPDX-License-Identifier: MIT */
/* What plugins have set in a request. Each entry is two 16-bit lengths, name
 * and value; an entry without a name is the path, or one that was replaced.
 * Thread: the loop's. */
#include "http/overlay.h"

#include <string.h>

#include <restd/error.h>

#include "base/slice.h"
#include "codec/chars.h"
#include "codec/field.h"

#define ENTRY_HEAD 4u

/* Makes the entries of that name ones without a name. */
static void forget(struct rd_overlay *o, struct restd_slice name)
{
    uint16_t lens[2];
    unsigned at = 0;

    while (at < o->len) {
        char *p = o->text + at;
        memcpy(lens, p, ENTRY_HEAD);
        at += ENTRY_HEAD + lens[0] + lens[1];
        if (lens[0] > 0 && lens[0] == name.len &&
            rd_slice_ieq(rd_slice(p + ENTRY_HEAD, lens[0]), name)) {
            lens[1] = (uint16_t)(lens[0] + lens[1]);
            lens[0] = 0;
            memcpy(p, lens, ENTRY_HEAD);
        }
    }
}

int rd_overlay_put(struct rd_overlay *o, struct restd_slice name,
                   struct restd_slice value)
{
    if (name.len + value.len + ENTRY_HEAD > RD_OVERLAY_MAX - o->len) {
        return RESTD_ELIMIT;
    }
    forget(o, name);
    uint16_t lens[2] = {(uint16_t)name.len, (uint16_t)value.len};
    char *p = o->text + o->len;
    memcpy(p, lens, ENTRY_HEAD);
    memcpy(p + ENTRY_HEAD, name.data, name.len);
    memcpy(p + ENTRY_HEAD + name.len, value.data, value.len);
    o->len = (uint16_t)(o->len + ENTRY_HEAD + name.len + value.len);
    return 0;
}

int rd_overlay_add(struct rd_overlay *o, struct restd_slice name,
                   struct restd_slice value)
{
    if (!rd_field_is_token(name) || !value.data || !rd_field_is_value(value)) {
        return RESTD_EINVAL;
    }
    return rd_overlay_put(o, name, value);
}

int rd_overlay_set_path(struct rd_overlay *o, struct restd_slice path)
{
    if (path.len == 0 || path.data[0] != '/') {
        return RESTD_EINVAL;
    }
    for (size_t i = 0; i < path.len; i++) {
        if (path.data[i] == '?' ||
            !rd_chars_is(path.data[i], RD_CHARS_TARGET)) {
            return RESTD_EINVAL;
        }
    }
    int rc = rd_overlay_put(o, rd_slice("", 0), path);
    if (rc == 0) {
        o->path_len = (uint16_t)path.len;
        o->path_off = (uint16_t)(o->len - path.len);
    }
    return rc;
}

int rd_overlay_next(const struct rd_overlay *o, unsigned *at,
                    struct restd_slice *name, struct restd_slice *value)
{
    uint16_t lens[2];

    while (*at < o->len) {
        const char *p = o->text + *at;
        memcpy(lens, p, ENTRY_HEAD);
        *name = rd_slice(p + ENTRY_HEAD, lens[0]);
        *value = rd_slice(p + ENTRY_HEAD + lens[0], lens[1]);
        *at += ENTRY_HEAD + lens[0] + lens[1];
        if (name->len > 0) {
            return 1;
        }
    }
    return 0;
}
