/* SPDX-License-Identifier: MIT */
/* Decimal text against snprintf(), and UTF-8 against decoding by hand. */
#include "base/decimal.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "support/suite.h"

static void decimal_check(uint64_t value)
{
    char expected[32], got[32];
    int len = snprintf(expected, sizeof(expected), "%" PRIu64, value);
    memset(got, '#', sizeof(got));
    ck_assert_uint_eq(rd_decimal_len(value), (unsigned)len);
    ck_assert_uint_eq(rd_decimal_u64(got, value), (unsigned)len);
    ck_assert_int_eq(got[len], '#');
    got[len] = '\0';
    ck_assert_str_eq(got, expected);
}

START_TEST(numbers_around_all_powers)
{
    for (uint64_t value = 0; value < 20000; value++) {
        decimal_check(value);
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t power = UINT64_C(1) << bit;
        decimal_check(power - 1);
        decimal_check(power);
        decimal_check(power + 1);
    }
    uint64_t power = 1;
    for (unsigned digits = 1; digits <= 20; digits++) {
        decimal_check(power - 1);
        decimal_check(power);
        decimal_check(power + 1);
        power *= 10;
    }
    decimal_check(UINT64_MAX);
}
END_TEST

START_TEST(fixed_widths)
{
    for (unsigned value = 0; value < 10000; value++) {
        char expected[16], got[5] = "";
        snprintf(expected, sizeof(expected), "%04u", value);
        rd_decimal_4(got, value);
        ck_assert_str_eq(got, expected);
        if (value < 100) {
            rd_decimal_2(got, value);
            ck_assert_int_eq(memcmp(got, expected + 2, 2), 0);
        }
    }
}
END_TEST

/* What RFC 3629 says, the slow way: take it apart, then look at the value. */
static unsigned char_expected(const unsigned char *p, size_t n)
{
    static const unsigned long least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned len = p[0] < 0x80             ? 1
                   : (p[0] & 0xe0) == 0xc0 ? 2
                   : (p[0] & 0xf0) == 0xe0 ? 3
                   : (p[0] & 0xf8) == 0xf0 ? 4
                                           : 0;
    if (len <= 1 || len > n) {
        return len > n ? 0 : len;
    }
    unsigned long value = p[0] & (0x7fu >> len);
    for (unsigned i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
        value = value << 6 | (p[i] & 0x3fu);
    }
    int bad = value < least[len] || value > 0x10ffff ||
              (value >= 0xd800 && value <= 0xdfff);
    return bad ? 0 : len;
}

START_TEST(utf8_all_first_three_bytes)
{
    static const unsigned char fourth[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};
    unsigned long wrong = 0, valid = 0;
    for (unsigned long i = 0; i < 0x1000000; i++) {
        unsigned char p[4] = {(unsigned char)(i >> 16), (unsigned char)(i >> 8),
                              (unsigned char)i, 0};
        unsigned last = p[0] >= 0xf0 ? sizeof(fourth) : 1;
        for (unsigned j = 0; j < last; j++) {
            p[3] = fourth[j];
            unsigned got = rd_utf8_char(p, 4);
            wrong += got != char_expected(p, 4);
            valid += got == 3;
        }
    }
    ck_assert_uint_eq(wrong, 0);
    /* U+0800..U+FFFF without the surrogates */
    ck_assert_uint_eq(valid, 0x10000 - 0x800 - 0x800);
}
END_TEST

START_TEST(utf8_cut_off)
{
    static const char *const texts[] = {"\xc3\xa4", "\xe2\x82\xac",
                                        "\xf0\x9f\x98\x80"};
    for (unsigned i = 0; i < 3; i++) {
        size_t len = strlen(texts[i]);
        for (size_t n = 1; n <= len; n++) {
            /* A copy of exact size, for ASan to see a read behind it. */
            unsigned char *p = rd_mem_alloc(n);
            memcpy(p, texts[i], n);
            ck_assert_uint_eq(rd_utf8_char(p, n), n < len ? 0 : len);
            rd_mem_free(p);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("decimal");
    TCase *tc = tcase_create("decimal");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, numbers_around_all_powers);
    tcase_add_test(tc, fixed_widths);
    tcase_add_test(tc, utf8_all_first_three_bytes);
    tcase_add_test(tc, utf8_cut_off);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
