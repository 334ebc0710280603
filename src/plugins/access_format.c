/* SPDX-License-Identifier: MIT */
/* Compiles formats of the access log.
 *
 * The formats that have a name are patterns as well, and differ in how they
 * write what a client has sent. For each field is known how much the rest of
 * the line may need: a long field is cut in time, so that what comes behind it
 * is always there. No allocation. Thread: any. */
#include "plugins/access_format.h"

#include <string.h>

#include "base/error.h"
#include "base/slice.h"
#include "base/utf8.h"

#define COMMON                                                                 \
    "$remote_addr - $remote_user [$time_local] \"$request\" $status "          \
    "$body_bytes_sent"
#define COMBINED COMMON " \"$http_referer\" \"$http_user_agent\""
#define HTTP "http_"
/* A name further away than that is no slip. */
#define NEAR 3u

static const struct {
    const char *name, *pattern;
    uint8_t escape, dash_for_0;
} formats[] = {
    {"common", COMMON, RD_ACCESS_HEX, 1},
    {"combined", COMBINED, RD_ACCESS_HEX, 1},
    {"vcombined", "$vhost " COMBINED, RD_ACCESS_HEX, 1},
    {"json",
     "{\"time\":\"$time_iso8601\",\"remote_addr\":\"$remote_addr\","
     "\"host\":$host,\"method\":$request_method,\"uri\":$request_uri,"
     "\"protocol\":\"$server_protocol\",\"status\":$status,"
     "\"bytes\":$body_bytes_sent,\"duration\":$request_time,"
     "\"referer\":$http_referer,\"user_agent\":$http_user_agent,"
     "\"request_id\":$request_id}",
     RD_ACCESS_JSON, 0},
    {"logfmt",
     "time=$time_iso8601 remote_addr=$remote_addr host=$host "
     "method=$request_method uri=$request_uri protocol=$server_protocol "
     "status=$status bytes=$body_bytes_sent duration=$request_time "
     "referer=$http_referer user_agent=$http_user_agent "
     "request_id=$request_id",
     RD_ACCESS_LOGFMT, 0},
};
#define FORMATS_N (sizeof(formats) / sizeof(formats[0]))

/* Most bytes of a field, or, where a client may have sent more, as many as are
 * kept free for it, quotes and "..." among them. */
#define TEXT(n) ((n) + 2 + RD_ACCESS_CUT)
static const struct {
    const char *name;
    uint8_t kind, room;
} fields[] = {
    {"body_bytes_sent", RD_ACCESS_BODY_BYTES_SENT, 20},
    {"host", RD_ACCESS_HOST, TEXT(64)},
    {"msec", RD_ACCESS_MSEC, 24},
    {"remote_addr", RD_ACCESS_REMOTE_ADDR, 46},
    {"remote_user", RD_ACCESS_REMOTE_USER, 1},
    {"request", RD_ACCESS_REQUEST, TEXT(144)},
    {"request_id", RD_ACCESS_REQUEST_ID, TEXT(128)},
    {"request_method", RD_ACCESS_REQUEST_METHOD, TEXT(24)},
    {"request_time", RD_ACCESS_REQUEST_TIME, 27},
    {"request_uri", RD_ACCESS_REQUEST_URI, TEXT(128)},
    {"server_protocol", RD_ACCESS_SERVER_PROTOCOL, 8},
    {"status", RD_ACCESS_STATUS, 11},
    {"time_iso8601", RD_ACCESS_TIME_ISO8601, 25},
    {"time_local", RD_ACCESS_TIME_LOCAL, 26},
    {"vhost", RD_ACCESS_VHOST, TEXT(72)},
    {HTTP, RD_ACCESS_HTTP, TEXT(128)},
};
#define FIELDS_N (sizeof(fields) / sizeof(fields[0]))

/* --- names that are none ---------------------------------------------------- */

/* How many characters must be added, removed or changed (Levenshtein); both
 * are short. */
