/* SPDX-License-Identifier: MIT */
/* The option table: the one place where defaults, ranges, units and help
 * stand. Thread: any, no state. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <restd/options.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/sized.h"
#include "net/reactor.h"
#include "server/options.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

struct option {
    struct restd_option_info info;
    size_t offset, bytes;
    int fixed; /* once the server has started */
};

#define PLACE(field)                                                           \
    offsetof(struct restd_options, field),                                     \
        sizeof(((struct restd_options *)0)->field)
#define FIELD(field) PLACE(field), 0
#define FIXED(field) PLACE(field), 1
/* clang-format off */
static const struct option table[] = {
    {{"workers", "", 0, 0, RD_REACTORS_MAX, "loop threads; 0: the usable CPUs"},
     FIELD(workers)},
    {{"memory_budget", "bytes", 10 * MIB, 2 * MIB, 1024 * 1024 * MIB,
      "private memory of the process"}, FIXED(memory_budget_bytes)},
    {{"connections", "", 16384, 1, 1000000, "open client connections"},
     FIXED(connections_max)},
    {{"backlog", "", 4096, 1, 65535, "accept queue of each listener"},
     FIELD(backlog)},
    {{"defer_accept", "s", 1, 0, 60,
      "wake for a TCP connection when its first data is there; 0: at once"},
     FIELD(defer_accept_s)},
    {{"stack", "bytes", 256 * KIB, 128 * KIB, 8 * MIB, "stack of a thread"},
     FIXED(stack_bytes)},
    {{"target_max", "bytes", 8 * KIB, 64, 30 * KIB,
      "request target; more: 414"}, FIXED(target_max_bytes)},
    {{"header_max", "bytes", 16 * KIB, 256, 32 * KIB,
      "header section; more: 431"}, FIXED(header_max_bytes)},
    {{"header_fields", "", 100, 4, 1000, "field lines; more: 431"},
     FIXED(header_fields_max)},
    {{"body_max", "bytes", MIB, 0, 1024 * 1024 * MIB, "content; more: 413; what is buffered has its own limit"},
     FIELD(body_max_bytes)},
    {{"body_buffered_max", "bytes", 64 * KIB, 0, 64 * MIB,
      "content held in memory; more: 413"}, FIXED(body_buffered_max_bytes)},
    {{"header_timeout", "ms", 10000, 100, 3600000,
      "first byte to end of the header section"}, FIELD(header_timeout_ms)},
    {{"body_timeout", "ms", 30000, 100, 3600000,
      "silence within the content"}, FIELD(body_timeout_ms)},
    {{"body_rate_min", "bytes", KIB, 0, 1024 * MIB,
      "content per second, on average; 0: any"}, FIELD(body_rate_min_bytes)},
    {{"body_rate_grace", "ms", 10000, 100, 3600000,
      "time before that rate is asked for"}, FIELD(body_rate_grace_ms)},
    {{"write_timeout", "ms", 30000, 100, 3600000,
      "reply not taken, without progress"}, FIELD(write_timeout_ms)},
    {{"keepalive_timeout", "ms", 75000, 100, 86400000,
      "idle between requests"}, FIELD(keepalive_timeout_ms)},
    {{"linger_timeout", "ms", 2000, 100, 60000,
      "reading on after an early reply"}, FIELD(linger_timeout_ms)},
    {{"linger_max_bytes", "bytes", 64 * KIB, 0, 64 * MIB,
      "read and dropped meanwhile"}, FIELD(linger_max_bytes)},
    {{"linger_max", "", 64, 0, 100000,
      "connections in that state, per loop"}, FIELD(linger_max)},
    {{"output_high", "bytes", 64 * KIB, 4 * KIB, 64 * MIB,
      "unsent output that pauses reading"}, FIELD(output_high_bytes)},
    {{"output_low", "bytes", 16 * KIB, 0, 64 * MIB,
      "unsent output that lets it go on"}, FIELD(output_low_bytes)},
    {{"drain_timeout", "ms", 25000, 100, 86400000, "hard end of a drain"},
     FIELD(drain_timeout_ms)},
    {{"drain_silence", "ms", 300, 0, 60000,
      "silence that ends an idle connection in a drain"},
     FIELD(drain_silence_ms)},
    {{"shutdown_delay", "ms", 0, 0, 3600000,
      "still accepting in a drain, while others look elsewhere"},
     FIELD(shutdown_delay_ms)},
    {{"close_spread", "ms", 0, 0, 3600000,
      "idle connections are closed over so long in a drain"},
     FIELD(close_spread_ms)},
    {{"log_level", "", RESTD_LOG_NOTICE, RESTD_LOG_ERROR, RESTD_LOG_DEBUG,
      "3 error, 4 warning, 5 notice, 6 info, 7 debug"}, FIELD(log_level)},
    {{"log_ring", "bytes", 16 * KIB, 4 * KIB, MIB,
      "lines on their way to the log, per thread; a power of two"},
     FIXED(log_ring_bytes)},
    {{"handler_timeout", "ms", 30000, 100, 86400000,
      "reply of a handler that is not run on its loop"},
     FIELD(handler_timeout_ms)},
    {{"offload_threads", "", 16, 1, 1024,
      "most threads for handlers that wait"}, FIXED(offload_threads)},
    {{"offload_queue", "", 1024, 1, 1000000,
      "requests that wait for one of them; more: 503"}, FIXED(offload_queue)},
};
/* clang-format on */
#define TABLE_N (sizeof(table) / sizeof(table[0]))

static void field_set(struct restd_options *options, const struct option *o,
                      uint64_t value)
{
    char *field = (char *)options + o->offset;

    if (o->bytes == sizeof(uint32_t)) {
        uint32_t v = (uint32_t)value;
        memcpy(field, &v, sizeof(v));
    } else {
        memcpy(field, &value, sizeof(value));
    }
}

