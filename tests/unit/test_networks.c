/* SPDX-License-Identifier: MIT */
/* What a list of networks may say, which addresses are then in the set, and
 * the options of the access list that is made of two of them. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <restd/plugins.h>

#include "base/mem.h"
#include "plugins/networks.h"
#include "support/suite.h"

static struct restd_networks *networks;
static struct restd_error error;

static void set_up(void)
{
    networks = NULL;
    memset(&error, 0, sizeof(error));
    rd_mem_fail_nth(0);
}

static void tear_down(void)
{
    restd_networks_free(networks);
}

static void make(const char *text)
{
    restd_networks_free(networks);
    networks = NULL;
    ck_assert_msg(restd_networks_new(text, &networks, &error) == 0, "%s: %s",
                  text, error.message);
}

static struct rd_addr addr_of(const char *text)
{
    struct rd_addr addr = {.family = RD_UNIX};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        rd_addr_from_sockaddr(&addr, (struct sockaddr *)&v4);
    } else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        rd_addr_from_sockaddr(&addr, (struct sockaddr *)&v6);
    } else {
        ck_assert_str_eq(text, "unix");
    }
    return addr;
}

static int has(const char *address)
{
    struct rd_addr addr = addr_of(address);

    addr.port = 4711; /* is not looked at */
    return rd_networks_contains(networks, &addr);
}

