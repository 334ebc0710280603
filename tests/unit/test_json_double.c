/* SPDX-License-Identifier: MIT */
/* Doubles in JSON, against literals, strtod() and snprintf(). */
#include <restd/json.h>

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_valid.h"
#include "support/suite.h"

static uint64_t seed;

static void setup(void)
{
    seed = 88172645463325252u;
}

static uint64_t random_next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static const char *double_write(double value)
{
    static char text[512];
    struct restd_json json;
    restd_json_init(&json, text, sizeof(text) - 1);
    restd_json_double(&json, value);
    long len = restd_json_finish(&json);
    ck_assert_int_gt(len, 0);
    text[len] = '\0';
    ck_assert_msg(json_valid(text), "not valid: %s", text);
    return text;
}

START_TEST(doubles)
{
    static const struct {
        double value;
        const char *text;
    } table[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-1, "-1"},
        {0.5, "0.5"},
        {0.1, "0.1"},
        {-0.1, "-0.1"},
        {0.25, "0.25"},
        {1.5, "1.5"},
        {100, "100"},
        {3.14159265358979, "3.141593"},
        {0.000001, "0.000001"},
        {0.0000009, "0.000001"},
        {0.0000004, "0"},
        {-0.0000004, "0"},
        {-0.0000006, "-0.000001"},
        {0.000010, "0.00001"},
        {0.999999, "0.999999"},
        {0.9999999, "1"}, /* the carry */
        {-0.9999999, "-1"},
        {9.9999996, "10"},
        {99999.9999999, "100000"},
        {1234567.891, "1234567.891"},
        {1e15, "1000000000000000"},
        {9007199254740991.0, "9007199254740991"},
        {4503599627370495.5, "4503599627370495.5"},
        {1e18, "1000000000000000000"},
        {0x1p63, "9223372036854775808"},
        {18446744073709549568.0, "18446744073709549568"},
        {0x1p64, "18446744073709551616"},
        {-0x1p64, "-18446744073709551616"},
        {1e22, "10000000000000000000000"},
        {5e-324, "0"},
        {(double)NAN, "null"},
        {(double)INFINITY, "null"},
        {-(double)INFINITY, "null"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        ck_assert_str_eq(double_write(table[i].value), table[i].text);
    }
}
END_TEST

START_TEST(doubles_at_random)
{
    for (int i = 0; i < 50000; i++) {
        uint64_t r = random_next();
        double value = (double)(r >> 11) / (double)(UINT64_C(1) << (r & 63));
        const char *text = double_write(value);
        double back = strtod(text, NULL);
        ck_assert_msg(fabs(back - value) <= 0.5000001e-6 + value * 1e-15,
                      "%.17g became %s", value, text);
        const char *point = strchr(text, '.');
        if (point != NULL) {
            size_t digits = strlen(point + 1);
            ck_assert_uint_le(digits, 6);
            ck_assert_int_ne(point[digits], '0');
        }
    }
}
END_TEST

START_TEST(huge_doubles_are_exact)
{
    char expected[400];
    for (int exponent = 64; exponent < 1024; exponent++) {
        double value = ldexp((double)(random_next() >> 11 | 1u << 20), -53);
        value = ldexp(1 + value, exponent);
        snprintf(expected, sizeof(expected), "%.0f", value);
        ck_assert_str_eq(double_write(value), expected);
    }
    snprintf(expected, sizeof(expected), "%.0f", -DBL_MAX);
    ck_assert_str_eq(double_write(-DBL_MAX), expected);
}
END_TEST

START_TEST(huge_doubles_overflow_at_every_size)
{
    char text[400], expected[400];
    int full = snprintf(expected, sizeof(expected), "%.0f", DBL_MAX);
    for (int size = 0; size <= full; size++) {
        struct restd_json json;
        memset(text, '#', sizeof(text));
        restd_json_init(&json, text, (size_t)size);
        restd_json_double(&json, DBL_MAX);
        long len = restd_json_finish(&json);
        ck_assert_msg(size < full ? len < 0 : len == full, "size %d", size);
        ck_assert_int_eq(text[size], '#');
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json_double");
    TCase *tc = tcase_create("json_double");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, doubles);
    tcase_add_test(tc, doubles_at_random);
    tcase_add_test(tc, huge_doubles_are_exact);
    tcase_add_test(tc, huge_doubles_overflow_at_every_size);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
