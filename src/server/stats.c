/* SPDX-License-Identifier: MIT */
/* Figures: sums over the loops' counters, and the 1 Hz sampler that turns them
 * into rates and quantiles. Threads: readers any, the sampler [control]. */
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/sized.h"
#include "server/server.h"

const char *restd_state_name(enum restd_state state)
{
    static const char *const names[] = {"starting", "running", "draining",
                                        "stopping", "stopped"};
    return names[state];
}

/* A connection whose handler runs right now keeps its state, for speed; here
 * it counts as processing. */
static uint64_t in_state(const struct rd_counters *c, enum rd_conn_state state,
                         uint64_t handling)
{
    uint64_t n = rd_counter(&c->states[state]);
    return n - (n > 0 && handling == (uint64_t)state + 1);
}

static void add_counters(struct restd_counters *out,
                         const struct rd_counters *c)
{
    uint64_t handling = rd_counter(&c->handling);

    out->accepted += rd_counter(&c->accepted);
    out->closed += rd_counter(&c->closed);
    out->rejected += rd_counter(&c->rejected);
    out->timed_out += rd_counter(&c->timed_out);
    out->reading += in_state(c, RD_CONN_READING, handling);
    out->processing +=
        rd_counter(&c->states[RD_CONN_PROCESSING]) + (handling != 0);
    /* Lingering is the end of a reply as well. */
    out->writing += in_state(c, RD_CONN_WRITING, handling) +
                    rd_counter(&c->states[RD_CONN_LINGERING]);
    out->idle += in_state(c, RD_CONN_IDLE, handling);
    out->requests += rd_counter(&c->requests);
    out->requests_active += rd_counter(&c->requests_pending) + (handling != 0);
    for (unsigned i = 0; i < 5; i++) {
        out->responses[i] += rd_counter(&c->responses[i]);
    }
    out->parse_errors += rd_counter(&c->parse_errors);
    out->aborted += rd_counter(&c->aborted);
    out->received_bytes += rd_counter(&c->received_bytes);
    out->sent_bytes += rd_counter(&c->sent_bytes);
    out->active = out->reading + out->processing + out->writing + out->idle;
}

static void sum_counters(const struct restd_server *s,
                         struct restd_counters *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (unsigned i = 0; i < rd_loops_n(s); i++) {
        add_counters(sum, s->loops[i]->reactor.counters);
    }
}

void restd_server_counters_size(const struct restd_server *s,
                                struct restd_counters *counters, size_t size)
{
    struct restd_counters sum;

    sum_counters(s, &sum);
    rd_sized_out(counters, size, &sum, sizeof(sum));
}

enum restd_state restd_server_state(const struct restd_server *s)
{
    return (enum restd_state)atomic_load_explicit(&s->state,
                                                  memory_order_relaxed);
}

int restd_server_closed_by(const struct restd_server *s, unsigned index,
                           const char **name, uint64_t *count)
{
    if (index >= RD_CLOSE_REASONS_N) {
        return RESTD_ENOENT;
    }
    *name = rd_close_reason_name((enum rd_close_reason)index);
    *count = 0;
    for (unsigned i = 0; i < rd_loops_n(s); i++) {
        *count += rd_counter(&s->loops[i]->reactor.counters->reasons[index]);
    }
    return 0;
}

/* Word by word, so that a reader that is overtaken reads garbage at worst, and
 * never races; see struct rd_sampler. */
static void words_write(_Atomic uint64_t *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
        uint64_t word;
        memcpy(&word, (const char *)from + i * sizeof(word), sizeof(word));
        atomic_store_explicit(&to[i], word, memory_order_release);
    }
}

static void words_read(const struct rd_sampler *sampler,
                       const _Atomic uint64_t *first,
                       const _Atomic uint64_t *second, void *out, size_t size)
{
    uint32_t shown;

    do {
        shown = atomic_load_explicit(&sampler->shown, memory_order_acquire);
        const _Atomic uint64_t *from = shown % 2 ? second : first;
        for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
            uint64_t word =
                atomic_load_explicit(&from[i], memory_order_acquire);
            memcpy((char *)out + i * sizeof(word), &word, sizeof(word));
        }
    } while (atomic_load_explicit(&sampler->shown, memory_order_relaxed) !=
             shown);
}

