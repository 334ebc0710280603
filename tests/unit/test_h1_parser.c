/* SPDX-License-Identifier: MIT */
/* The request parser: the message table whole, cut at every octet and octet by
 * octet; limits; and the scans with SSE2 against those without. Every buffer
 * is a copy of exactly its length, so that the address sanitizer sees a read
 * past the input. */
#include "codec/h1_parser.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "h1_messages.h"
#include "codec/field.h"
#include "codec/h1_scan.h"
#include "support/suite.h"

#define FIELDS_MAX 100
#define TEXT_MAX 4096

static struct rd_h1_field fields[FIELDS_MAX];

static const struct rd_h1_limits defaults = {8192, 16384, FIELDS_MAX};

/* Parses an exact copy of [buf, buf + len). */
static int parse(struct rd_h1_head *head, const struct rd_h1_limits *limits,
                 const char *buf, size_t len)
{
    char *copy = rd_mem_alloc(len + 1);
    /* Behind one octet, so that len 0 has an address, too. */
    memcpy(copy + 1, buf, len);
    memset(head, 0xa5, sizeof(*head));
    head->fields = fields;
    int rc = rd_h1_parse(head, limits, copy + 1, len);
    rd_mem_free(copy);
    if (rc < 0 && head->error == NULL) {
        ck_abort_msg("status without text");
    }
    return rc;
}

static void add(char *text, const char *prefix, const char *data, size_t len)
{
    size_t used = strlen(text);
    ck_assert_uint_lt(used + strlen(prefix) + len, TEXT_MAX);
    snprintf(text + used, TEXT_MAX - used, "%s%.*s", prefix, (int)len, data);
}

static void add_span(char *text, const char *prefix, const char *buf,
                     struct rd_h1_span span)
{
    add(text, prefix, buf + span.off, span.len);
}

/* As h1_messages.h has it. */
static void describe(char *text, const struct rd_h1_head *h, const char *buf)
{
    static const char *const forms[] = {" origin ", " absolute ", " authority ",
                                        " asterisk "};
    static const struct {
        unsigned flag;
        const char *name;
    } flags[] = {
        {RD_H1_CLOSE, " close"},       {RD_H1_KEEP_ALIVE, " keep-alive"},
        {RD_H1_CHUNKED, " chunked"},   {RD_H1_LENGTH, " length"},
        {RD_H1_EXPECT_100, " expect"}, {RD_H1_EXPECT_OTHER, " expect-other"},
        {RD_H1_UPGRADE, " upgrade"},   {RD_H1_HOST, " host"},
        {RD_H1_PLAIN_PATH, " plain"},  {RD_H1_QUERY, " query"},
    };
    char number[32];
    const char *method = restd_method_name(h->number);
    text[0] = '\0';
    add(text, method != NULL ? method : "?", "", 0);
    add_span(text, forms[h->form], buf, h->path);
    if (h->flags & RD_H1_QUERY) {
        add_span(text, "?", buf, h->query);
    }
    add_span(text, " @", buf, h->authority);
    add(text, h->version_minor == 0 ? " 1.0" : " 1.1", "", 0);
    if (h->flags & RD_H1_LENGTH) {
        int n = snprintf(number, sizeof(number), "%llu",
                         (unsigned long long)h->content_length);
        add(text, " len=", number, (size_t)n);
    }
    unsigned known = 0;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        known |= flags[i].flag;
        add(text, h->flags & flags[i].flag ? flags[i].name : "", "", 0);
    }
    ck_assert_uint_eq(h->flags & ~known, 0);
}

static void describe_fields(char *text, const struct rd_h1_head *h,
                            const char *buf)
{
    text[0] = '\0';
    for (unsigned i = 0; i < h->fields_n; i++) {
        add_span(text, i > 0 ? "|" : "", buf, h->fields[i].name);
        add_span(text, "=", buf, h->fields[i].value);
    }
}

