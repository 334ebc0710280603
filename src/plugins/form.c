/* SPDX-License-Identifier: MIT */
/* The public form reader: picks the codec by the content type, keeps the first
 * error, and stands between the codecs and the call-backs, where the limits
 * are. A name longer than the block that gathers it cannot be, so the largest
 * limit of names is its size. Any thread, one at a time. */
#include "plugins/form.h"

#include <string.h>

#include "base/mem.h"
#include "base/sized.h"
#include "base/slice.h"
#include "codec/param.h"
#include "plugins/multipart.h"
#include "plugins/urlencoded.h"

struct restd_form {
    int multipart;
    int error;
    int finished;
    union {
        struct rd_urlencoded urlencoded;
        struct rd_multipart multipart;
    } codec;
    struct rd_form_out out;
};

int rd_form_part(struct rd_form_out *out, const struct restd_form_part *part)
{
    uint32_t name_max = out->limits.name_max_bytes;
    if (part->name.len > name_max || part->filename.len > name_max ||
        out->parts == out->limits.parts_max) {
        return RESTD_ELIMIT;
    }
    out->parts++;
    out->left =
        part->filename.data == NULL ? out->limits.field_max_bytes : UINT64_MAX;
    int rc = out->ops.part != NULL ? out->ops.part(part, out->data) : 0;
    return rc < 0 ? rc : 0;
}

int rd_form_content(struct rd_form_out *out, const char *bytes, size_t len)
{
    size_t n = len < out->left ? len : (size_t)out->left;
    out->left -= n;
    int rc = n > 0 && out->ops.content != NULL
                 ? out->ops.content(bytes, n, out->data)
                 : 0;
    return rc < 0 ? rc : n < len ? RESTD_ELIMIT : 0;
}

int rd_form_end(struct rd_form_out *out)
{
    int rc = out->ops.end != NULL ? out->ops.end(out->data) : 0;
    return rc < 0 ? rc : 0;
}

void restd_form_limits_init_size(struct restd_form_limits *limits, size_t size)
{
    static const struct restd_form_limits defaults = {.parts_max = 100,
                                                      .name_max_bytes = 256,
                                                      .field_max_bytes =
                                                          UINT64_C(64) << 10};

    rd_sized_init(limits, size, &defaults, sizeof(defaults));
}

/* Copies what the caller's struct has, over the defaults. */
static void set_limits(struct restd_form_limits *to,
                       const struct restd_form_limits *from)
{
    restd_form_limits_init(to);
    if (from != NULL) {
        (void)rd_sized_in(to, sizeof(*to), from);
    }
    if (to->parts_max == 0) {
        to->parts_max = UINT32_MAX;
    }
    if (to->name_max_bytes == 0 || to->name_max_bytes > RD_FORM_BLOCK) {
        to->name_max_bytes = RD_FORM_BLOCK;
    }
    if (to->field_max_bytes == 0) {
        to->field_max_bytes = UINT64_MAX;
    }
}

/* Sets the codec up for the type. 0 or RESTD_EINVAL. */
static int set_codec(struct restd_form *form, struct restd_slice params)
{
    struct restd_slice type = rd_param_head(&params);
    struct restd_slice name, value;
    struct restd_slice boundary = {NULL, 0};
    int rc;
    if (rd_slice_ieq(type, rd_slice_str("application/x-www-form-urlencoded"))) {
        return 0;
    }
    if (!rd_slice_ieq(type, rd_slice_str("multipart/form-data"))) {
        return RESTD_EINVAL;
    }
    while ((rc = rd_param_next(&params, &name, &value)) > 0) {
        if (!rd_slice_ieq(name, rd_slice_str("boundary"))) {
            continue;
        }
        if (boundary.data != NULL) {
            return RESTD_EINVAL;
        }
        boundary = rd_param_bare(value);
    }
    form->multipart = 1;
    return rc < 0 ? RESTD_EINVAL
                  : rd_multipart_init(&form->codec.multipart, boundary);
}

int restd_form_new(struct restd_slice content_type,
                   const struct restd_form_limits *limits,
                   const struct restd_form_ops *ops, void *data,
                   struct restd_form **form)
{
    struct restd_form *f = rd_mem_alloc(sizeof(*f));
    if (f == NULL) {
        return RESTD_ENOMEM;
    }
    int rc = set_codec(f, content_type);
    if (rc != 0) {
        rd_mem_free(f);
        return rc;
    }
    (void)rd_sized_in(&f->out.ops, sizeof(f->out.ops), ops);
    f->out.data = data;
    set_limits(&f->out.limits, limits);
    *form = f;
    return 0;
}

int restd_form_feed(struct restd_form *form, const char *bytes, size_t len)
{
    if (form->error == 0 && form->finished) {
        return RESTD_ESTATE;
    }
    if (form->error == 0 && len > 0) {
        form->error = form->multipart
                          ? rd_multipart_feed(&form->codec.multipart,
                                              &form->out, bytes, len)
                          : rd_urlencoded_feed(&form->codec.urlencoded,
                                               &form->out, bytes, len);
    }
    return form->error;
}

int restd_form_finish(struct restd_form *form)
{
    if (form->error == 0 && !form->finished) {
        form->finished = 1;
        form->error =
            form->multipart
                ? rd_multipart_finish(&form->codec.multipart)
                : rd_urlencoded_finish(&form->codec.urlencoded, &form->out);
    }
    return form->error;
}

void restd_form_free(struct restd_form *form)
{
    rd_mem_free(form);
}

int restd_form_read(struct restd_slice content_type, struct restd_slice body,
                    const struct restd_form_limits *limits,
                    const struct restd_form_ops *ops, void *data)
{
    struct restd_form *form;
    int rc = restd_form_new(content_type, limits, ops, data, &form);
    if (rc != 0) {
        return rc;
    }
    rc = restd_form_feed(form, body.data, body.len);
    if (rc == 0) {
        rc = restd_form_finish(form);
    }
    restd_form_free(form);
    return rc;
}
