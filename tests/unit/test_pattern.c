/* SPDX-License-Identifier: MIT */
/* Patterns: what their segments are, what is refused and in which words, what
 * each kind takes, their order; the limits of regexes. */
#include "route/pattern.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "support/suite.h"

enum { EXACT = RESTD_ROUTER_EXACT, PREFIX = RESTD_ROUTER_PREFIX };

static const char *const kinds[] = {"text", "regex",    "uuid", "int",
                                    "slug", "variable", "rest", "any"};

/* "text(a) int<name> regex<name>(source)", or "! " and the error. */
static const char *parse(const char *text, int mode, int base)
{
    static char out[1024];
    struct restd_error error = {0, 0, ""};
    struct rd_pattern *p = NULL;
    int n = 0;
    int rc =
        rd_pattern_new(text, (enum restd_router_mode)mode, base, &p, &error);
    if (rc != 0) {
        ck_assert_int_eq(rc, RESTD_EINVAL);
        ck_assert_int_eq(error.code, rc);
        ck_assert_ptr_null(p);
        snprintf(out, sizeof(out), "! %s", error.message);
        return out;
    }
    ck_assert_str_eq(p->text, text);
    ck_assert_uint_ge(rd_pattern_bytes(p), sizeof(*p));
    out[0] = '\0';
    for (unsigned i = 0; i < p->n; i++) {
        const struct rd_segment *s = &p->segments[i];
        n += snprintf(out + n, sizeof(out) - (size_t)n, "%s%s", i ? " " : "",
                      kinds[s->kind]);
        if (s->name.len > 0) {
            n += snprintf(out + n, sizeof(out) - (size_t)n, "<%.*s>",
                          (int)s->name.len, s->name.data);
        }
        if (s->text.data) {
            n += snprintf(out + n, sizeof(out) - (size_t)n, "(%.*s)",
                          (int)s->text.len, s->text.data);
        }
    }
    rd_pattern_free(p);
    return out;
}

