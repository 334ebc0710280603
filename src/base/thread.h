/* SPDX-License-Identifier: MIT */
/* Threads with a small explicit stack, a guard page, a name, and every signal
 * blocked. */
#ifndef RD_BASE_THREAD_H
#define RD_BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>

typedef void *rd_thread_fn(void *arg);

/* Starts a thread; `name` is cut to 15 characters. Returns 0 or a RESTD_E*. */
int rd_thread_start(pthread_t *thread, const char *name, size_t stack_bytes,
                    rd_thread_fn *fn, void *arg);
/* The calling thread no longer preempts others when it wakes: on a busy CPU it
 * finds more work at once, and costs fewer switches. */
void rd_thread_yield_to_others(void);
/* Kernel id of the calling thread. */
int rd_thread_tid(void);
/* CPUs that this process may use: affinity, capped by cgroup v2 cpu.max. */
unsigned rd_cpus_usable(void);
/* `cpus` capped by the text of a cpu.max file ("200000 100000", "max 100000"),
 * rounded up, at least 1. Text that is none caps nothing. Pure. */
unsigned rd_cpus_cap(unsigned cpus, const char *cpu_max);

#endif
