/* SPDX-License-Identifier: MIT */
/* Documents of any length, written into a response through a small buffer, so
 * that neither the stack nor the length of a string is a limit. Thread:
 * [loop]. */
#include "plugins/document.h"

#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "base/utf8.h"
#include "http/message.h"

void rd_document_init(struct rd_document *doc, struct restd_response *response)
{
    doc->response = response;
    doc->rc = restd_response_body(response, "", 0);
    doc->comma = 0;
    doc->len = 0;
}

int rd_document_finish(struct rd_document *doc)
{
    if (doc->rc == 0 && doc->len > 0) {
        doc->rc = restd_response_append(doc->response, doc->buf, doc->len);
    }
    doc->len = 0;
    return doc->rc;
}

void rd_document_put(struct rd_document *doc, struct restd_slice text)
{
    if (text.len > sizeof(doc->buf) - doc->len) {
        (void)rd_document_finish(doc);
    }
    if (text.len > sizeof(doc->buf)) {
        doc->rc =
            doc->rc ? doc->rc
                    : restd_response_append(doc->response, text.data, text.len);
    } else if (text.len > 0) {
        memcpy(doc->buf + doc->len, text.data, text.len);
        doc->len += text.len;
    }
}

void rd_document_puts(struct rd_document *doc, const char *text)
{
    rd_document_put(doc, rd_slice_str(text));
}

/* Code point of a character of `n` bytes, at most 3. */
static unsigned code_point(const unsigned char *p, unsigned n)
{
    return n == 1 ? p[0]
           : n == 2
               ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
               : (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
}

/* YAML 1.2 section 5.1, and the line ends of YAML 1.1 and JavaScript. */
static int is_printable(unsigned c)
{
    return c >= 0x20 && (c < 0x7f || c > 0x9f) && c != 0x2028 && c != 0x2029 &&
           c != 0xfeff && c < 0xfffe;
}

void rd_document_escape(struct rd_document *doc, struct restd_slice text)
{
    const unsigned char *p = (const unsigned char *)text.data;

    for (size_t i = 0; i < text.len && doc->rc == 0;) {
        unsigned n = rd_utf8_char(p + i, text.len - i);
        unsigned c = n > 0 && n < 4 ? code_point(p + i, n) : 0x10000;
        char escaped[8];
        if (n == 0) {
            rd_document_puts(doc, "\xef\xbf\xbd");
            n = 1;
        } else if (n < 4 && !is_printable(c)) {
            (void)snprintf(escaped, sizeof(escaped), "\\u%04x", c & 0xffffu);
            rd_document_puts(doc, escaped);
        } else {
            if (c == '"' || c == '\\') {
                rd_document_puts(doc, "\\");
            }
            rd_document_put(doc, rd_slice(text.data + i, n));
        }
        i += n;
    }
}

void rd_document_quote(struct rd_document *doc, struct restd_slice text)
{
    rd_document_puts(doc, "\"");
    rd_document_escape(doc, text);
    rd_document_puts(doc, "\"");
}

void rd_document_next(struct rd_document *doc)
{
    if (doc->comma) {
        rd_document_puts(doc, ",");
    }
    doc->comma = 1;
}

void rd_document_open(struct rd_document *doc, char bracket)
{
    rd_document_next(doc);
    rd_document_put(doc, rd_slice(&bracket, 1));
    doc->comma = 0;
}

void rd_document_close(struct rd_document *doc, char bracket)
{
    rd_document_put(doc, rd_slice(&bracket, 1));
    doc->comma = 1;
}

void rd_document_key(struct rd_document *doc, const char *key)
{
    rd_document_next(doc);
    rd_document_puts(doc, "\"");
    rd_document_puts(doc, key);
    rd_document_puts(doc, "\":");
    doc->comma = 0;
}

void rd_document_member(struct rd_document *doc, const char *key,
                        const char *text)
{
    rd_document_key(doc, key);
    rd_document_quote(doc, rd_slice_str(text));
    doc->comma = 1;
}
