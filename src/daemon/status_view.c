/* SPDX-License-Identifier: MIT */
/* The handler of /status, and who is told what.
 *
 * Each loop has a place of its own with the fragments that it took last and the
 * summary of this turn, which every further request of the turn gets unchanged:
 * once as private and once as public requests see it. Rendering one is copying
 * six constant pieces and writing six numbers: no printf, no lock, no
 * allocation, two clock reads (one of them coarse).
 *
 * View and places are one anonymous mapping. Where a full document is rendered
 * is mapped when one is asked for, and grows with it; the library has copied or
 * sent a content before it calls the handler again.
 * Threads: see status.h; a place is its loop's alone.
 */
#include "daemon/status.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <restd/restd.h>

#include "daemon/clock.h"
#include "daemon/fault.h"
#include "daemon/status_json.h"

enum { FULL_FIRST_BYTES = 16384, FULL_MAX_BYTES = 1 << 20 };

/* The summary, as one kind of requests sees it. */
struct rendering {
    alignas(64) uint64_t turn; /* the turn of `body` */
    uint64_t generation;       /* of the fragments in head, middle and tail */
    int64_t second;            /* of the time in head */
    int state;                 /* as head has it */
    unsigned head_len, middle_len, tail_len, body_len;
    char head[320];  /* up to the seconds of the time and the point */
    char middle[96]; /* from pid to connections.active */
    char tail[320];  /* from per_second to the newline */
    char body[1024];
};

enum { PRIVATE, PUBLIC };

/* A loop counts its turns from 0. */
#define NO_TURN UINT64_MAX

struct place {
    struct rendering renderings[2];
    uint64_t generation; /* of the fragments */
    char fragments[RD_STATUS_SUMMARY_MAX + 1];
    char *full; /* NULL: nobody has asked for one */
    size_t full_size;
};

struct rd_status_view {
    const struct rd_status_shown *shown;
    struct place *places;
    unsigned places_n;
    uint8_t is_special;   /* is_guarded or is_full */
    uint8_t is_guarded;   /* some requests are public */
    uint8_t is_full;      /* by default */
    uint8_t is_anonymous; /* nothing about the host */
    const struct restd_networks *allow;
    const char *private_end; /* of the names behind this struct */
    size_t map_size;
};

/* --- who is told what ---------------------------------------------------- */

static int is_of_private_listener(const struct rd_status_view *view,
                                  struct restd_slice name)
{
    const char *at = (const char *)(view + 1);
    for (; at < view->private_end; at += strlen(at) + 1) {
        if (restd_slice_is(name, at)) {
            return 1;
        }
    }
    return 0;
}

