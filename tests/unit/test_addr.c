/* SPDX-License-Identifier: MIT */
/* Listen addresses and peers, by tables. */
#include "net/addr.h"

#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support/suite.h"

static char path_of_107[] =
    "unix:/"
    "1234567890123456789012345678901234567890123456789012345678901234567890"
    "123456789012345678901234567890123456";

static const struct {
    const char *text; /* as it is parsed */
    const char *back; /* as it is written, NULL: the same */
    socklen_t len;
} good[] = {
    {"127.0.0.1:8888", NULL, sizeof(struct sockaddr_in)},
    {"0.0.0.0:0", NULL, sizeof(struct sockaddr_in)},
    {"255.255.255.255:65535", NULL, sizeof(struct sockaddr_in)},
    {":8888", "0.0.0.0:8888", sizeof(struct sockaddr_in)},
    {":0", "0.0.0.0:0", sizeof(struct sockaddr_in)},
    {"10.0.0.1:00080", "10.0.0.1:80", sizeof(struct sockaddr_in)},
    {"[::1]:8888", NULL, sizeof(struct sockaddr_in6)},
    {"[::]:1", NULL, sizeof(struct sockaddr_in6)},
    {"[2001:DB8:0:0::1]:80", "[2001:db8::1]:80", sizeof(struct sockaddr_in6)},
    {"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", NULL,
     sizeof(struct sockaddr_in6)},
    {"[::ffff:192.0.2.1]:80", "192.0.2.1:80", sizeof(struct sockaddr_in6)},
    {"[64:ff9b::192.0.2.33]:80", "[64:ff9b::c000:221]:80",
     sizeof(struct sockaddr_in6)},
};

START_TEST(parsed_and_written_back)
{
    struct sockaddr_storage sa;
    struct rd_addr addr;
    socklen_t len = 0;
    char text[RD_ADDR_TEXT_MAX];

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        const char *back = good[i].back ? good[i].back : good[i].text;
        memset(&sa, 0xff, sizeof(sa));
        ck_assert_msg(rd_addr_parse(good[i].text, &sa, &len, NULL) == 0, "%s",
                      good[i].text);
        ck_assert_uint_eq(len, good[i].len);
        rd_addr_from_sockaddr(&addr, (struct sockaddr *)&sa);
        int n = rd_addr_format(&addr, text, sizeof(text));
        ck_assert_int_eq(n, (int)strlen(back));
        ck_assert_str_eq(text, back);
        /* The exact size is enough, one less is not. */
        ck_assert_int_eq(rd_addr_format(&addr, text, (size_t)n + 1), n);
        ck_assert_int_eq(rd_addr_format(&addr, text, (size_t)n), RESTD_ERANGE);
    }
}
END_TEST

START_TEST(unix_paths)
{
    struct sockaddr_storage sa;
    const struct sockaddr_un *un = (const void *)&sa;
    struct rd_addr addr;
    socklen_t len;
    char text[RD_ADDR_TEXT_MAX];
    static const char *const paths[] = {"unix:/run/a.sock", "unix:a",
                                        "unix:::1", path_of_107};

    ck_assert_uint_eq(strlen(path_of_107), 5 + sizeof(un->sun_path) - 1);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        ck_assert_int_eq(rd_addr_parse(paths[i], &sa, &len, NULL), 0);
        ck_assert_int_eq(un->sun_family, AF_UNIX);
        ck_assert_str_eq(un->sun_path, paths[i] + 5);
        ck_assert_uint_eq(len, offsetof(struct sockaddr_un, sun_path) +
                                   strlen(paths[i] + 5) + 1);
        rd_addr_from_sockaddr(&addr, (struct sockaddr *)&sa);
        ck_assert_int_eq(rd_addr_format(&addr, text, sizeof(text)), 5);
        ck_assert_str_eq(text, "unix:");
    }
}
END_TEST

