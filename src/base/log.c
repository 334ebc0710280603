/* SPDX-License-Identifier: MIT */
/* Log lines from many threads to one sink without anyone waiting.
 *
 * Each attached thread is the only producer of one ring (log_ring.h), the
 * writer thread the only consumer of all. Ring 0 is for threads that are not
 * attached: a mutex makes them one producer. The writer takes what was there
 * when its pass began, oldest first, so that a flood keeps it neither from
 * reporting what was dropped nor from stopping.
 *
 * The writer sleeps on a semaphore. It says so in `asleep` before it looks at
 * the rings once more, and a producer looks at `asleep` after it has published;
 * as all four are sequentially consistent, one of them sees the other. A
 * producer posts only if it was the one to clear `asleep`, and the writer waits
 * unless it was, so that posts and waits always pair.
 *
 * Not here: files, syslog, time formatting; that is the sink's.
 */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log_ring.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/utf8.h"

#define LINE_BUF_BYTES 1024
#define RINGS_MAX 65536u
/* For a sink that hangs. */
#define STOP_WAIT_S 2

struct rd_log {
    uint64_t id; /* never used again, unlike an address */
    restd_log_fn *sink;
    void *data;
    _Atomic int level;     /* enum restd_log_level */
    unsigned rings_n;      /* with ring 0 */
    unsigned char *memory; /* of all rings */
    size_t memory_bytes, self_bytes;
    _Atomic unsigned rings_used; /* with ring 0; changed under the lock */
    pthread_mutex_t lock;        /* ring 0's producers, attaching */
    sem_t wake;
    _Atomic int asleep;
    _Atomic int stopping;
    int running, abandoned; /* owner's */
    uint64_t reported;      /* writer's: drops that it has told of */
    pthread_t thread;
    struct rd_log_ring rings[];
};

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

void rd_log_set_level(struct rd_log *log, enum restd_log_level level)
{
    atomic_store_explicit(&log->level, (int)level, memory_order_relaxed);
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

uint64_t rd_log_dropped(const struct rd_log *log)
{
    uint64_t sum = 0;
    unsigned used = atomic_load(&log->rings_used);
    for (unsigned i = 0; i < used; i++) {
        sum += atomic_load(&log->rings[i].dropped);
    }
    return sum;
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

static void writer_wake(struct rd_log *log)
{
    if (atomic_load(&log->asleep) && atomic_exchange(&log->asleep, 0)) {
        (void)sem_post(&log->wake);
    }
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
                                   rd_clock_unix_ms()};
    if (own.log_id == log->id) {
        rd_log_ring_write(&log->rings[own.ring], &record, line);
    } else {
        (void)pthread_mutex_lock(&log->lock);
        rd_log_ring_write(&log->rings[0], &record, line);
        (void)pthread_mutex_unlock(&log->lock);
    }
    writer_wake(log);
    errno = saved;
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

/* ---- the writer */

/* The ring with the oldest record of this pass, and that record's head. */
static struct rd_log_ring *oldest_find(struct rd_log *log, unsigned used,
                                       struct rd_log_record *oldest)
{
    struct rd_log_ring *found = NULL;
    for (unsigned i = 0; i < used; i++) {
        struct rd_log_record record;
        if (rd_log_ring_peek(&log->rings[i], &record) &&
            (found == NULL || record.time_ms < oldest->time_ms)) {
            *oldest = record;
            found = &log->rings[i];
        }
    }
    return found;
}

/* Hands out everything that is in the rings now. */
static void rings_drain(struct rd_log *log)
{
    unsigned used = atomic_load(&log->rings_used);
    for (unsigned i = 0; i < used; i++) {
        rd_log_ring_mark(&log->rings[i]);
    }
    struct rd_log_record record;
    struct rd_log_ring *ring;
    while ((ring = oldest_find(log, used, &record)) != NULL) {
        char text[RD_LOG_LINE_MAX + 1];
        rd_log_ring_take(ring, &record, text);
        text[record.len] = '\0';
        log->sink((enum restd_log_level)record.level, record.time_ms, text,
                  log->data);
    }
}

static void drops_report(struct rd_log *log)
{
    uint64_t dropped = rd_log_dropped(log);
    if (dropped != log->reported) {
        char text[64];
        snprintf(text, sizeof(text), "%llu log lines dropped",
                 (unsigned long long)(dropped - log->reported));
        log->reported = dropped;
        log->sink(RESTD_LOG_WARNING, rd_clock_unix_ms(), text, log->data);
    }
}

static int nothing_to_do(const struct rd_log *log)
{
    if (atomic_load(&log->stopping) || rd_log_dropped(log) != log->reported) {
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

static void writer_sleep(struct rd_log *log)
{
    atomic_store(&log->asleep, 1);
    if (!nothing_to_do(log) && atomic_exchange(&log->asleep, 0)) {
        return;
    }
    /* Also if somebody else has cleared it: then the post is coming. */
    while (sem_wait(&log->wake) != 0 && errno == EINTR) {
    }
}

static void *writer_main(void *arg)
{
    struct rd_log *log = arg;
    for (;;) {
        /* Read before the drain: what was logged before the stop is then in
         * the rings already. */
        int last = atomic_load(&log->stopping);
        rings_drain(log);
        drops_report(log);
        if (last) {
            return NULL;
        }
        writer_sleep(log);
    }
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
                             writer_main, log);
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
    writer_wake(log);
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