static const struct {
    const char *text;
    int mode, base;
    const char *want; /* or "! " and what the error begins with */
} patterns[] = {
    {"/", EXACT, 0, "text()"},
    {"/a", EXACT, 0, "text(a)"},
    {"/a//b/", EXACT, 0, "text(a) text() text(b) text()"},
    {"/\xc3\xa4", EXACT, 0, "text(\xc3\xa4)"},
    {"/{a}", EXACT, 0, "variable<a>"},
    {"/{\xc3\xa4-_1}", EXACT, 0, "variable<\xc3\xa4-_1>"},
    {"/{}/{}", EXACT, 0, "variable variable"},
    {"/{a:int}/{b:uuid}/{c:slug}", EXACT, 0, "int<a> uuid<b> slug<c>"},
    {"/{:int}", EXACT, 0, "int"},
    {"/{a:integer}", EXACT, 0, "regex<a>(integer)"},
    {"/{a:[0-9]{3}}", EXACT, 0, "regex<a>([0-9]{3})"},
    {"/{a:[0-9]{3}}/b", EXACT, 0, "regex<a>([0-9]{3}) text(b)"},
    {"/{a:(x{1,2}|y{3})}", EXACT, 0, "regex<a>((x{1,2}|y{3}))"},
    {"/{a:[}]}", EXACT, 0, "regex<a>([}])"},
    {"/{a:[]}]}", EXACT, 0, "regex<a>([]}])"},
    {"/{a:[^]{]}", EXACT, 0, "regex<a>([^]{])"},
    {"/{a:[\\]}]}", EXACT, 0, "regex<a>([\\]}])"},
    {"/{a:[[:alpha:]}]}", EXACT, 0, "regex<a>([[:alpha:]}])"},
    {"/{a:\\}}", EXACT, 0, "regex<a>(\\})"},
    {"/{a:\\{x}", EXACT, 0, "regex<a>(\\{x)"},
    {"/{:a:b}", EXACT, 0, "regex(a:b)"},
    {"/{a:x...}", EXACT, 0, "regex<a>(x...)"},
    {"/{a:}", EXACT, 0, "regex<a>()"},
    {"/x/{a...}", EXACT, 0, "text(x) rest<a>"},
    {"/x/{a...}", PREFIX, 0, "text(x) rest<a>"},
    {"//a///b", PREFIX, 0, "text(a) text(b)"},
    {"/a//", PREFIX, 0, "text(a) any"},
    {"/", PREFIX, 0, "any"},
    {"/{a}/{a}", PREFIX, 0, "variable<a> variable<a>"},
    {"", EXACT, 1, ""},
    {"/", EXACT, 1, ""},
    {"/", PREFIX, 1, ""},
    {"/a/{b:int}", EXACT, 1, "text(a) int<b>"},

    {"", EXACT, 0, "! pattern must begin with '/'"},
    {"a", EXACT, 0, "! pattern must begin with '/'"},
    {"a", EXACT, 1, "! pattern must begin with '/'"},
    {"/a/", EXACT, 1, "! a base must not end with '/'"},
    {"/a/", PREFIX, 1, "! a base must not end with '/'"},
    {"/{a...}", EXACT, 1, "! a base cannot have {name...}"},
    {"/{a...}/b", EXACT, 0, "! {name...} must be the last segment"},
    {"/{a...}/", PREFIX, 0, "! {name...} must be the last segment"},
    {"/{...}", EXACT, 0, "! a name is of letters"},
    {"/{a.b}", EXACT, 0, "! a name is of letters"},
    {"/{a b}", EXACT, 0, "! a name is of letters"},
    {"/{a}}", EXACT, 0, "! segment must be text or {name}"},
    {"/{{a}}", EXACT, 0, "! a name is of letters"},
    {"/{a}{b}", EXACT, 0, "! segment must be text or {name}"},
    {"/{a}x", EXACT, 0, "! segment must be text or {name}"},
    {"/x{a}", EXACT, 0, "! segment must be text or {name}"},
    {"/{a", EXACT, 0, "! segment must be text or {name}"},
    {"/{a/b}", EXACT, 0, "! a name is of letters"},
    {"/{a:[}", EXACT, 0, "! segment must be text or {name}"},
    {"/{a:\\}", EXACT, 0, "! segment must be text or {name}"},
    {"/{a:{}", EXACT, 0, "! segment must be text or {name}"},
    {"/{a}/{a}", EXACT, 0, "! two segments of one name"},
    {"/a%20b", EXACT, 0, "! text of a segment is written decoded, without '%'"},
    {"/a?b", EXACT, 0, "! text of a segment is written decoded, without '?'"},
    {"/a#b", EXACT, 0, "! text of a segment is written decoded, without '#'"},
    {"/a b", EXACT, 0, "! text of a segment has the byte 0x20"},
    {"/a\tb", EXACT, 0, "! text of a segment has the byte 0x09"},
    {"/a\x7f", EXACT, 0, "! text of a segment has the byte 0x7f"},
    {"/.", EXACT, 0, "! no path has a segment of dots"},
    {"/../a", PREFIX, 0, "! no path has a segment of dots"},
    {"/{a:x/y}", EXACT, 0, "! a regex sees one segment"},
    {"/{a:[^/]+}", EXACT, 0, "! a regex sees one segment"},
    {"/{a:(}", EXACT, 0,
     "! regex \"(\": missing closing parenthesis at offset 1"},
    {"/{a:x(?<n}", EXACT, 0, "! regex \"x(?<n\": "},
    {"/{a:(*UTF)x}", EXACT, 0, "! regex \"(*UTF)x\": "},
    {"/{a:\\C}", EXACT, 0, "! regex \"\\C\": "},
};

START_TEST(segments_and_errors)
{
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        const char *got =
            parse(patterns[i].text, patterns[i].mode, patterns[i].base);
        int same =
            patterns[i].want[0] == '!'
                ? strncmp(got, patterns[i].want, strlen(patterns[i].want)) == 0
                : strcmp(got, patterns[i].want) == 0;
        ck_assert_msg(same, "%s: %s, not %s", patterns[i].text, got,
                      patterns[i].want);
    }
}
END_TEST

