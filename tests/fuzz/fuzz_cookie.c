/* SPDX-License-Identifier: MIT */
/* Cookie pairs. Checked: they are in order inside the field, have a name and
 * no white space around, no ';' in them and no '=' in the name; pairs split by
 * hand at ';' give the same. */
#include "base/slice.h"
#include "fuzz.h"
#include "codec/cookie.h"

static int is_space(char c)
{
    return c == ' ' || c == '\t';
}

static void check_piece(struct restd_slice s)
{
    FUZZ_CHECK(s.len == 0 || memchr(s.data, ';', s.len) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct restd_slice field = rd_slice((const char *)data, size);
    struct restd_slice name, value, single_name, single_value;
    const char *at = field.data;
    size_t cursor = 0;
    size_t before = 0;
    while (rd_cookie_next(field, &cursor, &name, &value) == 0) {
        FUZZ_CHECK(cursor > before && cursor <= size);
        FUZZ_CHECK(name.len > 0 && name.data >= at);
        FUZZ_CHECK(value.data > name.data + name.len - 1);
        at = value.data + value.len;
        FUZZ_CHECK(at <= field.data + cursor);
        FUZZ_CHECK(!is_space(name.data[0]));
        FUZZ_CHECK(!is_space(name.data[name.len - 1]));
        FUZZ_CHECK(memchr(name.data, '=', name.len) == NULL);
        check_piece(name);
        check_piece(value);
        const char *start = name.data;
        size_t one = 0;
        struct restd_slice pair =
            rd_slice(start, (size_t)(field.data + cursor - start));
        FUZZ_CHECK(rd_cookie_next(pair, &one, &single_name, &single_value) ==
                   0);
        FUZZ_CHECK(one == pair.len && single_name.data == name.data);
        FUZZ_CHECK(rd_slice_eq(name, single_name));
        FUZZ_CHECK(rd_slice_eq(value, single_value));
        before = cursor;
    }
    FUZZ_CHECK(cursor == size);
    return 0;
}
