/* SPDX-License-Identifier: MIT */
/* Starting threads, and how many are worth starting.
 *
 * Signals belong to the host program's own threads, so every signal is blocked
 * around pthread_create() and the new thread inherits that. It names itself:
 * from outside that would go through a file in /proc, and the thread might be
 * gone by then.
 *
 * CPUs: affinity, capped by cpu.max of the own cgroup and of every cgroup above
 * it, since any of them may hold the limit. Only cgroup v2 where systemd and
 * containers mount it; what cannot be read caps nothing. Any thread.
 */
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

/* What the new thread needs before its own function runs. */
struct start {
    rd_thread_fn *fn;
    void *arg;
    char name[16];
};

static void *thread_main(void *arg)
{
    struct start start = *(struct start *)arg;
    rd_mem_free(arg);
    (void)prctl(PR_SET_NAME, start.name);
    return start.fn(start.arg);
}

static int attr_init(pthread_attr_t *attr, size_t stack_bytes)
{
    int rc = pthread_attr_init(attr);
    if (rc != 0) {
        return rc;
    }
    /* glibc takes the guard page out of the stack size. */
    size_t guard = rd_page_round(1);
    size_t least = (size_t)PTHREAD_STACK_MIN;
    size_t size = stack_bytes > least ? stack_bytes : least;
    rc = pthread_attr_setguardsize(attr, guard);
    if (rc == 0) {
        rc = pthread_attr_setstacksize(attr, rd_page_round(size) + guard);
    }
    if (rc != 0) {
        (void)pthread_attr_destroy(attr);
    }
    return rc;
}

int rd_thread_start(pthread_t *thread, const char *name, size_t stack_bytes,
                    rd_thread_fn *fn, void *arg)
{
    struct start *start = rd_mem_alloc(sizeof(*start));
    if (start == NULL) {
        return RESTD_ENOMEM;
    }
    start->fn = fn;
    start->arg = arg;
    memcpy(start->name, name, strnlen(name, sizeof(start->name) - 1));

    pthread_attr_t attr;
    int rc = attr_init(&attr, stack_bytes);
    if (rc == 0) {
        sigset_t all, old;
        sigfillset(&all);
        rc = pthread_sigmask(SIG_SETMASK, &all, &old);
        if (rc == 0) {
            rc = pthread_create(thread, &attr, thread_main, start);
            (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
        }
        (void)pthread_attr_destroy(&attr);
    }
    if (rc != 0) {
        rd_mem_free(start);
        /* EAGAIN here is a limit on threads, not something to wait for. */
        return rc == EAGAIN ? RESTD_ELIMIT : rd_error_from_errno(rc);
    }
    return 0;
}

void rd_thread_yield_to_others(void)
{
    const struct sched_param param = {0};
    /* Where it is not allowed things go on as they were. */
    (void)pthread_setschedparam(pthread_self(), SCHED_BATCH, &param);
}

int rd_thread_tid(void)
{
    return (int)syscall(SYS_gettid);
}

/* Digits at `*text` as a number, behind them on return; 0 if there are none
 * or too many. */
static uint64_t number_take(const char **text)
{
    uint64_t value = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++) {
        if (value > UINT64_MAX / 100) {
            return 0;
        }
        value = value * 10 + (uint64_t)(**text - '0');
    }
    return value;
}

unsigned rd_cpus_cap(unsigned cpus, const char *cpu_max)
{
    uint64_t quota = number_take(&cpu_max);
    uint64_t period = *cpu_max == ' ' ? (cpu_max++, number_take(&cpu_max)) : 0;
    if (quota != 0 && period != 0) {
        uint64_t cap = quota / period + (quota % period != 0);
        cpus = cap < cpus ? (unsigned)cap : cpus;
    }
    return cpus > 0 ? cpus : 1;
}

/* Reads the beginning of a file as a string; stdio would allocate. */
static int file_read(const char *path, char *buf, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    size_t len = 0;
    while (len < size - 1) {
        ssize_t n = read(fd, buf + len, size - 1 - len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break;
        }
        len += (size_t)n;
    }
    (void)close(fd);
    buf[len] = '\0';
    return 0;
}

/* The path of the own v2 cgroup, from the line "0::/path" in `text`. */
static char *cgroup_path(char *text)
{
    char *line = text;
    while (strncmp(line, "0::/", 4) != 0) {
        line = strchr(line, '\n');
        if (line == NULL) {
            return NULL;
        }
        line++;
    }
    line += 3;
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static unsigned cpus_cap_by_cgroups(unsigned cpus)
{
    char text[4096];
    if (file_read("/proc/self/cgroup", text, sizeof(text)) < 0) {
        return cpus;
    }
    char *group = cgroup_path(text);
    while (group != NULL) {
        char path[PATH_MAX];
        char cpu_max[64];
        int len =
            snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
        if (len > 0 && (size_t)len < sizeof(path) &&
            file_read(path, cpu_max, sizeof(cpu_max)) == 0) {
            cpus = rd_cpus_cap(cpus, cpu_max);
        }
        char *slash = strrchr(group, '/');
        if (slash == NULL) {
            break;
        }
        *slash = '\0';
    }
    return cpus;
}

unsigned rd_cpus_usable(void)
{
    cpu_set_t set;
    long n;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        n = CPU_COUNT(&set);
    } else {
        /* More CPUs than fit a cpu_set_t. */
        n = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return cpus_cap_by_cgroups(n > 0 ? (unsigned)n : 1);
}
