/* SPDX-License-Identifier: MIT */
/* The reply with an open file: validators, preconditions in the order of
 * RFC 9110 section 13.2.2, then the whole of it, a range, or several.
 *
 * Several ranges are chunks of one chain: heads of the parts as copies, parts
 * as references to one descriptor, which goes with the closing delimiter,
 * whether that was sent or not. Thread: [loop]. */
#include "plugins/files.h"

#include <string.h>

#include "base/clock.h"
#include "base/decimal.h"
#include "base/slice.h"
#include "codec/date.h"
#include "codec/etag.h"
#include "codec/range.h"
#include "http/message.h"
#include "net/file.h"
#include "net/reactor.h"
#include "plugins/random.h"

#define RANGES_MAX 16u
#define ETAG_MAX 56u
#define BOUNDARY_LEN 32u
/* A part that takes no more than a reference to it would. */
#define PART_COPY_MAX 1024u
#define CONTENT_RANGE_MAX 96u

struct validators {
    struct restd_slice etag;
    int64_t modified, now;
    char text[ETAG_MAX];
};

/* Text that is laid out piece by piece in a buffer known to be large enough. */
static char *put(char *p, const char *text)
{
    size_t len = strlen(text);
    memcpy(p, text, len);
    return p + len;
}

static char *put_hex(char *p, uint64_t value)
{
    int shift = 60;

    while (shift > 0 && value >> shift == 0) {
        shift -= 4;
    }
    for (; shift >= 0; shift -= 4) {
        *p++ = "0123456789abcdef"[value >> shift & 15];
    }
    return p;
}

static char *put_number(char *p, uint64_t value)
{
    return p + rd_decimal_u64(p, value);
}

static void make_validators(const struct rd_file *file, struct validators *v)
{
    char *p = v->text;

    *p++ = '"';
    p = put_hex(p, (uint64_t)file->mtime_s * 1000000000u + file->mtime_ns);
    *p++ = '-';
    p = put_hex(p, file->size);
    *p++ = '-';
    p = put_hex(p, file->inode);
    *p++ = '"';
    v->etag = rd_slice(v->text, (size_t)(p - v->text));
    v->modified = file->mtime_s;
    v->now = rd_clock_unix_ms() / 1000;
}

/* Looks for the entity-tag in all lines of a field: 1, 0, or -1 if there is
 * no such field. */
static int list_has(const struct restd_request *request, const char *field,
                    struct restd_slice etag, int weak)
{
    struct restd_slice name;
    struct restd_slice value;
    unsigned at = 0;
    int found = -1;

    while (found < 1 &&
           restd_request_header_next(request, &at, field, &name, &value) == 0) {
        found = rd_etag_list_has(value, etag, weak);
    }
    return found;
}

/* 1 if the file has changed since the date of that field, 0 if not, -1 if
 * there is none. */
static int changed_since(const struct restd_request *request, const char *field,
                         const struct validators *v)
{
    struct restd_slice value = restd_request_header(request, field);
    int64_t date;

    if (!value.data || rd_date_parse(value, v->now, &date) != 0) {
        return -1;
    }
    return v->modified > date;
}

/* 200 to go on, 304 or 412. */
static int judge(const struct restd_request *request,
                 const struct validators *v)
{
    int match = list_has(request, "If-Match", v->etag, 0);

    if (match == 0 ||
        (match < 0 && changed_since(request, "If-Unmodified-Since", v) == 1)) {
        return 412;
    }
    match = list_has(request, "If-None-Match", v->etag, 1);
    if (match == 1 ||
        (match < 0 && changed_since(request, "If-Modified-Since", v) == 0)) {
        return 304;
    }
    return 200;
}

