/* SPDX-License-Identifier: MIT */
/* Static files through a running server: preconditions, ranges, large files
 * and the descriptors that they hold. */
#include "files_tree.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/suite.h"

/* --- preconditions ------------------------------------------------------------ */

#define SAME "Sun, 06 Nov 1994 08:49:37 GMT"
#define OLDER "Sun, 06 Nov 1994 08:49:36 GMT"
#define NEWER "Sun, 06 Nov 1994 08:49:38 GMT"

/* "@" stands for the entity-tag. */
static const struct {
    const char *lines;
    int status;
} conditions[] = {
    {"If-None-Match: @", 304},
    {"If-None-Match: W/@", 304},
    {"If-None-Match: *", 304},
    {"If-None-Match: \"a\", @", 304},
    {"If-None-Match: \"a\"\r\nIf-None-Match: @", 304},
    {"If-None-Match: \"a\"", 200},
    {"If-None-Match: a", 200},
    {"If-Modified-Since: " SAME, 304},
    {"If-Modified-Since: " NEWER, 304},
    {"If-Modified-Since: " OLDER, 200},
    {"If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT", 304},
    {"If-Modified-Since: yesterday", 200},
    /* The date is for those who do not know the tag. */
    {"If-None-Match: \"a\"\r\nIf-Modified-Since: " SAME, 200},
    {"If-None-Match: @\r\nIf-Modified-Since: " OLDER, 304},
    {"If-Match: @", 200},
    {"If-Match: *", 200},
    {"If-Match: \"a\", @", 200},
    {"If-Match: \"a\"\r\nIf-Match: @", 200},
    {"If-Match: W/@", 412},
    {"If-Match: \"a\"", 412},
    {"If-Unmodified-Since: " SAME, 200},
    {"If-Unmodified-Since: " NEWER, 200},
    {"If-Unmodified-Since: " OLDER, 412},
    {"If-Unmodified-Since: tomorrow", 200},
    {"If-Match: @\r\nIf-Unmodified-Since: " OLDER, 200},
    {"If-Match: \"a\"\r\nIf-None-Match: @", 412},
    {"If-Match: @\r\nIf-None-Match: @", 304},
    {"If-Unmodified-Since: " OLDER "\r\nIf-Modified-Since: " SAME, 412},
    /* They come before the range. */
    {"If-None-Match: @\r\nRange: bytes=0-1", 304},
    {"If-Match: \"a\"\r\nRange: bytes=0-1", 412},
    {"If-Match: @\r\nRange: bytes=0-1", 206},
    {"If-Range: @\r\nRange: bytes=0-1", 206},
    {"If-Range: " SAME "\r\nRange: bytes=0-1", 206},
    {"If-Range: " NEWER "\r\nRange: bytes=0-1", 200},
    {"If-Range: W/@\r\nRange: bytes=0-1", 200},
    {"If-Range: \"a\"\r\nRange: bytes=0-1", 200},
    {"If-Range: \"a\"\r\nRange: bytes=99-", 200},
    {"If-Range: \"a\"", 200},
    {"If-Nothing: @", 200},
};

START_TEST(preconditions)
{
    char lines[512];
    char told[80];

    file_options.cache_control = "no-cache";
    make_files();
    serve();
    get("/s/a.txt", "", 200);
    value_of("ETag", etag, sizeof(etag));
    for (size_t i = 0; i < N(conditions); i++) {
        with_etag(conditions[i].lines, lines, sizeof(lines));
        get("/s/a.txt", lines, conditions[i].status);
        if (conditions[i].status == 304) {
            value_of("ETag", told, sizeof(told));
            ck_assert_str_eq(told, etag);
            has("Cache-Control: no-cache");
            lacks("Last-Modified:");
            lacks("Content-Type:");
            lacks("Content-Length:");
        } else if (conditions[i].status == 200) {
            body_is(TEXT);
        }
        get_by("HEAD", "/s/a.txt", lines,
               conditions[i].status == 206 ? 200 : conditions[i].status);
    }
}
END_TEST

