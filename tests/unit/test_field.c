/* SPDX-License-Identifier: MIT */
/* Field values: character classes, tokens, lists, Content-Length, authorities. */
#include "codec/field.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "codec/chars.h"
#include "support/suite.h"

static const char tchars[] = "!#$%&'*+-.^_`|~0123456789"
                             "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

static int in(const char *set, int c)
{
    return c != 0 && strchr(set, c) != NULL;
}

/* Against lists written by hand, not by the conditions of chars.c. */
START_TEST(classes)
{
    static const char names[] = "0123456789-._~!$&'()*+,;="
                                "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int c = 0; c < 256; c++) {
        char octet = (char)c;
        ck_assert_int_eq(rd_is_tchar((unsigned char)c), in(tchars, c));
        ck_assert_int_eq(rd_chars_is(octet, RD_CHARS_TOKEN), in(tchars, c));
        ck_assert_int_eq(rd_chars_is(octet, RD_CHARS_REGNAME), in(names, c));
        ck_assert_int_eq(rd_chars_is(octet, RD_CHARS_DIGIT),
                         in("0123456789", c));
        ck_assert_int_eq(rd_chars_is(octet, RD_CHARS_HEX),
                         in("0123456789abcdefABCDEF", c));
        ck_assert_int_eq(rd_chars_is(octet, RD_CHARS_TARGET),
                         c > 32 && c < 127 && c != '#');
        ck_assert_int_eq(rd_chars_is(octet, RD_CHARS_VALUE),
                         c == 9 || (c >= 32 && c != 127));
    }
    for (unsigned i = 0; i < 16; i++) {
        ck_assert_uint_eq(rd_chars_hex("0123456789abcdef"[i]), i);
        ck_assert_uint_eq(rd_chars_hex("0123456789ABCDEF"[i]), i);
    }
}
END_TEST

START_TEST(tokens_and_values)
{
    ck_assert(rd_field_is_token(rd_slice_str(tchars)));
    ck_assert(!rd_field_is_token(rd_slice_str("")));
    ck_assert(!rd_field_is_token(rd_slice(NULL, 0)));
    ck_assert(!rd_field_is_token(rd_slice_str("a b")));
    ck_assert(!rd_field_is_token(rd_slice_str("a:")));
    ck_assert(!rd_field_is_token(rd_slice("a\0", 2)));
    ck_assert(rd_field_is_value(rd_slice_str("")));
    ck_assert(rd_field_is_value(rd_slice_str("a \t\x80\xff\"")));
    ck_assert(!rd_field_is_value(rd_slice_str("a\r\nb: c")));
    ck_assert(!rd_field_is_value(rd_slice_str("a\x7f")));
    ck_assert(!rd_field_is_value(rd_slice("\0", 1)));
}
END_TEST

