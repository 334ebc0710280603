/* SPDX-License-Identifier: MIT */
/* The gzip plugin, request in and reply out: which replies are compressed,
 * what they say, and that zlib reads them. */
#include <restd/plugins.h>
#include <restd/restd.h>

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "support/gunzip.h"
#include "support/suite.h"

#define TEXT_MAX (2u * 1024 * 1024)
#define GZIP "Accept-Encoding: gzip\r\n"

/* What the handler is to answer. */
enum source {
    BORROWED,
    COPIED,
    STATIC,
    PREPARED,
    PRINTED,
    FROM_FILE,
    STREAM,
    SOURCES_N
};
static struct {
    enum source source;
    const char *data;
    size_t len, piece;
    int status;
    const char *type;
    const char *fields[9]; /* name, value, ... */
} make;

static struct restd_router *router;
static struct restd_reply *reply;
static struct restd_error error;
static struct restd_plugin plugin;
static struct restd_gzip_options options;
static char text[TEXT_MAX];  /* compressible */
static char noise[TEXT_MAX]; /* not */
static char out[TEXT_MAX];
static int file = -1;

static int stream_ended;
static size_t stream_at;

static void stream_ready(struct restd_stream *stream, void *data)
{
    (void)data;
    while (stream_at < make.len) {
        size_t left = make.len - stream_at;
        long n = restd_stream_write(stream, make.data + stream_at,
                                    left < make.piece ? left : make.piece);
        if (n < 0) {
            ck_assert_int_eq(n, RESTD_EAGAIN);
            return;
        }
        stream_at += (size_t)n;
    }
    restd_stream_end(stream);
}

static void stream_closed(struct restd_stream *stream, int complete, void *data)
{
    (void)stream;
    (void)data;
    stream_ended += complete ? 1 : 100;
}

static int set_content(struct restd_response *response)
{
    static const struct restd_stream_ops ops = {sizeof(ops), stream_ready,
                                                stream_closed};
    struct restd_prepared *prepared;
    int rc = 0;

    switch (make.source) {
    case BORROWED:
        restd_response_body_borrowed(response, make.data, make.len);
        break;
    case COPIED:
        return restd_response_body(response, make.data, make.len);
    case STATIC:
        return restd_response_body_static(response, make.data, make.len);
    case PREPARED:
        rc = restd_prepared_new(make.status, NULL, make.data, make.len,
                                &prepared);
        if (rc == 0) {
            rc = restd_response_prepared(response, prepared);
            restd_prepared_unref(prepared);
        }
        return rc;
    case PRINTED:
        for (size_t at = 0; at < make.len && rc == 0; at += 700) {
            size_t left = make.len - at;
            rc = restd_response_printf(
                response, "%.*s", left < 700 ? (int)left : 700, make.data + at);
        }
        return rc;
    case FROM_FILE:
        return restd_response_file(response, dup(file),
                                   (uint64_t)(make.data == noise) * TEXT_MAX,
                                   make.len);
    case STREAM:
        stream_at = 0;
        return restd_response_stream(response, &ops, NULL, NULL);
    case SOURCES_N:
        break;
    }
    return 0;
}

static int answer(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    int rc = set_content(response);
    (void)request;
    (void)data;

    rc = rc ? rc : restd_response_set_status(response, make.status);
    if (rc == 0 && make.type) {
        rc = restd_response_set_type(response, make.type);
    }
    for (unsigned i = 0; rc == 0 && make.fields[i]; i += 2) {
        rc = restd_response_add_header(response, make.fields[i],
                                       make.fields[i + 1]);
    }
    return rc;
}

static void make_texts(void)
{
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < TEXT_MAX; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        noise[i] = (char)(x >> 32);
        text[i] = (char)('a' + (x >> 60) % 4);
    }
}

static void use(void)
{
    ck_assert_msg(restd_gzip(&options, &plugin, &error) == 0, "%s",
                  error.message);
    ck_assert_int_eq(restd_router_use(router, &plugin, &error), 0);
}