static unsigned distance(const char *a, size_t a_len, const char *b)
{
    unsigned row[32];
    size_t b_len = strlen(b);

    if (a_len > 31 || b_len > 31) {
        return NEAR + 1;
    }
    for (size_t j = 0; j <= b_len; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 0; i < a_len; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < b_len; j++) {
            unsigned best = corner + (a[i] != b[j]);
            corner = row[j + 1];
            best = best <= row[j] ? best : row[j] + 1;
            row[j + 1] = best <= corner ? best : corner + 1;
        }
    }
    return row[b_len];
}

struct nearest {
    const char *name;
    unsigned distance;
};

static void nearest_try(struct nearest *nearest, const char *text, size_t len,
                        const char *name)
{
    unsigned d = distance(text, len, name);

    if (d < nearest->distance && d < strlen(name)) {
        nearest->distance = d;
        nearest->name = name;
    }
}

static int unknown_field(const char *name, size_t len,
                         struct restd_error *error)
{
    struct nearest nearest = {NULL, NEAR + 1};

    for (size_t i = 0; i + 1 < FIELDS_N; i++) {
        nearest_try(&nearest, name, len, fields[i].name);
    }
    if (nearest.name) {
        return rd_error(error, RESTD_EINVAL,
                        "\"$%.*s\" is no field of an access log (did you mean "
                        "\"$%s\"?)",
                        (int)(len < 40 ? len : 40), name, nearest.name);
    }
    return rd_error(error, RESTD_EINVAL,
                    "\"$%.*s\" is no field of an access log",
                    (int)(len < 40 ? len : 40), name);
}

static int unknown_format(const char *text, struct restd_error *error)
{
    struct nearest nearest = {NULL, NEAR + 1};

    for (size_t i = 0; i < FORMATS_N; i++) {
        nearest_try(&nearest, text, strlen(text), formats[i].name);
    }
    if (nearest.name) {
        return rd_error(error, RESTD_EINVAL,
                        "\"%.40s\" is no format of an access log (did you mean "
                        "\"%s\"?)",
                        text, nearest.name);
    }
    return rd_error(error, RESTD_EINVAL,
                    "\"%.40s\" is no format of an access log: neither common, "
                    "combined, vcombined, json or logfmt, nor a pattern with a "
                    "field such as $status",
                    text);
}

/* --- patterns --------------------------------------------------------------- */

static int is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

/* Index in `headers`, where the name is added if need be; negative: an error. */
static int header_find(struct rd_access_format *f, const char *name, size_t len,
                       struct restd_error *error)
{
    char text[RD_ACCESS_HEADER_LEN];

    if (len == 0 || len >= sizeof(text)) {
        return rd_error(error, RESTD_EINVAL,
                        "\"$" HTTP "%.*s\" is no name of a header field",
                        (int)(len < 40 ? len : 40), name);
    }
    for (size_t i = 0; i < len; i++) {
        text[i] = name[i] == '_' ? '-' : rd_ascii_lower(name[i]);
    }
    text[len] = '\0';
    for (int i = 0; i < f->headers_n; i++) {
        if (strcmp(f->headers[i], text) == 0) {
            return i;
        }
    }
    if (f->headers_n == RD_ACCESS_HEADERS_MAX) {
        return rd_error(error, RESTD_EINVAL,
                        "a format of an access log has at most %u $http_ "
                        "fields",
                        RD_ACCESS_HEADERS_MAX);
    }
    memcpy(f->headers[f->headers_n], text, len + 1);
    f->header_lens[f->headers_n] = (uint8_t)len;
    return f->headers_n++;
}

/* Makes `op` the field of that name; its index in `fields`, or an error. */
static int field_find(struct rd_access_format *f, struct rd_access_op *op,
                      const char *name, size_t len, struct restd_error *error)
{
    const size_t prefix = sizeof(HTTP) - 1;

    for (size_t i = 0; i < FIELDS_N; i++) {
        int is_http = fields[i].kind == RD_ACCESS_HTTP;
        if (is_http ? len < prefix || memcmp(name, HTTP, prefix) != 0
                    : strlen(fields[i].name) != len ||
                          memcmp(name, fields[i].name, len) != 0) {
            continue;
        }
        int header =
            is_http ? header_find(f, name + prefix, len - prefix, error) : 0;
        op->kind = fields[i].kind;
        op->header = (uint8_t)header;
        f->has_id |= op->kind == RD_ACCESS_REQUEST_ID;
        f->has_host |=
            op->kind == RD_ACCESS_HOST || op->kind == RD_ACCESS_VHOST;
        return header < 0 ? header : (int)i;
    }
    return unknown_field(name, len, error);
}

