/* SPDX-License-Identifier: MIT */
/* What restd/request.h promises, by real sockets: every function says the same
 * of a request that is handled at once and of one that is promoted. */
#include <restd/restd.h>

#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "site.h"
#include "support/folder.h"
#include "support/suite.h"

static struct client clients[2];
static struct client *const c = &clients[0];
static struct content r;
static atomic_ullong turns[4];
static atomic_int turns_n;
static atomic_llong time_ms;

static int put(struct restd_response *response, const char *name,
               struct restd_slice s)
{
    return s.data ? restd_response_printf(response, "%s=%.*s\n", name,
                                          (int)s.len, s.data)
                  : restd_response_printf(response, "%s absent\n", name);
}

static int put_pair(struct restd_response *response, const char *what,
                    struct restd_slice name, struct restd_slice value)
{
    return restd_response_printf(response, "%s %.*s=%.*s\n", what,
                                 (int)name.len, name.data, (int)value.len,
                                 value.data);
}

static int put_lists(struct restd_request *request,
                     struct restd_response *response)
{
    struct restd_slice name;
    struct restd_slice value;
    size_t at = 0;
    unsigned cursor = 0;
    int rc = 0;

    while (restd_request_query_next(request, &at, &name, &value) == 0) {
        rc |= put_pair(response, "query", name, value);
    }
    for (at = 0; restd_request_cookie_next(request, &at, &name, &value) == 0;) {
        rc |= put_pair(response, "cookie", name, value);
    }
    while (restd_request_header_next(request, &cursor, "x-a", &name, &value) ==
           0) {
        rc |= put_pair(response, "header", name, value);
    }
    for (unsigned i = 0; restd_request_param_at(request, i, &name, &value) == 0;
         i++) {
        rc |= put_pair(response, "param", name, value);
    }
    /* Behind the last it stays there. */
    at = SIZE_MAX / 2;
    if (restd_request_query_next(request, &at, &name, &value) != RESTD_ENOENT ||
        restd_request_header_next(request, &cursor, "x-a", &name, &value) !=
            RESTD_ENOENT) {
        rc = RESTD_ESTATE;
    }
    return rc;
}

/* In its answer only what does not depend on the framing of the request. */
static int describe(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    (void)data;
    int rc = put(response, "method", restd_request_method_name(request));

    rc |= restd_response_printf(
        response, "number=%d\nversion=%d\nlistener=%d\nworker=%u\n",
        (int)restd_request_method(request),
        restd_request_version_minor(request),
        restd_request_listener(request).data != NULL,
        restd_request_worker(request));
    rc |= put(response, "target", restd_request_target(request));
    rc |= put(response, "path", restd_request_path(request));
    rc |= put(response, "pattern", restd_request_pattern(request));
    rc |= put(response, "host", restd_request_host(request));
    rc |= put(response, "query", restd_request_query(request));
    rc |= put(response, "q", restd_request_query_get(request, "q"));
    rc |= put(response, "flag", restd_request_query_get(request, "flag"));
    rc |= put(response, "none", restd_request_query_get(request, "none"));
    rc |= put(response, "x-a", restd_request_header(request, "X-a"));
    rc |= put(response, "x-set", restd_request_header(request, "x-SET"));
    rc |= put(response, "no", restd_request_header(request, "no"));
    rc |= put(response, "k", restd_request_cookie(request, "k"));
    rc |= put(response, "no", restd_request_cookie(request, "no"));
    rc |= put(response, "p", restd_request_param(request, "p"));
    rc |= put(response, "rest", restd_request_param(request, "rest"));
    rc |= put_lists(request, response);
    rc |= put(response, "body", restd_request_body(request));
    atomic_store(&time_ms, restd_request_time_ms(request));
    return rc;
}

static int set_headers(struct restd_request *request,
                       struct restd_response *response, void *data)
{
    static const char *const bad[] = {"", "a b", "a:", "\x01", "(a)"};
    static const char *const bad_values[] = {"a\r\nb", "\n", "\x7f", "\x01"};
    static char value[5000];
    struct restd_slice v = {value, 4090};
    struct restd_slice absent = {NULL, 0};
    int bad_n = 0;
    (void)response;
    (void)data;

