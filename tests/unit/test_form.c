/* SPDX-License-Identifier: MIT */
/* Form readers. Every case is read whole, cut in two at every octet, and octet
 * by octet; what comes out is written down as text,
 *
 *   [name|filename|type]content;
 *
 * where an absent slice is "-", and must be the same each time. */
#include <restd/form.h>

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/slice.h"
#include "support/suite.h"

#define URLENCODED "application/x-www-form-urlencoded"
#define MULTIPART "multipart/form-data; boundary=b"

struct record {
    size_t len;
    unsigned calls, fail_at; /* call that fails, from 1; 0: none */
    char text[8192];
};

static void add(struct record *r, const char *bytes, size_t len)
{
    ck_assert_uint_lt(r->len + len, sizeof(r->text));
    memcpy(r->text + r->len, bytes, len);
    r->len += len;
    r->text[r->len] = '\0';
}

static int answer(struct record *r)
{
    return ++r->calls == r->fail_at ? -77 : 1;
}

static void add_slice(struct record *r, struct restd_slice s)
{
    if (s.data == NULL) {
        add(r, "-", 1);
    } else {
        add(r, s.data, s.len);
    }
}

static int on_part(const struct restd_form_part *part, void *data)
{
    struct record *r = data;
    add(r, "[", 1);
    add_slice(r, part->name);
    add(r, "|", 1);
    add_slice(r, part->filename);
    add(r, "|", 1);
    add_slice(r, part->type);
    add(r, "]", 1);
    return answer(r);
}

static int on_content(const char *bytes, size_t len, void *data)
{
    ck_assert_uint_gt(len, 0);
    add(data, bytes, len);
    return answer(data);
}

static int on_end(void *data)
{
    add(data, ";", 1);
    return answer(data);
}

static const struct restd_form_ops ops = {sizeof(ops), on_part, on_content,
                                          on_end};

/* Feeds [0, cut) and [cut, len); `cut` above `len`: octet by octet. Each piece
 * is in memory of its own size, for the sanitizer. */
static int read_cut(struct record *r, const char *type, struct restd_slice body,
                    const struct restd_form_limits *limits, size_t cut)
{
    struct restd_form *form;
    r->len = 0;
    r->calls = 0;
    r->text[0] = '\0';
    int rc = restd_form_new(rd_slice_str(type), limits, &ops, r, &form);
    if (rc != 0) {
        return rc;
    }
    for (size_t at = 0; at < body.len && rc == 0;) {
        size_t n = cut > body.len ? 1 : at < cut ? cut : body.len - at;
        char *piece = rd_mem_alloc(n);
        memcpy(piece, body.data + at, n);
        rc = restd_form_feed(form, piece, n);
        rd_mem_free(piece);
        at += n;
    }
    if (rc != 0) {
        ck_assert_int_eq(restd_form_feed(form, "x", 1), rc);
    } else {
        rc = restd_form_finish(form);
        ck_assert_int_eq(restd_form_feed(form, "x", 1),
                         rc != 0 ? rc : RESTD_ESTATE);
    }
    ck_assert_int_eq(restd_form_finish(form), rc);
    restd_form_free(form);
    return rc;
}

static void check_case(const char *type, struct restd_slice body,
                       const struct restd_form_limits *limits, int expected,
                       const char *text)
{
    static struct record r;
    for (size_t cut = 0; cut <= body.len + 1; cut++) {
        int rc = read_cut(&r, type, body, limits, cut);
        ck_assert_msg(rc == expected && strcmp(r.text, text) == 0,
                      "'%.*s' cut at %zu: %d '%s'", (int)body.len, body.data,
                      cut, rc, r.text);
    }
    r.len = 0;
    r.text[0] = '\0';
    ck_assert_int_eq(
        restd_form_read(rd_slice_str(type), body, limits, &ops, &r), expected);
    ck_assert_str_eq(r.text, text);
}

