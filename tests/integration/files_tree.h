/* SPDX-License-Identifier: MIT */
/* A folder with files of all kinds, served below /s/{path...} and
 * /one/{name}, for the tests of static files. Beside plugin_server.h.
 * Owner: a test, which has a folder of its own. Thread: the test's. */
#ifndef RD_TESTS_FILES_TREE_H
#define RD_TESTS_FILES_TREE_H

#include <time.h>

#include <restd/files.h>

#include "plugin_server.h"
#include "plugins/files.h"

#define N(table) (sizeof(table) / sizeof((table)[0]))
/* root/a.txt, and root/big.bin, which is the beginning of `fill`. */
#define TEXT "0123456789abcdefghij"
#define BIG_LEN (4u * 1024 * 1024)
/* Sun, 06 Nov 1994 08:49:37 GMT: when all have been modified. */
#define MODIFIED 784111777
#define FILES_READERS 64

extern struct restd_files *files;
extern struct restd_files_options file_options;
extern char etag[80];
extern struct client readers[FILES_READERS];

/* Fixtures: the folder, `server`, and `files` with default options; closes
 * all readers. */
void files_set_up(void);
void files_tear_down(void);
/* Makes `files` again, of what is in file_options by now. */
void make_files(void);
/* Adds the routes and starts the server. */
void serve(void);

#define AT_MAX (FOLDER_MAX + 64)
/* Path of a name below the folder; until the next call. */
const char *at(const char *name);
void age(const char *name, time_t modified);
void write_file(const char *name, const void *data, size_t len);
void write_text(const char *name, const char *text);

/* GET, or another method, with further lines; the status must be that. */
void get(const char *path, const char *lines, int status);
void get_by(const char *method, const char *path, const char *lines,
            int status);
void body_is(const char *text);
/* Lines in which `etag` stands for each "@", and their end. */
void with_etag(const char *text, char *out, size_t size);

#endif
