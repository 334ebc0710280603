/* SPDX-License-Identifier: MIT */
/* The fragments of /status that the sampler renders once a second.
 *
 * The writer knows no nesting, so a fragment may begin in the middle of an
 * object: the first key or value of a writer has no comma in front.
 * Absent data is null and every key is always there, in this order; fields
 * are only ever added.
 * No allocation, no system call. Thread: control.
 */
#include "daemon/status_json.h"

#include <restd/restd.h>

#include "daemon/health.h"
#include "daemon/json_put.h"

/* Ends a fragment with NUL and makes `json` ready for the next one behind it.
 * `total` goes negative for good when something did not fit. */
static void end_fragment(struct restd_json *json, char *buf, size_t size,
                         long *total)
{
    long len = restd_json_finish(json);
    if (*total < 0 || len < 0 || (size_t)(*total + len) >= size) {
        *total = RESTD_ELIMIT;
        return;
    }
    buf[*total + len] = '\0';
    *total += len + 1;
    restd_json_init(json, buf + *total, size - (size_t)*total);
}

static void put_load(struct restd_json *json, const double load[3])
{
    if (isnan(load[0])) {
        restd_json_null(json);
        return;
    }
    restd_json_array_begin(json);
    for (int i = 0; i < 3; i++) {
        restd_json_double(json, load[i]);
    }
    restd_json_array_end(json);
}

static void put_short_host(struct restd_json *json, const char *hostname)
{
    char name[RD_STATUS_HOST_MAX];
    size_t len = 0;
    for (; len < sizeof name && hostname[len] != '\0'; len++) {
        /* A name that needs escapes would break the bound of the size. */
        char c = hostname[len];
        name[len] = c > ' ' && c < 127 && c != '"' && c != '\\' ? c : '_';
    }
    restd_json_string(json, name, len);
}

long rd_status_json_summary(const struct rd_status_facts *facts,
                            const struct restd_stats *stats,
                            const struct rd_host_sample *sample, char *buf,
                            size_t size)
{
    struct restd_json json;
    long total = 0;
    const char *word = rd_health_word(facts->server, stats);
    restd_json_init(&json, buf, size);
    restd_json_raw(&json, word, strlen(word));
    end_fragment(&json, buf, size, &total);

    if (sample->hostname[0] == '\0') {
        restd_json_null(&json);
    } else {
        put_short_host(&json, sample->hostname);
    }
    end_fragment(&json, buf, size, &total);

    restd_json_uint(&json, stats->workers);
    end_fragment(&json, buf, size, &total);

    put_uint(&json, "per_second", (uint64_t)(stats->per_second[0] + 0.5));
    put_end(&json);
    put_object(&json, "latency_seconds");
    int some = stats->latency_count > 0;
    put_seconds(&json, "p50", some ? stats->latency_p50 : -1);
    put_seconds(&json, "p99", some ? stats->latency_p99 : -1);
    put_end(&json);
    put_count(&json, "rss_bytes", sample->rss_bytes);
    end_fragment(&json, buf, size, &total);

    put_load(&json, sample->load);
    end_fragment(&json, buf, size, &total);
    return total;
}

static void put_host_system(struct restd_json *json,
                            const struct rd_host_sample *s)
{
    put_text(json, "hostname", s->hostname);
    put_text(json, "os", s->os);
    put_text(json, "kernel", s->kernel);
    put_text(json, "arch", s->arch);
    put_time(json, "booted", s->booted_unix_ms);
    put_count(json, "uptime_seconds", s->uptime_s);
    restd_json_key(json, "load");
    put_load(json, s->load);
    put_object(json, "cpu");
    put_count(json, "count", s->cpus);
    put_count(json, "usable", s->cpus_usable);
    put_double(json, "utilization_ratio", s->busy_ratio);
    put_double(json, "user_ratio", s->user_ratio);
    put_double(json, "system_ratio", s->system_ratio);
    put_double(json, "iowait_ratio", s->iowait_ratio);
    put_double(json, "steal_ratio", s->steal_ratio);
    put_end(json);
}

static void put_host_memory(struct restd_json *json,
                            const struct rd_host_sample *s)
{
    double used = NAN;
    int64_t swap_used = -1;
    if (s->memory_total_bytes > 0 && s->memory_available_bytes >= 0) {
        used = 1 - (double)s->memory_available_bytes /
                       (double)s->memory_total_bytes;
    }
    if (s->swap_total_bytes >= 0 && s->swap_free_bytes >= 0) {
        swap_used = s->swap_total_bytes - s->swap_free_bytes;
    }
    put_object(json, "memory");
    put_count(json, "total_bytes", s->memory_total_bytes);
    put_count(json, "available_bytes", s->memory_available_bytes);
    put_double(json, "used_ratio", used);
    put_count(json, "swap_total_bytes", s->swap_total_bytes);
    put_count(json, "swap_used_bytes", swap_used);
    put_end(json);
}

static void put_host(struct restd_json *json, const struct rd_host_sample *s)
{
    restd_json_object_begin(json);
    put_host_system(json, s);
    put_host_memory(json, s);
    put_object(json, "network");
    put_count(json, "received_bytes", s->received_bytes);
    put_count(json, "sent_bytes", s->sent_bytes);
    put_count(json, "tcp_established", s->tcp_established);
    put_count(json, "tcp_listen_overflows", s->tcp_listen_overflows);
    put_end(json);
    restd_json_key(json, "disk");
    restd_json_array_begin(json);
    restd_json_object_begin(json);
    put_text(json, "mount", "/");
    put_count(json, "total_bytes", s->disk_total_bytes);
    put_count(json, "available_bytes", s->disk_available_bytes);
    put_double(json, "used_ratio", s->disk_used_ratio);
    put_end(json);
    restd_json_array_end(json);
    put_object(json, "processes");
    put_count(json, "total", s->processes);
    put_count(json, "running", s->running);
    put_end(json);
    put_object(json, "pressure");
    put_double(json, "cpu_some_ratio", s->pressure_cpu);
    put_double(json, "memory_some_ratio", s->pressure_memory);
    put_double(json, "io_some_ratio", s->pressure_io);
    put_end(json);
    put_object(json, "cgroup");
    put_count(json, "memory_limit_bytes", s->cgroup_limit_bytes);
    put_count(json, "memory_used_bytes", s->cgroup_used_bytes);
    put_double(json, "cpu_limit", s->cgroup_cpus);
    put_end(json);
    put_time(json, "sampled", s->sampled_unix_ms);
    put_end(json);
}

long rd_status_json_sample(const struct rd_host_sample *sample, char *buf,
                           size_t size)
{
    struct restd_json json;
    long total = 0;
    restd_json_init(&json, buf, size);
    put_count(&json, "rss_bytes", sample->rss_bytes);
    put_count(&json, "rss_peak_bytes", sample->rss_peak_bytes);
    put_count(&json, "virtual_bytes", sample->virtual_bytes);
    put_count(&json, "rss_anon_bytes", sample->rss_anon_bytes);
    end_fragment(&json, buf, size, &total);

    put_object(&json, "cpu");
    put_double(&json, "user_seconds", sample->cpu_user_s);
    put_double(&json, "system_seconds", sample->cpu_system_s);
    put_double(&json, "utilization_ratio", sample->cpu_ratio);
    put_end(&json);
    put_object(&json, "fds");
    put_count(&json, "open", sample->fds_open);
    put_count(&json, "limit", sample->fds_limit);
    put_end(&json);
    end_fragment(&json, buf, size, &total);

    put_host(&json, sample);
    end_fragment(&json, buf, size, &total);
    return total;
}
