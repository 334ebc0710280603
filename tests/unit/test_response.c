/* SPDX-License-Identifier: MIT */
/* What a handler may set of a response and what it may not, the head that
 * comes of it, and contents that are larger than the stage. */
#include <restd/http.h>
#include <restd/stream.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/message.h"
#include "support/suite.h"

#define LIMIT (4u * 1024 * 1024)
#define STAGE 1000
#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

static struct rd_budget budget;
static struct rd_ledger ledger;
static struct rd_chunk_pool pool;
static struct restd_response response;
static char fields[RD_FIELDS_MAX];
static char stage[STAGE];
static char big[300000];

static void set_up(void)
{
    ck_assert_uint_eq(sizeof(DATE) - 1, RD_DATE_LINE_LEN);
    rd_budget_init(&budget, LIMIT, 1);
    rd_ledger_init(&ledger, &budget);
    rd_chunk_pool_init(&pool, &ledger);
    rd_response_init(&response, &pool, fields, stage, sizeof(stage));
    for (size_t i = 0; i < sizeof(big); i++) {
        big[i] = (char)('a' + i * 7 % 26);
    }
}

static void tear_down(void)
{
    restd_response_reset(&response);
    ck_assert_uint_eq(atomic_load(&ledger.live[RD_MEM_OUTPUT]), 0);
    rd_chunk_pool_fini(&pool);
}

static const char *head_of(int close, int keep_alive)
{
    static char text[RD_RESPONSE_HEAD_MAX + 1];
    struct rd_response_framing framing = {DATE, close, keep_alive, 0};
    memset(text, 0, sizeof(text));
    size_t n = rd_response_head(&response, &framing, text);
    ck_assert_uint_le(n, RD_RESPONSE_HEAD_MAX);
    ck_assert_uint_eq(strlen(text), n);
    return text;
}

/* The content as the driver would send it. */
static const char *body_of(size_t *len)
{
    static char body[sizeof(big) + STAGE];
    *len = restd_response_body_len(&response);
    ck_assert_uint_lt(*len, sizeof(body));
    memset(body, 0, sizeof(body));
    if (response.borrowed_len > 0) {
        ck_assert_uint_eq(response.stage_len + response.chain.len, 0);
        memcpy(body, response.borrowed, response.borrowed_len);
        return body;
    }
    memcpy(body, response.stage, response.stage_len);
    rd_chain_copy(&response.chain, body + response.stage_len);
    return body;
}

static void check_body(const char *want, size_t want_len)
{
    size_t len;
    const char *got = body_of(&len);
    ck_assert_uint_eq(len, want_len);
    ck_assert(memcmp(got, want, len) == 0);
}

START_TEST(status_range)
{
    static const int bad[] = {-1, 0, 1, 100, 101, 199, 600, 1000, 99999};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(restd_response_set_status(&response, bad[i]),
                         RESTD_ERANGE);
    }
    ck_assert_str_eq(head_of(0, 0),
                     "HTTP/1.1 200 OK\r\n" DATE "Content-Length: 0\r\n\r\n");
    for (int status = 200; status <= 599; status++) {
        char want[100];
        ck_assert_int_eq(restd_response_set_status(&response, status), 0);
        int n = snprintf(want, sizeof(want), "HTTP/1.1 %d %s\r\n", status,
                         restd_status_phrase(status));
        ck_assert(strncmp(head_of(0, 0), want, (size_t)n) == 0);
    }
}
END_TEST

