/* SPDX-License-Identifier: MIT */
/* Parameters of field values, RFC 9110 5.6.6:
 * *( OWS ";" OWS [ name "=" ( token / quoted-string ) ] ). Pure. Fuzzed. */
#ifndef RD_CODEC_PARAM_H
#define RD_CODEC_PARAM_H

#include <restd/api.h>

/* What stands in front of the first ';', without white space around it; the
 * parameters stay in `*rest`. */
struct restd_slice rd_param_head(struct restd_slice *rest);
/* Next parameter: 1, 0 behind the last, -1 for bad syntax, which is final. A
 * quoted value comes with its quotes. */
int rd_param_next(struct restd_slice *rest, struct restd_slice *name,
                  struct restd_slice *value);
/* The same without the quotes; escapes in it stay. */
struct restd_slice rd_param_bare(struct restd_slice value);

#endif
