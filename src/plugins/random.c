/* SPDX-License-Identifier: MIT */
/* Random seeds, for ids that do not repeat and tables that cannot be aimed at.
 * One system call for each seed; never on the path of a request, but for the
 * first one of a loop. Not for secrets. Any thread. */
#include "plugins/random.h"

#include <sys/random.h>

#include "base/assert.h"
#include "base/clock.h"

void rd_random_seed(uint64_t *words, unsigned n)
{
    size_t bytes = n * sizeof(*words);

    RD_ASSERT(n <= 32); /* up to 256 bytes come whole or not at all */
    if (getrandom(words, bytes, GRND_NONBLOCK) == (ssize_t)bytes) {
        return;
    }
    uint64_t x = rd_clock_ns() ^ (uint64_t)rd_clock_unix_ms() << 24 ^
                 (uint64_t)(uintptr_t)words;
    for (unsigned i = 0; i < n; i++) {
        words[i] = rd_random_mix(x + i);
    }
}
