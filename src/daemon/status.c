/* SPDX-License-Identifier: MIT */
/* GET /status.
 *
 * Once a second the control thread samples the host and the server's rates and
 * publishes two texts: fragments for the summary and for the full document
 * (publish.h). Each loop has a cache line aligned place of its own with the
 * fragments it took last, the date part of the time and the summary of this
 * turn, which every further request of the turn gets unchanged. Rendering one
 * is copying six constant pieces and writing six numbers: no printf, no lock,
 * no allocation, two clock reads (one of them coarse).
 *
 * All memory is one anonymous mapping made at start; a loop's place for the
 * full document is touched, and costs memory, only when somebody asks for it.
 * Threads: see status.h; the cache is its loop's alone.
 */
#include "daemon/status.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <restd/restd.h>

#include "daemon/host.h"
#include "daemon/publish.h"
#include "daemon/status_json.h"

enum {
    SAMPLE_MS = 1000,
    /* Behind the server's own sample, so that its rates are fresh. */
    SAMPLE_FIRST_MS = 1050,
    SUMMARY_FRAGMENTS_MAX = 512,
    /* A full document: in all, and for each listener and worker. */
    FULL_FIXED_BYTES = 8192,
    FULL_LISTENER_BYTES = 320,
    FULL_WORKER_BYTES = 448,
    CACHE_LINE = 64
};

struct status_loop {
    uint64_t turn;       /* the turn of `body` */
    uint64_t generation; /* of the fragments in head and tail */
    int64_t second;      /* of the time in head */
    int state;           /* as head has it */
    unsigned head_len, tail_len, body_len;
    char head[320]; /* up to the seconds of the time and the point */
    char tail[320]; /* from per_second to the newline */
    char fragments[SUMMARY_FRAGMENTS_MAX + 1];
    char body[1024];
};

struct rd_status {
    struct rd_status_facts facts;
    struct restd_server *server;
    struct restd_timer *timer;
    struct restd_fields *fields;
    unsigned middle_len;
    char middle[96]; /* from pid to connections.active */
    char *loops;     /* struct status_loop and full document, one per loop */
    size_t stride, full_size, map_size;
    struct rd_publish summary, full;
    struct rd_host host;                  /* control thread */
    char fragments[RD_PUBLISH_MAX_BYTES]; /* control thread */
};

static struct status_loop *loop_of(const struct rd_status *status,
                                   unsigned index)
{
    return (struct status_loop *)(void *)(status->loops +
                                          index * status->stride);
}

/* --- once a second ------------------------------------------------------- */

static void sample(struct rd_status *status)
{
    struct restd_stats stats;
    const struct rd_host_sample *host = &status->host.sample;
    restd_server_stats(status->server, &stats);
    long len = rd_status_json_summary(&status->facts, &stats, host,
                                      status->fragments, SUMMARY_FRAGMENTS_MAX);
    if (len > 0) {
        rd_publish_write(&status->summary, status->fragments, (size_t)len);
    }
    len = rd_status_json_sample(host, status->fragments,
                                sizeof status->fragments);
    if (len > 0) {
        rd_publish_write(&status->full, status->fragments, (size_t)len);
    }
}

static void on_sample(struct restd_timer *timer, void *data)
{
    struct rd_status *status = data;
    (void)timer;
    rd_host_sample(&status->host);
    sample(status);
}

/* --- summary ------------------------------------------------------------- */

static char *put(char *to, const char *text, size_t len)
{
    memcpy(to, text, len);
    return to + len;
}

#define PUT(to, literal) put(to, literal, sizeof literal - 1)

static char *put_number(char *to, uint64_t value)
{
    char digits[20];
    unsigned at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return put(to, digits + at, sizeof digits - at);
}

/* Renews what changes once a second at most: head and tail. */
static void loop_refresh(const struct rd_status *status, struct status_loop *l,
                         int64_t second, enum restd_state state)
{
    char time[40];
    struct restd_json json;
    char fragments[sizeof l->fragments];
    long len = rd_publish_read(&status->summary, fragments, sizeof fragments,
                               &l->generation);
    if (len >= 0) { /* else lapped: those of before are good for a turn */
        memcpy(l->fragments, fragments, (size_t)len + 1);
    }
    const char *word = l->fragments;
    const char *host = word + strlen(word) + 1;
    const char *tail = host + strlen(host) + 1;

    restd_json_init(&json, time, sizeof time);
    restd_json_time(&json, second * 1000);
    len = restd_json_finish(&json);
    l->second = second;
    l->state = (int)state;
    /* The time is cut before "000Z" and its quote, of its 26 bytes. */
    l->head_len = (unsigned)snprintf(
        l->head, sizeof l->head,
        "{\"status\":\"%s\",\"state\":\"%s\",\"service\":\"restdaemon\","
        "\"version\":\"%s\",\"host\":%s,\"time\":%.*s",
        word, restd_state_name(state), restd_version(), host,
        len > 5 ? (int)len - 5 : 0, time);
    l->tail_len = (unsigned)snprintf(l->tail, sizeof l->tail, ",%s\n", tail);
}

