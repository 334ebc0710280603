/* SPDX-License-Identifier: MIT */
/* Compression in a running server, seen from outside: what is written arrives,
 * who reads slowly holds little, states are bounded and come back. */
#include "plugin_server.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ZLIB_CONST
#include <zlib.h>

#include "codec/chunked.h"
#include "support/gunzip.h"
#include "support/suite.h"

#define GZIP "Accept-Encoding: gzip\r\n"
#define ONCE "Connection: close\r\n"
#define STREAMS_MAX 8
#define LONG_LEN (4u * 1024 * 1024)

static char noise[LONG_LEN];
static char packed[LONG_LEN + 65536];
static char out[LONG_LEN + 65536];
static char small[] = "first|";

/* Streams that are open, each for one word at a time; touched by the loop's
 * thread only. */
static struct restd_stream *held[STREAMS_MAX];

static void held_ready(struct restd_stream *stream, void *data)
{
    (void)data;
    ck_assert_int_eq(restd_stream_write(stream, small, strlen(small)),
                     (long)strlen(small));
}

static void held_closed(struct restd_stream *stream, int complete, void *data)
{
    (void)complete;
    (void)data;
    for (int i = 0; i < STREAMS_MAX; i++) {
        if (held[i] == stream) {
            held[i] = NULL;
        }
    }
}

static int number(const struct restd_request *request)
{
    struct restd_slice s = restd_request_param(request, "n");
    return s.data[0] - '0';
}

static int hold(struct restd_request *request, struct restd_response *response,
                void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), held_ready,
                                                held_closed};
    (void)data;
    return restd_response_stream(response, &ops, NULL, &held[number(request)]);
}

static int say(struct restd_request *request, struct restd_response *response,
               void *data)
{
    static const char word[] = "more|";
    struct restd_stream *stream = held[number(request)];
    (void)data;
    if (!stream) {
        return restd_response_problem(response, 410, NULL);
    }
    int rc = (int)restd_stream_write(stream, word, sizeof(word) - 1);
    return restd_response_printf(response, "%d", rc);
}

static int finish(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    (void)data;
    restd_stream_end(held[number(request)]);
    return restd_response_printf(response, "ended");
}

/* LONG_LEN bytes of noise. */
static size_t long_at;

static void long_ready(struct restd_stream *stream, void *data)
{
    (void)data;
    while (long_at < LONG_LEN) {
        long n =
            restd_stream_write(stream, noise + long_at, LONG_LEN - long_at);
        if (n <= 0) {
            return;
        }
        long_at += (size_t)n;
    }
    restd_stream_end(stream);
}

static int send_long(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {.size = sizeof(ops),
                                                .ready = long_ready};
    (void)request;
    (void)data;
    long_at = 0;
    return restd_response_stream(response, &ops, NULL, NULL);
}

static void add(const char *path, restd_handler_fn *handler)
{
    must(restd_router_add(plugin_router, "GET", path, handler, NULL, &error));
}

static uint64_t outcome_bytes;

static void see(struct restd_request *request,
                const struct restd_outcome *outcome, void *data)
{
    (void)request;
    (void)data;
    __atomic_store_n(&outcome_bytes, outcome->content_bytes, __ATOMIC_RELAXED);
}

static void set_up(void)
{
    static const struct restd_plugin seer = {
        .size = sizeof(seer), .name = "seer", .after = see};
    uint64_t x = 88172645463325252u;

    for (size_t i = 0; i < LONG_LEN; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        noise[i] = (char)(x >> 32);
    }
    server_options(&options);
    make_server();
    must(restd_router_use(plugin_router, &seer, &error));
    use(restd_gzip(NULL, &plugin, &error));
    add("/hold/{n}", hold);
    add("/say/{n}", say);
    add("/finish/{n}", finish);
    add("/long", send_long);
}

static uint64_t memory(const char *owner)
{
    struct restd_memory m;

    restd_server_memory(server, &m);
    for (unsigned i = 0; i < m.owners_n; i++) {
        if (strcmp(m.owners[i].name, owner) == 0) {
            return m.owners[i].live_bytes;
        }
    }
    ck_abort_msg("no owner %s", owner);
}

/* A reply that comes bit by bit. */
struct incoming {
    struct client client;
    struct rd_chunked chunked;
    z_stream z;
    int is_gzip;
    size_t len; /* of text */
    char text[256];
};

