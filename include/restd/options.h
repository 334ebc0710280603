/* SPDX-License-Identifier: MIT */
/* Server options. Defaults, ranges, units and help stand in one table
 * (src/server/options.c), readable through restd_option_info(). */
#ifndef RESTD_OPTIONS_H
#define RESTD_OPTIONS_H

#include <restd/api.h>
#include <restd/error.h>

RESTD_BEGIN_DECLS

/** Log levels, syslog's severities that are used; and the class of the lines that
 * restd_access_log() writes, which no level holds back. */
enum restd_log_level {
    RESTD_LOG_ERROR = 3,
    RESTD_LOG_WARNING = 4,
    RESTD_LOG_NOTICE = 5,
    RESTD_LOG_INFO = 6,
    RESTD_LOG_DEBUG = 7,
    RESTD_LOG_ACCESS = 8
};

/**
 * Receives log lines. Called on the server's log writer thread only, one call
 * at a time; may block without holding anyone up. `line` has no newline and
 * dies with the call.
 */
typedef void restd_log_fn(enum restd_log_level level, int64_t time_unix_ms,
                          const char *line, void *data);

/**
 * What a restd_log_fn has put off is to be written now, as no line is at hand.
 * On the same thread.
 */
typedef void restd_log_flush_fn(void *data);

/**
 * Options of a server.
 * Owner: the caller; restd_server_new() copies it.
 * Lifetime: the caller's.
 * Thread: [any], one at a time.
 * Set it up with restd_options_init(), then change fields or use
 * restd_options_set(). `size` lets fields be added without breaking callers.
 */
struct restd_options {
    size_t size;                      /* sizeof(struct restd_options) */
    uint32_t workers;                 /* loop threads; 0: the usable CPUs */
    uint64_t memory_budget_bytes;     /* private memory of the process */
    uint32_t connections_max;         /* open client connections */
    uint32_t backlog;                 /* listen(2) */
    uint32_t defer_accept_s;          /* TCP_DEFER_ACCEPT in s, 0: off */
    uint32_t stack_bytes;             /* of a thread; some have 128 KiB */
    uint32_t target_max_bytes;        /* request target; more: 414 */
    uint32_t header_max_bytes;        /* header section; more: 431 */
    uint32_t header_fields_max;       /* field lines; more: 431 */
    uint64_t body_max_bytes;          /* content; more: 413 */
    uint32_t body_buffered_max_bytes; /* content held in memory; more: 413 */
    uint32_t header_timeout_ms;       /* first byte to end of header section */
    uint32_t body_timeout_ms;         /* silence within the content */
    uint32_t body_rate_min_bytes;     /* per s, average since its start */
    uint32_t body_rate_grace_ms;      /* before that rate is asked for */
    uint32_t write_timeout_ms;        /* without progress */
    uint32_t keepalive_timeout_ms;    /* idle between requests */
    uint32_t linger_timeout_ms;       /* reading on after an early close */
    uint32_t linger_max_bytes;        /* read and dropped meanwhile */
    uint32_t linger_max;              /* connections in that state per loop */
    uint32_t output_high_bytes;       /* unsent output that pauses reading */
    uint32_t output_low_bytes;        /* ... and lets it go on */
    uint32_t drain_timeout_ms;        /* hard end of a drain */
    uint32_t drain_silence_ms;        /* an idle connection's last chance */
    uint32_t shutdown_delay_ms;       /* still accepting in a drain */
    uint32_t close_spread_ms;         /* over which a drain closes idle ones */
    uint32_t log_level;               /* enum restd_log_level */
    restd_log_fn *log;                /* NULL: nothing is logged */
    void *log_data;                   /* passed to log, log_flush */
    restd_log_flush_fn *log_flush;    /* NULL: not called */
    uint32_t log_ring_bytes;          /* of each thread; a power of two */
    uint32_t handler_timeout_ms;      /* of one that is not inline */
    uint32_t offload_threads;         /* for routes marked `offload` */
    uint32_t offload_queue;           /* their requests that wait; more: 503 */
};

/** Fills in the defaults of the first `size` bytes; for restd_options_init().
 * [any thread] */
RESTD_API void restd_options_init_size(struct restd_options *options,
                                       size_t size);

/** Fills in the defaults. Inline, so that it knows the size that the caller
 * was built with. [any thread] */
static inline void restd_options_init(struct restd_options *options)
{
    restd_options_init_size(options, sizeof(*options));
}

/**
 * Sets one option by name from text, as `restdaemon -o key=value` does. Sizes
 * take K, M, G (powers of 1024), times take ms, s, m, h (plain numbers: s).
 * RESTD_ENOENT for an unknown key, RESTD_EINVAL or RESTD_ERANGE for a bad
 * value; `error` (may be NULL) then has a sentence. [any thread]
 */
RESTD_API RESTD_MUST_CHECK int restd_options_set(struct restd_options *options,
                                                 const char *key,
                                                 const char *value,
                                                 struct restd_error *error);

/** One row of the option table; the texts are static memory. Grows at its end
 * in later versions. */
struct restd_option_info {
    const char *name;
    const char *unit; /* "bytes", "ms", "s", "" (a count) */
    uint64_t default_value, min, max;
    const char *help;
};

/** For restd_option_info(): writes at most `size` bytes. [any thread] */
RESTD_API RESTD_MUST_CHECK int
restd_option_info_size(unsigned index, struct restd_option_info *info,
                       size_t size);
/** The option table's row `index`, from 0; RESTD_ENOENT behind the last.
 * Inline, as restd_options_init(). [any thread] */
RESTD_MUST_CHECK static inline int
restd_option_info(unsigned index, struct restd_option_info *info)
{
    return restd_option_info_size(index, info, sizeof(*info));
}

RESTD_END_DECLS

#endif