static void set_up(void)
{
    rd_mem_fail_nth(0);
    make_texts();
    reply = NULL;
    stream_ended = 0;
    memset(&make, 0, sizeof(make));
    make.status = 200;
    make.data = text;
    make.len = 5000;
    make.piece = 1000;
    make.type = "application/json";
    restd_gzip_options_init(&options);
    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &router), 0);
    ck_assert_int_eq(restd_router_add(router, "GET", "/", answer, NULL, &error),
                     0);
    ck_assert_int_eq(
        restd_router_add(router, "POST", "/", answer, NULL, &error), 1);
}

static void tear_down(void)
{
    restd_reply_free(reply);
    restd_router_free(router);
    if (file >= 0) {
        close(file);
        file = -1;
    }
}

static int ask(const char *method, const char *headers)
{
    struct restd_call call;
    restd_call_init(&call);
    call.method = method;
    call.headers = headers;
    restd_reply_free(reply);
    reply = NULL;
    ck_assert_msg(restd_router_call(router, &call, &reply, &error) == 0, "%s",
                  error.message);
    return restd_reply_status(reply);
}

static int has(const char *name, const char *value)
{
    struct restd_slice s = restd_reply_header(reply, name);
    return value ? restd_slice_is(s, value) : s.data == NULL;
}

static int is_gzip(void)
{
    ck_assert(has("Content-Encoding", "gzip") || has("Content-Encoding", NULL));
    return has("Content-Encoding", "gzip");
}

/* The content, whichever way it came, is what was made. */
static void check_content(void)
{
    struct restd_slice body = restd_reply_body(reply);
    char length[24];

    (void)snprintf(length, sizeof(length), "%zu", body.len);
    ck_assert(make.source == STREAM ? has("Transfer-Encoding", "chunked")
                                    : has("Content-Length", length));
    if (!is_gzip()) {
        ck_assert_uint_eq(body.len, make.len);
        ck_assert(memcmp(body.data, make.data, make.len) == 0);
        return;
    }
    long n = gunzip(body.data, body.len, out, sizeof(out));
    ck_assert_int_eq(n, (long)make.len);
    ck_assert(memcmp(out, make.data, make.len) == 0);
    if (make.source != STREAM) {
        ck_assert_uint_lt(body.len, make.len);
    }
}

/* Asks and checks; 1 if it was gzip. */
static int get(const char *headers)
{
    ck_assert_int_eq(ask("GET", headers), make.status);
    check_content();
    return is_gzip();
}

START_TEST(what_the_client_accepts)
{
    static const struct {
        const char *headers;
        int gzip;
    } cases[] = {
        {NULL, 0},
        {GZIP, 1},
        {"accept-encoding: GZip\r\n", 1},
        {"Accept-Encoding: x-gzip\r\n", 1},
        {"Accept-Encoding: br, deflate, gzip;q=0.1\r\n", 1},
        {"Accept-Encoding: gzip;q=0\r\n", 0},
        {"Accept-Encoding: gzip;q=0.5, identity\r\n", 0},
        {"Accept-Encoding: gzip, identity;q=0.5\r\n", 1},
        {"Accept-Encoding: identity;q=0\r\n", 0},
        {"Accept-Encoding: identity;q=0, gzip\r\n", 1},
        {"Accept-Encoding: *\r\n", 1},
        {"Accept-Encoding: *, gzip;q=0\r\n", 0},
        {"Accept-Encoding: *;q=0\r\n", 0},
        {"Accept-Encoding:\r\n", 0},
        {"Accept-Encoding: br\r\n", 0},
        {"Accept-Encoding: br\r\nAccept-Encoding: gzip\r\n", 1},
        {"Accept-Encoding: gzip;q=0\r\nX: gzip\r\nAccept-Encoding: *\r\n", 0},
    };
    use();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_msg(get(cases[i].headers) == cases[i].gzip, "%s",
                      cases[i].headers);
        /* It depends on the client all the same. */
        ck_assert(has("Vary", "Accept-Encoding"));
    }
}
END_TEST

