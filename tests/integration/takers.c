/* SPDX-License-Identifier: MIT */
/* Handlers that take contents piece by piece, see takers.h: each does all that
 * its query says, and counts what it is told in `seen`. Thread: the loops',
 * one server at a time. */
#include "takers.h"

#include <stdlib.h>
#include <string.h>

#include "site.h"

/* A taker; what it does stands in the query of its request. */
struct taker {
    struct restd_upload *upload;
    struct restd_stream *stream;
    struct restd_timer *timer;
    struct restd_loop *loop;
    uint64_t len, bad;
    uint64_t fail_at; /* with the piece that reaches it */
    int fail;
    int pause; /* in each piece, until a timer */
    int paused;
    int end_fails, misuse;
    int refs;
    int all;              /* echo: the content is complete */
    size_t kept, kept_at; /* echo: what the client has not taken */
    char keep[65536];
};

atomic_ullong taken;
atomic_int gate;

static void resume_due(struct restd_timer *timer, void *data)
{
    struct taker *t = data;

    if (t->paused == 2 && !atomic_load(&gate)) {
        return;
    }
    restd_timer_free(timer);
    t->timer = NULL;
    t->paused = 0;
    restd_upload_resume(t->upload);
}

static int hold(struct taker *t, int by_gate)
{
    t->paused = by_gate ? 2 : 1;
    restd_upload_pause(t->upload);
    return restd_timer_new(t->loop, 1, by_gate ? 2 : 0, resume_due, t,
                           &t->timer);
}

/* Pauses at gate 1, resumes at gate 2: both from outside of `content`. */
static void gate_turned(struct restd_timer *timer, void *data)
{
    struct taker *t = data;
    int at = atomic_load(&gate);

    (void)timer;
    if (at == 1 && !t->paused) {
        t->paused = 1;
        restd_upload_pause(t->upload);
        atomic_store(&seen.last, 1);
    } else if (at == 2 && t->paused) {
        t->paused = 0;
        restd_upload_resume(t->upload);
    }
}

static int take_piece(struct restd_upload *upload, const char *bytes,
                      size_t len, void *data)
{
    struct taker *t = data;

    if (upload != t->upload || len == 0 || t->paused) {
        atomic_fetch_add(&seen.errors, 1);
    }
    for (size_t i = 0; i < len; i++) {
        t->bad += bytes[i] != (char)((t->len + i) % PERIOD);
    }
    t->len += len;
    atomic_fetch_add(&taken, len);
    if (t->fail != 0 && t->len >= t->fail_at) {
        return t->fail;
    }
    return t->pause ? hold(t, 0) : 0;
}

static int take_end(struct restd_request *request,
                    struct restd_response *response, void *data)
{
    struct taker *t = data;

    if (restd_request_body(request).len != 0 ||
        restd_request_receive(request, NULL, NULL, NULL) != RESTD_ESTATE) {
        atomic_fetch_add(&seen.errors, 1);
    }
    if (t->end_fails) {
        return -t->end_fails;
    }
    int rc = restd_response_set_status(response, 201);
    if (rc != 0) {
        return rc;
    }
    struct restd_slice path = restd_request_path(request);
    return restd_response_printf(response, "%.*s %llu %llu", (int)path.len,
                                 path.data, (unsigned long long)t->len,
                                 (unsigned long long)t->bad);
}

static void take_closed(int complete, void *data)
{
    struct taker *t = data;

    if (t->misuse) {
        restd_upload_pause(t->upload);
        restd_upload_resume(t->upload);
    }
    restd_timer_free(t->timer);
    free(t);
    atomic_fetch_add(&seen.uploads_complete, complete);
    atomic_fetch_add(&seen.uploads, 1);
}

static const struct restd_upload_ops take_ops = {sizeof(take_ops), take_piece,
                                                 take_end, take_closed};
static const struct restd_upload_ops endless_ops = {
    sizeof(endless_ops), take_piece, NULL, take_closed};

static int receive(struct restd_request *request,
                   const struct restd_upload_ops *ops, struct taker **taker)
{
    struct taker *t = calloc(1, sizeof(*t));

    if (!t) {
        return RESTD_ENOMEM;
    }
    t->loop = restd_request_loop(request);
    t->fail = -(int)query_number(request, "fail", 0);
    t->fail_at = query_number(request, "at", 0);
    t->pause = query_has(request, "pause");
    t->end_fails = (int)query_number(request, "end", 0);
    t->misuse = query_has(request, "misuse");
    int rc = restd_request_receive(request, ops, t, &t->upload);
    if (rc != 0) {
        free(t);
        return rc;
    }
    *taker = t;
    if (restd_request_receive(request, ops, t, NULL) != RESTD_ESTATE ||
        restd_request_body(request).len != 0) {
        atomic_fetch_add(&seen.errors, 1);
    }
    return 0;
}

