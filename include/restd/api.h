/* SPDX-License-Identifier: MIT */
/* Linkage, attributes and the slice type shared by every public header. */
#ifndef RESTD_API_H
#define RESTD_API_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
#define RESTD_BEGIN_DECLS extern "C" {
#define RESTD_END_DECLS }
#else
#define RESTD_BEGIN_DECLS
#define RESTD_END_DECLS
#endif

#define RESTD_API __attribute__((visibility("default")))
#define RESTD_MUST_CHECK __attribute__((warn_unused_result))
#define RESTD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/**
 * Borrowed bytes, not terminated by NUL. Who lends them and for how long
 * stands at the function that returns one. An absent value has `data` NULL;
 * an empty one has `data` set and `len` 0.
 */
struct restd_slice {
    const char *data;
    size_t len;
};

/** 1 if the slice is that text, byte by byte; an absent one never is.
 * [any thread] */
static inline int restd_slice_is(struct restd_slice slice, const char *text)
{
    return slice.data != NULL && slice.len == strlen(text) &&
           memcmp(slice.data, text, slice.len) == 0;
}

#endif
