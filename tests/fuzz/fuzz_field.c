/* SPDX-License-Identifier: MIT */
/* Field values. Checked: list elements are in order inside the value, not
 * empty and without white space around; a Content-Length that is taken is
 * digits, commas and white space, and is taken again when written plainly; an
 * authority has only octets that a target may have. */
#include <inttypes.h>
#include <stdio.h>

#include "base/slice.h"
#include "fuzz.h"
#include "codec/chars.h"
#include "codec/field.h"

static int is_space(char c)
{
    return c == ' ' || c == '\t';
}

static void check_list(struct restd_slice value)
{
    struct restd_slice rest = value;
    struct restd_slice element;
    const char *at = value.data;
    while (rd_field_list_next(&rest, &element)) {
        FUZZ_CHECK(element.len > 0 && element.data >= at);
        at = element.data + element.len;
        FUZZ_CHECK(at <= value.data + value.len);
        FUZZ_CHECK(!is_space(element.data[0]) && !is_space(at[-1]));
        FUZZ_CHECK(element.data[0] != ',');
        FUZZ_CHECK(rest.data >= at);
    }
    FUZZ_CHECK(rest.len == 0);
}

static void check_length(struct restd_slice value)
{
    uint64_t length, again;
    char text[32];
    if (rd_field_content_length(value, &length) != 0) {
        return;
    }
    FUZZ_CHECK(length <= INT64_MAX);
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        FUZZ_CHECK(is_space(c) || c == ',' || (c >= '0' && c <= '9'));
    }
    int n = snprintf(text, sizeof(text), "%" PRIu64, length);
    FUZZ_CHECK(rd_field_content_length(rd_slice(text, (size_t)n), &again) == 0);
    FUZZ_CHECK(again == length);
}

static void check_authority(struct restd_slice value)
{
    if (!rd_field_is_authority(value)) {
        return;
    }
    for (size_t i = 0; i < value.len; i++) {
        FUZZ_CHECK(rd_chars_is(value.data[i], RD_CHARS_TARGET));
        FUZZ_CHECK(strchr("/?@\\\"<>", value.data[i]) == NULL);
    }
    FUZZ_CHECK(value.len == 0 || value.data[0] != ':');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct restd_slice value = rd_slice((const char *)data, size);
    if (size > 0) {
        check_list(value);
    }
    check_length(value);
    check_authority(value);
    FUZZ_CHECK(!rd_field_is_token(value) || rd_field_is_value(value));
    return 0;
}