static const struct {
    const char *body, *text;
} urlencoded[] = {
    {"", ""},
    {"&&", ""},
    {"a", "[a|-|-];"},
    {"a=", "[a|-|-];"},
    {"=", "[|-|-];"},
    {"=b", "[|-|-]b;"},
    {"a=b", "[a|-|-]b;"},
    {"&a=1&&b=2&", "[a|-|-]1;[b|-|-]2;"},
    {"a=b=c&d", "[a|-|-]b=c;[d|-|-];"},
    {"a+b=c+d", "[a b|-|-]c d;"},
    {"a%20b=%63%3D%26", "[a b|-|-]c=&;"},
    {"%3d=%3D", "[=|-|-]=;"},
    {"a=%&b=%4&c=%4g&%%41=%g", "[a|-|-]%;[b|-|-]%4;[c|-|-]%4g;[%A|-|-]%g;"},
    {"a=%4%41&%4=%", "[a|-|-]%4A;[%4|-|-]%;"},
    {"%", "[%|-|-];"},
    {"%=", "[%|-|-];"},
    {"a%4", "[a%4|-|-];"},
    {"a=%2541", "[a|-|-]%41;"},
    {"a=1;b=2", "[a|-|-]1;b=2;"},
    {"a=\xc3\xa9%c3%A9\r\n", "[a|-|-]\xc3\xa9\xc3\xa9\r\n;"},
};

START_TEST(urlencoded_fields)
{
    for (size_t i = 0; i < sizeof(urlencoded) / sizeof(urlencoded[0]); i++) {
        check_case(URLENCODED, rd_slice_str(urlencoded[i].body), NULL, 0,
                   urlencoded[i].text);
    }
}
END_TEST

#define FIELD(params) "Content-Disposition: form-data; " params "\r\n"
#define A FIELD("name=a")

