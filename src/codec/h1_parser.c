/* SPDX-License-Identifier: MIT */
/* The request head of HTTP/1.x. One pass from left to right, each octet judged
 * by nothing but itself and those before it, and the first fault in this order
 * is the answer: that is what makes the answer independent of how the input
 * was cut. Limits are kept by looking no further than they reach; a head that
 * is not complete there is too large. Targets are taken apart in h1_target.c,
 * known fields are judged line by line in h1_fields.c, scans of many octets are
 * in h1_scan.h. No state between calls, no allocation, any thread. */
#include "codec/h1_parser.h"

#include <string.h>

#include "codec/chars.h"
#include "codec/h1_fields.h"
#include "codec/h1_scan.h"
#include "codec/h1_target.h"

/* Longer than any registered method; a line of garbage ends here. */
#define METHOD_MAX 32
#define VERSION_LEN 10 /* "HTTP/1.1" CRLF */

/* Keeps what is rare out of the registers of what is not. */
#define NOINLINE __attribute__((noinline))

#define STEP_MORE 0
#define STEP_DONE 1 /* and < 0: -status */

struct reader {
    const char *buf; /* the head */
    const char *at;  /* next octet */
    const char *end; /* of what may be looked at */
};

static inline int same(const char *a, const char *b, size_t len)
{
    return memcmp(a, b, len) == 0;
}

/* CRLF at r->at; nothing else will do. */
static inline int read_crlf(struct rd_h1_head *head, struct reader *r)
{
    const char *p = r->at;
    if (r->end - p >= 2 && same(p, "\r\n", 2)) {
        r->at = p + 2;
        return STEP_DONE;
    }
    if (p < r->end && *p != '\r') {
        return rd_h1_bad(head, 400, "line does not end with CRLF");
    }
    return r->end - p < 2 ? STEP_MORE : rd_h1_bad(head, 400, "CR without LF");
}

static enum restd_method method_number(const char *name, size_t len)
{
    static const struct {
        const char *name;
        size_t len;
    } methods[RESTD_METHODS_N] = {
#define X(name) [RESTD_METHOD_##name] = {#name, sizeof(#name) - 1},
        RESTD_METHOD_MAP(X)
#undef X
    };
    for (unsigned i = RESTD_METHOD_OTHER + 1; i < RESTD_METHODS_N; i++) {
        if (methods[i].len == len && same(methods[i].name, name, len)) {
            return (enum restd_method)i;
        }
    }
    return RESTD_METHOD_OTHER;
}

/* Any method but GET. */
NOINLINE static int read_other_method(struct rd_h1_head *head,
                                      const struct reader *r)
{
    const char *start = r->at;
    const char *p = start;
    while (p < r->end && rd_chars_is(*p, RD_CHARS_TOKEN)) {
        if (p - start == METHOD_MAX) {
            return rd_h1_bad(head, 400, "method too long");
        }
        p++;
    }
    if (p == r->end) {
        return STEP_MORE;
    }
    if (*p != ' ' || p == start) {
        return rd_h1_bad(head, 400, "invalid method");
    }
    head->method = rd_h1_span(r->buf, start, p);
    head->number = method_number(start, (size_t)(p - start));
    return STEP_DONE;
}

/* method SP */
static inline int read_method(struct rd_h1_head *head, struct reader *r)
{
    if (r->end - r->at >= 4 && same(r->at, "GET ", 4)) {
        head->method = rd_h1_span(r->buf, r->at, r->at + 3);
        head->number = RESTD_METHOD_GET;
    } else {
        const struct reader here = *r;
        int rc = read_other_method(head, &here);
        if (rc != STEP_DONE) {
            return rc;
        }
    }
    r->at += head->method.len + 1;
    return STEP_DONE;
}

/* target SP */
static inline int read_target(struct rd_h1_head *head, struct reader *r,
                              uint32_t target_max)
{
    int odd = 0;
    const char *start = r->at;
    const char *p = rd_h1_scan_target(start, r->buf, r->end, &odd);
    if ((size_t)(p - start) > target_max) {
        return rd_h1_bad(head, 414, "request target too long");
    }
    if (p == r->end) {
        return STEP_MORE;
    }
    if (*p != ' ' || p == start) {
        return rd_h1_bad(head, 400, "invalid character in the target");
    }
    head->target = rd_h1_span(r->buf, start, p);
    r->at = p + 1;
    if (*start != '/' || head->number == RESTD_METHOD_CONNECT) {
        return rd_h1_target_other(head, r->buf, start, p);
    }
    head->form = RD_H1_ORIGIN;
    if (odd) {
        rd_h1_target_split(head, r->buf, start, p);
    } else {
        head->path = head->target;
        head->flags |= RD_H1_PLAIN_PATH;
    }
    return STEP_DONE;
}

/* Any version but 1.1 and 1.0, or one that is not complete. It is 505 only once its
 * line is whole, as what follows could still make it malformed. */
NOINLINE static int read_other_version(struct rd_h1_head *head,
                                       const struct reader *r)
{
    /* '0' stands for any digit. */
    static const char model[] = "HTTP/0.0\r\n";
    const char *p = r->at;
    for (const char *m = model; *m != '\0'; m++, p++) {
        if (p == r->end) {
            return STEP_MORE;
        }
        if (*m == '0' ? !rd_chars_is(*p, RD_CHARS_DIGIT) : *p != *m) {
            return rd_h1_bad(head, 400, "malformed HTTP version");
        }
    }
    if (r->at[5] != '1') {
        return rd_h1_bad(head, 505, "HTTP version not supported");
    }
    head->version_minor = r->at[7] != '0';
    return STEP_DONE;
}

