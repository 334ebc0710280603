/* SPDX-License-Identifier: MIT */
/* See site.h. The reader of chunked contents is one of its own, so that what
 * the library writes is not judged by the library. */
#include "site.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

char pattern[PATTERN_MAX + PERIOD];
struct site site;
struct seen seen;

void site_set_up(void)
{
    memset(&site, 0, sizeof(site));
    memset(&seen, 0, sizeof(seen));
    server_options(&site.options);
    for (size_t i = 0; i < sizeof(pattern); i++) {
        pattern[i] = (char)(i % PERIOD);
    }
}

static int count_before(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    (void)request;
    (void)response;
    (void)data;
    atomic_fetch_add(&seen.before, 1);
    return 0;
}

static void count_after(struct restd_request *request,
                        const struct restd_outcome *outcome, void *data)
{
    (void)data;
    /* A request that is none has no target, and no `before`. */
    atomic_fetch_add(&seen.after, restd_request_target(request).data != NULL);
    atomic_fetch_add(&seen.aborted, outcome->aborted);
    atomic_store(&seen.status, outcome->status);
    atomic_store(&seen.content, outcome->content_bytes);
}

void site_new(void)
{
    struct restd_error error = {0, 0, ""};
    struct restd_plugin counting = {.size = sizeof(counting),
                                    .name = "counting",
                                    .before = count_before,
                                    .after = count_after};
    int rc = restd_server_new(&site.options, &site.server, &error);

    ck_assert_msg(rc == 0, "%s", error.message);
    site.router = restd_server_router(site.server);
    rc = restd_router_use(site.router, &counting, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
}

int site_add(const char *method, const char *path, restd_handler_fn *handler,
             int streaming, uint64_t max)
{
    struct restd_error error = {0, 0, ""};
    struct restd_route_options options;
    int route =
        restd_router_add(site.router, method, path, handler, NULL, &error);

    ck_assert_msg(route >= 0, "%s", error.message);
    restd_route_options_init(&options);
    options.streaming = (uint8_t)streaming;
    options.body_max_bytes = max;
    int rc = restd_router_configure(site.router, route, &options, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
    return route;
}

void site_start(void)
{
    struct restd_error error = {0, 0, ""};
    int rc = restd_server_listen(site.server, "127.0.0.1:0", &error);

    ck_assert_msg(rc == 0, "%s", error.message);
    rc = restd_server_start(site.server, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
    site.port = restd_server_port(site.server, 0);
}

uint64_t site_memory(const char *owner, int peak)
{
    struct restd_memory memory;

    restd_server_memory(site.server, &memory);
    for (unsigned i = 0; i < memory.owners_n; i++) {
        if (strcmp(memory.owners[i].name, owner) == 0) {
            return peak ? memory.owners[i].peak_bytes
                        : memory.owners[i].live_bytes;
        }
    }
    ck_abort_msg("no owner %s", owner);
    return 0;
}

uint64_t site_closed_by(const char *reason)
{
    const char *name;
    uint64_t n;

    for (unsigned i = 0; restd_server_closed_by(site.server, i, &name, &n) == 0;
         i++) {
        if (strcmp(name, reason) == 0) {
            return n;
        }
    }
    ck_abort_msg("no reason %s", reason);
    return 0;
}

void site_at_rest(void)
{
    static const char *const owners[] = {"requests", "bodies", "output",
                                         "input"};

    EVENTUALLY(server_counters(site.server).active == 0);
    EVENTUALLY(server_counters(site.server).requests_active == 0);
    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
        EVENTUALLY(site_memory(owners[i], 0) == 0);
    }
    EVENTUALLY(atomic_load(&seen.before) == atomic_load(&seen.after));
}

void site_tear_down(void)
{
    if (site.server) {
        if (restd_server_state(site.server) == RESTD_STATE_RUNNING) {
            site_at_rest();
        }
        restd_server_stop(site.server);
        ck_assert_int_eq(atomic_load(&seen.before), atomic_load(&seen.after));
        restd_server_free(site.server);
    }
    ck_assert_int_eq(atomic_load(&seen.errors), 0);
}

/* --- requests -------------------------------------------------------------- */

uint64_t query_number(const struct restd_request *request, const char *name,
                      uint64_t otherwise)
{
    struct restd_slice s = restd_request_query_get(request, name);
    char text[24];

    if (!s.data || s.len == 0 || s.len >= sizeof(text)) {
        return otherwise;
    }
    memcpy(text, s.data, s.len);
    text[s.len] = '\0';
    return strtoull(text, NULL, 10);
}

int query_has(const struct restd_request *request, const char *name)
{
    return restd_request_query_get(request, name).data != NULL;
}

int drop_content(struct restd_upload *upload, const char *bytes, size_t len,
                 void *data)
{
    (void)upload;
    (void)bytes;
    (void)len;
    (void)data;
    return 0;
}

/* --- the client ------------------------------------------------------------ */

/* Receives more into an empty buffer; 0 at the end. */
static int more(struct client *c, struct content *r)
{
    c->start = 0;
    c->len = 0;
    ssize_t n = recv(c->fd, c->buf, sizeof(c->buf), 0);
    ck_assert_msg(n >= 0 || errno == ECONNRESET, "recv: %s", strerror(errno));
    if (n <= 0) {
        r->ended = 1;
        return 0;
    }
    c->len = (size_t)n;
    return 1;
}

static int next_byte(struct client *c, struct content *r)
{
    if (c->start == c->len && !more(c, r)) {
        return -1;
    }
    return (unsigned char)c->buf[c->start++];
}

/* A line with its CRLF; 0 at the end of the connection. */
static int next_line(struct client *c, struct content *r, char *line,
                     size_t size)
{
    size_t n = 0;

    do {
        int byte = next_byte(c, r);
        if (byte < 0) {
            return 0;
        }
        ck_assert_uint_lt(n + 1, size);
        line[n++] = (char)byte;
    } while (line[n - 1] != '\n');
    line[n] = '\0';
    ck_assert_msg(n >= 2 && line[n - 2] == '\r', "no CR: %s", line);
    return 1;
}

/* Takes `len` bytes of content; 0 if there were fewer. */
static int take(struct client *c, struct content *r, uint64_t len)
{
    while (len > 0) {
        if (c->start == c->len && !more(c, r)) {
            return 0;
        }
        size_t n = c->len - c->start;
        n = n < len ? n : (size_t)len;
        const char *data = c->buf + c->start;
        for (size_t i = 0; i < n; i++) {
            r->bad += data[i] != (char)((r->len + i) % PERIOD);
        }
        if (r->len < sizeof(r->body) - 1) {
            size_t room = sizeof(r->body) - 1 - (size_t)r->len;
            memcpy(r->body + r->len, data, n < room ? n : room);
        }
        r->len += n;
        c->start += n;
        len -= n;
    }
    return 1;
}

static int take_chunks(struct client *c, struct content *r)
{
    char line[64];

    for (;;) {
        char *end;
        if (!next_line(c, r, line, sizeof(line))) {
            return 0;
        }
        unsigned long long size = strtoull(line, &end, 16);
        ck_assert_msg(end > line && strcmp(end, "\r\n") == 0, "size: %s", line);
        if (size == 0) {
            break;
        }
        if (!take(c, r, size) || !next_line(c, r, line, sizeof(line))) {
            return 0;
        }
        ck_assert_str_eq(line, "\r\n");
    }
    for (size_t n = 0;;) {
        if (!next_line(c, r, r->trailers + n, sizeof(r->trailers) - n)) {
            return 0;
        }
        if (strcmp(r->trailers + n, "\r\n") == 0) {
            r->trailers[n] = '\0';
            return 1;
        }
        n += strlen(r->trailers + n);
    }
}

static int take_head(struct client *c, struct content *r)
{
    size_t n = 0;

    do {
        if (!next_line(c, r, r->head + n, sizeof(r->head) - n)) {
            return 0;
        }
        n += strlen(r->head + n);
    } while (n < 4 || memcmp(r->head + n - 4, "\r\n\r\n", 4) != 0);
    ck_assert_msg(strncmp(r->head, "HTTP/1.1 ", 9) == 0, "%s", r->head);
    r->status = (int)strtol(r->head + 9, NULL, 10);
    return 1;
}

int content_receive(struct client *c, struct content *r, int head_only)
{
    memset(r, 0, sizeof(*r));
    if (!take_head(c, r)) {
        return 0;
    }
    const char *length = strstr(r->head, "\r\nContent-Length: ");
    r->length = length != NULL;
    r->chunked = strstr(r->head, "\r\nTransfer-Encoding: chunked\r\n") != NULL;
    ck_assert_msg(!r->length || !r->chunked, "%s", r->head);
    if (head_only || r->status < 200 || r->status == 204 || r->status == 304) {
        r->complete = 1;
    } else if (r->chunked) {
        r->complete = take_chunks(c, r);
    } else if (r->length) {
        r->complete = take(c, r, strtoull(length + 18, NULL, 10));
    } else {
        (void)take(c, r, UINT64_MAX);
        r->complete = 1;
    }
    return r->status;
}

int content_ask(struct client *c, const char *text, struct content *r)
{
    (void)client_say(c, text);
    return content_receive(c, r, strncmp(text, "HEAD ", 5) == 0);
}

/* --- the process ----------------------------------------------------------- */

int is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 1;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return 1;
#else
    return 0;
#endif
#else
    return 0;
#endif
}

uint64_t resident_bytes(void)
{
    char line[128];
    unsigned long long kb = 0;
    FILE *f = fopen("/proc/self/status", "re");

    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        if (strncmp(line, "RssAnon:", 8) == 0) {
            kb = strtoull(line + 8, NULL, 10);
            break;
        }
    }
    fclose(f);
    ck_assert_uint_gt(kb, 0);
    return kb * 1024;
}