START_TEST(heads)
{
    static const struct {
        int status, close, keep_alive;
        const char *type, *body, *want;
    } cases[] = {
        {200, 0, 0, NULL, "hi",
         "HTTP/1.1 200 OK\r\n" DATE "Content-Type: text/plain\r\n"
         "Content-Length: 2\r\nX-Y: z\r\n\r\n"},
        {200, 1, 1, "a/b; c=\"d\"", "hi",
         "HTTP/1.1 200 OK\r\n" DATE "Content-Type: a/b; c=\"d\"\r\n"
         "Content-Length: 2\r\nX-Y: z\r\nConnection: close\r\n\r\n"},
        {200, 0, 1, "a/b", "",
         "HTTP/1.1 200 OK\r\n" DATE "Content-Type: a/b\r\n"
         "Content-Length: 0\r\nX-Y: z\r\nConnection: keep-alive\r\n\r\n"},
        {204, 0, 0, NULL, "",
         "HTTP/1.1 204 No Content\r\n" DATE "X-Y: z\r\n\r\n"},
        {304, 0, 0, NULL, "",
         "HTTP/1.1 304 Not Modified\r\n" DATE "X-Y: z\r\n\r\n"},
        {404, 1, 0, NULL, "no\n",
         "HTTP/1.1 404 Not Found\r\n" DATE "Content-Type: text/plain\r\n"
         "Content-Length: 3\r\nX-Y: z\r\nConnection: close\r\n\r\n"},
        {503, 0, 0, NULL, "",
         "HTTP/1.1 503 Service Unavailable\r\n" DATE
         "Content-Length: 0\r\nX-Y: z\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        restd_response_reset(&response);
        ck_assert_int_eq(restd_response_set_status(&response, cases[i].status),
                         0);
        ck_assert_int_eq(restd_response_add_header(&response, "X-Y", "z"), 0);
        if (cases[i].type) {
            ck_assert_int_eq(restd_response_set_type(&response, cases[i].type),
                             0);
        }
        restd_response_body_borrowed(&response, cases[i].body,
                                     strlen(cases[i].body));
        ck_assert_str_eq(head_of(cases[i].close, cases[i].keep_alive),
                         cases[i].want);
    }
}
END_TEST

START_TEST(nothing_can_be_injected)
{
    static const char *const names[] = {
        "",    " ",   "a b",   "a:",    "a\r\nb",
        "a\n", "a\r", "\ta",   "a\x7f", "a\x80",
        "(a)", "a,b", "a\r\n", ":a",    "X-Y\r\nSet-Cookie",
        "{a}", "a=b",
    };
    static const char *const values[] = {
        "a\r\nb: c", "a\nb",    "a\rb",
        "\r\n",      "\n",      "a\x01",
        "a\x7f",     "\x1b[0m", "a\r\n\r\n<html>",
    };
    static const char *const fine[] = {"",        "a",     "a\tb",  "\xc3\xa4",
                                       "a, b; c", "\"x\"", "%0d%0a"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ck_assert_msg(restd_response_add_header(&response, names[i], "v") ==
                          RESTD_EINVAL,
                      "\"%s\"", names[i]);
    }
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        ck_assert_msg(restd_response_add_header(&response, "X-Y", values[i]) ==
                          RESTD_EINVAL,
                      "\"%s\"", values[i]);
        ck_assert_int_eq(
            restd_response_add_header(&response, "Content-Type", values[i]),
            RESTD_EINVAL);
        ck_assert_int_eq(restd_response_set_type(&response, values[i]),
                         RESTD_EINVAL);
    }
    ck_assert_str_eq(head_of(0, 0),
                     "HTTP/1.1 200 OK\r\n" DATE "Content-Length: 0\r\n\r\n");
    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
        ck_assert_msg(restd_response_add_header(&response, "X-Y", fine[i]) == 0,
                      "\"%s\"", fine[i]);
    }
}
END_TEST

START_TEST(own_fields_are_refused)
{
    static const char *const own[] = {"Content-Length",
                                      "content-length",
                                      "TRANSFER-ENCODING",
                                      "Transfer-Encoding",
                                      "Connection",
                                      "connection",
                                      "Date",
                                      "dATE"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        ck_assert_msg(restd_response_add_header(&response, own[i], "0") ==
                          RESTD_EINVAL,
                      "%s", own[i]);
    }
    ck_assert_uint_eq(response.fields.len, 0);
    ck_assert_int_eq(
        restd_response_add_header(&response, "Content-Lengths", "0"), 0);
    ck_assert_int_eq(restd_response_add_header(&response, "Dat", "0"), 0);
}
END_TEST

