/* SPDX-License-Identifier: MIT */
/* Lines of the access log: both formats, what is absent, what would forge a
 * line, and what is too long for one. */
#include "plugins/access_line.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "support/suite.h"

#define TIME "[10/Oct/2000:13:55:36 -0700]"

static struct rd_addr peer;
static struct rd_access_entry entry;
static char line[RD_ACCESS_LINE_MAX + 1];
static char text[9000];

static void set_up(void)
{
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(0xc000020au)};

    rd_addr_from_sockaddr(&peer, (struct sockaddr *)&sa);
    memset(&entry, 0, sizeof(entry));
    entry.peer = &peer;
    entry.time = TIME;
    entry.method = rd_slice_str("GET");
    entry.target = rd_slice_str("/a?b=c");
    entry.version_minor = 1;
    entry.status = 200;
    entry.content_bytes = 2326;
}

static const char *format(void)
{
    memset(line, 'X', sizeof(line));
    unsigned len = rd_access_line(&entry, line);
    ck_assert_uint_le(len, RD_ACCESS_LINE_MAX);
    ck_assert_uint_eq(strlen(line), len);
    return line;
}

START_TEST(common_format)
{
    ck_assert_str_eq(format(), "192.0.2.10 - - " TIME
                               " \"GET /a?b=c HTTP/1.1\" 200 2326");
    entry.version_minor = 0;
    entry.status = 304;
    entry.content_bytes = 0;
    ck_assert_str_eq(format(),
                     "192.0.2.10 - - " TIME " \"GET /a?b=c HTTP/1.0\" 304 -");
}
END_TEST

START_TEST(combined_format_with_everything)
{
    entry.combined = 1;
    entry.with_id = 1;
    entry.with_duration = 1;
    entry.duration_us = 17;
    ck_assert_str_eq(format(),
                     "192.0.2.10 - - " TIME " \"GET /a?b=c HTTP/1.1\" 200 2326"
                     " \"-\" \"-\" - 17");
    entry.referer = rd_slice_str("http://r.example/");
    entry.agent = rd_slice_str("agent/1.0 (x)");
    entry.id = rd_slice_str("id-1");
    ck_assert_str_eq(format(),
                     "192.0.2.10 - - " TIME " \"GET /a?b=c HTTP/1.1\" 200 2326"
                     " \"http://r.example/\" \"agent/1.0 (x)\""
                     " id-1 17");
}
END_TEST

START_TEST(no_request)
{
    entry.method = rd_slice("", 0);
    entry.target = rd_slice(NULL, 0);
    entry.status = 400;
    ck_assert_str_eq(format(), "192.0.2.10 - - " TIME " \"-\" 400 2326");
}
END_TEST

START_TEST(other_peers)
{
    struct sockaddr_in6 sa = {.sin6_family = AF_INET6};
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    ck_assert_int_eq(inet_pton(AF_INET6, "2001:db8::1", &sa.sin6_addr), 1);
    rd_addr_from_sockaddr(&peer, (struct sockaddr *)&sa);
    ck_assert_ptr_eq(strstr(format(), "2001:db8::1 - - ["), line);
    rd_addr_from_sockaddr(&peer, (struct sockaddr *)&un);
    ck_assert_ptr_eq(strstr(format(), "unix: - - ["), line);
    peer.family = RD_IPV4;
    memset(peer.ip, 255, 4);
    ck_assert_ptr_eq(strstr(format(), "255.255.255.255 - - ["), line);
}
END_TEST

/* Every octet at every place of a word of eight, among plain ones. */
START_TEST(octets_are_escaped_wherever_they_stand)
{
    char want[64];
    char agent[13];

    entry.combined = 1;
    for (unsigned c = 0; c < 256; c++) {
        int plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
        for (size_t at = 0; at < 12; at++) {
            memcpy(agent, "abcdefghijkl", 13);
            agent[at] = (char)c;
            entry.agent = rd_slice(agent, 12);
            int n =
                snprintf(want, sizeof(want), "\"%.*s", (int)at, "abcdefghijkl");
            n += snprintf(want + n, sizeof(want) - (size_t)n,
                          plain ? "%c" : "\\x%02x", c);
            (void)snprintf(want + n, sizeof(want) - (size_t)n, "%s\"",
                           &"abcdefghijkl"[at + 1]);
            const char *got = strstr(format(), "\"-\" ") + 4;
            ck_assert_msg(strcmp(got, want) == 0, "%u at %zu: %s", c, at, got);
        }
    }
}
END_TEST