/* --- ranges ------------------------------------------------------------------- */

START_TEST(one_range)
{
    static const struct {
        const char *range;
        int status;
        const char *told; /* Content-Range without "bytes " */
        const char *body;
    } cases[] = {
        {"bytes=0-4", 206, "0-4/20", "01234"},
        {"bytes=5-", 206, "5-19/20", "56789abcdefghij"},
        {"bytes=-3", 206, "17-19/20", "hij"},
        {"bytes=-300", 206, "0-19/20", TEXT},
        {"bytes=19-99", 206, "19-19/20", "j"},
        {"bytes=0-0", 206, "0-0/20", "0"},
        {"BYTES=1-1, 99-", 206, "1-1/20", "1"},
        {"bytes=20-", 416, "*/20", NULL},
        {"bytes=-0", 416, "*/20", NULL},
        {"bytes=99-100,20-", 416, "*/20", NULL},
        {"bytes=4-2", 200, NULL, TEXT},
        {"bytes=", 200, NULL, TEXT},
        {"lines=1-2", 200, NULL, TEXT},
        {"bytes=0-9,0-9,0-9,0-9", 200, NULL, TEXT},
    };
    char lines[128];

    serve();
    for (size_t i = 0; i < N(cases); i++) {
        (void)snprintf(lines, sizeof(lines), "Range: %s\r\n", cases[i].range);
        get("/s/a.txt", lines, cases[i].status);
        if (cases[i].told) {
            (void)snprintf(lines, sizeof(lines), "Content-Range: bytes %s",
                           cases[i].told);
            has(lines);
        } else {
            lacks("Content-Range:");
        }
        if (cases[i].body) {
            body_is(cases[i].body);
        }
        ck_assert_uint_eq(count("ETag:"), cases[i].status != 416);
    }
    get("/s/empty", "Range: bytes=0-\r\n", 416);
    has("Content-Range: bytes */0");

    get("/s/big.bin", "Range: bytes=1000-2000999\r\n", 206);
    ck_assert_uint_eq(reply.body_len, 2000000);
    ck_assert(memcmp(reply.body, fill + 1000, 2000000) == 0);
}
END_TEST

/* Asks for `n` stretches and checks every octet of the reply. */
static void ask_ranges(const unsigned (*ranges)[2], unsigned n)
{
    char lines[1024] = "Range: bytes=";
    char line[128];
    char type[128];

    for (unsigned i = 0; i < n; i++) {
        (void)snprintf(line, sizeof(line), "%s%u-%u", i ? ", " : "",
                       ranges[i][0], ranges[i][1]);
        strncat(lines, line, sizeof(lines) - strlen(lines) - 1);
    }
    strncat(lines, "\r\n", sizeof(lines) - strlen(lines) - 1);
    get("/s/big.bin", lines, 206);
    lacks("Content-Range:");
    value_of("Content-Type", type, sizeof(type));
    const char *boundary = type + strlen("multipart/byteranges; boundary=");
    ck_assert_uint_eq(strspn(boundary, "0123456789abcdef"), 32);

    const char *p = reply.body;
    for (unsigned i = 0; i < n; i++) {
        size_t len = ranges[i][1] - ranges[i][0] + 1;
        char head[256];
        int head_len = snprintf(head, sizeof(head),
                                "%s--%s\r\n"
                                "Content-Type: application/octet-stream\r\n"
                                "Content-Range: bytes %u-%u/%u\r\n\r\n",
                                i ? "\r\n" : "", boundary, ranges[i][0],
                                ranges[i][1], BIG_LEN);
        ck_assert_int_eq(memcmp(p, head, (size_t)head_len), 0);
        p += head_len;
        ck_assert_int_eq(memcmp(p, fill + ranges[i][0], len), 0);
        p += len;
    }
    ck_assert_int_eq(memcmp(p, "\r\n--", 4), 0);
    ck_assert_int_eq(memcmp(p + 4, boundary, 32), 0);
    ck_assert_str_eq(p + 36, "--\r\n");
    ck_assert_uint_eq(reply.body_len, (size_t)(p + 40 - reply.body));
}