START_TEST(what_types)
{
    static const struct {
        const char *types, *type;
        int gzip;
    } cases[] = {
        {NULL, NULL, 1},
        {NULL, "text/plain", 1},
        {NULL, "TEXT/Html; charset=utf-8", 1},
        {NULL, "text/event-stream", 0},
        {NULL, "Text/Event-Stream;charset=utf-8", 0},
        {NULL, "application/json ; a=b", 1},
        {NULL, "application/problem+json", 1},
        {NULL, "image/svg+xml", 1},
        {NULL, "application/javascript", 1},
        {NULL, "application/jsonx", 0},
        {NULL, "image/png", 0},
        {NULL, "text", 0},
        {NULL, "application/octet-stream", 0},
        {NULL, "application/gzip; was=text/plain", 0},
        {"a/b", "a/b", 1},
        {"a/b", "a/bc", 0},
        {"a/b", "xa/b", 0},
        {"a/b", "text/plain", 0},
        {"x/y , a/* ,+z", "A/q", 1},
        {"x/y , a/* ,+z", "ab/q", 0},
        {"x/y , a/* ,+z", "b/q+Z", 1},
        {"x/y , a/* ,+z", "b/q+zz", 0},
        {"x/y , a/* ,+z", "b/z", 0},
        {"text/*", "text/event-stream", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        restd_router_free(router);
        ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &router), 0);
        ck_assert_int_eq(
            restd_router_add(router, "GET", "/", answer, NULL, &error), 0);
        options.types = cases[i].types;
        use();
        make.type = cases[i].type;
        ck_assert_msg(get(GZIP) == cases[i].gzip, "%s in %s", make.type,
                      options.types);
        ck_assert(has("Vary", cases[i].gzip ? "Accept-Encoding" : NULL));
    }
}
END_TEST

START_TEST(what_status)
{
    static const int statuses[] = {200, 201, 202, 203, 207, 299, 204, 205,
                                   206, 300, 301, 400, 404, 500, 503};
    use();
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        make.status = statuses[i];
        ck_assert_int_eq(ask("GET", GZIP), make.status);
        ck_assert_msg(is_gzip() == (i < 6), "%d", make.status);
        ck_assert(has("Vary", i < 6 ? "Accept-Encoding" : NULL));
    }
    make.status = 200;
    ck_assert_int_eq(ask("POST", GZIP), 200);
    ck_assert(is_gzip());
    check_content();
}
END_TEST

START_TEST(every_source_and_size)
{
    static const size_t sizes[] = {0,     1,     1023,  1024,  5000,
                                   16384, 16385, 40000, 65536, 65537};
    file = memfd_create("test_gzip", MFD_CLOEXEC);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, TEXT_MAX), TEXT_MAX);
    ck_assert_int_eq(write(file, noise, TEXT_MAX), TEXT_MAX);
    use();
    for (unsigned source = 0; source < STREAM; source++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            int within = sizes[i] >= 1024 && sizes[i] <= 65536;
            make.source = (enum source)source;
            make.len = sizes[i];
            make.data = text;
            ck_assert_msg(get(GZIP) == within, "source %u, %zu bytes", source,
                          make.len);
            ck_assert(has("Vary", within ? "Accept-Encoding" : NULL));
            ck_assert_int_eq(get(NULL), 0);
            if (make.source != PRINTED) {
                make.data = noise;
                ck_assert_int_eq(get(GZIP), 0);
                ck_assert(has("Vary", within ? "Accept-Encoding" : NULL));
            }
        }
    }
}
END_TEST

