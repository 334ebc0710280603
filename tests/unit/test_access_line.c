/* SPDX-License-Identifier: MIT */
/* Lines of the access log: all formats, what is absent, what would forge a
 * line, and what is too long for one; formats that are none. */
#include "plugins/access_line.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "json_valid.h"
#include "support/suite.h"

#define TIME "[10/Oct/2000:13:55:36 -0700]"
#define HEAD "192.0.2.10 - - " TIME " "

static struct rd_addr peer;
static char peer_text[RD_ACCESS_PEER_SIZE];
static struct rd_access_time at;
static struct rd_access_entry entry;
static struct rd_access_format compiled;
static char line[RD_ACCESS_LINE_SIZE];
static char text[9000];

static void set_up(void)
{
    struct sockaddr_in sa = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(0xc000020au)};

    rd_addr_from_sockaddr(&peer, (struct sockaddr *)&sa);
    rd_access_time_set(&at, 971211336, -7 * 3600);
    memset(&entry, 0, sizeof(entry));
    entry.time = &at;
    entry.time_ms = 971211336042;
    entry.method = rd_slice_str("GET");
    entry.target = rd_slice_str("/a?b=c");
    entry.host = rd_slice_str("h.example:8080");
    entry.version_minor = 1;
    entry.status = 200;
    entry.content_bytes = 2326;
    entry.duration_ns = 1002017999;
}

static const char *format(const char *name)
{
    struct restd_error error = {.message = ""};

    entry.peer = rd_slice(peer_text, rd_access_peer(&peer, peer_text));
    int rc = rd_access_format_compile(&compiled, name, &error);
    ck_assert_msg(rc == 0, "%s: %s", name, error.message);
    memset(line, 'X', sizeof(line));
    unsigned len = rd_access_line(&compiled, &entry, line);
    ck_assert_uint_le(len, RD_ACCESS_LINE_MAX);
    ck_assert_uint_eq(strlen(line), len);
    return line;
}

static void is(const char *name, const char *want)
{
    ck_assert_str_eq(format(name), want);
}

/* Referer and User-Agent, as "combined" finds them. */
static void set_headers(const char *referer, const char *agent)
{
    entry.headers[0] = rd_slice_str(referer);
    entry.headers[1] = rd_slice_str(agent);
}

START_TEST(common_format)
{
    is("common", HEAD "\"GET /a?b=c HTTP/1.1\" 200 2326");
    entry.version_minor = 0;
    entry.status = 304;
    entry.content_bytes = 0;
    is("common", HEAD "\"GET /a?b=c HTTP/1.0\" 304 -");
}
END_TEST

START_TEST(combined_formats)
{
    is("combined", HEAD "\"GET /a?b=c HTTP/1.1\" 200 2326 \"-\" \"-\"");
    set_headers("http://r.example/", "agent/1.0 (x)");
    is("combined", HEAD "\"GET /a?b=c HTTP/1.1\" 200 2326 "
                        "\"http://r.example/\" \"agent/1.0 (x)\"");
    is("vcombined", "h.example:8080 " HEAD "\"GET /a?b=c HTTP/1.1\" 200 2326 "
                    "\"http://r.example/\" \"agent/1.0 (x)\"");
    entry.host = rd_slice_str("[::1]");
    ck_assert_ptr_eq(strstr(format("vcombined"), "[::1]:80 192.0.2.10"), line);
    entry.host = rd_slice_str("");
    ck_assert_ptr_eq(strstr(format("vcombined"), "-:80 192.0.2.10"), line);
}
END_TEST

START_TEST(formats_with_names)
{
    is("json", "{\"time\":\"2000-10-10T13:55:36-07:00\","
               "\"remote_addr\":\"192.0.2.10\",\"host\":\"h.example\","
               "\"method\":\"GET\",\"uri\":\"/a?b=c\","
               "\"protocol\":\"HTTP/1.1\",\"status\":200,\"bytes\":2326,"
               "\"duration\":1.002017,\"referer\":null,\"user_agent\":null,"
               "\"request_id\":null}");
    set_headers("-", "a b");
    entry.id = rd_slice_str("id-1");
    is("logfmt", "time=2000-10-10T13:55:36-07:00 remote_addr=192.0.2.10 "
                 "host=h.example method=GET uri=\"/a?b=c\" protocol=HTTP/1.1 "
                 "status=200 bytes=2326 duration=1.002017 referer=\"-\" "
                 "user_agent=\"a b\" request_id=id-1");
    entry.content_bytes = 0;
    ck_assert_ptr_nonnull(strstr(format("logfmt"), " bytes=0 "));
}
END_TEST

