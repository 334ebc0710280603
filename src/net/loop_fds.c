/* SPDX-License-Identifier: MIT */
/* How libev's descriptor array grows, and a descriptor that makes it grow as
 * far as is wanted. Threads: any. */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "net/loop.h"

/* libev 4.33 doubles from 0 until the entry fits, and then rounds the bytes up
 * to 4096 less four pointers: asking for a power of two gives a little more
 * than that, and asking for one entry more would double it. */
#define EV_ROUND 4096u
#define EV_SLACK ((uint32_t)sizeof(void *) * 4)

static uint32_t grown_entries(uint32_t wanted)
{
    uint32_t n = 2;

    while (n < wanted) {
        n <<= 1;
    }
    uint64_t bytes = (uint64_t)n * RD_LOOP_FD_ENTRY_BYTES;
    if (bytes > EV_ROUND - EV_SLACK) {
        bytes = (bytes + RD_LOOP_FD_ENTRY_BYTES + (EV_ROUND - 1) + EV_SLACK) &
                ~(uint64_t)(EV_ROUND - 1);
        n = (uint32_t)((bytes - EV_SLACK) / RD_LOOP_FD_ENTRY_BYTES);
    }
    return n;
}

/* The smallest request whose result holds fd_max. */
static uint32_t entries_to_ask(uint32_t fd_max)
{
    uint32_t ask = 2;

    while (grown_entries(ask) <= fd_max) {
        ask <<= 1;
    }
    return ask;
}

uint32_t rd_loop_fd_entries(uint32_t fd_max)
{
    return grown_entries(entries_to_ask(fd_max));
}

/* A copy of `fd` with a number in [least, most], -1 if none can be had. */
static int dup_within(int fd, int least, int most)
{
    for (int at = most; at >= least;) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, at);
        if (copy >= 0 && copy <= most) {
            return copy;
        }
        if (copy >= 0) {
            close(copy);
        }
        int next = at - (most / 16 + 1);
        at = next < least && at > least ? least : next;
    }
    return -1;
}

int rd_loop_high_fd(uint32_t fd_max)
{
    int most = (int)entries_to_ask(fd_max) - 1;
    int low = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

    if (low < 0) {
        return -1;
    }
    /* Any number in the upper half makes libev double up to it. The program
     * around us may have all of them open; then the next power is taken. */
    int high = dup_within(low, most / 2 + 1, most);
    if (high < 0) {
        high = dup_within(low, most + 1, most * 2 + 1);
    }
    close(low);
    return high;
}
