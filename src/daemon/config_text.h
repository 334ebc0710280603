/* SPDX-License-Identifier: MIT */
/* The text of a configuration file, made ready for libConfuse.
 *
 * Owner: the caller. Lifetime: rd_text_load() to rd_text_free(). Thread: main.
 */
#ifndef RD_DAEMON_CONFIG_TEXT_H
#define RD_DAEMON_CONFIG_TEXT_H

#include <stddef.h>

struct rd_text {
    char *data; /* not terminated */
    size_t len, size;
    size_t file_len; /* before variables were put in */
    int line;        /* of the fault */
    int os_errno;    /* of a file that could not be read, else 0 */
    char fault[128]; /* sentence */
};

/* Reads at most `max` bytes of a regular file (or pipe), puts variables in and
 * leaves comments out; lines stay where they are. Returns 0, or -1 with the
 * fault. */
int rd_text_load(struct rd_text *text, int fd, size_t max);
void rd_text_free(struct rd_text *text);

#endif
