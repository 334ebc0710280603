/* SPDX-License-Identifier: MIT */
/* Static files through a running server: what is served and what is not,
 * fields, and packed twins. test_files_ranges.c has the rest, and
 * tests/daemon/t_files.py a comparison with another server. */
#include "files_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/suite.h"

/* --- names ------------------------------------------------------------------- */

static const struct {
    const char *path;
    int status;
    const char *body; /* NULL: any */
    int walking;      /* status without openat2(); 0: the same */
} names[] = {
    {"/s/a.txt", 200, TEXT, 0},
    {"/s/%61%2etxt", 200, TEXT, 0},
    {"/s/", 200, "root index", 0},
    {"/s/dir/", 200, "dir index", 0},
    {"/s/dir/index.html", 200, "dir index", 0},
    {"/s/dir/b%20c.TXT", 200, "b c", 0},
    {"/s/dir/../a.txt", 200, TEXT, 0},
    {"/s/empty", 200, "", 0},
    {"/s/inside", 200, TEXT, 404},
    {"/s/inside-dir/index.html", 200, "dir index", 404},
    {"/s/dir/up", 200, TEXT, 404},
    {"/one/a.txt", 200, TEXT, 0},
    /* The name has "%2F" in it; a slash that was encoded is no other. */
    {"/s/x%252Fy", 200, "slash", 0},
    {"/s/dir%2Findex.html", 404, NULL, 0},
    {"/s/dir%2F..%2Fa.txt", 404, NULL, 0},
    {"/s/..%2Fout%2Fsecret", 404, NULL, 0},
    {"/one/dir%2Findex.html", 404, NULL, 0},
    {"/one/..%2Fout%2Fsecret", 404, NULL, 0},
    {"/one/%2Fetc%2Fpasswd", 404, NULL, 0},
    {"/s/../out/secret", 404, NULL, 0},
    {"/s/%2e%2e/out/secret", 404, NULL, 0},
    {"/s/escape", 404, NULL, 0},
    {"/s/escape-dir/secret", 404, NULL, 0},
    {"/s/absolute", 404, NULL, 0},
    {"/s/loop", 404, NULL, 0},
    {"/s/magic/etc/passwd", 404, NULL, 0},
    {"/s/fifo", 404, NULL, 0},
    {"/s/socket", 404, NULL, 0},
    {"/s/bare/", 404, NULL, 0},
    {"/s/odd/", 404, NULL, 0},
    {"/s/none", 404, NULL, 0},
    {"/s/none/", 404, NULL, 0},
    {"/s/a.txt/", 404, NULL, 0},
    {"/s/a.txt/b", 404, NULL, 0},
    {"/s//a.txt", 404, NULL, 0},
    {"/s/dir//index.html", 404, NULL, 0},
    {"/s/dir//", 404, NULL, 0},
    {"/s/.hidden", 404, NULL, 0},
    {"/s/%2ehidden", 404, NULL, 0},
    {"/s/.git/config", 404, NULL, 0},
    {"/s/.git", 404, NULL, 0},
    {"/s/a.txt%00", 400, NULL, 0},
    {"/s/%e4", 404, NULL, 0},
};

static void check_names(int walking)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", at("root/socket"));
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    files->walks = walking;
    serve();
    for (size_t i = 0; i < N(names); i++) {
        int status =
            walking && names[i].walking ? names[i].walking : names[i].status;
        if (c->fd < 0 || reply.close) {
            client_close(c);
            ck_assert_int_eq(client_connect(c, port, 0), 0);
        }
        get(names[i].path, "", status);
        if (status == 200) {
            body_is(names[i].body);
        } else {
            ck_assert_ptr_null(strstr(reply.body, "secret"));
        }
    }
    close(fd);
}

START_TEST(names_are_found_beneath_the_root)
{
    ck_assert_int_eq(files->walks, 0);
    check_names(0);
}
END_TEST

START_TEST(names_are_found_by_a_walk)
{
    check_names(1);
}
END_TEST

START_TEST(long_names_do_not_exist)
{
    char path[5000] = "/s/";

    serve();
    memset(path + 3, 'a', 300);
    get(path, "", 404);
    files->walks = 1;
    get(path, "", 404);
    memset(path + 3, 'a', sizeof(path) - 4);
    get(path, "", 404);
}
END_TEST