static void send_request(struct incoming *in, const char *request)
{
    static struct reply r;

    ck_assert_int_eq(client_connect(&in->client, port, 0), 0);
    ck_assert_int_eq(client_say(&in->client, request), 0);
    ck_assert_int_eq(client_receive(&in->client, &r, 1), 200);
    in->is_gzip = strstr(r.head, "\r\nContent-Encoding: gzip\r\n") != NULL;
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nVary: Accept-Encoding\r\n"));
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nTransfer-Encoding: chunked\r\n"));
    client_reply_free(&r);
    rd_chunked_init(&in->chunked, 4096);
    memset(&in->z, 0, sizeof(in->z));
    ck_assert_int_eq(inflateInit2(&in->z, 15 + 16), Z_OK);
    in->len = 0;
}

/* Decodes what has come; 1 at the end of all codings, at the same time. */
static int decode(struct incoming *in)
{
    struct client *from = &in->client;
    char *at = from->buf + from->start;
    size_t used;
    size_t made;
    int rc = rd_chunked_decode(&in->chunked, at, from->len - from->start, at,
                               &used, &made);
    int z = Z_OK;

    ck_assert_int_ge(rc, 0);
    from->start += used;
    if (in->is_gzip) {
        in->z.next_in = (const Bytef *)at;
        in->z.avail_in = (uInt)made;
        in->z.next_out = (Bytef *)in->text + in->len;
        in->z.avail_out = (uInt)(sizeof(in->text) - in->len);
        z = inflate(&in->z, Z_SYNC_FLUSH);
        ck_assert(z == Z_OK || z == Z_STREAM_END || z == Z_BUF_ERROR);
        ck_assert_uint_eq(in->z.avail_in, 0);
        in->len = in->z.total_out;
    } else {
        ck_assert_uint_lt(in->len + made, sizeof(in->text));
        memcpy(in->text + in->len, at, made);
        in->len += made;
    }
    return rc == RD_CHUNKED_DONE && (!in->is_gzip || z == Z_STREAM_END);
}

/* Reads until that is the text, and nothing else is needed for it. */
static void await(struct incoming *in, const char *text, int end)
{
    size_t len = strlen(text);
    int is_end = decode(in);

    while (in->len < len || is_end < end) {
        struct client *from = &in->client;
        ck_assert_uint_eq(from->start, from->len);
        from->start = 0;
        ssize_t n = read(from->fd, from->buf, sizeof(from->buf));
        ck_assert_msg(n > 0, "no \"%s\" behind \"%.*s\"", text, (int)in->len,
                      in->text);
        from->len = (size_t)n;
        is_end = decode(in);
    }
    ck_assert_int_eq(is_end, end);
    ck_assert_uint_eq(in->len, len);
    ck_assert(memcmp(in->text, text, len) == 0);
}

static void incoming_free(struct incoming *in)
{
    inflateEnd(&in->z);
    client_close(&in->client);
}

START_TEST(what_is_written_arrives)
{
    static struct incoming in;
    start();
    send_request(&in, GET("/hold/0") GZIP END);
    ck_assert(in.is_gzip);
    await(&in, "first|", 0);
    ask(GET("/say/0") END, 200);
    ck_assert_str_eq(reply.body, "5");
    await(&in, "first|more|", 0);
    ask(GET("/say/0") END, 200);
    await(&in, "first|more|more|", 0);
    ask(GET("/finish/0") END, 200);
    await(&in, "first|more|more|", 1);
    /* The connection is as good as any. */
    client_reply_free(&reply);
    ck_assert_int_eq(client_ask(&in.client, GET("/hello") END, &reply), 200);
    incoming_free(&in);
}
END_TEST

static int asked(const char *request)
{
    client_reply_free(&reply);
    return client_ask(c, request, &reply);
}

START_TEST(a_fifth_stream_is_plain)
{
    static struct incoming in[STREAMS_MAX];
    char request[128];
    uint64_t one = 0;

    start();
    for (int i = 0; i < 6; i++) {
        (void)snprintf(request, sizeof(request), GET("/hold/%d") GZIP END, i);
        send_request(&in[i], request);
        ck_assert_int_eq(in[i].is_gzip, i < 4);
        await(&in[i], "first|", 0);
        one = one ? one : memory("compression");
    }
    ck_assert_uint_gt(one, 0);
    ck_assert_uint_eq(memory("compression"), 4 * one);
    /* Whole contents have a state of their own. */
    ask(GET("/fill/0/20000") GZIP END, 200);
    has("Content-Encoding: gzip");
    ck_assert_uint_eq(memory("compression"), 5 * one);
    ask(GET("/finish/1") END, 200);
    await(&in[1], "first|", 1);
    send_request(&in[6], GET("/hold/6") GZIP END);
    ck_assert(in[6].is_gzip);
    await(&in[6], "first|", 0);
    /* Some are ended, some are left by their clients. */
    for (int i = 0; i < 7; i++) {
        if (i > 3) {
            client_reset(&in[i].client);
            (void)snprintf(request, sizeof(request), GET("/say/%d") END, i);
            EVENTUALLY(asked(request) == 410);
        } else if (i != 1) {
            (void)snprintf(request, sizeof(request), GET("/finish/%d") END, i);
            ask(request, 200);
            await(&in[i], "first|", 1);
        }
        incoming_free(&in[i]);
    }
    /* One stays for the next. */
    EVENTUALLY(memory("compression") == one);
    EVENTUALLY(memory("requests") == 0);
}
END_TEST