START_TEST(content_type_is_there_once)
{
    ck_assert_int_eq(restd_response_set_type(&response, "a/b"), 0);
    ck_assert_int_eq(
        restd_response_add_header(&response, "content-type", "c/d"), 0);
    ck_assert_str_eq(head_of(0, 0),
                     "HTTP/1.1 200 OK\r\n" DATE "Content-Type: c/d\r\n"
                     "Content-Length: 0\r\n\r\n");
}
END_TEST

START_TEST(type_length)
{
    char type[RD_TYPE_MAX + 2];
    memset(type, 't', sizeof(type));
    type[RD_TYPE_MAX + 1] = '\0';
    ck_assert_int_eq(restd_response_set_type(&response, type), RESTD_EINVAL);
    ck_assert_int_eq(restd_response_set_type(&response, ""), RESTD_EINVAL);
    type[RD_TYPE_MAX] = '\0';
    ck_assert_int_eq(restd_response_set_type(&response, type), 0);
    ck_assert_ptr_nonnull(strstr(head_of(0, 0), type));
}
END_TEST

START_TEST(fields_have_a_limit)
{
    char value[RD_FIELDS_MAX];
    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 5] = '\0';
    /* One byte too long, then exactly filling it. */
    ck_assert_int_eq(restd_response_add_header(&response, "XY", value),
                     RESTD_ELIMIT);
    ck_assert_int_eq(restd_response_add_header(&response, "X", value), 0);
    ck_assert_uint_eq(response.fields.len, RD_FIELDS_MAX);
    ck_assert_int_eq(restd_response_add_header(&response, "X", ""),
                     RESTD_ELIMIT);
    /* With everything else at its longest the head still fits. */
    memset(value, 't', RD_TYPE_MAX);
    value[RD_TYPE_MAX] = '\0';
    ck_assert_int_eq(restd_response_set_type(&response, value), 0);
    ck_assert_int_eq(restd_response_set_status(&response, 511), 0);
    response.borrowed = "";
    response.borrowed_len = SIZE_MAX;
    (void)head_of(1, 0);
    (void)head_of(0, 1);
}
END_TEST

START_TEST(sets_of_fields)
{
    struct restd_fields *set = NULL;
    char value[RD_FIELDS_MAX];

    ck_assert_int_eq(restd_fields_new(&set), 0);
    ck_assert_int_eq(restd_response_add_fields(&response, set), 0);
    ck_assert_int_eq(restd_fields_add(set, "Date", "now"), RESTD_EINVAL);
    ck_assert_int_eq(restd_fields_add(set, "A", "a\r\nb: c"), RESTD_EINVAL);
    ck_assert_int_eq(restd_fields_add(set, "A", "1"), 0);
    ck_assert_int_eq(restd_fields_add(set, "Content-Type", "c/d"), 0);
    ck_assert_int_eq(restd_fields_add(set, "B", "2"), 0);
    ck_assert_int_eq(restd_response_add_header(&response, "X", "0"), 0);
    ck_assert_int_eq(restd_response_add_fields(&response, set), 0);
    ck_assert_int_eq(restd_response_add_fields(&response, set), 0);
    ck_assert_str_eq(head_of(0, 0),
                     "HTTP/1.1 200 OK\r\n" DATE "Content-Type: c/d\r\n"
                     "Content-Length: 0\r\nX: 0\r\nA: 1\r\nB: 2\r\n"
                     "A: 1\r\nB: 2\r\n\r\n");
    /* Too large for what is left: nothing of it is added. */
    memset(value, 'v', sizeof(value));
    value[RD_FIELDS_MAX - 100] = '\0';
    ck_assert_int_eq(restd_fields_add(set, "C", value), 0);
    restd_response_reset(&response);
    ck_assert_int_eq(
        restd_response_add_header(&response, "X", value + 4000 - 100), 0);
    size_t before = response.fields.len;
    ck_assert_int_eq(restd_response_add_fields(&response, set), RESTD_ELIMIT);
    ck_assert_uint_eq(response.fields.len, before);
    ck_assert_uint_eq(response.fields.type_len, 0);
    restd_fields_free(set);
    restd_fields_free(NULL);
}
END_TEST