static const struct {
    const char *body, *text;
} multipart[] = {
    {"--b--", ""},
    {"--b--\r\n", ""},
    {"--b--anything", ""},
    {"\r\n--b--\r\n", ""},
    {"preamble\r\n--b\r\n" A "\r\n1\r\n--b--\r\nepilogue\r\n--b\r\n",
     "[a|-|-]1;"},
    {"x--b--\r\n-\r\n--\r\n--a\r\n--b\r\n" A "\r\n1\r\n--b--", "[a|-|-]1;"},
    {"--b\r\n" A "\r\n1\r\n--b\r\n" FIELD("name=c") "\r\n2\r\n--b--\r\n",
     "[a|-|-]1;[c|-|-]2;"},
    {"--b \t\r\n" A "\r\n1\r\n--b\t\r\n" A "\r\n2\r\n--b--  \r\n",
     "[a|-|-]1;[a|-|-]2;"},
    /* No content: the delimiter's CRLF is there, or is the empty line's. */
    {"--b\r\n" A "\r\n\r\n--b--", "[a|-|-];"},
    {"--b\r\n" A "\r\n--b--", "[a|-|-];"},
    {"--b\r\n" A "\r\n--b\r\n" A "\r\n--b--", "[a|-|-];[a|-|-];"},
    /* Contents that look like delimiters. */
    {"--b\r\n" A "\r\n\r\n\r\n--b--", "[a|-|-]\r\n;"},
    {"--b\r\n" A "\r\n\r\r\n\n\r\n--b--", "[a|-|-]\r\r\n\n;"},
    {"--b\r\n" A "\r\n\r\r\r\n--b--", "[a|-|-]\r\r;"},
    {"--b\r\n" A "\r\n-\r\n-\r\n--\r\n--c\r\n--b--",
     "[a|-|-]-\r\n-\r\n--\r\n--c;"},
    {"--b\r\n" A "\r\n--a\r\n--b--", "[a|-|-]--a;"},
    {"--b\r\n" A "\r\n-b\n--b\n \r--b\r\n--\r\n--b--",
     "[a|-|-]-b\n--b\n \r--b\r\n--;"},
    {"--b\r\n" A "\r\n--b--", "[a|-|-];"},
    {"--b\r\n" A "\r\n--\r\n--b--", "[a|-|-]--;"},
    {"--b\r\n" A "\r\n\r\n--\r\n--b--", "[a|-|-]\r\n--;"},
    /* Headers. */
    {"--b\r\ncontent-disposition:FORM-DATA;NAME=a\r\n\r\n1\r\n--b--",
     "[a|-|-]1;"},
    {"--b\r\n" FIELD(
         "name=\"a\"; filename=\"f.txt\"") "Content-Type:  text/plain; "
                                           "charset=utf-8 \r\n\r\n1\r\n--b--",
     "[a|f.txt|text/plain; charset=utf-8]1;"},
    {"--b\r\nX-Other: 1\r\nContent-Type: a/b\r\n" FIELD(
         "filename=f; name=a") "Content-Transfer-Encoding: Binary\r\n\r\n1\r\n"
                               "--b--",
     "[a|f|a/b]1;"},
    {"--b\r\nContent-Type:\r\n" A "\r\n1\r\n--b--", "[a|-|]1;"},
    {"--b\r\n" FIELD("name=\"\"; filename=\"\"") "\r\n\r\n--b--", "[||-];"},
    {"--b\r\n" FIELD("name=\"a b;c\"; other=x; size=1") "\r\n1\r\n--b--",
     "[a b;c|-|-]1;"},
    /* Names as browsers and others write them. */
    {"--b\r\n" FIELD("name=a; filename=\"x%22y%22.txt\"") "\r\n1\r\n--b--",
     "[a|x\"y\".txt|-]1;"},
    {"--b\r\n" FIELD(
         "name=\"\\\"a\\\\\"; filename=\"x\\\"y\"") "\r\n1\r\n--b--",
     "[\"a\\|x\"y|-]1;"},
    {"--b\r\n" FIELD("name=a; filename=\"C:\\dir\\f.txt\"") "\r\n1\r\n--b--",
     "[a|C:\\dir\\f.txt|-]1;"},
    {"--b\r\n" FIELD("name=a; filename=\"../../etc/passwd\"") "\r\n1\r\n--b--",
     "[a|../../etc/passwd|-]1;"},
    {"--b\r\n" FIELD("name=a; filename=\"%41%0D%0A%2%22%2\"") "\r\n1\r\n--b--",
     "[a|%41%0D%0A%2\"%2|-]1;"},
    {"--b\r\n" FIELD("name=\"\xc3\xa9\"; filename=\"\xff\"") "\r\n1\r\n--b--",
     "[\xc3\xa9|\xff|-]1;"},
    {"--b\r\n" FIELD(
         "name=a; filename*=utf-8''%41; filename=f") "\r\n1\r\n--b--",
     "[a|f|-]1;"},
    {"--b\r\n" FIELD("name=a; filename*=utf-8''%41") "\r\n1\r\n--b--",
     "[a|-|-]1;"},
};

START_TEST(multipart_parts)
{
    for (size_t i = 0; i < sizeof(multipart) / sizeof(multipart[0]); i++) {
        check_case(MULTIPART, rd_slice_str(multipart[i].body), NULL, 0,
                   multipart[i].text);
    }
}
END_TEST

/* Each prefix of a good content is malformed, and gives a prefix of what it
 * would have given. */
START_TEST(multipart_cut_short)
{
    static struct record whole, cut;
    const char *body =
        "pre\r\n--b\r\n" A
        "\r\n12\r\n--b\r\n" FIELD("name=c; filename=f") "\r\n3\r\n-\r\n--b--";
    size_t len = strlen(body);
    ck_assert_int_eq(read_cut(&whole, MULTIPART, rd_slice(body, len), NULL, 0),
                     0);
    for (size_t n = 0; n < len; n++) {
        int rc = read_cut(&cut, MULTIPART, rd_slice(body, n), NULL, 0);
        ck_assert_int_eq(rc, RESTD_EINVAL);
        ck_assert_mem_eq(cut.text, whole.text, cut.len);
    }
}
END_TEST

