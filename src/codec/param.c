/* SPDX-License-Identifier: MIT */
/* Parameters of field values, for negotiation and for forms. No white space
 * around '=', which the grammar does not have. Any thread. */
#include "codec/param.h"

#include <string.h>

#include "base/slice.h"
#include "codec/chars.h"

static int is_space(char c)
{
    return c == ' ' || c == '\t';
}

struct restd_slice rd_param_head(struct restd_slice *rest)
{
    struct restd_slice head = *rest;
    const char *stop = head.len > 0 ? memchr(head.data, ';', head.len) : NULL;
    if (stop != NULL) {
        head.len = (size_t)(stop - head.data);
        *rest = rd_slice(stop, rest->len - head.len);
    } else {
        rest->len = 0;
    }
    return rd_slice_trim(head);
}

static const char *skip_token(const char *p, const char *end)
{
    while (p < end && rd_chars_is(*p, RD_CHARS_TOKEN)) {
        p++;
    }
    return p;
}

/* Behind the closing quote; NULL if there is none. */
static const char *skip_quoted(const char *p, const char *end)
{
    for (p++; p < end && rd_chars_is(*p, RD_CHARS_VALUE); p++) {
        if (*p == '"') {
            return p + 1;
        }
        if (*p == '\\' && ++p < end && !rd_chars_is(*p, RD_CHARS_VALUE)) {
            break;
        }
    }
    return NULL;
}

int rd_param_next(struct restd_slice *rest, struct restd_slice *name,
                  struct restd_slice *value)
{
    if (rest->len == 0) {
        return 0;
    }
    const char *p = rest->data;
    const char *end = p + rest->len;
    int separated = 0;
    for (; p < end && (is_space(*p) || *p == ';'); p++) {
        separated |= *p == ';';
    }
    if (p == end) {
        rest->len = 0;
        return 0;
    }
    const char *equal = skip_token(p, end);
    if (!separated || equal == p || end - equal < 2 || *equal != '=') {
        return -1;
    }
    const char *start = equal + 1;
    const char *stop =
        *start == '"' ? skip_quoted(start, end) : skip_token(start, end);
    if (stop == NULL || stop == start) {
        return -1;
    }
    *name = rd_slice(p, (size_t)(equal - p));
    *value = rd_slice(start, (size_t)(stop - start));
    *rest = rd_slice(stop, (size_t)(end - stop));
    return 1;
}

struct restd_slice rd_param_bare(struct restd_slice value)
{
    return value.len > 1 && value.data[0] == '"'
               ? rd_slice(value.data + 1, value.len - 2)
               : value;
}