START_TEST(patterns)
{
    is("$status", "200");
    is("<$msec|$time_iso8601|$time_local>",
       "<971211336.042|2000-10-10T13:55:36-07:00|10/Oct/2000:13:55:36 -0700>");
    is("$host $vhost\t$request_method $request_uri $server_protocol",
       "h.example h.example:8080\tGET /a?b=c HTTP/1.1");
    is("$request_time s: $body_bytes_sent", "1.002017 s: 2326");
    is("a literal of more than sixteen bytes, gr\xc3\xbc\xc3\x9f: $status",
       "a literal of more than sixteen bytes, gr\xc3\xbc\xc3\x9f: 200");
    entry.content_bytes = 0;
    entry.duration_ns = 7000;
    entry.headers[0] = rd_slice_str("one");
    entry.headers[1] = rd_slice_str("two");
    is("$request_time$body_bytes_sent$http_x_a$http_b$http_x_a.",
       "0.0000070onetwoone.");
    ck_assert_str_eq(compiled.headers[0], "x-a");
    ck_assert_str_eq(compiled.headers[1], "b");
    ck_assert_uint_eq(compiled.headers_n, 2);
    is("$request_id", "-");
    ck_assert_uint_eq(compiled.has_id, 1);
}
END_TEST

START_TEST(no_request)
{
    entry.method = rd_slice("", 0);
    entry.target = rd_slice(NULL, 0);
    entry.host = rd_slice(NULL, 0);
    entry.status = 400;
    is("common", HEAD "\"-\" 400 2326");
    is("$request_method $request_uri $server_protocol $host", "- - - -");
    ck_assert_ptr_nonnull(strstr(format("json"),
                                 "\"host\":null,\"method\":null,\"uri\":null,"
                                 "\"protocol\":\"-\""));
}
END_TEST

START_TEST(other_peers)
{
    struct sockaddr_in6 sa = {.sin6_family = AF_INET6};
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    ck_assert_int_eq(inet_pton(AF_INET6, "2001:db8::1", &sa.sin6_addr), 1);
    rd_addr_from_sockaddr(&peer, (struct sockaddr *)&sa);
    is("$remote_addr", "2001:db8::1");
    ck_assert_int_eq(inet_pton(AF_INET6,
                               "1111:2222:3333:4444:5555:6666:7777:8888",
                               &sa.sin6_addr),
                     1);
    rd_addr_from_sockaddr(&peer, (struct sockaddr *)&sa);
    is("$remote_addr", "1111:2222:3333:4444:5555:6666:7777:8888");
    rd_addr_from_sockaddr(&peer, (struct sockaddr *)&un);
    is("$remote_addr", "unix:");
    peer.family = RD_IPV4;
    memset(peer.ip, 255, 4);
    is("$remote_addr", "255.255.255.255");
}
END_TEST

/* Every octet at every place of a word of eight, among plain ones. */
START_TEST(octets_are_escaped_wherever_they_stand)
{
    char want[64];
    char agent[13];

    for (unsigned c = 0; c < 256; c++) {
        int plain = c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
        for (size_t i = 0; i < 12; i++) {
            memcpy(agent, "abcdefghijkl", 13);
            agent[i] = (char)c;
            entry.headers[0] = rd_slice(agent, 12);
            int n = snprintf(want, sizeof(want), "%.*s", (int)i, agent);
            n += snprintf(want + n, sizeof(want) - (size_t)n,
                          plain ? "%c" : "\\x%02x", c);
            (void)snprintf(want + n, sizeof(want) - (size_t)n, "%s",
                           &"abcdefghijkl"[i + 1]);
            is("$http_a", want);
        }
    }
}
END_TEST

START_TEST(a_line_cannot_be_forged)
{
    set_headers("", "x\" 200 1\r\n192.0.2.1 - - " TIME
                    " \"GET /\x1b[2J\\ \xc2\x9b");
    const char *agent = strstr(format("combined"), "\"-\" ") + 4;
    ck_assert_str_eq(agent, "\"x\\x22 200 1\\x0d\\x0a192.0.2.1 - - " TIME
                            " \\x22GET /\\x1b[2J\\x5c \\xc2\\x9b\"");
}
END_TEST

