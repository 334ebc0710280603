/* SPDX-License-Identifier: MIT */
/* Clocks. Any thread. */
#ifndef RD_BASE_CLOCK_H
#define RD_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns: durations and deadlines. */
static inline uint64_t rd_clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Wall clock, Unix time in ns. */
static inline int64_t rd_clock_unix_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The same in ms: what people read. */
static inline int64_t rd_clock_unix_ms(void)
{
    return rd_clock_unix_ns() / 1000000;
}

#endif
