/* SPDX-License-Identifier: MIT */
/* RD_ASSERT guards the library's own invariants: cheap, always on, never for
 * input. A failed one is a bug, so the process ends with the place. */
#ifndef RD_BASE_ASSERT_H
#define RD_BASE_ASSERT_H

#define RD_ASSERT(cond)                                                        \
    (__builtin_expect(!!(cond), 1)                                             \
         ? (void)0                                                             \
         : rd_assert_failed(#cond, __FILE__, __LINE__))

/* Only with DEBUG=1: checks too dear for every request. */
#ifdef RD_DEBUG
#define RD_DEBUG_ASSERT(cond) RD_ASSERT(cond)
#else
#define RD_DEBUG_ASSERT(cond) ((void)0)
#endif

#define RD_STATIC_ASSERT(cond, text) _Static_assert(cond, text)

/* Address of the object that holds `member` at `ptr`. */
#define RD_CONTAINER_OF(ptr, type, member)                                     \
    ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

_Noreturn void rd_assert_failed(const char *cond, const char *file, int line);

#endif
