/* SPDX-License-Identifier: MIT */
/* Threads of the library, and the count of usable CPUs. */
#include "base/thread.h"

#include <check.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "support/suite.h"

struct seen {
    char name[32];
    sigset_t mask;
    size_t stack_bytes, guard_bytes;
    int tid;
};

static void *look(void *arg)
{
    struct seen *seen = arg;
    pthread_attr_t attr;
    pthread_getname_np(pthread_self(), seen->name, sizeof(seen->name));
    pthread_sigmask(SIG_SETMASK, NULL, &seen->mask);
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstacksize(&attr, &seen->stack_bytes);
    pthread_attr_getguardsize(&attr, &seen->guard_bytes);
    pthread_attr_destroy(&attr);
    seen->tid = rd_thread_tid();
    return seen;
}

static struct seen run(const char *name, size_t stack_bytes)
{
    struct seen seen;
    pthread_t thread;
    void *result = NULL;
    memset(&seen, 0, sizeof(seen));
    ck_assert_int_eq(rd_thread_start(&thread, name, stack_bytes, look, &seen),
                     0);
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, &seen);
    return seen;
}

START_TEST(name_is_set_and_cut)
{
    ck_assert_str_eq(run("loop-3", 131072).name, "loop-3");
    ck_assert_str_eq(run("123456789012345", 131072).name, "123456789012345");
    ck_assert_str_eq(run("1234567890123456", 131072).name, "123456789012345");
    ck_assert_str_eq(run("", 131072).name, "");
}
END_TEST

START_TEST(every_signal_is_blocked)
{
    sigset_t before, after;
    sigemptyset(&before);
    sigaddset(&before, SIGUSR2);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    struct seen seen = run("x", 131072);
    for (int sig = 1; sig <= SIGRTMAX; sig++) {
        int reserved = sig > 31 && sig < SIGRTMIN;
        if (sig != SIGKILL && sig != SIGSTOP && !reserved) {
            ck_assert_msg(sigismember(&seen.mask, sig) == 1, "signal %d", sig);
        }
    }
    /* The caller's own mask is as before. */
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int sig = 1; sig <= SIGRTMAX; sig++) {
        ck_assert_int_eq(sigismember(&after, sig), sig == SIGUSR2);
    }
}
END_TEST

START_TEST(stack_and_guard)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct seen seen = run("x", 200001);
    ck_assert_uint_ge(seen.guard_bytes, page);
    /* What is asked for is there beside the guard, and not much more. The
     * sanitizers enlarge stacks. */
    ck_assert_uint_ge(seen.stack_bytes, 200001);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ck_assert_uint_le(seen.stack_bytes, 200001 + 4 * page);
#endif
    /* Too small a wish is raised to what the system needs. */
    ck_assert_uint_ge(run("x", 1).stack_bytes, (size_t)PTHREAD_STACK_MIN);
}
END_TEST

START_TEST(tid_is_the_kernels)
{
    ck_assert_int_eq(rd_thread_tid(), (int)getpid());
    struct seen seen = run("x", 131072);
    ck_assert_int_gt(seen.tid, 0);
    ck_assert_int_ne(seen.tid, (int)getpid());
}
END_TEST

START_TEST(failures_are_told)
{
    pthread_t thread;
    struct seen seen;
    rd_mem_fail_nth(1);
    ck_assert_int_eq(rd_thread_start(&thread, "x", 131072, look, &seen),
                     RESTD_ENOMEM);
    rd_mem_fail_nth(0);
    /* More address space than there is. */
    ck_assert_int_lt(rd_thread_start(&thread, "x", SIZE_MAX / 4, look, &seen),
                     0);
    ck_assert_int_lt(rd_thread_start(&thread, "x", SIZE_MAX, look, &seen), 0);
}
END_TEST

START_TEST(cpu_max_table)
{
    static const struct {
        unsigned cpus;
        const char *text;
        unsigned expected;
    } table[] = {
        {8, "max 100000\n", 8},
        {8, "200000 100000\n", 2},
        {8, "200001 100000\n", 3}, /* rounded up */
        {8, "150000 100000\n", 2},
        {8, "10000 100000\n", 1},
        {8, "1 1000000\n", 1},
        {8, "900000 100000\n", 8}, /* more than there are */
        {1, "900000 100000\n", 1},
        {8, "50000 20000\n", 3},
        {8, "18446744073709551615 100000\n", 8},
        {8, "99999999999999999999999 100000\n", 8},
        /* no limit can be read from these */
        {8, "", 8},
        {8, "\n", 8},
        {8, "200000\n", 8},
        {8, "200000 \n", 8},
        {8, "200000 0\n", 8},
        {8, "0 100000\n", 8},
        {8, "-1 100000\n", 8},
        {8, "x", 8},
        {0, "max 100000\n", 1},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        unsigned got = rd_cpus_cap(table[i].cpus, table[i].text);
        ck_assert_msg(got == table[i].expected, "%u, '%s': %u", table[i].cpus,
                      table[i].text, got);
    }
}
END_TEST

START_TEST(usable_cpus_follow_affinity)
{
    cpu_set_t old, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof(old), &old), 0);
    unsigned all = rd_cpus_usable();
    ck_assert_uint_ge(all, 1);
    ck_assert_uint_le(all, (unsigned)CPU_COUNT(&old));
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &old)) {
            CPU_SET(cpu, &one);
            break;
        }
    }
    ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
    unsigned got = rd_cpus_usable();
    ck_assert_int_eq(sched_setaffinity(0, sizeof(old), &old), 0);
    ck_assert_uint_eq(got, 1);
    ck_assert_uint_eq(rd_cpus_usable(), all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("thread");
    TCase *tc = tcase_create("thread");
    tcase_add_test(tc, name_is_set_and_cut);
    tcase_add_test(tc, every_signal_is_blocked);
    tcase_add_test(tc, stack_and_guard);
    tcase_add_test(tc, tid_is_the_kernels);
    tcase_add_test(tc, failures_are_told);
    tcase_add_test(tc, cpu_max_table);
    tcase_add_test(tc, usable_cpus_follow_affinity);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
