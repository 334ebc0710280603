/* SPDX-License-Identifier: MIT */
/* Heap and page allocation.
 *
 * Every call counts itself, so that a test can make the n-th one fail and walk
 * n through a whole scenario. The counter is shared by all threads, which is
 * cheap enough because nothing allocates on the request path. Here is no
 * accounting: callers charge the ledger. Any thread.
 */
#include "base/mem.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic unsigned calls;
static _Atomic unsigned fail_at;

static int call_fails(void)
{
    unsigned n = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
    unsigned at = atomic_load_explicit(&fail_at, memory_order_relaxed);
    if (__builtin_expect(at == 0 || n != at, 1)) {
        return 0;
    }
    errno = ENOMEM;
    return 1;
}

void rd_mem_fail_nth(unsigned n)
{
    /* Off first, or a call in between could meet the old number. */
    atomic_store(&fail_at, 0);
    atomic_store(&calls, 0);
    atomic_store(&fail_at, n);
}

unsigned rd_mem_calls(void)
{
    return atomic_load(&calls);
}

/* Size 0 gives a block of its own too: NULL always means failure. */
void *rd_mem_alloc(size_t size)
{
    return call_fails() ? NULL : calloc(1, size != 0 ? size : 1);
}

char *rd_mem_strdup(const char *str)
{
    size_t size = strlen(str) + 1;
    char *copy = rd_mem_alloc(size);
    return copy != NULL ? memcpy(copy, str, size) : NULL;
}

void rd_mem_free(void *ptr)
{
    free(ptr);
}

static size_t page_size(void)
{
    static _Atomic size_t cached;
    size_t size = atomic_load_explicit(&cached, memory_order_relaxed);
    if (size == 0) {
        size = (size_t)sysconf(_SC_PAGESIZE);
        atomic_store_explicit(&cached, size, memory_order_relaxed);
    }
    return size;
}

size_t rd_page_round(size_t size)
{
    size_t mask = page_size() - 1;
    return size <= SIZE_MAX - mask ? (size + mask) & ~mask : 0;
}

void *rd_page_alloc(size_t size)
{
    size_t rounded = rd_page_round(size);
    if (call_fails() || rounded == 0) {
        return NULL;
    }
    void *ptr = mmap(NULL, rounded, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ptr == MAP_FAILED) {
        return NULL;
    }
    /* With huge pages always on, touching one byte could cost 2 MiB of the
     * budget. A kernel without them refuses the advice, which is as good. */
    int saved = errno;
    (void)madvise(ptr, rounded, MADV_NOHUGEPAGE);
    errno = saved;
    return ptr;
}

void rd_page_free(void *ptr, size_t size)
{
    if (ptr != NULL) {
        (void)munmap(ptr, rd_page_round(size));
    }
}
