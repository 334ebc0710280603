/* SPDX-License-Identifier: MIT */
/* Server-Sent Events: GET /clock has the time each second (?every=N: each N
 * seconds), / a page that shows it. An event's id is its time, so a client that
 * comes back with Last-Event-ID first gets what it has missed. */
#include "example.h"

#include <time.h>

enum { KEEPALIVE_MS = 2000, MISSED_MAX = 60 };

static const char page[] =
    "<!DOCTYPE html>\n<title>Clock</title>\n<h1 id=clock>...</h1>\n"
    "<script>\nnew EventSource('/clock').addEventListener('time', e => {\n"
    "    document.getElementById('clock').textContent = e.data;\n"
    "});\n</script>\n";

struct clock {
    struct restd_stream *stream;
    struct restd_timer *timer;
    int64_t last, every; /* id of the last event sent; both in s */
};

/* Sends what is due; what a slow client has no room for is due next time. */
static void tick(struct restd_timer *timer, void *data)
{
    struct clock *clock = data;
    int64_t now = (int64_t)time(NULL);

    (void)timer;
    for (; clock->last + clock->every <= now; clock->last += clock->every) {
        time_t when = (time_t)(clock->last + clock->every);
        char id[24], text[32];
        struct tm utc;
        struct restd_event event = {id, "time", text, 1000};
        snprintf(id, sizeof(id), "%lld", (long long)when);
        strftime(text, sizeof(text), "%FT%TZ", gmtime_r(&when, &utc));
        if (restd_stream_event(clock->stream, &event) != 0) {
            break;
        }
    }
}

static void closed(struct restd_stream *stream, int complete, void *data)
{
    struct clock *clock = data;

    (void)stream, (void)complete;
    restd_timer_free(clock->timer);
    free(clock);
}

/* The text as a number from 1 to `max`, or `without`. */
static int64_t number(struct restd_slice text, int64_t max, int64_t without)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%.*s", (int)text.len, text.data);
    long long value = strtoll(digits, NULL, 10);
    return value >= 1 && value <= max ? value : without;
}

static int clock_start(struct restd_request *request,
                       struct restd_response *response, void *data)
{
    static const struct restd_stream_ops ops = {sizeof(ops), NULL, closed};
    struct clock *clock = calloc(1, sizeof(*clock));
    int64_t now = (int64_t)time(NULL);

    (void)data;
    if (clock == NULL) {
        return RESTD_ENOMEM;
    }
    clock->every = number(restd_request_query_get(request, "every"), 3600, 1);
    clock->last =
        number(restd_request_header(request, "Last-Event-ID"), now, 0);
    if (clock->last == 0) {
        clock->last = now - clock->every;
    } else if (clock->last < now - MISSED_MAX) {
        clock->last = now - MISSED_MAX;
    }
    /* At once for what is due now, then all 250 ms, for what is due then. */
    int rc = restd_timer_new(restd_request_loop(request), 0, 250, tick, clock,
                             &clock->timer);
    if (rc == 0) {
        rc = restd_response_events(response, &ops, clock, KEEPALIVE_MS,
                                   &clock->stream);
    }
    if (rc != 0) {
        closed(NULL, 0, clock);
    }
    return rc;
}

static int index_page(struct restd_request *request,
                      struct restd_response *response, void *data)
{
    (void)request, (void)data;
    restd_response_set_type(response, "text/html; charset=utf-8");
    return restd_response_body_static(response, page, sizeof(page) - 1);
}

int main(int argc, char **argv)
{
    static const struct example_route routes[] = {
        {"GET", "/", index_page, NULL},
        {"GET", "/clock", clock_start, NULL},
    };

    return example_main(routes, EXAMPLE_N(routes), argc, argv);
}