static const struct {
    const char *body, *text;
} malformed[] = {
    {"", ""},
    {"a=b", ""},
    {"\n--b--", ""},
    {"--b-", ""},
    {"--b-x", ""},
    {"--bx\r\n" A "\r\n1\r\n--b--", ""},
    {"--b\n" A "\r\n1\r\n--b--", ""},
    {"--b\r" A "\r\n1\r\n--b--", ""},
    {"--b --", ""},
    {"--b\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n--b--", ""},
    {"--b\r\nContent-Type: a/b\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" A A "\r\n1\r\n--b--", ""},
    {"--b\r\n" A "Content-Type: a\r\nContent-Type: b\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" A "nocolon\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" A ": x\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" A "a b: x\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" A "a : x\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" A "X: 1\r\n folded\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" A "X: \x01\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" A "X: 1\nY: 2\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" A "X: 1\rY: 2\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" A "Content-Transfer-Encoding: base64\r\n\r\n1\r\n--b--", ""},
    {"--b\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--b--", ""},
    {"--b\r\nContent-Disposition: name=a\r\n\r\n1\r\n--b--", ""},
    {"--b\r\n" FIELD("filename=f") "\r\n1\r\n--b--", ""},
    {"--b\r\n" FIELD("name=a; name=b") "\r\n1\r\n--b--", ""},
    {"--b\r\n" FIELD("name=a; filename=\"\"; filename=g") "\r\n1\r\n--b--", ""},
    {"--b\r\n" FIELD("name=a; filename=\"f") "\r\n1\r\n--b--", ""},
    {"--b\r\n" FIELD("name=a b") "\r\n1\r\n--b--", ""},
    {"--b\r\n" FIELD("name=") "\r\n1\r\n--b--", ""},
    {"--b\r\n" A "\r\n1\r\n--b", "[a|-|-]1"},
    {"--b\r\n" A "\r\n1\r\n--b\r\n", "[a|-|-]1;"},
    {"--b\r\n" A "\r\n1\r\n--bc--", "[a|-|-]1"},
    {"--b\r\n" A "\r\n1\n--b--", "[a|-|-]1\n--b--"},
};

START_TEST(multipart_malformed)
{
    for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
        check_case(MULTIPART, rd_slice_str(malformed[i].body), NULL,
                   RESTD_EINVAL, malformed[i].text);
    }
    static const char nul[] = "--b\r\n" A "X: \0\r\n\r\n1\r\n--b--";
    check_case(MULTIPART, rd_slice(nul, sizeof(nul) - 1), NULL, RESTD_EINVAL,
               "");
}
END_TEST

#define B70                                                                    \
    "0123456789012345678901234567890123456789012345678901234567890123456789"

static const struct {
    const char *type;
    const char *boundary; /* NULL: refused */
} types[] = {
    {MULTIPART, "b"},
    {"Multipart/Form-Data ; x=y;Boundary=\"b\"; charset=utf-8", "b"},
    {"multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
     "----WebKitFormBoundary7MA4YWxkTrZu0gW"},
    {"multipart/form-data; boundary=\"a '()+_,-./:=?z\"", "a '()+_,-./:=?z"},
    {"multipart/form-data; boundary=" B70, B70},
    {"multipart/form-data; boundary=--", "--"},
    {"multipart/form-data; boundary=0" B70, NULL},
    {"multipart/form-data", NULL},
    {"multipart/form-data; boundary", NULL},
    {"multipart/form-data; boundary=", NULL},
    {"multipart/form-data; boundary=\"\"", NULL},
    {"multipart/form-data; boundary=\"a \"", NULL},
    {"multipart/form-data; boundary=\"a", NULL},
    {"multipart/form-data; boundary=a b", NULL},
    {"multipart/form-data; boundary=a; boundary=a", NULL},
    {"multipart/form-data; boundary=a; x", NULL},
    {"multipart/form-data; boundary=\"a\\b\"", NULL},
    {"multipart/form-data; boundary=\"a\xc3\xa9\"", NULL},
    {"multipart/form-data; boundary=a*b", NULL},
    {"multipart/form-data; boundary=\"a\tb\"", NULL},
    {"multipart/mixed; boundary=b", NULL},
    {"multipart/form-data2; boundary=b", NULL},
    {"text/plain", NULL},
    {"application/x-www-form-urlencodedx", NULL},
    {"", NULL},
};