START_TEST(a_line_cannot_be_forged)
{
    static const char evil[] =
        "x\" 200 1\r\n192.0.2.1 - - " TIME " \"GET /\x1b[2J\\ \xc2\x9b";

    entry.combined = 1;
    entry.agent = rd_slice(evil, sizeof(evil) - 1);
    const char *agent = strstr(format(), "\"-\" ") + 4;
    ck_assert_str_eq(agent, "\"x\\x22 200 1\\x0d\\x0a192.0.2.1 - - " TIME
                            " \\x22GET /\\x1b[2J\\x5c \\xc2\\x9b\"");
}
END_TEST

/* Number of fields of the line, quoted ones as one; 0 if a quote is open. */
static unsigned fields_of(const char *p)
{
    unsigned n = 1;
    int quoted = 0;

    for (; *p; p++) {
        quoted ^= *p == '"';
        n += *p == ' ' && !quoted;
    }
    return quoted ? 0 : n;
}

/* All lengths of all parts, plain and escaped: each line is whole. */
START_TEST(long_parts_are_cut_and_the_rest_is_there)
{
    static const size_t lens[] = {0,   1,   7,   100, 120, 121, 122, 123,
                                  124, 125, 126, 127, 128, 200, 255, 256,
                                  300, 400, 450, 500, 600, 999, 8192};
    const size_t n = sizeof(lens) / sizeof(lens[0]);

    memset(text, _i ? '"' : 'a', sizeof(text));
    entry.combined = 1;
    entry.with_id = 1;
    entry.with_duration = 1;
    entry.content_bytes = UINT64_MAX;
    entry.duration_us = UINT64_MAX;
    for (size_t i = 0; i < n * n * n; i++) {
        entry.target = rd_slice(text, lens[i % n]);
        entry.referer = rd_slice(text, lens[i / n % n]);
        entry.agent = rd_slice(text, lens[i / n / n]);
        entry.id = rd_slice("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                            "aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                            128);
        ck_assert_uint_eq(fields_of(format()), 12);
        /* The id is never cut. */
        const char *tail = strrchr(line, ' ');
        ck_assert_str_eq(tail, " 18446744073709551615");
        ck_assert_msg(tail[-129] == ' ' && tail[-1] == 'a', "%s", line);
    }
}
END_TEST

START_TEST(short_parts_leave_their_room_to_others)
{
    memset(text, 'a', sizeof(text));
    entry.combined = 1;
    entry.target = rd_slice(text, 550);
    entry.agent = rd_slice(text, 300);
    ck_assert_ptr_null(strstr(format(), "..."));
    entry.agent = rd_slice(text, 500);
    ck_assert_ptr_nonnull(strstr(format(), "a...\""));
    ck_assert_uint_gt(strlen(line), RD_ACCESS_LINE_MAX - 8);
    entry.method = rd_slice(text, 8000);
    ck_assert_ptr_nonnull(strstr(format(), "a... ... HTTP/1.1\" 200 2326 "));
}
END_TEST

START_TEST(times_and_zones)
{
    static const struct {
        int64_t at;
        int offset_s;
        const char *text;
    } times[] = {
        {971211336, -7 * 3600, TIME},
        {0, 0, "[01/Jan/1970:00:00:00 +0000]"},
        {0, -3600, "[31/Dec/1969:23:00:00 -0100]"},
        {1709251199, 0, "[29/Feb/2024:23:59:59 +0000]"},
        {1709251199, 20700, "[01/Mar/2024:05:44:59 +0545]"},
        {1709251199, -12600, "[29/Feb/2024:20:29:59 -0330]"},
        {1735689599, 14 * 3600, "[01/Jan/2025:13:59:59 +1400]"},
    };
    char out[RD_ACCESS_TIME_LEN + 1] = "";

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        rd_access_time(times[i].at, times[i].offset_s, out);
        ck_assert_str_eq(out, times[i].text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access_line");
    TCase *tcase = tcase_create("lines");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, common_format);
    tcase_add_test(tcase, combined_format_with_everything);
    tcase_add_test(tcase, no_request);
    tcase_add_test(tcase, other_peers);
    tcase_add_test(tcase, octets_are_escaped_wherever_they_stand);
    tcase_add_test(tcase, a_line_cannot_be_forged);
    tcase_add_loop_test(tcase, long_parts_are_cut_and_the_rest_is_there, 0, 2);
    tcase_add_test(tcase, short_parts_leave_their_room_to_others);
    tcase_add_test(tcase, times_and_zones);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
