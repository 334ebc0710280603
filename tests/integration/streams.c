/* SPDX-License-Identifier: MIT */
/* Handlers that stream, see streams.h: each does all that its query says, and
 * counts what it is told in `seen`. Thread: the loops', one server at a
 * time. */
#include "streams.h"

#include <stdlib.h>
#include <string.h>

#include "site.h"

/* A streamed reply that sends `len` bytes of the pattern. What else it does
 * stands in the query of its request. */
struct job {
    struct restd_stream *stream;
    struct restd_timer *timer;
    uint64_t at, len;
    size_t piece;
    int hold; /* not ended by itself */
    int abort_at_end, in_timer, misuse;
};

/* Of a stream that another one's call-backs end. */
static struct job *waiting;

static void job_fill(struct job *job)
{
    /* A chunk of no bytes would be the end of the content. */
    if (restd_stream_write(job->stream, "", 0) > 0) {
        atomic_fetch_add(&seen.errors, 1);
    }
    while (job->at < job->len) {
        size_t n = job->piece < job->len - job->at
                       ? job->piece
                       : (size_t)(job->len - job->at);
        long rc =
            restd_stream_write(job->stream, pattern + job->at % PERIOD, n);
        if (rc == RESTD_EAGAIN || rc == RESTD_ECLOSED) {
            return;
        }
        if (rc < 1 || rc > (long)n) {
            atomic_fetch_add(&seen.errors, 1);
            return;
        }
        job->at += (uint64_t)rc;
    }
    if (job->abort_at_end) {
        restd_stream_abort(job->stream);
        restd_stream_abort(job->stream);
    } else if (!job->hold) {
        restd_stream_end(job->stream);
        restd_stream_end(job->stream);
    }
    if (!job->hold &&
        restd_stream_write(job->stream, "x", 1) != RESTD_ECLOSED) {
        atomic_fetch_add(&seen.errors, 1);
    }
}

static void timer_due(struct restd_timer *timer, void *data)
{
    struct job *job = data;

    restd_timer_free(timer);
    job->timer = NULL;
    job->in_timer = 0;
    job_fill(job);
}

static void job_ready(struct restd_stream *stream, void *data)
{
    struct job *job = data;

    if (stream != job->stream) {
        atomic_fetch_add(&seen.errors, 1);
    }
    if (!job->in_timer) {
        job_fill(job);
    }
}

static void job_closed(struct restd_stream *stream, int complete, void *data)
{
    struct job *job = data;

    if (job->misuse) {
        /* Its lifetime is to the return of this call. */
        restd_stream_abort(stream);
        restd_stream_end(stream);
        if (restd_stream_write(stream, "x", 1) != RESTD_ECLOSED) {
            atomic_fetch_add(&seen.errors, 1);
        }
    }
    if (waiting == job) {
        waiting = NULL;
    }
    restd_timer_free(job->timer);
    free(job);
    atomic_fetch_add(&seen.complete, complete);
    atomic_fetch_add(&seen.closed, 1);
}

static const struct restd_stream_ops ops = {sizeof(ops), job_ready, job_closed};

static int add_trailers(const struct restd_request *request,
                        struct restd_stream *stream)
{
    static const char *const bad[][2] = {
        {"", "x"},           {"a b", "x"},  {"A", "x\r\nB: y"},
        {"A", "\x01"},       {"A:", "x"},   {"Content-Length", "1"},
        {"Connection", "x"}, {"date", "x"}, {"Transfer-Encoding", "x"},
    };
    char value[200];
    int n = 0;

    if (!query_has(request, "trailers")) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (restd_stream_trailer(stream, bad[i][0], bad[i][1]) !=
            RESTD_EINVAL) {
            return RESTD_ESTATE;
        }
    }
    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    if (restd_stream_trailer(stream, "X-One", "1") != 0) {
        return RESTD_ESTATE;
    }
    /* 10 bytes so far; 199 + 7 with each of these: four fit into 1,024. */
    while (restd_stream_trailer(stream, "X-V", value) == 0) {
        n++;
    }
    return n == 4 &&
                   restd_stream_trailer(stream, "X-V", value) == RESTD_ELIMIT &&
                   restd_stream_trailer(stream, "X-Two", "") == 0
               ? 0
               : RESTD_ESTATE;
}

static int start_timer(const struct restd_request *request, struct job *job)
{
    if (!query_has(request, "timer")) {
        return 0;
    }
    job->in_timer = 1;
    return restd_timer_new(restd_request_loop(request), 10, 0, timer_due, job,
                           &job->timer);
}

static int make_stream(struct restd_request *request,
                       struct restd_response *response)
{
    struct job *job = calloc(1, sizeof(*job));

    if (!job) {
        return RESTD_ENOMEM;
    }
    job->len = query_number(request, "len", 0);
    job->piece = (size_t)query_number(request, "piece", 1000);
    job->hold = query_has(request, "hold");
    job->abort_at_end = query_has(request, "abort");
    job->misuse = query_has(request, "misuse");
    int rc = restd_response_stream(response, &ops, job, &job->stream);
    if (rc != 0) {
        free(job);
        return rc;
    }
    if (query_has(request, "waiting")) {
        waiting = job;
    }
    if (restd_stream_loop(job->stream) != restd_request_loop(request) ||
        restd_stream_write(job->stream, "x", 1) != RESTD_EAGAIN ||
        restd_response_body_len(response) != UINT64_MAX ||
        restd_response_printf(response, "x") != RESTD_ESTATE ||
        restd_response_stream(response, &ops, job, NULL) != RESTD_ESTATE) {
        atomic_fetch_add(&seen.errors, 1);
    }
    rc = add_trailers(request, job->stream);
    if (rc == 0) {
        rc = start_timer(request, job);
    }
    if (query_has(request, "ended")) {
        restd_stream_end(job->stream);
    }
    if (query_has(request, "aborted")) {
        restd_stream_abort(job->stream);
    }
    return rc;
}

static int stream_handler(struct restd_request *request,
                          struct restd_response *response, void *data)
{
    (void)data;
    int rc = restd_response_set_status(
        response, (int)query_number(request, "status", 200));
    if (rc == 0) {
        rc = restd_response_set_type(response, "application/x-pattern");
    }
    if (rc == 0) {
        rc = make_stream(request, response);
    }
    if (rc == 0 && query_has(request, "dropped")) {
        rc = restd_response_body(response, "instead", 7);
    }
    if (rc == 0 && query_has(request, "fails")) {
        rc = RESTD_EINVAL;
    }
    return rc;
}

/* Ends the stream that waits, from within the handler of another request. */
static int release_handler(struct restd_request *request,
                           struct restd_response *response, void *data)
{
    (void)data;
    if (waiting) {
        waiting->hold = 0;
        waiting->len = query_number(request, "len", waiting->len);
        waiting->abort_at_end = query_has(request, "abort");
        job_fill(waiting);
    }
    return restd_response_body(response, "released", 8);
}

static int plain_handler(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    (void)request;
    (void)data;
    return restd_response_body(response, "plain", 5);
}

void streams_add(void)
{
    waiting = NULL;
    site_add("GET", "/stream", stream_handler, 0, 0);
    site_add("POST", "/stream", stream_handler, 0, 0);
    site_add("GET", "/release", release_handler, 0, 0);
    site_add("GET", "/plain", plain_handler, 0, 0);
}
