/* SPDX-License-Identifier: MIT */
/* Entity tags: the comparison table of RFC 9110 8.8.3.2, lists, If-Range. */
#include "codec/etag.h"

#include <check.h>

#include "base/slice.h"
#include "support/suite.h"

#define NOW INT64_C(1000000000)
#define MODIFIED INT64_C(784111777) /* Sun, 06 Nov 1994 08:49:37 GMT */

START_TEST(tags)
{
    static const char *const good[] = {"\"\"", "\"a\"", "W/\"a\"", "W/\"\"",
                                       "\"!#\\~\xc3\xa9,\""};
    static const char *const bad[] = {
        "",        "a",      "\"",       "\"a",     "a\"",      "W/a",
        "w/\"a\"", "W\"a\"", "W/ \"a\"", "\"a b\"", "\"a\"b\"", "\"a\x7f\"",
        "*",       "W/",     "'a'",      " \"a\"",  "\"a\" ",   "\"a\"\"b\""};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(rd_etag_is(rd_slice_str(good[i])), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!rd_etag_is(rd_slice_str(bad[i])), "%s", bad[i]);
    }
    ck_assert(!rd_etag_is(rd_slice(NULL, 0)));
    ck_assert(!rd_etag_is(rd_slice("\"\0\"", 3)));
}
END_TEST

static const struct {
    const char *value, *etag;
    int strong, weak;
} lists[] = {
    {"W/\"1\"", "W/\"1\"", 0, 1},
    {"W/\"1\"", "W/\"2\"", 0, 0},
    {"W/\"1\"", "\"1\"", 0, 1},
    {"\"1\"", "W/\"1\"", 0, 1},
    {"\"1\"", "\"1\"", 1, 1},
    {"\"1\"", "\"11\"", 0, 0},
    {"*", "\"1\"", 1, 1},
    {"*", "", 1, 1},
    {"", "\"1\"", 0, 0},
    {"\"1\"", "", 0, 0},
    {"\"1\"", "1", 0, 0},
    {"\"xyzzy\", \"r2d2xxxx\", \"c3piozzzz\"", "\"c3piozzzz\"", 1, 1},
    {"W/\"xyzzy\", W/\"r2d2xxxx\"", "\"r2d2xxxx\"", 0, 1},
    {"\"a\",\"b\"", "\"b\"", 1, 1},
    {"\"a\"\t,\t\"b\"", "\"b\"", 1, 1},
    {",, \"a\" ,,\"b\",", "\"a\"", 1, 1},
    {" \"a\" ", "\"a\"", 1, 1},
    {"\"A\"", "\"a\"", 0, 0},
    {"\"\"", "\"\"", 1, 1},
    /* A backslash is no escape and a comma in quotes is no comma. */
    {"\"a\\\", \"b\"", "\"b\"", 1, 1},
    {"\"a\\\", \"b\"", "\"a\\\"", 1, 1},
    {"\"a,b\"", "\"a,b\"", 1, 1},
    {"\"a,\", \"b\"", "\"b\"", 1, 1},
    /* Broken elements do not hide the others, and do not match. */
    {"a, \"b\"", "\"b\"", 1, 1},
    {"\"a\"x, \"b\"", "\"a\"", 0, 0},
    {"\"a\"x, \"b\"", "\"b\"", 1, 1},
    {"\"a\" \"b\"", "\"b\"", 0, 0},
    {"w/\"a\"", "\"a\"", 0, 0},
    {"W/ \"a\"", "\"a\"", 0, 0},
    {"*, \"b\"", "\"a\"", 0, 0},
    {"\"*\"", "\"a\"", 0, 0},
    {"\"a", "\"a\"", 0, 0},
    {"\"b\", \"a", "\"b\"", 1, 1},
};

START_TEST(list_has)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct restd_slice value = rd_slice_str(lists[i].value);
        struct restd_slice etag = rd_slice_str(lists[i].etag);
        ck_assert_msg(rd_etag_list_has(value, etag, 0) == lists[i].strong,
                      "%s: %s, strong", lists[i].value, lists[i].etag);
        ck_assert_msg(rd_etag_list_has(value, etag, 1) == lists[i].weak,
                      "%s: %s, weak", lists[i].value, lists[i].etag);
    }
    ck_assert(!rd_etag_list_has(rd_slice(NULL, 0), rd_slice_str("\"a\""), 1));
    ck_assert(!rd_etag_list_has(rd_slice_str("\"a\""), rd_slice(NULL, 0), 1));
}
END_TEST

static const struct {
    const char *value, *etag;
    int64_t modified, now;
    int applies;
} conditions[] = {
    {"\"a\"", "\"a\"", MODIFIED, NOW, 1},
    {"\"b\"", "\"a\"", MODIFIED, NOW, 0},
    {"W/\"a\"", "\"a\"", MODIFIED, NOW, 0},
    {"\"a\"", "W/\"a\"", MODIFIED, NOW, 0},
    {"W/\"a\"", "W/\"a\"", MODIFIED, NOW, 0},
    {"\"a\"", "", MODIFIED, NOW, 0},
    {"\"a\", \"a\"", "\"a\"", MODIFIED, NOW, 0},
    {"*", "\"a\"", MODIFIED, NOW, 0},
    {"a", "\"a\"", MODIFIED, NOW, 0},
    {"", "\"a\"", MODIFIED, NOW, 0},
    {"Sun, 06 Nov 1994 08:49:37 GMT", "\"a\"", MODIFIED, NOW, 1},
    {"Sunday, 06-Nov-94 08:49:37 GMT", "", MODIFIED, NOW, 1},
    {"Sun, 06 Nov 1994 08:49:37 GMT", "", MODIFIED + 1, NOW, 0},
    {"Sun, 06 Nov 1994 08:49:37 GMT", "", MODIFIED - 1, NOW, 0},
    /* The file may change again within the second. */
    {"Sun, 06 Nov 1994 08:49:37 GMT", "", MODIFIED, MODIFIED, 0},
    {"Sun, 06 Nov 1994 08:49:37 GMT", "", MODIFIED, MODIFIED + 1, 1},
    {"Sun, 06 Nov 1994 08:49:37", "", MODIFIED, NOW, 0},
};

START_TEST(if_range)
{
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        int applies = rd_etag_if_range(
            rd_slice_str(conditions[i].value), rd_slice_str(conditions[i].etag),
            conditions[i].modified, conditions[i].now);
        ck_assert_msg(applies == conditions[i].applies, "%zu: %s: %d", i,
                      conditions[i].value, applies);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("etag");
    TCase *tcase = tcase_create("etag");
    tcase_add_test(tcase, tags);
    tcase_add_test(tcase, list_has);
    tcase_add_test(tcase, if_range);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
