/* SPDX-License-Identifier: MIT */
/* What a handler sets of its response, and the head that comes of it.
 * Thread: [loop]. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <restd/http.h>
#include <restd/json.h>

#include "base/decimal.h"
#include "base/mem.h"
#include "base/slice.h"
#include "codec/field.h"
#include "http/h1_exchange.h"
#include "http/message.h"

#define DETAIL_MAX 256
#define PRINTF_MAX 16384

void rd_response_init(struct restd_response *response,
                      struct rd_chunk_pool *chunks, char *fields, char *stage,
                      size_t stage_size)
{
    response->status = 200;
    response->chunks = chunks;
    response->fields.text = fields;
    response->fields.len = 0;
    response->fields.kept_len = 0;
    response->fields.type_len = 0;
    response->borrowed_len = 0;
    response->stage = stage;
    response->stage_len = 0;
    response->stage_size = stage_size;
    memset(&response->chain, 0, sizeof(response->chain));
    response->request = NULL;
    response->stream = NULL;
}

static void drop_body(struct restd_response *response)
{
    if (response->stream) {
        rd_h1_stream_drop(response->stream);
        response->stream = NULL;
    }
    response->borrowed_len = 0;
    response->stage_len = 0;
    rd_chain_clear(&response->chain, response->chunks, RD_MEM_OUTPUT);
}

void restd_response_reset(struct restd_response *response)
{
    drop_body(response);
    response->status = 200;
    if (response->fields.kept_len > 0) {
        memcpy(response->fields.text, response->fields.kept,
               response->fields.kept_len);
    }
    response->fields.len = response->fields.kept_len;
    response->fields.type_len = 0;
}

uint64_t restd_response_body_len(const struct restd_response *response)
{
    return response->stream ? UINT64_MAX
                            : response->borrowed_len + response->stage_len +
                                  response->chain.len;
}

int restd_response_status(const struct restd_response *response)
{
    return response->status;
}

int restd_response_set_status(struct restd_response *response, int status)
{
    if (status < 200 || status > 599) {
        return RESTD_ERANGE;
    }
    response->status = status;
    return 0;
}

int restd_response_set_type(struct restd_response *response, const char *type)
{
    return rd_fields_set_type(&response->fields, rd_slice_str(type));
}

int restd_response_add_header(struct restd_response *response, const char *name,
                              const char *value)
{
    return rd_fields_add(&response->fields, rd_slice_str(name),
                         rd_slice_str(value));
}

int restd_response_set_header(struct restd_response *response, const char *name,
                              const char *value)
{
    /* Added first, so that an error leaves what was there. */
    size_t before = response->fields.len;
    struct restd_slice field = rd_slice_str(name);
    int rc = rd_fields_add(&response->fields, field, rd_slice_str(value));

    if (rc == 0 && response->fields.len > before) {
        struct rd_fields old = response->fields;
        old.len = before;
        rd_fields_remove(&old, field);
        memmove(old.text + old.len, old.text + before,
                response->fields.len - before);
        response->fields.len -= before - old.len;
    }
    return rc;
}

void restd_response_remove_header(struct restd_response *response,
                                  const char *name)
{
    rd_fields_remove(&response->fields, rd_slice_str(name));
}

struct restd_slice restd_response_header(const struct restd_response *response,
                                         const char *name)
{
    return rd_fields_get(&response->fields, rd_slice_str(name));
}

int restd_response_add_fields(struct restd_response *response,
                              const struct restd_fields *set)
{
    const struct rd_fields *from = &set->fields;

    return rd_fields_join(&response->fields, rd_slice(from->text, from->len),
                          rd_slice(from->type, from->type_len));
}

static int put(struct restd_response *response, const char *data, size_t len)
{
    size_t room =
        response->chain.len ? 0 : response->stage_size - response->stage_len;
    size_t staged = len < room ? len : room;

    memcpy(response->stage + response->stage_len, data, staged);
    response->stage_len += staged;
    return rd_chain_append(&response->chain, response->chunks, RD_MEM_OUTPUT,
                           data + staged, len - staged);
}

int restd_response_append(struct restd_response *response, const void *data,
                          size_t len)
{
    size_t borrowed = response->borrowed_len;

    if (response->stream) {
        return RESTD_ESTATE;
    }
    if (borrowed > 0) {
        response->borrowed_len = 0;
        int rc = put(response, response->borrowed, borrowed);
        if (rc != 0) {
            return rc;
        }
    }
    return len > 0 ? put(response, data, len) : 0;
}

int restd_response_body(struct restd_response *response, const void *data,
                        size_t len)
{
    drop_body(response);
    int rc = restd_response_append(response, data, len);
    if (rc != 0) {
        drop_body(response);
    }
    return rc;
}