void rd_stats_drain(const struct restd_server *s, uint64_t *finished,
                    uint64_t *cut)
{
    *finished = 0;
    *cut = 0;
    for (unsigned i = 0; i < rd_loops_n(s); i++) {
        const struct rd_counters *c = s->loops[i]->reactor.counters;
        uint64_t base = rd_counter(&c->drain_base);
        uint64_t over = rd_counter(&c->requests) - rd_counter(&c->lost) -
                        rd_counter(&c->requests_pending) -
                        (rd_counter(&c->handling) != 0);
        *finished += base > 0 && over > base - 1 ? over - (base - 1) : 0;
        *cut += rd_counter(&c->cut);
    }
}

static void read_offload(const struct restd_server *s,
                         struct restd_stats *stats)
{
    struct rd_pool_figures figures;

    rd_offload_read(&s->offload, &figures);
    stats->offload_threads = figures.threads;
    stats->offload_running = figures.running;
    stats->offload_queued = figures.queued;
    stats->offload_done = figures.done;
    stats->offload_dropped = figures.dropped;
    stats->offload_refused = figures.refused;
}

static void read_stats(const struct restd_server *s, struct restd_stats *stats)
{
    struct rd_sample sample;

    memset(stats, 0, sizeof(*stats));
    sum_counters(s, &stats->counters);
    stats->state =
        (enum restd_state)atomic_load_explicit(&s->state, memory_order_relaxed);
    stats->workers = s->loops ? rd_loops_n(s) : s->plan.loops_n;
    stats->connections_max = s->plan.connections_max;
    stats->started_unix_ms = s->started_unix_ms;
    stats->log_dropped = rd_log_dropped(s->log);
    stats->access_dropped = rd_log_access_dropped(s->log);
    read_offload(s, stats);
    if (!s->sampler) {
        return;
    }
    if (stats->state >= RESTD_STATE_DRAINING) {
        rd_stats_drain(s, &stats->drain_finished, &stats->drain_cut);
    }
    stats->uptime_seconds = (double)(rd_clock_ns() - s->started_ns) / 1e9;
    words_read(s->sampler, s->sampler->samples[0], s->sampler->samples[1],
               &sample, sizeof(sample));
    memcpy(stats->per_second, sample.per_second, sizeof(sample.per_second));
    stats->latency_count = sample.latency_count;
    stats->latency_mean = sample.mean;
    stats->latency_min = sample.min;
    stats->latency_max = sample.max;
    stats->latency_p50 = sample.p50;
    stats->latency_p90 = sample.p90;
    stats->latency_p95 = sample.p95;
    stats->latency_p99 = sample.p99;
    stats->latency_p999 = sample.p999;
}

void restd_server_stats_size(const struct restd_server *s,
                             struct restd_stats *stats, size_t size)
{
    struct restd_stats all;

    read_stats(s, &all);
    rd_sized_out(stats, size, &all, sizeof(all));
}

int restd_server_loop_stats_size(const struct restd_server *s, unsigned index,
                                 struct restd_loop_stats *stats, size_t size)
{
    struct restd_loop_stats all;
    struct rd_loop_sample sample;

    if (index >= rd_loops_n(s)) {
        return RESTD_ENOENT;
    }
    const struct rd_server_loop *loop = s->loops[index];
    const struct rd_reactor *r = &loop->reactor;

