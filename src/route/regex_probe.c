/* SPDX-License-Identifier: MIT */
/* What a regex does, found out by trying it, for rd_router_lint().
 *
 * A segment that matches is grown byte by byte: partial matching says whether
 * a beginning can still become one. Walks choose among the bytes that the
 * source names; where none arrives, a search of all bytes, as far as its
 * budget goes, shows that there is no such segment. Hostile segments are that
 * one with a run of bytes somewhere and an end that does not fit. What is
 * allocated is PCRE2's own and gone at the end. Thread: any. */
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/assert.h"
#include "base/mem.h"
#include "base/slice.h"
#include "route/regex.h"

#define GROWN_MAX 64u
#define WALKS 12u
#define TRIES_MAX 20000u
#define RUN 64u

struct probe {
    pcre2_code *partial; /* matches beginnings; NULL: cannot be made */
    pcre2_match_data *data;
    pcre2_match_context *context;
    const pcre2_code *code;
    unsigned char bytes[256]; /* those of the source, then all others */
    unsigned named_n, tries;
    unsigned char grown[GROWN_MAX];
    size_t len;   /* of `grown` */
    int is_short; /* the search was cut off */
    uint32_t random;
};

static void probe_fini(struct probe *p)
{
    pcre2_code_free(p->partial);
    pcre2_match_data_free(p->data);
    pcre2_match_context_free(p->context);
}

static void bytes_init(struct probe *p, struct restd_slice source)
{
    static const char usual[] = "a0A-_. ";
    unsigned char seen[256] = {1}; /* no segment has a NUL */
    unsigned n = 0;

    for (size_t i = 0; i < source.len + sizeof(usual) - 1 + 256; i++) {
        size_t k = i - source.len;
        unsigned char c = i < source.len ? (unsigned char)source.data[i]
                          : k < sizeof(usual) - 1
                              ? (unsigned char)usual[k]
                              : (unsigned char)(k - (sizeof(usual) - 1));
        p->named_n = k == sizeof(usual) - 1 ? n : p->named_n;
        if (!seen[c]) {
            seen[c] = 1;
            p->bytes[n++] = c;
        }
    }
}

static int probe_init(struct probe *p, const struct rd_regex *regex,
                      struct restd_slice source)
{
    size_t size = source.len + sizeof("(?:)\\z") - 1;
    char *text = rd_mem_alloc(size);
    int number;

    memset(p, 0, sizeof(*p));
    p->code = (const pcre2_code *)(const void *)regex;
    p->random = 1;
    bytes_init(p, source);
    p->data = pcre2_match_data_create(1, NULL);
    p->context = pcre2_match_context_create(NULL);
    if (text) {
        memcpy(text, "(?:", 3);
        memcpy(text + 3, source.data, source.len);
        memcpy(text + 3 + source.len, ")\\z", 3);
        /* PCRE2_ENDANCHORED excludes partial matching. */
        p->partial = pcre2_compile((PCRE2_SPTR)text, size,
                                   PCRE2_ANCHORED | PCRE2_NO_AUTO_CAPTURE |
                                       PCRE2_NEVER_UTF,
                                   &number, &size, NULL);
    }
    rd_mem_free(text);
    if (!text || !p->data || !p->context) {
        probe_fini(p);
        return RESTD_ENOMEM;
    }
    pcre2_set_match_limit(p->context, RD_REGEX_STEPS_MAX);
    return 0;
}

static int match(struct probe *p, const pcre2_code *code, const void *subject,
                 size_t len, uint32_t options)
{
    return pcre2_match(code, subject, len, 0, options, p->data, p->context);
}

/* --- a segment that matches ------------------------------------------------ */

/* With one byte more: 1 if it matches, 0 if it may begin to, else -1. */
static int grow(struct probe *p, unsigned char c)
{
    p->grown[p->len] = c;
    p->tries++;
    int rc = match(p, p->partial, p->grown, p->len + 1, PCRE2_PARTIAL_SOFT);
    p->is_short |= rc < PCRE2_ERROR_PARTIAL;
    p->len += rc >= 0 || rc == PCRE2_ERROR_PARTIAL;
    return rc >= 0 ? 1 : rc == PCRE2_ERROR_PARTIAL ? 0 : -1;
}

