/* SPDX-License-Identifier: MIT */
/* A document that is written into a response piece by piece. The first error
 * stays, and makes what follows do nothing.
 *
 * Owner: the handler, on its stack. Thread: [loop]. */
#ifndef RD_PLUGINS_DOCUMENT_H
#define RD_PLUGINS_DOCUMENT_H

#include <restd/listing.h>

struct rd_document {
    struct restd_response *response;
    int rc, comma; /* `comma`: a member or element precedes */
    size_t len;
    char buf[1024];
};

/* Empties the response. */
void rd_document_init(struct rd_document *doc, struct restd_response *response);
void rd_document_put(struct rd_document *doc, struct restd_slice text);
void rd_document_puts(struct rd_document *doc, const char *text);
/* In quotes, as JSON and YAML read it alike: what they cannot print is escaped,
 * bytes that are no UTF-8 become U+FFFD. */
void rd_document_quote(struct rd_document *doc, struct restd_slice text);
/* The same without the quotes, for a string that is made of pieces. */
void rd_document_escape(struct rd_document *doc, struct restd_slice text);
/* The error, or 0 and all is with the response. */
int rd_document_finish(struct rd_document *doc);

/* JSON: a comma where one is owed, then '{' or '['; behind it none is. */
void rd_document_open(struct rd_document *doc, char bracket);
void rd_document_close(struct rd_document *doc, char bracket);
/* A comma where one is owed. */
void rd_document_next(struct rd_document *doc);
/* A name that needs no escape, of a member whose value follows. */
void rd_document_key(struct rd_document *doc, const char *key);
/* Name and string. */
void rd_document_member(struct rd_document *doc, const char *key,
                        const char *text);

#endif