/* Reads all that comes, and decodes the chunks. */
static size_t read_all(struct client *from, int chunked)
{
    struct rd_chunked decoder;
    static struct reply r;
    size_t len;
    size_t made;
    size_t used;

    ck_assert_int_eq(client_receive(from, &r, 1), 200);
    ck_assert_ptr_nonnull(strstr(r.head, "\r\nContent-Encoding: gzip\r\n"));
    ck_assert_int_eq(strstr(r.head, "\r\nTransfer-Encoding: ") != NULL,
                     chunked);
    client_reply_free(&r);
    len = from->len - from->start;
    memcpy(packed, from->buf + from->start, len);
    for (;;) {
        ssize_t n = read(from->fd, packed + len, sizeof(packed) - len);
        ck_assert_int_ge(n, 0);
        if (n == 0) {
            break;
        }
        len += (size_t)n;
    }
    if (!chunked) {
        return len;
    }
    rd_chunked_init(&decoder, 4096);
    ck_assert_int_eq(
        rd_chunked_decode(&decoder, packed, len, packed, &used, &made),
        RD_CHUNKED_DONE);
    ck_assert_uint_eq(used, len);
    return made;
}

static void check_long(size_t len)
{
    ck_assert_int_eq(gunzip(packed, len, out, sizeof(out)), LONG_LEN);
    ck_assert(memcmp(out, noise, LONG_LEN) == 0);
    EVENTUALLY(__atomic_load_n(&outcome_bytes, __ATOMIC_RELAXED) == len);
}

START_TEST(a_slow_reader_holds_little)
{
    struct client *slow = &(struct client){.fd = -1};
    start();
    ck_assert_int_eq(client_connect(slow, port, 4096), 0);
    ck_assert_int_eq(client_say(slow, GET("/long") GZIP ONCE END), 0);
    /* The writer has to wait; what is kept fills less than output_high, and
     * the chunks that it lies in. */
    EVENTUALLY(memory("output") > options.output_high_bytes / 2);
    for (int i = 0; i < 20; i++) {
        ask(GET("/hello") END, 200);
        ck_assert_uint_le(memory("output"), options.output_high_bytes / 8 * 9);
    }
    check_long(read_all(slow, 1));
    client_close(slow);
    EVENTUALLY(memory("output") == 0);
}
END_TEST

START_TEST(a_stream_for_1_0)
{
    start();
    ck_assert_int_eq(client_say(c, "GET /long HTTP/1.0\r\n" GZIP END), 0);
    check_long(read_all(c, 0));
}
END_TEST

START_TEST(head_of_a_stream)
{
    start();
    ask("HEAD /hold/0" HOST GZIP END, 200);
    has("Content-Encoding: gzip");
    has("Vary: Accept-Encoding");
    has("Transfer-Encoding: chunked");
    ck_assert_uint_eq(memory("compression"), 0);
    ask(GET("/hello") END, 200);
}
END_TEST

static void check_fill(unsigned at, unsigned len)
{
    has("Content-Encoding: gzip");
    has("Vary: Accept-Encoding");
    ck_assert_uint_lt(reply.body_len, len);
    ck_assert_int_eq(gunzip(reply.body, reply.body_len, out, sizeof(out)), len);
    ck_assert(memcmp(out, fill + at, len) == 0);
    client_reply_free(&reply);
}

START_TEST(pipelined)
{
    start();
    for (int i = 0; i < 50; i++) {
        ck_assert_int_eq(
            client_say(c, GET("/fill/1/4000") GZIP END GET("/fill/2/4000")
                              END GET("/copy/3/65536") GZIP END GET("/hello")
                                  GZIP END),
            0);
        ck_assert_int_eq(client_receive(c, &reply, 0), 200);
        check_fill(1, 4000);
        ck_assert_int_eq(client_receive(c, &reply, 0), 200);
        lacks("Content-Encoding:");
        ck_assert(memcmp(reply.body, fill + 2, 4000) == 0);
        client_reply_free(&reply);
        ck_assert_int_eq(client_receive(c, &reply, 0), 200);
        check_fill(3, 65536);
        ck_assert_int_eq(client_receive(c, &reply, 0), 200);
        lacks("Vary:");
        ck_assert_str_eq(reply.body, "hello");
        client_reply_free(&reply);
    }
}
END_TEST