static int walk(struct probe *p)
{
    int rc = 0;

    RD_ASSERT(p->named_n > 0);
    for (p->len = 0; rc == 0 && p->len < GROWN_MAX;) {
        p->random = p->random * 1664525u + 1013904223u;
        unsigned start = (p->random >> 16) % p->named_n;
        rc = -1;
        for (unsigned i = 0; i < 255 && rc < 0; i++) {
            rc = grow(p,
                      p->bytes[i < p->named_n ? (start + i) % p->named_n : i]);
        }
    }
    return rc > 0;
}

/* All bytes at all places, depth first. */
static int search(struct probe *p)
{
    uint8_t at[GROWN_MAX] = {0};

    p->len = 0;
    p->tries = 0;
    p->is_short = 0;
    for (;;) {
        size_t depth = p->len;
        if (p->tries > TRIES_MAX || depth == GROWN_MAX) {
            p->is_short = 1;
            return 0;
        }
        if (at[depth] == 255) {
            if (depth == 0) {
                return 0;
            }
            at[depth] = 0;
            p->len--;
            continue;
        }
        if (grow(p, p->bytes[at[depth]++]) > 0) {
            return 1;
        }
    }
}

/* --- hostile segments ------------------------------------------------------ */

/* The end does not fit, but has what PCRE2 looks for beforehand. */
static int run_is_slow(struct probe *p, size_t at, unsigned char a,
                       unsigned char b)
{
    unsigned char text[GROWN_MAX + RUN + 1];

    memcpy(text, p->grown, at);
    for (size_t i = 0; i < RUN; i++) {
        text[at + i] = i % 2 ? b : a;
    }
    memcpy(text + at + RUN, p->grown + at, p->len - at);
    text[p->len + RUN] = 1;
    return match(p, p->code, text, p->len + RUN + 1, 0) ==
           PCRE2_ERROR_MATCHLIMIT;
}

/* A quantified group inside a quantified one is slow with a run of what is in
 * it, which the source names; so are alternatives that split a pair. */
static int is_slow(struct probe *p)
{
    for (size_t k = 0; k <= p->len; k++) {
        unsigned char before = k > 0 ? p->grown[k - 1] : 'a';
        unsigned char behind = k < p->len ? p->grown[k] : 'a';
        int slow = run_is_slow(p, k, before, behind);
        for (unsigned i = 0; !slow && i < 3 * p->named_n; i++) {
            slow = run_is_slow(p, k, p->bytes[i / 3],
                               p->bytes[(i / 3 + i % 3) % p->named_n]);
        }
        if (slow) {
            return 1;
        }
    }
    return 0;
}

static int takes_all(struct probe *p, struct restd_slice source)
{
    char text[1024];

    for (size_t i = 0; i + 2 < source.len; i++) {
        if (source.data[i] == '(' && source.data[i + 1] == '?' &&
            strchr("=!<", source.data[i + 2])) {
            return 0; /* what it looks for may be anything */
        }
    }
    for (unsigned i = 0; i < 255; i++) {
        if (p->bytes[i] != '\n' && match(p, p->code, &p->bytes[i], 1, 0) < 0) {
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = (char)(' ' + i % 95);
    }
    return match(p, p->code, text, sizeof(text), 0) >= 0;
}

int rd_regex_study(const struct rd_regex *regex, struct restd_slice source,
                   struct rd_regex_traits *traits)
{
    struct probe p;
    int found = 0;
    int rc = probe_init(&p, regex, source);

    memset(traits, 0, sizeof(*traits));
    if (rc != 0) {
        return rc;
    }
    traits->takes_empty = match(&p, p.code, "", 0, 0) >= 0;
    if (p.partial) {
        for (unsigned i = 0; !found && i < WALKS; i++) {
            found = walk(&p);
        }
        found = found || search(&p);
        traits->takes_none = !found && !p.is_short;
    }
    p.len = found ? p.len : 0;
    traits->takes_all = takes_all(&p, source);
    traits->slow = is_slow(&p);
    probe_fini(&p);
    return 0;
}
