/* SPDX-License-Identifier: MIT */
/* Static files: options, and the handler, which finds the file, or its packed
 * twin, and has it sent. Nothing is cached: what a request sees is what the
 * folder holds, and a kept one costs openat2, fstat, read and close.
 * Thread: make any, the handler [loop]. */
#include "plugins/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/slice.h"
#include "codec/field.h"
#include "codec/negotiate.h"
#include "http/message.h"
#include "plugins/make.h"
#include "plugins/mime.h"

RD_STATIC_ASSERT(RD_TYPE_MAX == 128, "files.h has room for a type");

void restd_files_options_init_size(struct restd_files_options *options,
                                   size_t size)
{
    static const struct restd_files_options defaults = {
        .index = "index.html",
        .default_type = "application/octet-stream",
        .precompressed = 1,
        .symlinks = 1};

    rd_sized_init(options, size, &defaults, sizeof(defaults));
}

static int is_value(const char *text, size_t max)
{
    struct restd_slice s = rd_slice_str(text);

    return s.len > 0 && s.len <= max && rd_field_is_value(s);
}

static int is_file_name(const char *text)
{
    size_t len = strlen(text);

    return len > 0 && len <= RD_FILES_INDEX_MAX && !strchr(text, '/') &&
           strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

static int set_options(struct restd_files *files,
                       const struct restd_files_options *o,
                       struct restd_error *error)
{
    const char *type =
        o->default_type ? o->default_type : "application/octet-stream";
    int n = 0;

    if (!o->root || o->root[0] == '\0') {
        return rd_error(error, RESTD_EINVAL, "no folder to serve");
    }
    if (o->index && !is_file_name(o->index)) {
        return rd_error(error, RESTD_EINVAL, "index is no file name");
    }
    if (o->file && !is_file_name(o->file)) {
        return rd_error(error, RESTD_EINVAL, "file is no file name");
    }
    if (!is_value(type, RD_TYPE_MAX)) {
        return rd_error(error, RESTD_EINVAL, "default_type is no media type");
    }
    if (o->cache_control && !is_value(o->cache_control, 512)) {
        return rd_error(error, RESTD_EINVAL,
                        "cache_control is no value for a field");
    }
    files->index_len = o->index ? strlen(o->index) : 0;
    memcpy(files->index, o->index ? o->index : "", files->index_len);
    files->file_len = o->file ? strlen(o->file) : 0;
    memcpy(files->file, o->file ? o->file : "", files->file_len);
    memcpy(files->default_type, type, strlen(type));
    if (o->cache_control) {
        n = snprintf(files->fields, sizeof(files->fields),
                     "Cache-Control: %s\r\n", o->cache_control);
    }
    files->cache_len = (size_t)n;
    n += snprintf(files->fields + n, sizeof(files->fields) - (size_t)n,
                  "Accept-Ranges: bytes\r\n"
                  "X-Content-Type-Options: nosniff\r\n");
    files->fields_len = (size_t)n;
    files->precompressed = o->precompressed;
    files->hidden = o->hidden;
    files->resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS |
                     (o->symlinks ? 0 : RESOLVE_NO_SYMLINKS);
    return 0;
}

/* Whether there is openat2(); sandboxes answer EPERM for what they do not
 * know. */
static int has_openat2(int root)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH};
    long fd = syscall(SYS_openat2, root, ".", &how, sizeof(how));

    if (fd >= 0) {
        close((int)fd);
    }
    return fd >= 0 || (errno != ENOSYS && errno != EPERM);
}

int restd_files_new(const struct restd_files_options *options,
                    struct restd_files **out, struct restd_error *error)
{
    struct restd_files_options o;
    struct restd_files *files = rd_mem_alloc(sizeof(*files));

    restd_files_options_init(&o);
    if (!files) {
        return rd_make_no_memory(error);
    }
    files->root = -1;
    int rc = rd_make_options(&o, sizeof(o), options, error);
    if (rc == 0) {
        rc = set_options(files, &o, error);
    }
    if (rc == 0) {
        files->root = open(o.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
        rc = files->root < 0
                 ? rd_error_os(error, errno, "cannot open %s", o.root)
                 : 0;
    }
    /* O_PATH needs no permission. */
    if (rc == 0 && faccessat(files->root, ".", X_OK, AT_EACCESS) != 0) {
        rc = rd_error_os(error, errno, "cannot enter %s", o.root);
    }
    if (rc != 0) {
        restd_files_free(files);
        return rc;
    }
    files->walks = !has_openat2(files->root);
    *out = files;
    return 0;
}

void restd_files_free(struct restd_files *files)
{
    if (files) {
        if (files->root >= 0) {
            close(files->root);
        }
        rd_mem_free(files);
    }
}

int rd_files_refuse(struct restd_response *response, int status)
{
    int rc = restd_response_problem(response, status, NULL);

    if (rc == 0 && status == 503) {
        rc = restd_response_set_header(response, "Retry-After", "1");
    }
    return rc;
}

/* To the same path with a slash behind it. A Location that began with "//" or
 * "/\" would name another host. */
static int redirect(struct restd_request *request,
                    struct restd_response *response, char *text, size_t size)
{
    struct restd_slice path = restd_request_path(request);
    struct restd_slice query = restd_request_query(request);
    size_t n = 0;

