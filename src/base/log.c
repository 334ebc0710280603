/* SPDX-License-Identifier: MIT */
/* Log lines from many threads to one sink without anyone waiting.
 *
 * Each attached thread is the only producer of one ring (log_ring.h), the
 * writer thread the only consumer of all. Ring 0 is for threads that are not
 * attached: a mutex makes them one producer. The writer is log_writer.c.
 *
 * Not here: files, syslog, time formatting; that is the sink's.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log_ring.h"
#include "base/log_state.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/utf8.h"

#define LINE_BUF_BYTES 1024
#define RINGS_MAX 65536u
/* For a sink that hangs. */
#define STOP_WAIT_S 2

static _Atomic uint64_t next_id = 1;
static _Thread_local struct {
    uint64_t log_id; /* 0: attached to none */
    unsigned ring;
} own;

int rd_log_new(unsigned rings_n, uint32_t ring_bytes,
               enum restd_log_level level, restd_log_fn *sink, void *data,
               struct rd_log **log)
{
    if (rings_n >= RINGS_MAX || ring_bytes < RD_LOG_RING_MIN ||
        ring_bytes > RD_LOG_RING_MAX || (ring_bytes & (ring_bytes - 1)) != 0) {
        return RESTD_EINVAL;
    }
    unsigned n = sink != NULL ? rings_n + 1 : 0;
    /* Pages, because the heap does not align to cache lines. */
    size_t self_bytes = sizeof(struct rd_log) + n * sizeof(struct rd_log_ring);
    struct rd_log *l = rd_page_alloc(self_bytes);
    if (l == NULL) {
        return RESTD_ENOMEM;
    }
    l->id = atomic_fetch_add(&next_id, 1);
    l->sink = sink;
    l->data = data;
    atomic_init(&l->level, (int)level);
    l->rings_n = n;
    l->self_bytes = rd_page_round(self_bytes);
    l->memory_bytes = rd_page_round((size_t)n * ring_bytes);
    atomic_store(&l->rings_used, n > 0 ? 1 : 0);
    if (n > 0) {
        l->memory = rd_page_alloc(l->memory_bytes);
        if (l->memory == NULL) {
            rd_page_free(l, l->self_bytes);
            return RESTD_ENOMEM;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        rd_log_ring_init(&l->rings[i], l->memory + (size_t)i * ring_bytes,
                         ring_bytes);
    }
    /* Neither can fail with these arguments on Linux. */
    (void)pthread_mutex_init(&l->lock, NULL);
    (void)sem_init(&l->wake, 0, 0);
    *log = l;
    return 0;
}

void rd_log_free(struct rd_log *log)
{
    if (log == NULL) {
        return;
    }
    rd_log_stop(log);
    if (log->abandoned) {
        return;
    }
    (void)sem_destroy(&log->wake);
    (void)pthread_mutex_destroy(&log->lock);
    rd_page_free(log->memory, log->memory_bytes);
    rd_page_free(log, log->self_bytes);
}

void rd_log_attach(struct rd_log *log)
{
    if (log == NULL || log->sink == NULL || own.log_id == log->id) {
        return;
    }
    (void)pthread_mutex_lock(&log->lock);
    unsigned used = atomic_load(&log->rings_used);
    if (used < log->rings_n) {
        atomic_store(&log->rings_used, used + 1);
        own.log_id = log->id;
        own.ring = used;
    }
    (void)pthread_mutex_unlock(&log->lock);
}

uint64_t rd_log_dropped_sum(const struct rd_log *log, int access)
{
    uint64_t sum = 0;
    unsigned used = atomic_load(&log->rings_used);
    for (unsigned i = 0; i < used; i++) {
        sum += atomic_load(&log->rings[i].dropped[access]);
    }
    return sum;
}

uint64_t rd_log_dropped(const struct rd_log *log)
{
    return rd_log_dropped_sum(log, 0);
}

uint64_t rd_log_access_dropped(const struct rd_log *log)
{
    return rd_log_dropped_sum(log, 1);
}

void rd_log_set_level(struct rd_log *log, enum restd_log_level level)
{
    atomic_store_explicit(&log->level, (int)level, memory_order_relaxed);
}

void rd_log_set_flush(struct rd_log *log, restd_log_flush_fn *flush)
{
    log->flush = flush;
}

uint64_t rd_log_bytes(const struct rd_log *log)
{
    return log->self_bytes + log->memory_bytes;
}

/* ---- producers */

/* Replaces what could forge a line or drive a terminal: control characters
 * (C0, DEL, and C1, which UTF-8 writes as c2 80..9f) and broken UTF-8. */
static void line_clean(char *line, size_t len)
{
    unsigned char *p = (unsigned char *)line;
    size_t i = 0;
    while (i < len) {
        unsigned n = rd_utf8_char(p + i, len - i);
        int control = p[i] < 0x20 || p[i] == 0x7f ||
                      (n == 2 && p[i] == 0xc2 && p[i + 1] < 0xa0);
        n = n > 0 ? n : 1;
        if (control || (n == 1 && p[i] >= 0x80)) {
            memset(p + i, '?', n);
        }
        i += n;
    }
}

/* Wakes the writer if it sleeps as deep as that. */
static void writer_wake(struct rd_log *log, int depth)
{
    if (atomic_load(&log->sleep) >= depth &&
        atomic_exchange(&log->sleep, RD_LOG_AWAKE) != RD_LOG_AWAKE) {
        (void)sem_post(&log->wake);
    }
}

void rd_log_flush(struct rd_log *log)
{
    if (log != NULL && log->sink != NULL) {
        atomic_store(&log->flush_asked, 1);
        writer_wake(log, RD_LOG_NAPPING);
    }
}

static inline void record_put(struct rd_log *log,
                              const struct rd_log_record *record,
                              const char *text, int access)
{
    uint32_t used, half;
    if (own.log_id == log->id) {
        struct rd_log_ring *ring = &log->rings[own.ring];
        half = ring->size / 2;
        used = rd_log_ring_write(ring, record, text, access);
    } else {
        (void)pthread_mutex_lock(&log->lock);
        half = log->rings[0].size / 2;
        used = rd_log_ring_write(&log->rings[0], record, text, access);
        (void)pthread_mutex_unlock(&log->lock);
    }
    writer_wake(log, access && used < half ? RD_LOG_ASLEEP : RD_LOG_NAPPING);
}

static int level_off(const struct rd_log *log, enum restd_log_level level)
{
    return log == NULL || log->sink == NULL ||
           (int)level > atomic_load_explicit(&log->level, memory_order_relaxed);
}

void rd_log_v(struct rd_log *log, enum restd_log_level level,
              const char *format, va_list args)
{
    if (level_off(log, level)) {
        return;
    }
    int saved = errno;
    char line[LINE_BUF_BYTES];
    int n = vsnprintf(line, sizeof(line), format, args);
    size_t len = n < 0 ? 0 : (size_t)n;
    if (len > RD_LOG_LINE_MAX) {
        len = RD_LOG_LINE_MAX;
    }
    line_clean(line, len);
    struct rd_log_record record = {(uint32_t)len, (uint32_t)level,
                                   rd_clock_unix_ns()};
    record_put(log, &record, line, 0);
    errno = saved;
}

void rd_log_access(struct rd_log *log, int64_t time_ms, const char *line,
                   uint32_t len)
{
    if (log == NULL || log->sink == NULL) {
        return;
    }
    struct rd_log_record record = {len, RESTD_LOG_ACCESS, time_ms * 1000000};
    RD_ASSERT(len <= RD_LOG_TEXT_MAX);
    record_put(log, &record, line, 1);
}

void rd_log(struct rd_log *log, enum restd_log_level level, const char *format,
            ...)
{
    if (level_off(log, level)) {
        return;
    }
    va_list args;
    va_start(args, format);
    rd_log_v(log, level, format, args);
    va_end(args);
}

int rd_log_start(struct rd_log *log, uint32_t stack_bytes)
{
    if (log->running) {
        return RESTD_ESTATE;
    }
    if (log->sink == NULL) {
        return 0;
    }
    atomic_store(&log->stopping, 0);
    int rc = rd_thread_start(&log->thread, "restd-log", stack_bytes,
                             rd_log_writer, log);
    if (rc == 0) {
        log->running = 1;
    }
    return rc;
}

void rd_log_stop(struct rd_log *log)
{
    if (log == NULL || !log->running) {
        return;
    }
    struct timespec until;
    atomic_store(&log->stopping, 1);
    writer_wake(log, RD_LOG_NAPPING);
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STOP_WAIT_S;
    if (pthread_timedjoin_np(log->thread, NULL, &until) != 0) {
        /* The sink hangs, on a pipe that nobody reads perhaps. Its thread and
         * the rings are left to it. */
        (void)pthread_detach(log->thread);
        log->abandoned = 1;
    }
    log->running = 0;
}