START_TEST(a_content_that_came_late)
{
    char head[200];
    start();
    /* The first half is a turn of its own: its 100 says so. */
    (void)snprintf(head, sizeof(head),
                   "POST /echo" HOST GZIP
                   "Expect: 100-continue\r\nContent-Length: 30000\r\n\r\n");
    ck_assert_int_eq(client_say(c, head), 0);
    ck_assert_int_eq(recv(c->fd, head, 25, MSG_WAITALL), 25);
    ck_assert(memcmp(head, "HTTP/1.1 100 ", 13) == 0);
    ck_assert_int_eq(client_send(c, fill, 30000), 0);
    ck_assert_int_eq(client_receive(c, &reply, 0), 200);
    size_t len = reply.body_len;
    check_fill(0, 30000);
    EVENTUALLY(__atomic_load_n(&outcome_bytes, __ATOMIC_RELAXED) == len);
}
END_TEST

static void *many(void *arg)
{
    struct client *client = calloc(1, sizeof(*client));
    struct reply *r = calloc(1, sizeof(*r));
    char request[128];
    char *text = malloc(65536);
    uintptr_t good = 0;

    for (unsigned i = 0; client && r && text && i < 60; i++) {
        unsigned len = 1024 + i * 1000;
        if (i % 10 == 0) {
            if (i > 0) {
                client_close(client);
            }
            if (client_connect(client, port, 0) != 0) {
                break;
            }
        }
        (void)snprintf(request, sizeof(request), GET("/fill/%u/%u") GZIP END, i,
                       len);
        if (client_ask(client, request, r) == 200 &&
            gunzip(r->body, r->body_len, text, 65536) == (long)len &&
            memcmp(text, fill + i, len) == 0) {
            good++;
        }
        client_reply_free(r);
    }
    client_close(client);
    free(client);
    free(r);
    free(text);
    (void)arg;
    return (void *)good; /* NOLINT(performance-no-int-to-ptr) */
}

START_TEST(loops_do_not_share)
{
    pthread_t threads[4];
    void *good;

    restd_server_free(server);
    options.workers = 2;
    make_server();
    use(restd_gzip(NULL, &plugin, &error));
    start();
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, many, NULL), 0);
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &good), 0);
        ck_assert_uint_eq((uintptr_t)good, 60);
    }
    ck_assert_uint_gt(memory("compression"), 0);
    ck_assert_uint_le(memory("compression"), 2u * 65536);
}
END_TEST

/* What curl has unpacked is what was sent. */
START_TEST(curl_reads_it)
{
    static const char *const paths[] = {"/fill/7/60000", "/copy/7/60000",
                                        "/long"};
    char command[256];

    start();
    for (int i = 0; i < 3; i++) {
        const char *want = i < 2 ? fill + 7 : noise;
        size_t want_len = i < 2 ? 60000 : LONG_LEN;
        (void)snprintf(command, sizeof(command),
                       "curl -sSf --noproxy '*' --max-time 60 --compressed "
                       "http://127.0.0.1:%d%s",
                       port, paths[i]);
        FILE *f = popen(command, "r");
        ck_assert_ptr_nonnull(f);
        size_t n = fread(out, 1, sizeof(out), f);
        ck_assert_int_eq(pclose(f), 0);
        ck_assert_uint_eq(n, want_len);
        ck_assert(memcmp(out, want, n) == 0);
        EVENTUALLY(__atomic_load_n(&outcome_bytes, __ATOMIC_RELAXED) != 0);
        if (i < 2) {
            ck_assert_uint_lt(__atomic_load_n(&outcome_bytes, __ATOMIC_RELAXED),
                              60000);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gzip_server");
    TCase *tc = tcase_create("gzip_server");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, what_is_written_arrives);
    tcase_add_test(tc, a_fifth_stream_is_plain);
    tcase_add_test(tc, a_slow_reader_holds_little);
    tcase_add_test(tc, a_stream_for_1_0);
    tcase_add_test(tc, head_of_a_stream);
    tcase_add_test(tc, pipelined);
    tcase_add_test(tc, a_content_that_came_late);
    tcase_add_test(tc, loops_do_not_share);
    tcase_add_test(tc, curl_reads_it);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
