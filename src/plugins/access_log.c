/* SPDX-License-Identifier: MIT */
/* The access log plugin: gathers what a line tells when a request has ended,
 * and hands the line on. access_line.c writes it.
 *
 * The time is laid out once a second and the zone asked for once a minute, in
 * memory of each thread, so that loops share nothing: localtime_r() takes a
 * lock of the C library, and a zone changes at full minutes only. Thread: make
 * any, the rest [loop]. */
#include <restd/plugins.h>

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http/message.h"
#include "net/reactor.h"
#include "plugins/access_line.h"
#include "plugins/make.h"

static _Thread_local struct {
    uint64_t until_ns; /* `text` is right before this time of the loops */
    int64_t minute;    /* since 1970, for which `offset_s` was asked */
    int offset_s;
    char text[RD_ACCESS_TIME_LEN];
} stamp;

void restd_access_log_options_init_size(
    struct restd_access_log_options *options, size_t size)
{
    static const struct restd_access_log_options defaults = {.combined = 1};

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
    rd_access_time(seconds, stamp.offset_s, stamp.text);
    stamp.until_ns = now_ns + (uint64_t)(1000 - ms % 1000) * 1000000u;
}

static void after(struct restd_request *request,
                  const struct restd_outcome *outcome, void *data)
{
    const struct restd_access_log_options *o = data;
    const struct rd_reactor *reactor = request->conn->reactor;
    struct rd_access_entry entry;
    char line[RD_ACCESS_LINE_MAX + 1];

    if (__builtin_expect(reactor->now_ns >= stamp.until_ns, 0)) {
        stamp_update(reactor->now_ns);
    }
    entry.peer = &request->conn->peer;
    entry.time = stamp.text;
    entry.method = restd_request_method_name(request);
    entry.target = restd_request_target(request);
    entry.version_minor = restd_request_version_minor(request);
    /* What nginx writes where the client has left before a reply. */
    entry.status = outcome->status ? outcome->status : 499;
    entry.content_bytes = outcome->content_bytes;
    entry.combined = o->combined;
    if (o->combined) {
        entry.referer = restd_request_header(request, "Referer");
        entry.agent = restd_request_header(request, "User-Agent");
    }
    entry.with_id = o->request_id;
    if (o->request_id) {
        entry.id = restd_request_id(request);
    }
    entry.with_duration = o->duration;
    entry.duration_us = outcome->duration_ns / 1000;
    unsigned len = rd_access_line(&entry, line);
    if (o->write) {
        o->write(line, len, o->data);
    } else {
        rd_log(reactor->log, RESTD_LOG_INFO, "%s", line);
    }
}

int restd_access_log(const struct restd_access_log_options *options,
                     struct restd_plugin *plugin, struct restd_error *error)
{
    struct restd_access_log_options *own = rd_mem_alloc(sizeof(*own));

    if (!own) {
        return rd_make_no_memory(error);
    }
    restd_access_log_options_init(own);
    int rc = rd_make_options(own, sizeof(*own), options, error);
    if (rc != 0) {
        rd_mem_free(own);
        return rc;
    }
    tzset(); /* reads the zone's file, which no loop is to wait for */
    rd_make_plugin(plugin, "access log", rd_mem_free, own);
    plugin->after = after;
    return 0;
}