static uint64_t field_get(const struct restd_options *options,
                          const struct option *o)
{
    const char *field = (const char *)options + o->offset;
    uint64_t value = 0;
    uint32_t v;

    if (o->bytes == sizeof(v)) {
        memcpy(&v, field, sizeof(v));
        return v;
    }
    memcpy(&value, field, sizeof(value));
    return value;
}

void restd_options_init_size(struct restd_options *options, size_t size)
{
    struct restd_options all;

    memset(&all, 0, sizeof(all));
    for (size_t i = 0; i < TABLE_N; i++) {
        field_set(&all, &table[i], table[i].info.default_value);
    }
    all.size = size < sizeof(all) ? size : sizeof(all);
    memcpy(options, &all, all.size);
}

int restd_option_info_size(unsigned index, struct restd_option_info *info,
                           size_t size)
{
    if (index >= TABLE_N) {
        return RESTD_ENOENT;
    }
    rd_sized_out(info, size, &table[index].info, sizeof(table[index].info));
    return 0;
}

/* Factor of a suffix in the option's unit; 0: no such suffix. */
static uint64_t suffix_factor(const char *suffix, const char *unit)
{
    static const struct {
        const char *unit, *suffix;
        uint64_t factor;
    } factors[] = {
        {"", "", 1},
        {"bytes", "", 1},
        {"bytes", "K", KIB},
        {"bytes", "M", MIB},
        {"bytes", "G", 1024 * MIB},
        {"ms", "", 1000},
        {"ms", "ms", 1},
        {"ms", "s", 1000},
        {"ms", "m", 60000},
        {"ms", "h", 3600000},
        {"s", "", 1},
        {"s", "s", 1},
        {"s", "m", 60},
        {"s", "h", 3600},
    };

    for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++) {
        if (strcmp(unit, factors[i].unit) == 0 &&
            strcmp(suffix, factors[i].suffix) == 0) {
            return factors[i].factor;
        }
    }
    return 0;
}

static const char *suffix_help(const char *unit)
{
    return strcmp(unit, "bytes") == 0 ? "a number of bytes, or with K, M, G"
           : *unit == '\0'            ? "a number"
                                      : "a time, as in 300ms, 10s, 5m, 1h";
}

int restd_options_set(struct restd_options *options, const char *key,
                      const char *value, struct restd_error *error)
{
    const struct option *o = NULL;
    char *end;

    for (size_t i = 0; i < TABLE_N && !o; i++) {
        /* One that the caller's struct has not got is unknown to it. */
        o = table[i].offset + table[i].bytes <= options->size &&
                    strcmp(table[i].info.name, key) == 0
                ? &table[i]
                : NULL;
    }
    if (!o) {
        return rd_error(error, RESTD_ENOENT, "unknown option \"%s\"", key);
    }
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    uint64_t factor = suffix_factor(end, o->info.unit);
    if (*value < '0' || *value > '9' || factor == 0) {
        return rd_error(error, RESTD_EINVAL, "%s must be %s, not \"%s\"", key,
                        suffix_help(o->info.unit), value);
    }
    if (errno == ERANGE || number > UINT64_MAX / factor ||
        number * factor < o->info.min || number * factor > o->info.max) {
        return rd_error(
            error, RESTD_ERANGE, "%s must be %llu to %llu%s%s, not \"%s\"", key,
            (unsigned long long)o->info.min, (unsigned long long)o->info.max,
            *o->info.unit ? " " : "", o->info.unit, value);
    }
    field_set(options, o, number * factor);
    return 0;
}

int rd_options_check(const struct restd_options *options,
                     struct restd_error *error)
{
    for (size_t i = 0; i < TABLE_N; i++) {
        const struct restd_option_info *info = &table[i].info;
        uint64_t value = field_get(options, &table[i]);

        if (value < info->min || value > info->max) {
            return rd_error(
                error, RESTD_ERANGE, "%s must be %llu to %llu%s%s, not %llu",
                info->name, (unsigned long long)info->min,
                (unsigned long long)info->max, *info->unit ? " " : "",
                info->unit, (unsigned long long)value);
        }
    }
    if (options->log_ring_bytes & (options->log_ring_bytes - 1)) {
        return rd_error(error, RESTD_ERANGE,
                        "log_ring must be a power of two, not %u",
                        options->log_ring_bytes);
    }
    if (options->output_low_bytes > options->output_high_bytes) {
        return rd_error(error, RESTD_ERANGE,
                        "output_low must not be above output_high");
    }
    return 0;
}

int rd_options_copy(const struct restd_options *from, struct restd_options *to,
                    struct restd_error *error)
{
    /* A caller built against an older header has fewer fields. */
    restd_options_init(to);
    if (from) {
        if (from->size < offsetof(struct restd_options, workers) ||
            from->size > sizeof(*to)) {
            return rd_error(error, RESTD_EINVAL,
                            "options were not set up by restd_options_init");
        }
        memcpy(to, from, from->size);
        to->size = sizeof(*to);
    }
    return 0;
}

int rd_options_check_fixed(const struct restd_options *options,
                           const struct restd_options *asked,
                           const struct restd_options *used,
                           struct restd_error *error)
{
    for (size_t i = 0; i < TABLE_N; i++) {
        uint64_t value = field_get(options, &table[i]);

        if (table[i].fixed && value != field_get(asked, &table[i]) &&
            value != field_get(used, &table[i])) {
            return rd_error(error, RESTD_ESTATE,
                            "%s needs a restart: it is %llu, not %llu",
                            table[i].info.name,
                            (unsigned long long)field_get(used, &table[i]),
                            (unsigned long long)value);
        }
    }
    return 0;
}