static void check_message(const struct h1_message *m)
{
    char text[TEXT_MAX];
    struct rd_h1_head head;
    int rc = parse(&head, &defaults, m->raw, m->len);
    if (m->status != 0) {
        ck_assert_msg(rc == -m->status, "%s: %d, not %d", m->name, rc,
                      -m->status);
        return;
    }
    ck_assert_msg(rc > 0, "%s: %d %s", m->name, rc, rc < 0 ? head.error : "");
    describe(text, &head, m->raw);
    ck_assert_msg(strcmp(text, m->head) == 0, "%s: '%s', not '%s'", m->name,
                  text, m->head);
    describe_fields(text, &head, m->raw);
    ck_assert_msg(strcmp(text, m->fields) == 0, "%s: '%s', not '%s'", m->name,
                  text, m->fields);
    ck_assert(memcmp(m->raw + rc - 4, "\r\n\r\n", 4) == 0);
    const char *target = memchr(m->raw, ' ', m->len);
    ck_assert_ptr_eq(m->raw + head.target.off, target + 1);
}

/* Every prefix asks for more or has the verdict of the whole; and one that is
 * bad stays bad octet by octet. */
static void check_cut(const struct h1_message *m)
{
    struct rd_h1_head head;
    int whole = parse(&head, &defaults, m->raw, m->len);
    int decided = 0;
    for (size_t len = 0; len <= m->len; len++) {
        int rc = parse(&head, &defaults, m->raw, len);
        if (whole > 0 && len >= (size_t)whole) {
            ck_assert_msg(rc == whole, "%s: %d at %zu", m->name, rc, len);
        } else if (whole > 0) {
            ck_assert_msg(rc == 0, "%s: %d at %zu", m->name, rc, len);
        } else {
            ck_assert_msg(rc == whole || (rc == 0 && !decided),
                          "%s: %d at %zu, whole %d", m->name, rc, len, whole);
            decided = rc != 0;
        }
    }
}

/* A head answers the same with another request behind it. */
static void check_pipelined(const struct h1_message *m)
{
    static const char next[] = "GET /next HTTP/1.1\r\nHost: b\r\n\r\n";
    struct rd_h1_head head;
    char buf[4096];
    int whole = parse(&head, &defaults, m->raw, m->len);
    memcpy(buf, m->raw, m->len);
    memcpy(buf + m->len, next, sizeof(next) - 1);
    int rc = parse(&head, &defaults, buf, m->len + sizeof(next) - 1);
    ck_assert_msg(rc == whole, "%s: %d, not %d", m->name, rc, whole);
}

START_TEST(table_message)
{
    for (size_t i = 0; i < H1_MESSAGES_N; i++) {
        check_message(&h1_messages[i]);
    }
}
END_TEST

START_TEST(table_cut)
{
    for (size_t i = 0; i < H1_MESSAGES_N; i++) {
        check_cut(&h1_messages[i]);
    }
}
END_TEST

START_TEST(table_pipelined)
{
    for (size_t i = 0; i < H1_MESSAGES_N; i++) {
        check_pipelined(&h1_messages[i]);
    }
}
END_TEST

/* A fault is reported with its octet, not at the end of the line. */
START_TEST(fault_at_once)
{
    static const struct {
        const char *text;
        size_t len;
    } starts[] = {
#define S(text) {text, sizeof(text) - 1}
        S("G\x01"),
        S("\r\r"),
        S("GET /\x7f"),
        S("GET /#"),
        S("GET /a\r"),
        S("GET / x"),
        S("GET / HTTP/x"),
        S("GET / HTTP/1.1\n"),
        S("GET / HTTP/1.1\r\n "),
        S("GET / HTTP/1.1\r\n:"),
        S("GET / HTTP/1.1\r\nHost "),
        S("GET / HTTP/1.1\r\nHost: \n"),
        S("GET / HTTP/1.1\r\nHost: a\0"),
        S("GET / HTTP/1.1\r\nHost: a\r\r"),
        S("GET / HTTP/1.1\r\nHost: a b\r\n"),
        S("GET / HTTP/1.1\r\n\r\n"),
        S("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
#undef S
    };
    struct rd_h1_head head;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        const char *text = starts[i].text;
        size_t len = starts[i].len;
        ck_assert_msg(parse(&head, &defaults, text, len - 1) == 0, "%zu", i);
        ck_assert_msg(parse(&head, &defaults, text, len) == -400, "%zu", i);
    }
}
END_TEST

static size_t put(char *buf, size_t at, const char *text)
{
    size_t len = strlen(text);
    memcpy(buf + at, text, len);
    return at + len;
}

