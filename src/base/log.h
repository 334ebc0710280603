/* SPDX-License-Identifier: MIT */
/* The log: each thread writes lines into a ring of its own, one writer thread
 * hands them to the sink. Nobody waits: a full ring drops the line and counts
 * it, and the writer reports the count when there is room again.
 *
 * Two classes of lines: messages, and lines of the access log, which come by the
 * thousand. These wake nobody, and find a ring full when it still has room for
 * messages.
 *
 * Owner: a server. Lifetime: rd_log_new() to rd_log_free(), which comes after
 * every thread that logs has ended.
 * Thread: [any] but for new, start, stop, free, set_flush; a thread that called
 * rd_log_attach() uses its own ring without a lock, the others share one behind
 * a mutex.
 */
#ifndef RD_BASE_LOG_H
#define RD_BASE_LOG_H

#include <stdint.h>

#include <restd/options.h>

#define RD_LOG_LINE_MAX 1000u

struct rd_log;

/* `rings_n` threads may attach (the ones after that share); `ring_bytes` each,
 * a power of two from 4 KiB. The sink NULL makes every call a cheap no-op. */
int rd_log_new(unsigned rings_n, uint32_t ring_bytes,
               enum restd_log_level level, restd_log_fn *sink, void *data,
               struct rd_log **log);
/* Called on the writer's thread whenever it has handed out all there is. Before
 * the start. */
void rd_log_set_flush(struct rd_log *log, restd_log_flush_fn *flush);
void rd_log_set_level(struct rd_log *log, enum restd_log_level level);
/* Starts the writer thread; lines written before are kept in the rings. */
int rd_log_start(struct rd_log *log, uint32_t stack_bytes);
/* Writes out what is in the rings, then ends the writer. Waits at most 2 s for
 * a sink that hangs; what is not written by then is lost. */
void rd_log_stop(struct rd_log *log);
void rd_log_free(struct rd_log *log);
/* Gives the calling thread a ring of its own until it ends. A thread belongs
 * to the log that it attached to last. */
void rd_log_attach(struct rd_log *log);

/* Lines are cut at 1000 bytes; control characters and what is no UTF-8 are
 * written as '?', so that no input can forge a line. Keeps errno. */
void rd_log(struct rd_log *log, enum restd_log_level level, const char *format,
            ...) RESTD_PRINTF(3, 4);
void rd_log_v(struct rd_log *log, enum restd_log_level level,
              const char *format, __builtin_va_list args) RESTD_PRINTF(3, 0);

/* A line of the access log as it is, of at most RD_LOG_TEXT_MAX bytes: the
 * caller has seen to what is in it. Whatever the level. */
void rd_log_access(struct rd_log *log, int64_t time_ms, const char *line,
                   uint32_t len);
/* Has the writer call `flush` soon, also if there are no lines. */
void rd_log_flush(struct rd_log *log);

/* Messages, and lines of the access log, dropped so far. */
uint64_t rd_log_dropped(const struct rd_log *log);
uint64_t rd_log_access_dropped(const struct rd_log *log);
/* Bytes that the rings take, for the ledger. */
uint64_t rd_log_bytes(const struct rd_log *log);

#endif