    if (restd_request_header(request, "X-Plain").data) {
        return 0;
    }
    v.len = 1;
    memset(value, 'v', sizeof(value));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        bad_n += restd_request_set_header(request, bad[i], v) != RESTD_EINVAL;
    }
    for (size_t i = 0; i < sizeof(bad_values) / sizeof(bad_values[0]); i++) {
        struct restd_slice b = {bad_values[i], strlen(bad_values[i])};
        bad_n += restd_request_set_header(request, "X-B", b) != RESTD_EINVAL;
    }
    bad_n += restd_request_set_header(request, "X-B", absent) != RESTD_EINVAL;
    v.len = sizeof(value);
    bad_n += restd_request_set_header(request, "X-B", v) != RESTD_ELIMIT;
    /* Copied: what it was made of is another's by the time it is read. */
    char own[] = "set";
    struct restd_slice s = {own, 3};
    bad_n += restd_request_set_header(request, "X-Set", s) != 0;
    struct restd_slice other = {"other", 5};
    bad_n += restd_request_set_header(request, "x-a", other) != 0;
    bad_n += restd_request_set_header(request, "X-A", s) != 0;
    memset(own, 'x', 3);
    s.len = 0;
    s.data = "";
    bad_n += restd_request_set_header(request, "X-Empty", s) != 0;
    if (bad_n) {
        atomic_fetch_add(&seen.errors, 1);
    }
    return 0;
}

static int addresses(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    char peer[128];
    char host[128];
    char local[128];
    char again[128];
    (void)data;

    int n = restd_request_peer(request, peer, sizeof(peer));
    int host_n = restd_request_peer_host(request, host, sizeof(host));
    int local_n = restd_request_local(request, local, sizeof(local));
    /* Exactly what is needed is enough, one less is not. */
    if (n < 0 || host_n < 0 || local_n < 0 || n != (int)strlen(peer) ||
        host_n != (int)strlen(host) || local_n != (int)strlen(local) ||
        restd_request_peer(request, again, (size_t)n) != RESTD_ERANGE ||
        restd_request_peer(request, again, (size_t)n + 1) != n ||
        restd_request_peer_host(request, again, (size_t)host_n) !=
            RESTD_ERANGE ||
        restd_request_local(request, again, 0) != RESTD_ERANGE) {
        return RESTD_ESTATE;
    }
    return restd_response_printf(response, "%s|%s|%s|%d", peer, host, local,
                                 restd_request_listener(request).data != NULL);
}

static int turn(struct restd_request *request, struct restd_response *response,
                void *data)
{
    (void)response;
    (void)data;
    int n = atomic_fetch_add(&turns_n, 1);
    atomic_store(&turns[n % 4], restd_request_turn(request));
    return 0;
}

static void set_up(void)
{
    site_set_up();
    clients[0].fd = -1;
    clients[1].fd = -1;
    atomic_store(&turns_n, 0);
}

static void prepare(void)
{
    struct restd_error error = {0, 0, ""};
    struct restd_plugin p = {
        .size = sizeof(p), .name = "headers", .before = set_headers};

    site_new();
    ck_assert_int_eq(restd_router_use(site.router, &p, &error), 0);
    (void)site_add("POST", "/d/{p}", describe, 0, 0);
    (void)site_add("GET", "/d/{p}", describe, 0, 0);
    (void)site_add("BREW", "/d/{p}", describe, 0, 0);
    (void)site_add("POST", "/d/{p}/f/{rest...}", describe, 0, 0);
    (void)site_add("GET", "/addresses", addresses, 0, 0);
    (void)site_add("GET", "/turn", turn, 0, 0);
}

static void start(void)
{
    prepare();
    site_start();
    ck_assert_int_eq(client_connect(c, site.port, 0), 0);
}

static void tear_down(void)
{
    client_close(&clients[0]);
    client_close(&clients[1]);
    site_tear_down();
}

/* Sends a request with a content of 5 bytes whole and in two pieces. */
static void check_both(const char *line, const char *fields, const char *want)
{
    char text[2048];

    for (int i = 0; i < 2; i++) {
        uint64_t n = server_counters(site.server).requests;
        snprintf(text, sizeof(text), "%s\r\n%sContent-Length: 5\r\n\r\n%s",
                 line, fields, i == 0 ? "12345" : "12");
        ck_assert_int_eq(client_say(c, text), 0);
        if (i == 1) {
            EVENTUALLY(server_counters(site.server).requests == n + 1);
            ck_assert_int_eq(client_say(c, "345"), 0);
        }
        ck_assert_int_eq(content_receive(c, &r, 0), 200);
        ck_assert_str_eq(r.body, want);
    }
}

