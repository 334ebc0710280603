/* SPDX-License-Identifier: MIT */
/* Patterns of routes, see restd_router_add(), and bases of routers: text into
 * segments, and segments against those of a path.
 *
 * Owner: a route or a scope. Lifetime: its own. Thread: immutable, any. */
#ifndef RD_ROUTE_PATTERN_H
#define RD_ROUTE_PATTERN_H

#include <restd/router.h>

#include "route/regex.h"
#include "codec/uri.h"

#define RD_PARAMS_MAX 16

enum rd_segment_kind { /* the more specific first */
                       RD_SEGMENT_TEXT,
                       RD_SEGMENT_REGEX,
                       RD_SEGMENT_UUID,
                       RD_SEGMENT_INT,
                       RD_SEGMENT_SLUG,
                       RD_SEGMENT_VARIABLE,
                       RD_SEGMENT_REST,
                       RD_SEGMENT_ANY /* what a final '/' is in a PREFIX router */
};

struct rd_segment {
    enum rd_segment_kind kind;
    struct restd_slice name; /* empty: none */
    struct restd_slice text; /* or source of the regex; else empty */
    struct rd_regex *regex;
};

struct rd_pattern {
    const char *text; /* as written */
    unsigned regexes_n;
    uint8_t n, params_n;
    uint8_t params[RD_PARAMS_MAX]; /* segments that have a name */
    struct rd_segment segments[];
};

/* `mode`: the router's; PREFIX drops empty segments but the last, and lets a
 * name come twice (the last one holds). `base`: of a router, so no rest and no
 * '/' at the end; "" and "/" are patterns of no segment. RESTD_EINVAL,
 * RESTD_ENOMEM. */
RESTD_MUST_CHECK int rd_pattern_new(const char *text,
                                    enum restd_router_mode mode, int base,
                                    struct rd_pattern **pattern,
                                    struct restd_error *error);
void rd_pattern_free(struct rd_pattern *pattern); /* NULL is allowed */
size_t rd_pattern_bytes(const struct rd_pattern *pattern);

/* Orders by kind, then text; 0 if they match the same. */
int rd_segment_compare(const struct rd_segment *a, const struct rd_segment *b);
/* Orders by segments from the left; 0 if they match the same. */
int rd_pattern_compare(const struct rd_pattern *a, const struct rd_pattern *b);

/* 1 if the segment of a path fits. `work` may be NULL without a regex. */
int rd_segment_fits(const struct rd_segment *segment, struct restd_slice value,
                    struct rd_regex_work *work);
/* 1 if the first segments of the path fit the pattern's. */
int rd_pattern_fits(const struct rd_pattern *pattern,
                    const struct rd_uri_path *path, struct rd_regex_work *work);

#endif
