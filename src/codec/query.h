/* SPDX-License-Identifier: MIT */
/* Fields of a query, application/x-www-form-urlencoded as the WHATWG URL
 * standard parses it (section 5.1). Pure. Fuzzed. */
#ifndef RD_CODEC_QUERY_H
#define RD_CODEC_QUERY_H

#include <restd/api.h>
#include <restd/error.h>

/* Next field of `raw`: 0, or RESTD_ENOENT behind the last. `*cursor` begins
 * at 0. Pieces lie between '&', empty ones are skipped, the first '=' ends the
 * name; without one the value is empty. '+' is a space, a bad escape is text.
 *
 * A name or value with '+' or '%' is decoded to its own offset in `scratch`
 * (raw.len bytes), another stays in `raw`: slices of all fields are valid
 * together, as long as both. */
int rd_query_next(struct restd_slice raw, size_t *cursor, char *scratch,
                  struct restd_slice *name, struct restd_slice *value);

#endif