START_TEST(all_of_a_request)
{
    start();
    check_both("POST /d/a%2Fb%20c?q=1+2&flag&q=%33&%41=%zz&&e= HTTP/1.1",
               "Host: h:1\r\nX-A:  one \r\nx-a: two\r\nX-B:\r\n"
               "Cookie: k=\"v\"; l=1; =x; nothing; k=again\r\n"
               "Cookie: m=a=b\r\n",
               "method=POST\n"
               "number=3\n"
               "version=1\n"
               "listener=0\n"
               "worker=0\n"
               "target=/d/a%2Fb%20c?q=1+2&flag&q=%33&%41=%zz&&e=\n"
               "path=/d/a%2Fb%20c\n"
               "pattern=/d/{p}\n"
               "host=h:1\n"
               "query=q=1+2&flag&q=%33&%41=%zz&&e=\n"
               "q=1 2\n"
               "flag=\n"
               "none absent\n"
               "x-a=set\n"
               "x-set=set\n"
               "no absent\n"
               "k=v\n"
               "no absent\n"
               "p=a/b c\n"
               "rest absent\n"
               "query q=1 2\n"
               "query flag=\n"
               "query q=3\n"
               "query A=%zz\n"
               "query e=\n"
               "cookie k=v\n"
               "cookie l=1\n"
               "cookie k=again\n"
               "cookie m=a=b\n"
               "header X-A=set\n"
               "param p=a/b c\n"
               "body=12345\n");
    client_close(c);
}
END_TEST

START_TEST(little_of_a_request)
{
    start();
    check_both("POST http://a.b:8/d/x/f/c%2fd//e%21?q HTTP/1.1",
               "Host: other\r\nX-Plain: 1\r\n",
               "method=POST\n"
               "number=3\n"
               "version=1\n"
               "listener=0\n"
               "worker=0\n"
               "target=http://a.b:8/d/x/f/c%2fd//e%21?q\n"
               "path=/d/x/f/c%2fd//e%21\n"
               "pattern=/d/{p}/f/{rest...}\n"
               "host=a.b:8\n"
               "query=q\n"
               "q=\n"
               "flag absent\n"
               "none absent\n"
               "x-a absent\n"
               "x-set absent\n"
               "no absent\n"
               "k absent\n"
               "no absent\n"
               "p=x\n"
               "rest=c%2Fd//e!\n"
               "query q=\n"
               "param p=x\n"
               "param rest=c%2Fd//e!\n"
               "body=12345\n");
    check_both("BREW /d/1 HTTP/1.0", "Connection: keep-alive\r\nX-Plain: 1\r\n",
               "method=BREW\n"
               "number=0\n"
               "version=0\n"
               "listener=0\n"
               "worker=0\n"
               "target=/d/1\n"
               "path=/d/1\n"
               "pattern=/d/{p}\n"
               "host=\n"
               "query absent\n"
               "q absent\n"
               "flag absent\n"
               "none absent\n"
               "x-a absent\n"
               "x-set absent\n"
               "no absent\n"
               "k absent\n"
               "no absent\n"
               "p=1\n"
               "rest absent\n"
               "param p=1\n"
               "body=12345\n");
    client_close(c);
}
END_TEST

/* Between head and content the loop handles others, which use the same
 * scratches. */
START_TEST(what_others_do_meanwhile_changes_nothing)
{
    start();
    ck_assert_int_eq(client_connect(&clients[1], site.port, 0), 0);
    ck_assert_int_eq(
        client_say(c, "POST /d/mine?q=%6dine HTTP/1.1\r\nHost: mine\r\n"
                      "X-Plain: 1\r\nX-A: mine\r\nContent-Length: 4\r\n\r\n"),
        0);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    ck_assert_int_eq(content_ask(&clients[1],
                                 "GET /d/%79ours?q=%79ours HTTP/1.1\r\n"
                                 "Host: yours\r\nX-A: yours\r\n\r\n",
                                 &r),
                     200);
    ck_assert_ptr_nonnull(strstr(r.body, "\nq=yours\n"));
    ck_assert_int_eq(client_say(c, "mine"), 0);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_ptr_nonnull(strstr(r.body, "\nq=mine\n"));
    ck_assert_ptr_nonnull(strstr(r.body, "\nx-a=mine\n"));
    ck_assert_ptr_nonnull(strstr(r.body, "\nx-set absent\n"));
    ck_assert_ptr_nonnull(strstr(r.body, "\np=mine\n"));
    ck_assert_ptr_nonnull(strstr(r.body, "\nbody=mine\n"));
    ck_assert_ptr_null(strstr(r.body, "yours"));
    client_close(c);
    client_close(&clients[1]);
}
END_TEST

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

