/* SPDX-License-Identifier: MIT */
/* Multipart forms.
 *
 *   PREAMBLE --delimiter--> BEHIND --[padding] CRLF--> HEADERS
 *                           ^    \--"--"--> EPILOGUE       | empty line
 *                           +--------delimiter-------- CONTENT
 *
 * The delimiter has its CR only in front, so a partial match that fails can
 * only begin anew at the octet that broke it: the octets matched so far are a
 * count, not a copy, and are given out of the delimiter itself. A header
 * section gathers in the block and is read when it is whole. Any thread, one
 * decoder per content. */
#include "plugins/multipart.h"

#include <string.h>

#include "base/slice.h"
#include "codec/chars.h"
#include "codec/field.h"
#include "codec/param.h"

enum state {
    PREAMBLE,
    CONTENT,
    BEHIND,  /* right behind a delimiter */
    DASH,    /* behind its first "-" */
    PADDING, /* behind white space */
    LINE_FEED,
    HEADERS,
    EPILOGUE
};

/* bcharsnospace of RFC 2046 5.1.1. */
static int is_bchar(char c)
{
    return rd_chars_is(c, RD_CHARS_ALPHA | RD_CHARS_DIGIT) ||
           (c != '\0' && strchr("'()+_,-./:=?", c) != NULL);
}

int rd_multipart_init(struct rd_multipart *m, struct restd_slice boundary)
{
    if (boundary.len == 0 || boundary.len > RD_MULTIPART_BOUNDARY_MAX ||
        boundary.data[boundary.len - 1] == ' ') {
        return RESTD_EINVAL;
    }
    for (size_t i = 0; i < boundary.len; i++) {
        if (!is_bchar(boundary.data[i]) && boundary.data[i] != ' ') {
            return RESTD_EINVAL;
        }
    }
    /* The first delimiter may lack the CRLF in front of it. */
    *m = (struct rd_multipart){.state = PREAMBLE, .match = 2, .implied = 2};
    m->delimiter_len = (uint8_t)(4 + boundary.len);
    memcpy(m->delimiter, "\r\n--", 4);
    memcpy(m->delimiter + 4, boundary.data, boundary.len);
    return 0;
}

/* Name or file name without its quotes, decoded in place; `block` holds it. */
static struct restd_slice unquote(char *block, struct restd_slice s)
{
    struct restd_slice bare = rd_param_bare(s);
    size_t at = (size_t)(bare.data - block);
    size_t n = 0;
    for (size_t i = 0; i < bare.len; i++) {
        char c = bare.data[i];
        size_t left = bare.len - i;
        if (c == '\\' && left > 1 &&
            (bare.data[i + 1] == '"' || bare.data[i + 1] == '\\')) {
            c = bare.data[++i];
        } else if (left > 2 && memcmp(bare.data + i, "%22", 3) == 0) {
            c = '"';
            i += 2;
        }
        block[at + n++] = c;
    }
    return rd_slice(block + at, n);
}

static int read_disposition(char *block, struct restd_slice params,
                            struct restd_form_part *part)
{
    struct restd_slice name, value;
    int names = 0;
    int filenames = 0;
    int rc;
    if (!rd_slice_ieq(rd_param_head(&params), rd_slice_str("form-data"))) {
        return RESTD_EINVAL;
    }
    while ((rc = rd_param_next(&params, &name, &value)) > 0) {
        if (rd_slice_ieq(name, rd_slice_str("name"))) {
            part->name = unquote(block, value);
            names++;
        } else if (rd_slice_ieq(name, rd_slice_str("filename"))) {
            part->filename = unquote(block, value);
            filenames++;
        }
    }
    return rc < 0 || names != 1 || filenames > 1 ? RESTD_EINVAL : 0;
}

/* RFC 7578 4.7: such content would have to be decoded; nobody sends it. */
static int is_plain_encoding(struct restd_slice value)
{
    return rd_slice_ieq(value, rd_slice_str("binary")) ||
           rd_slice_ieq(value, rd_slice_str("8bit")) ||
           rd_slice_ieq(value, rd_slice_str("7bit"));
}

static int read_line(char *block, struct restd_slice line,
                     struct restd_form_part *part)
{
    const char *colon = memchr(line.data, ':', line.len);
    if (colon == NULL) {
        return RESTD_EINVAL;
    }
    struct restd_slice name = rd_slice(line.data, (size_t)(colon - line.data));
    struct restd_slice value = rd_slice(colon + 1, line.len - name.len - 1);
    if (!rd_field_is_token(name) || !rd_field_is_value(value)) {
        return RESTD_EINVAL;
    }
    if (rd_slice_ieq(name, rd_slice_str("Content-Disposition"))) {
        return part->name.data != NULL ? RESTD_EINVAL
                                       : read_disposition(block, value, part);
    }
    value = rd_slice_trim(value);
    if (rd_slice_ieq(name, rd_slice_str("Content-Type"))) {
        int twice = part->type.data != NULL;
        part->type = value;
        return twice ? RESTD_EINVAL : 0;
    }
    return rd_slice_ieq(name, rd_slice_str("Content-Transfer-Encoding")) &&
                   !is_plain_encoding(value)
               ? RESTD_EINVAL
               : 0;
}