static void loop_render(const struct rd_status *status, struct status_loop *l)
{
    struct restd_counters c;
    struct timespec now, mono;
    enum restd_state state = restd_server_state(status->server);
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_MONOTONIC_COARSE, &mono);
    restd_server_counters(status->server, &c);
    if (l->second != now.tv_sec || l->state != (int)state ||
        l->generation != rd_publish_generation(&status->summary)) {
        loop_refresh(status, l, now.tv_sec, state);
    }
    uint64_t mono_ms =
        (uint64_t)mono.tv_sec * 1000 + (uint64_t)mono.tv_nsec / 1000000;
    uint64_t up_ms = mono_ms > status->facts.started_mono_ms
                         ? mono_ms - status->facts.started_mono_ms
                         : 0; /* the coarse clock is up to a tick behind */
    unsigned ms = (unsigned)(now.tv_nsec / 1000000);

    char *p = put(l->body, l->head, l->head_len);
    *p++ = (char)('0' + ms / 100);
    *p++ = (char)('0' + ms / 10 % 10);
    *p++ = (char)('0' + ms % 10);
    p = PUT(p, "Z\",\"uptime_seconds\":");
    p = put_number(p, up_ms / 1000);
    p = put(p, status->middle, status->middle_len);
    p = put_number(p, c.active);
    p = PUT(p, ",\"accepted\":");
    p = put_number(p, c.accepted);
    p = PUT(p, "},\"requests\":{\"total\":");
    p = put_number(p, c.requests);
    p = PUT(p, ",\"active\":");
    p = put_number(p, c.requests_active);
    p = put(p, l->tail, l->tail_len);
    l->body_len = (unsigned)(p - l->body);
}

/* --- handler ------------------------------------------------------------- */

static int handle_full(struct rd_status *status, struct status_loop *l,
                       struct restd_response *response)
{
    char fragments[RD_PUBLISH_MAX_BYTES + 1];
    uint64_t generation;
    char *buf = (char *)l + sizeof *l;
    if (rd_publish_read(&status->full, fragments, sizeof fragments,
                        &generation) < 0) {
        return RESTD_EAGAIN;
    }
    long len =
        rd_status_json_full(&status->facts, fragments, buf, status->full_size);
    if (len < 0) {
        return (int)len;
    }
    restd_response_body_borrowed(response, buf, (size_t)len);
    return 0;
}

int rd_status_handle(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    struct rd_status *status = data;
    struct status_loop *l = loop_of(status, restd_request_worker(request));
    restd_response_add_fields(response, status->fields);
    if (restd_request_query(request).data != NULL && !status->facts.is_public &&
        restd_slice_is(restd_request_query_get(request, "detail"), "full")) {
        return handle_full(status, l, response);
    }
    uint64_t turn = restd_request_turn(request);
    if (l->turn != turn) {
        loop_render(status, l);
        l->turn = turn;
    }
    restd_response_body_borrowed(response, l->body, l->body_len);
    return 0;
}

/* --- life ---------------------------------------------------------------- */

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static int status_map(struct restd_server *server, unsigned workers,
                      struct rd_status **status)
{
    char address[160];
    size_t own = round_up(sizeof **status, CACHE_LINE);
    size_t full = FULL_FIXED_BYTES + (size_t)workers * FULL_WORKER_BYTES;
    for (unsigned i = 0;
         restd_server_address(server, i, address, sizeof address) >= 0; i++) {
        full += FULL_LISTENER_BYTES;
    }
    size_t stride = round_up(sizeof(struct status_loop) + full, CACHE_LINE);
    size_t size = own + workers * stride;
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        return RESTD_ENOMEM;
    }
    struct rd_status *s = (struct rd_status *)(void *)map;
    s->loops = map + own;
    s->stride = stride;
    s->full_size = stride - sizeof(struct status_loop);
    s->map_size = size;
    s->server = server;
    *status = s;
    return 0;
}

static void status_start_facts(struct rd_status *s, unsigned workers,
                               uint32_t backlog, int is_public)
{
    struct timespec now, mono;
    char pid[16] = "null";
    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_MONOTONIC, &mono);
    s->facts.server = s->server;
    s->facts.started_unix_ms =
        (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    s->facts.started_mono_ms =
        (uint64_t)mono.tv_sec * 1000 + (uint64_t)mono.tv_nsec / 1000000;
    s->facts.backlog = backlog;
    s->facts.pid = (int)getpid();
    s->facts.is_public = is_public;
    if (!is_public) {
        snprintf(pid, sizeof pid, "%d", s->facts.pid);
    }
    s->middle_len = (unsigned)snprintf(
        s->middle, sizeof s->middle,
        ",\"pid\":%s,\"workers\":%u,\"connections\":{\"active\":", pid,
        workers);
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

int rd_status_new(struct restd_server *server, uint32_t backlog, int is_public,
                  struct rd_status **status, struct restd_error *error)
{
    struct restd_stats stats;
    struct rd_status *s = NULL;
    restd_server_stats(server, &stats);
    int rc = status_map(server, stats.workers, &s);
    if (rc == 0) {
        rc = make_fields(&s->fields);
    }
    if (rc == 0) {
        status_start_facts(s, stats.workers, backlog, is_public);
        rd_host_init(&s->host, "");
        sample(s);
        rc = restd_timer_new(restd_server_control(server), SAMPLE_FIRST_MS,
                             SAMPLE_MS, on_sample, s, &s->timer);
    }
    if (rc < 0) {
        error->code = rc;
        error->os_errno = 0;
        snprintf(error->message, sizeof error->message,
                 "cannot start the sampler: %s", restd_strerror(rc));
        rd_status_free(s);
        return rc;
    }
    *status = s;
    return 0;
}

void rd_status_free(struct rd_status *status)
{
    if (status != NULL) {
        restd_timer_free(status->timer);
        restd_fields_free(status->fields);
        rd_host_fini(&status->host);
        munmap(status, status->map_size);
    }
}