/* HTTP-version CRLF */
static inline int read_version(struct rd_h1_head *head, struct reader *r)
{
    if (r->end - r->at >= VERSION_LEN &&
        same(r->at, "HTTP/1.1\r\n", VERSION_LEN)) {
        head->version_minor = 1;
    } else if (r->end - r->at < VERSION_LEN ||
               !same(r->at, "HTTP/1.0\r\n", VERSION_LEN)) {
        const struct reader here = *r;
        int rc = read_other_version(head, &here);
        if (rc != STEP_DONE) {
            return rc;
        }
    }
    r->at += VERSION_LEN;
    return STEP_DONE;
}

static int read_request_line(struct rd_h1_head *head, struct reader *r,
                             uint32_t target_max)
{
    int rc;
    if (r->at < r->end && *r->at == '\r') {
        rc = read_crlf(head, r);
        if (rc != STEP_DONE) {
            return rc;
        }
    }
    rc = read_method(head, r);
    if (rc != STEP_DONE) {
        return rc;
    }
    rc = read_target(head, r, target_max);
    if (rc != STEP_DONE) {
        return rc;
    }
    return read_version(head, r);
}

/* name ":" OWS value OWS CRLF */
static inline int read_field(struct rd_h1_head *head, struct reader *r,
                             struct rd_h1_field *field)
{
    const char *name = r->at;
    const char *p = rd_h1_scan_name(name, r->end);
    if (p == r->end) {
        return STEP_MORE;
    }
    if (*p != ':' || p == name) {
        return rd_h1_bad(head, 400, "malformed field name");
    }
    field->name = rd_h1_span(r->buf, name, p++);
    while (p < r->end && (*p == ' ' || *p == '\t')) {
        p++;
    }
    const char *value = p;
    p = rd_h1_scan_value(p, r->buf, r->end);
    r->at = p;
    int rc = read_crlf(head, r);
    while (p > value && (p[-1] == ' ' || p[-1] == '\t')) {
        p--;
    }
    field->value = rd_h1_span(r->buf, value, p);
    return rc;
}

/* What only the whole head can tell. */
static int finish(struct rd_h1_head *head, const struct reader *r)
{
    if (head->version_minor > 0 && !(head->flags & RD_H1_HOST)) {
        return rd_h1_bad(head, 400, "no Host field");
    }
    if ((head->flags & RD_H1_PRIVATE) == RD_H1_PRIVATE) {
        head->flags |= RD_H1_UPGRADE;
    }
    head->flags &= (uint16_t)~RD_H1_PRIVATE;
    return (int)(r->at - r->buf);
}

/* The common case of rd_h1_field_note_host(). */
static inline int note_host(struct rd_h1_head *head, const char *buf,
                            struct rd_h1_span value)
{
    const char *p = buf + value.off;
    if (head->form != RD_H1_ORIGIN || (head->flags & RD_H1_HOST) ||
        !rd_h1_is_easy_host(p, buf, p + value.len)) {
        return rd_h1_field_note_host(head, buf, value);
    }
    head->flags |= RD_H1_HOST;
    head->authority = value;
    return 0;
}

/* Field lines and the empty line. */
static int read_fields(struct rd_h1_head *head, struct reader *r,
                       unsigned fields_max)
{
    unsigned n = 0;
    for (; r->at < r->end; n++) {
        int rc;
        if (*r->at == '\r') {
            head->fields_n = (uint16_t)n;
            rc = read_crlf(head, r);
            return rc == STEP_DONE ? finish(head, r) : rc;
        }
        if (n == fields_max) {
            return rd_chars_is(*r->at, RD_CHARS_TOKEN)
                       ? rd_h1_bad(head, 431, "too many header fields")
                       : rd_h1_bad(head, 400, "malformed field name");
        }
        struct rd_h1_field *field = &head->fields[n];
        rc = read_field(head, r, field);
        if (rc != STEP_DONE) {
            return rc;
        }
        const char *name = r->buf + field->name.off;
        if (rd_h1_field_is_host(name, field->name.len)) {
            rc = note_host(head, r->buf, field->value);
        } else if (rd_h1_field_matters(name, field->name.len)) {
            rc = rd_h1_field_note(head, r->buf, field);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return STEP_MORE;
}

int rd_h1_parse(struct rd_h1_head *head, const struct rd_h1_limits *limits,
                const char *buf, size_t len)
{
    size_t seen = len < RD_H1_HEAD_MAX ? len : RD_H1_HEAD_MAX;
    struct reader r = {buf, buf, buf + seen};
    *head = (struct rd_h1_head){.fields = head->fields};

    int rc = read_request_line(head, &r, limits->target_max);
    if (rc == STEP_MORE && seen < len) {
        return rd_h1_bad(head, 414, "request target too long");
    }
    if (rc != STEP_DONE) {
        return rc;
    }
    size_t left = (size_t)(r.end - r.at);
    size_t max = limits->header_max;
    if (left > max && left - max > 2) { /* 2: the empty line */
        r.end = r.at + max + 2;
    }
    rc = read_fields(head, &r, limits->fields_max);
    if (rc == STEP_MORE && r.end < buf + len) {
        return rd_h1_bad(head, 431, "header section too large");
    }
    return rc;
}
