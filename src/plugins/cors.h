/* SPDX-License-Identifier: MIT */
/* Origins as a client writes them. Pure, any thread. */
#ifndef RD_PLUGINS_CORS_H
#define RD_PLUGINS_CORS_H

#include <restd/api.h>

/* The serialised origin of RFC 6454 6.2: "null", or scheme, host and maybe a
 * port, in lower case, without a slash behind. */
int rd_cors_is_origin(struct restd_slice origin);

#endif