START_TEST(bodies_of_every_size)
{
    static const size_t sizes[] = {0,         1,    STAGE - 1,  STAGE,
                                   STAGE + 1, 3000, sizeof(big)};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        ck_assert_int_eq(restd_response_body(&response, big, sizes[i]), 0);
        check_body(big, sizes[i]);
        ck_assert_int_eq(response.chain.len > 0, sizes[i] > STAGE);
    }
    /* The last call counts. */
    ck_assert_int_eq(restd_response_body(&response, "x", 1), 0);
    check_body("x", 1);
    ck_assert_uint_eq(atomic_load(&ledger.live[RD_MEM_OUTPUT]), 0);
}
END_TEST

START_TEST(body_may_be_nothing)
{
    ck_assert_int_eq(restd_response_body(&response, "abc", 3), 0);
    ck_assert_int_eq(restd_response_body(&response, NULL, 0), 0);
    check_body("", 0);
    restd_response_body_borrowed(&response, NULL, 0);
    check_body("", 0);
}
END_TEST

START_TEST(printf_appends)
{
    char want[40000];
    size_t n = 0;
    for (int i = 0; i < 2000; i++) {
        ck_assert_int_eq(restd_response_printf(&response, "%d,%s;", i, "abc"),
                         0);
        n += (size_t)snprintf(want + n, sizeof(want) - n, "%d,abc;", i);
    }
    check_body(want, n);
    ck_assert_int_eq(restd_response_printf(&response, "%s", ""), 0);
    check_body(want, n);
}
END_TEST

START_TEST(printf_after_others)
{
    ck_assert_int_eq(restd_response_body(&response, "ab", 2), 0);
    ck_assert_int_eq(restd_response_printf(&response, "%c", 'c'), 0);
    check_body("abc", 3);
    restd_response_body_borrowed(&response, "de", 2);
    ck_assert_int_eq(restd_response_printf(&response, "%c", 'f'), 0);
    check_body("def", 3);
    /* A borrowed one that the stage does not hold. */
    restd_response_body_borrowed(&response, big, sizeof(big) - 1);
    ck_assert_int_eq(
        restd_response_printf(&response, "%c", big[sizeof(big) - 1]), 0);
    check_body(big, sizeof(big));
}
END_TEST

START_TEST(json_and_its_type)
{
    struct restd_json json;
    char text[8];
    restd_json_init(&json, text, sizeof(text));
    restd_json_array_begin(&json);
    restd_json_int(&json, 12);
    restd_json_array_end(&json);
    ck_assert_int_eq(restd_response_json(&response, &json), 0);
    ck_assert_uint_eq(restd_response_body_len(&response), 4);
    ck_assert(restd_slice_is(restd_response_header(&response, "Content-Type"),
                             "application/json"));
    restd_json_string(&json, "too long", 8);
    ck_assert_int_eq(restd_response_json(&response, &json), RESTD_ELIMIT);
    ck_assert_uint_eq(restd_response_body_len(&response), 4);
}
END_TEST

START_TEST(printf_length)
{
    big[16385] = '\0';
    ck_assert_int_eq(restd_response_printf(&response, "%s", big), RESTD_ELIMIT);
    check_body("", 0);
    for (size_t i = 1023; i <= 1025; i++) {
        ck_assert_int_eq(restd_response_printf(&response, "%.*s", (int)i, big),
                         0);
        check_body(big, i);
        restd_response_reset(&response);
    }
    ck_assert_int_eq(restd_response_printf(&response, "%s", big + 1), 0);
    check_body(big + 1, 16384);
}
END_TEST

START_TEST(without_memory)
{
    rd_budget_init(&budget, 8192, 1);
    rd_ledger_init(&ledger, &budget);
    ck_assert_int_eq(restd_response_body(&response, big, sizeof(big)),
                     RESTD_ENOMEM);
    /* No half a content is left behind. */
    check_body("", 0);
    ck_assert_int_eq(restd_response_body(&response, big, 5000), 0);
    check_body(big, 5000);
    int rc = 0;
    for (int i = 0; i < 20 && rc == 0; i++) {
        rc = restd_response_printf(&response, "%0900d", i);
    }
    ck_assert_int_eq(rc, RESTD_ENOMEM);
    restd_response_body_borrowed(&response, big, sizeof(big));
    check_body(big, sizeof(big));
}
END_TEST

