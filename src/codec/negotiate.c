/* SPDX-License-Identifier: MIT */
/* Accept-Encoding and Accept. A line is taken apart by rd_field_list_next()
 * and rd_param_next(); what is kept is a weight per coding or type, so the
 * length of the field does not matter. Weights are maxima, which makes the
 * order of lines and elements irrelevant. Any thread. */
#include "codec/negotiate.h"

#include "base/assert.h"
#include "base/slice.h"
#include "codec/chars.h"
#include "codec/field.h"
#include "codec/param.h"

#define WEIGHT_MAX 1000

/* qvalue of RFC 9110 12.4.2 in thousandths, or -1. */
static int read_weight(struct restd_slice s)
{
    if (s.len == 0 || s.len > 5 || (s.data[0] != '0' && s.data[0] != '1') ||
        (s.len > 1 && s.data[1] != '.')) {
        return -1;
    }
    int weight = s.data[0] == '1' ? WEIGHT_MAX : 0;
    int unit = 100;
    for (size_t i = 2; i < s.len; i++, unit /= 10) {
        if (!rd_chars_is(s.data[i], RD_CHARS_DIGIT)) {
            return -1;
        }
        weight += unit * (s.data[i] - '0');
    }
    return weight <= WEIGHT_MAX ? weight : -1;
}

/* Reads the parameters up to the weight, which is returned, or -1 for bad
 * syntax. `*params` keeps what stands in front of it. What stands behind it,
 * the extensions of RFC 7231, must be well-formed and means nothing. */
static int split_weight(struct restd_slice *params)
{
    struct restd_slice rest = *params;
    struct restd_slice name, value;
    int weight = -1;
    int rc;
    while ((rc = rd_param_next(&rest, &name, &value)) > 0) {
        if (weight < 0 && rd_slice_ieq(name, rd_slice("q", 1))) {
            params->len = (size_t)(name.data - params->data);
            weight = read_weight(value);
            if (weight < 0) {
                return -1;
            }
        }
    }
    return rc < 0 ? -1 : weight < 0 ? WEIGHT_MAX : weight;
}

static void weight_raise(uint16_t *weight, int to)
{
    *weight = to >= *weight ? (uint16_t)(to + 1) : *weight;
}

void rd_accept_encoding_feed(struct rd_accept_encoding *a,
                             struct restd_slice line)
{
    struct restd_slice rest;
    while (rd_field_list_next(&line, &rest)) {
        struct restd_slice coding = rd_param_head(&rest);
        int weight = split_weight(&rest);
        struct restd_slice name, value;
        if (weight < 0 || rd_param_next(&rest, &name, &value) != 0) {
            continue;
        }
        if (rd_slice_ieq(coding, rd_slice_str("gzip")) ||
            rd_slice_ieq(coding, rd_slice_str("x-gzip"))) {
            weight_raise(&a->gzip, weight);
        } else if (rd_slice_ieq(coding, rd_slice_str("identity"))) {
            weight_raise(&a->identity, weight);
        } else if (rd_slice_eq(coding, rd_slice("*", 1))) {
            weight_raise(&a->any, weight);
        }
    }
}

enum rd_coding rd_accept_encoding_best(const struct rd_accept_encoding *a)
{
    unsigned gzip = a->gzip ? a->gzip : a->any;
    /* Not named anywhere it is acceptable all the same: the least weight. */
    unsigned identity = a->identity ? a->identity : a->any ? a->any : 2;
    if (gzip > 1 && gzip >= identity) {
        return RD_CODING_GZIP;
    }
    return identity > 1 ? RD_CODING_IDENTITY : RD_CODING_NONE;
}

static int has_param(struct restd_slice params, struct restd_slice name,
                     struct restd_slice value)
{
    struct restd_slice n, v;
    while (rd_param_next(&params, &n, &v) > 0) {
        if (rd_slice_ieq(n, name) &&
            rd_slice_ieq(rd_param_bare(v), rd_param_bare(value))) {
            return 1;
        }
    }
    return 0;
}

/* How specific the range is for the type; 0: it does not match. */
static unsigned match(struct restd_slice type, struct restd_slice range,
                      struct restd_slice params)
{
    struct restd_slice bare = rd_param_head(&type);
    struct restd_slice name, value;
    unsigned rank = 3;
    if (rd_slice_eq(range, rd_slice("*/*", 3))) {
        rank = 1;
    } else if (range.data[range.len - 1] == '*' &&
               range.data[range.len - 2] == '/') {
        range.len--;
        bare.len = range.len < bare.len ? range.len : bare.len;
        rank = 2;
    }
    if (rank > 1 && !rd_slice_ieq(bare, range)) {
        return 0;
    }
    while (rd_param_next(&params, &name, &value) > 0) {
        if (!has_param(type, name, value)) {
            return 0;
        }
        rank += rank < UINT8_MAX;
    }
    return rank;
}

/* type "/" subtype; '*' is a token, but the type only before "/" "*". */
static int is_range(struct restd_slice s)
{
    const char *slash = s.len > 0 ? memchr(s.data, '/', s.len) : NULL;
    if (slash == NULL) {
        return 0;
    }
    struct restd_slice type = rd_slice(s.data, (size_t)(slash - s.data));
    struct restd_slice sub = rd_slice(slash + 1, s.len - type.len - 1);
    return rd_field_is_token(type) && rd_field_is_token(sub) &&
           (!rd_slice_eq(type, rd_slice("*", 1)) ||
            rd_slice_eq(sub, rd_slice("*", 1)));
}

void rd_accept_feed(struct rd_accept *a, const char *const *types, unsigned n,
                    struct restd_slice line)
{
    struct restd_slice params;
    RD_ASSERT(n <= RD_ACCEPT_TYPES_MAX);
    while (rd_field_list_next(&line, &params)) {
        struct restd_slice range = rd_param_head(&params);
        int weight = split_weight(&params);
        if (weight < 0 || !is_range(range)) {
            continue;
        }
        a->heard = 1;
        for (unsigned i = 0; i < n; i++) {
            unsigned rank = match(rd_slice_str(types[i]), range, params);
            if (rank > a->rank[i] ||
                (rank > 0 && rank == a->rank[i] && weight > a->weight[i])) {
                a->rank[i] = (uint8_t)rank;
                a->weight[i] = (uint16_t)weight;
            }
        }
    }
}

int rd_accept_best(const struct rd_accept *a, unsigned n)
{
    int best = -1;
    for (unsigned i = 0; i < n; i++) {
        if (!a->heard) {
            return 0;
        }
        if (a->weight[i] > (best < 0 ? 0 : a->weight[best])) {
            best = (int)i;
        }
    }
    return best;
}