    memset(&all, 0, sizeof(all));
    add_counters(&all.counters, r->counters);
    all.tid = atomic_load(&r->tid);
    uint64_t seen =
        atomic_load_explicit(&r->beat_seen_ns, memory_order_relaxed);
    uint64_t now = rd_clock_ns();
    all.beat_age_ms = now > seen ? (now - seen) / 1000000 : 0;
    words_read(s->sampler, loop->samples[0], loop->samples[1], &sample,
               sizeof(sample));
    all.requests_per_second = sample.requests_per_second;
    all.busy_ratio = sample.busy_ratio;
    all.lag_seconds = sample.lag_seconds;
    all.p99_seconds = sample.p99_seconds;
    rd_sized_out(stats, size, &all, sizeof(all));
    return 0;
}

RD_STATIC_ASSERT(RD_MEM_OWNERS_N <= sizeof(((struct restd_memory *)0)->owners) /
                                        sizeof(struct restd_memory_owner),
                 "owners of struct restd_memory");

static void read_memory(const struct restd_server *s,
                        struct restd_memory *memory)
{
    memset(memory, 0, sizeof(*memory));
    memory->budget_bytes = s->budget.limit;
    memory->reserved_bytes =
        atomic_load_explicit(&s->budget.taken, memory_order_relaxed);
    memory->peak_bytes =
        atomic_load_explicit(&s->budget.peak, memory_order_relaxed);
    memory->level = rd_budget_level(&s->budget);
    memory->owners_n = RD_MEM_OWNERS_N;
    for (unsigned o = 0; o < RD_MEM_OWNERS_N; o++) {
        struct restd_memory_owner *owner = &memory->owners[o];
        owner->name = rd_mem_owner_name((enum rd_mem_owner)o);
        owner->live_bytes = rd_counter(&s->ledger.live[o]) +
                            rd_counter(&s->offload.ledger.live[o]);
        owner->peak_bytes = rd_counter(&s->ledger.peak[o]) +
                            rd_counter(&s->offload.ledger.peak[o]);
        for (unsigned i = 0; i < rd_loops_n(s); i++) {
            const struct rd_ledger *l = &s->loops[i]->reactor.ledger;
            owner->live_bytes += rd_counter(&l->live[o]);
            owner->peak_bytes += rd_counter(&l->peak[o]);
        }
        memory->used_bytes += owner->live_bytes;
    }
}

void restd_server_memory_size(const struct restd_server *s,
                              struct restd_memory *memory, size_t size)
{
    struct restd_memory all;

    read_memory(s, &all);
    rd_sized_out(memory, size, &all, sizeof(all));
}

static double rate(const struct rd_sampler *p, unsigned span)
{
    /* The ring holds the totals of the last 61 seconds. */
    unsigned n = p->seconds < span ? p->seconds : span;
    const unsigned size = RD_RATE_SECONDS + 1;

    if (n == 0) {
        return 0;
    }
    return (double)(p->totals[p->seconds % size] -
                    p->totals[(p->seconds - n) % size]) /
           n;
}

static void sample_loop(struct rd_server_loop *loop, uint64_t now_ns,
                        double elapsed, unsigned seconds,
                        struct rd_hist_sum *all, struct rd_loop_sample *out)
{
    struct rd_reactor *r = &loop->reactor;
    uint64_t requests = rd_counter(&r->counters->requests);
    uint64_t busy = rd_counter(&r->counters->busy_ns);
    struct rd_hist_sum hist;

    out->requests_per_second =
        (double)(requests - loop->last_requests) / elapsed;
    out->busy_ratio = (double)(busy - loop->last_busy_ns) / 1e9 / elapsed;
    if (out->busy_ratio > 1) {
        out->busy_ratio = 1;
    }
    loop->last_requests = requests;
    loop->last_busy_ns = busy;

