/* SPDX-License-Identifier: MIT */
/* Compression of contents, between the plugin's decision (gzip.c) and what
 * does it (gzip_content.c). Thread: [loop]. */
#ifndef RD_PLUGINS_GZIP_H
#define RD_PLUGINS_GZIP_H

#include "http/message.h"
#include "plugins/zstate.h"

/* Replaces the content, which is no stream, by what gzip makes of it. -1 if
 * that would not be smaller, or failed: nothing is changed then. */
int rd_gzip_content(struct restd_response *response, struct rd_zstate *state);
/* Has the stream compress what is written to it; takes the state. */
void rd_gzip_stream(struct restd_stream *stream, struct rd_zstate *state);

#endif
