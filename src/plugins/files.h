/* SPDX-License-Identifier: MIT */
/* Static files, between the files that make it: files.c (options, handler),
 * files_open.c (names, opening), files_reply.c (preconditions, ranges).
 *
 * Thread: struct restd_files is immutable once it is made; the rest [loop]. */
#ifndef RD_PLUGINS_FILES_H
#define RD_PLUGINS_FILES_H

#include <stdint.h>

#include <restd/files.h>
#include <restd/request.h>
#include <restd/response.h>

/* Longest name of a file below the root, terminated: what open() takes. */
#define RD_FILES_PATH_MAX 4096u
#define RD_FILES_INDEX_MAX 255u
#define RD_FILES_FIELDS_MAX 1024u

struct restd_files {
    int root;         /* O_PATH */
    int walks;        /* the kernel has no openat2() */
    uint64_t resolve; /* for openat2() */
    uint8_t precompressed, hidden;
    size_t index_len; /* 0: none */
    char index[RD_FILES_INDEX_MAX + 1];
    size_t file_len; /* 0: none */
    char file[RD_FILES_INDEX_MAX + 1];
    char default_type[128 + 1];
    size_t cache_len; /* Cache-Control, which comes first, or 0 */
    size_t fields_len;
    char fields[RD_FILES_FIELDS_MAX];
};

/* An open one. */
struct rd_file {
    int fd; /* -1: none */
    uint64_t size, inode;
    int64_t mtime_s;
    uint32_t mtime_ns;
};

/* files_open.c */

/* Writes the name of the file that `capture` asks for; its length, or 0 if
 * there can be none. `rest`: a slash separates; else it is part of a name. */
size_t rd_files_name(const struct restd_files *files,
                     struct restd_slice capture, int rest,
                     char name[RD_FILES_PATH_MAX]);
/* Opens a regular file below the root. 0, or a status: 301 for a folder, 403,
 * 404, 500, 503. */
RESTD_MUST_CHECK int rd_files_open(const struct restd_files *files,
                                   const char *name, struct rd_file *file);
/* Closes it unless its descriptor has been taken (fd -1). */
void rd_files_close(struct rd_file *file);

/* files_reply.c */

struct rd_files_reply {
    const struct restd_files *files;
    struct restd_request *request;
    struct restd_response *response;
    struct rd_file file;
    struct restd_slice type;
    uint8_t gzip;        /* the file is the packed one */
    uint8_t varies;      /* there is a packed one */
    uint8_t conditional; /* the request has If-... */
    uint8_t ranged;      /* ... Range */
};

/* Answers with the open file, which it takes. As a handler. */
int rd_files_reply(struct rd_files_reply *reply);
/* Answers with a problem. */
int rd_files_refuse(struct restd_response *response, int status);

#endif