START_TEST(several_ranges)
{
    static const unsigned small[][2] = {{5, 9}, {0, 0}, {4194303, 4194303}};
    /* Small ones behind large ones: the descriptor has to last. */
    static const unsigned mixed[][2] = {
        {100, 2000100}, {3000000, 3000010}, {3100000, 3150000}, {10, 20}};
    unsigned many[16][2];
    char boundary[2][128];

    for (unsigned i = 0; i < N(many); i++) {
        many[i][0] = i * 200000;
        many[i][1] = i * 200000 + 1000 + i * 9;
    }
    serve();
    get("/hello", "", 200); /* the server has its end of the connection */
    int before = fds_count();
    ask_ranges(small, N(small));
    value_of("Content-Type", boundary[0], sizeof(boundary[0]));
    ask_ranges(mixed, N(mixed));
    value_of("Content-Type", boundary[1], sizeof(boundary[1]));
    ck_assert_str_ne(boundary[0], boundary[1]);
    ask_ranges(many, N(many));
    EVENTUALLY(fds_count() == before);

    /* 17 are too many: all of it. */
    get("/s/a.txt",
        "Range: bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8,9-9,10-10,11-11,"
        "12-12,13-13,14-14,15-15,16-16\r\n",
        200);
    body_is(TEXT);
}
END_TEST

/* --- large files and descriptors ------------------------------------------------- */

/* Asks for the large file with a reader that takes nothing. */
static int begin(struct client *reader)
{
    char head[16];

    ck_assert_int_eq(client_connect(reader, port, 4096), 0);
    client_say(reader, "GET /s/big.bin" HOST "\r\n");
    ck_assert_int_eq(recv(reader->fd, head, 12, MSG_PEEK | MSG_WAITALL), 12);
    head[12] = '\0';
    return (int)strtol(head + 9, NULL, 10);
}

/* Descriptors of the large file, of `from` and above. */
static unsigned open_files(int from)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned n = 0;
    char link[32];
    char target[300];
    char large[PATH_MAX];

    ck_assert_ptr_nonnull(dir);
    ck_assert_ptr_nonnull(realpath(at("root/big.bin"), large));
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        (void)snprintf(link, sizeof(link), "/proc/self/fd/%.8s", e->d_name);
        ssize_t len = readlink(link, target, sizeof(target) - 1);
        target[len > 0 ? len : 0] = '\0';
        n += strcmp(target, large) == 0 && strtol(e->d_name, NULL, 10) >= from;
    }
    closedir(dir);
    return n;
}

START_TEST(large_files_come_whole)
{
    serve();
    for (int i = 0; i < 3; i++) {
        get("/s/big.bin", "", 200);
        ck_assert_uint_eq(reply.body_len, BIG_LEN);
        ck_assert(memcmp(reply.body, fill, BIG_LEN) == 0);
    }
    ck_assert_uint_eq(open_files(0), 0);
}
END_TEST

START_TEST(files_under_way_leave_low_numbers)
{
    struct rlimit limit;

    options.connections_max = 100;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_uint_ge(limit.rlim_cur, 1000);
    tear_down();
    make_server();
    serve();
    for (size_t i = 0; i < N(readers); i++) {
        ck_assert_int_eq(begin(&readers[i]), 200);
    }
    ck_assert_uint_eq(open_files(0), N(readers));
    ck_assert_uint_eq(open_files(100), N(readers));
    for (size_t i = 0; i < N(readers); i++) {
        client_reset(&readers[i]);
    }
    EVENTUALLY(open_files(0) == 0);
}
END_TEST

