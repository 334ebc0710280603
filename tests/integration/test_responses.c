/* SPDX-License-Identifier: MIT */
/* Responses (restd/response.h) by real sockets: contents that stay where they
 * are, read slowly, at once by many, or not to their end; and what of a
 * response is replaced, added to and taken back. */
#include <restd/restd.h>

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "site.h"
#include "support/suite.h"

#define LARGE (4u * 1024 * 1024)
#define READERS 8

static struct client clients[READERS];
static struct client *const c = &clients[0];
static struct content r;
static struct restd_prepared *shared; /* LARGE bytes of the pattern */

/* Sizes around those that are copied, staged, and sent in one call. */
static const unsigned sizes[] = {0,     1,     4095,  4096,   4097,    8192,
                                 28000, 32768, 65536, 100000, 1000000, LARGE};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Made for this one response: its last reference goes with it. */
static int own_prepared(struct restd_response *response, size_t len)
{
    struct restd_fields *fields = NULL;
    struct restd_prepared *p = NULL;
    int rc = restd_fields_new(&fields);

    if (rc != 0) {
        return rc;
    }
    rc = restd_fields_add(fields, "Content-Type", "application/x-prepared");
    if (rc == 0) {
        rc = restd_fields_add(fields, "X-Prepared", "1");
    }
    if (rc == 0) {
        rc = restd_prepared_new(203, fields, pattern, len, &p);
    }
    restd_fields_free(fields);
    if (rc == 0) {
        rc = restd_response_prepared(response, p);
    }
    restd_prepared_unref(p);
    return rc;
}

static int content_handler(struct restd_request *request,
                           struct restd_response *response, void *data)
{
    size_t len = (size_t)query_number(request, "len", 0);
    struct restd_slice as = restd_request_query_get(request, "as");
    int rc = 0;
    (void)data;

    if (restd_slice_is(as, "own")) {
        rc = own_prepared(response, len);
    } else if (restd_slice_is(as, "shared")) {
        rc = restd_response_prepared(response, shared);
    } else if (restd_slice_is(as, "static")) {
        rc = restd_response_body_static(response, pattern, len);
    } else if (restd_slice_is(as, "borrowed")) {
        restd_response_body_borrowed(response, pattern, len);
    } else {
        rc = restd_response_body(response, pattern, len);
    }
    if (rc == 0 && query_has(request, "status")) {
        rc = restd_response_set_status(
            response, (int)query_number(request, "status", 200));
    }
    return rc != 0 ? rc : -(int)query_number(request, "fail", 0);
}

/* One content after the other: the last counts. */
static int replaced(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    int rc = own_prepared(response, 100000);
    rc |= restd_response_body_static(response, pattern, 50000);
    rc |= restd_response_body(response, pattern, 60000);
    rc |= own_prepared(response, 10);
    restd_response_body_borrowed(response, pattern, 70000);
    rc |= own_prepared(response, 5000);
    rc |= restd_response_set_status(response, 201);
    return rc | restd_response_set_type(response, "text/x-last");
}

/* Appends: the pattern goes on behind what was there. */
static int appended(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    uint64_t len = query_number(request, "len", 0);
    int rc = content_handler(request, response, data);

    /* No zero byte in a text: bytes 1 to 250 of a period. */
    char text[PERIOD];
    memcpy(text, pattern + 1, PERIOD - 1);
    text[PERIOD - 1] = '\0';
    return rc != 0             ? rc
           : len % PERIOD != 1 ? RESTD_ESTATE
                               : restd_response_printf(response, "%s", text);
}