/* The header section of `len` octets, up to its empty line. */
static int read_headers(char *block, size_t len, struct restd_form_part *part)
{
    size_t at = 0;
    while (at < len) {
        const char *line = block + at;
        const char *stop = memchr(line, '\r', len - at);
        if (stop == NULL || stop[1] != '\n') {
            return RESTD_EINVAL;
        }
        size_t n = (size_t)(stop - line);
        int rc = read_line(block, rd_slice(line, n), part);
        if (rc != 0) {
            return rc;
        }
        at += n + 2;
    }
    return part->name.data != NULL ? 0 : RESTD_EINVAL;
}

static int step_headers(struct rd_multipart *m, struct rd_form_out *out, char c)
{
    if (m->len == RD_FORM_BLOCK) {
        return RESTD_ELIMIT;
    }
    out->block[m->len++] = c;
    const char *end = out->block + m->len;
    if (c != '\n' || !((m->len == 2 && end[-2] == '\r') ||
                       (m->len > 3 && memcmp(end - 4, "\r\n\r\n", 4) == 0))) {
        return 0;
    }
    struct restd_form_part part = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    int rc = read_headers(out->block, m->len - 2, &part);
    if (rc == 0) {
        rc = rd_form_part(out, &part);
    }
    /* The CRLF of the empty line may be that of a delimiter: RFC 2046 5.1.1
     * has parts without content. */
    m->state = CONTENT;
    m->match = m->implied = 2;
    m->in_part = 1;
    return rc;
}

/* A delimiter is whole: the part in front of it has come to its end. */
static int end_part(struct rd_multipart *m, struct rd_form_out *out,
                    enum state next)
{
    int was = m->in_part;
    m->state = (uint8_t)next;
    m->in_part = 0;
    m->len = 0;
    return was ? rd_form_end(out) : 0;
}

/* delimiter ( "--" / *LWSP CRLF ), of which the delimiter has come. */
static int step_behind(struct rd_multipart *m, struct rd_form_out *out, char c)
{
    switch (m->state) {
    case DASH:
        return c == '-' ? end_part(m, out, EPILOGUE) : RESTD_EINVAL;
    case LINE_FEED:
        return c == '\n' ? end_part(m, out, HEADERS) : RESTD_EINVAL;
    default: /* BEHIND, PADDING */
        if (c == '-' && m->state == BEHIND) {
            m->state = DASH;
        } else if (c == ' ' || c == '\t') {
            m->state = PADDING;
        } else if (c == '\r') {
            m->state = LINE_FEED;
        } else {
            return RESTD_EINVAL;
        }
        return 0;
    }
}

/* Content or preamble, up to `*used`: the next thing that decides anything. */
static int take_content(struct rd_multipart *m, struct rd_form_out *out,
                        const char *bytes, size_t len, size_t *used)
{
    const char *given = bytes;
    size_t n;
    if (m->match == 0) {
        const char *cr = memchr(bytes, '\r', len);
        n = cr != NULL ? (size_t)(cr - bytes) : len;
        *used = n;
        m->match = cr != NULL;
        *used += cr != NULL;
    } else if (*bytes == m->delimiter[m->match]) {
        *used = 1;
        if (++m->match == m->delimiter_len) {
            m->state = BEHIND;
        }
        return 0;
    } else {
        given = m->delimiter + m->implied;
        n = (size_t)(m->match - m->implied);
        *used = 0;
        m->match = m->implied = 0;
    }
    return m->state == CONTENT && n > 0 ? rd_form_content(out, given, n) : 0;
}

int rd_multipart_feed(struct rd_multipart *m, struct rd_form_out *out,
                      const char *bytes, size_t len)
{
    int rc = 0;
    for (size_t i = 0; i < len && rc == 0 && m->state != EPILOGUE;) {
        size_t used = 1;
        if (m->state <= CONTENT) {
            rc = take_content(m, out, bytes + i, len - i, &used);
        } else if (m->state == HEADERS) {
            rc = step_headers(m, out, bytes[i]);
        } else {
            rc = step_behind(m, out, bytes[i]);
        }
        i += used;
    }
    return rc;
}

int rd_multipart_finish(const struct rd_multipart *m)
{
    return m->state == EPILOGUE ? 0 : RESTD_EINVAL;
}
