/* SPDX-License-Identifier: MIT */
/* What the tests of routers share: one router, and what it makes of a request
 * as text. */
#ifndef RD_TESTS_ROUTER_HELP_H
#define RD_TESTS_ROUTER_HELP_H

#include "route/router.h"

extern struct restd_router *router;
extern struct rd_match match; /* of the last look-up */

/* Fixture: the router, EXACT or PREFIX. */
void router_exact(void);
void router_prefix(void);
void router_tear_down(void);

/* Does nothing. */
int router_handler(struct restd_request *request,
                   struct restd_response *response, void *data);
/* Number of the new route, or the error, which is checked to have a text. */
int add_to(struct restd_router *to, const char *method, const char *pattern);
int add(const char *method, const char *pattern);
/* Freezes; whether the path is plain is found out, and then both ways must
 * lead to the same. */
int look_up(const char *method, const char *path);
/* "pattern name=value name=value", "405 GET, HEAD", "404" ... */
const char *describe(const char *method, const char *path);
/* A child's fresh router. */
struct restd_router *child_new(enum restd_router_mode mode);

#endif