static int take_handler(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    struct taker *t = NULL;
    (void)data;

    if (query_has(request, "refuse")) {
        return restd_response_problem(response, 403, "not you");
    }
    int rc = receive(
        request, query_has(request, "endless") ? &endless_ops : &take_ops, &t);
    if (rc == 0 && query_has(request, "gate")) {
        rc = hold(t, 1);
    }
    if (rc == 0 && query_has(request, "turned")) {
        rc = restd_timer_new(t->loop, 1, 2, gate_turned, t, &t->timer);
    }
    if (rc == 0 && query_has(request, "body")) {
        /* Not to be seen, and not to be left behind. */
        rc = restd_response_body(response, pattern, 100000);
    }
    return rc == 0 ? -(int)query_number(request, "error", 0) : rc;
}

static int plain_handler(struct restd_request *request,
                         struct restd_response *response, void *data)
{
    struct restd_slice body = restd_request_body(request);
    struct taker *t = NULL;
    (void)data;

    /* Its content is whole: there is nothing to take. */
    if (receive(request, &take_ops, &t) != RESTD_ESTATE) {
        return RESTD_ESTATE;
    }
    return restd_response_printf(response, "plain %zu", body.len);
}

/* --- the echo -------------------------------------------------------------- */

static void echo_flush(struct taker *t)
{
    while (t->kept > 0) {
        long n = restd_stream_write(t->stream, t->keep + t->kept_at, t->kept);
        if (n < 0) {
            return;
        }
        t->kept_at += (size_t)n;
        t->kept -= (size_t)n;
    }
    t->kept_at = 0;
    if (t->all) {
        restd_stream_end(t->stream);
        return;
    }
    if (t->paused) {
        t->paused = 0;
        restd_upload_resume(t->upload);
    }
}

static void echo_ready(struct restd_stream *stream, void *data)
{
    (void)stream;
    echo_flush(data);
}

static int echo_piece(struct restd_upload *upload, const char *bytes,
                      size_t len, void *data)
{
    struct taker *t = data;

    if (t->paused || t->kept > 0 || len > sizeof(t->keep)) {
        atomic_fetch_add(&seen.errors, 1);
        return RESTD_ESTATE;
    }
    t->len += len;
    memcpy(t->keep, bytes, len);
    t->kept = len;
    echo_flush(t);
    if (t->kept > 0) {
        t->paused = 1;
        restd_upload_pause(upload);
    }
    return t->fail != 0 && t->len >= t->fail_at ? t->fail : 0;
}

/* Its two ends share the taker. */
static void echo_unref(struct taker *t)
{
    if (--t->refs == 0) {
        free(t);
    }
}

static void echo_stream_closed(struct restd_stream *stream, int complete,
                               void *data)
{
    (void)stream;
    echo_unref(data);
    atomic_fetch_add(&seen.complete, complete);
    atomic_fetch_add(&seen.closed, 1);
}

static void echo_upload_closed(int complete, void *data)
{
    struct taker *t = data;

    t->all = 1;
    if (complete && t->kept == 0) {
        restd_stream_end(t->stream);
    }
    echo_unref(t);
    atomic_fetch_add(&seen.uploads_complete, complete);
    atomic_fetch_add(&seen.uploads, 1);
}

static int echo_handler(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    static const struct restd_stream_ops out = {sizeof(out), echo_ready,
                                                echo_stream_closed};
    static const struct restd_upload_ops in = {sizeof(in), echo_piece, NULL,
                                               echo_upload_closed};
    struct taker *t = NULL;
    (void)data;

    int rc = receive(request, &in, &t);
    if (rc != 0) {
        return rc;
    }
    t->refs = 1;
    rc = restd_response_stream(response, &out, t, &t->stream);
    if (rc == 0) {
        t->refs = 2;
        rc = -(int)query_number(request, "error", 0);
    }
    return rc;
}

void takers_add(void)
{
    atomic_store(&taken, 0);
    atomic_store(&gate, 0);
    site_add("POST", "/take", take_handler, 1, 0);
    site_add("GET", "/take", take_handler, 1, 0);
    site_add("POST", "/big", take_handler, 1, 100u * 1024 * 1024);
    site_add("POST", "/little", take_handler, 1, 1000);
    site_add("POST", "/echo", echo_handler, 1, 100u * 1024 * 1024);
    site_add("POST", "/plain", plain_handler, 0, 0);
    site_add("GET", "/plain", plain_handler, 0, 0);
}
