/* SPDX-License-Identifier: MIT */
/* Helpers for struct restd_slice, all inline and pure. */
#ifndef RD_BASE_SLICE_H
#define RD_BASE_SLICE_H

#include <string.h>

#include <restd/api.h>

static inline struct restd_slice rd_slice(const char *data, size_t len)
{
    struct restd_slice s = {data, len};
    return s;
}

/* Of a string that ends with NUL. */
static inline struct restd_slice rd_slice_str(const char *str)
{
    return rd_slice(str, strlen(str));
}

static inline int rd_slice_eq(struct restd_slice a, struct restd_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Without spaces and tabs at its ends, the OWS of RFC 9110 5.6.3. */
static inline struct restd_slice rd_slice_trim(struct restd_slice s)
{
    while (s.len > 0 && (*s.data == ' ' || *s.data == '\t')) {
        s = rd_slice(s.data + 1, s.len - 1);
    }
    while (s.len > 0 &&
           (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t')) {
        s.len--;
    }
    return s;
}

/* ASCII only, whatever the locale. */
static inline char rd_ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Case-insensitive comparison of ASCII text. */
static inline int rd_slice_ieq(struct restd_slice a, struct restd_slice b)
{
    if (a.len != b.len) {
        return 0;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (rd_ascii_lower(a.data[i]) != rd_ascii_lower(b.data[i])) {
            return 0;
        }
    }
    return 1;
}

#endif