START_TEST(problems)
{
    static const struct {
        int status;
        const char *detail, *want;
    } cases[] = {
        {404, NULL,
         "{\"type\":\"about:blank\",\"title\":\"Not Found\","
         "\"status\":404}\n"},
        {503, "no \"room\"\n",
         "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\","
         "\"status\":503,\"detail\":\"no \\\"room\\\"\\n\"}\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_int_eq(
            restd_response_problem(&response, cases[i].status, cases[i].detail),
            0);
        check_body(cases[i].want, strlen(cases[i].want));
        ck_assert_ptr_nonnull(strstr(
            head_of(0, 0), "\r\nContent-Type: application/problem+json\r\n"));
    }
    ck_assert_int_eq(restd_response_problem(&response, 99, NULL), RESTD_ERANGE);
}
END_TEST

START_TEST(the_longest_problem_fits)
{
    char detail[2000];
    /* Six bytes each when escaped. */
    memset(detail, '\x01', sizeof(detail));
    detail[sizeof(detail) - 1] = '\0';
    ck_assert_int_eq(restd_response_problem(&response, 511, detail), 0);
    size_t len;
    const char *body = body_of(&len);
    ck_assert_uint_gt(len, 2);
    ck_assert_str_eq(body + len - 2, "}\n");
}
END_TEST

START_TEST(reset_takes_everything_back)
{
    ck_assert_int_eq(restd_response_set_status(&response, 404), 0);
    ck_assert_int_eq(restd_response_add_header(&response, "X", "y"), 0);
    ck_assert_int_eq(restd_response_set_type(&response, "a/b"), 0);
    ck_assert_int_eq(restd_response_body(&response, big, sizeof(big)), 0);
    restd_response_reset(&response);
    ck_assert_str_eq(head_of(0, 0),
                     "HTTP/1.1 200 OK\r\n" DATE "Content-Length: 0\r\n\r\n");
    ck_assert_uint_eq(atomic_load(&ledger.live[RD_MEM_OUTPUT]), 0);
}
END_TEST

/* --- fields against a list ------------------------------------------------ */

#define LINES 64

static struct line {
    char name[8], value[8];
} lines[LINES], kept[LINES];
static int lines_n, kept_n;

static int same_name(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}

static void model_remove(const char *name)
{
    int n = 0;
    for (int i = 0; i < lines_n; i++) {
        if (!same_name(lines[i].name, name)) {
            lines[n++] = lines[i];
        }
    }
    lines_n = n;
}

static void model_add(const char *name, const char *value)
{
    struct line *line = &lines[lines_n++];
    snprintf(line->name, sizeof(line->name), "%s", name);
    snprintf(line->value, sizeof(line->value), "%s", value);
}

static void check_lines(const char *name)
{
    char want[2048];
    size_t n = (size_t)snprintf(
        want, sizeof(want), "HTTP/1.1 200 OK\r\n" DATE "Content-Length: 0\r\n");
    const char *first = NULL;
    for (int i = 0; i < lines_n; i++) {
        n += (size_t)snprintf(want + n, sizeof(want) - n, "%s: %s\r\n",
                              lines[i].name, lines[i].value);
        if (!first && same_name(lines[i].name, name)) {
            first = lines[i].value;
        }
    }
    snprintf(want + n, sizeof(want) - n, "\r\n");
    ck_assert_str_eq(head_of(0, 0), want);
    struct restd_slice got = restd_response_header(&response, name);
    ck_assert_int_eq(got.data == NULL, first == NULL);
    if (first) {
        ck_assert(restd_slice_is(got, first));
    }
}

