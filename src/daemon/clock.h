/* SPDX-License-Identifier: MIT */
/* Time in ms, as the daemon counts and tells it. Any thread. */
#ifndef RD_DAEMON_CLOCK_H
#define RD_DAEMON_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t rd_clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Since some moment in the past. */
static inline uint64_t rd_now_ms(void)
{
    return (uint64_t)rd_clock_ms(CLOCK_MONOTONIC);
}

static inline int64_t rd_unix_ms(void)
{
    return rd_clock_ms(CLOCK_REALTIME);
}

#endif
