/* SPDX-License-Identifier: MIT */
/* The chunked decoder: the bodies of the message table whole, cut in two at
 * every octet and octet by octet, in place and to another buffer; and its
 * limits. */
#include "codec/chunked.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "h1_messages.h"
#include "codec/h1_parser.h"
#include "support/suite.h"

#define BODY_MAX 16384
#define TRAILER_MAX 100

struct outcome {
    int rc;
    size_t used, made;
    char content[BODY_MAX];
};

/* Feeds the `pieces`, at most `step` octets each after the first of `first`.
 * With `in_place` a piece is decoded onto itself. */
static void decode(struct outcome *o, const char *body, size_t len,
                   size_t first, size_t step, int in_place)
{
    struct rd_chunked c;
    rd_chunked_init(&c, TRAILER_MAX);
    memset(o, 0, sizeof(*o));
    size_t piece = first;
    for (size_t at = 0; at < len && o->rc == 0; piece = step) {
        size_t n = piece < len - at ? piece : len - at;
        size_t used, made;
        /* One octet more, so that no piece is empty; exact otherwise. */
        char *in = rd_mem_alloc(n + 1);
        char *out = in_place ? in + 1 : rd_mem_alloc(n + 1);
        memcpy(in + 1, body + at, n);
        o->rc = rd_chunked_decode(&c, in + 1, n, out, &used, &made);
        if (used > n || made > used || (o->rc == 0 && used != n)) {
            ck_abort_msg("used %zu made %zu of %zu", used, made, n);
        }
        memcpy(o->content + o->made, out, made);
        o->made += made;
        o->used += used;
        at += n;
        rd_mem_free(in);
        if (!in_place) {
            rd_mem_free(out);
        }
    }
}

static void check_same(const struct outcome *a, const struct outcome *b,
                       const char *name, size_t cut)
{
    if (a->rc != b->rc || a->used != b->used || a->made != b->made ||
        memcmp(a->content, b->content, a->made) != 0) {
        ck_abort_msg("%s cut at %zu: %d used %zu made %zu, not %d %zu %zu",
                     name, cut, b->rc, b->used, b->made, a->rc, a->used,
                     a->made);
    }
}

static void check_all_cuts(const char *name, const char *body, size_t len,
                           const struct outcome *whole)
{
    static struct outcome o;
    for (int in_place = 0; in_place <= 1; in_place++) {
        for (size_t cut = 0; cut <= len; cut++) {
            decode(&o, body, len, cut, len, in_place);
            check_same(whole, &o, name, cut);
        }
        for (size_t step = 1; step <= 3; step++) {
            decode(&o, body, len, step, step, in_place);
            check_same(whole, &o, name, step);
        }
    }
}

static void check_message(const struct h1_message *m)
{
    static const char next[] = "GET /next HTTP/1.1\r\nHost: b\r\n\r\n";
    static struct outcome whole;
    char body[4096];
    const char *start = strstr(m->raw, "\r\n\r\n") + 4;
    size_t len = m->len - (size_t)(start - m->raw);
    memcpy(body, start, len);
    memcpy(body + len, next, sizeof(next) - 1);
    decode(&whole, body, len + sizeof(next) - 1, BODY_MAX, BODY_MAX, 0);
    if (m->body_status != 0) {
        ck_assert_msg(whole.rc == -m->body_status, "%s: %d", m->name, whole.rc);
        /* The fault lies in the message, not in what is behind it. */
        ck_assert_msg(whole.used < len, "%s: used %zu", m->name, whole.used);
    } else {
        ck_assert_msg(whole.rc == RD_CHUNKED_DONE, "%s: %d", m->name, whole.rc);
        ck_assert_msg(whole.used == len, "%s: used %zu", m->name, whole.used);
        ck_assert_msg(whole.made == strlen(m->body) &&
                          memcmp(whole.content, m->body, whole.made) == 0,
                      "%s: '%s'", m->name, whole.content);
    }
    check_all_cuts(m->name, body, len + sizeof(next) - 1, &whole);
}

START_TEST(table)
{
    unsigned n = 0;
    for (size_t i = 0; i < H1_MESSAGES_N; i++) {
        const struct h1_message *m = &h1_messages[i];
        if (m->status == 0 && strstr(m->head, " chunked ") != NULL) {
            check_message(m);
            n++;
        }
    }
    ck_assert_uint_gt(n, 50);
}
END_TEST