START_TEST(fields_against_a_list)
{
    static const char *const names[] = {"A", "a", "AB", "B", "Ba", "a-b"};
    unsigned seed = (unsigned)_i + 1;

    static char presets[RD_FIELDS_MAX];

    lines_n = 0;
    kept_n = 0;
    for (int round = 0; round < 5000; round++) {
        const char *name = names[rand_r(&seed) % 6];
        char value[8];
        snprintf(value, sizeof(value), "%d", rand_r(&seed) % 1000);
        switch (rand_r(&seed) % (lines_n > 40 ? 3 : 6)) {
        case 0:
            restd_response_remove_header(&response, name);
            model_remove(name);
            break;
        case 1:
            /* What stands now is from `before` functions, or: back to it. */
            if (rand_r(&seed) % 3 == 0) {
                memcpy(presets, response.fields.text, response.fields.len);
                response.fields.kept = presets;
                response.fields.kept_len = response.fields.len;
                memcpy(kept, lines, sizeof(lines));
                kept_n = lines_n;
            } else {
                restd_response_reset(&response);
                memcpy(lines, kept, sizeof(lines));
                lines_n = kept_n;
            }
            break;
        case 2:
            ck_assert_int_eq(restd_response_set_header(&response, name, value),
                             0);
            model_remove(name);
            model_add(name, value);
            break;
        default:
            ck_assert_int_eq(restd_response_add_header(&response, name, value),
                             0);
            model_add(name, value);
        }
        check_lines(name);
    }
}
END_TEST

START_TEST(setting_what_is_refused_changes_nothing)
{
    char value[RD_FIELDS_MAX];

    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    ck_assert_int_eq(restd_response_add_header(&response, "A", "1"), 0);
    ck_assert_int_eq(restd_response_set_header(&response, "A", value),
                     RESTD_ELIMIT);
    ck_assert_int_eq(restd_response_set_header(&response, "A", "\n"),
                     RESTD_EINVAL);
    ck_assert_int_eq(restd_response_set_header(&response, "Date", "1"),
                     RESTD_EINVAL);
    ck_assert(restd_slice_is(restd_response_header(&response, "a"), "1"));
    ck_assert_int_eq(restd_response_set_type(&response, "a/b"), 0);
    ck_assert(restd_slice_is(restd_response_header(&response, "content-type"),
                             "a/b"));
    restd_response_remove_header(&response, "CONTENT-type");
    ck_assert_ptr_null(restd_response_header(&response, "content-type").data);
}
END_TEST

/* --- contents that stay where they are --------------------------------------- */

START_TEST(a_constant_is_referred_to)
{
    ck_assert_int_eq(restd_response_body_static(&response, big, sizeof(big)),
                     0);
    check_body(big, sizeof(big));
    ck_assert_ptr_eq(response.chain.head->ref.data, big);
    ck_assert_uint_eq(atomic_load(&ledger.live[RD_MEM_OUTPUT]), RD_CHUNK_BYTES);
    ck_assert_int_eq(restd_response_body_static(&response, big, 5), 0);
    check_body(big, 5);
    ck_assert_int_eq(restd_response_body_static(&response, NULL, 0), 0);
    check_body("", 0);
    ck_assert_uint_eq(atomic_load(&ledger.live[RD_MEM_OUTPUT]), 0);
}
END_TEST

START_TEST(a_prepared_one_is_held_as_long_as_it_is_needed)
{
    struct restd_prepared *p = NULL;
    static char own[6000];

    memcpy(own, big, sizeof(own));
    ck_assert_int_eq(restd_prepared_new(201, NULL, own, sizeof(own), &p), 0);
    memset(own, 'x', sizeof(own)); /* it has a copy */
    ck_assert_int_eq(restd_response_prepared(&response, p), 0);
    ck_assert_int_eq(restd_response_prepared(&response, p), 0);
    restd_prepared_unref(p);
    ck_assert_int_eq(restd_response_status(&response), 201);
    check_body(big, sizeof(own));
    restd_prepared_unref(restd_prepared_ref(p));
    check_body(big, sizeof(own));
    restd_response_reset(&response); /* the last reference: see the sanitizer */
    check_body("", 0);
}
END_TEST

