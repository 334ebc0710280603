/* SPDX-License-Identifier: MIT */
/* Query fields. Checked: slices lie in the query or at their own offset in the
 * scratch, in order; escaped and joined again the fields are read as the same;
 * the form reader gives the same fields. */
#include <restd/form.h>
#include <restd/uri.h>

#include "base/mem.h"
#include "base/slice.h"
#include "fuzz.h"
#include "codec/query.h"

/* Longer names are beyond the form reader. */
#define LEN_MAX 4096

struct text {
    char *data;
    size_t len;
};

/* "name=value&" with everything escaped that could mean anything. */
static void append(struct text *t, struct restd_slice s, char behind)
{
    long n = restd_uri_escape(s, t->data + t->len, 3 * s.len);
    FUZZ_CHECK(n >= (long)s.len);
    t->len += (size_t)n;
    t->data[t->len++] = behind;
}

static void check_place(struct restd_slice s, struct restd_slice raw,
                        const char *scratch, size_t from, size_t to)
{
    uintptr_t at = (uintptr_t)s.data;
    uintptr_t in_raw = (uintptr_t)raw.data;
    uintptr_t in_scratch = (uintptr_t)scratch;
    FUZZ_CHECK((at >= in_raw + from && at + s.len <= in_raw + to) ||
               (at >= in_scratch + from && at + s.len <= in_scratch + to));
}

static void read_all(struct restd_slice raw, struct text *t)
{
    char *scratch = rd_mem_alloc(raw.len > 0 ? raw.len : 1);
    struct restd_slice name, value;
    size_t cursor = 0;
    size_t before = 0;
    while (rd_query_next(raw, &cursor, scratch, &name, &value) == 0) {
        FUZZ_CHECK(cursor > before && cursor <= raw.len);
        check_place(name, raw, scratch, before, cursor);
        check_place(value, raw, scratch, before, cursor);
        append(t, name, '=');
        append(t, value, '&');
        before = cursor;
    }
    FUZZ_CHECK(cursor == raw.len);
    rd_mem_free(scratch);
}

static int on_part(const struct restd_form_part *part, void *data)
{
    FUZZ_CHECK(part->filename.data == NULL && part->type.data == NULL);
    append(data, part->name, '=');
    return 0;
}

static int on_content(const char *bytes, size_t len, void *data)
{
    struct text *t = data;
    append(t, rd_slice(bytes, len), '&');
    t->len--;
    return 0;
}

static int on_end(void *data)
{
    struct text *t = data;
    t->data[t->len++] = '&';
    return 0;
}

static void check_form(struct restd_slice raw, const struct text *expected,
                       struct text *t)
{
    static const struct restd_form_ops ops = {sizeof(ops), on_part, on_content,
                                              on_end};
    struct restd_form_limits none = {.size = sizeof(none)};
    int rc = restd_form_read(rd_slice_str("application/x-www-form-urlencoded"),
                             raw, &none, &ops, t);
    FUZZ_CHECK(rc == 0);
    FUZZ_CHECK(t->len == expected->len);
    FUZZ_CHECK(memcmp(t->data, expected->data, t->len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LEN_MAX) {
        return 0;
    }
    size_t room = 5 * size + 8;
    struct text once = {rd_mem_alloc(room), 0};
    struct text again = {rd_mem_alloc(3 * room), 0};
    struct text form = {rd_mem_alloc(room), 0};
    struct restd_slice raw = rd_slice((const char *)data, size);
    read_all(raw, &once);
    read_all(rd_slice(once.data, once.len), &again);
    FUZZ_CHECK(once.len == again.len);
    FUZZ_CHECK(memcmp(once.data, again.data, once.len) == 0);
    check_form(raw, &once, &form);
    rd_mem_free(once.data);
    rd_mem_free(again.data);
    rd_mem_free(form.data);
    return 0;
}
