/* SPDX-License-Identifier: MIT */
/* Header fields of responses, as they go out: checked once, when they are
 * set, so that nothing can split a response. Thread: the owner's. */
#include <string.h>

#include <restd/error.h>

#include "base/mem.h"
#include "base/slice.h"
#include "codec/field.h"
#include "http/message.h"

int rd_fields_set_type(struct rd_fields *fields, struct restd_slice type)
{
    if (type.len == 0 || type.len > RD_TYPE_MAX || !rd_field_is_value(type)) {
        return RESTD_EINVAL;
    }
    memcpy(fields->type, type.data, type.len);
    fields->type_len = type.len;
    return 0;
}

int rd_fields_is_own(struct restd_slice name)
{
    static const char *const own[] = {"Content-Length", "Transfer-Encoding",
                                      "Connection", "Date"};

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (rd_slice_ieq(name, rd_slice_str(own[i]))) {
            return 1;
        }
    }
    return 0;
}

static int is_type(struct restd_slice name)
{
    return rd_slice_ieq(name, rd_slice_str("Content-Type"));
}

int rd_fields_add(struct rd_fields *fields, struct restd_slice name,
                  struct restd_slice value)
{
    if (!rd_field_is_token(name) || !rd_field_is_value(value) ||
        rd_fields_is_own(name)) {
        return RESTD_EINVAL;
    }
    if (is_type(name)) {
        return rd_fields_set_type(fields, value);
    }
    if (name.len + value.len + 4 > RD_FIELDS_MAX - fields->len) {
        return RESTD_ELIMIT;
    }
    char *p = fields->text + fields->len;
    memcpy(p, name.data, name.len);
    memcpy(p + name.len, ": ", 2);
    memcpy(p + name.len + 2, value.data, value.len);
    memcpy(p + name.len + 2 + value.len, "\r\n", 2);
    fields->len += name.len + value.len + 4;
    return 0;
}

/* Where a line of that name begins, at or behind `at`; fields->len without
 * one. */
static size_t find(const struct rd_fields *fields, struct restd_slice name,
                   size_t at, size_t *end)
{
    while (at < fields->len) {
        const char *line = fields->text + at;
        const char *lf = memchr(line, '\n', fields->len - at);
        *end = (size_t)(lf + 1 - fields->text);
        if (*end - at > name.len && line[name.len] == ':' &&
            rd_slice_ieq(rd_slice(line, name.len), name)) {
            break;
        }
        at = *end;
    }
    return at;
}

void rd_fields_remove(struct rd_fields *fields, struct restd_slice name)
{
    size_t end;
    size_t at = 0;

    if (is_type(name)) {
        fields->type_len = 0;
        return;
    }
    while ((at = find(fields, name, at, &end)) < fields->len) {
        memmove(fields->text + at, fields->text + end, fields->len - end);
        fields->len -= end - at;
    }
}

struct restd_slice rd_fields_get(const struct rd_fields *fields,
                                 struct restd_slice name)
{
    size_t end;

    if (is_type(name)) {
        return rd_slice(fields->type_len ? fields->type : NULL,
                        fields->type_len);
    }
    size_t at = find(fields, name, 0, &end);
    return at < fields->len ? rd_slice(fields->text + at + name.len + 2,
                                       end - at - name.len - 4)
                            : rd_slice(NULL, 0);
}

int rd_fields_join(struct rd_fields *to, struct restd_slice text,
                   struct restd_slice type)
{
    if (text.len > RD_FIELDS_MAX - to->len) {
        return RESTD_ELIMIT;
    }
    memcpy(to->text + to->len, text.data, text.len);
    to->len += text.len;
    if (type.len > 0) {
        memcpy(to->type, type.data, type.len);
        to->type_len = type.len;
    }
    return 0;
}

int restd_fields_new(struct restd_fields **out)
{
    struct restd_fields *set = rd_mem_alloc(sizeof(*set));

    if (!set) {
        return RESTD_ENOMEM;
    }
    set->fields.text = set->text;
    *out = set;
    return 0;
}

int restd_fields_add(struct restd_fields *set, const char *name,
                     const char *value)
{
    return rd_fields_add(&set->fields, rd_slice_str(name), rd_slice_str(value));
}

void restd_fields_free(struct restd_fields *set)
{
    rd_mem_free(set);
}