/* RFC 9110 15.4.5: of a 304 only what a 200 would tell the cache. */
static int add_fields(const struct rd_files_reply *reply,
                      const struct validators *v, int status)
{
    struct rd_fields *fields = &reply->response->fields;
    const struct restd_files *files = reply->files;
    char text[ETAG_MAX + 192];
    char *p = put(text, "ETag: ");

    if (fields->len > 0) { /* what a plugin has set gives way */
        if (files->cache_len > 0) {
            rd_fields_remove(fields, rd_slice_str("Cache-Control"));
        }
        rd_fields_remove(fields, rd_slice_str("X-Content-Type-Options"));
    }
    memcpy(p, v->etag.data, v->etag.len);
    p = put(p + v->etag.len, "\r\n");
    if (reply->varies) {
        p = put(p, "Vary: Accept-Encoding\r\n");
    }
    if (status != 304) {
        if (v->modified >= 0) {
            /* RFC 9110 8.8.2.1: never in the future. */
            p = put(p, "Last-Modified: ");
            rd_date_format(v->modified < v->now ? v->modified : v->now, p);
            p = put(p + RD_DATE_LEN, "\r\n");
        }
        if (reply->gzip) {
            p = put(p, "Content-Encoding: gzip\r\n");
        }
    }
    struct restd_slice type = {NULL, 0};
    int rc = rd_fields_join(fields, rd_slice(text, (size_t)(p - text)), type);
    if (rc != 0) {
        return rc;
    }
    return status == 304
               ? rd_fields_join(fields,
                                rd_slice(files->fields, files->cache_len), type)
               : rd_fields_join(fields,
                                rd_slice(files->fields, files->fields_len),
                                reply->type);
}

/* Writes a Content-Range line; `range` NULL: of a 416. */
static char *put_content_range(char *p, const struct rd_range *range,
                               uint64_t size)
{
    p = put(p, "Content-Range: bytes ");
    if (range) {
        p = put_number(p, range->first);
        *p++ = '-';
        p = put_number(p, range->last);
    } else {
        *p++ = '*';
    }
    *p++ = '/';
    return put(put_number(p, size), "\r\n");
}

static int add_content_range(struct restd_response *response,
                             const struct rd_range *range, uint64_t size)
{
    char text[CONTENT_RANGE_MAX];
    struct restd_slice none = {NULL, 0};
    char *end = put_content_range(text, range, size);

    return rd_fields_join(&response->fields,
                          rd_slice(text, (size_t)(end - text)), none);
}

/* There are too many under way. */
static int refuse_file(struct restd_response *response)
{
    restd_response_reset(response);
    return rd_files_refuse(response, 503);
}

/* Sends a stretch and takes the descriptor. */
static int send_stretch(struct rd_files_reply *reply, uint64_t offset,
                        uint64_t len)
{
    int fd = reply->file.fd;

    reply->file.fd = -1;
    int rc = restd_response_file(reply->response, fd, offset, len);
    return rc == RESTD_ELIMIT ? refuse_file(reply->response) : rc;
}

static int send_range(struct rd_files_reply *reply,
                      const struct rd_range *range)
{
    reply->response->status = 206;
    int rc = add_content_range(reply->response, range, reply->file.size);

    return rc != 0 ? rc
                   : send_stretch(reply, range->first,
                                  range->last - range->first + 1);
}

static int append_part(struct rd_files_reply *reply,
                       const struct rd_range *range, const char *boundary,
                       int first)
{
    struct restd_response *response = reply->response;
    char text[BOUNDARY_LEN + RD_TYPE_MAX + CONTENT_RANGE_MAX + 64];
    char *p = put(text, first ? "--" : "\r\n--");

    memcpy(p, boundary, BOUNDARY_LEN);
    p = put(p + BOUNDARY_LEN, "\r\nContent-Type: ");
    memcpy(p, reply->type.data, reply->type.len);
    p = put(p + reply->type.len, "\r\n");
    p = put(put_content_range(p, range, reply->file.size), "\r\n");
    int rc = restd_response_append(response, text, (size_t)(p - text));
    if (rc != 0) {
        return rc;
    }
    struct rd_chunk_ref ref = {.fd = reply->file.fd,
                               .offset = range->first,
                               .len = range->last - range->first + 1};
    return ref.len <= PART_COPY_MAX
               ? rd_response_append_file(response, ref.fd, ref.offset, ref.len,
                                         0)
               : rd_chain_append_ref(&response->chain, response->chunks,
                                     RD_MEM_OUTPUT, &ref);
}

static void close_ref(const struct rd_chunk_ref *ref)
{
    rd_file_close(ref->arg, ref->fd);
}