/* What would break or forge a line, or drive a terminal. */
static int is_clean(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;

    for (size_t i = 0; i < len;) {
        unsigned n = rd_utf8_char(p + i, len - i);
        int control = (p[i] < 0x20 && p[i] != '\t') || p[i] == 0x7f ||
                      (n == 2 && p[i] == 0xc2 && p[i + 1] < 0xa0);
        if (n == 0 || control) {
            return 0;
        }
        i += n;
    }
    return 1;
}

static int literal_add(struct rd_access_format *f, struct rd_access_op *op,
                       const char *text, size_t len, struct restd_error *error)
{
    if (len > RD_ACCESS_LITERALS_MAX - f->literals_len) {
        return rd_error(error, RESTD_EINVAL,
                        "a format of an access log has at most %u bytes beside "
                        "its fields",
                        RD_ACCESS_LITERALS_MAX);
    }
    if (!is_clean(text, len)) {
        return rd_error(error, RESTD_EINVAL,
                        "a format of an access log has a control character, "
                        "or is no UTF-8");
    }
    op->literal = f->literals_len;
    op->literal_len = (uint16_t)len;
    memcpy(f->literals + f->literals_len, text, len);
    f->literals_len = (uint16_t)(f->literals_len + len);
    return 0;
}

/* Keeps room for all that may follow each field; `rooms` is that of each. */
static int rooms_add(struct rd_access_format *f, const uint8_t *rooms,
                     struct restd_error *error)
{
    unsigned after = 0;

    for (unsigned i = f->ops_n; i-- > 0;) {
        f->ops[i].after = (uint16_t)after;
        after += rooms[i] + f->ops[i].literal_len;
    }
    return after <= RD_ACCESS_LINE_MAX
               ? 0
               : rd_error(error, RESTD_EINVAL,
                          "a line of that format might have %u bytes, more "
                          "than %u",
                          after, RD_ACCESS_LINE_MAX);
}

static int pattern_compile(struct rd_access_format *f, const char *p,
                           struct restd_error *error)
{
    uint8_t rooms[RD_ACCESS_OPS_MAX];

    for (;;) {
        if (f->ops_n == RD_ACCESS_OPS_MAX) {
            return rd_error(error, RESTD_EINVAL,
                            "a format of an access log has at most %u fields",
                            RD_ACCESS_OPS_MAX - 1);
        }
        struct rd_access_op *op = &f->ops[f->ops_n];
        size_t len = strcspn(p, "$");
        int rc = literal_add(f, op, p, len, error);
        if (rc != 0) {
            return rc;
        }
        rooms[f->ops_n++] = 0;
        p += len;
        if (*p == '\0') {
            op->kind = RD_ACCESS_END;
            return rooms_add(f, rooms, error);
        }
        p++;
        for (len = 0; is_name_char(p[len]); len++) {
        }
        rc = field_find(f, op, p, len, error);
        if (rc < 0) {
            return rc;
        }
        rooms[f->ops_n - 1] = fields[rc].room;
        p += len;
    }
}

int rd_access_format_compile(struct rd_access_format *f, const char *text,
                             struct restd_error *error)
{
    memset(f, 0, sizeof(*f));
    for (size_t i = 0; i < FORMATS_N; i++) {
        if (strcmp(text, formats[i].name) == 0) {
            f->escape = formats[i].escape;
            f->dash_for_0 = formats[i].dash_for_0;
            return pattern_compile(f, formats[i].pattern, error);
        }
    }
    if (!strchr(text, '$')) {
        return unknown_format(text, error);
    }
    return pattern_compile(f, text, error);
}