START_TEST(content_types)
{
    static struct record r;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        char body[512] = "";
        const char *b = types[i].boundary;
        if (b != NULL) {
            snprintf(body, sizeof(body), "--%s\r\n" A "\r\n1\r\n--%s--", b, b);
        }
        int rc = read_cut(&r, types[i].type, rd_slice_str(body), NULL, 0);
        ck_assert_msg(rc == (b != NULL ? 0 : RESTD_EINVAL), "%s: %d",
                      types[i].type, rc);
        ck_assert_str_eq(r.text, b != NULL ? "[a|-|-]1;" : "");
    }
    ck_assert_int_eq(read_cut(&r, URLENCODED " ; charset=utf-8; x",
                              rd_slice_str("a=1"), NULL, 0),
                     0);
    ck_assert_str_eq(r.text, "[a|-|-]1;");
    struct restd_form *form;
    ck_assert_int_eq(restd_form_new(rd_slice(NULL, 0), NULL, &ops, &r, &form),
                     RESTD_EINVAL);
    restd_form_free(NULL);
}
END_TEST

START_TEST(limits)
{
    struct restd_form_limits l;
    restd_form_limits_init(&l);
    ck_assert_uint_eq(l.parts_max, 100);
    ck_assert_uint_eq(l.name_max_bytes, 256);
    ck_assert_uint_eq(l.field_max_bytes, 65536);
    l.parts_max = 2;
    l.name_max_bytes = 3;
    l.field_max_bytes = 4;
    check_case(URLENCODED, rd_slice_str("abc=1234&%41bc=%41%42%43%44"), &l, 0,
               "[abc|-|-]1234;[Abc|-|-]ABCD;");
    check_case(URLENCODED, rd_slice_str("abc=12345&d=1"), &l, RESTD_ELIMIT,
               "[abc|-|-]1234");
    check_case(URLENCODED, rd_slice_str("abcd=1"), &l, RESTD_ELIMIT, "");
    check_case(URLENCODED, rd_slice_str("a&b&c"), &l, RESTD_ELIMIT,
               "[a|-|-];[b|-|-];");
    check_case(MULTIPART,
               rd_slice_str("--b\r\n" FIELD("name=abc") //
                            "\r\n\r\n-4\r\n--b--"),
               &l, 0, "[abc|-|-]\r\n-4;");
    check_case(MULTIPART, rd_slice_str("--b\r\n" A "\r\n12345\r\n--b--"), &l,
               RESTD_ELIMIT, "[a|-|-]1234");
    check_case(MULTIPART, rd_slice_str("--b\r\n" A "\r\n12\r\n--c\r\n--b--"),
               &l, RESTD_ELIMIT, "[a|-|-]12\r\n");
    check_case(MULTIPART,
               rd_slice_str("--b\r\n" FIELD("name=abcd") "\r\n1\r\n--b--"), &l,
               RESTD_ELIMIT, "");
    check_case(
        MULTIPART,
        rd_slice_str("--b\r\n" FIELD("name=a; filename=abcd") "\r\n1\r\n--b--"),
        &l, RESTD_ELIMIT, "");
    check_case(MULTIPART,
               rd_slice_str("--b\r\n" FIELD(
                   "name=a; filename=abc") "\r\n1234567\r\n--b--"),
               &l, 0, "[a|abc|-]1234567;");
    check_case(MULTIPART,
               rd_slice_str("--b\r\n" A "\r\n1\r\n--b\r\n" A
                            "\r\n2\r\n--b\r\n" A "\r\n3\r\n--b--"),
               &l, RESTD_ELIMIT, "[a|-|-]1;[a|-|-]2;");
}
END_TEST

