/* SPDX-License-Identifier: MIT */
/* Loading of handler modules, see restd/module.h.
 *
 * struct rd_modules: the objects that a snapshot's routes come from.
 * Owner: the snapshot. Lifetime: until its router has been freed.
 * Thread: main, but for the end, which may be the control thread's. */
#ifndef RD_DAEMON_MODULE_H
#define RD_DAEMON_MODULE_H

#include <restd/error.h>
#include <restd/router.h>

#include "daemon/config.h"

#define RD_MODULES_MAX 64

struct rd_modules {
    void *handles[RD_MODULES_MAX];
    unsigned n;
};

/* Loads all of the configuration and mounts their routes on `router`. On an
 * error (message with the module's place in the configuration) what is loaded
 * so far stays in `modules`, as its routes may be mounted already. */
RESTD_MUST_CHECK int rd_modules_load(struct rd_modules *modules,
                                     const struct rd_config *config,
                                     struct restd_router *router,
                                     struct restd_error *error);
/* Once nothing of theirs can be called any more. */
void rd_modules_unload(struct rd_modules *modules);

#endif