static const struct {
    const char *list, *address;
    int is_in;
} cases[] = {
    {"192.0.2.1", "192.0.2.1", 1},
    {"192.0.2.1", "192.0.2.0", 0},
    {"192.0.2.1", "192.0.2.2", 0},
    {"192.0.2.1", "unix", 0},
    {"192.0.2.1/32", "192.0.2.1", 1},
    {"10.0.0.0/8", "10.0.0.0", 1},
    {"10.0.0.0/8", "10.255.255.255", 1},
    {"10.0.0.0/8", "9.255.255.255", 0},
    {"10.0.0.0/8", "11.0.0.0", 0},
    {"192.0.2.128/25", "192.0.2.128", 1},
    {"192.0.2.128/25", "192.0.2.127", 0},
    {"128.0.0.0/1", "255.255.255.255", 1},
    {"128.0.0.0/1", "127.255.255.255", 0},
    {"0.0.0.0/0", "255.255.255.255", 1},
    {"0.0.0.0/0", "::1", 0},
    {"0.0.0.0/0", "::", 0},
    {"0.0.0.0/0", "unix", 0},
    {"0.0.0.0", "::", 0},
    {"::", "0.0.0.0", 0},
    {"::/0", "2001:db8::1", 1},
    {"::/0", "192.0.2.1", 0},
    {"::/0", "::ffff:192.0.2.1", 0},
    {"::/0", "unix", 0},
    {"2001:db8::1", "2001:db8::1", 1},
    {"2001:db8::1", "2001:db8::2", 0},
    {"2001:db8::/32", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", 1},
    {"2001:db8::/32", "2001:db9::", 0},
    {"2001:db8::/63", "2001:db8:0:1::", 1},
    {"2001:db8::/63", "2001:db8:0:2::", 0},
    {"2001:db8::/64", "2001:db8::ffff:ffff:ffff:ffff", 1},
    {"2001:db8::/64", "2001:db8:0:1::", 0},
    {"2001:db8::/65", "2001:db8::7fff:0:0:0", 1},
    {"2001:db8::/65", "2001:db8::8000:0:0:0", 0},
    {"2001:db8::2/127", "2001:db8::3", 1},
    {"2001:db8::2/127", "2001:db8::4", 0},
    {"::ffff:192.0.2.1", "192.0.2.1", 1},
    {"192.0.2.1", "::ffff:192.0.2.1", 1},
    {"::ffff:c000:201", "192.0.2.1", 1},
    {"::ffff:192.0.2.0/120", "192.0.2.255", 1},
    {"::ffff:192.0.2.0/120", "192.0.3.0", 0},
    {"::ffff:0:0/96", "203.0.113.9", 1},
    {"::ffff:0:0/96", "2001:db8::1", 0},
    {"unix", "unix", 1},
    {"unix", "127.0.0.1", 0},
    {"unix", "::1", 0},
    {"127.0.0.0/8, ::1,unix", "127.1.2.3", 1},
    {"127.0.0.0/8, ::1,unix", "::1", 1},
    {"127.0.0.0/8, ::1,unix", "unix", 1},
    {"127.0.0.0/8, ::1,unix", "128.0.0.1", 0},
    {" , 127.0.0.1 ,, ", "127.0.0.1", 1},
    /* A part of another, whichever comes first; twice; an address before. */
    {"10.1.0.0/16, 10.0.0.0/8", "10.200.0.1", 1},
    {"10.0.0.0/8, 10.1.0.0/16", "10.200.0.1", 1},
    {"10.0.0.0/8, 10.0.0.0", "10.200.0.1", 1},
    {"10.0.0.0/8, 10.0.0.0/8", "10.200.0.1", 1},
    {"10.0.0.0/8, 10.255.0.0/16, 12.0.0.0/8", "11.0.0.1", 0},
    {"10.0.0.0/8, 10.255.0.0/16, 12.0.0.0/8", "12.0.0.1", 1},
};

START_TEST(contents)
{
    make(cases[_i].list);
    ck_assert_msg(has(cases[_i].address) == cases[_i].is_in, "%s in %s",
                  cases[_i].address, cases[_i].list);
}
END_TEST

static const struct {
    const char *list, *word;
    int code;
} faults[] = {
    {NULL, "without any", RESTD_EINVAL},
    {"", "without any", RESTD_EINVAL},
    {" , ,", "without any", RESTD_EINVAL},
    {"localhost", "\"localhost\" is no address", RESTD_EINVAL},
    {"Unix", "\"Unix\"", RESTD_EINVAL},
    {"unix:/run/x", "\"unix:/run/x\"", RESTD_EINVAL},
    {"all", "\"all\"", RESTD_EINVAL},
    {"10.0.0", "\"10.0.0\"", RESTD_EINVAL},
    {"10.0.0.256", "\"10.0.0.256\"", RESTD_EINVAL},
    {"010.0.0.1", "\"010.0.0.1\"", RESTD_EINVAL},
    {"10.0.0.1 10.0.0.2", "\"10.0.0.1 10.0.0.2\"", RESTD_EINVAL},
    {"10.0.0.1:80", "\"10.0.0.1:80\"", RESTD_EINVAL},
    {"[::1]", "\"[::1]\"", RESTD_EINVAL},
    {"fe80::1%eth0", "\"fe80::1%eth0\"", RESTD_EINVAL},
    {"10.0.0.0/", "\"10.0.0.0/\"", RESTD_EINVAL},
    {"10.0.0.0/33", "\"10.0.0.0/33\"", RESTD_EINVAL},
    {"10.0.0.0/-1", "\"10.0.0.0/-1\"", RESTD_EINVAL},
    {"10.0.0.0/08", "\"10.0.0.0/08\"", RESTD_EINVAL},
    {"10.0.0.0/ 8", "\"10.0.0.0/ 8\"", RESTD_EINVAL},
    {"10.0.0.0/8/8", "\"10.0.0.0/8/8\"", RESTD_EINVAL},
    {"10.0.0.0/255.0.0.0", "\"10.0.0.0/255.0.0.0\"", RESTD_EINVAL},
    {"10.0.0.0/4294967304", "\"10.0.0.0/4294967304\"", RESTD_EINVAL},
    {"::/129", "\"::/129\"", RESTD_EINVAL},
    {"::ffff:10.0.0.0/95", "\"::ffff:10.0.0.0/95\"", RESTD_EINVAL},
    {"unix/8", "\"unix/8\"", RESTD_EINVAL},
    {"::1, 10.0.0.1/8, ::2", "\"10.0.0.1/8\" has bits", RESTD_EINVAL},
    {"10.0.0.1/8", "is 10.0.0.0/8 meant?", RESTD_EINVAL},
    {"0.0.0.1/0", "is 0.0.0.0/0 meant?", RESTD_EINVAL},
    {"192.0.2.1/31", "is 192.0.2.0/31 meant?", RESTD_EINVAL},
    {"2001:db8::1/32", "is 2001:db8::/32 meant?", RESTD_EINVAL},
    {"2001:db8:0:1::/63", "is 2001:db8::/63 meant?", RESTD_EINVAL},
    {"2001:db8::3/127", "is 2001:db8::2/127 meant?", RESTD_EINVAL},
    {"::ffff:10.0.0.1/104", "is 10.0.0.0/8 meant?", RESTD_EINVAL},
    {"\xff\xfe/1", "is no address", RESTD_EINVAL},
    {"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc/64",
     "is no address", RESTD_EINVAL},
};

START_TEST(no_networks)
{
    int rc = restd_networks_new(faults[_i].list, &networks, &error);

    ck_assert_int_eq(rc, faults[_i].code);
    ck_assert_int_eq(error.code, rc);
    ck_assert_msg(strstr(error.message, faults[_i].word) != NULL, "%s",
                  error.message);
    ck_assert_ptr_null(networks);
}
END_TEST

START_TEST(at_most_4096)
{
    static char text[4097 * 16];
    size_t len = 0;

    for (unsigned i = 0; i < 4096; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "10.%u.%u.1,",
                                i / 256, i % 256);
    }
    make(text);
    ck_assert(has("10.0.0.1") && has("10.15.255.1") && has("10.7.9.1"));
    ck_assert(!has("10.0.0.0") && !has("10.16.0.1") && !has("10.7.9.2"));
    restd_networks_free(networks);
    networks = NULL;
    (void)snprintf(text + len, sizeof(text) - len, "unix");
    ck_assert_int_eq(restd_networks_new(text, &networks, &error), RESTD_ELIMIT);
}
END_TEST

