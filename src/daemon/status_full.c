/* SPDX-License-Identifier: MIT */
/* The full document of /status: live counters, and the fragments that others
 * have left behind where they belong.
 *
 * Rendered for each request that asks for it, on the stack of its loop and into
 * a buffer of the loop's. Nothing here reads /proc or calls the kernel, but for
 * the clock. Keys, order and units are an interface: fields are only ever
 * added, absent data is null. Any thread.
 */
#include "daemon/status_json.h"

#include <stdio.h>

#include <restd/restd.h>

#include "daemon/clock.h"
#include "daemon/health.h"
#include "daemon/json_put.h"
#include "daemon/logsink.h"
#include "daemon/version.h"

/* Cut, so that the fragment fits whatever the text has. */
static void put_some(struct restd_json *json, const char *key,
                     const char *value, size_t max)
{
    restd_json_key(json, key);
    if (value == NULL) {
        restd_json_null(json);
    } else {
        restd_json_string(json, value, strnlen(value, max));
    }
}

long rd_status_json_config(const struct rd_status_config *config, char *buf,
                           size_t size)
{
    struct restd_json json;
    restd_json_init(&json, buf, size);
    restd_json_object_begin(&json);
    put_some(&json, "path", config->path, 250);
    put_uint(&json, "generation", config->generation);
    put_time(&json, "loaded", config->loaded_unix_ms);
    put_bool(&json, "last_reload_ok", config->last_reload_ok);
    put_some(&json, "last_reload_error", config->last_reload_error, 400);
    restd_json_object_end(&json);
    long len = restd_json_finish(&json);
    if (len < 0 || (size_t)len >= size) {
        return RESTD_ELIMIT;
    }
    buf[len] = '\0';
    int backlog =
        snprintf(buf + len + 1, size - (size_t)len - 1, "%u", config->backlog);
    return (size_t)(len + backlog) + 2 <= size ? len + backlog + 2
                                               : RESTD_ELIMIT;
}

static void put_listeners(struct restd_json *json,
                          const struct rd_status_facts *facts,
                          const char *backlog)
{
    struct restd_listener_info info;
    restd_json_key(json, "listeners");
    restd_json_array_begin(json);
    for (unsigned i = 0; restd_server_listener(facts->server, i, &info) == 0;
         i++) {
        info.name[strcspn(info.name, "#")] = '\0'; /* labels, service.h */
        restd_json_object_begin(json);
        put_text(json, "name",
                 info.name[0] != '\0' ? info.name
                 : i == 0             ? "main"
                                      : info.address);
        put_text(json, "address", info.address);
        put_bool(json, "tls", 0);
        put_bool(json, "proxy_protocol", 0);
        restd_json_key(json, "backlog");
        restd_json_raw(json, backlog, strlen(backlog));
        put_object(json, "connections");
        put_uint(json, "accepted", info.accepted);
        put_uint(json, "active", info.connections);
        put_end(json);
        put_end(json);
    }
    restd_json_array_end(json);
}

static void put_memory(struct restd_json *json,
                       const struct rd_status_facts *facts,
                       const char *fragment)
{
    struct restd_memory memory;
    restd_server_memory(facts->server, &memory);
    put_object(json, "memory");
    restd_json_raw(json, fragment, strlen(fragment));
    put_uint(json, "pool_used_bytes", memory.used_bytes);
    put_uint(json, "pool_reserved_bytes", memory.reserved_bytes);
    put_uint(json, "budget_bytes", memory.budget_bytes);
    put_object(json, "owners");
    for (unsigned i = 0; i < memory.owners_n; i++) {
        put_object(json, memory.owners[i].name);
        put_uint(json, "live_bytes", memory.owners[i].live_bytes);
        put_uint(json, "peak_bytes", memory.owners[i].peak_bytes);
        put_end(json);
    }
    put_end(json);
    put_end(json);
}

static void put_closed_by(struct restd_json *json,
                          const struct restd_server *server)
{
    const char *name;
    uint64_t count;
    put_object(json, "closed_by");
    for (unsigned i = 0; restd_server_closed_by(server, i, &name, &count) == 0;
         i++) {
        put_uint(json, name, count);
    }
    put_end(json);
}

static void put_traffic(struct restd_json *json,
                        const struct restd_server *server,
                        const struct restd_stats *stats)
{
    static const char *const windows[] = {"1s", "10s", "60s"};
    static const char *const classes[] = {"1xx", "2xx", "3xx", "4xx", "5xx"};
    const struct restd_counters *c = &stats->counters;
    put_object(json, "connections");
    put_uint(json, "accepted", c->accepted);
    put_uint(json, "closed", c->closed);
    put_uint(json, "rejected", c->rejected);
    put_uint(json, "timed_out", c->timed_out);
    put_uint(json, "active", c->active);
    put_uint(json, "reading", c->reading);
    put_uint(json, "processing", c->processing);
    put_uint(json, "writing", c->writing);
    put_uint(json, "idle", c->idle);
    put_uint(json, "limit", stats->connections_max);
    put_closed_by(json, server);
    put_end(json);
    put_object(json, "requests");
    put_uint(json, "total", c->requests);
    put_uint(json, "active", c->requests_active);
    put_object(json, "per_second");
    for (int i = 0; i < 3; i++) {
        put_double(json, windows[i], stats->per_second[i]);
    }
    put_end(json);
    put_object(json, "responses");
    for (int i = 0; i < 5; i++) {
        put_uint(json, classes[i], c->responses[i]);
    }
    put_end(json);
    put_uint(json, "parse_errors", c->parse_errors);
    put_uint(json, "aborted", c->aborted);
    put_uint(json, "received_bytes", c->received_bytes);
    put_uint(json, "sent_bytes", c->sent_bytes);
    put_end(json);
}

