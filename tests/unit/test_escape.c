/* SPDX-License-Identifier: MIT */
/* The public percent-encoding: tables, every octet, every size of buffer. */
#include <restd/uri.h>

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "support/suite.h"

START_TEST(every_octet)
{
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "abcdefghijklmnopqrstuvwxyz"
                                     "0123456789-._~";
    for (int c = 0; c < 256; c++) {
        char octet = (char)c;
        char expected[4], got[3], back[1];
        int plain = c != 0 && strchr(unreserved, c) != NULL;
        snprintf(expected, sizeof(expected), plain ? "%c" : "%%%02X", c);
        long n = restd_uri_escape(rd_slice(&octet, 1), got, sizeof(got));
        ck_assert_int_eq(n, (long)strlen(expected));
        ck_assert_mem_eq(got, expected, (size_t)n);
        ck_assert_int_eq(
            restd_uri_unescape(rd_slice(got, (size_t)n), back, 1, 0), 1);
        ck_assert_int_eq(back[0], octet);
    }
}
END_TEST

START_TEST(escape_into_every_size)
{
    static const char text[] = "a b/\xc3\xa9~";
    static const char expected[] = "a%20b%2F%C3%A9~";
    size_t need = sizeof(expected) - 1;
    for (size_t size = 0; size <= need + 2; size++) {
        char buf[32];
        memset(buf, '#', sizeof(buf));
        long n = restd_uri_escape(rd_slice_str(text), buf, size);
        ck_assert_int_eq(n, size < need ? RESTD_ERANGE : (long)need);
        ck_assert_int_eq(buf[size], '#');
        if (n > 0) {
            ck_assert_mem_eq(buf, expected, need);
            ck_assert_int_eq(buf[need], '#');
        }
    }
    ck_assert_int_eq(restd_uri_escape(rd_slice(NULL, 0), NULL, 0), 0);
}
END_TEST

static const struct {
    const char *text, *plain, *plus; /* decoded without and with the flag */
} cases[] = {
    {"", "", ""},
    {"abc", "abc", "abc"},
    {"a+b", "a+b", "a b"},
    {"%2B+", "++", "+ "},
    {"%41%7a%C3%a9", "Az\xc3\xa9", "Az\xc3\xa9"},
    {"%", "%", "%"},
    {"%4", "%4", "%4"},
    {"%%41", "%A", "%A"},
    {"%4%41", "%4A", "%4A"},
    {"%g1%1g", "%g1%1g", "%g1%1g"},
    {"%2541", "%41", "%41"},
    {"a%20", "a ", "a "},
    {"%-1", "%-1", "%-1"},
};

START_TEST(unescape)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (unsigned flag = 0; flag < 2; flag++) {
            const char *expected = flag ? cases[i].plus : cases[i].plain;
            size_t need = strlen(expected);
            for (size_t size = 0; size < 24; size++) {
                char buf[32];
                memset(buf, '#', sizeof(buf));
                long n =
                    restd_uri_unescape(rd_slice_str(cases[i].text), buf, size,
                                       flag ? RESTD_URI_PLUS_IS_SPACE : 0);
                ck_assert_msg(n == (size < need ? RESTD_ERANGE : (long)need),
                              "'%s', %zu: %ld", cases[i].text, size, n);
                ck_assert_int_eq(buf[size], '#');
                ck_assert(n < 0 || memcmp(buf, expected, need) == 0);
            }
            char same[32];
            snprintf(same, sizeof(same), "%s", cases[i].text);
            long n = restd_uri_unescape(rd_slice_str(same), same, sizeof(same),
                                        flag ? RESTD_URI_PLUS_IS_SPACE : 0);
            ck_assert_int_eq(n, (long)need);
            ck_assert_mem_eq(same, expected, need);
        }
    }
}
END_TEST

START_TEST(unescape_nul)
{
    char buf[3];
    ck_assert_int_eq(restd_uri_unescape(rd_slice_str("a%00b"), buf, 3, 0), 3);
    ck_assert_mem_eq(buf, "a\0b", 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("escape");
    TCase *tcase = tcase_create("escape");
    tcase_add_test(tcase, every_octet);
    tcase_add_test(tcase, escape_into_every_size);
    tcase_add_test(tcase, unescape);
    tcase_add_test(tcase, unescape_nul);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
