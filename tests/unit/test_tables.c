/* SPDX-License-Identifier: MIT */
/* Status phrases and method names. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <restd/http.h>
#include "support/suite.h"

START_TEST(phrases)
{
    static const struct {
        int status;
        const char *phrase;
    } cases[] = {
        {100, "Continue"},
        {200, "OK"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_str_eq(restd_status_phrase(cases[i].status), cases[i].phrase);
    }
}
END_TEST

/* 61 are registered and in use; what is between them has no phrase. */
START_TEST(unknown_phrases)
{
    static const int unused[] = {-1,  0,   1,   99,  199,  299,       306,
                                 418, 430, 512, 599, 1000, 2147483647};
    unsigned known = 0;
    for (int status = 100; status < 600; status++) {
        const char *phrase = restd_status_phrase(status);
        ck_assert(phrase[0] != '\0' && strpbrk(phrase, "\r\n") == NULL);
        known += strcmp(phrase, "Unknown") != 0;
    }
    ck_assert_uint_eq(known, 61);
    for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
        ck_assert_str_eq(restd_status_phrase(unused[i]), "Unknown");
    }
}
END_TEST

START_TEST(methods)
{
    ck_assert_str_eq(restd_method_name(RESTD_METHOD_GET), "GET");
    ck_assert_str_eq(restd_method_name(RESTD_METHOD_DELETE), "DELETE");
    ck_assert_str_eq(restd_method_name(RESTD_METHOD_PATCH), "PATCH");
    ck_assert_ptr_null(restd_method_name(RESTD_METHOD_OTHER));
    ck_assert_ptr_null(restd_method_name(RESTD_METHODS_N));
    for (int i = RESTD_METHOD_OTHER + 1; i < RESTD_METHODS_N; i++) {
        ck_assert_ptr_nonnull(restd_method_name((enum restd_method)i));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tables");
    TCase *tcase = tcase_create("tables");
    tcase_add_test(tcase, phrases);
    tcase_add_test(tcase, unknown_phrases);
    tcase_add_test(tcase, methods);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