START_TEST(limits)
{
    char text[2048] = "";
    size_t n = 0;
    for (int i = 0; i < RD_PARAMS_MAX; i++) {
        n += (size_t)snprintf(text + n, sizeof(text) - n, "/{p%d}", i);
    }
    ck_assert_ptr_nonnull(strstr(parse(text, EXACT, 0), "<p15>"));
    snprintf(text + n, sizeof(text) - n, "/{}/{q}");
    ck_assert_int_eq(strncmp(parse(text, EXACT, 0), "! more than 16 names", 20),
                     0);
    snprintf(text + n, sizeof(text) - n, "/{p0}");
    ck_assert_ptr_nonnull(strstr(parse(text, PREFIX, 0), "<p15>"));
    for (n = 0; n < 2 * RD_URI_SEGMENTS_MAX; n += 2) {
        memcpy(text + n, "/a", 3);
    }
    ck_assert_int_eq(strncmp(parse(text, EXACT, 0), "text(a)", 7), 0);
    memcpy(text + n, "/", 2);
    ck_assert_int_eq(strncmp(parse(text, EXACT, 0), "! more than 64 seg", 18),
                     0);
    ck_assert_int_eq(strncmp(parse(text, PREFIX, 0), "! more than 64 seg", 18),
                     0);
    /* Slashes that do not count. */
    memset(text, '/', 500);
    text[500] = '\0';
    ck_assert_str_eq(parse(text, PREFIX, 0), "any");
    ck_assert_int_eq(strncmp(parse(text, EXACT, 0), "! more than 64 seg", 18),
                     0);
}
END_TEST

static struct rd_regex_work *work;

static void set_up(void)
{
    ck_assert_int_eq(rd_regex_work_new(&work), 0);
}

static void tear_down(void)
{
    rd_regex_work_free(work);
}

static const struct {
    const char *pattern, *value;
    int fits;
} values[] = {
    {"/{:int}", "0", 1},
    {"/{:int}", "-1", 1},
    {"/{:int}", "1234567890123456789", 1},
    {"/{:int}", "-1234567890123456789", 1},
    {"/{:int}", "12345678901234567890", 0},
    {"/{:int}", "", 0},
    {"/{:int}", "-", 0},
    {"/{:int}", "+1", 0},
    {"/{:int}", "--1", 0},
    {"/{:int}", "1a", 0},
    {"/{:int}", "1-", 0},
    {"/{:uuid}", "01234567-89ab-cdef-ABCD-EF0123456789", 1},
    {"/{:uuid}", "01234567-89ab-cdef-ABCD-EF012345678", 0},
    {"/{:uuid}", "01234567-89ab-cdef-ABCD-EF01234567890", 0},
    {"/{:uuid}", "0123456789ab-cdef-ABCD-EF0123456789-", 0},
    {"/{:uuid}", "01234567-89ab-cdef-ABCD-EF012345678g", 0},
    {"/{:uuid}", "01234567+89ab+cdef+ABCD+EF0123456789", 0},
    {"/{:uuid}", "", 0},
    {"/{:slug}", "aZ09-_.~", 1},
    {"/{:slug}", "", 0},
    {"/{:slug}", "a b", 0},
    {"/{:slug}", "a+", 0},
    {"/{:slug}", "\xc3\xa4", 0},
    {"/{:slug}", "@", 0},
    {"/{:slug}", "[", 0},
    {"/{v}", "x y", 1},
    {"/{v}", "", 0},
    {"/{v...}", "", 1},
    {"/{:a|ab}", "ab", 1},
    {"/{:a|ab}", "abc", 0},
    {"/{:b}", "ab", 0},
    {"/{:a$}", "a\n", 0},
    {"/{:[a-z]+}", "abc", 1},
    {"/{:[a-z]+}", "abC", 0},
    {"/{:(?i)[a-z]+}", "abC", 1},
    {"/{:(a)(b)\\d}", "ab1", 1},
    {"/{:(?<n>a)\\k<n>}", "aa", 1},
    {"/{:}", "", 1},
    {"/{:}", "a", 0},
    {"/{:.}", "\xc3\xa4", 0},
    {"/{:..}", "\xc3\xa4", 1},
    {"/a", "a", 1},
    {"/a", "A", 0},
    {"/a", "", 0},
};

