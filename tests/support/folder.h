/* SPDX-License-Identifier: MIT */
/* A folder for sockets and files of a test. */
#ifndef RD_TESTS_FOLDER_H
#define RD_TESTS_FOLDER_H

/* So short that a socket in it has a path that fits. */
#define FOLDER_MAX 64

/* Makes an empty one below TMPDIR, where scripts/run-checks tidies up behind a
 * test that was killed. Fails the test if that is not possible. */
void folder_make(char path[FOLDER_MAX]);
/* Removes it; fails the test if there is still something in it. */
void folder_remove(const char *path);

#endif
