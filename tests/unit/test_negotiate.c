/* SPDX-License-Identifier: MIT */
/* Accept-Encoding, Accept, and the parameters that both are made of. */
#include "codec/negotiate.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "codec/field.h"
#include "codec/param.h"
#include "support/suite.h"

enum { I = RD_CODING_IDENTITY, G = RD_CODING_GZIP, N = RD_CODING_NONE };

static const struct {
    const char *value;
    int best;
} codings[] = {
    {"", I},
    {"gzip", G},
    {"GZip", G},
    {"x-gzip", G},
    {"gzip, deflate, br", G},
    {"deflate, br;q=1.0, gzip;q=0.1", G},
    {"deflate, br", I},
    {"*", G},
    {"*;q=0.001", G},
    {"*;q=0", N},
    {"*;q=0, gzip", G},
    {"*;q=0, identity", I},
    {"*;q=0.5, gzip;q=0", I},
    {"gzip;q=0", I},
    {"gzip;q=0.000", I},
    {"gzip;q=0.001", G},
    {"gzip;q=1.000", G},
    {"gzip;q=0., *", I},
    {"gzip;q=1.", G},
    {"gzip;Q=0", I},
    {"gzip ; q=0", I},
    {"gzip;q=0.5, identity;q=0.5", G},
    {"gzip;q=0.5, identity;q=0.501", I},
    {"gzip;q=0.5, identity", I},
    {"gzip;q=0.2, *;q=0.8", I},
    {"identity;q=0", N},
    {"identity;q=0, gzip;q=0", N},
    {"identity;q=0, gzip;q=0.001", G},
    {"identity;q=0, *", G},
    {"identity;q=0.5, *;q=0", I},
    {"gzip;q=0, x-gzip", G},
    /* Ignored, the whole element. */
    {"gzip;q=1.001", I},
    {"gzip;q=0.1234", I},
    {"gzip;q=2", I},
    {"gzip;q=", I},
    {"gzip;q=-1", I},
    {"gzip;q=.5", I},
    {"gzip;q=1.5", I},
    {"gzip;q=0,5", I},
    {"gzip;q=0 .5", I},
    {"gzip;q =1", I},
    {"gzip;q= 1", I},
    {"gzip;q=\"1\"", I},
    {"gzip;q", I},
    {"gzip;level=5", I},
    {"gzip;level=5;q=1", I},
    {"gzip q=1", I},
    {"gzip;q=1 x", I},
    {"gzip2, agzip, gzi", I},
    {";q=0, *;q=x, identity;q=0;", N},
    {"gzip;q=oops, identity;q=0", N},
};

START_TEST(accept_encoding)
{
    for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++) {
        struct rd_accept_encoding a = {0};
        rd_accept_encoding_feed(&a, rd_slice_str(codings[i].value));
        int best = (int)rd_accept_encoding_best(&a);
        ck_assert_msg(best == codings[i].best, "'%s': %d", codings[i].value,
                      best);
    }
    struct rd_accept_encoding none = {0};
    ck_assert_int_eq(rd_accept_encoding_best(&none), I);
}
END_TEST

/* One line, or each element on a line of its own, in either order. */
START_TEST(accept_encoding_lines)
{
    for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++) {
        struct restd_slice rest = rd_slice_str(codings[i].value);
        struct restd_slice element[4];
        unsigned n = 0;
        while (n < 4 && rd_field_list_next(&rest, &element[n])) {
            n++;
        }
        struct rd_accept_encoding up = {0};
        struct rd_accept_encoding down = {0};
        for (unsigned k = 0; k < n; k++) {
            rd_accept_encoding_feed(&up, element[k]);
            rd_accept_encoding_feed(&down, element[n - 1 - k]);
        }
        ck_assert_int_eq(rd_accept_encoding_best(&up), codings[i].best);
        ck_assert_int_eq(rd_accept_encoding_best(&down), codings[i].best);
    }
}
END_TEST

static const char *const types[] = {
    "text/plain;version=0.0.4;charset=utf-8",
    "application/json",
    "text/html",
};

static const struct {
    const char *value;
    int best;
} ranges[] = {
    {"", 0},
    {"*/*", 0},
    {"text/plain", 0},
    {"application/json", 1},
    {"Application/JSON", 1},
    {"text/html", 2},
    {"text/*", 0},
    {"application/*", 1},
    {"image/png", -1},
    {"image/*, */*;q=0.1", 0},
    {"*/*;q=0", -1},
    {"*/*, text/plain;q=0", 1},
    {"text/*;q=0.5, */*;q=0.1", 0},
    {"text/*;q=0.5, */*;q=0.6", 1},
    {"text/html;q=0.7, text/*;q=0.3", 2},
    {"text/*, text/plain;q=0.2", 2},
    {"text/html, application/json;q=0.999, */*;q=0.8", 2},
    {"application/json;q=0, */*;q=0.5", 0},
    /* Parameters make a range more specific, and all have to be there. */
    {"text/plain;version=0.0.4;q=0.9, text/plain;q=1, text/html;q=0.95", 2},
    {"text/plain;version=0.0.5;q=0.9, text/html;q=0.5", 2},
    {"text/plain;charset=\"UTF-8\";version=\"0.0.4\"", 0},
    {"application/json;version=1", -1},
    {"application/openmetrics-text;version=1.0.0;q=0.5,"
     "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
     0},
    {"*/*;version=0.0.4, */*;q=0.1", 0},
    /* Extensions behind the weight mean nothing. */
    {"text/html;q=1;level=1, */*;q=0.1", 2},
    /* Ignored elements. */
    {"garbage", 0},
    {"garbage, text/html", 2},
    {"text/html;q=2, application/json;q=0.1", 1},
    {"text/html;q, application/json;q=0.1", 1},
    {"*/html", 0},
    {"text/, /html, /, *, text/html/x, text html", 0},
    {"text/html;a=\"x,text/plain\", application/json;q=0.1", 1},
    {"text/html;a=\"x, application/json", 0},
    {"text/htm, text/htmlx, tex/html;q=0.5", -1},
};

