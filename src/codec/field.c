/* SPDX-License-Identifier: MIT */
/* Header field values that the library itself understands: tokens, lists,
 * Content-Length, authorities. Each function looks at one value and keeps
 * nothing. Strict where a lenient reading could frame a message otherwise than
 * a proxy before us did: Content-Length has no empty list elements and a host
 * must be there when a port is. Any thread. */
#include "codec/field.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "codec/chars.h"

static int is_space(char c)
{
    return c == ' ' || c == '\t';
}

static int is_all(struct restd_slice s, unsigned classes)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!rd_chars_is(s.data[i], classes)) {
            return 0;
        }
    }
    return 1;
}

int rd_is_tchar(unsigned char c)
{
    return (rd_chars_class[c] & RD_CHARS_TOKEN) != 0;
}

int rd_field_is_token(struct restd_slice s)
{
    return s.len > 0 && is_all(s, RD_CHARS_TOKEN);
}

int rd_field_is_value(struct restd_slice s)
{
    return is_all(s, RD_CHARS_VALUE);
}

/* Where the list element that starts at `i` ends: at a comma outside of quoted
 * strings, or at the end. */
static size_t element_end(struct restd_slice s, size_t i)
{
    int quoted = 0;
    for (; i < s.len; i++) {
        char c = s.data[i];
        if (c == '"') {
            quoted = !quoted;
        } else if (c == '\\' && quoted && i + 1 < s.len) {
            i++;
        } else if (c == ',' && !quoted) {
            break;
        }
    }
    return i;
}

int rd_field_list_next(struct restd_slice *rest, struct restd_slice *element)
{
    struct restd_slice s = *rest;
    size_t start = 0;
    while (start < s.len && (is_space(s.data[start]) || s.data[start] == ',')) {
        start++;
    }
    if (start == s.len) {
        rest->len = 0;
        return 0;
    }
    size_t stop = element_end(s, start);
    size_t next = stop < s.len ? stop + 1 : stop;
    rest->data = s.data + next;
    rest->len = s.len - next;
    while (is_space(s.data[stop - 1])) {
        stop--;
    }
    element->data = s.data + start;
    element->len = stop - start;
    return 1;
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && is_space(*p)) {
        p++;
    }
    return p;
}

/* Reads digits at p; NULL if there are none or too many. */
static const char *read_number(const char *p, const char *end, uint64_t *number)
{
    const uint64_t max = INT64_MAX;
    uint64_t n = 0;
    const char *start = p;
    for (; p < end && rd_chars_is(*p, RD_CHARS_DIGIT); p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (n > (max - digit) / 10) {
            return NULL;
        }
        n = n * 10 + digit;
    }
    *number = n;
    return p == start ? NULL : p;
}

int rd_field_content_length(struct restd_slice value, uint64_t *length)
{
    if (value.len == 0) {
        return -1;
    }
    const char *p = value.data;
    const char *end = p + value.len;
    uint64_t first = 0;
    for (unsigned element = 0;; element++) {
        uint64_t n;
        p = read_number(skip_space(p, end), end, &n);
        if (p == NULL || (element > 0 && n != first)) {
            return -1;
        }
        first = n;
        p = skip_space(p, end);
        if (p == end) {
            *length = first;
            return 0;
        }
        if (*p++ != ',') {
            return -1;
        }
    }
}

/* reg-name (an IPv4 address is one too); NULL if empty or with a bad
 * escape. */
static const char *skip_name(const char *p, const char *end)
{
    const char *start = p;
    for (;;) {
        while (p < end && rd_chars_is(*p, RD_CHARS_REGNAME)) {
            p++;
        }
        if (p == end || *p != '%') {
            return p == start ? NULL : p;
        }
        if (end - p < 3 || !rd_chars_is(p[1], RD_CHARS_HEX) ||
            !rd_chars_is(p[2], RD_CHARS_HEX)) {
            return NULL;
        }
        p += 3;
    }
}

/* IPvFuture of RFC 3986 3.2.2: "v" 1*HEXDIG "." 1*( regname / ":" ). */
static int is_future(const char *p, const char *end)
{
    const char *digits = ++p;
    while (p < end && rd_chars_is(*p, RD_CHARS_HEX)) {
        p++;
    }
    if (p == digits || p == end || *p != '.') {
        return 0;
    }
    const char *rest = ++p;
    while (p < end && (rd_chars_is(*p, RD_CHARS_REGNAME) || *p == ':')) {
        p++;
    }
    return p == end && p > rest;
}

/* IP-literal with its brackets; NULL if it is none. */
static const char *skip_literal(const char *p, const char *end)
{
    const char *inner = p + 1;
    const char *close = memchr(inner, ']', (size_t)(end - inner));
    if (close == NULL || close == inner) {
        return NULL;
    }
    if ((*inner | 0x20) == 'v') {
        return is_future(inner, close) ? close + 1 : NULL;
    }
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;
    size_t len = (size_t)(close - inner);
    if (len >= sizeof(text)) {
        return NULL;
    }
    memcpy(text, inner, len);
    text[len] = '\0';
    return strlen(text) == len && inet_pton(AF_INET6, text, &address) == 1
               ? close + 1
               : NULL;
}

int rd_field_is_authority(struct restd_slice value)
{
    if (value.len == 0) {
        return 1;
    }
    const char *p = value.data;
    const char *end = p + value.len;
    p = *p == '[' ? skip_literal(p, end) : skip_name(p, end);
    if (p == NULL || (p < end && *p++ != ':')) {
        return 0;
    }
    while (p < end && rd_chars_is(*p, RD_CHARS_DIGIT)) {
        p++;
    }
    return p == end;
}