START_TEST(other_sizes)
{
    options.min_bytes = 0;
    options.max_bytes = 1024 * 1024;
    options.level = 9;
    use();
    for (make.len = 0; make.len < 100; make.len++) {
        /* It may only become smaller. */
        (void)get(GZIP);
    }
    ck_assert(is_gzip());
    make.len = 1024 * 1024;
    ck_assert(get(GZIP));
    make.source = COPIED;
    ck_assert(get(GZIP));
    make.len++;
    ck_assert(!get(GZIP));
}
END_TEST

START_TEST(a_content_that_is_final)
{
    static const char *const fields[][2] = {
        {"Content-Encoding", "br"},
        {"content-encoding", "identity"},
        {"Content-Range", "x"},
        {"Content-Digest", "x"},
        {"Repr-Digest", "x"},
        {"digest", "x"},
        {"Content-MD5", "x"},
        {"Cache-Control", "private,No-Transform"},
        {"cache-control", "no-transform"},
    };
    use();
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        make.fields[0] = fields[i][0];
        make.fields[1] = fields[i][1];
        make.fields[2] = "ETag";
        make.fields[3] = "\"a\"";
        ck_assert_int_eq(ask("GET", GZIP), 200);
        ck_assert(has("Vary", NULL));
        ck_assert(has("ETag", "\"a\""));
        ck_assert_uint_eq(restd_reply_body(reply).len, make.len);
        ck_assert(i == 0 ? has("Content-Encoding", "br")
                         : !has("Content-Encoding", "gzip"));
    }
    make.fields[0] = "Cache-Control";
    make.fields[1] = "no-transformation";
    ck_assert(get(GZIP));
}
END_TEST

START_TEST(what_the_reply_says)
{
    static const struct {
        const char *name, *value, *plain, *gzip;
    } cases[] = {
        {"ETag", "\"a\"", "\"a\"", "W/\"a\""},
        {"etag", "W/\"a\"", "W/\"a\"", "W/\"a\""},
        {"ETag", "", "", ""},
        {"ETag", "bad", "bad", "bad"},
        {"Accept-Ranges", "bytes", "bytes", NULL},
        {"Vary", "Origin", "Origin", "Origin"},
        {"Vary", "*", "*", "*"},
        {"X-Any", "\"a\"", "\"a\"", "\"a\""},
    };
    use();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make.fields[0] = cases[i].name;
        make.fields[1] = cases[i].value;
        make.fields[2] = "X-Last";
        make.fields[3] = "1";
        ck_assert(!get(NULL));
        ck_assert_msg(has(cases[i].name, cases[i].plain), "%s", cases[i].value);
        ck_assert(has("X-Last", "1"));
        ck_assert(get(GZIP));
        ck_assert_msg(has(cases[i].name, cases[i].gzip), "%s", cases[i].value);
        ck_assert(has("X-Last", "1"));
    }
}
END_TEST

/* How many fields of that name the reply has is not told; the head is in front
 * of its content. */
static unsigned vary_lines(void)
{
    const char *p = restd_reply_header(reply, "Date").data;
    unsigned n = 0;

    ck_assert_ptr_nonnull(p);
    while (strncmp(p, "\r\n\r\n", 4) != 0) {
        n += strncmp(p++, "\r\nVary: ", 8) == 0;
    }
    return n;
}

START_TEST(vary_is_said_once)
{
    static const struct {
        const char *first, *second;
        unsigned lines;
    } cases[] = {
        {NULL, NULL, 1},
        {"Origin", NULL, 2},
        {"Accept-Encoding", NULL, 1},
        {"Origin", "Accept-Language, accept-encoding", 2},
        {"Origin", "Accept-Encodings", 3},
        {"*", NULL, 1},
    };
    use();
    /* And by another one within. */
    options.level = 9;
    use();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        memset(make.fields, 0, sizeof(make.fields));
        make.fields[0] = cases[i].first ? "Vary" : NULL;
        make.fields[1] = cases[i].first;
        make.fields[2] = cases[i].second ? "Vary" : NULL;
        make.fields[3] = cases[i].second;
        ck_assert(get(GZIP));
        ck_assert_uint_eq(vary_lines(), cases[i].lines);
        ck_assert(!get(NULL));
        ck_assert_uint_eq(vary_lines(), cases[i].lines);
    }
}
END_TEST

