/* SPDX-License-Identifier: MIT */
/* The pid file: for people and init scripts, and against a second daemon.
 *
 * Owner: main. Lifetime: RD_PIDFILE_NONE to rd_pidfile_remove().
 * Thread: main.
 */
#ifndef RD_DAEMON_PIDFILE_H
#define RD_DAEMON_PIDFILE_H

#include <restd/error.h>

struct rd_pidfile {
    int fd; /* -1: none. Holds the lock. */
    char path[1024];
};

#define RD_PIDFILE_NONE                                                        \
    {                                                                          \
        -1, ""                                                                 \
    }

/* Writes our number to `path`, which must be absolute, as the daemon leaves
 * its folder. One of a process that is gone is replaced. Returns 0 or a RESTD_E*
 * code with a sentence; RESTD_EADDRINUSE: its process lives. */
int rd_pidfile_create(struct rd_pidfile *pidfile, const char *path,
                      struct restd_error *error) RESTD_MUST_CHECK;

/* The same without asking who has it: for the process that has taken over, and
 * for the old one when its successor has failed. */
int rd_pidfile_take_over(struct rd_pidfile *pidfile, const char *path,
                         struct restd_error *error) RESTD_MUST_CHECK;

/* Removes the file if it is still this process's, and forgets it. May be
 * called without one. */
void rd_pidfile_remove(struct rd_pidfile *pidfile);

#endif
