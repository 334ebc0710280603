/* SPDX-License-Identifier: MIT */
/* What a client may send as an id. Pure, any thread. */
#ifndef RD_PLUGINS_REQUEST_ID_H
#define RD_PLUGINS_REQUEST_ID_H

#include <restd/api.h>

#define RD_REQUEST_ID_MAX 128u

/* 1 to RD_REQUEST_ID_MAX characters that are unreserved, RFC 3986 2.3. */
int rd_request_id_is_valid(struct restd_slice id);
/* A traceparent of version 00, W3C Trace Context 3.2. */
int rd_request_id_is_traceparent(struct restd_slice value);

#endif