static void use_304(void)
{
    use();
    make.status = 304;
    make.len = 0;
    make.type = NULL;
    make.fields[0] = "ETag";
    make.fields[1] = "\"a\"";
}

START_TEST(not_modified)
{
    use_304();
    ck_assert_int_eq(ask("GET", GZIP), 304);
    ck_assert(has("ETag", "W/\"a\""));
    ck_assert(has("Vary", "Accept-Encoding"));
    ck_assert(has("Content-Encoding", NULL));
    ck_assert_int_eq(ask("GET", NULL), 304);
    ck_assert(has("ETag", "\"a\""));
    ck_assert(has("Vary", "Accept-Encoding"));
    make.type = "image/png";
    ck_assert_int_eq(ask("GET", GZIP), 304);
    ck_assert(has("ETag", "\"a\""));
    ck_assert(has("Vary", NULL));
}
END_TEST

/* What a client has in full, and could ask ranges of, was made weak by a 304:
 * of a file, whose 304 has no type and no length, whatever it is. */
START_TEST(a_304_keeps_the_tag_that_was_asked_with)
{
    use_304();
    ask("GET", GZIP "If-None-Match: \"b\", \"a\"\r\n");
    ck_assert(has("ETag", "\"a\""));
    ask("GET", GZIP "If-None-Match: \"b\"\r\nIf-None-Match: \"a\"\r\n");
    ck_assert(has("ETag", "\"a\""));
    ask("GET", GZIP "If-None-Match: W/\"a\"\r\n");
    ck_assert(has("ETag", "W/\"a\""));
}
END_TEST

START_TEST(no_room_for_the_fields)
{
    static char value[5000];
    memset(value, 'v', sizeof(value));
    use();
    make.fields[0] = "X";
    make.fields[1] = value;
    /* 4096 with "X: " and CRLF. */
    unsigned plain = 0;
    unsigned packed = 0;
    for (size_t len = 3980; len <= 4091; len++) {
        value[len] = '\0';
        (void)(get(GZIP) ? packed++ : plain++);
        ck_assert(has("X", value));
        ck_assert(has("Vary", is_gzip() ? "Accept-Encoding" : NULL));
        value[len] = 'v';
    }
    ck_assert_uint_gt(packed, 0);
    ck_assert_uint_gt(plain, 0);
}
END_TEST

START_TEST(head_is_as_get)
{
    static const char *const names[] = {"Content-Length", "Content-Encoding",
                                        "Content-Type",   "Vary",
                                        "ETag",           "Transfer-Encoding"};
    char get_says[6][64];
    use();
    make.fields[0] = "ETag";
    make.fields[1] = "\"a\"";
    for (int i = 0; i < 4; i++) {
        make.source = i < 2 ? COPIED : STREAM;
        make.data = i == 1 ? noise : text;
        make.len = i == 3 ? 0 : 30000;
        ck_assert_int_eq(get(GZIP), i != 1);
        for (size_t k = 0; k < 6; k++) {
            struct restd_slice s = restd_reply_header(reply, names[k]);
            (void)snprintf(get_says[k], sizeof(get_says[k]), "%.*s", (int)s.len,
                           s.data ? s.data : "");
        }
        /* A chunked content would not be whole without its end. */
        if (make.source != STREAM) {
            ck_assert_int_eq(ask("HEAD", GZIP), 200);
            for (size_t k = 0; k < 6; k++) {
                ck_assert_msg(
                    has(names[k], get_says[k][0] ? get_says[k] : NULL), "%s",
                    names[k]);
            }
            ck_assert_uint_eq(restd_reply_body(reply).len, 0);
        }
    }
}
END_TEST