START_TEST(symlinks_and_hidden_names_by_option)
{
    file_options.symlinks = 0;
    file_options.hidden = 1;
    file_options.index = NULL;
    make_files();
    serve();
    get("/s/a.txt", "", 200);
    get("/s/inside", "", 404);
    get("/s/inside-dir/index.html", "", 404);
    get("/s/.hidden", "", 200);
    get("/s/.git/config", "", 200);
    get("/s/dir/", "", 404);
    get("/s/", "", 404);
}
END_TEST

START_TEST(folders_redirect)
{
    static const struct {
        const char *path, *location;
    } cases[] = {
        {"/s/dir", "/s/dir/"},
        {"/s/bare", "/s/bare/"},
        {"/s/dir?a=1&b", "/s/dir/?a=1&b"},
        {"/s/dir?", "/s/dir/?"},
        {"/s/%64ir", "/s/%64ir/"},
        {"/s/inside-dir", "/s/inside-dir/"},
        /* Neither may name another host. */
        {"//../s/dir", "/../s/dir/"},
        {"///../../s/dir", "/../../s/dir/"},
        {"/s/\\host", "/s/%5Chost/"},
        {"http://x/s/dir", "/s/dir/"},
    };
    char location[128];
    char path[6000];

    serve();
    for (size_t i = 0; i < N(cases); i++) {
        get(cases[i].path, "", 301);
        value_of("Location", location, sizeof(location));
        ck_assert_str_eq(location, cases[i].location);
        ck_assert_uint_eq(reply.body_len, 0);
    }
    memset(path, 'q', sizeof(path));
    memcpy(path, "/s/dir?", 7);
    path[4500] = '\0';
    get(path, "", 414);
}
END_TEST