int restd_response_json(struct restd_response *response,
                        const struct restd_json *json)
{
    long len = restd_json_finish(json);

    if (len < 0) {
        return RESTD_ELIMIT;
    }
    (void)restd_response_set_type(response, "application/json");
    return restd_response_body(response, json->buf, (size_t)len);
}

void restd_response_body_borrowed(struct restd_response *response,
                                  const void *data, size_t len)
{
    drop_body(response);
    response->borrowed = data;
    response->borrowed_len = len;
}

/* Apart, so that short texts do not pay for its stack. */
static RESTD_PRINTF(2, 0)
    __attribute__((noinline)) int append_long(struct restd_response *response,
                                              const char *format, va_list args)
{
    char text[PRINTF_MAX + 1];
    int n = vsnprintf(text, sizeof(text), format, args);

    return n < 0 || n > PRINTF_MAX
               ? RESTD_ELIMIT
               : restd_response_append(response, text, (size_t)n);
}

int restd_response_printf(struct restd_response *response, const char *format,
                          ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n < (int)sizeof(text)) {
        return n < 0 ? RESTD_ELIMIT
                     : restd_response_append(response, text, (size_t)n);
    }
    va_start(args, format);
    int rc = append_long(response, format, args);
    va_end(args);
    return rc;
}

int restd_response_redirect(struct restd_response *response, int status,
                            const char *location)
{
    if ((status < 301 || status > 303) && status != 307 && status != 308) {
        return RESTD_ERANGE;
    }
    int rc = restd_response_set_header(response, "Location", location);
    if (rc == 0) {
        response->status = status;
    }
    return rc;
}

int restd_response_problem(struct restd_response *response, int status,
                           const char *detail)
{
    char text[DETAIL_MAX * 6 + 256]; /* each octet may be escaped */
    struct restd_json json;
    const char *title = restd_status_phrase(status);

    int rc = restd_response_set_status(response, status);
    if (rc != 0) {
        return rc;
    }
    restd_json_init(&json, text, sizeof(text));
    restd_json_object_begin(&json);
    restd_json_key(&json, "type");
    restd_json_string(&json, "about:blank", strlen("about:blank"));
    restd_json_key(&json, "title");
    restd_json_string(&json, title, strlen(title));
    restd_json_key(&json, "status");
    restd_json_int(&json, status);
    if (detail) {
        restd_json_key(&json, "detail");
        restd_json_string(&json, detail, strnlen(detail, DETAIL_MAX));
    }
    restd_json_object_end(&json);
    rc = restd_response_json(response, &json);
    (void)restd_response_set_type(response, "application/problem+json");
    return rc != 0 ? rc : restd_response_append(response, "\n", 1);
}

#define PUT(p, literal)                                                        \
    (memcpy((p), (literal), sizeof(literal) - 1), (p) + sizeof(literal) - 1)

static char *put_status_line(char *p, int status)
{
    if (status == 200) {
        return PUT(p, "HTTP/1.1 200 OK\r\n");
    }
    const char *phrase = restd_status_phrase(status);
    size_t len = strlen(phrase);
    p = PUT(p, "HTTP/1.1 ");
    p += rd_decimal_u64(p, (uint64_t)status);
    *p++ = ' ';
    memcpy(p, phrase, len);
    return PUT(p + len, "\r\n");
}

size_t rd_response_head(const struct restd_response *response,
                        const struct rd_response_framing *framing, char *out)
{
    uint64_t body_len = restd_response_body_len(response);
    char *p = put_status_line(out, response->status);

    memcpy(p, framing->date, RD_DATE_LINE_LEN);
    p += RD_DATE_LINE_LEN;
    if (response->fields.type_len > 0) {
        p = PUT(p, "Content-Type: ");
        memcpy(p, response->fields.type, response->fields.type_len);
        p = PUT(p + response->fields.type_len, "\r\n");
    } else if (body_len > 0) {
        p = PUT(p, "Content-Type: text/plain\r\n");
    }
    /* RFC 9110 8.6: none with 204; 304 would need that of the 200. */
    if (response->status == 205) {
        p = PUT(p, "Content-Length: 0\r\n");
    } else if (response->stream) {
        if (framing->chunked) {
            p = PUT(p, "Transfer-Encoding: chunked\r\n");
        }
    } else if (response->status != 204 && response->status != 304) {
        p = PUT(p, "Content-Length: ");
        p += rd_decimal_u64(p, body_len);
        p = PUT(p, "\r\n");
    }
    memcpy(p, response->fields.text, response->fields.len);
    p += response->fields.len;
    if (framing->close) {
        p = PUT(p, "Connection: close\r\n");
    } else if (framing->keep_alive) {
        p = PUT(p, "Connection: keep-alive\r\n");
    }
    p = PUT(p, "\r\n");
    return (size_t)(p - out);
}
