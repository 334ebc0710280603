/* SPDX-License-Identifier: MIT */
/* Reloads and the life of a server: many of them under load, loops that are
 * added, beside a drain. */
#include <restd/restd.h>

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"
#include "versions.h"

/* --- many ------------------------------------------------------------------ */

static struct {
    atomic_int stop, bad;
    atomic_ullong asked;
} clients;

static void *keep_asking(void *data)
{
    static const char request[] = GET("/who");
    int once = data != NULL;
    struct client *client = calloc(1, sizeof(*client));
    struct reply reply = {0};

    client->fd = -1;
    while (!atomic_load(&clients.stop)) {
        if (client->fd < 0 && client_connect(client, site.port, 0) != 0) {
            atomic_fetch_add(&clients.bad, 1);
            break;
        }
        if (client_ask(client, request, &reply) != 200) {
            atomic_fetch_add(&clients.bad, 1);
            break;
        }
        client_reply_free(&reply);
        atomic_fetch_add(&clients.asked, 1);
        if (once) {
            client_close(client);
            client->fd = -1;
        }
    }
    client_reply_free(&reply);
    client_close(client);
    free(client);
    return NULL;
}

static void clients_start(pthread_t *threads)
{
    memset(&clients, 0, sizeof(clients));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, keep_asking, i ? &clients : NULL),
            0);
    }
}

static void clients_stop(const pthread_t *threads)
{
    atomic_store(&clients.stop, 1);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
}

START_TEST(a_thousand_reloads_leave_nothing_behind)
{
    int rounds = is_sanitized() ? 200 : 1000;
    struct version *all = calloc((size_t)rounds, sizeof(*all));
    pthread_t threads[2];
    uint64_t resident = 0;
    uint64_t fixed;

    site.options.workers = 2;
    version_start();
    /* So that the routes before the first and the last one are equal. */
    static struct version second;
    reload_to(&second, "second");
    EVENTUALLY(atomic_load(&first.freed) == 1);
    fixed = site_memory("fixed", 0);
    clients_start(threads);
    for (int i = 0; i < rounds; i++) {
        uint64_t asked = atomic_load(&clients.asked);
        reload_to(&all[i], "next");
        if (i % 50 == 0) {
            EVENTUALLY(atomic_load(&clients.asked) > asked);
        }
        if (i == rounds / 10) {
            resident = resident_bytes();
        }
    }
    for (int i = 0; i < rounds - 1; i++) {
        EVENTUALLY(atomic_load(&all[i].freed) == 1);
    }
    clients_stop(threads);
    ck_assert_int_eq(atomic_load(&clients.bad), 0);
    ck_assert_uint_eq(site_memory("fixed", 0), fixed);
    if (!is_sanitized()) {
        ck_assert_uint_lt(resident_bytes(), resident + 256u * KIB);
    }
    client_close(&kept);
    site_tear_down();
    site.server = NULL;
    ck_assert_int_eq(atomic_load(&all[rounds - 1].freed), 1);
    free(all);
}
END_TEST

/* --- loops ----------------------------------------------------------------- */

/* Number of the loop that serves a new connection. */
static unsigned worker_of(struct client *client)
{
    ck_assert_int_eq(client_connect(client, site.port, 0), 0);
    asks(client, GET("/who"), 200, "");
    const char *space = strchr(r.body, ' ');
    ck_assert_ptr_nonnull(space);
    return (unsigned)strtoul(space + 1, NULL, 10);
}

START_TEST(more_workers_are_started)
{
    struct restd_loop_stats loop;
    struct restd_stats stats;
    struct restd_options options;
    static struct version second;
    static struct client many[6];
    unsigned served[3] = {0};

    version_start();
    options = site.options;
    options.workers = 3;
    make_version(&second, "second");
    ck_assert_int_eq(restd_server_loop_stats(site.server, 2, &loop),
                     RESTD_ENOENT);
    reload(&options, second.router);
    restd_server_stats(site.server, &stats);
    ck_assert_uint_eq(stats.workers, 3);
    ck_assert_int_eq(restd_server_loop_stats(site.server, 2, &loop), 0);
    ck_assert_int_eq(restd_server_loop_stats(site.server, 3, &loop),
                     RESTD_ENOENT);
    /* The acceptor may learn of it later. */
    EVENTUALLY(({
        unsigned n = worker_of(&other);
        client_close(&other);
        n == 2;
    }));
    for (int i = 0; i < 6; i++) {
        served[worker_of(&many[i])]++;
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(served[i], 2);
    }
    becomes(&kept, GET("/who"), "second 0");
    options.workers = 2;
    ck_assert_int_eq(reload_rc(&options, NULL), RESTD_ESTATE);
    ck_assert_ptr_nonnull(strstr(failure.message, "workers"));
    options.workers = 0;
    reload(&options, NULL);
    options.workers = 4;
    reload(&options, NULL);
    restd_server_stats(site.server, &stats);
    ck_assert_uint_eq(stats.workers, 4);
    for (int i = 0; i < 6; i++) {
        asks(&many[i], GET("/who"), 200, "second");
        client_close(&many[i]);
    }
    EVENTUALLY(atomic_load(&first.freed) == 1);
}
END_TEST

