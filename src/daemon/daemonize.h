/* SPDX-License-Identifier: MIT */
/* Going to the background (-d) for init systems that want it.
 *
 * Owner: main. Lifetime: rd_daemonize() to rd_daemonize_ready().
 * Thread: main; rd_daemonize() before any other.
 */
#ifndef RD_DAEMON_DAEMONIZE_H
#define RD_DAEMON_DAEMONIZE_H

#include <restd/error.h>

struct rd_daemonize {
    int parent; /* socket to the process that waits; -1: none */
    int null;   /* /dev/null */
};

/* For a daemon that stays in the foreground: rd_daemonize_ready() does nothing
 * then. */
#define RD_DAEMONIZE_NONE                                                      \
    {                                                                          \
        -1, -1                                                                 \
    }

/* Returns 0 in the daemon, which goes on with a session of its own, and 1 in
 * the processes that are left behind: main() has to return *exit_code there
 * and do nothing else. The one that the caller started gets there only when
 * the daemon is ready (0) or has ended (with its exit code). Until then the
 * daemon's stderr is the caller's. Negative: a RESTD_E* code with a sentence.
 * Paths that are relative to the caller's folder must be made absolute before
 * rd_daemonize_ready(). */
int rd_daemonize(struct rd_daemonize *daemonize, int *exit_code,
                 struct restd_error *error) RESTD_MUST_CHECK;

/* Lets go of the caller: its folder, its descriptors 0 to 2, and itself, who
 * is told. Lines written to stderr later are lost. */
void rd_daemonize_ready(struct rd_daemonize *daemonize);

#endif
