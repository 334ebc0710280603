/* SPDX-License-Identifier: MIT */
/* The access log plugin: decides which requests have a line, gathers what it
 * tells when the request has ended, and hands it on. access_line.c writes it.
 *
 * The time is laid out once a second and the zone asked for once a minute, in
 * memory of each thread, so that loops share nothing: localtime_r() takes a
 * lock of the C library, and a zone changes at full minutes only. For the same
 * reason each loop counts for itself which of its requests is the one of
 * `sample`. Thread: make any, the rest [loop]. */
#include <restd/plugins.h>

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/slice.h"
#include "http/message.h"
#include "net/reactor.h"
#include "plugins/access_line.h"
#include "plugins/make.h"

#define NS_PER_MS UINT64_C(1000000)
/* What nginx writes where the client has left before a reply. */
#define STATUS_LEFT 499

struct count {
    _Alignas(64) _Atomic uint32_t n; /* written by one loop */
};

struct access_log {
    restd_access_log_fn *write;
    void *data;
    uint64_t slow_ns;
    int min_status;
    uint32_t sample;
    struct count *counts; /* by loop; NULL: no sampling */
    struct rd_access_format format;
};

#define COUNTS_BYTES (RD_REACTORS_MAX * sizeof(struct count))

static _Thread_local struct {
    uint64_t until_ns; /* `time` is right before this time of the loops */
    uint64_t at_ns;    /* when `at_ms` was */
    int64_t at_ms;
    int64_t minute; /* since 1970, for which `offset_s` was asked */
    int offset_s;
    struct rd_access_time time;
} stamp;

/* The last peer: one often has several requests, and a proxy all of them. */
static _Thread_local struct {
    struct rd_addr addr;
    unsigned len; /* 0: none yet */
    char text[RD_ACCESS_PEER_SIZE];
} last_peer;

void restd_access_log_options_init_size(
    struct restd_access_log_options *options, size_t size)
{
    static const struct restd_access_log_options defaults = {
        .format = "combined", .sample = 1};

    rd_sized_init(options, size, &defaults, sizeof(defaults));
}

static void stamp_update(uint64_t now_ns)
{
    int64_t ms = rd_clock_unix_ms();
    time_t seconds = (time_t)(ms / 1000);
    struct tm local;

    if (stamp.minute != seconds / 60) {
        stamp.minute = seconds / 60;
        stamp.offset_s =
            localtime_r(&seconds, &local) ? (int)local.tm_gmtoff : 0;
    }
    rd_access_time_set(&stamp.time, seconds, stamp.offset_s);
    stamp.at_ns = now_ns;
    stamp.at_ms = ms;
    stamp.until_ns = now_ns + (uint64_t)(1000 - ms % 1000) * NS_PER_MS;
}

static struct restd_slice peer_text(const struct rd_addr *peer)
{
    if (last_peer.len == 0 || last_peer.addr.family != peer->family ||
        memcmp(last_peer.addr.ip, peer->ip, sizeof(peer->ip)) != 0) {
        last_peer.addr = *peer;
        last_peer.len = rd_access_peer(peer, last_peer.text);
    }
    return rd_slice(last_peer.text, last_peer.len);
}

/* The first of each `sample` on a loop. */
static int is_sampled(const struct access_log *log, unsigned loop)
{
    if (!log->counts) {
        return 1;
    }
    _Atomic uint32_t *count = &log->counts[loop].n;
    uint32_t n = atomic_load_explicit(count, memory_order_relaxed);
    atomic_store_explicit(count, n + 1 < log->sample ? n + 1 : 0,
                          memory_order_relaxed);
    return n == 0;
}

static int is_wanted(const struct access_log *log, unsigned loop, int status,
                     uint64_t duration_ns)
{
    if (log->slow_ns > 0 && duration_ns >= log->slow_ns) {
        return 1;
    }
    if (status < log->min_status) {
        return 0;
    }
    return status >= 400 || is_sampled(log, loop);
}

