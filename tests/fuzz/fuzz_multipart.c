/* SPDX-License-Identifier: MIT */
/* Both form readers. The first octet picks type, limits and cut; the rest is
 * the content. Checked: calls come as part, content, end; any cut gives the
 * same verdict and text; limits hold; no more comes out than went in. */
#include <restd/form.h>

#include "base/mem.h"
#include "base/slice.h"
#include "fuzz.h"

struct trace {
    struct restd_form_limits limits;
    int in_part, file;
    uint32_t parts;
    uint64_t content; /* of the part */
    size_t out;       /* decoded octets in all */
    size_t len, room;
    char *text;
};

static void add(struct trace *t, struct restd_slice s, char behind)
{
    FUZZ_CHECK(t->len + s.len + 1 <= t->room);
    FUZZ_CHECK(s.len == 0 || s.data != NULL);
    if (s.data != NULL) {
        memcpy(t->text + t->len, s.data, s.len);
    }
    t->len += s.len;
    t->out += s.len;
    if (behind != '\0') {
        t->text[t->len++] = behind;
    }
}

static int on_part(const struct restd_form_part *part, void *data)
{
    struct trace *t = data;
    FUZZ_CHECK(!t->in_part && part->name.data != NULL);
    FUZZ_CHECK(part->name.len <= t->limits.name_max_bytes);
    FUZZ_CHECK(part->filename.len <= t->limits.name_max_bytes);
    t->in_part = 1;
    t->file = part->filename.data != NULL;
    t->content = 0;
    FUZZ_CHECK(++t->parts <= t->limits.parts_max);
    add(t, part->name, '|');
    add(t, part->filename, t->file ? '|' : '-');
    add(t, part->type, part->type.data != NULL ? '|' : '-');
    return 0;
}

static int on_content(const char *bytes, size_t len, void *data)
{
    struct trace *t = data;
    FUZZ_CHECK(t->in_part && len > 0);
    t->content += len;
    FUZZ_CHECK(t->file || t->content <= t->limits.field_max_bytes);
    add(t, rd_slice(bytes, len), '\0');
    return 0;
}

static int on_end(void *data)
{
    struct trace *t = data;
    FUZZ_CHECK(t->in_part);
    t->in_part = 0;
    add(t, rd_slice(NULL, 0), ';');
    return 0;
}

static int run(struct trace *t, const char *type, struct restd_slice body,
               size_t step)
{
    static const struct restd_form_ops ops = {sizeof(ops), on_part, on_content,
                                              on_end};
    struct restd_form *form;
    FUZZ_CHECK(restd_form_new(rd_slice_str(type), &t->limits, &ops, t, &form) ==
               0);
    int rc = 0;
    for (size_t at = 0; at < body.len && rc == 0; at += step) {
        size_t n = step < body.len - at ? step : body.len - at;
        char *piece = rd_mem_alloc(n);
        memcpy(piece, body.data + at, n);
        rc = restd_form_feed(form, piece, n);
        rd_mem_free(piece);
    }
    if (rc == 0) {
        rc = restd_form_finish(form);
    }
    FUZZ_CHECK(rc == 0 || rc == RESTD_EINVAL || rc == RESTD_ELIMIT);
    FUZZ_CHECK(rc != 0 || !t->in_part);
    FUZZ_CHECK(t->out <= body.len);
    restd_form_free(form);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"application/x-www-form-urlencoded",
                                        "multipart/form-data; boundary=b",
                                        "multipart/form-data; boundary=--",
                                        "multipart/form-data; boundary=ab-ab"};
    if (size < 2) {
        return 0;
    }
    const char *type = types[data[0] & 3];
    struct restd_slice body = rd_slice((const char *)data + 1, size - 1);
    struct trace whole = {.room = 6 * size + 8};
    restd_form_limits_init(&whole.limits);
    if (data[0] & 4) {
        whole.limits.parts_max = 2;
        whole.limits.name_max_bytes = 3;
        whole.limits.field_max_bytes = 5;
    }
    struct trace cut = whole;
    whole.text = rd_mem_alloc(whole.room);
    cut.text = rd_mem_alloc(cut.room);
    int rc = run(&whole, type, body, body.len);
    size_t step = (size_t)(data[0] >> 3) + 1;
    FUZZ_CHECK(run(&cut, type, body, step) == rc);
    FUZZ_CHECK(cut.len == whole.len);
    FUZZ_CHECK(memcmp(cut.text, whole.text, cut.len) == 0);
    rd_mem_free(whole.text);
    rd_mem_free(cut.text);
    return 0;
}