/* What JSON and logfmt make of what a client may send. */
START_TEST(strings_of_json_and_logfmt)
{
    static const struct {
        const char *sent, *json, *logfmt;
    } cases[] = {
        {"", "null", "-"},
        {"-", "\"-\"", "\"-\""},
        {"plain", "\"plain\"", "plain"},
        {"a=b", "\"a=b\"", "\"a=b\""},
        {"a b", "\"a b\"", "\"a b\""},
        {"q\"\\", "\"q\\\"\\\\\"", "\"q\\\"\\\\\""},
        {"\t\r\n", "\"\\t\\r\\n\"", "\"\\t\\r\\n\""},
        {"\x1b[2J\x7f", "\"\\u001b[2J\\u007f\"", "\"\\u001b[2J\\u007f\""},
        /* C1 in UTF-8. */
        {"x\xc2\x9by", "\"x\\u009by\"", "\"x\\u009by\""},
        {"gr\xc3\xbc\xc3\x9f\xf0\x9f\x98\x80",
         "\"gr\xc3\xbc\xc3\x9f\xf0\x9f\x98\x80\"",
         "\"gr\xc3\xbc\xc3\x9f\xf0\x9f\x98\x80\""},
        {"\xff.\xc3", "\"\xef\xbf\xbd.\xef\xbf\xbd\"",
         "\"\xef\xbf\xbd.\xef\xbf\xbd\""},
        /* Overlong, and a surrogate: none of their bytes is a character. */
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"",
         "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\",\"status\":1,\"x\":\"", "\"\\\",\\\"status\\\":1,\\\"x\\\":\\\"\"",
         "\"\\\",\\\"status\\\":1,\\\"x\\\":\\\"\""},
    };
    char want[200];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        entry.target = rd_slice_str(cases[i].sent);
        (void)snprintf(want, sizeof(want), "\"uri\":%s,\"protocol\"",
                       cases[i].json);
        ck_assert_msg(strstr(format("json"), want) != NULL, "%s in %s", want,
                      line);
        ck_assert_msg(json_valid(line), "%s", line);
        (void)snprintf(want, sizeof(want),
                       " uri=%s protocol=", cases[i].logfmt);
        ck_assert_msg(strstr(format("logfmt"), want) != NULL, "%s in %s", want,
                      line);
    }
}
END_TEST

/* Random octets never break a line of JSON, however it is cut. */
START_TEST(random_octets_in_json)
{
    srand(1);
    for (unsigned round = 0; round < 3000; round++) {
        size_t len = (size_t)rand() % 3000;
        for (size_t i = 0; i < len; i++) {
            text[i] = (char)(rand() % 4 ? rand() : "\"\\\xc2\xe2"[rand() % 4]);
        }
        entry.target = rd_slice(text, len / 2);
        entry.headers[1] = rd_slice(text + len / 2, len - len / 2);
        ck_assert_msg(json_valid(format("json")), "%s", line);
        ck_assert_ptr_nonnull(strstr(line, "\"request_id\":null}"));
    }
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

#define PATTERN                                                                \
    "$remote_addr - - [$time_local] \"$request\" $status $body_bytes_sent "    \
    "\"$http_referer\" \"$http_user_agent\" $request_id $request_time"

/* All lengths of all parts, plain and escaped: each line is whole. */
START_TEST(long_parts_are_cut_and_the_rest_is_there)
{
    static const size_t lens[] = {
        0,   1,   7,   100, 126,  127,  128,  129,  130,  131,  132,  133,
        144, 255, 300, 600, 1000, 1200, 1300, 1400, 1450, 1500, 1999, 8192};
    const size_t n = sizeof(lens) / sizeof(lens[0]);

    memset(text, _i ? '"' : 'a', sizeof(text));
    entry.content_bytes = UINT64_MAX;
    entry.duration_ns = UINT64_MAX;
    entry.id = rd_slice("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                        128);
    for (size_t i = 0; i < n * n * n; i++) {
        entry.target = rd_slice(text, lens[i % n]);
        entry.headers[0] = rd_slice(text, lens[i / n % n]);
        entry.headers[1] = rd_slice(text, lens[i / n / n]);
        ck_assert_uint_eq(fields_of(format(PATTERN)), 12);
        /* The id is never cut. */
        const char *tail = strrchr(line, ' ');
        ck_assert_str_eq(tail, " 18446744073.709551");
        ck_assert_msg(tail[-129] == ' ' && tail[-1] == 'a', "%s", line);
    }
}
END_TEST

START_TEST(short_parts_leave_their_room_to_others)
{
    memset(text, 'a', sizeof(text));
    entry.target = rd_slice(text, 1500);
    entry.headers[1] = rd_slice(text, 300);
    ck_assert_ptr_null(strstr(format("combined"), "..."));
    entry.headers[1] = rd_slice(text, 500);
    ck_assert_ptr_nonnull(strstr(format("combined"), "a...\""));
    ck_assert_uint_gt(strlen(line), RD_ACCESS_LINE_MAX - 8);
    entry.method = rd_slice(text, 8000);
    ck_assert_ptr_nonnull(
        strstr(format("combined"), "a... ... HTTP/1.1\" 200 2326 "));
}
END_TEST

START_TEST(formats_that_are_none)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"", "\"\" is no format of an access log: neither common, combined, "
             "vcombined, json or logfmt, nor a pattern with a field such as "
             "$status"},
        {"combine", "\"combine\" is no format of an access log (did you mean "
                    "\"combined\"?)"},
        {"JSON", "\"JSON\" is no format of an access log: neither"},
        {"$statsu $host", "\"$statsu\" is no field of an access log (did you "
                          "mean \"$status\"?)"},
        {"$xyzzyx", "\"$xyzzyx\" is no field of an access log"},
        {"costs 5$", "\"$\" is no field of an access log"},
        {"$http_ $status", "\"$http_\" is no name of a header field"},
        {"$status\n", "a format of an access log has a control character, or "
                      "is no UTF-8"},
        {"\xff$status", "a format of an access log has a control character"},
    };
    struct restd_error error;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_eq(
            rd_access_format_compile(&compiled, wrong[i].text, &error),
            RESTD_EINVAL);
        ck_assert_msg(strncmp(error.message, wrong[i].message,
                              strlen(wrong[i].message)) == 0,
                      "%s", error.message);
    }
}
END_TEST

