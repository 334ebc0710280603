/* SPDX-License-Identifier: MIT */
/* Structs that the library fills in, options among them, read by programs that were built with an
 * older or a newer library: each function writes as many bytes as the caller's
 * struct has, no more, and 0 to what it does not know. Single-threaded; the
 * servers here are never started.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <restd/restd.h>

#include "support/suite.h"

#define CANARY 0xa5
#define NEWER 24

union any {
    struct restd_stats stats;
    struct restd_loop_stats loop;
    struct restd_counters counters;
    struct restd_memory memory;
    struct restd_option_info option;
    struct restd_route_info route;
    struct restd_access_log_options access_log;
    struct restd_request_id_options request_id;
    struct restd_cors_options cors;
    struct restd_rate_limit_options rate_limit;
    struct restd_gzip_options gzip;
    struct restd_files_options files;
    struct restd_route_options route_options;
    struct restd_form_limits form_limits;
    struct restd_listing listing;
    struct restd_call call;
};

static struct restd_server *server;
static struct restd_router *router;

static int ok(struct restd_request *request, struct restd_response *response,
              void *data)
{
    (void)request;
    (void)response;
    (void)data;
    return 0;
}

static void read_stats(void *to, size_t size)
{
    restd_server_stats_size(server, to, size);
}

static void read_counters(void *to, size_t size)
{
    restd_server_counters_size(server, to, size);
}

static void read_memory(void *to, size_t size)
{
    restd_server_memory_size(server, to, size);
}

static void read_option(void *to, size_t size)
{
    ck_assert_int_eq(restd_option_info_size(1, to, size), 0);
}

static void read_route(void *to, size_t size)
{
    ck_assert_int_eq(restd_router_route_at_size(router, 0, to, size), 0);
}

/* They begin with the size that was asked for, which is no default. */
#define OPTIONS(name)                                                          \
    static void init_##name(void *to, size_t size)                             \
    {                                                                          \
        size_t len = size < sizeof(size) ? size : sizeof(size);                \
        restd_##name##_init_size(to, size);                                    \
        ck_assert_mem_eq(to, &size, len);                                      \
        memset(to, 1, len);                                                    \
    }
OPTIONS(access_log_options)
OPTIONS(request_id_options)
OPTIONS(cors_options)
OPTIONS(rate_limit_options)
OPTIONS(gzip_options)
OPTIONS(files_options)
OPTIONS(route_options)
OPTIONS(form_limits)
OPTIONS(listing)
OPTIONS(call)

static const struct {
    void (*read)(void *to, size_t size);
    size_t size;
} readers[] = {
    {read_stats, sizeof(struct restd_stats)},
    {read_counters, sizeof(struct restd_counters)},
    {read_memory, sizeof(struct restd_memory)},
    {read_option, sizeof(struct restd_option_info)},
    {read_route, sizeof(struct restd_route_info)},
    {init_access_log_options, sizeof(struct restd_access_log_options)},
    {init_request_id_options, sizeof(struct restd_request_id_options)},
    {init_cors_options, sizeof(struct restd_cors_options)},
    {init_rate_limit_options, sizeof(struct restd_rate_limit_options)},
    {init_gzip_options, sizeof(struct restd_gzip_options)},
    {init_files_options, sizeof(struct restd_files_options)},
    {init_route_options, sizeof(struct restd_route_options)},
    {init_form_limits, sizeof(struct restd_form_limits)},
    {init_listing, sizeof(struct restd_listing)},
    {init_call, sizeof(struct restd_call)},
};

static void setup(void)
{
    ck_assert_int_eq(restd_server_new(NULL, &server, NULL), 0);
    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &router), 0);
    ck_assert_int_eq(restd_router_add(router, "GET", "/a", ok, NULL, NULL), 0);
}

static void teardown(void)
{
    restd_router_free(router);
    restd_server_free(server);
}

static int is_filled(const unsigned char *bytes, size_t len, unsigned with)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != with) {
            return 0;
        }
    }
    return 1;
}

START_TEST(older_caller_keeps_its_memory)
{
    size_t size = readers[_i].size;
    unsigned char full[sizeof(union any)], part[sizeof(union any)];

    readers[_i].read(full, size);
    for (size_t n = 0; n < size; n += sizeof(uint32_t)) {
        memset(part, CANARY, sizeof(part));
        readers[_i].read(part, n);
        ck_assert_mem_eq(part, full, n);
        ck_assert(is_filled(part + n, sizeof(part) - n, CANARY));
    }
}
END_TEST

START_TEST(newer_caller_reads_0)
{
    size_t size = readers[_i].size;
    unsigned char bytes[sizeof(union any) + NEWER + 1];

    memset(bytes, CANARY, sizeof(bytes));
    readers[_i].read(bytes, size + NEWER);
    ck_assert(!is_filled(bytes, size, CANARY));
    ck_assert(is_filled(bytes + size, NEWER, 0));
    ck_assert_uint_eq(bytes[size + NEWER], CANARY);
}
END_TEST

/* Of a loop there is nothing to read before the start. */
START_TEST(nothing_is_written_on_an_error)
{
    union any any;
    const unsigned char *bytes = (const unsigned char *)&any;

    memset(&any, CANARY, sizeof(any));
    ck_assert_int_eq(restd_server_loop_stats(server, 99, &any.loop),
                     RESTD_ENOENT);
    ck_assert_int_eq(restd_option_info(999, &any.option), RESTD_ENOENT);
    ck_assert_int_eq(restd_router_route_at(router, 1, &any.route),
                     RESTD_ENOENT);
    ck_assert(is_filled(bytes, sizeof(any), CANARY));
}
END_TEST

/* Counters are part of other structs, so what they grow into is there. */
START_TEST(counters_have_room)
{
    struct restd_stats stats;

    memset(&stats, CANARY, sizeof(stats));
    restd_server_stats(server, &stats);
    ck_assert_uint_eq(sizeof(struct restd_counters), 28 * sizeof(uint64_t));
    ck_assert(is_filled((const unsigned char *)stats.counters.reserved,
                        sizeof(stats.counters.reserved), 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sized");
    TCase *tcase = tcase_create("core");
    int n = (int)(sizeof(readers) / sizeof(readers[0]));

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, older_caller_keeps_its_memory, 0, n);
    tcase_add_loop_test(tcase, newer_caller_reads_0, 0, n);
    tcase_add_test(tcase, nothing_is_written_on_an_error);
    tcase_add_test(tcase, counters_have_room);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
