/* SPDX-License-Identifier: MIT */
/* The option table through the public calls: each row can be set to its ends
 * and no further, and what is no value is refused with a sentence. */
#include <restd/options.h>

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/options.h"
#include "support/suite.h"

static struct restd_options options;
static struct restd_error error;

static void set_up(void)
{
    restd_options_init(&options);
    memset(&error, 0, sizeof(error));
}

static int set(const char *key, const char *value)
{
    memset(&error, 0, sizeof(error));
    int rc = restd_options_set(&options, key, value, &error);
    ck_assert_int_eq(error.code, rc);
    ck_assert_int_eq(error.message[0] != '\0', rc != 0);
    ck_assert_int_eq(restd_options_set(&options, key, value, NULL), rc);
    return rc;
}

/* In the unit that gives the number itself. */
static int set_number(const struct restd_option_info *info, uint64_t value)
{
    char text[64];
    snprintf(text, sizeof(text), "%" PRIu64 "%s", value,
             strcmp(info->unit, "ms") == 0 ? "ms" : "");
    return set(info->name, text);
}

/* How many bytes differ from the defaults, and where the first is. */
static unsigned differs(size_t *first)
{
    struct restd_options defaults;
    const unsigned char *a = (const unsigned char *)&defaults;
    const unsigned char *b = (const unsigned char *)&options;
    unsigned n = 0;
    restd_options_init(&defaults);
    for (size_t i = sizeof(defaults); i-- > 0;) {
        if (a[i] != b[i]) {
            *first = i;
            n++;
        }
    }
    return n;
}

START_TEST(every_row)
{
    struct restd_option_info info;
    unsigned char seen[sizeof(options)] = {0};
    unsigned i = 0;
    for (; restd_option_info(i, &info) == 0; i++) {
        size_t at = 0;
        ck_assert_uint_le(info.min, info.default_value);
        ck_assert_uint_le(info.default_value, info.max);
        ck_assert_uint_lt(info.min, info.max);
        ck_assert_uint_gt(strlen(info.help), 0);
        ck_assert(strcmp(info.unit, "") == 0 ||
                  strcmp(info.unit, "bytes") == 0 ||
                  strcmp(info.unit, "ms") == 0 || strcmp(info.unit, "s") == 0);

        set_up();
        ck_assert_int_eq(set_number(&info, info.default_value), 0);
        ck_assert_uint_eq(differs(&at), 0);
        ck_assert_int_eq(set_number(&info, info.max), 0);
        if (info.max == info.default_value) {
            ck_assert_int_eq(set_number(&info, info.min), 0);
        }
        /* One field has changed, and no other row has that. */
        ck_assert_msg(differs(&at) > 0, "%s", info.name);
        at &= ~(size_t)3;
        ck_assert_msg(!seen[at], "%s", info.name);
        seen[at] = 1;
        ck_assert_int_eq(set_number(&info, info.min), 0);
        ck_assert_int_eq(set_number(&info, info.max + 1), RESTD_ERANGE);
        ck_assert_ptr_nonnull(strstr(error.message, info.name));
        if (info.min > 0) {
            ck_assert_int_eq(set_number(&info, info.min - 1), RESTD_ERANGE);
        }
        set_up();
        ck_assert_int_eq(rd_options_check(&options, &error), 0);
    }
    ck_assert_uint_gt(i, 20);
    ck_assert_int_eq(restd_option_info(i + 1, &info), RESTD_ENOENT);
    ck_assert_int_eq(restd_option_info(UINT32_MAX, &info), RESTD_ENOENT);
}
END_TEST