    while (path.len > 1 && path.data[1] == '/') {
        path = rd_slice(path.data + 1, path.len - 1);
    }
    for (size_t i = 0; i < path.len; i++) {
        if (size - n < query.len + sizeof("%5C/?")) {
            return rd_files_refuse(response, 414);
        }
        if (path.data[i] == '\\') {
            memcpy(text + n, "%5C", 3);
            n += 3;
        } else {
            text[n++] = path.data[i];
        }
    }
    text[n++] = '/';
    if (query.data) {
        text[n++] = '?';
        memcpy(text + n, query.data, query.len);
        n += query.len;
    }
    text[n] = '\0';
    int rc = restd_response_redirect(response, 301, text);
    return rc == RESTD_ELIMIT ? rd_files_refuse(response, 414) : rc;
}

/* What of the request's fields decides on the reply. */
static void read_fields(struct rd_files_reply *reply,
                        struct rd_accept_encoding *accept)
{
    struct restd_slice name;
    struct restd_slice value;
    unsigned at = 0;

    while (restd_request_header_next(reply->request, &at, NULL, &name,
                                     &value) == 0) {
        if (name.len == 5) {
            reply->ranged |= rd_slice_ieq(name, rd_slice("range", 5)) != 0;
        } else if (name.len == 15 &&
                   rd_slice_ieq(name, rd_slice("accept-encoding", 15))) {
            rd_accept_encoding_feed(accept, value);
        } else if (name.len > 3) {
            reply->conditional |=
                rd_slice_ieq(rd_slice(name.data, 3), rd_slice("if-", 3)) != 0;
        }
    }
}

/* Takes NAME.gz in place of the open file, if that is to be. */
static void try_packed(struct rd_files_reply *reply,
                       const struct rd_accept_encoding *accept, char *name,
                       size_t len)
{
    struct rd_file packed;

    memcpy(name + len, ".gz", sizeof(".gz"));
    int status = rd_files_open(reply->files, name, &packed);
    name[len] = '\0';
    if (status != 0) {
        return;
    }
    /* By seconds, as archives keep no more. */
    if (packed.mtime_s < reply->file.mtime_s) {
        rd_files_close(&packed);
        return;
    }
    reply->varies = 1;
    reply->gzip = rd_accept_encoding_best(accept) == RD_CODING_GZIP;
    rd_files_close(reply->gzip ? &reply->file : &packed);
    if (reply->gzip) {
        reply->file = packed;
    }
}

/* The last parameter, and whether a slash in it separates; 0 without one. */
static int find_capture(const struct restd_request *request,
                        struct restd_slice *capture, int *rest)
{
    const struct rd_match *match = request->match;

    if (!match->route || match->params_n == 0) {
        return 0;
    }
    const struct rd_pattern *p = match->route->compiled;
    *capture = match->params[match->params_n - 1];
    *rest = p->segments[p->params[match->params_n - 1]].kind == RD_SEGMENT_REST;
    return 1;
}

int restd_files_handler(struct restd_request *request,
                        struct restd_response *response, void *data)
{
    struct rd_files_reply reply = {
        .files = data, .request = request, .response = response};
    struct rd_accept_encoding accept = {0, 0, 0};
    struct restd_slice capture;
    char name[RD_FILES_PATH_MAX];
    int rest;

    size_t len = reply.files->file_len;
    if (len > 0) {
        capture = rd_slice("", 0);
        memcpy(name, reply.files->file, len + 1);
    } else if (find_capture(request, &capture, &rest)) {
        len = rd_files_name(data, capture, rest, name);
    } else {
        return RESTD_ESTATE;
    }
    if (len == 0) {
        return rd_files_refuse(response, 404);
    }
    int status = rd_files_open(data, name, &reply.file);
    if (status == 301 && len == capture.len) {
        return redirect(request, response, name, sizeof(name));
    }
    if (status != 0) {
        /* An index that is a folder is none. */
        return rd_files_refuse(response, status == 301 ? 404 : status);
    }
    const struct rd_mime *mime = rd_mime_of(rd_slice(name, len));
    reply.type = rd_slice_str(mime ? mime->type : reply.files->default_type);
    read_fields(&reply, &accept);
    if (reply.files->precompressed && !(mime && mime->packed)) {
        try_packed(&reply, &accept, name, len);
    }
    return rd_files_reply(&reply);
}
