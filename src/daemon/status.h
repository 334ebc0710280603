/* SPDX-License-Identifier: MIT */
/* GET /status: the summary and, with ?detail=full, the whole document. What
 * the fields mean stands in the manual page restdaemon(8).
 *
 * Owner: main. Lifetime: made after the last restd_server_listen() and before
 * restd_server_start(); freed after the server has stopped and before
 * restd_server_free().
 * Thread: [init] for new and free; the rest as said.
 */
#ifndef RD_DAEMON_STATUS_H
#define RD_DAEMON_STATUS_H

#include <restd/error.h>
#include <restd/http.h>
#include <restd/server.h>

struct rd_status;

/* Takes the first sample and starts the 1 Hz sampler on the control loop.
 * With `is_public` only the summary is served, with host, pid and load null. */
int rd_status_new(struct restd_server *server, uint32_t backlog, int is_public,
                  struct rd_status **status, struct restd_error *error);
void rd_status_free(struct rd_status *status);

/* The handler; `data` is the struct rd_status. [loop] */
restd_handler_fn rd_status_handle;

#endif