/* A head with a target of `target` octets and a header section of `section`,
 * of which 7 are "Host:" and its CRLF. */
static size_t build(char *buf, size_t target, size_t section)
{
    size_t n = put(buf, 0, "GET /");
    memset(buf + n, 'a', target - 1);
    n = put(buf, n + target - 1, " HTTP/1.1\r\nHost:\r\n");
    if (section > 7) {
        n = put(buf, n, "X:");
        memset(buf + n, 'v', section - 11);
        n = put(buf, n + section - 11, "\r\n");
    }
    return put(buf, n, "\r\n");
}

/* Every prefix of a head that is too large: 0 up to some length, then the
 * status. */
static void check_prefixes(const struct rd_h1_limits *limits, const char *buf,
                           size_t len, int status)
{
    struct rd_h1_head head;
    int decided = 0;
    for (size_t i = 0; i <= len; i++) {
        int rc = parse(&head, limits, buf, i);
        ck_assert_msg(rc == -status || (rc == 0 && !decided), "%d at %zu", rc,
                      i);
        decided = rc != 0;
    }
    ck_assert(decided);
}

START_TEST(target_limit)
{
    const struct rd_h1_limits limits = {20, 100, FIELDS_MAX};
    struct rd_h1_head head;
    char buf[256];
    size_t len = build(buf, 20, 7);
    ck_assert_int_eq(parse(&head, &limits, buf, len), (int)len);
    len = build(buf, 21, 7);
    check_prefixes(&limits, buf, len, 414);
    /* As soon as it is known, in the middle of the line. */
    ck_assert_int_eq(parse(&head, &limits, buf, 4 + 20), 0);
    ck_assert_int_eq(parse(&head, &limits, buf, 4 + 21), -414);
}
END_TEST

START_TEST(header_limit)
{
    const struct rd_h1_limits limits = {20, 50, FIELDS_MAX};
    struct rd_h1_head head;
    char buf[256];
    size_t len = build(buf, 5, 50);
    ck_assert_int_eq(parse(&head, &limits, buf, len), (int)len);
    for (size_t section = 51; section < 56; section++) {
        len = build(buf, 5, section);
        check_prefixes(&limits, buf, len, 431);
    }
    /* A name or a value without end. */
    len = put(buf, 0, "GET / HTTP/1.1\r\n");
    memset(buf + len, 'a', 60);
    ck_assert_int_eq(parse(&head, &limits, buf, len + 60), -431);
    buf[len + 1] = ':';
    ck_assert_int_eq(parse(&head, &limits, buf, len + 60), -431);
    /* A fault before the limit counts, one behind it does not. */
    buf[len + 45] = '\n';
    ck_assert_int_eq(parse(&head, &limits, buf, len + 60), -400);
    buf[len + 45] = 'a';
    buf[len + 55] = '\n';
    check_prefixes(&limits, buf, len + 60, 431);
}
END_TEST

START_TEST(field_count_limit)
{
    const struct rd_h1_limits limits = {20, 100, 3};
    struct rd_h1_head head;
    static const char good[] =
        "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nX: 2\r\n\r\n";
    static const char bad[] =
        "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nX: 2\r\nX: 3\r\n\r\n";
    int len = (int)sizeof(good) - 1;
    ck_assert_int_eq(parse(&head, &limits, good, (size_t)len), len);
    ck_assert_uint_eq(head.fields_n, 3);
    check_prefixes(&limits, bad, sizeof(bad) - 1, 431);
}
END_TEST

START_TEST(no_limits)
{
    const struct rd_h1_limits limits = {UINT32_MAX, UINT32_MAX, FIELDS_MAX};
    static char buf[RD_H1_HEAD_MAX + 1000];
    struct rd_h1_head head;
    size_t other = strlen("GET  HTTP/1.1\r\n\r\n");
    size_t len = build(buf, 10, RD_H1_HEAD_MAX - other - 10);
    ck_assert_uint_eq(len, RD_H1_HEAD_MAX);
    ck_assert_int_eq(parse(&head, &limits, buf, len), (int)RD_H1_HEAD_MAX);
    /* One more octet, in either part. */
    len = build(buf, 10, RD_H1_HEAD_MAX - other - 9);
    ck_assert_int_eq(parse(&head, &limits, buf, len), -431);
    ck_assert_int_eq(parse(&head, &limits, buf, RD_H1_HEAD_MAX), 0);
    len = build(buf, RD_H1_HEAD_MAX, 7);
    ck_assert_int_eq(parse(&head, &limits, buf, len), -414);
    ck_assert_int_eq(parse(&head, &limits, buf, RD_H1_HEAD_MAX), 0);
}
END_TEST

