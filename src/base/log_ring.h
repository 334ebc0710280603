/* SPDX-License-Identifier: MIT */
/* One byte ring of log records between two threads without a lock.
 *
 * Owner: struct rd_log, which embeds its rings and owns their memory.
 * Thread: one producer, one consumer; as tagged below.
 */
#ifndef RD_BASE_LOG_RING_H
#define RD_BASE_LOG_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define RD_LOG_TEXT_MAX 2000
#define RD_LOG_RING_MIN 4096u /* the longest record fits, twice */
#define RD_LOG_RING_MAX (1u << 30)

/* Two cache lines, so that the two threads share none that they write. */
#define RD_LOG_RING_ALIGN 64

struct rd_log_record {
    uint32_t len; /* of the text, at most RD_LOG_TEXT_MAX */
    uint32_t level;
    int64_t time_ns; /* wall clock; ms would leave the order open */
};

struct rd_log_ring {
    _Alignas(RD_LOG_RING_ALIGN) _Atomic uint32_t head; /* [producer] */
    uint32_t size;
    unsigned char *memory;
    _Atomic uint64_t dropped[2];                       /* [producer] */
    _Alignas(RD_LOG_RING_ALIGN) _Atomic uint32_t tail; /* [consumer] */
    uint32_t limit;                                    /* [consumer] */
};

/* `size` is a power of two from RD_LOG_RING_MIN to RD_LOG_RING_MAX. [init] */
void rd_log_ring_init(struct rd_log_ring *ring, unsigned char *memory,
                      uint32_t size);
/* Appends a record and returns how many bytes are in use then, or counts it in
 * dropped[low] if it does not fit and returns 0. A `low` one has to leave a
 * quarter of the ring free. Both are sequentially consistent stores.
 * [producer] */
uint32_t rd_log_ring_write(struct rd_log_ring *ring,
                           const struct rd_log_record *record, const char *text,
                           int low);
/* Begins a pass: peek sees what is there now, and nothing later. Returns how
 * many bytes that are. [consumer] */
uint32_t rd_log_ring_mark(struct rd_log_ring *ring);
/* Copies the next record of the pass without its text; 0: there is none.
 * [consumer] */
int rd_log_ring_peek(const struct rd_log_ring *ring,
                     struct rd_log_record *record);
/* Copies the text (record->len bytes) of the record that peek gave, and frees
 * its place. [consumer] */
void rd_log_ring_take(struct rd_log_ring *ring,
                      const struct rd_log_record *record, char *text);
/* Whether there is nothing to take, marked or not. [consumer] */
int rd_log_ring_empty(const struct rd_log_ring *ring);

#endif