static int edited(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    (void)data;
    int rc = restd_response_add_header(response, "X-A", "1");
    rc |= restd_response_add_header(response, "x-a", "2");
    rc |= restd_response_add_header(response, "X-AB", "3");
    rc |= restd_response_add_header(response, "X-B", "4");
    rc |= restd_response_add_header(response, "X-B", "5");
    if (!restd_slice_is(restd_response_header(response, "X-a"), "1") ||
        restd_response_header(response, "X-None").data ||
        restd_response_header(response, "Content-Type").data ||
        restd_response_set_header(response, "X-A", "a\nb") != RESTD_EINVAL ||
        restd_response_set_header(response, "Content-Length", "1") !=
            RESTD_EINVAL) {
        return RESTD_ESTATE;
    }
    rc |= restd_response_set_header(response, "X-A", "6");
    restd_response_remove_header(response, "x-b");
    restd_response_remove_header(response, "X-None");
    rc |= restd_response_set_header(response, "content-TYPE", "a/b");
    if (!restd_slice_is(restd_response_header(response, "content-type"),
                        "a/b")) {
        return RESTD_ESTATE;
    }
    if (query_has(request, "reset")) {
        restd_response_reset(response);
        rc |= restd_response_add_header(response, "X-Late", "7");
    }
    return rc;
}

static int redirect(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    static const int bad[] = {200, 300, 304, 305, 306, 309, 404};
    (void)data;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (restd_response_redirect(response, bad[i], "/x") != RESTD_ERANGE) {
            return RESTD_ESTATE;
        }
    }
    if (restd_response_redirect(response, 302, "/\r\nX: y") != RESTD_EINVAL ||
        restd_response_status(response) != 200) {
        return RESTD_ESTATE;
    }
    int rc = restd_response_redirect(response, 302, "/first");
    return rc != 0 ? rc
                   : restd_response_redirect(
                         response, (int)query_number(request, "status", 0),
                         "/there?a=b");
}

static int problem(struct restd_request *request,
                   struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    int rc = own_prepared(response, 100000);
    return rc != 0 ? rc
                   : restd_response_problem(response, 409, "\"quoted\"\r\n");
}

static void set_up(void)
{
    site_set_up();
    for (size_t i = 0; i < READERS; i++) {
        clients[i].fd = -1;
    }
    ck_assert_int_eq(restd_prepared_new(200, NULL, pattern, LARGE, &shared), 0);
}

static void start(void)
{
    site_new();
    (void)site_add("GET", "/content", content_handler, 0, 0);
    (void)site_add("POST", "/content", content_handler, 0, 0);
    (void)site_add("GET", "/replaced", replaced, 0, 0);
    (void)site_add("GET", "/appended", appended, 0, 0);
    (void)site_add("GET", "/edited", edited, 0, 0);
    (void)site_add("GET", "/redirect", redirect, 0, 0);
    (void)site_add("GET", "/problem", problem, 0, 0);
    site_start();
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
}

static void tear_down(void)
{
    for (size_t i = 0; i < READERS; i++) {
        client_close(&clients[i]);
    }
    site_tear_down();
    restd_prepared_unref(shared);
    restd_prepared_unref(NULL);
}

static int ask(const char *target)
{
    char text[256];
    snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", target);
    return content_ask(c, text, &r);
}

static int has(const char *line)
{
    char text[128];
    snprintf(text, sizeof(text), "\r\n%s\r\n", line);
    return strstr(r.head, text) != NULL;
}

static void check_content(uint64_t len)
{
    ck_assert(r.complete && r.length);
    ck_assert_uint_eq(r.len, len);
    ck_assert_uint_eq(r.bad, 0);
}

/* --- contents -------------------------------------------------------------- */

static const char *const kinds[] = {"own", "static", "borrowed", "copied"};

