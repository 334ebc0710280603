/* SPDX-License-Identifier: MIT */
/* Request targets, RFC 9112 section 3.2: which form a target has, and where
 * its authority, path and query are. The characters have been checked before;
 * escapes are looked at by uri.c only when a path has to be split. The usual
 * case, a path that is plain as a whole, does not come here (h1_parser.c).
 * Pure; any thread. */
#include "codec/h1_target.h"

#include <string.h>

#include "base/slice.h"
#include "codec/chars.h"
#include "codec/field.h"
#include "codec/h1_fields.h"

/* What RD_H1_PLAIN_PATH promises. */
static int is_plain(const char *p, const char *end)
{
    while (p < end) {
        const char *next = ++p;
        while (p < end && *p != '/') {
            if (*p++ == '%') {
                return 0;
            }
        }
        size_t len = (size_t)(p - next);
        if ((len == 0 && p < end) || (len == 1 && next[0] == '.') ||
            (len == 2 && next[0] == '.' && next[1] == '.')) {
            return 0;
        }
    }
    return 1;
}

void rd_h1_target_split(struct rd_h1_head *head, const char *buf,
                        const char *start, const char *end)
{
    const char *stop = end;
    const char *mark =
        start < end ? memchr(start, '?', (size_t)(end - start)) : NULL;
    if (mark != NULL) {
        stop = mark;
        head->query = rd_h1_span(buf, stop + 1, end);
        head->flags |= RD_H1_QUERY;
    }
    head->path = rd_h1_span(buf, start, stop);
    if (stop > start && is_plain(start, stop)) {
        head->flags |= RD_H1_PLAIN_PATH;
    }
}

/* Length of "http://" or "https://" at the start of the target, else 0. */
static size_t scheme_len(const char *p, const char *end)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(schemes[i]);
        if ((size_t)(end - p) >= len &&
            rd_slice_ieq(rd_slice(p, len), rd_slice_str(schemes[i]))) {
            return len;
        }
    }
    return 0;
}

static int set_absolute(struct rd_h1_head *head, const char *buf,
                        const char *start, const char *end)
{
    size_t skip = scheme_len(start, end);
    if (skip == 0) {
        return rd_h1_bad(head, 400, "invalid request target");
    }
    const char *host = start + skip;
    const char *path = host;
    while (path < end && *path != '/' && *path != '?') {
        path++;
    }
    struct restd_slice authority = rd_slice(host, (size_t)(path - host));
    if (authority.len == 0 || !rd_field_is_authority(authority)) {
        return rd_h1_bad(head, 400, "invalid authority in the target");
    }
    head->form = RD_H1_ABSOLUTE;
    head->authority = rd_h1_span(buf, host, path);
    rd_h1_target_split(head, buf, path, end);
    return 1;
}

/* RFC 9110 9.3.6: a host and a port, neither empty. */
static int set_authority(struct rd_h1_head *head, const char *buf,
                         const char *start, const char *end)
{
    struct restd_slice authority = rd_slice(start, (size_t)(end - start));
    const char *digits = end;
    while (digits > start && rd_chars_is(digits[-1], RD_CHARS_DIGIT)) {
        digits--;
    }
    if (!rd_field_is_authority(authority) || digits == end || digits == start ||
        digits[-1] != ':') {
        return rd_h1_bad(head, 400, "CONNECT needs host:port");
    }
    head->form = RD_H1_AUTHORITY;
    head->authority = rd_h1_span(buf, start, end);
    return 1;
}

int rd_h1_target_other(struct rd_h1_head *head, const char *buf,
                       const char *start, const char *end)
{
    if (head->number == RESTD_METHOD_CONNECT) {
        return set_authority(head, buf, start, end);
    }
    if (*start == '*' && end - start == 1 &&
        head->number == RESTD_METHOD_OPTIONS) {
        head->form = RD_H1_ASTERISK;
        head->path = rd_h1_span(buf, start, end);
        return 1;
    }
    return set_absolute(head, buf, start, end);
}
