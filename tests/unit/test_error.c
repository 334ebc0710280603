/* SPDX-License-Identifier: MIT */
/* Error codes, messages, the errno map, version and features. */
#include "base/error.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <restd/version.h>
#include "support/suite.h"

START_TEST(every_code_has_name_and_text)
{
    static const struct {
        int code;
        const char *name, *text;
    } table[] = {{0, "RESTD_OK", "success"},
#define X(name, value, text) {value, #name, text},
                 RESTD_ERROR_MAP(X)
#undef X
    };
    size_t n = sizeof(table) / sizeof(table[0]);
    for (size_t i = 0; i < n; i++) {
        ck_assert_str_eq(restd_error_name(table[i].code), table[i].name);
        ck_assert_str_eq(restd_strerror(table[i].code), table[i].text);
        for (size_t j = 0; j < i; j++) {
            ck_assert_str_ne(table[i].text, table[j].text);
        }
    }
    ck_assert_str_eq(restd_strerror(-1000), "unknown error");
    ck_assert_str_eq(restd_strerror(1), "unknown error");
    ck_assert_str_eq(restd_error_name(-1000), "RESTD_UNKNOWN");
}
END_TEST

START_TEST(message_is_filled)
{
    struct restd_error e;
    memset(&e, 0xff, sizeof(e));
    ck_assert_int_eq(rd_error(&e, RESTD_EINVAL, "bad port %d", 70000),
                     RESTD_EINVAL);
    ck_assert_int_eq(e.code, RESTD_EINVAL);
    ck_assert_int_eq(e.os_errno, 0);
    ck_assert_str_eq(e.message, "bad port 70000");
}
END_TEST

START_TEST(message_is_one_line)
{
    struct restd_error e;
    (void)rd_error(&e, RESTD_EINVAL, "no such option '%s'", "a\r\nb\tc\x7f");
    ck_assert_str_eq(e.message, "no such option 'a  b c '");
}
END_TEST

START_TEST(message_is_cut)
{
    char text[600];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    struct restd_error e;
    (void)rd_error(&e, RESTD_EINVAL, "%s", text);
    ck_assert_uint_eq(strlen(e.message), sizeof(e.message) - 1);
    (void)rd_error_os(&e, EACCES, "%s", text);
    ck_assert_uint_eq(strlen(e.message), sizeof(e.message) - 1);
    ck_assert_int_eq(e.message[sizeof(e.message) - 2], 'x');
}
END_TEST

START_TEST(os_error_appends_text)
{
    struct restd_error e;
    ck_assert_int_eq(rd_error_os(&e, EADDRINUSE, "cannot bind %s", "[::]:80"),
                     RESTD_EADDRINUSE);
    ck_assert_int_eq(e.code, RESTD_EADDRINUSE);
    ck_assert_int_eq(e.os_errno, EADDRINUSE);
    ck_assert_str_eq(e.message, "cannot bind [::]:80: Address already in use");
}
END_TEST

START_TEST(null_error_gives_the_code)
{
    ck_assert_int_eq(rd_error(NULL, RESTD_ELIMIT, "%s", "x"), RESTD_ELIMIT);
    ck_assert_int_eq(rd_error_os(NULL, EPERM, "%s", "x"), RESTD_EACCES);
}
END_TEST

START_TEST(errno_map)
{
    static const int table[][2] = {
        {EAGAIN, RESTD_EAGAIN},      {EWOULDBLOCK, RESTD_EAGAIN},
        {EINTR, RESTD_EAGAIN},       {EINPROGRESS, RESTD_EAGAIN},
        {ENOMEM, RESTD_ENOMEM},      {ENOBUFS, RESTD_ENOMEM},
        {EINVAL, RESTD_EINVAL},      {ENAMETOOLONG, RESTD_EINVAL},
        {ERANGE, RESTD_ERANGE},      {EOVERFLOW, RESTD_ERANGE},
        {ENOENT, RESTD_ENOENT},      {ENOTDIR, RESTD_ENOENT},
        {EEXIST, RESTD_EEXIST},      {EADDRINUSE, RESTD_EADDRINUSE},
        {EACCES, RESTD_EACCES},      {EPERM, RESTD_EACCES},
        {EROFS, RESTD_EACCES},       {EMFILE, RESTD_ELIMIT},
        {ENFILE, RESTD_ELIMIT},      {EPIPE, RESTD_ECLOSED},
        {ECONNRESET, RESTD_ECLOSED}, {ECONNABORTED, RESTD_ECLOSED},
        {ENOTCONN, RESTD_ECLOSED},   {EIO, RESTD_EOS},
        {EADDRNOTAVAIL, RESTD_EOS},  {0, RESTD_EOS},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        ck_assert_msg(rd_error_from_errno(table[i][0]) == table[i][1],
                      "errno %d gives %s", table[i][0],
                      restd_error_name(rd_error_from_errno(table[i][0])));
    }
}
END_TEST

START_TEST(version_and_features)
{
    char text[32];
    snprintf(text, sizeof(text), "%d.%d.%d", RESTD_VERSION_MAJOR,
             RESTD_VERSION_MINOR, RESTD_VERSION_PATCH);
    ck_assert_str_eq(restd_version(), text);
    ck_assert_str_eq(restd_version(), RESTD_VERSION);
    ck_assert_int_eq(RESTD_VERSION_NUMBER, RESTD_VERSION_MAJOR * 10000 +
                                               RESTD_VERSION_MINOR * 100 +
                                               RESTD_VERSION_PATCH);
    ck_assert_int_eq(restd_has("epoll"), 1);
    ck_assert_int_eq(restd_has("regex"), 1);
    ck_assert_int_eq(restd_has("epol"), 0);
    ck_assert_int_eq(restd_has(""), 0);
    ck_assert_int_eq(restd_has(NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("error");
    TCase *tc = tcase_create("error");
    tcase_add_test(tc, every_code_has_name_and_text);
    tcase_add_test(tc, message_is_filled);
    tcase_add_test(tc, message_is_one_line);
    tcase_add_test(tc, message_is_cut);
    tcase_add_test(tc, os_error_appends_text);
    tcase_add_test(tc, null_error_gives_the_code);
    tcase_add_test(tc, errno_map);
    tcase_add_test(tc, version_and_features);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
