/* SPDX-License-Identifier: MIT */
/* Static files: a folder served below a route. */
#ifndef RESTD_FILES_H
#define RESTD_FILES_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/http.h>

RESTD_BEGIN_DECLS

/**
 * A folder to be served.
 * Owner: the caller. Lifetime: restd_files_new() to restd_files_free(), and
 * longer than the server that uses it. Thread: made by one, then [any].
 */
struct restd_files;

/**
 * Owner: the caller; copied, with its strings. Thread: [any], one at a time.
 * Set it up with restd_files_options_init(); `size` lets fields be added.
 */
struct restd_files_options {
    size_t size;
    const char *root;          /* the folder; has to be given */
    const char *index;         /* file name that stands for its folder; NULL:
                                  none; "index.html" */
    const char *file;          /* of root, served whatever the path is; NULL:
                                  by the path */
    const char *cache_control; /* value of Cache-Control; NULL: none */
    const char *default_type;  /* for unknown extensions; NULL:
                                  "application/octet-stream" */
    uint8_t precompressed;     /* send NAME.gz to those who take gzip; 1 */
    uint8_t symlinks;          /* follow those that stay inside root; 1 */
    uint8_t hidden;            /* serve names that begin with '.'; 0 */
};

RESTD_API void
restd_files_options_init_size(struct restd_files_options *options, size_t size);
/** Fills in the defaults. */
static inline void restd_files_options_init(struct restd_files_options *options)
{
    restd_files_options_init_size(options, sizeof(*options));
}

/**
 * Opens the folder, once: who moves it or puts another in its place changes
 * nothing. RESTD_EINVAL for an option, RESTD_ENOENT, RESTD_EACCES or another
 * code for the folder, RESTD_ENOMEM; `error` (may be NULL) has a sentence.
 */
RESTD_API RESTD_MUST_CHECK int
restd_files_new(const struct restd_files_options *options,
                struct restd_files **files, struct restd_error *error);
/** NULL is allowed. Replies that are under way go on. */
RESTD_API void restd_files_free(struct restd_files *files);

/**
 * Handler for a GET route whose pattern ends with a parameter, which is the
 * name of the file (without one for a struct with the option `file`); `data` is
 * the struct restd_files:
 *
 *     restd_router_add(router, "GET", "/static/{path...}",
 *                      restd_files_handler, files, &error);
 *
 * Nothing outside the folder is ever opened: not by "..", not by "%2F", which
 * stays part of a name, not by a symbolic link. Only regular files are sent,
 * others do not exist (404); nor do names with an empty segment, or hidden
 * ones. A folder that is asked for without '/' at its end is a 301 to the path
 * with one, a folder with '/' its index, or 404. What may not be read is 403;
 * where descriptors or memory are short it is 503.
 *
 * Replies have Content-Type by the extension (text in UTF-8), X-Content-Type-
 * Options: nosniff, Last-Modified, and a strong ETag made of modification
 * time, size and inode number. Preconditions are answered by RFC 9110 section
 * 13.2.2, at most 16 ranges by section 14. NAME.gz is sent in place of NAME if
 * it is not older and the client takes gzip; types that are packed already are
 * not looked for.
 *
 * A file up to 16 KiB leaves with its head in one send; a larger one goes from
 * the kernel to the kernel, at most 256 KiB per turn, and holds a descriptor.
 * Reading is done on the loop: the folder should be on a local disk.
 */
RESTD_API int restd_files_handler(struct restd_request *request,
                                  struct restd_response *response, void *data);

RESTD_END_DECLS

#endif
