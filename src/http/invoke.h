/* SPDX-License-Identifier: MIT */
/* Calls plugins and handlers in their order, restd/plugin.h. Thread: [loop]. */
#ifndef RD_HTTP_INVOKE_H
#define RD_HTTP_INVOKE_H

#include "http/message.h"

/* The outermost router's `before` functions; 0, RESTD_ANSWERED, or negative. */
int rd_invoke_before_routing(struct restd_request *request,
                             struct restd_response *response);
/* Those of the routers and the route that the match has found. */
int rd_invoke_before_handler(struct restd_request *request,
                             struct restd_response *response);
/* The wrappers and the handler of the route. */
int rd_invoke_handler(struct restd_request *request,
                      struct restd_response *response);
/* The `after` functions. */
void rd_invoke_after(struct restd_request *request, int status,
                     uint64_t content_bytes, int aborted);

#endif
