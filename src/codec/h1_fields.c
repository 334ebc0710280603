/* SPDX-License-Identifier: MIT */
/* What single header fields mean for a request head: Host, Content-Length,
 * Transfer-Encoding, Connection, Upgrade, Expect. Called for each such line as
 * soon as it is complete, in order of arrival, so that the verdict depends on
 * nothing behind the line (the cut property of h1_parser.h). What needs the
 * whole section, such as a missing Host, is decided by the parser at its end.
 * Pure; any thread. */
#include "codec/h1_fields.h"

#include <string.h>

#include "base/slice.h"
#include "codec/field.h"

int rd_h1_bad(struct rd_h1_head *head, int status, const char *text)
{
    head->error = text;
    return -status;
}

/* Compares a token with a name of letters and hyphens in lower case. Setting
 * bit 5 maps only a letter's two forms to its lower one, and to '-' besides
 * itself only CR, which is not in a token. */
static inline int name_is(const char *name, const char *lower, size_t len)
{
    uint64_t a = 0;
    uint64_t b = 0;
    uint64_t diff = 0;
    /* Words, the last of which overlaps the one before; names have 5 to 17
     * octets. */
    size_t step = len < sizeof(a) ? sizeof(uint32_t) : sizeof(a);
    for (size_t i = 0;; i = i + step > len - step ? len - step : i + step) {
        memcpy(&a, name + i, step);
        memcpy(&b, lower + i, step);
        diff |= (a | UINT64_C(0x2020202020202020)) ^
                (b | UINT64_C(0x2020202020202020));
        if (i == len - step) {
            return diff == 0;
        }
    }
}

int rd_h1_field_note_host(struct rd_h1_head *head, const char *buf,
                          struct rd_h1_span value)
{
    if (head->flags & RD_H1_HOST) {
        return rd_h1_bad(head, 400, "more than one Host field");
    }
    if (!rd_field_is_authority(rd_slice(buf + value.off, value.len))) {
        return rd_h1_bad(head, 400, "invalid Host field");
    }
    head->flags |= RD_H1_HOST;
    if (head->form != RD_H1_ABSOLUTE && head->form != RD_H1_AUTHORITY) {
        head->authority = value;
    }
    return 0;
}

static int note_length(struct rd_h1_head *head, struct restd_slice value)
{
    uint64_t length;
    if (rd_field_content_length(value, &length) != 0) {
        return rd_h1_bad(head, 400, "invalid Content-Length");
    }
    if (head->flags & RD_H1_CHUNKED) {
        return rd_h1_bad(head, 400, "Content-Length with Transfer-Encoding");
    }
    if ((head->flags & RD_H1_LENGTH) && head->content_length != length) {
        return rd_h1_bad(head, 400, "differing Content-Length fields");
    }
    head->flags |= RD_H1_LENGTH;
    head->content_length = length;
    return 0;
}

/* The name of a coding, without its parameters (RFC 9110 10.1.4). */
static struct restd_slice coding_name(struct restd_slice element)
{
    size_t len = 0;
    while (len < element.len && rd_is_tchar((unsigned char)element.data[len])) {
        len++;
    }
    return rd_slice(element.data, len);
}

/* 1 if behind the name comes nothing, or parameters. */
static int is_coding(struct restd_slice element, struct restd_slice name)
{
    size_t i = name.len;
    while (i < element.len &&
           (element.data[i] == ' ' || element.data[i] == '\t')) {
        i++;
    }
    return name.len > 0 && (i == element.len || element.data[i] == ';');
}

/* RFC 9112 6.1: chunked is applied once and last. Other codings are not
 * understood here, which is 501; anything that could be taken for chunked by
 * one reader and not by another is 400. */
static int note_coding(struct rd_h1_head *head, struct restd_slice value)
{
    struct restd_slice rest = value;
    struct restd_slice element;
    int unknown = 0;
    if (head->version_minor == 0) {
        return rd_h1_bad(head, 400, "Transfer-Encoding in HTTP/1.0");
    }
    if (head->flags & RD_H1_LENGTH) {
        return rd_h1_bad(head, 400, "Transfer-Encoding with Content-Length");
    }
    if (value.len == 0) {
        return rd_h1_bad(head, 400, "empty Transfer-Encoding");
    }
    while (rd_field_list_next(&rest, &element)) {
        struct restd_slice name = coding_name(element);
        if (head->flags & RD_H1_CHUNKED) {
            return rd_h1_bad(head, 400, "chunked is not the last coding");
        }
        if (!is_coding(element, name)) {
            return rd_h1_bad(head, 400, "invalid Transfer-Encoding");
        }
        if (!rd_slice_ieq(name, rd_slice_str("chunked"))) {
            unknown = 1;
        } else {
            head->flags |= RD_H1_CHUNKED;
        }
    }
    if (unknown) {
        return rd_h1_bad(head, 501, "unknown transfer coding");
    }
    if (!(head->flags & RD_H1_CHUNKED) || value.len != strlen("chunked")) {
        return rd_h1_bad(head, 400, "Transfer-Encoding is not just chunked");
    }
    return 0;
}

static int note_connection(struct rd_h1_head *head, struct restd_slice value)
{
    struct restd_slice rest = value;
    struct restd_slice option;
    /* What clients really send is one of the two, alone. A value has no CR, so
     * name_is() holds for it as for a token. */
    if (value.len == 10 && name_is(value.data, "keep-alive", 10)) {
        head->flags |= RD_H1_KEEP_ALIVE;
        return 0;
    }
    if (value.len == 5 && name_is(value.data, "close", 5)) {
        head->flags |= RD_H1_CLOSE;
        return 0;
    }
    while (rd_field_list_next(&rest, &option)) {
        if (rd_slice_ieq(option, rd_slice_str("close"))) {
            head->flags |= RD_H1_CLOSE;
        } else if (rd_slice_ieq(option, rd_slice_str("keep-alive"))) {
            head->flags |= RD_H1_KEEP_ALIVE;
        } else if (rd_slice_ieq(option, rd_slice_str("upgrade"))) {
            head->flags |= RD_H1_WANT_UPGRADE;
        }
    }
    return 0;
}

static int note_expect(struct rd_h1_head *head, struct restd_slice value)
{
    struct restd_slice rest = value;
    struct restd_slice element;
    while (rd_field_list_next(&rest, &element)) {
        if (!rd_slice_ieq(element, rd_slice_str("100-continue"))) {
            head->flags |= RD_H1_EXPECT_OTHER;
        } else if (head->version_minor > 0) {
            head->flags |= RD_H1_EXPECT_100;
        }
    }
    return 0;
}

int rd_h1_field_note(struct rd_h1_head *head, const char *buf,
                     const struct rd_h1_field *field)
{
    const char *name = buf + field->name.off;
    struct restd_slice value =
        rd_slice(buf + field->value.off, field->value.len);
    switch (field->name.len) {
    case 6:
        return name_is(name, "expect", 6) ? note_expect(head, value) : 0;
    case 7:
        if (name_is(name, "upgrade", 7) && value.len > 0) {
            head->flags |= RD_H1_SAW_UPGRADE;
        }
        return 0;
    case 10:
        return name_is(name, "connection", 10) ? note_connection(head, value)
                                               : 0;
    case 14:
        return name_is(name, "content-length", 14) ? note_length(head, value)
                                                   : 0;
    case 17:
        return name_is(name, "transfer-encoding", 17) ? note_coding(head, value)
                                                      : 0;
    default:
        return 0;
    }
}
