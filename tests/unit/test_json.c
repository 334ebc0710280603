/* SPDX-License-Identifier: MIT */
/* The JSON writer: literals, a validator, every buffer size. */
#include <restd/json.h>

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "json_valid.h"
#include "support/suite.h"

static char buf[4096];
static struct restd_json json;
static uint64_t seed;

static void setup(void)
{
    memset(buf, '#', sizeof(buf) - 1);
    restd_json_init(&json, buf, sizeof(buf) - 2);
    seed = 88172645463325252u;
}

static uint64_t random_next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

START_TEST(the_validator_itself)
{
    static const char *const good[] = {"{}",
                                       "[]",
                                       "0",
                                       "-0.5",
                                       "10",
                                       "\"\\u00ff\\n\"",
                                       "{\"a\":[1,{},null],\"b\":true}"};
    static const char *const bad[] = {
        "",          "{",      "[1,]",    "[,1]", "[1 1]",
        "01",        "-",      "1.",      ".5",   "{\"a\"}",
        "{a:1}",     "\"\n\"", "\"\\x\"", "\"",   "{\"a\":1,}",
        "\"\\u12\"", "1e5",    "nul",     "[]]",  "+1"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(json_valid(good[i]), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!json_valid(bad[i]), "%s", bad[i]);
    }
}
END_TEST

/* The text so far, checked for a write behind its end; starts anew. */
static const char *finish(void)
{
    long len = restd_json_finish(&json);
    ck_assert_int_ge(len, 0);
    ck_assert_int_eq(buf[len], '#');
    buf[len] = '\0';
    ck_assert_msg(json_valid(buf), "not valid: %s", buf);
    static char text[sizeof(buf)];
    memcpy(text, buf, (size_t)len + 1);
    setup();
    return text;
}

/* One of everything. */
static void document_write(struct restd_json *j)
{
    restd_json_object_begin(j);
    restd_json_key(j, "empty");
    restd_json_object_begin(j);
    restd_json_object_end(j);
    restd_json_key(j, "list");
    restd_json_array_begin(j);
    restd_json_array_begin(j);
    restd_json_array_end(j);
    restd_json_uint(j, 18446744073709551615u);
    restd_json_int(j, INT64_MIN);
    restd_json_double(j, -1.25);
    restd_json_double(j, 0x1p64);
    restd_json_bool(j, 1);
    restd_json_bool(j, 0);
    restd_json_null(j);
    restd_json_array_end(j);
    restd_json_key(j, "text");
    restd_json_string(j, "a\"\\\n\x01\xff\xc3\xa4", 8);
    restd_json_key(j, "raw");
    restd_json_raw(j, "{\"x\":1}", 7);
    restd_json_key(j, "time");
    restd_json_time(j, 784111777123);
    restd_json_object_end(j);
}

static const char document[] =
    "{\"empty\":{},\"list\":[[],18446744073709551615,-9223372036854775808,"
    "-1.25,18446744073709551616,true,false,null],"
    "\"text\":\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa4\","
    "\"raw\":{\"x\":1},\"time\":\"1994-11-06T08:49:37.123Z\"}";

START_TEST(a_document_of_everything)
{
    document_write(&json);
    ck_assert_str_eq(finish(), document);
}
END_TEST

START_TEST(overflow_at_every_size)
{
    size_t len = sizeof(document) - 1;
    for (size_t size = 0; size <= len + 1; size++) {
        setup();
        restd_json_init(&json, buf, size);
        document_write(&json);
        if (size < len) {
            ck_assert_int_lt(restd_json_finish(&json), 0);
        } else {
            ck_assert_int_eq(restd_json_finish(&json), (long)len);
        }
        /* Nothing behind the end, and no hole before it. */
        size_t written = strcspn(buf, "#");
        ck_assert_uint_le(written, size);
        ck_assert_int_eq(memcmp(buf, document, written), 0);
        ck_assert_uint_eq(strspn(buf + written, "#"),
                          sizeof(buf) - 1 - written);
    }
}
END_TEST

START_TEST(no_buffer_at_all)
{
    restd_json_init(&json, NULL, 0);
    ck_assert_int_eq(restd_json_finish(&json), 0);
    document_write(&json);
    ck_assert_int_lt(restd_json_finish(&json), 0);
}
END_TEST

START_TEST(single_values)
{
    restd_json_string(&json, NULL, 0);
    ck_assert_str_eq(finish(), "\"\"");
    restd_json_bool(&json, 42);
    ck_assert_str_eq(finish(), "true");
    restd_json_int(&json, 0);
    ck_assert_str_eq(finish(), "0");
    restd_json_int(&json, -1);
    ck_assert_str_eq(finish(), "-1");
    restd_json_int(&json, INT64_MAX);
    ck_assert_str_eq(finish(), "9223372036854775807");
}
END_TEST

static const char *string_write(const char *data, size_t len)
{
    /* A copy of exact size, for ASan to see a read behind it. */
    char *copy = rd_mem_alloc(len);
    ck_assert_ptr_nonnull(copy);
    if (len > 0) {
        memcpy(copy, data, len);
    }
    restd_json_string(&json, copy, len);
    rd_mem_free(copy);
    return finish();
}