/* All fields but size, log and log_data have a row. */
START_TEST(every_field_has_a_row)
{
    struct restd_option_info info;
    memset(&options, 0xff, sizeof(options));
    for (unsigned i = 0; restd_option_info(i, &info) == 0; i++) {
        ck_assert_int_eq(set_number(&info, info.default_value), 0);
    }
    options.size = sizeof(options);
    options.log = NULL;
    options.log_data = NULL;
    struct restd_options defaults;
    restd_options_init(&defaults);
    ck_assert_int_eq(rd_options_check(&options, NULL), 0);
    ck_assert_uint_eq(options.workers, defaults.workers);
    ck_assert_uint_eq(options.memory_budget_bytes,
                      defaults.memory_budget_bytes);
    ck_assert_uint_eq(options.connections_max, defaults.connections_max);
    ck_assert_uint_eq(options.backlog, defaults.backlog);
    ck_assert_uint_eq(options.defer_accept_s, defaults.defer_accept_s);
    ck_assert_uint_eq(options.stack_bytes, defaults.stack_bytes);
    ck_assert_uint_eq(options.target_max_bytes, defaults.target_max_bytes);
    ck_assert_uint_eq(options.header_max_bytes, defaults.header_max_bytes);
    ck_assert_uint_eq(options.header_fields_max, defaults.header_fields_max);
    ck_assert_uint_eq(options.body_max_bytes, defaults.body_max_bytes);
    ck_assert_uint_eq(options.body_buffered_max_bytes,
                      defaults.body_buffered_max_bytes);
    ck_assert_uint_eq(options.header_timeout_ms, defaults.header_timeout_ms);
    ck_assert_uint_eq(options.body_timeout_ms, defaults.body_timeout_ms);
    ck_assert_uint_eq(options.body_rate_min_bytes,
                      defaults.body_rate_min_bytes);
    ck_assert_uint_eq(options.body_rate_grace_ms, defaults.body_rate_grace_ms);
    ck_assert_uint_eq(options.write_timeout_ms, defaults.write_timeout_ms);
    ck_assert_uint_eq(options.keepalive_timeout_ms,
                      defaults.keepalive_timeout_ms);
    ck_assert_uint_eq(options.linger_timeout_ms, defaults.linger_timeout_ms);
    ck_assert_uint_eq(options.linger_max_bytes, defaults.linger_max_bytes);
    ck_assert_uint_eq(options.linger_max, defaults.linger_max);
    ck_assert_uint_eq(options.output_high_bytes, defaults.output_high_bytes);
    ck_assert_uint_eq(options.output_low_bytes, defaults.output_low_bytes);
    ck_assert_uint_eq(options.drain_timeout_ms, defaults.drain_timeout_ms);
    ck_assert_uint_eq(options.drain_silence_ms, defaults.drain_silence_ms);
    ck_assert_uint_eq(options.log_level, defaults.log_level);
}
END_TEST

START_TEST(architecture_defaults)
{
    ck_assert_uint_eq(options.size, sizeof(options));
    ck_assert_uint_eq(options.workers, 0);
    ck_assert_uint_eq(options.memory_budget_bytes, 10u << 20);
    ck_assert_uint_eq(options.connections_max, 16384);
    ck_assert_uint_eq(options.target_max_bytes, 8192);
    ck_assert_uint_eq(options.header_max_bytes, 16384);
    ck_assert_uint_eq(options.header_fields_max, 100);
    ck_assert_uint_eq(options.body_max_bytes, 1u << 20);
    ck_assert_uint_eq(options.body_buffered_max_bytes, 65536);
    ck_assert_uint_eq(options.header_timeout_ms, 10000);
    ck_assert_uint_eq(options.body_timeout_ms, 30000);
    ck_assert_uint_eq(options.body_rate_min_bytes, 1024);
    ck_assert_uint_eq(options.body_rate_grace_ms, 10000);
    ck_assert_uint_eq(options.write_timeout_ms, 30000);
    ck_assert_uint_eq(options.keepalive_timeout_ms, 75000);
    ck_assert_uint_eq(options.linger_timeout_ms, 2000);
    ck_assert_uint_eq(options.linger_max_bytes, 65536);
    ck_assert_uint_eq(options.linger_max, 64);
    ck_assert_uint_eq(options.drain_silence_ms, 300);
    ck_assert_uint_eq(options.defer_accept_s, 1);
}
END_TEST

START_TEST(suffixes)
{
    static const struct {
        const char *key, *value;
        uint64_t want;
    } cases[] = {
        {"memory_budget", "16M", 16u << 20},
        {"memory_budget", "16777216", 16u << 20},
        {"memory_budget", "1G", 1u << 30},
        {"body_max", "300K", 300u << 10},
        {"body_max", "0", 0},
        {"keepalive_timeout", "5", 5000},
        {"keepalive_timeout", "5s", 5000},
        {"keepalive_timeout", "1500ms", 1500},
        {"keepalive_timeout", "2m", 120000},
        {"keepalive_timeout", "24h", 86400000},
        {"defer_accept", "0", 0},
        {"defer_accept", "7", 7},
        {"defer_accept", "7s", 7},
        {"defer_accept", "1m", 60},
        {"connections", "0100", 100},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *key = cases[i].key;
        ck_assert_msg(set(key, cases[i].value) == 0, "%s=%s", key,
                      cases[i].value);
        uint64_t got = *key == 'm'   ? options.memory_budget_bytes
                       : *key == 'b' ? options.body_max_bytes
                       : *key == 'k' ? options.keepalive_timeout_ms
                       : *key == 'd' ? options.defer_accept_s
                                     : options.connections_max;
        ck_assert_uint_eq(got, cases[i].want);
    }
}
END_TEST

