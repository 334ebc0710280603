/* SPDX-License-Identifier: MIT */
/* Regular expressions of route patterns: the only users of PCRE2. Bytes, not
 * characters; no JIT; the whole subject must match; named groups alone
 * capture.
 *
 * struct rd_regex: owner a pattern, immutable, any thread.
 * struct rd_regex_work: owner a loop, and only for its thread. */
#ifndef RD_ROUTE_REGEX_H
#define RD_ROUTE_REGEX_H

#include <stdint.h>

#include <restd/error.h>

struct rd_regex;

/* Everything that matching needs, so that a match allocates nothing: frames
 * for backtracking above all, which PCRE2 10.42 takes at the first match and
 * keeps. Measured: 20,712 bytes in four blocks. */
#define RD_REGEX_WORK_BYTES 20992u
/* Of a match, so that a hostile segment cannot hold up a loop. */
#define RD_REGEX_STEPS_MAX 10000u

struct rd_regex_work {
    void *data, *context; /* PCRE2's */
    uint64_t limited;     /* matches given up at a limit, taken as none */
};

/* RESTD_EINVAL with PCRE2's words, RESTD_ENOMEM. */
RESTD_MUST_CHECK int rd_regex_new(struct restd_slice source,
                                  struct rd_regex **regex,
                                  struct restd_error *error);
void rd_regex_free(struct rd_regex *regex);
size_t rd_regex_bytes(const struct rd_regex *regex);

/* RESTD_ENOMEM. */
RESTD_MUST_CHECK int rd_regex_work_new(struct rd_regex_work **work);
void rd_regex_work_free(struct rd_regex_work *work);

/* 1 if all of `subject` matches. */
int rd_regex_match(const struct rd_regex *regex, struct restd_slice subject,
                   struct rd_regex_work *work);

/* regex_probe.c: what trying finds out. */
struct rd_regex_traits {
    int takes_empty; /* the empty segment matches */
    int takes_none;  /* no other one does; 0 if that is not known */
    int takes_all;   /* every other one does, but for those with newlines */
    int slow;        /* hostile segments reach RD_REGEX_STEPS_MAX */
};
/* Takes milliseconds at most. RESTD_ENOMEM. */
RESTD_MUST_CHECK int rd_regex_study(const struct rd_regex *regex,
                                    struct restd_slice source,
                                    struct rd_regex_traits *traits);

#endif