START_TEST(workers_that_do_not_fit_are_not_started)
{
    struct restd_options options;
    struct restd_stats stats;
    int fds;

    site.options.memory_budget_bytes = 4 * MIB;
    version_start();
    options = site.options;
    options.workers = 100;
    asks(&kept, GET("/who"), 200, "first");
    fds = fds_count();
    ck_assert_int_eq(reload_rc(&options, NULL), RESTD_EBUDGET);
    ck_assert_int_eq(fds_count(), fds);
    restd_server_stats(site.server, &stats);
    ck_assert_uint_eq(stats.workers, 1);
    asks(&kept, GET("/who"), 200, "first");
}
END_TEST

/* --- life ------------------------------------------------------------------ */

START_TEST(only_a_running_server_reloads)
{
    static struct version second;

    site_new();
    make_version(&second, "second");
    ck_assert_int_eq(reload_rc(NULL, second.router), RESTD_ESTATE);
    restd_server_free(site.server);
    version_start();
    ck_assert_int_eq(client_say(&kept, GET("/hold")), 0);
    sem_wait(&entered);
    restd_server_drain(site.server);
    EVENTUALLY(restd_server_state(site.server) == RESTD_STATE_DRAINING);
    ck_assert_int_eq(reload_rc(NULL, second.router), RESTD_ESTATE);
    ck_assert_int_eq(reload_rc(&site.options, NULL), RESTD_ESTATE);
    sem_post(&open_gate);
    ck_assert_int_eq(content_receive(&kept, &r, 0), 200);
    restd_server_wait(site.server);
    ck_assert_int_eq(reload_rc(NULL, second.router), RESTD_ESTATE);
    ck_assert_int_eq(atomic_load(&second.freed), 0);
    restd_router_free(second.router);
    ck_assert_int_eq(atomic_load(&second.freed), 1);
}
END_TEST

static struct version raced[64];

/* Reloads, with more loops each time, until the server drains. */
static void *keep_reloading(void *data)
{
    struct restd_options options = site.options;
    int *n = data;

    for (*n = 0; *n < 64; ++*n) {
        struct restd_error none;
        struct version *v = &raced[*n];
        memset(v, 0, sizeof(*v));
        if (restd_router_new(RESTD_ROUTER_EXACT, &v->router) != 0 ||
            restd_router_add(v->router, "GET", "/who", who, v, &none) < 0) {
            atomic_fetch_add(&seen.errors, 1);
            break;
        }
        options.workers = 1 + (uint32_t)*n / 4;
        int rc = restd_server_reload(site.server, &options, v->router, &none);
        if (rc != 0) {
            atomic_fetch_add(&seen.errors, rc != RESTD_ESTATE);
            restd_router_free(v->router);
            break;
        }
    }
    return NULL;
}

START_TEST(a_drain_beside_a_reload_ends)
{
    for (int i = 0; i < 24; i++) {
        pthread_t threads[2];
        pthread_t reloader;
        int n = 0;

        site.options.drain_silence_ms = 0;
        site.options.memory_budget_bytes = 40 * MIB;
        version_start();
        clients_start(threads);
        ck_assert_int_eq(pthread_create(&reloader, NULL, keep_reloading, &n),
                         0);
        EVENTUALLY(atomic_load(&clients.asked) > (unsigned)i * 4);
        if (i % 2) {
            restd_server_stop(site.server);
        } else {
            restd_server_drain(site.server);
            restd_server_wait(site.server);
        }
        pthread_join(reloader, NULL);
        clients_stop(threads);
        client_close(&kept);
        ck_assert_int_eq(restd_server_state(site.server), RESTD_STATE_STOPPED);
        restd_server_free(site.server);
        site.server = NULL;
        ck_assert_int_eq(atomic_load(&first.freed), 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reload_life");
    TCase *many = tcase_create("many");
    TCase *loops = tcase_create("loops");

    tcase_add_checked_fixture(many, version_set_up, version_tear_down);
    tcase_set_timeout(many, 120);
    tcase_add_test(many, a_thousand_reloads_leave_nothing_behind);
    suite_add_tcase(suite, many);
    tcase_add_checked_fixture(loops, version_set_up, version_tear_down);
    tcase_set_timeout(loops, 120);
    tcase_add_test(loops, more_workers_are_started);
    tcase_add_test(loops, workers_that_do_not_fit_are_not_started);
    tcase_add_test(loops, only_a_running_server_reloads);
    tcase_add_test(loops, a_drain_beside_a_reload_ends);
    suite_add_tcase(suite, loops);
    return suite_run(suite);
}