START_TEST(bad_addresses)
{
    static char long_path[sizeof(path_of_107) + 1];
    static char long_host[4096];
    static const char *const bad[] = {
        "",
        ":",
        "8888",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:99999",
        "127.0.0.1:100000",
        "127.0.0.1:-1",
        "127.0.0.1:+80",
        "127.0.0.1: 80",
        "127.0.0.1:80 ",
        "127.0.0.1:80x",
        "127.0.0.1:0x50",
        "127.0.0.1:8o",
        "256.0.0.1:80",
        "1.2.3:80",
        "1.2.3.4.5:80",
        "01.2.3.4:80",
        " 127.0.0.1:80",
        "localhost:80",
        "*:80",
        "::1:80",
        "::1",
        "[::1]",
        "[::1]80",
        "[::1]:",
        "[::1:80",
        "[]:80",
        "[::1]]:80",
        "[::g]:80",
        "[127.0.0.1]:80",
        "[::1%lo]:80",
        "[1:2:3:4:5:6:7:8:9]:80",
        "127.0.0.1]:80",
        "http://127.0.0.1:80",
        "127.0.0.1:80/",
        "unix:",
        long_path,
        long_host,
    };
    struct sockaddr_storage sa;
    struct restd_error error;
    socklen_t len;

    snprintf(long_path, sizeof(long_path), "%s7", path_of_107);
    memset(long_host, '1', sizeof(long_host) - 4);
    memcpy(long_host + sizeof(long_host) - 4, ":80", 4);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        memset(&error, 0, sizeof(error));
        ck_assert_msg(rd_addr_parse(bad[i], &sa, &len, &error) == RESTD_EINVAL,
                      "\"%s\"", bad[i]);
        ck_assert_int_eq(error.code, RESTD_EINVAL);
        ck_assert_uint_gt(strlen(error.message), 0);
        ck_assert_int_eq(rd_addr_parse(bad[i], &sa, &len, NULL), RESTD_EINVAL);
    }
}
END_TEST

static struct rd_addr addr_of(const char *text)
{
    struct sockaddr_storage sa;
    struct rd_addr addr;
    socklen_t len;
    ck_assert_int_eq(rd_addr_parse(text, &sa, &len, NULL), 0);
    rd_addr_from_sockaddr(&addr, (struct sockaddr *)&sa);
    return addr;
}

START_TEST(same_host)
{
    static const struct {
        const char *a, *b;
        int same;
    } cases[] = {
        {"192.0.2.1:1", "192.0.2.1:2", 1},
        {"192.0.2.1:1", "192.0.2.2:1", 0},
        {"192.0.2.1:1", "[::ffff:192.0.2.1]:1", 1},
        {"192.0.2.1:1", "[::192.0.2.1]:1", 0},
        {"[2001:db8::1]:1", "[2001:db8:0::1]:9", 1},
        {"[2001:db8::1]:1", "[2001:db8::2]:1", 0},
        {"[c000:201::]:1", "192.0.2.1:1", 0},
        {"unix:/a", "unix:/b", 1},
        {"unix:/a", "0.0.0.0:0", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rd_addr a = addr_of(cases[i].a);
        struct rd_addr b = addr_of(cases[i].b);
        ck_assert_msg(rd_addr_same_host(&a, &b) == cases[i].same, "%s %s",
                      cases[i].a, cases[i].b);
    }
}
END_TEST

START_TEST(a_peer_without_a_name_is_a_unix_one)
{
    /* accept4() gives two bytes for a client socket that is not bound. */
    struct sockaddr_storage sa;
    struct rd_addr addr;
    char text[RD_ADDR_TEXT_MAX];
    memset(&sa, 0xff, sizeof(sa));
    sa.ss_family = AF_UNIX;
    memset(&addr, 0xff, sizeof(addr));
    rd_addr_from_sockaddr(&addr, (struct sockaddr *)&sa);
    ck_assert_int_eq(rd_addr_format(&addr, text, sizeof(text)), 5);
    ck_assert_str_eq(text, "unix:");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("addr");
    TCase *tc = tcase_create("addr");
    tcase_add_test(tc, parsed_and_written_back);
    tcase_add_test(tc, unix_paths);
    tcase_add_test(tc, bad_addresses);
    tcase_add_test(tc, same_host);
    tcase_add_test(tc, a_peer_without_a_name_is_a_unix_one);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
