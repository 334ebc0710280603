/* SPDX-License-Identifier: MIT */
/* A text that one thread renews and any thread reads without waiting.
 *
 * Owner: whoever embeds it, zeroed. Lifetime: the owner's.
 * Thread: rd_publish_write() one thread only; the others [any].
 */
#ifndef RD_DAEMON_PUBLISH_H
#define RD_DAEMON_PUBLISH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define RD_PUBLISH_MAX_BYTES 4096

struct rd_publish_slot {
    _Atomic uint64_t generation; /* 0 while it is being written */
    _Atomic uint64_t len;
    _Atomic uint64_t words[RD_PUBLISH_MAX_BYTES / 8];
};

struct rd_publish {
    _Atomic uint64_t generation; /* the newest; 0: nothing yet */
    struct rd_publish_slot slots[2];
};

/* Publishes `len` bytes, at most RD_PUBLISH_MAX_BYTES. */
void rd_publish_write(struct rd_publish *publish, const char *text, size_t len);

/* Number of the newest text, to see whether a copy is still current. */
static inline uint64_t rd_publish_generation(const struct rd_publish *publish)
{
    return atomic_load_explicit(&publish->generation, memory_order_acquire);
}

/* Copies the newest text, ends it with NUL, sets `generation` to its number
 * and returns its length; -1, with everything unchanged but the bytes of
 * `buf`, if there is none, if `size` is too small, or if the writer has lapped
 * this reader several times. */
long rd_publish_read(const struct rd_publish *publish, char *buf, size_t size,
                     uint64_t *generation);

#endif
