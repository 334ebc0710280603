/* SPDX-License-Identifier: MIT */
/* Query fields: what the WHATWG URL standard's parser gives, and where the
 * slices lie. */
#include "codec/query.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "support/suite.h"

static const struct {
    const char *raw, *fields; /* "<name>=<value>" with '|' behind each */
} cases[] = {
    {"", ""},
    {"&", ""},
    {"&&&", ""},
    {"a", "<a>=<>|"},
    {"a=", "<a>=<>|"},
    {"=", "<>=<>|"},
    {"=b", "<>=<b>|"},
    {"a=b", "<a>=<b>|"},
    {"a=b=c", "<a>=<b=c>|"},
    {"a==", "<a>=<=>|"},
    {"a=1&b=2", "<a>=<1>|<b>=<2>|"},
    {"&a=1&&b&", "<a>=<1>|<b>=<>|"},
    {"a=1&a=2&a=1", "<a>=<1>|<a>=<2>|<a>=<1>|"},
    {"a+b=c+d", "<a b>=<c d>|"},
    {"+=+", "< >=< >|"},
    {"a%20b=%63", "<a b>=<c>|"},
    {"%3D=%26&%26=%3d", "<=>=<&>|<&>=<=>|"},
    {"a=%2B", "<a>=<+>|"},
    {"a=%&b=%4&c=%4g&%%41=%g", "<a>=<%>|<b>=<%4>|<c>=<%4g>|<%A>=<%g>|"},
    {"a=%2541", "<a>=<%41>|"},
    {"a=\xc3\xa9%C3%A9", "<a>=<\xc3\xa9\xc3\xa9>|"},
    {"a;b=1", "<a;b>=<1>|"},
    {"a?b=/", "<a?b>=</>|"},
    {"a=b\tc", "<a>=<b\tc>|"},
};

START_TEST(fields)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct restd_slice raw = rd_slice_str(cases[i].raw);
        struct restd_slice name, value;
        char scratch[64], text[128] = "";
        size_t cursor = 0;
        while (rd_query_next(raw, &cursor, scratch, &name, &value) == 0) {
            size_t n = strlen(text);
            snprintf(text + n, sizeof(text) - n, "<%.*s>=<%.*s>|",
                     (int)name.len, name.data, (int)value.len, value.data);
        }
        ck_assert_msg(strcmp(text, cases[i].fields) == 0, "'%s': '%s'",
                      cases[i].raw, text);
        ck_assert_int_eq(rd_query_next(raw, &cursor, scratch, &name, &value),
                         RESTD_ENOENT);
    }
    struct restd_slice name, value;
    size_t cursor = 0;
    ck_assert_int_eq(
        rd_query_next(rd_slice(NULL, 0), &cursor, NULL, &name, &value),
        RESTD_ENOENT);
}
END_TEST

START_TEST(nul_octet)
{
    struct restd_slice name, value;
    char scratch[16];
    size_t cursor = 0;
    ck_assert_int_eq(rd_query_next(rd_slice_str("a%00b=%00"), &cursor, scratch,
                                   &name, &value),
                     0);
    ck_assert(rd_slice_eq(name, rd_slice("a\0b", 3)));
    ck_assert(rd_slice_eq(value, rd_slice("\0", 1)));
}
END_TEST

/* The slices of all fields at once, with a scratch of just the length; what
 * needs no decoding is not copied. */
START_TEST(slices_stay)
{
    static const char raw[] = "a=%41&b+=%42&c=x&%43%43=%43+%43";
    static const char *const expected[][2] = {
        {"a", "A"}, {"b ", "B"}, {"c", "x"}, {"CC", "C C"}};
    struct restd_slice name[5], value[5];
    size_t len = sizeof(raw) - 1;
    char *scratch = rd_mem_alloc(len);
    size_t cursor = 0;
    unsigned n = 0;
    while (n < 5 && rd_query_next(rd_slice(raw, len), &cursor, scratch,
                                  &name[n], &value[n]) == 0) {
        n++;
    }
    ck_assert_uint_eq(n, 4);
    for (unsigned i = 0; i < n; i++) {
        ck_assert(rd_slice_eq(name[i], rd_slice_str(expected[i][0])));
        ck_assert(rd_slice_eq(value[i], rd_slice_str(expected[i][1])));
    }
    ck_assert_ptr_eq(name[0].data, raw);
    ck_assert_ptr_eq(value[0].data, scratch + 2);
    ck_assert_ptr_eq(value[2].data, strchr(raw, 'x'));
    rd_mem_free(scratch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("query");
    TCase *tcase = tcase_create("query");
    tcase_add_test(tcase, fields);
    tcase_add_test(tcase, nul_octet);
    tcase_add_test(tcase, slices_stay);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
