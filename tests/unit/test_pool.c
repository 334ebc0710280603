/* SPDX-License-Identifier: MIT */
/* A pool of threads: order, bounds, how many threads there are, and its end. */
#include "base/pool.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <restd/error.h>

#include "base/assert.h"
#include "support/suite.h"

#define STACK (128u * 1024)
#define JOBS 1000u

struct task {
    struct rd_job job;
    unsigned number;
    int waits; /* until `gate` lets it */
    int wanted;
};

static struct rd_pool pool;
static struct task tasks[JOBS];
static unsigned order[JOBS];
static atomic_uint done_n, locals_n, locals_max;
static sem_t entered, gate;
static unsigned locals_allowed;

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) != 0) {
    }
}

static void *local_new(void *data)
{
    ck_assert_ptr_eq(data, &pool);
    if (atomic_load(&locals_n) >= locals_allowed) {
        return NULL;
    }
    if (atomic_fetch_add(&locals_n, 1) + 1 > atomic_load(&locals_max)) {
        atomic_store(&locals_max, atomic_load(&locals_n));
    }
    return malloc(1);
}

static void local_free(void *local, void *data)
{
    (void)data;
    free(local);
    atomic_fetch_sub(&locals_n, 1);
}

static int run(struct rd_job *job, void *local, void *data)
{
    struct task *task = RD_CONTAINER_OF(job, struct task, job);

    (void)data;
    *(char *)local = 'x'; /* no two threads have the same: TSan looks */
    if (task->waits) {
        sem_post(&entered);
        wait_for(&gate);
    }
    order[atomic_fetch_add(&done_n, 1)] = task->number;
    return task->wanted;
}

static void make(unsigned threads, unsigned queue, unsigned idle_ms)
{
    static const struct rd_pool_ops ops = {local_new, run, local_free};
    const struct rd_pool_limits limits = {threads, queue, STACK, idle_ms};

    rd_pool_init(&pool, &ops, &pool, &limits);
    for (unsigned i = 0; i < JOBS; i++) {
        tasks[i].number = i;
        tasks[i].waits = 0;
        tasks[i].wanted = 1;
    }
}

static struct rd_pool_figures figures(void)
{
    struct rd_pool_figures f;
    rd_pool_read(&pool, &f);
    return f;
}

static int submit(unsigned i)
{
    return rd_pool_submit(&pool, &tasks[i].job);
}

static void set_up(void)
{
    atomic_store(&done_n, 0);
    atomic_store(&locals_n, 0);
    atomic_store(&locals_max, 0);
    locals_allowed = UINT32_MAX;
    ck_assert_int_eq(sem_init(&entered, 0, 0), 0);
    ck_assert_int_eq(sem_init(&gate, 0, 0), 0);
}

static void tear_down(void)
{
    rd_pool_fini(&pool);
    ck_assert_uint_eq(atomic_load(&locals_n), 0);
}

START_TEST(no_thread_before_the_first_job)
{
    make(4, 10, 1000);
    ck_assert_uint_eq(figures().threads, 0);
    ck_assert_uint_eq(atomic_load(&locals_n), 0);
}
END_TEST

START_TEST(one_thread_keeps_the_order)
{
    make(1, JOBS, 1000);
    for (unsigned i = 0; i < JOBS; i++) {
        ck_assert_int_eq(submit(i), 0);
    }
    rd_pool_fini(&pool);
    ck_assert_uint_eq(atomic_load(&done_n), JOBS);
    for (unsigned i = 0; i < JOBS; i++) {
        ck_assert_uint_eq(order[i], i);
    }
    ck_assert_uint_eq(atomic_load(&locals_max), 1);
}
END_TEST

/* All of them wait at the same time, so none was held up by another. */
START_TEST(who_waits_holds_up_nobody_else)
{
    const unsigned threads = 8;

    make(threads, JOBS, 1000);
    for (unsigned i = 0; i < threads; i++) {
        tasks[i].waits = 1;
        ck_assert_int_eq(submit(i), 0);
    }
    for (unsigned i = 0; i < threads; i++) {
        wait_for(&entered);
    }
    ck_assert_uint_eq(figures().threads, threads);
    ck_assert_uint_eq(figures().running, threads);
    ck_assert_uint_eq(figures().queued, 0);
    for (unsigned i = 0; i < threads; i++) {
        sem_post(&gate);
    }
}
END_TEST