START_TEST(of_every_size_to_fast_and_slow_readers)
{
    start();
    for (int slow = 0; slow < 2; slow++) {
        client_close(c);
        ck_assert_int_eq(client_connect(c, site.port, slow ? 4096 : 0), 0);
        for (size_t i = 0; i < SIZES; i++) {
            char target[100];
            snprintf(target, sizeof(target), "/content?len=%u&as=%s", sizes[i],
                     kinds[_i]);
            ck_assert_int_eq(ask(target), _i == 0 ? 203 : 200);
            check_content(sizes[i]);
            ck_assert_int_eq(has("X-Prepared: 1"), _i == 0);
            ck_assert_int_eq(has("Content-Type: application/x-prepared"),
                             _i == 0);
            snprintf(target, sizeof(target),
                     "HEAD /content?len=%u&as=%s HTTP/1.1\r\nHost: x\r\n\r\n",
                     sizes[i], kinds[_i]);
            ck_assert_int_eq(content_ask(c, target, &r), _i == 0 ? 203 : 200);
            snprintf(target, sizeof(target), "Content-Length: %u", sizes[i]);
            ck_assert(has(target));
        }
    }
    if (_i < 2) {
        /* By reference: what waits is a chunk, however much it stands for. */
        ck_assert_uint_lt(site_memory("output", 1), 40000);
    }
    client_close(c);
}
END_TEST

START_TEST(pipelined_behind_each_other)
{
    static const unsigned lens[] = {100000, 5, 5000, 1000000, 0, 4096};
    char text[2048];
    size_t n = 0;

    start();
    client_close(c);
    ck_assert_int_eq(client_connect(c, site.port, 4096), 0);
    for (int i = 0; i < 24; i++) {
        n += (size_t)snprintf(
            text + n, sizeof(text) - n,
            "GET /content?len=%u&as=%s HTTP/1.1\r\nHost: x\r\n\r\n",
            lens[i % 6], kinds[i % 4]);
    }
    ck_assert_int_eq(client_say(c, text), 0);
    for (int i = 0; i < 24; i++) {
        ck_assert_int_gt(content_receive(c, &r, 0), 0);
        check_content(lens[i % 6]);
    }
    client_close(c);
}
END_TEST

static void *read_shared(void *data)
{
    struct client *own = data;
    struct content *content = calloc(1, sizeof(*content));
    int failed = content == NULL;

    for (int i = 0; i < 5 && !failed; i++) {
        failed = content_ask(own,
                             "GET /content?as=shared HTTP/1.1\r\n"
                             "Host: x\r\n\r\n",
                             content) != 200 ||
                 !content->complete || content->len != LARGE ||
                 content->bad != 0;
    }
    free(content);
    return failed ? data : NULL;
}

START_TEST(one_for_many_readers_on_several_loops)
{
    pthread_t threads[READERS];
    int failed = 0;

    site.options.workers = 2;
    start();
    client_close(c);
    for (int i = 0; i < READERS; i++) {
        ck_assert_int_eq(
            client_connect(&clients[i], site.port, i % 2 ? 8192 : 0), 0);
    }
    for (int i = 0; i < READERS; i++) {
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, read_shared, &clients[i]), 0);
    }
    for (int i = 0; i < READERS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        failed += result != NULL;
        client_close(&clients[i]);
    }
    ck_assert_int_eq(failed, 0);
    ck_assert_uint_lt(site_memory("output", 1), 300000);
}
END_TEST

/* A reference that is not given back is found by the leak check. */
START_TEST(not_read_to_their_end)
{
    start();
    client_close(c);
    for (int i = 0; i < 12; i++) {
        char text[100];
        char byte;
        ck_assert_int_eq(client_connect(c, site.port, 4096), 0);
        snprintf(text, sizeof(text),
                 "GET /content?len=%u&as=%s HTTP/1.1\r\nHost: x\r\n\r\n", LARGE,
                 kinds[i % 4]);
        for (int k = 0; k < 3; k++) {
            ck_assert_int_eq(client_say(c, text), 0);
        }
        ck_assert_int_eq(recv(c->fd, &byte, 1, 0), 1);
        client_reset(c);
        /* With too much memory held the next one would be closed. */
        EVENTUALLY(server_counters(site.server).active == 0);
    }
}
END_TEST