START_TEST(accept)
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        struct rd_accept a = {0};
        rd_accept_feed(&a, types, 3, rd_slice_str(ranges[i].value));
        int best = rd_accept_best(&a, 3);
        ck_assert_msg(best == ranges[i].best, "'%s': %d", ranges[i].value,
                      best);
    }
    struct rd_accept none = {0};
    ck_assert_int_eq(rd_accept_best(&none, 3), 0);
    ck_assert_int_eq(rd_accept_best(&none, 0), -1);
}
END_TEST

START_TEST(accept_lines)
{
    struct rd_accept a = {0};
    rd_accept_feed(&a, types, 3, rd_slice_str("*/*;q=0.1, text/html;q=0"));
    rd_accept_feed(&a, types, 3, rd_slice_str("application/*;q=0.2"));
    ck_assert_int_eq(rd_accept_best(&a, 3), 1);
    rd_accept_feed(&a, types, 3, rd_slice_str("text/html;q=0.3"));
    ck_assert_int_eq(rd_accept_best(&a, 3), 2);
}
END_TEST

static const struct {
    const char *value, *head, *params; /* '|' behind each, '!' at a fault */
} params[] = {
    {"a", "a", ""},
    {" a ", "a", ""},
    {"a;", "a", ""},
    {"a ; ; ", "a", ""},
    {"", "", ""},
    {";b=c", "", "b=c|"},
    {"a;b=c", "a", "b=c|"},
    {"a ;\tb=c ; d=\"e\"", "a", "b=c|d=\"e\"|"},
    {"a;;b=c", "a", "b=c|"},
    {"a;b=\"\"", "a", "b=\"\"|"},
    {"a;b=\";c=d\";e=f", "a", "b=\";c=d\"|e=f|"},
    {"a;b=\"\\\"\\\\\";c=d", "a", "b=\"\\\"\\\\\"|c=d|"},
    {"a;b=\"\xc3\xa9\t \"", "a", "b=\"\xc3\xa9\t \"|"},
    {"a;b=c d", "a", "b=c|!"},
    {"a;b=\"c\"d=e", "a", "b=\"c\"|!"},
    {"a;b", "a", "!"},
    {"a;b=", "a", "!"},
    {"a;=c", "a", "!"},
    {"a;b =c", "a", "!"},
    {"a;b= c", "a", "!"},
    {"a;b=c;d", "a", "b=c|!"},
    {"a;b=\"", "a", "!"},
    {"a;b=\"c", "a", "!"},
    {"a;b=\"c\\", "a", "!"},
    {"a;b=\"c\\\"", "a", "!"},
    {"a;b=\"c\x01\"", "a", "!"},
    {"a;b=\"\\\x7f\"", "a", "!"},
    {"a;b=\xc3\xa9", "a", "!"},
};

START_TEST(parameters)
{
    for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
        struct restd_slice rest = rd_slice_str(params[i].value);
        struct restd_slice head = rd_param_head(&rest);
        struct restd_slice name, value;
        char text[64] = "";
        size_t n = 0;
        int rc;
        while ((rc = rd_param_next(&rest, &name, &value)) > 0) {
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s=%.*s|",
                                  (int)name.len, name.data, (int)value.len,
                                  value.data);
        }
        snprintf(text + n, sizeof(text) - n, "%s", rc < 0 ? "!" : "");
        ck_assert_int_eq(rd_param_next(&rest, &name, &value), rc);
        ck_assert(rd_slice_eq(head, rd_slice_str(params[i].head)));
        ck_assert_msg(strcmp(text, params[i].params) == 0, "'%s': '%s'",
                      params[i].value, text);
    }
    ck_assert(rd_slice_eq(rd_param_bare(rd_slice_str("\"a\\\"\"")),
                          rd_slice_str("a\\\"")));
    ck_assert(rd_slice_eq(rd_param_bare(rd_slice_str("\"\"")), //
                          rd_slice_str("")));
    ck_assert(rd_slice_eq(rd_param_bare(rd_slice_str("a")), //
                          rd_slice_str("a")));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("negotiate");
    TCase *tcase = tcase_create("negotiate");
    tcase_add_test(tcase, accept_encoding);
    tcase_add_test(tcase, accept_encoding_lines);
    tcase_add_test(tcase, accept);
    tcase_add_test(tcase, accept_lines);
    tcase_add_test(tcase, parameters);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