/* ---- scans */

#define RUN 80

/* Everything that the two forms of a scan may differ in: each octet at each
 * place of runs of each length, at the floor and above it. */
static int scans_agree(const char *buf, size_t start, size_t len)
{
    const char *p = buf + start;
    const char *end = p + len;
    int fast = 0;
    int slow = 0;
    return rd_h1_scan_value(p, buf, end) == rd_h1_scan_value_scalar(p, end) &&
           rd_h1_scan_name(p, end) == rd_h1_scan_name_scalar(p, end) &&
           rd_h1_scan_target(p, buf, end, &fast) ==
               rd_h1_scan_target_scalar(p, end, &slow) &&
           fast == slow;
}

START_TEST(scans_by_octet)
{
    char buf[RUN];
    for (unsigned octet = 0; octet < 256; octet++) {
        int agree = 1;
        for (size_t len = 0; len <= 40; len++) {
            for (size_t at = 0; at < len; at++) {
                memset(buf, 'a', sizeof(buf));
                buf[at] = (char)octet;
                agree &= scans_agree(buf, 0, len);
                memset(buf, 'a', sizeof(buf));
                buf[at + 20] = (char)octet;
                agree &= scans_agree(buf, 20, len);
            }
        }
        ck_assert_msg(agree, "octet %u", octet);
    }
}
END_TEST

START_TEST(scans_at_random)
{
    static const char marks[] = "//..%?ab\t :#";
    unsigned seed = 1;
    char buf[RUN];
    for (unsigned round = 0; round < 200000; round++) {
        unsigned pick = sizeof(marks) - 1 - (round % 3) * 2;
        for (size_t i = 0; i < sizeof(buf); i++) {
            seed = seed * 1103515245u + 12345u;
            buf[i] = marks[(seed >> 16) % pick];
        }
        if (!scans_agree(buf, seed % 17, (seed >> 8) % (RUN - 16))) {
            ck_abort_msg("round %u", round);
        }
    }
}
END_TEST

/* The quick look at Host never takes what the grammar refuses. */
START_TEST(easy_host)
{
    static const char marks[] = "az09.-:::AZ_[%@\x80";
    unsigned seed = 1;
    unsigned easy = 0;
    char buf[RUN];
    for (unsigned round = 0; round < 200000; round++) {
        size_t len = round % 18;
        for (size_t i = 0; i < sizeof(buf); i++) {
            seed = seed * 1103515245u + 12345u;
            buf[i] = marks[(seed >> 16) % (sizeof(marks) - 1 - round % 12)];
        }
        if (rd_h1_is_easy_host(buf + 20, buf, buf + 20 + len)) {
            if (!rd_field_is_authority(rd_slice(buf + 20, len))) {
                ck_abort_msg("taken: %.*s", (int)len, buf + 20);
            }
            easy++;
        }
    }
    ck_assert(!RD_H1_SIMD || easy > 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("h1_parser");
    TCase *messages = tcase_create("messages");
    tcase_set_timeout(messages, 60);
    tcase_add_test(messages, table_message);
    tcase_add_test(messages, table_cut);
    tcase_add_test(messages, table_pipelined);
    tcase_add_test(messages, fault_at_once);
    suite_add_tcase(suite, messages);

    TCase *limits = tcase_create("limits");
    tcase_add_test(limits, target_limit);
    tcase_add_test(limits, header_limit);
    tcase_add_test(limits, field_count_limit);
    tcase_add_test(limits, no_limits);
    suite_add_tcase(suite, limits);

    TCase *scans = tcase_create("scans");
    tcase_set_timeout(scans, 60);
    tcase_add_test(scans, scans_by_octet);
    tcase_add_test(scans, scans_at_random);
    tcase_add_test(scans, easy_host);
    suite_add_tcase(suite, scans);

    return suite_run(suite);
}