/* The closing delimiter, behind which the descriptor is closed. */
static int append_end(struct rd_files_reply *reply, const char *boundary)
{
    struct restd_response *response = reply->response;
    struct rd_chunk_ref ref = {.data = "--\r\n",
                               .fd = reply->file.fd,
                               .len = 4,
                               .release = close_ref,
                               .arg = reply->request->conn->reactor};
    int rc = restd_response_append(response, "\r\n--", 4);

    if (rc == 0) {
        rc = restd_response_append(response, boundary, BOUNDARY_LEN);
    }
    return rc != 0 ? rc
                   : rd_chain_append_ref(&response->chain, response->chunks,
                                         RD_MEM_OUTPUT, &ref);
}

/* Nobody can have foreseen it, and put it into the file. */
static void make_boundary(char out[BOUNDARY_LEN])
{
    uint64_t words[2];

    rd_random_seed(words, 2);
    for (unsigned i = 0; i < BOUNDARY_LEN; i++) {
        out[i] = "0123456789abcdef"[words[i / 16] >> i % 16 * 4 & 15];
    }
}

static int send_ranges(struct rd_files_reply *reply,
                       const struct rd_range *ranges, int n)
{
    static const char type[] = "multipart/byteranges; boundary=";
    struct restd_response *response = reply->response;
    struct rd_reactor *reactor = reply->request->conn->reactor;
    char text[sizeof(type) + BOUNDARY_LEN];
    char *boundary = put(text, type);
    int rc = 0;

    make_boundary(boundary);
    boundary[BOUNDARY_LEN] = '\0';
    response->status = 206;
    restd_response_body_borrowed(response, NULL, 0);
    reply->file.fd = rd_file_keep(reactor, reply->file.fd);
    if (reply->file.fd < 0) {
        return refuse_file(response);
    }
    for (int i = 0; rc == 0 && i < n; i++) {
        rc = append_part(reply, &ranges[i], boundary, i == 0);
    }
    if (rc == 0) {
        rc = append_end(reply, boundary);
    }
    if (rc == 0) {
        rc = restd_response_set_type(response, text);
    } else {
        restd_response_body_borrowed(response, NULL, 0);
        rd_file_close(reactor, reply->file.fd);
    }
    reply->file.fd = -1;
    return rc;
}

/* RFC 9110 14.2: for GET only. */
static int ranges_apply(const struct rd_files_reply *reply,
                        const struct validators *v)
{
    struct restd_slice condition = {NULL, 0};

    if (!reply->ranged || reply->request->head->number != RESTD_METHOD_GET) {
        return 0;
    }
    if (reply->conditional) {
        condition = restd_request_header(reply->request, "If-Range");
    }
    return !condition.data ||
           rd_etag_if_range(condition, v->etag, v->modified, v->now);
}

static int send_file(struct rd_files_reply *reply, const struct validators *v)
{
    struct rd_range ranges[RANGES_MAX];
    int n = 0;

    if (ranges_apply(reply, v)) {
        n = rd_range_parse(restd_request_header(reply->request, "Range"),
                           reply->file.size, ranges, RANGES_MAX);
    }
    if (n == -416) {
        int rc = rd_files_refuse(reply->response, 416);
        return rc != 0
                   ? rc
                   : add_content_range(reply->response, NULL, reply->file.size);
    }
    int rc = add_fields(reply, v, 200);
    if (rc != 0) {
        return rc;
    }
    switch (n) {
    case 0:
        return send_stretch(reply, 0, reply->file.size);
    case 1:
        return send_range(reply, ranges);
    default:
        return send_ranges(reply, ranges, n);
    }
}

int rd_files_reply(struct rd_files_reply *reply)
{
    struct validators v;
    int rc;

    make_validators(&reply->file, &v);
    int status = reply->conditional ? judge(reply->request, &v) : 200;
    if (status == 304) {
        reply->response->status = 304;
        rc = add_fields(reply, &v, 304);
    } else if (status == 412) {
        rc = rd_files_refuse(reply->response, 412);
    } else {
        rc = send_file(reply, &v);
    }
    if (rc == RESTD_EOF) { /* it has become shorter meanwhile */
        rc = refuse_file(reply->response);
    }
    rd_files_close(&reply->file);
    return rc;
}