static void put_latency(struct restd_json *json,
                        const struct restd_stats *stats)
{
    put_object(json, "latency_seconds");
    put_uint(json, "window_seconds", 60);
    put_uint(json, "count", stats->latency_count);
    put_seconds(json, "mean", stats->latency_mean);
    put_seconds(json, "min", stats->latency_min);
    put_seconds(json, "p50", stats->latency_p50);
    put_seconds(json, "p90", stats->latency_p90);
    put_seconds(json, "p95", stats->latency_p95);
    put_seconds(json, "p99", stats->latency_p99);
    put_seconds(json, "p999", stats->latency_p999);
    put_seconds(json, "max", stats->latency_max);
    put_end(json);
}

static void put_offload(struct restd_json *json,
                        const struct restd_stats *stats)
{
    put_object(json, "offload");
    put_uint(json, "threads", stats->offload_threads);
    put_uint(json, "running", stats->offload_running);
    put_uint(json, "queued", stats->offload_queued);
    put_uint(json, "done", stats->offload_done);
    put_uint(json, "dropped", stats->offload_dropped);
    put_uint(json, "refused", stats->offload_refused);
    put_end(json);
}

static void put_log(struct restd_json *json,
                    const struct rd_status_facts *facts,
                    const struct restd_stats *stats)
{
    put_object(json, "log");
    put_uint(json, "dropped", stats->log_dropped);
    put_uint(json, "access_dropped", stats->access_dropped);
    put_uint(json, "lost", facts->sink ? rd_logsink_lost(facts->sink) : 0);
    put_end(json);
}

static void put_worker(struct restd_json *json, unsigned id,
                       const struct restd_loop_stats *loop)
{
    const struct restd_counters *c = &loop->counters;
    int stuck = loop->beat_age_ms >= RD_HEALTH_STUCK_MS;
    restd_json_object_begin(json);
    put_uint(json, "id", id);
    put_count(json, "tid", loop->tid);
    put_text(json, "state", stuck ? "stuck" : "running");
    put_object(json, "connections");
    put_uint(json, "accepted", c->accepted);
    put_uint(json, "active", c->active);
    put_uint(json, "idle", c->idle);
    put_end(json);
    put_object(json, "requests");
    put_uint(json, "total", c->requests);
    put_uint(json, "active", c->requests_active);
    put_double(json, "per_second", loop->requests_per_second);
    put_end(json);
    put_double(json, "busy_ratio", loop->busy_ratio);
    put_double(json, "loop_lag_seconds", loop->lag_seconds);
    put_seconds(json, "latency_p99_seconds", loop->p99_seconds);
    put_uint(json, "sent_bytes", c->sent_bytes);
    put_end(json);
}

static void put_daemon(struct restd_json *json,
                       const struct rd_status_facts *facts,
                       const struct restd_stats *stats, const char *memory,
                       const char *cpu, const char *config)
{
    struct restd_loop_stats loop;

    put_object(json, "daemon");
    put_text(json, "name", "restdaemon");
    put_text(json, "version", restd_version());
    put_text(json, "revision", rd_version_revision());
    put_count(json, "pid", facts->pid);
    put_time(json, "started", facts->started_unix_ms);
    put_double(json, "uptime_seconds",
               (double)(rd_now_ms() - facts->started_mono_ms) / 1000);
    restd_json_key(json, "config");
    restd_json_raw(json, config, strlen(config));
    put_text(json, "event_backend", restd_has("epoll") ? "epoll" : NULL);
    put_listeners(json, facts, config + strlen(config) + 1);
    put_memory(json, facts, memory);
    restd_json_raw(json, cpu, strlen(cpu));
    put_traffic(json, facts->server, stats);
    put_latency(json, stats);
    put_offload(json, stats);
    put_log(json, facts, stats);
    restd_json_key(json, "workers");
    restd_json_array_begin(json);
    for (unsigned i = 0; restd_server_loop_stats(facts->server, i, &loop) == 0;
         i++) {
        put_worker(json, i, &loop);
    }
    restd_json_array_end(json);
    put_text(json, "tls", NULL);
    put_object(json, "streams");
    put_uint(json, "sse", 0);
    put_uint(json, "websocket", 0);
    put_end(json);
    put_end(json);
}

long rd_status_json_full(const struct rd_status_facts *facts,
                         const char *sample, const char *config, int host,
                         char *buf, size_t size)
{
    struct restd_json json;
    struct restd_stats stats;
    const char *memory = sample;
    const char *cpu = memory + strlen(memory) + 1;
    const char *host_text = host ? cpu + strlen(cpu) + 1 : "null";

    restd_server_stats(facts->server, &stats);
    restd_json_init(&json, buf, size);
    restd_json_object_begin(&json);
    put_uint(&json, "schema", 1);
    put_text(&json, "status", rd_health_word(facts->server, &stats));
    put_text(&json, "state", restd_state_name(stats.state));
    put_time(&json, "time", rd_unix_ms());
    put_daemon(&json, facts, &stats, memory, cpu, config);
    restd_json_key(&json, "host");
    restd_json_raw(&json, host_text, strlen(host_text));
    restd_json_object_end(&json);
    long len = restd_json_finish(&json);
    if (len < 0 || (size_t)len + 1 > size) {
        return RESTD_ELIMIT;
    }
    buf[len] = '\n';
    return len + 1;
}