START_TEST(few_descriptors)
{
    struct rlimit limit;
    unsigned served = 0;
    int status[20];

    /* The clients have theirs in this process, and more than the server
     * believes. */
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    tear_down();
    struct rlimit low = {(rlim_t)fds_count() + 24 + 12 + 40, limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
    make_server();
    serve();
    for (unsigned i = 0; i < N(status); i++) {
        status[i] = begin(&readers[i]);
        ck_assert(status[i] == 200 || (status[i] == 503 && served > 0));
        served += status[i] == 200;
    }
    /* A quarter of about 40. */
    ck_assert_uint_ge(served, 8);
    ck_assert_uint_le(served, 12);
    ck_assert_uint_eq(open_files(0), served);
    /* Small ones, and other handlers, are served as before. */
    get("/s/a.txt", "", 200);
    get("/hello", "", 200);
    get("/s/big.bin", "Range: bytes=0-99\r\n", 206);
    get("/s/big.bin", "Range: bytes=0-99999\r\n", 503);
    has("Retry-After: 1");
    lacks("ETag:");
    lacks("Content-Range:");
    get("/s/big.bin", "Range: bytes=0-99,200-99999\r\n", 503);
    lacks("ETag:");
    /* One that ends makes room for another. */
    client_reset(&readers[0]);
    EVENTUALLY(open_files(0) == served - 1);
    get("/s/big.bin", "", 200);
    ck_assert_uint_eq(reply.body_len, BIG_LEN);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
END_TEST

START_TEST(a_file_that_shrinks_ends_the_connection)
{
    static char rest[65536];
    ssize_t n;
    size_t got = 0;

    serve();
    ck_assert_int_eq(begin(&readers[0]), 200);
    ck_assert_int_eq(truncate(at("root/big.bin"), 1000), 0);
    while ((n = recv(readers[0].fd, rest, sizeof(rest), 0)) > 0) {
        got += (size_t)n;
    }
    ck_assert_uint_lt(got, BIG_LEN);
    EVENTUALLY(open_files(0) == 0);
    get("/s/big.bin", "", 200);
    ck_assert_uint_eq(reply.body_len, 1000);
}
END_TEST

START_TEST(nothing_stays_open)
{
    static const char *const paths[] = {"/s/a.txt", "/s/big.bin", "/s/dir",
                                        "/s/fifo",  "/s/dir/",    "/s/none"};
    static const char *const lines[] = {"",
                                        "If-None-Match: *\r\n",
                                        "If-Match: \"a\"\r\n",
                                        "Range: bytes=0-9,10-19\r\n",
                                        "Range: bytes=99999999-\r\n",
                                        "Accept-Encoding: gzip\r\n"};
    char text[256];

    write_text("root/a.txt.gz", "packed");
    serve();
    get("/hello", "", 200);
    int before = fds_count();
    for (int walks = 0; walks < 2; walks++) {
        files->walks = walks;
        for (size_t i = 0; i < N(paths) * N(lines) * 2; i++) {
            (void)snprintf(text, sizeof(text), "%s %s" HOST "%s\r\n",
                           i % 2 ? "HEAD" : "GET", paths[i / 2 % N(paths)],
                           lines[i / 2 / N(paths)]);
            client_reply_free(&reply);
            ck_assert_int_gt(client_ask(c, text, &reply), 0);
        }
    }
    EVENTUALLY(fds_count() == before);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("files ranges");
    TCase *tc = tcase_create("files ranges");

    tcase_add_checked_fixture(tc, files_set_up, files_tear_down);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, preconditions);
    tcase_add_test(tc, one_range);
    tcase_add_test(tc, several_ranges);
    tcase_add_test(tc, large_files_come_whole);
    tcase_add_test(tc, files_under_way_leave_low_numbers);
    tcase_add_test(tc, few_descriptors);
    tcase_add_test(tc, a_file_that_shrinks_ends_the_connection);
    tcase_add_test(tc, nothing_stays_open);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