int rd_status_view_is_private(const struct rd_status_view *view,
                              const struct restd_request *request)
{
    if (!view->is_guarded) {
        return 1;
    }
    if (view->allow != NULL) {
        return restd_networks_contains(view->allow, request);
    }
    return is_of_private_listener(view, restd_request_listener(request));
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

static void take_fragments(const struct rd_status_view *view,
                           struct place *place)
{
    char fragments[sizeof place->fragments];
    long len = rd_publish_read(&view->shown->summary, fragments,
                               sizeof fragments, &place->generation);
    if (len >= 0) { /* else lapped: those of before are good for a turn */
        memcpy(place->fragments, fragments, (size_t)len + 1);
    }
}

/* Renews what changes once a second at most: head, middle and tail. */
static void refresh(const struct rd_status_view *view, struct place *place,
                    struct rendering *r, int64_t second, enum restd_state state)
{
    char time[40], pid[16] = "null";
    struct restd_json json;
    int is_public = r == &place->renderings[PUBLIC];
    int tells_host = !is_public && !view->is_anonymous;
    take_fragments(view, place);
    const char *word = place->fragments;
    const char *host = word + strlen(word) + 1;
    const char *workers = host + strlen(host) + 1;
    const char *rates = workers + strlen(workers) + 1;
    const char *load = rates + strlen(rates) + 1;

    restd_json_init(&json, time, sizeof time);
    restd_json_time(&json, second * 1000);
    long len = restd_json_finish(&json);
    if (!is_public) {
        snprintf(pid, sizeof pid, "%d", view->shown->facts.pid);
    }
    r->generation = place->generation;
    r->second = second;
    r->state = (int)state;
    /* The time is cut before "000Z" and its quote, of its 26 bytes. */
    r->head_len = (unsigned)snprintf(
        r->head, sizeof r->head,
        "{\"status\":\"%s\",\"state\":\"%s\",\"service\":\"restdaemon\","
        "\"version\":\"%s\",\"host\":%s,\"time\":%.*s",
        word, restd_state_name(state), restd_version(),
        tells_host ? host : "null", len > 5 ? (int)len - 5 : 0, time);
    r->middle_len = (unsigned)snprintf(
        r->middle, sizeof r->middle,
        ",\"pid\":%s,\"workers\":%s,\"connections\":{\"active\":", pid,
        workers);
    r->tail_len =
        (unsigned)snprintf(r->tail, sizeof r->tail, ",%s,\"load\":%s}\n", rates,
                           tells_host ? load : "null");
}

static void render(const struct rd_status_view *view, struct place *place,
                   struct rendering *r)
{
    const struct rd_status_facts *facts = &view->shown->facts;
    struct restd_counters c;
    struct timespec now;
    enum restd_state state = restd_server_state(facts->server);
    clock_gettime(CLOCK_REALTIME, &now);
    restd_server_counters(facts->server, &c);
    if (r->second != now.tv_sec || r->state != (int)state ||
        r->generation != rd_publish_generation(&view->shown->summary)) {
        refresh(view, place, r, now.tv_sec, state);
    }
    uint64_t mono_ms = (uint64_t)rd_clock_ms(CLOCK_MONOTONIC_COARSE);
    uint64_t up_ms = mono_ms > facts->started_mono_ms
                         ? mono_ms - facts->started_mono_ms
                         : 0; /* the coarse clock is up to a tick behind */
    unsigned ms = (unsigned)(now.tv_nsec / 1000000);

    char *p = put(r->body, r->head, r->head_len);
    *p++ = (char)('0' + ms / 100);
    *p++ = (char)('0' + ms / 10 % 10);
    *p++ = (char)('0' + ms % 10);
    p = PUT(p, "Z\",\"uptime_seconds\":");
    p = put_number(p, up_ms / 1000);
    p = put(p, r->middle, r->middle_len);
    p = put_number(p, c.active);
    p = PUT(p, ",\"accepted\":");
    p = put_number(p, c.accepted);
    p = PUT(p, "},\"requests\":{\"total\":");
    p = put_number(p, c.requests);
    p = PUT(p, ",\"active\":");
    p = put_number(p, c.requests_active);
    p = put(p, r->tail, r->tail_len);
    r->body_len = (unsigned)(p - r->body);
}

static int handle_summary(const struct rd_status_view *view,
                          struct place *place, int kind, uint64_t turn,
                          struct restd_response *response)
{
    struct rendering *r = &place->renderings[kind];
    if (r->turn != turn) {
        render(view, place, r);
        r->turn = turn;
    }
    restd_response_body_borrowed(response, r->body, r->body_len);
    return 0;
}

/* --- full document ------------------------------------------------------- */

/* The first room for a document, or twice as much as there is. */
static int place_grow(struct place *place)
{
    size_t size = place->full_size * 2;
    char *room = MAP_FAILED;
    if (place->full == NULL) {
        size = FULL_FIRST_BYTES;
        room = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    } else if (size <= FULL_MAX_BYTES) {
        room = mremap(place->full, place->full_size, size, MREMAP_MAYMOVE);
    }
    if (room == MAP_FAILED) {
        return RESTD_ENOMEM;
    }
    place->full = room;
    place->full_size = size;
    return 0;
}

static int handle_full(const struct rd_status_view *view, struct place *place,
                       struct restd_response *response)
{
    char sample[RD_PUBLISH_MAX_BYTES + 1], config[RD_PUBLISH_MAX_BYTES + 1];
    uint64_t generation;
    long len = RESTD_ELIMIT;
    if (rd_publish_read(&view->shown->full, sample, sizeof sample,
                        &generation) < 0 ||
        rd_publish_read(&view->shown->config, config, sizeof config,
                        &generation) < 0) {
        return RESTD_EAGAIN;
    }
    while (len == RESTD_ELIMIT) {
        if (place->full != NULL) {
            len = rd_status_json_full(&view->shown->facts, sample, config,
                                      !view->is_anonymous, place->full,
                                      place->full_size);
        }
        if (len == RESTD_ELIMIT && place_grow(place) != 0) {
            return RESTD_ENOMEM;
        }
    }
    restd_response_body_borrowed(response, place->full, (size_t)len);
    return 0;
}

/* --- handler ------------------------------------------------------------- */

static int wants_full(const struct rd_status_view *view,
                      const struct restd_request *request)
{
    struct restd_slice detail = restd_request_query_get(request, "detail");
    return view->is_full ? !restd_slice_is(detail, "summary")
                         : restd_slice_is(detail, "full");
}

/* Out of line, so that its buffers cost the common case nothing. */
static int handle_rare(struct rd_status_view *view, struct place *place,
                       struct restd_request *request,
                       struct restd_response *response)
    __attribute__((noinline));

static int handle_rare(struct rd_status_view *view, struct place *place,
                       struct restd_request *request,
                       struct restd_response *response)
{
    int is_private = rd_status_view_is_private(view, request);
    return is_private && wants_full(view, request)
               ? handle_full(view, place, response)
               : handle_summary(view, place, is_private ? PRIVATE : PUBLIC,
                                restd_request_turn(request), response);
}

int rd_status_handle(struct restd_request *request,
                     struct restd_response *response, void *data)
{
    struct rd_status_view *view = data;
    unsigned worker = restd_request_worker(request);
    if (worker >= view->places_n) {
        return RESTD_ESTATE;
    }
    struct place *place = &view->places[worker];
    restd_response_add_fields(response, view->shown->fields);
    if (view->is_special || restd_request_query(request).data != NULL) {
        return handle_rare(view, place, request, response);
    }
    return handle_summary(view, place, PRIVATE, restd_request_turn(request),
                          response);
}

/* --- life ---------------------------------------------------------------- */

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

static size_t names_size(const struct rd_status_view_options *options)
{
    size_t size = 0;
    for (unsigned i = 0; i < options->private_n; i++) {
        size += strlen(options->private_listeners[i]) + 1;
    }
    return size;
}

static void copy_names(struct rd_status_view *view,
                       const struct rd_status_view_options *options)
{
    char *to = (char *)(view + 1);
    for (unsigned i = 0; i < options->private_n; i++) {
        to = put(to, options->private_listeners[i],
                 strlen(options->private_listeners[i]) + 1);
    }
    view->private_end = to;
}

int rd_status_view_new(const struct rd_status *status,
                       const struct rd_status_view_options *options,
                       struct rd_status_view **view, struct restd_error *error)
{
    size_t own =
        round_up(sizeof **view + names_size(options), alignof(struct place));
    size_t size = own + options->places * sizeof(struct place);
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        return rd_fault(error, RESTD_ENOMEM, "no memory for /status");
    }
    struct rd_status_view *v = (struct rd_status_view *)(void *)map;
    v->shown = rd_status_shown(status);
    v->places = (struct place *)(void *)(map + own);
    v->places_n = options->places;
    v->is_guarded = options->allow != NULL || options->is_guarded;
    v->is_full = options->full != 0;
    v->is_special = v->is_guarded || v->is_full;
    v->is_anonymous = !options->host;
    v->allow = options->allow;
    v->map_size = size;
    for (unsigned i = 0; i < v->places_n; i++) {
        v->places[i].renderings[PRIVATE].turn = NO_TURN;
        v->places[i].renderings[PUBLIC].turn = NO_TURN;
    }
    copy_names(v, options);
    *view = v;
    return 0;
}

void rd_status_view_free(struct rd_status_view *view)
{
    if (view == NULL) {
        return;
    }
    for (unsigned i = 0; i < view->places_n; i++) {
        if (view->places[i].full != NULL) {
            munmap(view->places[i].full, view->places[i].full_size);
        }
    }
    munmap(view, view->map_size);
}