START_TEST(what_is_no_value)
{
    static const struct {
        const char *key, *value;
        int rc;
    } cases[] = {
        {"connections", "", RESTD_EINVAL},
        {"connections", " 1", RESTD_EINVAL},
        {"connections", "1 ", RESTD_EINVAL},
        {"connections", "-1", RESTD_EINVAL},
        {"connections", "+1", RESTD_EINVAL},
        {"connections", "0x10", RESTD_EINVAL},
        {"connections", "1e3", RESTD_EINVAL},
        {"connections", "1.5", RESTD_EINVAL},
        {"connections", "1K", RESTD_EINVAL},
        {"connections", "many", RESTD_EINVAL},
        {"connections", "10\n", RESTD_EINVAL},
        {"connections", "4294967297", RESTD_ERANGE},
        {"connections", "18446744073709551617", RESTD_ERANGE},
        {"connections", "99999999999999999999999999", RESTD_ERANGE},
        {"memory_budget", "10k", RESTD_EINVAL},
        {"memory_budget", "10MB", RESTD_EINVAL},
        {"memory_budget", "10 M", RESTD_EINVAL},
        {"memory_budget", "M", RESTD_EINVAL},
        {"memory_budget", "10s", RESTD_EINVAL},
        {"memory_budget", "1T", RESTD_EINVAL},
        {"memory_budget", "1M", RESTD_ERANGE},
        {"memory_budget", "17179869185G", RESTD_ERANGE},
        {"memory_budget", "17179869200G", RESTD_ERANGE},
        {"keepalive_timeout", "5 s", RESTD_EINVAL},
        {"keepalive_timeout", "5M", RESTD_EINVAL},
        {"keepalive_timeout", "1d", RESTD_EINVAL},
        {"keepalive_timeout", "0", RESTD_ERANGE},
        {"keepalive_timeout", "25h", RESTD_ERANGE},
        {"defer_accept", "500ms", RESTD_EINVAL},
        {"defer_accept", "61", RESTD_ERANGE},
        {"log_level", "8", RESTD_ERANGE},
        {"log_level", "debug", RESTD_EINVAL},
        {"", "1", RESTD_ENOENT},
        {"Connections", "1", RESTD_ENOENT},
        {"connections ", "1", RESTD_ENOENT},
        {"connections_max", "1", RESTD_ENOENT},
        {"connection", "1", RESTD_ENOENT},
        {"log", "1", RESTD_ENOENT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t at;
        int rc = set(cases[i].key, cases[i].value);
        ck_assert_msg(rc == cases[i].rc, "%s=%s: %d", cases[i].key,
                      cases[i].value, rc);
        ck_assert_uint_eq(differs(&at), 0);
        ck_assert_ptr_null(strchr(error.message, '\n'));
    }
}
END_TEST

START_TEST(fields_set_by_hand_are_checked)
{
    options.workers = 257;
    ck_assert_int_eq(rd_options_check(&options, &error), RESTD_ERANGE);
    ck_assert_ptr_nonnull(strstr(error.message, "workers"));
    restd_options_init(&options);
    options.header_timeout_ms = 0;
    ck_assert_int_eq(rd_options_check(&options, NULL), RESTD_ERANGE);
    restd_options_init(&options);
    options.output_low_bytes = options.output_high_bytes + 1;
    ck_assert_int_eq(rd_options_check(&options, &error), RESTD_ERANGE);
    options.output_low_bytes = options.output_high_bytes;
    ck_assert_int_eq(rd_options_check(&options, &error), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *tc = tcase_create("options");
    tcase_add_checked_fixture(tc, set_up, NULL);
    tcase_add_test(tc, every_row);
    tcase_add_test(tc, every_field_has_a_row);
    tcase_add_test(tc, architecture_defaults);
    tcase_add_test(tc, suffixes);
    tcase_add_test(tc, what_is_no_value);
    tcase_add_test(tc, fields_set_by_hand_are_checked);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