/* Sets of networks in one small part of the addresses, so that they meet; what
 * is in them is what is in one of them alone. */
START_TEST(sets_are_the_sum_of_their_networks)
{
    enum { N = 12 };
    struct restd_networks *single[N];
    char text[N * 24];
    unsigned in = 0;

    srand(1);
    for (int round = 0; round < 200; round++) {
        size_t len = 0;
        for (unsigned i = 0; i < N; i++) {
            unsigned bits = 26 + (unsigned)rand() % 7;
            unsigned host = (unsigned)rand() % 256 & ~(0xffu >> (bits - 24));
            char *one = text + len;
            len += (size_t)snprintf(one, sizeof(text) - len, "192.0.2.%u/%u",
                                    host, bits);
            ck_assert_int_eq(restd_networks_new(one, &single[i], &error), 0);
            text[len++] = ',';
        }
        text[len - 1] = '\0';
        make(text);
        for (unsigned host = 0; host < 256; host++) {
            char address[24];
            int is_in = 0;
            (void)snprintf(address, sizeof(address), "192.0.2.%u", host);
            struct rd_addr addr = addr_of(address);
            for (unsigned i = 0; i < N; i++) {
                is_in |= rd_networks_contains(single[i], &addr);
            }
            ck_assert_msg(has(address) == is_in, "%s in %s", address, text);
            in += (unsigned)is_in;
        }
        for (unsigned i = 0; i < N; i++) {
            restd_networks_free(single[i]);
        }
    }
    /* Neither all nor none, or it says nothing. */
    ck_assert_uint_gt(in, 200 * 256 / 10);
    ck_assert_uint_lt(in, 200 * 256 / 10 * 9);
}
END_TEST

/* --- access list ----------------------------------------------------------- */

static int make_access_list(const char *allow, const char *deny,
                            struct restd_plugin *plugin)
{
    struct restd_access_list_options o;

    restd_access_list_options_init(&o);
    o.allow = allow;
    o.deny = deny;
    memset(plugin, 0, sizeof(*plugin));
    return restd_access_list(&o, plugin, &error);
}

START_TEST(access_list_options)
{
    static const struct {
        const char *allow, *deny, *word;
    } bad[] = {{NULL, NULL, "to allow or to deny"},
               {"", "10.0.0.1", "without any"},
               {"10.0.0.1", "", "without any"},
               {"10.0.0.1/8", NULL, "10.0.0.0/8"},
               {"10.0.0.1", "nobody", "nobody"}};
    struct restd_plugin plugin;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_int_eq(make_access_list(bad[i].allow, bad[i].deny, &plugin),
                         RESTD_EINVAL);
        ck_assert_msg(strstr(error.message, bad[i].word) != NULL, "%s",
                      error.message);
        ck_assert_ptr_null(plugin.data);
    }
    ck_assert_int_eq(restd_access_list(NULL, &plugin, &error), RESTD_EINVAL);
    ck_assert_int_eq(make_access_list("unix", NULL, &plugin), 0);
    ck_assert(plugin.before != NULL && plugin.size == sizeof(plugin));
    plugin.free(plugin.data);
    ck_assert_int_eq(make_access_list(NULL, "unix", &plugin), 0);
    plugin.free(plugin.data);
}
END_TEST

START_TEST(no_memory)
{
    struct restd_plugin plugin;

    ck_assert_int_eq(make_access_list("::1", "::2", &plugin), 0);
    plugin.free(plugin.data);
    unsigned calls = rd_mem_calls();
    ck_assert_uint_eq(calls, 3);
    for (unsigned n = 1; n <= calls; n++) {
        rd_mem_fail_nth(n);
        ck_assert_int_eq(make_access_list("::1", "::2", &plugin), RESTD_ENOMEM);
        ck_assert_int_eq(error.code, RESTD_ENOMEM);
        ck_assert_ptr_null(plugin.data);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("networks");
    TCase *tcase = tcase_create("networks");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, contents, 0,
                        (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_loop_test(tcase, no_networks, 0,
                        (int)(sizeof(faults) / sizeof(faults[0])));
    tcase_add_test(tcase, at_most_4096);
    tcase_add_test(tcase, sets_are_the_sum_of_their_networks);
    tcase_add_test(tcase, access_list_options);
    tcase_add_test(tcase, no_memory);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
