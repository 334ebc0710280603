/* SPDX-License-Identifier: MIT */
/* Byte ranges, RFC 9110 14.1.2, its examples among them. */
#include "codec/range.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "support/suite.h"

#define MAX 4u

static const struct {
    const char *value;
    uint64_t size;
    int rc;
    const char *ranges;
} cases[] = {
    {"bytes=0-499", 10000, 1, "0-499,"},
    {"bytes=500-999", 10000, 1, "500-999,"},
    {"bytes=-500", 10000, 1, "9500-9999,"},
    {"bytes=9500-", 10000, 1, "9500-9999,"},
    {"bytes=0-0,-1", 10000, 2, "0-0,9999-9999,"},
    {"bytes= 0-999, 4500-5499, -1000", 10000, 3, "0-999,4500-5499,9000-9999,"},
    {"bytes=500-700,601-999", 10000, 2, "500-700,601-999,"},
    {"BYTES=0-0", 10, 1, "0-0,"},
    {"bytes=0-", 10, 1, "0-9,"},
    {"bytes=0-9", 10, 1, "0-9,"},
    {"bytes=0-10", 10, 1, "0-9,"},
    {"bytes=9-9", 10, 1, "9-9,"},
    {"bytes=9-", 10, 1, "9-9,"},
    {"bytes=-10", 10, 1, "0-9,"},
    {"bytes=-11", 10, 1, "0-9,"},
    {"bytes=0-0", 1, 1, "0-0,"},
    {"bytes=00000000000000000000000000-0000000000000000000000001", 10, 1,
     "0-1,"},
    /* In the order of the field; what lies behind the end is left out. */
    {"bytes=8-9,0-1", 10, 2, "8-9,0-1,"},
    {"bytes=0-1,20-30,8-", 10, 2, "0-1,8-9,"},
    {"bytes=0-0,,\t2-2 , ,", 10, 2, "0-0,2-2,"},
    {"bytes=0-0,1-1,2-2,3-3", 10, 4, "0-0,1-1,2-2,3-3,"},
    {"bytes=0-0,99-,1-1,99-,2-2,99-,3-3", 10, 4, "0-0,1-1,2-2,3-3,"},
    /* Beyond 64 bits. */
    {"bytes=0-99999999999999999999999999", 10, 1, "0-9,"},
    {"bytes=0-18446744073709551615", 10, 1, "0-9,"},
    {"bytes=0-18446744073709551616", 10, 1, "0-9,"},
    {"bytes=-18446744073709551616", 10, 1, "0-9,"},
    {"bytes=18446744073709551614-", UINT64_MAX, 1,
     "18446744073709551614-18446744073709551614,"},
    {"bytes=-1", UINT64_MAX, 1, "18446744073709551614-18446744073709551614,"},
    {"bytes=18446744073709551615-", UINT64_MAX, -416, ""},
    {"bytes=99999999999999999999-", UINT64_MAX, -416, ""},
    {"bytes=0-0,0-18446744073709551615", UINT64_MAX, 0, ""},
    /* Not satisfiable. */
    {"bytes=10-", 10, -416, ""},
    {"bytes=10-20, 30-", 10, -416, ""},
    {"bytes=-0", 10, -416, ""},
    {"bytes=0-", 0, -416, ""},
    {"bytes=0-0", 0, -416, ""},
    {"bytes=-0", 0, -416, ""},
    {"bytes=-5", 0, 0, ""},
    {"bytes=0-,-5", 0, 0, ""},
    /* Ignored: syntax and unit. */
    {"", 10, 0, ""},
    {"bytes", 10, 0, ""},
    {"bytes=", 10, 0, ""},
    {"bytes= ,", 10, 0, ""},
    {"bytes=-", 10, 0, ""},
    {"bytes=5", 10, 0, ""},
    {"bytes=5-4", 10, 0, ""},
    {"bytes=15-14", 10, 0, ""},
    {"bytes=0-0,5-4", 10, 0, ""},
    {"bytes=0-0,x", 10, 0, ""},
    {"bytes=x,0-0", 10, 0, ""},
    {"bytes=a-b", 10, 0, ""},
    {"bytes=0-0x", 10, 0, ""},
    {"bytes=0--1", 10, 0, ""},
    {"bytes=--1", 10, 0, ""},
    {"bytes=+0-1", 10, 0, ""},
    {"bytes=0 -1", 10, 0, ""},
    {"bytes=0- 1", 10, 0, ""},
    {"bytes=0-1 2-3", 10, 0, ""},
    {"bytes=0-1;2-3", 10, 0, ""},
    {"bytes =0-1", 10, 0, ""},
    {"bytes:0-1", 10, 0, ""},
    {"bytes 0-1/10", 10, 0, ""},
    {"lines=0-1", 10, 0, ""},
    {"byte=0-1", 10, 0, ""},
    {"\"bytes=0-1\"", 10, 0, ""},
    /* Ignored: too much. */
    {"bytes=0-0,1-1,2-2,3-3,4-4", 10, 0, ""},
    {"bytes=0-,0-", 10, 0, ""},
    {"bytes=0-5,5-9", 10, 0, ""},
    {"bytes=0-5,5-8", 10, 2, "0-5,5-8,"},
    {"bytes=0-1,1-2,2-3", 10, 3, "0-1,1-2,2-3,"},
    {"bytes=0-1,1-2,2-3,3-4", 10, 0, ""},
    {"bytes=1-1,1-1", 10, 2, "1-1,1-1,"},
    {"bytes=1-1,1-1,1-1", 10, 0, ""},
};

START_TEST(fields)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rd_range ranges[MAX + 1];
        char text[128] = "";
        memset(ranges, 0xee, sizeof(ranges));
        struct rd_range guard = ranges[MAX];
        int rc = rd_range_parse(rd_slice_str(cases[i].value), cases[i].size,
                                ranges, MAX);
        size_t n = 0;
        for (int k = 0; k < rc; k++) {
            n += (size_t)snprintf(text + n, sizeof(text) - n,
                                  "%" PRIu64 "-%" PRIu64 ",", ranges[k].first,
                                  ranges[k].last);
        }
        ck_assert_msg(rc == cases[i].rc && strcmp(text, cases[i].ranges) == 0,
                      "'%s': %d %s", cases[i].value, rc, text);
        ck_assert_mem_eq(&ranges[MAX], &guard, sizeof(guard));
    }
    ck_assert_int_eq(rd_range_parse(rd_slice(NULL, 0), 10, NULL, 0), 0);
    ck_assert_int_eq(rd_range_parse(rd_slice_str("bytes=0-"), 10, NULL, 0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("range");
    TCase *tcase = tcase_create("range");
    tcase_add_test(tcase, fields);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
