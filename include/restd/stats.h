/* SPDX-License-Identifier: MIT */
/* Figures of a running server. Counters are kept by each loop alone and summed
 * by the reader, so two figures of one reading may be a request apart.
 *
 * The structs here grow at their ends in later versions. The functions that
 * fill them in are inline, so that they know the size that the caller was built
 * with, and call one that writes no more than that; what the library does not
 * know of is 0. */
#ifndef RESTD_STATS_H
#define RESTD_STATS_H

#include <restd/api.h>
#include <restd/error.h>

RESTD_BEGIN_DECLS

struct restd_server;

enum restd_state {
    RESTD_STATE_STARTING,
    RESTD_STATE_RUNNING,
    RESTD_STATE_DRAINING,
    RESTD_STATE_STOPPING,
    RESTD_STATE_STOPPED
};

/** "starting", "running", ... Static memory. [any thread] */
RESTD_API const char *restd_state_name(enum restd_state state);

/** Counters only grow; `active`, `reading` ... are gauges.
 * active = reading + processing + writing + idle. */
struct restd_counters {
    uint64_t accepted, closed, rejected, timed_out;
    uint64_t active, reading, processing, writing, idle;
    uint64_t requests, requests_active;
    uint64_t responses[5]; /* by status class, 1xx first */
    uint64_t parse_errors, aborted;
    uint64_t received_bytes, sent_bytes;
    uint64_t reserved[8]; /* 0; for counters to come, as others embed this */
};

/** One loop, `restd_server_loop_stats`. */
struct restd_loop_stats {
    struct restd_counters counters;
    int tid; /* kernel thread id */
    double requests_per_second;
    double busy_ratio;    /* time not waiting, last second */
    double lag_seconds;   /* largest lateness of a beat, last 10 s */
    double p99_seconds;   /* -1: no request in the window */
    uint64_t beat_age_ms; /* since the loop last answered a beat */
};

/** The whole server. Rates and latency are as of the last 1 Hz sample. */
struct restd_stats {
    struct restd_counters counters;
    enum restd_state state;
    unsigned workers;
    uint32_t connections_max;
    double per_second[3];   /* requests: last 1 s, 10 s, 60 s */
    uint64_t latency_count; /* requests in the window of 60 s */
    /* seconds; -1: no request in the window */
    double latency_mean, latency_min, latency_max;
    double latency_p50, latency_p90, latency_p95, latency_p99, latency_p999;
    double uptime_seconds;
    int64_t started_unix_ms;
    uint64_t log_dropped;    /* messages that found no room */
    uint64_t access_dropped; /* lines of the access log, likewise */
    uint64_t drain_finished; /* requests, since the drain began */
    uint64_t drain_cut;      /* requests that the stop did not wait for */
    /* Handlers on threads of their own. */
    unsigned offload_threads, offload_running, offload_queued;
    uint64_t offload_done;
    uint64_t offload_dropped; /* not begun: client gone, or too late */
    uint64_t offload_refused; /* the queue was full */
};

/** One owner of memory; never grows. Names are static memory. */
struct restd_memory_owner {
    const char *name;
    uint64_t live_bytes, peak_bytes;
};

struct restd_memory {
    uint64_t budget_bytes;
    uint64_t used_bytes, reserved_bytes, peak_bytes;
    int level; /* 0 normal, 1..4: 70, 80, 90, 100 % of the budget */
    unsigned owners_n;
    struct restd_memory_owner owners[16];
};

RESTD_API void restd_server_stats_size(const struct restd_server *server,
                                       struct restd_stats *stats, size_t size);
/** Reads the sums over all loops. [any thread] */
static inline void restd_server_stats(const struct restd_server *server,
                                      struct restd_stats *stats)
{
    restd_server_stats_size(server, stats, sizeof(*stats));
}

RESTD_API void restd_server_counters_size(const struct restd_server *server,
                                          struct restd_counters *counters,
                                          size_t size);
/** Only the counters, for what is rendered once a turn. [any thread] */
static inline void restd_server_counters(const struct restd_server *server,
                                         struct restd_counters *counters)
{
    restd_server_counters_size(server, counters, sizeof(*counters));
}

RESTD_API RESTD_MUST_CHECK int
restd_server_loop_stats_size(const struct restd_server *server, unsigned index,
                             struct restd_loop_stats *stats, size_t size);
/** Reads loop `index`; RESTD_ENOENT behind the last. [any thread] */
RESTD_MUST_CHECK static inline int
restd_server_loop_stats(const struct restd_server *server, unsigned index,
                        struct restd_loop_stats *stats)
{
    return restd_server_loop_stats_size(server, index, stats, sizeof(*stats));
}

/** State of the server. [any thread] */
RESTD_API enum restd_state
restd_server_state(const struct restd_server *server);
/** Connections closed for reason number `index`, from 0, and its name (static
 * memory); RESTD_ENOENT behind the last. [any thread] */
RESTD_API RESTD_MUST_CHECK int
restd_server_closed_by(const struct restd_server *server, unsigned index,
                       const char **name, uint64_t *count);
RESTD_API void restd_server_memory_size(const struct restd_server *server,
                                        struct restd_memory *memory,
                                        size_t size);
/** Reads the memory ledger. [any thread] */
static inline void restd_server_memory(const struct restd_server *server,
                                       struct restd_memory *memory)
{
    restd_server_memory_size(server, memory, sizeof(*memory));
}

RESTD_END_DECLS

#endif
