/* SPDX-License-Identifier: MIT */
/* OpenAPI: the document, and what it makes of a pattern. Owner: nothing of its
 * own. Thread: [loop]. */
#ifndef RD_PLUGINS_OPENAPI_H
#define RD_PLUGINS_OPENAPI_H

#include "plugins/document.h"
#include "route/router.h"

/* openapi.c: RESTD_ENOMEM; other errors are the document's. */
RESTD_MUST_CHECK int rd_openapi_write(struct rd_document *doc,
                                      const struct restd_listing *listing);

/* openapi_path.c */

/* A path parameter, that is. */
int rd_openapi_is_variable(const struct rd_segment *segment);
/* Orders by text, whatever the names and types of variables; 0: one path. */
int rd_openapi_compare(const struct rd_pattern *a, const struct rd_pattern *b);
/* Of a variable: its own name, or, if it has none or an earlier one has the
 * same, "segment2", in `buf`, with as many '_' that no other one has it. */
#define RD_OPENAPI_NAME 96
struct restd_slice rd_openapi_name(const struct rd_pattern *pattern,
                                   unsigned segment, char buf[RD_OPENAPI_NAME]);
/* "/users/{id}", percent-encoded, without quotes. */
void rd_openapi_path(struct rd_document *doc, const struct rd_pattern *pattern);
/* A JSON Schema object. */
void rd_openapi_schema(struct rd_document *doc,
                       const struct rd_segment *segment);

#endif