    uint64_t lag = atomic_load_explicit(&r->beat_lag_ns, memory_order_relaxed);
    if (atomic_load_explicit(&r->beat.queued, memory_order_relaxed)) {
        lag = now_ns -
              atomic_load_explicit(&r->beat_sent_ns, memory_order_relaxed);
    }
    loop->lags[seconds % RD_LAG_SECONDS] = (double)lag / 1e9;
    out->lag_seconds = 0;
    for (unsigned i = 0; i < RD_LAG_SECONDS; i++) {
        if (loop->lags[i] > out->lag_seconds) {
            out->lag_seconds = loop->lags[i];
        }
    }
    rd_hist_read(&r->counters->latency, &hist);
    rd_hist_sum_add(all, &hist);
    /* The last 10 to 20 s. */
    if (seconds % RD_WINDOW_SECONDS == 0) {
        loop->window_before = loop->window_start;
        loop->window_start = hist;
    }
    rd_hist_sum_sub(&hist, &loop->window_before);
    out->p99_seconds = rd_hist_quantile(&hist, 0.99);
}

static void sample_latency(struct rd_sampler *p, const struct rd_hist_sum *all,
                           struct rd_sample *out)
{
    struct rd_hist_sum sum = *all;
    unsigned running = p->seconds / RD_WINDOW_SECONDS % RD_WINDOWS_N;

    if (p->seconds % RD_WINDOW_SECONDS == 0) {
        memset(&p->windows[running], 0, sizeof(p->windows[running]));
    }
    rd_hist_sum_sub(&sum, &p->last);
    rd_hist_sum_add(&p->windows[running], &sum);
    p->last = *all;
    memset(&sum, 0, sizeof(sum));
    for (unsigned i = 0; i < RD_WINDOWS_N; i++) {
        rd_hist_sum_add(&sum, &p->windows[i]);
    }
    out->latency_count = sum.count;
    out->mean = rd_hist_mean(&sum);
    out->min = rd_hist_quantile(&sum, 0);
    out->p50 = rd_hist_quantile(&sum, 0.5);
    out->p90 = rd_hist_quantile(&sum, 0.9);
    out->p95 = rd_hist_quantile(&sum, 0.95);
    out->p99 = rd_hist_quantile(&sum, 0.99);
    out->p999 = rd_hist_quantile(&sum, 0.999);
    out->max = rd_hist_quantile(&sum, 1);
}

/* What the first second shows: no latency. */
void rd_sampler_init(struct restd_server *s)
{
    struct rd_sampler *p = s->sampler;
    struct rd_sample sample = {.per_second = {0}};
    struct rd_hist_sum all;

    memset(&all, 0, sizeof(all));
    sample_latency(p, &all, &sample);
    words_write(p->samples[0], &sample, sizeof(sample));
}

void rd_sampler_add(struct rd_server_loop *loop)
{
    struct rd_loop_sample of_loop = {.p99_seconds = -1};

    words_write(loop->samples[0], &of_loop, sizeof(of_loop));
    words_write(loop->samples[1], &of_loop, sizeof(of_loop));
}

void rd_sampler_tick(struct restd_server *s, uint64_t now_ns)
{
    struct rd_sampler *p = s->sampler;
    uint32_t next = atomic_load_explicit(&p->shown, memory_order_relaxed) + 1;
    struct rd_sample sample;
    double elapsed = (double)(now_ns - p->last_ns) / 1e9;
    struct rd_hist_sum all;
    uint64_t total = 0;

    p->last_ns = now_ns;
    p->seconds++;
    memset(&all, 0, sizeof(all));
    for (unsigned i = 0; i < rd_loops_n(s); i++) {
        struct rd_server_loop *loop = s->loops[i];
        struct rd_loop_sample of_loop;
        sample_loop(loop, now_ns, elapsed > 0 ? elapsed : 1, p->seconds, &all,
                    &of_loop);
        words_write(loop->samples[next % 2], &of_loop, sizeof(of_loop));
        total += loop->last_requests;
    }
    p->totals[p->seconds % (RD_RATE_SECONDS + 1)] = total;
    sample.per_second[0] = rate(p, 1);
    sample.per_second[1] = rate(p, 10);
    sample.per_second[2] = rate(p, 60);
    sample_latency(p, &all, &sample);
    words_write(p->samples[next % 2], &sample, sizeof(sample));
    atomic_store_explicit(&p->shown, next, memory_order_release);
}