/* Of a user that is not root, as root may read everything. */
START_TEST(errors_have_their_status)
{
    struct rd_file file;
    struct rlimit limit;

    ck_assert_int_eq(chmod(at("root/a.txt"), 0), 0);
    (void)setfsuid(65534);
    int status = rd_files_open(files, "a.txt", &file);
    (void)setfsuid(geteuid());
    ck_assert_int_eq(status, 403);
    ck_assert_int_eq(file.fd, -1);

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    struct rlimit none = {(rlim_t)files->root, limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    status = rd_files_open(files, "dir/index.html", &file);
    files->walks = 1;
    int walking = rd_files_open(files, "dir/index.html", &file);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(status, 503);
    ck_assert_int_eq(walking, 503);
    ck_assert_int_eq(rd_files_open(files, "dir/index.html", &file), 0);
    ck_assert_uint_eq(file.size, 9);
    rd_files_close(&file);
    ck_assert_int_eq(file.fd, -1);
}
END_TEST

START_TEST(options_are_checked)
{
    struct restd_files *none = NULL;
    char file[80];

    (void)snprintf(file, sizeof(file), "%s", at("root/a.txt"));
    const struct restd_files_options good = file_options;
    struct restd_files_options bad[8];
    for (size_t i = 0; i < N(bad); i++) {
        bad[i] = good;
        bad[i].root = "/";
    }
    bad[0].root = NULL;
    bad[1].root = "";
    bad[2].index = "a/b";
    bad[3].index = "";
    bad[4].index = "..";
    bad[5].cache_control = "a\r\nb";
    bad[6].default_type = "a\nb";
    bad[7].size = 0;
    for (size_t i = 0; i < N(bad); i++) {
        ck_assert_int_eq(restd_files_new(&bad[i], &none, &error), RESTD_EINVAL);
        ck_assert_ptr_null(none);
    }
    bad[0].root = "/none/such";
    ck_assert_int_eq(restd_files_new(&bad[0], &none, &error), RESTD_ENOENT);
    ck_assert_int_eq(error.os_errno, ENOENT);
    ck_assert_ptr_nonnull(strstr(error.message, "/none/such"));
    bad[0].root = file;
    ck_assert_int_eq(restd_files_new(&bad[0], &none, NULL), RESTD_ENOENT);
    ck_assert_int_eq(restd_files_new(NULL, &none, &error), RESTD_EINVAL);
    restd_files_free(NULL);
}
END_TEST

START_TEST(a_route_needs_a_parameter)
{
    must(restd_router_add(plugin_router, "GET", "/fixed", restd_files_handler,
                          files, &error));
    serve();
    get("/fixed", "", 500);
}
END_TEST

/* --- fields ------------------------------------------------------------------ */

START_TEST(types_follow_extensions)
{
    static const struct {
        const char *name, *type;
    } cases[] = {
        {"a.html", "text/html; charset=utf-8"},
        {"a.b.CSS", "text/css; charset=utf-8"},
        {"a.js", "text/javascript; charset=utf-8"},
        {"a.json", "application/json"},
        {"a.svg", "image/svg+xml"},
        {"a.webmanifest", "application/manifest+json"},
        {"a.7z", "application/x-7z-compressed"},
        {"a.zst", "application/zstd"},
        {"a.abcdefghijklmnop", "application/x-none"},
        {"a.", "application/x-none"},
        {"html", "application/x-none"},
        {".html", "application/x-none"},
        {"a.dir/html", "application/x-none"},
    };
    char path[64];
    char type[80];

    file_options.default_type = "application/x-none";
    file_options.hidden = 1;
    make_files();
    ck_assert_int_eq(mkdir(at("root/a.dir"), 0755), 0);
    serve();
    for (size_t i = 0; i < N(cases); i++) {
        (void)snprintf(path, sizeof(path), "root/%s", cases[i].name);
        write_text(path, "x");
        (void)snprintf(path, sizeof(path), "/s/%s", cases[i].name);
        get(path, "", 200);
        value_of("Content-Type", type, sizeof(type));
        ck_assert_str_eq(type, cases[i].type);
        has("X-Content-Type-Options: nosniff");
    }
}
END_TEST

START_TEST(fields_of_a_file)
{
    struct restd_fields *fields;

    /* What a plugin has set gives way, or stands beside. */
    ck_assert_int_eq(restd_fields_new(&fields), 0);
    must(restd_fields_add(fields, "Cache-Control", "no-store"));
    must(restd_fields_add(fields, "X-Content-Type-Options", "nosniff"));
    must(restd_fields_add(fields, "X-Mine", "1"));
    use(restd_default_headers(fields, &plugin, &error));
    restd_fields_free(fields);
    file_options.cache_control = "max-age=60";
    make_files();
    serve();
    get("/s/a.txt", "", 200);
    has("Accept-Ranges: bytes");
    has("Cache-Control: max-age=60");
    ck_assert_uint_eq(count("Cache-Control:"), 1);
    ck_assert_uint_eq(count("X-Content-Type-Options:"), 1);
    has("X-Mine: 1");
    has("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT");
    lacks("Vary:");
    lacks("Content-Encoding:");
    value_of("ETag", etag, sizeof(etag));
    ck_assert(etag[0] == '"');
    get_by("HEAD", "/s/a.txt", "Range: bytes=0-1\r\n", 200);
    has("Content-Length: 20");
    has("Accept-Ranges: bytes");
    get_by("HEAD", "/s/big.bin", "", 200);
    has("Content-Length: 4194304");

    /* A date in the future is not told. */
    age("root/a.txt", time(NULL) + 100000);
    get("/s/a.txt", "", 200);
    char date[40];
    char modified[40];
    value_of("Date", date, sizeof(date));
    value_of("Last-Modified", modified, sizeof(modified));
    ck_assert_int_eq(memcmp(date, modified, 17), 0);
    age("root/a.txt", -1000);
    get("/s/a.txt", "", 200);
    lacks("Last-Modified:");
}
END_TEST

START_TEST(etags_differ)
{
    char old[80];
    char path[80];

    serve();
    get("/s/a.txt", "", 200);
    value_of("ETag", old, sizeof(old));
    write_text("root/a.txt", "short");
    get("/s/a.txt", "", 200);
    value_of("ETag", etag, sizeof(etag));
    ck_assert_str_ne(etag, old);
    age("root/a.txt", MODIFIED + 1);
    get("/s/a.txt", "", 200);
    value_of("ETag", old, sizeof(old));
    ck_assert_str_ne(etag, old);
    write_text("root/new", "other");
    age("root/new", MODIFIED + 1);
    (void)snprintf(path, sizeof(path), "%s", at("root/a.txt"));
    ck_assert_int_eq(rename(at("root/new"), path), 0);
    get("/s/a.txt", "", 200);
    value_of("ETag", etag, sizeof(etag));
    ck_assert_str_ne(etag, old);
}
END_TEST

/* --- packed files --------------------------------------------------------------- */

START_TEST(packed_files)
{
    static const struct {
        const char *lines;
        int packed;
    } cases[] = {
        {"", 0},
        {"Accept-Encoding: gzip\r\n", 1},
        {"Accept-Encoding: br\r\nAccept-Encoding: x-gzip\r\n", 1},
        {"Accept-Encoding: *\r\n", 1},
        {"Accept-Encoding: gzip;q=0\r\n", 0},
        {"Accept-Encoding: gzip;q=0.5, identity\r\n", 0},
        {"Accept-Encoding: br\r\n", 0},
        {"Accept-Encoding: identity;q=0\r\n", 0},
    };
    char plain[80];

    write_text("root/a.txt.gz", "packed");
    write_text("root/old.txt", TEXT);
    write_text("root/old.txt.gz", "packed");
    age("root/old.txt.gz", MODIFIED - 1);
    write_text("root/a.png", TEXT);
    write_text("root/a.png.gz", "packed");
    write_text("root/dir/index.html.gz", "packed index");
    write_text("root/alone.txt.gz", "packed");
    serve();
    get("/s/a.txt", "", 200);
    value_of("ETag", plain, sizeof(plain));
    for (size_t i = 0; i < N(cases); i++) {
        get("/s/a.txt", cases[i].lines, 200);
        body_is(cases[i].packed ? "packed" : TEXT);
        has("Vary: Accept-Encoding");
        has("Content-Type: text/plain; charset=utf-8");
        ck_assert_uint_eq(count("Content-Encoding: gzip"),
                          (unsigned)cases[i].packed);
        value_of("ETag", etag, sizeof(etag));
        ck_assert_int_eq(strcmp(etag, plain) != 0, cases[i].packed);
        if (cases[i].packed) {
            char lines[256];
            with_etag("Accept-Encoding: gzip\r\nIf-None-Match: @", lines,
                      sizeof(lines));
            get("/s/a.txt", lines, 304);
            has("Vary: Accept-Encoding");
            get("/s/a.txt", lines + strlen("Accept-Encoding: gzip\r\n"), 200);
        }
    }
    get("/s/a.txt", "Accept-Encoding: gzip\r\nRange: bytes=1-3\r\n", 206);
    body_is("ack");
    has("Content-Range: bytes 1-3/6");
    get("/s/dir/", "Accept-Encoding: gzip\r\n", 200);
    body_is("packed index");
    has("Content-Type: text/html; charset=utf-8");
    get("/s/old.txt", "Accept-Encoding: gzip\r\n", 200);
    body_is(TEXT);
    lacks("Vary:");
    get("/s/a.png", "Accept-Encoding: gzip\r\n", 200);
    body_is(TEXT);
    get("/s/alone.txt", "Accept-Encoding: gzip\r\n", 404);
    get("/s/a.txt.gz", "Accept-Encoding: gzip\r\n", 200);
    has("Content-Type: application/gzip");
    lacks("Content-Encoding:");
}
END_TEST

START_TEST(packed_files_by_option)
{
    file_options.precompressed = 0;
    make_files();
    write_text("root/a.txt.gz", "packed");
    serve();
    get("/s/a.txt", "Accept-Encoding: gzip\r\n", 200);
    body_is(TEXT);
    lacks("Vary:");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("files");
    TCase *tc = tcase_create("files");

    tcase_add_checked_fixture(tc, files_set_up, files_tear_down);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, names_are_found_beneath_the_root);
    tcase_add_test(tc, names_are_found_by_a_walk);
    tcase_add_test(tc, long_names_do_not_exist);
    tcase_add_test(tc, symlinks_and_hidden_names_by_option);
    tcase_add_test(tc, folders_redirect);
    tcase_add_test(tc, errors_have_their_status);
    tcase_add_test(tc, options_are_checked);
    tcase_add_test(tc, a_route_needs_a_parameter);
    tcase_add_test(tc, types_follow_extensions);
    tcase_add_test(tc, fields_of_a_file);
    tcase_add_test(tc, etags_differ);
    tcase_add_test(tc, packed_files);
    tcase_add_test(tc, packed_files_by_option);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