START_TEST(strings)
{
#define BAD "\xef\xbf\xbd"
    static const struct {
        const char *in, *out;
    } table[] = {
        {"plain", "plain"},
        {"say \"x\"", "say \\\"x\\\""},
        {"c:\\d/e", "c:\\\\d/e"},
        {"\b\t\n\f\r", "\\b\\t\\n\\f\\r"},
        {"\x01\x0b\x1f\x7f", "\\u0001\\u000b\\u001f\x7f"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
         "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xff", BAD},
        {"a\x80z", "a" BAD "z"},
        {"\xc3", BAD},
        {"\xc3(", BAD "("},
        {"\xc0\xaf", BAD BAD},                 /* overlong */
        {"\xe0\x9f\xbf", BAD BAD BAD},         /* overlong */
        {"\xed\xa0\x80", BAD BAD BAD},         /* surrogate */
        {"\xf4\x90\x80\x80", BAD BAD BAD BAD}, /* beyond U+10FFFF */
        {"\xe2\x82", BAD BAD},                 /* cut off */
        {"\xe2\x82\"", BAD BAD "\\\""},        /* cut off, and a quote hidden */
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char expected[100];
        snprintf(expected, sizeof(expected), "\"%s\"", table[i].out);
        ck_assert_str_eq(string_write(table[i].in, strlen(table[i].in)),
                         expected);
    }
    ck_assert_str_eq(string_write("a\0b", 3), "\"a\\u0000b\"");
}
END_TEST

/* The fast path takes 8 bytes at once: every byte at every place. */
START_TEST(every_byte_at_every_place)
{
    for (unsigned c = 0; c < 256; c++) {
        char one[16];
        char byte = (char)c;
        size_t one_len = strlen(string_write(&byte, 1)) - 2;
        memcpy(one, string_write(&byte, 1) + 1, one_len);
        int plain = c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
        ck_assert_int_eq(plain, one_len == 1);
        for (size_t at = 0; at < 20; at++) {
            char in[20], expected[64];
            memset(in, 'a', sizeof(in));
            in[at] = byte;
            int len = snprintf(expected, sizeof(expected), "\"%.*s%.*s%.*s\"",
                               (int)at, "aaaaaaaaaaaaaaaaaaaa", (int)one_len,
                               one, (int)(19 - at), "aaaaaaaaaaaaaaaaaaaa");
            ck_assert_int_eq(len, (int)(21 + one_len));
            ck_assert_str_eq(string_write(in, sizeof(in)), expected);
        }
    }
}
END_TEST

START_TEST(random_bytes_are_valid)
{
    for (int i = 0; i < 20000; i++) {
        unsigned char in[24];
        uint64_t start = seed;
        for (size_t j = 0; j < sizeof(in); j++) {
            in[j] = (unsigned char)(random_next() >> 32);
        }
        uint64_t next = seed;
        const char *text = string_write((const char *)in, sizeof(in));
        size_t len = strlen(text);
        for (size_t at = 0; at < len;) {
            unsigned n =
                rd_utf8_char((const unsigned char *)text + at, len - at);
            ck_assert_msg(n > 0, "no UTF-8 from seed %" PRIu64, start);
            at += n;
        }
        seed = next;
    }
}
END_TEST

static const char *time_write(int64_t ms)
{
    restd_json_time(&json, ms);
    return finish();
}

START_TEST(times)
{
    ck_assert_str_eq(time_write(0), "\"1970-01-01T00:00:00.000Z\"");
    ck_assert_str_eq(time_write(-1), "\"1969-12-31T23:59:59.999Z\"");
    ck_assert_str_eq(time_write(-1000), "\"1969-12-31T23:59:59.000Z\"");
    ck_assert_str_eq(time_write(951782400007), "\"2000-02-29T00:00:00.007Z\"");
    ck_assert_uint_eq(strlen(time_write(INT64_MAX)), 26);
    ck_assert_uint_eq(strlen(time_write(INT64_MIN)), 26);
    /* Years 0 to 9999. */
    for (int64_t s = -62167219200; s <= 253402300799; s += 10000019) {
        time_t t = (time_t)s;
        struct tm tm;
        char expected[64], text[32];
        ck_assert_ptr_nonnull(gmtime_r(&t, &tm));
        strftime(text, sizeof(text), "-%m-%dT%H:%M:%S.456Z", &tm);
        snprintf(expected, sizeof(expected), "\"%04d%s\"", tm.tm_year + 1900,
                 text);
        ck_assert_str_eq(time_write(s * 1000 + 456), expected);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json");
    TCase *tc = tcase_create("json");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, the_validator_itself);
    tcase_add_test(tc, a_document_of_everything);
    tcase_add_test(tc, overflow_at_every_size);
    tcase_add_test(tc, no_buffer_at_all);
    tcase_add_test(tc, single_values);
    tcase_add_test(tc, strings);
    tcase_add_test(tc, every_byte_at_every_place);
    tcase_add_test(tc, random_bytes_are_valid);
    tcase_add_test(tc, times);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