START_TEST(taken_back_by_an_error_or_a_status)
{
    start();
    for (size_t i = 0; i < 4; i++) {
        char target[100];
        snprintf(target, sizeof(target), "/content?len=100000&as=%s&fail=5",
                 kinds[i]);
        ck_assert_int_eq(ask(target), 500);
        ck_assert_ptr_nonnull(strstr(r.body, "\"status\":500"));
        ck_assert(!has("X-Prepared: 1"));
        ck_assert(has("Content-Type: application/problem+json"));
        snprintf(target, sizeof(target), "/content?len=100000&as=%s&status=204",
                 kinds[i]);
        ck_assert_int_eq(ask(target), 204);
        snprintf(target, sizeof(target), "/content?len=100000&as=%s&status=304",
                 kinds[i]);
        ck_assert_int_eq(ask(target), 304);
    }
    ck_assert_int_eq(ask("/content?len=5"), 200);
    check_content(5);
    client_close(c);
}
END_TEST

START_TEST(the_content_that_is_set_last_counts)
{
    start();
    ck_assert_int_eq(ask("/replaced"), 201);
    check_content(5000);
    ck_assert(has("Content-Type: text/x-last"));
    ck_assert_int_eq(ask("/problem"), 409);
    ck_assert_ptr_nonnull(strstr(r.body, "\"title\":\"Conflict\""));
    ck_assert_ptr_nonnull(strstr(r.body, "\\\"quoted\\\"\\r\\n"));
    ck_assert(has("Content-Type: application/problem+json"));
    client_close(c);
}
END_TEST

START_TEST(text_is_appended_to_any_content)
{
    /* Each ends in front of byte 1 of a period. */
    static const unsigned periods[] = {0, 1, 16, 17, 40, 400, 4000};
    start();
    for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
        for (int k = 0; k < 4; k++) {
            char target[100];
            unsigned len = periods[i] * PERIOD + 1;
            snprintf(target, sizeof(target), "/appended?len=%u&as=%s", len,
                     kinds[k]);
            ck_assert_int_eq(ask(target), k == 0 ? 203 : 200);
            check_content(len + PERIOD - 1);
        }
    }
    client_close(c);
}
END_TEST

/* --- fields ---------------------------------------------------------------- */

START_TEST(fields_are_set_added_and_removed)
{
    start();
    ck_assert_int_eq(ask("/edited"), 200);
    ck_assert(has("X-A: 6") && has("X-AB: 3") && has("Content-Type: a/b"));
    ck_assert(!has("X-A: 1") && !has("x-a: 2") && !has("X-B: 4"));
    ck_assert(!has("X-B: 5"));
    ck_assert_int_eq(ask("/edited?reset"), 200);
    ck_assert(has("X-Late: 7") && !has("X-A: 6") && !has("X-AB: 3"));
    ck_assert(!has("Content-Type: a/b"));
    client_close(c);
}
END_TEST

START_TEST(redirects)
{
    static const int statuses[] = {301, 302, 303, 307, 308};
    start();
    for (size_t i = 0; i < 5; i++) {
        char target[100];
        snprintf(target, sizeof(target), "/redirect?status=%d", statuses[i]);
        ck_assert_int_eq(ask(target), statuses[i]);
        ck_assert(has("Location: /there?a=b") && !has("Location: /first"));
        ck_assert_uint_eq(r.len, 0);
    }
    client_close(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("responses");
    TCase *tc = tcase_create("responses");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, of_every_size_to_fast_and_slow_readers, 0, 4);
    tcase_add_test(tc, pipelined_behind_each_other);
    tcase_add_test(tc, one_for_many_readers_on_several_loops);
    tcase_add_test(tc, not_read_to_their_end);
    tcase_add_test(tc, taken_back_by_an_error_or_a_status);
    tcase_add_test(tc, the_content_that_is_set_last_counts);
    tcase_add_test(tc, text_is_appended_to_any_content);
    tcase_add_test(tc, fields_are_set_added_and_removed);
    tcase_add_test(tc, redirects);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