START_TEST(streams)
{
    static const size_t lens[] = {0, 1, 999, 1000, 100000, 1000000};
    static const size_t pieces[] = {1, 777, 8192, 70000, TEXT_MAX};
    use();
    make.source = STREAM;
    int n = 0;
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
        for (size_t k = i < 4 ? 0 : 1; k < 5; k++) {
            make.len = lens[i];
            make.piece = pieces[k];
            make.data = text;
            ck_assert(get(GZIP));
            if (make.len > 1000 && make.piece > 1) {
                ck_assert_uint_lt(restd_reply_body(reply).len, make.len / 2);
            }
            ck_assert(!get(NULL));
            make.data = noise;
            ck_assert(get(GZIP));
            n += 3;
            ck_assert_int_eq(stream_ended, n);
        }
    }
    ck_assert(has("Vary", "Accept-Encoding"));
    make.type = "image/png";
    ck_assert(!get(GZIP));
    make.type = "text/event-stream";
    ck_assert(!get(GZIP));
    ck_assert(has("Vary", NULL));
}
END_TEST

static void events_ready(struct restd_stream *stream, void *data)
{
    const struct restd_event event = {.data = data};
    ck_assert_int_eq(restd_stream_event(stream, &event), 0);
    restd_stream_end(stream);
}

static int events(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), events_ready,
                                                stream_closed};
    (void)request;
    int rc = restd_response_events(response, &ops, data, 0, NULL);
    return rc ? rc : restd_response_set_type(response, "text/plain");
}

START_TEST(events_are_left_alone)
{
    static char word[] = "hello";
    use();
    ck_assert_int_ge(
        restd_router_add(router, "GET", "/events", events, word, &error), 0);
    struct restd_call call;
    restd_call_init(&call);
    call.target = "/events";
    call.headers = GZIP;
    ck_assert_int_eq(restd_router_call(router, &call, &reply, &error), 0);
    ck_assert(restd_slice_is(restd_reply_body(reply), "data: hello\n\n"));
    ck_assert(has("Content-Encoding", NULL));
    ck_assert(has("Vary", NULL));
}
END_TEST

/* Throws a stream away that has a compressor. */
static int outer(struct restd_request *request, struct restd_response *response,
                 struct restd_next *next, void *data)
{
    (void)request;
    int rc = restd_next(next);
    restd_response_reset(response);
    return rc ? rc : restd_response_body(response, data, strlen(data));
}

START_TEST(a_stream_that_is_none_after_all)
{
    static char word[] = "instead";
    const struct restd_plugin p = {
        .size = sizeof(p), .name = "outer", .wrapper = outer, .data = word};
    ck_assert_int_eq(restd_router_use(router, &p, &error), 0);
    use();
    make.source = STREAM;
    ck_assert_int_eq(ask("GET", GZIP), 200);
    ck_assert(restd_slice_is(restd_reply_body(reply), "instead"));
    ck_assert(has("Content-Encoding", NULL));
    ck_assert_int_eq(stream_ended, 100);
}
END_TEST

START_TEST(without_memory_it_is_sent_as_it_is)
{
    struct restd_call call;
    unsigned plain = 0;
    unsigned packed = 0;
    restd_call_init(&call);
    call.headers = GZIP;
    use();
    for (int i = 0; i < 2; i++) {
        make.source = i ? STREAM : BORROWED;
        for (unsigned n = 1;; n++) {
            restd_reply_free(reply);
            reply = NULL;
            rd_mem_fail_nth(n);
            int rc = restd_router_call(router, &call, &reply, &error);
            unsigned calls = rd_mem_calls();
            rd_mem_fail_nth(0);
            if (rc == 0 && restd_reply_status(reply) == 200) {
                check_content();
                (void)(is_gzip() ? packed++ : plain++);
            }
            if (calls < n) {
                ck_assert(is_gzip());
                break;
            }
        }
    }
    /* The pool and the state, of both. */
    ck_assert_uint_eq(plain, 4);
    ck_assert_uint_ge(packed, 2);
}
END_TEST

