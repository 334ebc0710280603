/* SPDX-License-Identifier: MIT */
/* How many loops and connections fit: computed from the options, the CPUs and
 * the limits before anything is allocated. docs/MEMORY.md explains the terms.
 * Thread: [init]. */
#include <dirent.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "server/server.h"

/* Touched pages of a thread that has served for a while; measured. */
#define STACK_TOUCHED 32768u
/* The C library's and the loader's private pages, libev's loops, routes and
 * other small things; measured. */
#define PROCESS_BYTES (512u * 1024)
/* The part of the budget that must be left for connections: with less the
 * fixed part alone would keep the ladder from going back to its lower steps
 * (ledger.c). */
#define ROOM(budget) ((budget) / 4)
/* Rings for the threads of the largest default; more share ring 0. */
#define LOG_RINGS_MAX 64u
/* Descriptors of a loop: epoll, eventfd, the set of hang-ups, and a file that
 * it is opening. */
#define LOOP_FDS 4
/* Kept for the program around us, the listeners to come, and the spare. */
#define RESERVED_FDS 24

static unsigned open_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned n = 0;

    if (!dir) {
        return 64;
    }
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n > 3 ? n - 3 : n; /* ".", ".." and its own */
}

uint64_t rd_plan_fixed(const struct rd_plan *plan, unsigned loops)
{
    if (plan->is_guest) { /* the rest is its host's */
        return sizeof(struct rd_server_loop) + sizeof(struct rd_sampler) +
               sizeof(struct restd_server);
    }
    uint64_t array =
        (uint64_t)rd_loop_fd_entries(plan->fd_max) * RD_LOOP_FD_ENTRY_BYTES;
    /* Acceptor and control watch descriptors of any number as well; main and
     * the log writer have a stack. */
    return PROCESS_BYTES + 2 * array + (uint64_t)(loops + 4) * STACK_TOUCHED +
           loops * sizeof(struct rd_server_loop) + sizeof(struct rd_sampler);
}

/* A ring for each loop, the acceptor and the control thread. */
unsigned rd_plan_log_rings(unsigned loops)
{
    return loops + 2 < LOG_RINGS_MAX ? loops + 2 : LOG_RINGS_MAX;
}

static uint64_t total_fixed(const struct rd_plan *plan,
                            const struct restd_options *o, unsigned loops)
{
    uint64_t logs = o->log && !plan->is_guest
                        ? rd_plan_log_rings(loops) * (uint64_t)o->log_ring_bytes
                        : 0;

    return rd_plan_fixed(plan, loops) + logs +
           loops * (rd_reactor_fixed_bytes(plan->in_size, plan->fd_max) +
                    rd_h1_fixed_bytes(o));
}

/* Connections are capped so that descriptors are left for everything else. */
static int plan_fds(const struct restd_options *o, struct rd_plan *plan,
                    struct restd_error *error)
{
    struct rlimit limit;
    uint64_t others =
        open_fds() + RESERVED_FDS + (uint64_t)(plan->loops_n + 2) * LOOP_FDS;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        limit.rlim_cur = 1024;
    }
    if (limit.rlim_cur <= others) {
        return rd_error(error, RESTD_ELIMIT,
                        "descriptor limit %llu leaves none for connections",
                        (unsigned long long)limit.rlim_cur);
    }
    uint64_t room = limit.rlim_cur - others;
    plan->connections_max =
        o->connections_max < room ? o->connections_max : (uint32_t)room;
    plan->fd_max = (uint32_t)(others + plan->connections_max - 1);
    return 0;
}

int rd_plan_check(const struct rd_plan *plan, const struct restd_options *o,
                  unsigned loops, struct restd_error *error)
{
    uint64_t total = total_fixed(plan, o, loops);
    uint64_t room = ROOM(o->memory_budget_bytes);
    if (total + room > o->memory_budget_bytes) {
        return rd_error(error, RESTD_EBUDGET,
                        "%u workers and %u connections need %llu bytes "
                        "before the first connection, which may be at most "
                        "three quarters of memory_budget, %llu",
                        loops, plan->connections_max, (unsigned long long)total,
                        (unsigned long long)o->memory_budget_bytes);
    }
    uint64_t bodies = loops * o->body_buffered_max_bytes;
    if (total + bodies > o->memory_budget_bytes) {
        return rd_error(error, RESTD_EBUDGET,
                        "%u workers with a body_buffered_max of %u do not fit "
                        "memory_budget, %llu, beside the %llu bytes that are "
                        "needed before the first connection",
                        loops, o->body_buffered_max_bytes,
                        (unsigned long long)o->memory_budget_bytes,
                        (unsigned long long)total);
    }
    return 0;
}

int rd_plan_make(const struct restd_options *o, struct rd_plan *plan,
                 struct restd_error *error)
{
    plan->loops_n = o->workers ? o->workers : rd_cpus_usable();
    if (plan->loops_n > RD_REACTORS_MAX) {
        plan->loops_n = RD_REACTORS_MAX;
    }
    plan->in_size = rd_h1_input_bytes(o);
    plan->connections_max = o->connections_max;
    int rc = plan->is_guest ? 0 : plan_fds(o, plan, error);
    if (rc != 0) {
        return rc;
    }
    if (o->workers == 0) {
        while (plan->loops_n > 1 && total_fixed(plan, o, plan->loops_n) >
                                        o->memory_budget_bytes / 2) {
            plan->loops_n--;
        }
    }
    plan->fixed_bytes = rd_plan_fixed(plan, plan->loops_n);
    return rd_plan_check(plan, o, plan->loops_n, error);
}
