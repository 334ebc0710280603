/* SPDX-License-Identifier: MIT */
/* Byte ranges. Numbers of any length are read and saturate at UINT64_MAX, as a
 * client may ask for "0-999999999999999999999" and mean "all". What is asked
 * for in excess is answered with the whole representation, not with an error:
 * a client has to expect that anyway. Any thread. */
#include "codec/range.h"

#include "base/slice.h"
#include "codec/chars.h"
#include "codec/field.h"

#define OVERLAPS_MAX 2u

enum spec { SPEC_BAD, SPEC_BEHIND, SPEC_GOOD };

static uint64_t read_number(const char **at, const char *end)
{
    uint64_t n = 0;
    const char *p = *at;
    for (; p < end && rd_chars_is(*p, RD_CHARS_DIGIT); p++) {
        unsigned digit = (unsigned)(*p - '0');
        n = n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : n * 10 + digit;
    }
    *at = p;
    return n;
}

/* first-pos "-" [ last-pos ], or "-" suffix-length. */
static enum spec read_spec(struct restd_slice spec, uint64_t size,
                           struct rd_range *range)
{
    const char *p = spec.data;
    const char *end = p + spec.len;
    uint64_t first = read_number(&p, end);
    int suffix = p == spec.data;
    if (p == end || *p++ != '-' || (suffix && p == end)) {
        return SPEC_BAD;
    }
    uint64_t last = p == end ? UINT64_MAX : read_number(&p, end);
    if (p != end || (!suffix && last < first)) {
        return SPEC_BAD;
    }
    if (suffix) {
        first = last < size ? size - last : 0;
        last = last > 0 ? UINT64_MAX : 0;
    }
    if (suffix ? last == 0 : first >= size) {
        return SPEC_BEHIND;
    }
    range->first = first;
    range->last = size > 0 && last > size - 1 ? size - 1 : last;
    return SPEC_GOOD;
}

static int is_wasteful(const struct rd_range *ranges, unsigned n, uint64_t size)
{
    unsigned overlaps = 0;
    uint64_t left = size;
    for (unsigned i = 0; i < n; i++) {
        uint64_t len = ranges[i].last - ranges[i].first + 1;
        if (len > left) {
            return 1;
        }
        left -= len;
        for (unsigned k = 0; k < i; k++) {
            overlaps += ranges[i].first <= ranges[k].last &&
                        ranges[k].first <= ranges[i].last;
        }
    }
    return overlaps > OVERLAPS_MAX;
}

int rd_range_parse(struct restd_slice value, uint64_t size,
                   struct rd_range *ranges, unsigned max)
{
    static const char unit[] = "bytes=";
    const size_t unit_len = sizeof(unit) - 1;
    struct restd_slice spec;
    unsigned n = 0;
    int seen = 0;
    if (value.len < unit_len || !rd_slice_ieq(rd_slice(value.data, unit_len),
                                              rd_slice(unit, unit_len))) {
        return 0;
    }
    struct restd_slice rest =
        rd_slice(value.data + unit_len, value.len - unit_len);
    for (; rd_field_list_next(&rest, &spec); seen = 1) {
        struct rd_range range;
        enum spec kind = read_spec(spec, size, &range);
        if (kind == SPEC_BAD ||
            (kind == SPEC_GOOD && (n == max || size == 0))) {
            /* A suffix of an empty representation is satisfiable, but no
             * Content-Range can say so. */
            return 0;
        }
        if (kind == SPEC_GOOD) {
            ranges[n++] = range;
        }
    }
    if (n == 0) {
        return seen ? -416 : 0;
    }
    return is_wasteful(ranges, n, size) ? 0 : (int)n;
}
