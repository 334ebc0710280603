/* SPDX-License-Identifier: MIT */
/* What /status tells, but for live counters.
 *
 * Once a second the control thread samples the host and the server's rates and
 * publishes two texts: fragments for the summary and for the full document
 * (publish.h). Main publishes a third one with what became of the
 * configuration. Views (status_view.c) copy them when they have changed.
 *
 * All memory is one anonymous mapping made at start. Threads: see status.h.
 */
#include "daemon/status.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <restd/restd.h>

#include "daemon/clock.h"
#include "daemon/fault.h"
#include "daemon/host.h"
#include "daemon/status_json.h"

enum {
    SAMPLE_MS = 1000,
    /* Behind the server's own sample, so that its rates are fresh. */
    SAMPLE_FIRST_MS = 1050
};

struct rd_status {
    struct rd_status_shown shown;
    struct restd_timer *timer;
    struct rd_host host;                  /* control thread */
    char fragments[RD_PUBLISH_MAX_BYTES]; /* control thread */
};

const struct rd_status_shown *rd_status_shown(const struct rd_status *status)
{
    return &status->shown;
}

static void publish(struct rd_publish *to, const char *fragments, long len)
{
    if (len > 0) { /* else what was published before is good enough */
        rd_publish_write(to, fragments, (size_t)len);
    }
}

static void sample(struct rd_status *status)
{
    struct restd_stats stats;
    const struct rd_status_facts *facts = &status->shown.facts;
    const struct rd_host_sample *host = &status->host.sample;
    char *buf = status->fragments;
    restd_server_stats(facts->server, &stats);
    publish(&status->shown.summary, buf,
            rd_status_json_summary(facts, &stats, host, buf,
                                   RD_STATUS_SUMMARY_MAX));
    publish(&status->shown.full, buf,
            rd_status_json_sample(host, buf, sizeof status->fragments));
}

static void on_sample(struct restd_timer *timer, void *data)
{
    struct rd_status *status = data;
    (void)timer;
    rd_host_sample(&status->host);
    sample(status);
}

void rd_status_set_config(struct rd_status *status,
                          const struct rd_status_config *config)
{
    char buf[RD_PUBLISH_MAX_BYTES];
    publish(&status->shown.config, buf,
            rd_status_json_config(config, buf, sizeof buf));
}

/* --- life ---------------------------------------------------------------- */

static void set_facts(struct rd_status_facts *facts,
                      const struct restd_server *server)
{
    facts->server = server;
    facts->started_unix_ms = rd_unix_ms();
    facts->started_mono_ms = rd_now_ms();
    facts->pid = (int)getpid();
}

static int make_fields(struct restd_fields **fields)
{
    int rc = restd_fields_new(fields);
    if (rc == 0) {
        rc = restd_fields_add(*fields, "Content-Type", "application/json");
    }
    if (rc == 0) {
        rc = restd_fields_add(*fields, "Cache-Control", "no-store");
    }
    if (rc == 0) {
        rc = restd_fields_add(*fields, "X-Content-Type-Options", "nosniff");
    }
    return rc;
}

static int start(struct rd_status *s, struct restd_server *server,
                 const struct rd_logsink *sink)
{
    rd_host_init(&s->host, ""); /* first, as rd_host_fini() wants it */
    int rc = make_fields(&s->shown.fields);
    if (rc != 0) {
        return rc;
    }
    set_facts(&s->shown.facts, server);
    s->shown.facts.sink = sink;
    const struct rd_status_config config = {.generation = 1,
                                            .loaded_unix_ms =
                                                s->shown.facts.started_unix_ms,
                                            .last_reload_ok = 1};
    rd_status_set_config(s, &config);
    sample(s);
    return restd_timer_new(restd_server_control(server), SAMPLE_FIRST_MS,
                           SAMPLE_MS, on_sample, s, &s->timer);
}

int rd_status_new(struct restd_server *server, const struct rd_logsink *sink,
                  struct rd_status **status, struct restd_error *error)
{
    struct rd_status *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int rc = s != MAP_FAILED ? start(s, server, sink) : RESTD_ENOMEM;
    if (rc < 0) {
        rd_status_free(s != MAP_FAILED ? s : NULL);
        return rd_fault(error, rc, "cannot start the sampler: %s",
                        restd_strerror(rc));
    }
    *status = s;
    return 0;
}

void rd_status_free(struct rd_status *status)
{
    if (status != NULL) {
        restd_timer_free(status->timer);
        restd_fields_free(status->shown.fields);
        rd_host_fini(&status->host);
        munmap(status, sizeof *status);
    }
}