START_TEST(prepared_ones_that_cannot_be)
{
    static const int bad[] = {-1, 0, 100, 199, 600};
    struct restd_prepared *p = NULL;
    struct restd_fields *set = NULL;
    char value[RD_FIELDS_MAX];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(restd_prepared_new(bad[i], NULL, "", 0, &p),
                         RESTD_ERANGE);
    }
    memset(value, 'v', sizeof(value));
    value[3000] = '\0';
    ck_assert_int_eq(restd_fields_new(&set), 0);
    ck_assert_int_eq(restd_fields_add(set, "A", value), 0);
    ck_assert_int_eq(restd_prepared_new(200, set, big, 5000, &p), 0);
    restd_fields_free(set);
    ck_assert_int_eq(restd_response_prepared(&response, p), 0);
    ck_assert_uint_eq(restd_response_header(&response, "a").len, 3000);
    /* Its fields a second time have no room. */
    ck_assert_int_eq(restd_response_prepared(&response, p), RESTD_ELIMIT);
    restd_response_reset(&response);
    /* The budget has no room for the reference. */
    rd_chunk_pool_fini(&pool);
    rd_budget_init(&budget, 1, 1);
    rd_ledger_init(&ledger, &budget);
    rd_chunk_pool_init(&pool, &ledger);
    ck_assert_int_eq(restd_response_prepared(&response, p), RESTD_ENOMEM);
    restd_response_reset(&response);
    ck_assert_int_eq(restd_response_body_static(&response, big, 5000),
                     RESTD_ENOMEM);
    check_body("", 0);
    restd_prepared_unref(p);
}
END_TEST

START_TEST(redirects)
{
    ck_assert_int_eq(restd_response_redirect(&response, 300, "/"),
                     RESTD_ERANGE);
    ck_assert_int_eq(restd_response_redirect(&response, 304, "/"),
                     RESTD_ERANGE);
    ck_assert_int_eq(restd_response_redirect(&response, 302, "/\r\n"),
                     RESTD_EINVAL);
    ck_assert_int_eq(restd_response_status(&response), 200);
    ck_assert_int_eq(restd_response_redirect(&response, 308, "/a"), 0);
    ck_assert_int_eq(restd_response_redirect(&response, 303, "/b"), 0);
    ck_assert_str_eq(head_of(0, 0),
                     "HTTP/1.1 303 See Other\r\n" DATE "Content-Length: 0\r\n"
                     "Location: /b\r\n\r\n");
}
END_TEST

START_TEST(no_stream_without_a_request)
{
    ck_assert_int_eq(restd_response_stream(&response, NULL, NULL, NULL),
                     RESTD_ESTATE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("response");
    TCase *tc = tcase_create("response");
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, status_range);
    tcase_add_test(tc, heads);
    tcase_add_test(tc, nothing_can_be_injected);
    tcase_add_test(tc, own_fields_are_refused);
    tcase_add_test(tc, content_type_is_there_once);
    tcase_add_test(tc, type_length);
    tcase_add_test(tc, fields_have_a_limit);
    tcase_add_test(tc, sets_of_fields);
    tcase_add_test(tc, bodies_of_every_size);
    tcase_add_test(tc, body_may_be_nothing);
    tcase_add_test(tc, printf_appends);
    tcase_add_test(tc, printf_after_others);
    tcase_add_test(tc, json_and_its_type);
    tcase_add_test(tc, printf_length);
    tcase_add_test(tc, without_memory);
    tcase_add_test(tc, problems);
    tcase_add_test(tc, the_longest_problem_fits);
    tcase_add_test(tc, reset_takes_everything_back);
    tcase_add_loop_test(tc, fields_against_a_list, 0, 3);
    tcase_add_test(tc, setting_what_is_refused_changes_nothing);
    tcase_add_test(tc, a_constant_is_referred_to);
    tcase_add_test(tc, a_prepared_one_is_held_as_long_as_it_is_needed);
    tcase_add_test(tc, prepared_ones_that_cannot_be);
    tcase_add_test(tc, redirects);
    tcase_add_test(tc, no_stream_without_a_request);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
