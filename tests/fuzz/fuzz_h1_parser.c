/* SPDX-License-Identifier: MIT */
/* The request parser. The first octet picks the limits, the rest is the
 * input. Checked: every prefix asks for more or has the verdict of the whole;
 * all spans lie in the head and do not overlap; the limits are kept; what is
 * called a token, a path or an authority is one. */
#include <stdio.h>

#include "base/mem.h"
#include "base/slice.h"
#include "fuzz.h"
#include "codec/field.h"
#include "codec/h1_parser.h"
#include "codec/uri.h"

#define FIELDS_MAX 16
#define CUTS_MAX 512

static const struct rd_h1_limits limits_of[] = {
    {8192, 16384, FIELDS_MAX},
    {UINT32_MAX, UINT32_MAX, FIELDS_MAX},
    {16, 64, 3},
    {0, 0, 0},
};

static struct rd_h1_field fields[FIELDS_MAX];

/* Parses an exact copy, so that the address sanitizer sees what is read. */
static int parse(struct rd_h1_head *head, const struct rd_h1_limits *limits,
                 const char *data, size_t len)
{
    char *copy = rd_mem_alloc(len + 1);
    memcpy(copy + 1, data, len);
    memset(head, 0xa5, sizeof(*head));
    head->fields = fields;
    int rc = rd_h1_parse(head, limits, copy + 1, len);
    rd_mem_free(copy);
    FUZZ_CHECK(rc >= 0 || head->error != NULL);
    FUZZ_CHECK(rc >= 0 || rc == -400 || rc == -414 || rc == -431 ||
               rc == -501 || rc == -505);
    return rc;
}

static struct restd_slice text(const char *data, struct rd_h1_span span)
{
    return rd_slice(data + span.off, span.len);
}

static void check_target(const struct rd_h1_head *h, const char *data)
{
    static struct rd_uri_path path;
    static char scratch[RD_H1_HEAD_MAX];
    unsigned end = h->target.off + h->target.len;
    FUZZ_CHECK(h->target.len > 0);
    FUZZ_CHECK(h->path.len == 0 || (h->path.off >= h->target.off &&
                                    h->path.off + h->path.len <= end));
    if (h->flags & RD_H1_QUERY) {
        FUZZ_CHECK(h->query.off + h->query.len == end);
        FUZZ_CHECK(h->path.off + h->path.len + 1 == h->query.off);
        FUZZ_CHECK(data[h->query.off - 1] == '?');
    } else if (h->form == RD_H1_ORIGIN) {
        FUZZ_CHECK(h->path.len == h->target.len);
    }
    FUZZ_CHECK(rd_field_is_authority(text(data, h->authority)));
    if (h->form != RD_H1_ORIGIN && h->form != RD_H1_ABSOLUTE) {
        return;
    }
    int rc = rd_uri_split(text(data, h->path), scratch, &path);
    if (h->flags & RD_H1_PLAIN_PATH) {
        FUZZ_CHECK(rc == 0 || rc == -404);
        /* Nothing was decoded or taken away. */
        size_t len = 0;
        for (unsigned i = 0; rc == 0 && i < path.n; i++) {
            len += path.segments[i].len + 1;
            FUZZ_CHECK(path.segments[i].len > 0 || i == path.n - 1);
        }
        FUZZ_CHECK(rc != 0 || len == h->path.len);
    }
}

/* No field that frames the message is ever passed over. */
static int has_field(const struct rd_h1_head *h, const char *data,
                     const char *name)
{
    int found = 0;
    for (unsigned i = 0; i < h->fields_n; i++) {
        found |=
            rd_slice_ieq(text(data, h->fields[i].name), rd_slice_str(name));
    }
    return found;
}

static void check_head(const struct rd_h1_head *h,
                       const struct rd_h1_limits *limits, const char *data,
                       size_t len)
{
    size_t at = h->target.off + h->target.len + strlen(" HTTP/1.1\r\n");
    FUZZ_CHECK(memcmp(data + len - 4, "\r\n\r\n", 4) == 0);
    FUZZ_CHECK(len <= RD_H1_HEAD_MAX && h->target.len <= limits->target_max);
    FUZZ_CHECK(len - 2 - at <= limits->header_max);
    FUZZ_CHECK(h->fields_n <= limits->fields_max);
    FUZZ_CHECK(rd_field_is_token(text(data, h->method)));
    FUZZ_CHECK(h->version_minor <= 1);
    FUZZ_CHECK(h->version_minor == 0 || (h->flags & RD_H1_HOST));
    FUZZ_CHECK(!(h->flags & RD_H1_CHUNKED) || h->version_minor == 1);
    FUZZ_CHECK(!(h->flags & RD_H1_CHUNKED) || !(h->flags & RD_H1_LENGTH));
    FUZZ_CHECK(has_field(h, data, "transfer-encoding") ==
               !!(h->flags & RD_H1_CHUNKED));
    FUZZ_CHECK(has_field(h, data, "content-length") ==
               !!(h->flags & RD_H1_LENGTH));
    FUZZ_CHECK(has_field(h, data, "host") == !!(h->flags & RD_H1_HOST));
    check_target(h, data);
    for (unsigned i = 0; i < h->fields_n; i++) {
        struct rd_h1_span name = h->fields[i].name;
        struct rd_h1_span value = h->fields[i].value;
        FUZZ_CHECK(name.off == at && rd_field_is_token(text(data, name)));
        FUZZ_CHECK(value.off > name.off + name.len);
        FUZZ_CHECK(rd_field_is_value(text(data, value)));
        for (at = (size_t)value.off + value.len; data[at] != '\r'; at++) {
            FUZZ_CHECK(data[at] == ' ' || data[at] == '\t');
        }
        at += 2;
    }
    FUZZ_CHECK(at + 2 == len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd_h1_head head;
    if (size == 0) {
        return 0;
    }
    const struct rd_h1_limits *limits = &limits_of[data[0] % 4];
    const char *input = (const char *)data + 1;
    size_t len = size - 1;
    int whole = parse(&head, limits, input, len);
    if (whole > 0) {
        FUZZ_CHECK((size_t)whole <= len);
        check_head(&head, limits, input, (size_t)whole);
        len = (size_t)whole;
    }
    int decided = 0;
    for (size_t cut = len > CUTS_MAX ? len - CUTS_MAX : 0; cut < len; cut++) {
        int rc = parse(&head, limits, input, cut);
        FUZZ_CHECK(rc == 0 ? !decided : (whole < 0 && rc == whole));
        decided = rc != 0;
    }
    return 0;
}
