/* SPDX-License-Identifier: MIT */
/* One writer, many readers, no lock: two slots with a generation each.
 *
 * The writer fills the slot that is not the newest, so a reader that starts on
 * the newest is disturbed only if two more texts come out while it copies; at
 * one a second that takes a reader that was off the CPU for a second. It sees
 * it by the slot's generation and takes the newest again.
 *
 * Why a torn copy cannot pass: the writer sets the slot's generation to 0,
 * then stores the words with release order. A reader that loads (acquire) one
 * of those new words therefore also sees the 0, or what came later, in its
 * second look at the generation. Every shared access is atomic, hence no data
 * race for the language either, and no fence, which TSan does not model.
 */
#include "daemon/publish.h"

#include <string.h>

enum { TRIES_MAX = 4 };

void rd_publish_write(struct rd_publish *publish, const char *text, size_t len)
{
    if (len > RD_PUBLISH_MAX_BYTES) {
        len = RD_PUBLISH_MAX_BYTES;
    }
    uint64_t generation =
        atomic_load_explicit(&publish->generation, memory_order_relaxed) + 1;
    struct rd_publish_slot *slot = &publish->slots[generation & 1];
    atomic_store_explicit(&slot->generation, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->len, len, memory_order_release);
    for (size_t at = 0; at < len; at += 8) {
        uint64_t word = 0;
        memcpy(&word, text + at, len - at < 8 ? len - at : 8);
        atomic_store_explicit(&slot->words[at / 8], word, memory_order_release);
    }
    atomic_store_explicit(&slot->generation, generation, memory_order_release);
    atomic_store_explicit(&publish->generation, generation,
                          memory_order_release);
}

long rd_publish_read(const struct rd_publish *publish, char *buf, size_t size,
                     uint64_t *generation)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        uint64_t want = rd_publish_generation(publish);
        const struct rd_publish_slot *slot = &publish->slots[want & 1];
        if (want == 0) {
            return -1;
        }
        if (atomic_load_explicit(&slot->generation, memory_order_acquire) !=
            want) {
            continue;
        }
        uint64_t len = atomic_load_explicit(&slot->len, memory_order_acquire);
        if (len >= size) {
            return -1;
        }
        for (size_t at = 0; at < len; at += 8) {
            uint64_t word = atomic_load_explicit(&slot->words[at / 8],
                                                 memory_order_acquire);
            memcpy(buf + at, &word, len - at < 8 ? len - at : 8);
        }
        if (atomic_load_explicit(&slot->generation, memory_order_relaxed) ==
            want) {
            buf[len] = '\0';
            *generation = want;
            return (long)len;
        }
    }
    return -1;
}