/* The block in the reader is full: of a name, of a value, of headers. */
START_TEST(block_sizes)
{
    static struct record r;
    static char body[16384];
    struct restd_form_limits l;
    restd_form_limits_init(&l);
    l.name_max_bytes = 0;
    l.field_max_bytes = 0;
    memset(body, 'x', sizeof(body));
    ck_assert_int_eq(read_cut(&r, URLENCODED, rd_slice(body, 4096), &l, 4097),
                     0);
    ck_assert_uint_eq(r.len, 4096 + strlen("[|-|-];"));
    ck_assert_int_eq(read_cut(&r, URLENCODED, rd_slice(body, 4097), &l, 5000),
                     RESTD_ELIMIT);
    body[1] = '=';
    for (size_t n = 4095; n < 4100; n++) {
        read_cut(&r, URLENCODED, rd_slice(body, 2 + n), &l, 3);
        ck_assert_uint_eq(r.len, n + strlen("[x|-|-];"));
    }
    for (size_t fill = 4000; fill < 4200; fill++) {
        size_t n = (size_t)snprintf(body, sizeof(body), "--b\r\n" A "X: ");
        size_t section = n - strlen("--b\r\n") + fill + 4;
        memset(body + n, 'x', fill);
        snprintf(body + n + fill, 100, "\r\n\r\n1\r\n--b--");
        int rc = read_cut(&r, MULTIPART, rd_slice_str(body), &l, 20);
        ck_assert_int_eq(rc, section <= 4096 ? 0 : RESTD_ELIMIT);
        ck_assert_str_eq(r.text, rc == 0 ? "[a|-|-]1;" : "");
    }
}
END_TEST

/* Whatever call-back fails, its result comes back and nothing follows it. */
START_TEST(failing_calls)
{
    static const struct {
        const char *type, *body;
    } forms[] = {
        {URLENCODED, "a=1&b=&c=3"},
        {MULTIPART, "--b\r\n" A "\r\n1\r\n--b\r\n" A "\r\n2\r\n-\r\n--b--"}};
    static struct record whole, r;
    for (size_t i = 0; i < 2; i++) {
        struct restd_slice body = rd_slice_str(forms[i].body);
        ck_assert_int_eq(read_cut(&whole, forms[i].type, body, NULL, 0), 0);
        unsigned calls = whole.calls;
        ck_assert_uint_ge(calls, 7);
        for (unsigned n = 1; n <= calls; n++) {
            r.fail_at = n;
            int rc = read_cut(&r, forms[i].type, body, NULL, 0);
            ck_assert_int_eq(rc, -77);
            ck_assert_uint_eq(r.calls, n);
            ck_assert_mem_eq(r.text, whole.text, r.len);
        }
    }
}
END_TEST

/* Structs of a caller that was built before fields were added. */
START_TEST(short_structs)
{
    static struct record r;
    struct restd_form_ops early = {offsetof(struct restd_form_ops, content),
                                   on_part, on_content, on_end};
    struct restd_form_limits few = {
        offsetof(struct restd_form_limits, name_max_bytes), 1, 1, 1};
    ck_assert_int_eq(restd_form_read(rd_slice_str(URLENCODED),
                                     rd_slice_str("abc=123"), &few, &early, &r),
                     0);
    ck_assert_str_eq(r.text, "[abc|-|-]");
    r.len = 0;
    ck_assert_int_eq(restd_form_read(rd_slice_str(URLENCODED),
                                     rd_slice_str("a&b"), &few, &early, &r),
                     RESTD_ELIMIT);
    restd_form_limits_init_size(&few, few.size);
    ck_assert_uint_eq(few.parts_max, 100);
    ck_assert_uint_eq(few.name_max_bytes, 1);
}
END_TEST

START_TEST(out_of_memory)
{
    struct restd_form *form = NULL;
    rd_mem_fail_nth(1);
    ck_assert_int_eq(
        restd_form_new(rd_slice_str(URLENCODED), NULL, &ops, NULL, &form),
        RESTD_ENOMEM);
    ck_assert_ptr_null(form);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("form");
    TCase *tcase = tcase_create("form");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, urlencoded_fields);
    tcase_add_test(tcase, multipart_parts);
    tcase_add_test(tcase, multipart_cut_short);
    tcase_add_test(tcase, multipart_malformed);
    tcase_add_test(tcase, content_types);
    tcase_add_test(tcase, limits);
    tcase_add_test(tcase, block_sizes);
    tcase_add_test(tcase, failing_calls);
    tcase_add_test(tcase, short_structs);
    tcase_add_test(tcase, out_of_memory);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