/* What plugins have set is rare, and left to the function that knows of it. */
static struct restd_slice header_find(const struct restd_request *request,
                                      const char *name, size_t len)
{
    const struct rd_h1_field *field = request->head->fields;
    const struct rd_h1_field *end = field + request->head->fields_n;

    if (request->overlay.len > 0) {
        return restd_request_header(request, name);
    }
    for (; field < end; field++) {
        if (field->name.len == len &&
            rd_access_header_is(name, request->base + field->name.off, len)) {
            return rd_span(request->base, field->value);
        }
    }
    return rd_slice(NULL, 0);
}

static void after(struct restd_request *request,
                  const struct restd_outcome *outcome, void *data)
{
    const struct access_log *log = data;
    const struct rd_access_format *format = &log->format;
    const struct rd_reactor *reactor = request->conn->reactor;
    struct rd_access_entry entry;
    char line[RD_ACCESS_LINE_SIZE];

    entry.status = outcome->status ? outcome->status : STATUS_LEFT;
    if (!is_wanted(log, reactor->index, entry.status, outcome->duration_ns)) {
        return;
    }
    if (__builtin_expect(reactor->now_ns >= stamp.until_ns, 0)) {
        stamp_update(reactor->now_ns);
    }
    entry.peer = peer_text(&request->conn->peer);
    entry.time = &stamp.time;
    entry.time_ms =
        stamp.at_ms + (int64_t)((reactor->now_ns - stamp.at_ns) / NS_PER_MS);
    entry.method = restd_request_method_name(request);
    entry.target = restd_request_target(request);
    entry.version_minor = restd_request_version_minor(request);
    entry.content_bytes = outcome->content_bytes;
    entry.duration_ns = outcome->duration_ns;
    for (unsigned i = 0; i < format->headers_n; i++) {
        entry.headers[i] =
            header_find(request, format->headers[i], format->header_lens[i]);
    }
    if (format->has_host) {
        entry.host = restd_request_host(request);
    }
    if (format->has_id) {
        entry.id = restd_request_id(request);
    }
    unsigned len = rd_access_line(format, &entry, line);
    if (log->write) {
        log->write(line, len, log->data);
    } else {
        rd_log_access(reactor->log, entry.time_ms, line, len);
    }
}

static void log_free(void *data)
{
    struct access_log *log = data;

    if (log->counts) {
        rd_page_free(log->counts, COUNTS_BYTES);
    }
    rd_mem_free(log);
}

static int set_up(struct access_log *log,
                  const struct restd_access_log_options *o,
                  struct restd_error *error)
{
    if (o->sample < 1 || o->sample > 1000000) {
        return rd_error(error, RESTD_EINVAL,
                        "sample of an access log is %u, not 1 to 1000000",
                        o->sample);
    }
    if (o->min_status < 0 || o->min_status > 599) {
        return rd_error(error, RESTD_EINVAL,
                        "min_status of an access log is %d, not 0 to 599",
                        o->min_status);
    }
    log->write = o->write;
    log->data = o->data;
    log->slow_ns = o->slow_ms * NS_PER_MS;
    log->min_status = o->min_status;
    log->sample = o->sample;
    int rc = rd_access_format_compile(
        &log->format, o->format ? o->format : "combined", error);
    if (rc == 0 && o->sample > 1) {
        log->counts = rd_page_alloc(COUNTS_BYTES);
        rc = log->counts ? 0 : rd_make_no_memory(error);
    }
    return rc;
}

int restd_access_log(const struct restd_access_log_options *options,
                     struct restd_plugin *plugin, struct restd_error *error)
{
    struct restd_access_log_options o;

    restd_access_log_options_init(&o);
    int rc = rd_make_options(&o, sizeof(o), options, error);
    if (rc != 0) {
        return rc;
    }
    struct access_log *log = rd_mem_alloc(sizeof(*log));
    if (!log) {
        return rd_make_no_memory(error);
    }
    rc = set_up(log, &o, error);
    if (rc != 0) {
        log_free(log);
        return rc;
    }
    tzset(); /* reads the zone's file, which no loop is to wait for */
    rd_make_plugin(plugin, "access log", log_free, log);
    plugin->after = after;
    return 0;
}