START_TEST(when_its_first_byte_was_read)
{
    start();
    int64_t before = now_ms();
    ck_assert_int_eq(client_say(c, "POST /d/1 HTTP/1.1\r\nHost: x\r\n"
                                   "Content-Length: 1\r\n\r\n"),
                     0);
    EVENTUALLY(server_counters(site.server).requests_active == 1);
    int64_t read = now_ms();
    /* Wait until its beginning and its end are told apart. */
    EVENTUALLY(now_ms() > read + 20);
    ck_assert_int_eq(client_say(c, "."), 0);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    /* Two clocks, each cut to ms. */
    ck_assert_int_ge(atomic_load(&time_ms), before - 3);
    ck_assert_int_le(atomic_load(&time_ms), read + 3);
    client_close(c);
}
END_TEST

START_TEST(both_ends_of_the_connection)
{
    char dir[FOLDER_MAX];
    char path[FOLDER_MAX + 2];
    struct sockaddr_in own = {0};
    socklen_t len = sizeof(own);
    char want[128];
    char address[80];

    prepare();
    folder_make(dir);
    snprintf(path, sizeof(path), "%s/s", dir);
    snprintf(address, sizeof(address), "unix:%s", path);
    ck_assert_int_eq(restd_server_listen(site.server, "[::1]:0", NULL), 0);
    ck_assert_int_eq(restd_server_listen(site.server, address, NULL), 0);
    site_start();
    ck_assert_int_eq(client_connect_unix(c, path), 0);
    ck_assert_int_eq(
        content_ask(c, "GET /addresses HTTP/1.1\r\nHost: x\r\n\r\n", &r), 200);
    ck_assert_str_eq(r.body, "unix:|unix:|unix:|0");
    client_close(c);
    ck_assert_int_eq(unlink(path), 0);
    folder_remove(dir);
    int n = restd_server_address(site.server, 2, address, sizeof(address));
    ck_assert_int_gt(n, 0);
    int port = (int)strtol(strrchr(address, ':') + 1, NULL, 10);
    ck_assert_int_eq(client_connect(c, port, 0), 0);
    ck_assert_int_eq(getsockname(c->fd, (struct sockaddr *)&own, &len), 0);
    ck_assert_int_eq(
        content_ask(c, "GET /addresses HTTP/1.1\r\nHost: x\r\n\r\n", &r), 200);
    snprintf(want, sizeof(want), "127.0.0.1:%u|127.0.0.1|%s|0",
             ntohs(own.sin_port), address);
    ck_assert_str_eq(r.body, want);
    client_close(c);
}
END_TEST

START_TEST(a_turn_is_one_for_pipelined_requests)
{
    static const char one[] = "GET /turn HTTP/1.1\r\nHost: x\r\n\r\n";
    static const char two[] = "GET /turn HTTP/1.1\r\nHost: x\r\n\r\n"
                              "GET /turn HTTP/1.1\r\nHost: x\r\n\r\n";
    start();
    ck_assert_int_eq(content_ask(c, two, &r), 200);
    ck_assert_int_eq(content_receive(c, &r, 0), 200);
    ck_assert_int_eq(content_ask(c, one, &r), 200);
    ck_assert_uint_eq(atomic_load(&turns[0]), atomic_load(&turns[1]));
    ck_assert_uint_gt(atomic_load(&turns[2]), atomic_load(&turns[1]));
    client_close(c);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request");
    TCase *tc = tcase_create("request");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, all_of_a_request);
    tcase_add_test(tc, little_of_a_request);
    tcase_add_test(tc, what_others_do_meanwhile_changes_nothing);
    tcase_add_test(tc, when_its_first_byte_was_read);
    tcase_add_test(tc, both_ends_of_the_connection);
    tcase_add_test(tc, a_turn_is_one_for_pipelined_requests);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