START_TEST(octets_kept)
{
    static struct outcome whole;
    char body[600];
    int n = snprintf(body, sizeof(body), "100\r\n");
    for (int i = 0; i < 256; i++) {
        body[n++] = (char)i;
    }
    n += snprintf(body + n, sizeof(body) - (size_t)n, "\r\n0\r\n\r\n");
    decode(&whole, body, (size_t)n, BODY_MAX, BODY_MAX, 0);
    ck_assert_int_eq(whole.rc, RD_CHUNKED_DONE);
    ck_assert_uint_eq(whole.made, 256);
    for (int i = 0; i < 256; i++) {
        ck_assert_int_eq((unsigned char)whole.content[i], i);
    }
    check_all_cuts("octets", body, (size_t)n, &whole);
}
END_TEST

/* "5" + `n` octets of extension + CRLF and the rest. */
static size_t with_extension(char *body, size_t n, int chunks)
{
    size_t at = 0;
    for (int i = 0; i < chunks; i++) {
        body[at++] = '1';
        body[at++] = ';';
        memset(body + at, 'e', n - 1);
        at += n - 1;
        memcpy(body + at, "\r\nx\r\n", 5);
        at += 5;
    }
    memcpy(body + at, "0\r\n\r\n", 5);
    return at + 5;
}

START_TEST(extension_limit)
{
    static struct outcome o;
    static char body[BODY_MAX];
    const size_t max = RD_CHUNKED_EXT_MAX;
    size_t len = with_extension(body, max, 1);
    decode(&o, body, len, BODY_MAX, BODY_MAX, 0);
    ck_assert_int_eq(o.rc, RD_CHUNKED_DONE);
    len = with_extension(body, max + 1, 1);
    decode(&o, body, len, BODY_MAX, BODY_MAX, 0);
    ck_assert_int_eq(o.rc, -400);
    /* They are counted over the whole message. */
    len = with_extension(body, max / 2, 2);
    decode(&o, body, len, BODY_MAX, BODY_MAX, 0);
    ck_assert_int_eq(o.rc, RD_CHUNKED_DONE);
    ck_assert_str_eq(o.content, "xx");
    len = with_extension(body, max / 2 + 1, 2);
    decode(&o, body, len, 7, 7, 1);
    ck_assert_int_eq(o.rc, -400);
}
END_TEST

START_TEST(trailer_limit)
{
    static struct outcome o;
    char body[256];
    for (int len = TRAILER_MAX; len <= TRAILER_MAX + 1; len++) {
        /* "X: " and CRLF twice: 10 octets beside the values. */
        int n = snprintf(body, sizeof(body), "0\r\nX: %060d\r\nX: %0*d\r\n\r\n",
                         1, len - 70, 2);
        decode(&o, body, (size_t)n, BODY_MAX, BODY_MAX, 0);
        ck_assert_int_eq(o.rc, len > TRAILER_MAX ? -431 : RD_CHUNKED_DONE);
        check_all_cuts("trailer", body, (size_t)n, &o);
    }
}
END_TEST

START_TEST(end_is_final)
{
    struct rd_chunked c;
    char out[8];
    size_t used, made;
    rd_chunked_init(&c, TRAILER_MAX);
    ck_assert_int_eq(
        rd_chunked_decode(&c, "0\r\n\r\nGET", 8, out, &used, &made),
        RD_CHUNKED_DONE);
    ck_assert_uint_eq(used, 5);
    ck_assert_int_eq(rd_chunked_decode(&c, "GET", 3, out, &used, &made),
                     RD_CHUNKED_DONE);
    ck_assert_uint_eq(used, 0);
    rd_chunked_init(&c, TRAILER_MAX);
    ck_assert_int_eq(rd_chunked_decode(&c, "z", 1, out, &used, &made), -400);
    ck_assert_int_eq(rd_chunked_decode(&c, "0\r\n\r\n", 5, out, &used, &made),
                     -400);
    ck_assert_uint_eq(used + made, 0);
}
END_TEST

/* A size of 16 digits is taken as it is; the content is simply never whole. */
START_TEST(huge_size)
{
    struct rd_chunked c;
    char out[32];
    size_t used, made;
    static const char body[] = "ffffffffffffffff\r\nabc";
    rd_chunked_init(&c, TRAILER_MAX);
    ck_assert_int_eq(
        rd_chunked_decode(&c, body, sizeof(body) - 1, out, &used, &made),
        RD_CHUNKED_MORE);
    ck_assert_uint_eq(made, 3);
    ck_assert(c.left == UINT64_MAX - 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chunked");
    TCase *tcase = tcase_create("chunked");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, table);
    tcase_add_test(tcase, octets_kept);
    tcase_add_test(tcase, extension_limit);
    tcase_add_test(tcase, trailer_limit);
    tcase_add_test(tcase, end_is_final);
    tcase_add_test(tcase, huge_size);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
