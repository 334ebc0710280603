/* SPDX-License-Identifier: MIT */
/* Server-Sent Events, WHATWG HTML section 9.2: a streamed reply whose pieces
 * are events, each sent whole or not at all. Thread: [loop]. */
#include <string.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "http/h1.h"

#define EVENT_MAX 16384u

int restd_response_events(struct restd_response *response,
                          const struct restd_stream_ops *ops, void *data,
                          uint32_t keepalive_ms, struct restd_stream **out)
{
    (void)restd_response_set_type(response, "text/event-stream");
    int rc = restd_response_set_header(response, "Cache-Control", "no-store");

    if (rc == 0) {
        rc = restd_response_stream(response, ops, data, out);
    }
    if (rc == 0) {
        response->stream->events = 1;
        response->stream->keepalive_ms = keepalive_ms;
    }
    return rc;
}

struct text {
    size_t len;
    int overflow;
    char buf[EVENT_MAX];
};

static void put(struct text *text, const char *data, size_t len)
{
    if (len > sizeof(text->buf) - text->len) {
        text->overflow = 1;
        return;
    }
    memcpy(text->buf + text->len, data, len);
    text->len += len;
}

static void put_line(struct text *text, const char *name, const char *value,
                     size_t len)
{
    put(text, name, strlen(name));
    put(text, ": ", 2);
    put(text, value, len);
    put(text, "\n", 1);
}

/* A line of its own for each line; CR, LF and CRLF end one. */
static void put_data(struct text *text, const char *data)
{
    for (;;) {
        size_t len = strcspn(data, "\r\n");
        put_line(text, "data", data, len);
        data += len;
        if (*data == '\0') {
            return;
        }
        data += data[0] == '\r' && data[1] == '\n' ? 2 : 1;
    }
}

int restd_stream_event(struct restd_stream *stream,
                       const struct restd_event *event)
{
    struct text text;
    char number[RD_DECIMAL_MAX];

    if ((event->id && event->id[strcspn(event->id, "\r\n")]) ||
        (event->event && event->event[strcspn(event->event, "\r\n")])) {
        return RESTD_EINVAL;
    }
    text.len = 0;
    text.overflow = 0;
    if (event->retry_ms) {
        put_line(&text, "retry", number,
                 rd_decimal_u64(number, event->retry_ms));
    }
    if (event->id) {
        put_line(&text, "id", event->id, strlen(event->id));
    }
    if (event->event) {
        put_line(&text, "event", event->event, strlen(event->event));
    }
    if (event->data) {
        put_data(&text, event->data);
    }
    put(&text, "\n", 1);
    return text.overflow ? RESTD_ELIMIT
                         : rd_stream_write_all(stream, text.buf, text.len);
}