START_TEST(what_fits)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct rd_pattern *p;
        ck_assert_int_eq(
            rd_pattern_new(values[i].pattern, RESTD_ROUTER_EXACT, 0, &p, NULL),
            0);
        int got =
            rd_segment_fits(p->segments, rd_slice_str(values[i].value), work);
        ck_assert_msg(got == values[i].fits, "%s %s: %d", values[i].pattern,
                      values[i].value, got);
        rd_pattern_free(p);
    }
    ck_assert_uint_eq(work->limited, 0);
}
END_TEST

START_TEST(order_by_kind_then_text)
{
    /* Each is more specific than those behind it, whatever its name. */
    static const char *const order[] = {
        "/",      "/a/b",     "/a/{n}",    "/b",       "/{n:a}/b",
        "/{n:b}", "/{n:b}/c", "/{n:uuid}", "/{n:int}", "/{n:slug}",
        "/{n}",   "/{n}/{m}", "/{n...}"};
    enum { N = sizeof(order) / sizeof(order[0]) };
    struct rd_pattern *p[N];
    struct rd_pattern *other;
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(
            rd_pattern_new(order[i], RESTD_ROUTER_EXACT, 0, &p[i], NULL), 0);
    }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            int got = rd_pattern_compare(p[i], p[k]);
            ck_assert_msg(i < k    ? got < 0
                          : i == k ? got == 0
                                   : got > 0,
                          "%s %s: %d", order[i], order[k], got);
        }
    }
    ck_assert_int_eq(
        rd_pattern_new("/{x}/{y}", RESTD_ROUTER_EXACT, 0, &other, NULL), 0);
    ck_assert_int_eq(rd_pattern_compare(other, p[N - 2]), 0);
    rd_pattern_free(other);
    for (int i = 0; i < N; i++) {
        rd_pattern_free(p[i]);
    }
}
END_TEST

/* Exponential, deep, and wide: no match, in bounded time and memory, and none
 * is allocated. */
START_TEST(regex_limits)
{
    static const char *const bombs[] = {"(?:a+)+b", "(?:a|a)*b", "(?:a|b|c)*",
                                        "((a*)*)*b"};
    char subject[4001];
    memset(subject, 'a', sizeof(subject));
    subject[3999] = 'b';
    subject[4000] = '!';
    for (size_t i = 0; i < sizeof(bombs) / sizeof(bombs[0]); i++) {
        struct rd_regex *regex;
        uint64_t limited = work->limited;
        ck_assert_int_eq(rd_regex_new(rd_slice_str(bombs[i]), &regex, NULL), 0);
        ck_assert_uint_gt(rd_regex_bytes(regex), 0);
        rd_mem_fail_nth(0);
        int got = rd_regex_match(regex, rd_slice(subject, 4001), work);
        ck_assert_uint_eq(rd_mem_calls(), 0);
        ck_assert_msg(!got, "%s", bombs[i]);
        ck_assert_msg(work->limited == limited + 1, "%s", bombs[i]);
        rd_regex_free(regex);
    }
    /* It goes on as before. */
    struct rd_regex *regex;
    ck_assert_int_eq(rd_regex_new(rd_slice_str("a+"), &regex, NULL), 0);
    ck_assert_int_eq(rd_regex_match(regex, rd_slice(subject, 3999), work), 1);
    rd_regex_free(regex);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    struct restd_error error;
    for (unsigned n = 1;; n++) {
        struct rd_pattern *p = NULL;
        struct rd_regex_work *w = NULL;
        rd_mem_fail_nth(n);
        int rc = rd_pattern_new("/a/{b:(?<x>[0-9]{3})|c}/{d}",
                                RESTD_ROUTER_EXACT, 0, &p, &error);
        if (rc == 0) {
            rc = rd_regex_work_new(&w);
        }
        unsigned calls = rd_mem_calls();
        rd_mem_fail_nth(0);
        rd_pattern_free(p);
        rd_regex_work_free(w);
        ck_assert_int_eq(rc, calls < n ? 0 : RESTD_ENOMEM);
        if (calls < n) {
            ck_assert_uint_gt(n, 8);
            break;
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pattern");
    TCase *tc = tcase_create("pattern");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, segments_and_errors);
    tcase_add_test(tc, limits);
    tcase_add_test(tc, what_fits);
    tcase_add_test(tc, order_by_kind_then_text);
    tcase_add_test(tc, regex_limits);
    tcase_add_test(tc, every_allocation_may_fail);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
