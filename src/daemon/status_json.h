/* SPDX-License-Identifier: MIT */
/* The JSON of /status that is not rendered for every request: the fragments
 * that the sampler and a reload leave behind, and the full document, which is
 * put together from them and from live counters. */
#ifndef RD_DAEMON_STATUS_JSON_H
#define RD_DAEMON_STATUS_JSON_H

#include <stddef.h>
#include <stdint.h>

#include <restd/json.h>
#include <restd/stats.h>

#include "daemon/host.h"
#include "daemon/publish.h"
#include "daemon/status.h"

/* Host names in the summary are cut there, so that its size is bounded. */
#define RD_STATUS_HOST_MAX 32
/* Room for the fragments of the summary. */
#define RD_STATUS_SUMMARY_MAX 512

/* What does not change while the process runs. */
struct rd_status_facts {
    const struct restd_server *server;
    const struct rd_logsink *sink; /* NULL: the log is somebody else's */
    uint64_t started_mono_ms;
    int64_t started_unix_ms;
    int pid;
};

/* What a struct rd_status shows its views. Immutable, but for the texts that
 * are published; [any] to read. */
struct rd_status_shown {
    struct rd_status_facts facts;
    struct restd_fields *fields; /* of every reply */
    struct rd_publish summary, full, config;
};

const struct rd_status_shown *rd_status_shown(const struct rd_status *status);

/* Fragments lie one behind the other, each ended by NUL. The functions return
 * the length of all, or a negative number if `size` is too small. */

/* Five for the summary: the status word; the value of host; the number of
 * workers; the members from requests.per_second up to rss_bytes; the value of
 * load. [control] */
long rd_status_json_summary(const struct rd_status_facts *facts,
                            const struct restd_stats *stats,
                            const struct rd_host_sample *sample, char *buf,
                            size_t size);
/* Three for the full document: members of daemon.memory; daemon.cpu and
 * daemon.fds; the value of host. [control] */
long rd_status_json_sample(const struct rd_host_sample *sample, char *buf,
                           size_t size);
/* Two for the full document: the value of daemon.config; the backlog of
 * listeners. [main] */
long rd_status_json_config(const struct rd_status_config *config, char *buf,
                           size_t size);

/* The full document with its newline into `buf`: `sample` and `config` are
 * fragments from above; without `host` that is null. Returns the length,
 * RESTD_ELIMIT if it does not fit. [any] */
long rd_status_json_full(const struct rd_status_facts *facts,
                         const char *sample, const char *config, int host,
                         char *buf, size_t size);

#endif