START_TEST(lists)
{
    static const struct {
        const char *value, *elements; /* with '|' behind each */
    } cases[] = {
        {"", ""},
        {" \t", ""},
        {",, ,", ""},
        {"a", "a|"},
        {" a ", "a|"},
        {"a,b", "a|b|"},
        {"a , b,\tc", "a|b|c|"},
        {",a,,b,", "a|b|"},
        {"a b, c", "a b|c|"},
        {"a;q=\"x,y\", b", "a;q=\"x,y\"|b|"},
        {"\"a\\\",b\",c", "\"a\\\",b\"|c|"},
        {"\"a\\\\\",b", "\"a\\\\\"|b|"},
        {"\"a, b", "\"a, b|"},
        {"\"a\\", "\"a\\|"},
        {"a\\,b", "a\\|b|"},
        {"\",\"", "\",\"|"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct restd_slice rest = rd_slice_str(cases[i].value);
        struct restd_slice element;
        char text[64] = "";
        while (rd_field_list_next(&rest, &element)) {
            size_t n = strlen(text);
            snprintf(text + n, sizeof(text) - n, "%.*s|", (int)element.len,
                     element.data);
        }
        ck_assert_msg(strcmp(text, cases[i].elements) == 0, "'%s': '%s'",
                      cases[i].value, text);
        ck_assert(!rd_field_list_next(&rest, &element));
    }
}
END_TEST

START_TEST(content_length)
{
    static const struct {
        const char *value;
        long long length; /* -1: none */
    } cases[] = {
        {"0", 0},
        {"5", 5},
        {"00012", 12},
        {"1234567890", 1234567890},
        {"9223372036854775807", INT64_MAX},
        {"000000000000000000000000000007", 7},
        {"5,5", 5},
        {"5 ,\t05, 5", 5},
        {" 5 ", 5},
        {"", -1},
        {" ", -1},
        {",", -1},
        {"5,", -1},
        {",5", -1},
        {"5,,5", -1},
        {"5,6", -1},
        {"5 5", -1},
        {"-5", -1},
        {"+5", -1},
        {"5x", -1},
        {"0x5", -1},
        {"5.0", -1},
        {"5e3", -1},
        {"\"5\"", -1},
        {"9223372036854775808", -1},
        {"18446744073709551616", -1},
        {"18446744073709551621", -1},
        {"99999999999999999999999999999999999999", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t length = 99;
        int rc = rd_field_content_length(rd_slice_str(cases[i].value), &length);
        int good = cases[i].length >= 0;
        ck_assert_msg(rc == (good ? 0 : -1), "'%s': %d", cases[i].value, rc);
        ck_assert_msg(!good || length == (uint64_t)cases[i].length,
                      "'%s': %llu", cases[i].value, (unsigned long long)length);
    }
}
END_TEST

START_TEST(good_authorities)
{
    static const char *const cases[] = {
        "",
        "a",
        "localhost:8888",
        "127.0.0.1",
        "127.0.0.1:80",
        "a.example:",
        "A-b_c~d.e!$&'()*+,;=",
        "%41%c3%a9:1",
        "a:00000080",
        "[::]",
        "[::1]:8080",
        "[2001:db8::1]:",
        "[1:2:3:4:5:6:7:8]",
        "[::ffff:192.0.2.1]",
        "[fe80::abcd:EF01]",
        "[v1.a]",
        "[vF0.a:b-c]:80",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_msg(rd_field_is_authority(rd_slice_str(cases[i])), "'%s'",
                      cases[i]);
    }
    ck_assert(rd_field_is_authority(rd_slice(NULL, 0)));
}
END_TEST

START_TEST(bad_authorities)
{
    static const char *const cases[] = {
        " ",
        "a b",
        "a/b",
        "a?b",
        "a#b",
        "u@a",
        "u:p@a",
        "@a",
        ":80",
        ":",
        "a:b",
        "a:80:80",
        "a:-1",
        "a:80 ",
        "a\\b",
        "a\"b",
        "<a>",
        "a%",
        "a%4",
        "a%4g",
        "\xc3\xa9",
        "a\x7f",
        "::1",
        "[",
        "[]",
        "[::1",
        "[::1]a",
        "[::1]:8a",
        "[::1]]",
        "a[::1]",
        "[::g]",
        "[:::]",
        "[1:2]",
        "[1.2.3.4]",
        "[::1%25lo]",
        "[::1%lo]",
        "[v.a]",
        "[v1]",
        "[v1.]",
        "[vg.a]",
        "[v1.a b]",
        "[12345::]",
        "[::1 ]",
        "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_msg(!rd_field_is_authority(rd_slice_str(cases[i])), "'%s'",
                      cases[i]);
    }
    ck_assert(!rd_field_is_authority(rd_slice("a\0b", 3)));
    ck_assert(!rd_field_is_authority(rd_slice("[::1\0]", 6)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("field");
    TCase *tcase = tcase_create("field");
    tcase_add_test(tcase, classes);
    tcase_add_test(tcase, tokens_and_values);
    tcase_add_test(tcase, lists);
    tcase_add_test(tcase, content_length);
    tcase_add_test(tcase, good_authorities);
    tcase_add_test(tcase, bad_authorities);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