START_TEST(a_full_queue_refuses)
{
    make(1, 2, 1000);
    tasks[0].waits = 1;
    ck_assert_int_eq(submit(0), 0);
    wait_for(&entered);
    ck_assert_int_eq(submit(1), 0);
    ck_assert_int_eq(submit(2), 0);
    ck_assert_int_eq(submit(3), RESTD_EAGAIN);
    ck_assert_uint_eq(figures().queued, 2);
    ck_assert_uint_eq(figures().refused, 1);
    sem_post(&gate);
    rd_pool_fini(&pool);
    ck_assert_uint_eq(atomic_load(&done_n), 3);
}
END_TEST

static int is_retired(void)
{
    struct timespec ms = {0, 1000000};

    for (int i = 0; i < 10000 && figures().threads > 0; i++) {
        pthread_mutex_lock(&pool.lock);
        pthread_mutex_unlock(&pool.lock);
        nanosleep(&ms, NULL);
    }
    return figures().threads == 0;
}

START_TEST(idle_threads_end_and_come_again)
{
    make(4, JOBS, 1);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 40; i++) {
            ck_assert_int_eq(submit(round * 40 + i), 0);
        }
        if (round % 4 == 0) {
            ck_assert(is_retired());
        }
    }
    rd_pool_fini(&pool);
    ck_assert_uint_eq(atomic_load(&done_n), 800);
}
END_TEST

START_TEST(without_memory_for_a_thread)
{
    make(4, JOBS, 1000);
    locals_allowed = 0;
    ck_assert_int_eq(submit(0), RESTD_ENOMEM);
    ck_assert_uint_eq(figures().refused, 1);
    locals_allowed = 1;
    tasks[1].waits = 1;
    ck_assert_int_eq(submit(1), 0);
    wait_for(&entered);
    /* One is enough to come to the others. */
    ck_assert_int_eq(submit(2), 0);
    sem_post(&gate);
    rd_pool_fini(&pool);
    ck_assert_uint_eq(atomic_load(&done_n), 2);
}
END_TEST

START_TEST(what_was_not_worth_it_is_told_apart)
{
    make(1, JOBS, 1000);
    tasks[1].wanted = 0;
    tasks[2].waits = 1;
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(submit(i), 0);
    }
    wait_for(&entered);
    ck_assert_uint_eq(figures().done, 1);
    ck_assert_uint_eq(figures().dropped, 1);
    sem_post(&gate);
}
END_TEST

START_TEST(the_wait_follows_from_what_jobs_take)
{
    make(1, JOBS, 1000);
    ck_assert_uint_eq(rd_pool_wait_s(&pool), 1);
    tasks[0].waits = 1;
    ck_assert_int_eq(submit(0), 0);
    wait_for(&entered);
    for (unsigned i = 1; i <= 10; i++) {
        ck_assert_int_eq(submit(i), 0);
    }
    pthread_mutex_lock(&pool.lock);
    pool.run_ns = 500000000;
    pthread_mutex_unlock(&pool.lock);
    ck_assert_uint_eq(rd_pool_wait_s(&pool), 5);
    pthread_mutex_lock(&pool.lock);
    pool.run_ns = UINT64_C(3600000000000);
    pthread_mutex_unlock(&pool.lock);
    ck_assert_uint_eq(rd_pool_wait_s(&pool), 60);
    sem_post(&gate);
}
END_TEST

static void *submit_many(void *arg)
{
    unsigned from = *(unsigned *)arg;

    for (unsigned i = from; i < from + 250; i++) {
        ck_assert_int_eq(submit(i), 0);
    }
    return NULL;
}

START_TEST(from_many_threads_each_is_done_once)
{
    static unsigned from[4] = {0, 250, 500, 750};
    unsigned char seen[JOBS] = {0};
    pthread_t threads[4];

    make(3, JOBS, 1000);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, submit_many, &from[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    rd_pool_fini(&pool);
    ck_assert_uint_eq(atomic_load(&done_n), JOBS);
    for (unsigned i = 0; i < JOBS; i++) {
        seen[order[i]]++;
    }
    for (unsigned i = 0; i < JOBS; i++) {
        ck_assert_uint_eq(seen[i], 1);
    }
    ck_assert_uint_le(atomic_load(&locals_max), 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool");
    TCase *tc = tcase_create("pool");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, no_thread_before_the_first_job);
    tcase_add_test(tc, one_thread_keeps_the_order);
    tcase_add_test(tc, who_waits_holds_up_nobody_else);
    tcase_add_test(tc, a_full_queue_refuses);
    tcase_add_test(tc, idle_threads_end_and_come_again);
    tcase_add_test(tc, without_memory_for_a_thread);
    tcase_add_test(tc, what_was_not_worth_it_is_told_apart);
    tcase_add_test(tc, the_wait_follows_from_what_jobs_take);
    tcase_add_test(tc, from_many_threads_each_is_done_once);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
