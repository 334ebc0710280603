/* SPDX-License-Identifier: MIT */
/* Cookie pairs, good ones and what must not hide them. */
#include "codec/cookie.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "support/suite.h"

static const struct {
    const char *field, *pairs; /* "<name>=<value>" with '|' behind each */
} cases[] = {
    {"", ""},
    {";", ""},
    {" ; ;", ""},
    {"a=b", "<a>=<b>|"},
    {"SID=31d4d96e407aad42; lang=en-US",
     "<SID>=<31d4d96e407aad42>|<lang>=<en-US>|"},
    {"a=1;b=2", "<a>=<1>|<b>=<2>|"},
    {" a = 1 ;\t b\t=\t2 ", "<a>=<1>|<b>=<2>|"},
    {"a=", "<a>=<>|"},
    {"a=; b=1", "<a>=<>|<b>=<1>|"},
    {"flag; a=1", "<a>=<1>|"},
    {"=x; a=1", "<a>=<1>|"},
    {" =x", ""},
    {"a=b=c", "<a>=<b=c>|"},
    {"a=\"b\"", "<a>=<b>|"},
    {"a=\"\"", "<a>=<>|"},
    {"a=\"", "<a>=<\">|"},
    {"a=\"b", "<a>=<\"b>|"},
    {"a=b\"", "<a>=<b\">|"},
    {"a=\"b;c\"; d=1", "<a>=<\"b>|<d>=<1>|"},
    {"a=\"b c\"", "<a>=<b c>|"},
    {"a=%41+b", "<a>=<%41+b>|"},
    {"a=1; a=2", "<a>=<1>|<a>=<2>|"},
    {"a b=1", "<a b>=<1>|"},
    {"a=1,b=2", "<a>=<1,b=2>|"},
    {"\xc3\xa9=\xc3\xa9", "<\xc3\xa9>=<\xc3\xa9>|"},
};

START_TEST(pairs)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct restd_slice field = rd_slice_str(cases[i].field);
        struct restd_slice name, value;
        char text[128] = "";
        size_t cursor = 0;
        while (rd_cookie_next(field, &cursor, &name, &value) == 0) {
            size_t n = strlen(text);
            snprintf(text + n, sizeof(text) - n, "<%.*s>=<%.*s>|",
                     (int)name.len, name.data, (int)value.len, value.data);
        }
        ck_assert_msg(strcmp(text, cases[i].pairs) == 0, "'%s': '%s'",
                      cases[i].field, text);
        ck_assert_int_eq(rd_cookie_next(field, &cursor, &name, &value),
                         RESTD_ENOENT);
    }
    struct restd_slice name, value;
    size_t cursor = 0;
    ck_assert_int_eq(rd_cookie_next(rd_slice(NULL, 0), &cursor, &name, &value),
                     RESTD_ENOENT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cookie");
    TCase *tcase = tcase_create("cookie");
    tcase_add_test(tcase, pairs);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