START_TEST(options_are_checked)
{
    static const struct {
        const char *types;
        uint32_t min, max;
        uint8_t level;
        int rc;
    } cases[] = {
        {NULL, 1024, 65536, 4, 0},
        {NULL, 0, 0, 1, 0},
        {NULL, 1u << 20, 1u << 20, 9, 0},
        {NULL, 0, (1u << 20) + 1, 4, RESTD_EINVAL},
        {NULL, 5, 4, 4, RESTD_EINVAL},
        {NULL, 0, 9, 0, RESTD_EINVAL},
        {NULL, 0, 9, 10, RESTD_EINVAL},
        {"", 0, 9, 4, RESTD_EINVAL},
        {" , ", 0, 9, 4, RESTD_EINVAL},
        {"text", 0, 9, 4, RESTD_EINVAL},
        {"text/", 0, 9, 4, RESTD_EINVAL},
        {"/plain", 0, 9, 4, RESTD_EINVAL},
        {"text/plain;q=1", 0, 9, 4, RESTD_EINVAL},
        {"text/p*", 0, 9, 4, RESTD_EINVAL},
        {"*/*", 0, 9, 4, RESTD_EINVAL},
        {"+", 0, 9, 4, RESTD_EINVAL},
        {"+a/b", 0, 9, 4, RESTD_EINVAL},
        {"text/plain, a b", 0, 9, 4, RESTD_EINVAL},
        {" text/*,,+json ", 0, 9, 4, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        restd_gzip_options_init(&options);
        options.types = cases[i].types;
        options.min_bytes = cases[i].min;
        options.max_bytes = cases[i].max;
        options.level = cases[i].level;
        error.message[0] = '\0';
        int rc = restd_gzip(&options, &plugin, &error);
        ck_assert_msg(rc == cases[i].rc, "case %zu: %d", i, rc);
        ck_assert_int_eq(error.message[0] != '\0', rc != 0);
        if (rc == 0) {
            plugin.free(plugin.data);
        }
    }
    options.size = 3;
    ck_assert_int_eq(restd_gzip(&options, &plugin, NULL), RESTD_EINVAL);
    for (unsigned n = 1; n < 7; n++) {
        rd_mem_fail_nth(n);
        ck_assert_int_eq(restd_gzip(NULL, &plugin, &error), RESTD_ENOMEM);
        ck_assert_uint_ge(rd_mem_calls(), n);
    }
    rd_mem_fail_nth(0);
    ck_assert_int_eq(restd_gzip(NULL, &plugin, &error), 0);
    ck_assert_int_eq(restd_router_use(router, &plugin, &error), 0);
    ck_assert(get(GZIP));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gzip");
    TCase *tc = tcase_create("gzip");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, what_the_client_accepts);
    tcase_add_test(tc, what_types);
    tcase_add_test(tc, what_status);
    tcase_add_test(tc, every_source_and_size);
    tcase_add_test(tc, other_sizes);
    tcase_add_test(tc, a_content_that_is_final);
    tcase_add_test(tc, what_the_reply_says);
    tcase_add_test(tc, vary_is_said_once);
    tcase_add_test(tc, not_modified);
    tcase_add_test(tc, a_304_keeps_the_tag_that_was_asked_with);
    tcase_add_test(tc, no_room_for_the_fields);
    tcase_add_test(tc, head_is_as_get);
    tcase_add_test(tc, streams);
    tcase_add_test(tc, events_are_left_alone);
    tcase_add_test(tc, a_stream_that_is_none_after_all);
    tcase_add_test(tc, without_memory_it_is_sent_as_it_is);
    tcase_add_test(tc, options_are_checked);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
