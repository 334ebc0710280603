/* SPDX-License-Identifier: MIT */
/* The only callers of malloc and mmap in the library, so that a test can make
 * the n-th allocation fail. What is allocated is charged to a ledger by the
 * caller (ledger.h); here is no accounting. Any thread. */
#ifndef RD_BASE_MEM_H
#define RD_BASE_MEM_H

#include <stddef.h>

/* Zeroed memory, or NULL. */
void *rd_mem_alloc(size_t size);
char *rd_mem_strdup(const char *str);
void rd_mem_free(void *ptr);

/* Whole zeroed pages straight from the kernel; untouched pages cost nothing.
 * `size` is rounded up to the page size. */
void *rd_page_alloc(size_t size);
void rd_page_free(void *ptr, size_t size);
size_t rd_page_round(size_t size);

/* For tests: makes the n-th call from now on fail, once (0: off). */
void rd_mem_fail_nth(unsigned n);
/* Calls since rd_mem_fail_nth(). */
unsigned rd_mem_calls(void);

#endif
