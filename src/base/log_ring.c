/* SPDX-License-Identifier: MIT */
/* The single-producer, single-consumer byte ring of the log.
 *
 * A record is a head and its text, both of which may wrap. Positions run
 * freely and are masked on use, so head - tail is what is in use. The producer
 * publishes by storing the head, the consumer frees by storing the tail.
 * Neither ever waits for the other.
 */
#include "base/log_ring.h"

#include <string.h>

#include "base/assert.h"

#define HEAD_BYTES ((uint32_t)sizeof(struct rd_log_record))

RD_STATIC_ASSERT(sizeof(struct rd_log_record) + RD_LOG_TEXT_MAX <=
                     RD_LOG_RING_MIN - RD_LOG_RING_MIN / 4,
                 "the smallest ring holds the longest line");

void rd_log_ring_init(struct rd_log_ring *ring, unsigned char *memory,
                      uint32_t size)
{
    memset(ring, 0, sizeof(*ring));
    ring->memory = memory;
    ring->size = size;
}

static inline void bytes_put(struct rd_log_ring *ring, uint32_t pos,
                             const void *data, uint32_t len)
{
    uint32_t at = pos & (ring->size - 1);
    uint32_t first = ring->size - at;
    if (__builtin_expect(first >= len, 1)) {
        memcpy(ring->memory + at, data, len);
        return;
    }
    memcpy(ring->memory + at, data, first);
    memcpy(ring->memory, (const unsigned char *)data + first, len - first);
}

static inline void bytes_get(const struct rd_log_ring *ring, uint32_t pos,
                             void *data, uint32_t len)
{
    uint32_t at = pos & (ring->size - 1);
    uint32_t first = ring->size - at;
    if (__builtin_expect(first >= len, 1)) {
        memcpy(data, ring->memory + at, len);
        return;
    }
    memcpy(data, ring->memory + at, first);
    memcpy((unsigned char *)data + first, ring->memory, len - first);
}

uint32_t rd_log_ring_write(struct rd_log_ring *ring,
                           const struct rd_log_record *record, const char *text,
                           int low)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    uint32_t room = ring->size - (low ? ring->size / 4 : 0);
    uint32_t used = head - tail + HEAD_BYTES + record->len;
    if (used > room) {
        _Atomic uint64_t *dropped = &ring->dropped[low];
        atomic_store(dropped,
                     atomic_load_explicit(dropped, memory_order_relaxed) + 1);
        return 0;
    }
    bytes_put(ring, head, record, HEAD_BYTES);
    bytes_put(ring, head + HEAD_BYTES, text, record->len);
    atomic_store(&ring->head, head + HEAD_BYTES + record->len);
    return used;
}

uint32_t rd_log_ring_mark(struct rd_log_ring *ring)
{
    ring->limit = atomic_load(&ring->head);
    return ring->limit -
           atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

int rd_log_ring_peek(const struct rd_log_ring *ring,
                     struct rd_log_record *record)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail == ring->limit) {
        return 0;
    }
    bytes_get(ring, tail, record, HEAD_BYTES);
    RD_ASSERT(record->len <= RD_LOG_TEXT_MAX);
    return 1;
}

void rd_log_ring_take(struct rd_log_ring *ring,
                      const struct rd_log_record *record, char *text)
{
    uint32_t at = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    bytes_get(ring, at + HEAD_BYTES, text, record->len);
    atomic_store_explicit(&ring->tail, at + HEAD_BYTES + record->len,
                          memory_order_release);
}

int rd_log_ring_empty(const struct rd_log_ring *ring)
{
    return atomic_load(&ring->head) ==
           atomic_load_explicit(&ring->tail, memory_order_relaxed);
}
