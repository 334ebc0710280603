/* SPDX-License-Identifier: MIT */
/* The JSON of /status that is not rendered for every request: the fragments
 * that the sampler leaves behind once a second, and the full document, which
 * is put together from them and from live counters. */
#ifndef RD_DAEMON_STATUS_JSON_H
#define RD_DAEMON_STATUS_JSON_H

#include <stddef.h>
#include <stdint.h>

#include <restd/json.h>
#include <restd/stats.h>

#include "daemon/host.h"

/* Host names in the summary are cut there, so that its size is bounded. */
#define RD_STATUS_HOST_MAX 32

/* What does not change while the server runs. */
struct rd_status_facts {
    const struct restd_server *server;
    uint64_t started_mono_ms;
    int64_t started_unix_ms;
    uint32_t backlog;
    int pid;
    int is_public;
};

/* Fragments lie one behind the other, each ended by NUL. Both return the
 * length of all, or a negative number if `size` is too small. [control] */

/* Three for the summary: the status word; the value of host; the members from
 * requests.per_second to the end of the document. */
long rd_status_json_summary(const struct rd_status_facts *facts,
                            const struct restd_stats *stats,
                            const struct rd_host_sample *sample, char *buf,
                            size_t size);
/* Three for the full document: members of daemon.memory; daemon.cpu and
 * daemon.fds; the value of host. */
long rd_status_json_sample(const struct rd_host_sample *sample, char *buf,
                           size_t size);

/* The full document with its newline into `buf`; `fragments` are the three of
 * rd_status_json_sample(). Returns the length, negative if it does not fit.
 * [any] */
long rd_status_json_full(const struct rd_status_facts *facts,
                         const char *fragments, char *buf, size_t size);

#endif
