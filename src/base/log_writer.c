/* SPDX-License-Identifier: MIT */
/* The writer of the log: hands what is in the rings to the sink.
 *
 * A pass takes what was there when it began, oldest first, so that a flood
 * keeps it neither from reporting what was dropped nor from stopping.
 *
 * The writer sleeps on a semaphore. `sleep` says how before the rings are looked
 * at for the last time, and a producer looks at it after it has published; as
 * all four are sequentially consistent, one of them sees the other. A producer
 * posts only if it was the one to make it AWAKE, and the writer waits unless it
 * was, so that posts and waits always pair.
 *
 * Lines of the access log are too many to wake the writer for each. While they
 * come it naps instead, for as long as fills about a quarter of a ring; only a
 * message ends a nap early, or a ring that is half full. They leave a quarter
 * of the ring to messages.
 * Thread: its own.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/log_state.h"

#define NAP_MIN_MS 1u
#define NAP_MAX_MS 50u
/* Between reports of lines of the access log that were dropped. */
#define REPORT_NS UINT64_C(1000000000)

/* The ring with the oldest record of this pass, that record's head, and how far
 * that ring goes on before another's turn. */
static struct rd_log_ring *oldest_find(struct rd_log *log, unsigned used,
                                       struct rd_log_record *oldest,
                                       int64_t *next_ns)
{
    struct rd_log_ring *found = NULL;
    for (unsigned i = 0; i < used; i++) {
        struct rd_log_record record;
        if (!rd_log_ring_peek(&log->rings[i], &record)) {
            continue;
        }
        if (found == NULL || record.time_ns < oldest->time_ns) {
            *next_ns = found == NULL ? INT64_MAX : oldest->time_ns;
            *oldest = record;
            found = &log->rings[i];
        } else if (record.time_ns < *next_ns) {
            *next_ns = record.time_ns;
        }
    }
    return found;
}

/* What a pass has found. */
struct pass {
    unsigned lines, access_lines;
    unsigned fill; /* of the fullest ring, in eighths */
};

/* Hands out everything that is in the rings now. */
static struct pass rings_drain(struct rd_log *log)
{
    struct pass pass = {0, 0, 0};
    unsigned used = atomic_load(&log->rings_used);
    for (unsigned i = 0; i < used; i++) {
        unsigned fill =
            rd_log_ring_mark(&log->rings[i]) / (log->rings[i].size / 8);
        pass.fill = fill > pass.fill ? fill : pass.fill;
    }
    struct rd_log_record record;
    struct rd_log_ring *ring;
    int64_t next_ns;
    while ((ring = oldest_find(log, used, &record, &next_ns)) != NULL) {
        do {
            char text[RD_LOG_TEXT_MAX + 1];
            rd_log_ring_take(ring, &record, text);
            text[record.len] = '\0';
            pass.lines++;
            pass.access_lines += record.level == RESTD_LOG_ACCESS;
            log->sink((enum restd_log_level)record.level,
                      record.time_ns / 1000000, text, log->data);
        } while (rd_log_ring_peek(ring, &record) && record.time_ns <= next_ns);
    }
    return pass;
}

static unsigned drops_report(struct rd_log *log, int access, const char *what)
{
    uint64_t dropped = rd_log_dropped_sum(log, access);
    if (dropped == log->reported[access]) {
        return 0;
    }
    uint64_t n = dropped - log->reported[access];
    log->reported[access] = dropped;
    /* A message may have been an error. */
    if (access && atomic_load_explicit(&log->level, memory_order_relaxed) <
                      RESTD_LOG_WARNING) {
        return 0;
    }
    char text[80];
    snprintf(text, sizeof(text), "%llu %s dropped", (unsigned long long)n,
             what);
    log->sink(RESTD_LOG_WARNING, rd_clock_unix_ms(), text, log->data);
    return 1;
}

/* The access log's drops once a second at most, and all before the end. */
static unsigned all_drops_report(struct rd_log *log, int last)
{
    unsigned lines = drops_report(log, 0, "log lines");
    uint64_t now_ns = rd_clock_ns();
    if (last || now_ns - log->reported_ns >= REPORT_NS) {
        unsigned n = drops_report(log, 1, "lines of the access log");
        log->reported_ns = n ? now_ns : log->reported_ns;
        lines += n;
    }
    return lines;
}

static void nap_choose(struct rd_log *log, const struct pass *pass)
{
    unsigned nap = log->nap_ms;
    if (pass->access_lines > 0 && (nap == 0 || pass->fill >= 4)) {
        nap = NAP_MIN_MS;
    } else if (pass->fill >= 2) {
        nap = nap > NAP_MIN_MS ? nap / 2 : nap;
    } else if (pass->fill == 0 && nap < NAP_MAX_MS) {
        nap = nap * 2 < NAP_MAX_MS ? nap * 2 : NAP_MAX_MS;
    } else if (pass->lines == 0) {
        nap = 0; /* quiet for as long as all naps together */
    }
    log->nap_ms = nap;
}

/* For as long as there are drops to tell of, the writer only naps. */
static int nothing_to_do(const struct rd_log *log)
{
    if (atomic_load(&log->stopping) || atomic_load(&log->flush_asked) ||
        rd_log_dropped_sum(log, 0) != log->reported[0]) {
        return 0;
    }
    unsigned used = atomic_load(&log->rings_used);
    for (unsigned i = 0; i < used; i++) {
        if (!rd_log_ring_empty(&log->rings[i])) {
            return 0;
        }
    }
    return 1;
}

static void semaphore_wait(sem_t *sem)
{
    while (sem_wait(sem) != 0 && errno == EINTR) {
    }
}

static void writer_nap(struct rd_log *log, unsigned ms)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (sem_clockwait(&log->wake, CLOCK_MONOTONIC, &until) != 0 &&
        atomic_exchange(&log->sleep, RD_LOG_AWAKE) == RD_LOG_AWAKE) {
        semaphore_wait(&log->wake); /* the post is coming */
    }
}

static void writer_sleep(struct rd_log *log)
{
    int napping = RD_LOG_NAPPING;
    if (log->nap_ms == 0 && rd_log_dropped_sum(log, 1) != log->reported[1]) {
        log->nap_ms = NAP_MAX_MS;
    }
    if (log->nap_ms > 0) {
        writer_nap(log, log->nap_ms);
        return;
    }
    if (atomic_compare_exchange_strong(&log->sleep, &napping, RD_LOG_ASLEEP) &&
        !nothing_to_do(log) &&
        atomic_exchange(&log->sleep, RD_LOG_AWAKE) != RD_LOG_AWAKE) {
        return;
    }
    /* Also if somebody else has cleared it: then the post is coming. */
    semaphore_wait(&log->wake);
}

void *rd_log_writer(void *arg)
{
    struct rd_log *log = arg;
    for (;;) {
        atomic_store(&log->sleep, RD_LOG_NAPPING);
        /* Read before the drain: what was logged before the stop is then in
         * the rings already. */
        int last = atomic_load(&log->stopping);
        int flush = atomic_exchange(&log->flush_asked, 0);
        struct pass pass = rings_drain(log);
        unsigned lines = pass.lines + all_drops_report(log, last);
        if (log->flush != NULL && (flush || lines > 0)) {
            log->flush(log->data);
        }
        if (last) {
            break;
        }
        nap_choose(log, &pass);
        writer_sleep(log);
    }
    if (atomic_exchange(&log->sleep, RD_LOG_AWAKE) == RD_LOG_AWAKE) {
        semaphore_wait(&log->wake);
    }
    return NULL;
}
