/* SPDX-License-Identifier: MIT */
/* Percent-decoding and splitting of paths. */
#include "codec/uri.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "support/suite.h"

START_TEST(decode)
{
    static const struct {
        const char *in, *out; /* NULL: bad */
    } cases[] = {
        {"", ""},
        {"abc", "abc"},
        {"a%20b", "a b"},
        {"%61%62%63", "abc"},
        {"%c3%A9", "\xc3\xa9"},
        {"%ff%01", "\xff\x01"},
        {"a+b", "a+b"},
        {"%25", "%"},
        {"%2525", "%25"},
        {"%2f", "/"},
        {"%%41", NULL},
        {"%", NULL},
        {"a%", NULL},
        {"%4", NULL},
        {"a%4", NULL},
        {"%4g", NULL},
        {"%g4", NULL},
        {"%-1", NULL},
        {"% 1", NULL},
        {"%u0041", NULL},
        {"%00", NULL},
        {"a%00b", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t len = strlen(cases[i].in);
        char other[32];
        char same[32];
        memcpy(same, cases[i].in, len + 1);
        long n = rd_uri_decode(cases[i].in, len, other);
        ck_assert_int_eq(rd_uri_decode(same, len, same), n);
        if (cases[i].out == NULL) {
            ck_assert_msg(n == -1, "%s: %ld", cases[i].in, n);
            continue;
        }
        ck_assert_msg(n == (long)strlen(cases[i].out), "%s: %ld", cases[i].in,
                      n);
        ck_assert(memcmp(other, cases[i].out, (size_t)n) == 0);
        ck_assert(memcmp(same, cases[i].out, (size_t)n) == 0);
    }
}
END_TEST

/* Segments with '|' between them. */
static int split(const char *path, char *text, size_t size)
{
    static struct rd_uri_path out;
    size_t len = strlen(path);
    /* Exact copies, for the address sanitizer. */
    char *copy = rd_mem_alloc(len + 1);
    char *scratch = rd_mem_alloc(len + 1);
    memcpy(copy + 1, path, len);
    int rc = rd_uri_split(rd_slice(copy + 1, len), scratch + 1, &out);
    size_t n = 0;
    text[0] = '\0';
    for (unsigned i = 0; rc == 0 && i < out.n; i++) {
        n += (size_t)snprintf(text + n, size - n, "%s%.*s", i > 0 ? "|" : "",
                              (int)out.segments[i].len, out.segments[i].data);
        ck_assert_ptr_nonnull(out.segments[i].data);
    }
    rd_mem_free(copy);
    rd_mem_free(scratch);
    return rc;
}

START_TEST(segments)
{
    static const struct {
        const char *path, *segments;
    } cases[] = {
        {"", ""},
        {"/", ""},
        {"/a", "a"},
        {"/a/", "a|"},
        {"/a/b/c", "a|b|c"},
        {"//", "|"},
        {"//a", "|a"},
        {"/a//b", "a||b"},
        {"/a//", "a||"},
        {"/.", ""},
        {"/./", ""},
        {"/..", ""},
        {"/../", ""},
        {"/../..", ""},
        {"/./a", "a"},
        {"/../a", "a"},
        {"/a/.", "a|"},
        {"/a/./", "a|"},
        {"/a/..", ""},
        {"/a/../", ""},
        {"/a/b/..", "a|"},
        {"/a/b/../", "a|"},
        {"/a/b/../c", "a|c"},
        {"/a/b/../../../c", "c"},
        {"/a//../b", "a|b"},
        {"/a/./b/.././c", "a|c"},
        {"/...", "..."},
        {"/.a/..b/a.", ".a|..b|a."},
        {"/%61/b%20c", "a|b c"},
        {"/a%2Fb/c", "a/b|c"},
        {"/%2e/a", "a"},
        {"/a/%2E%2e/b", "b"},
        {"/a/.%2e", ""},
        {"/a/%2e%2e%2fb", "a|../b"},
        {"/%25%32%65", "%2e"},
        {"/%7E%c3%a9", "~\xc3\xa9"},
    };
    char text[256];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc = split(cases[i].path, text, sizeof(text));
        ck_assert_msg(rc == 0, "%s: %d", cases[i].path, rc);
        ck_assert_msg(strcmp(text, cases[i].segments) == 0, "%s: '%s'",
                      cases[i].path, text);
    }
}
END_TEST

START_TEST(bad_paths)
{
    static const char *const cases[] = {"a",     "*",     "/%",     "/%4",
                                        "/a%zz", "/a%00", "/%4/a1", "/a/%/b"};
    char text[256];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc = split(cases[i], text, sizeof(text));
        ck_assert_msg(rc == -400, "%s: %d", cases[i], rc);
    }
}
END_TEST

START_TEST(segment_limit)
{
    char path[4 * RD_URI_SEGMENTS_MAX + 8];
    char text[1024];
    path[0] = '\0';
    for (int i = 0; i < RD_URI_SEGMENTS_MAX; i++) {
        strncat(path, "/a", sizeof(path) - strlen(path) - 1);
    }
    ck_assert_int_eq(split(path, text, sizeof(text)), 0);
    ck_assert_uint_eq(strlen(text), 2 * RD_URI_SEGMENTS_MAX - 1);
    /* Segments that go away do not count. */
    strncat(path, "/../b", sizeof(path) - strlen(path) - 1);
    ck_assert_int_eq(split(path, text, sizeof(text)), 0);
    strncat(path, "/", sizeof(path) - strlen(path) - 1);
    ck_assert_int_eq(split(path, text, sizeof(text)), -404);
    strncat(path, "%", sizeof(path) - strlen(path) - 1);
    ck_assert_int_eq(split(path, text, sizeof(text)), -400);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("uri");
    TCase *tcase = tcase_create("uri");
    tcase_add_test(tcase, decode);
    tcase_add_test(tcase, segments);
    tcase_add_test(tcase, bad_paths);
    tcase_add_test(tcase, segment_limit);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