static void fill(const char *piece, unsigned n)
{
    size_t len = strlen(piece);

    for (unsigned i = 0; i < n; i++) {
        memcpy(text + i * len, piece, len + 1);
    }
}

START_TEST(formats_that_are_too_long)
{
    struct restd_error error;

    fill("$status", 47);
    ck_assert_int_eq(rd_access_format_compile(&compiled, text, &error), 0);
    fill("$status", 48);
    ck_assert_int_eq(rd_access_format_compile(&compiled, text, &error),
                     RESTD_EINVAL);
    fill("$request_uri", 15);
    ck_assert_int_eq(rd_access_format_compile(&compiled, text, &error), 0);
    fill("$request_uri", 16);
    ck_assert_int_eq(rd_access_format_compile(&compiled, text, &error),
                     RESTD_EINVAL);
    memset(text, 'a', 1025);
    memcpy(text + 1025, "$host", 6);
    ck_assert_int_eq(rd_access_format_compile(&compiled, text, &error),
                     RESTD_EINVAL);
    ck_assert_int_eq(rd_access_format_compile(&compiled, text + 1, &error), 0);
    memcpy(text, "$http_", 6);
    memset(text + 6, 'a', 48);
    text[54] = '\0';
    ck_assert_int_eq(rd_access_format_compile(&compiled, text, &error),
                     RESTD_EINVAL);
    text[53] = '\0';
    ck_assert_int_eq(rd_access_format_compile(&compiled, text, &error), 0);
}
END_TEST

START_TEST(times_and_zones)
{
    static const struct {
        int64_t at;
        int offset_s;
        const char *text, *iso;
    } times[] = {
        {971211336, -7 * 3600, TIME, "2000-10-10T13:55:36-07:00"},
        {0, 0, "[01/Jan/1970:00:00:00 +0000]", "1970-01-01T00:00:00+00:00"},
        {0, -3600, "[31/Dec/1969:23:00:00 -0100]", "1969-12-31T23:00:00-01:00"},
        {1709251199, 20700, "[01/Mar/2024:05:44:59 +0545]",
         "2024-03-01T05:44:59+05:45"},
        {1709251199, -12600, "[29/Feb/2024:20:29:59 -0330]",
         "2024-02-29T20:29:59-03:30"},
        {1735689599, 14 * 3600, "[01/Jan/2025:13:59:59 +1400]",
         "2025-01-01T13:59:59+14:00"},
    };

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        rd_access_time_set(&at, times[i].at, times[i].offset_s);
        is("[$time_local]", times[i].text);
        is("$time_iso8601", times[i].iso);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access_line");
    TCase *tcase = tcase_create("lines");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, common_format);
    tcase_add_test(tcase, combined_formats);
    tcase_add_test(tcase, formats_with_names);
    tcase_add_test(tcase, patterns);
    tcase_add_test(tcase, no_request);
    tcase_add_test(tcase, other_peers);
    tcase_add_test(tcase, octets_are_escaped_wherever_they_stand);
    tcase_add_test(tcase, a_line_cannot_be_forged);
    tcase_add_test(tcase, strings_of_json_and_logfmt);
    tcase_add_test(tcase, random_octets_in_json);
    tcase_add_loop_test(tcase, long_parts_are_cut_and_the_rest_is_there, 0, 2);
    tcase_add_test(tcase, short_parts_leave_their_room_to_others);
    tcase_add_test(tcase, times_and_zones);
    tcase_add_test(tcase, formats_that_are_none);
    tcase_add_test(tcase, formats_that_are_too_long);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
