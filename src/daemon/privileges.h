/* SPDX-License-Identifier: MIT */
/* Giving up root for good, once the ports below 1024 are bound.
 * Thread: main, before any other.
 */
#ifndef RD_DAEMON_PRIVILEGES_H
#define RD_DAEMON_PRIVILEGES_H

#include <sys/types.h>

#include <restd/error.h>

/* Becomes user and group, with the other groups of `user_name` (NULL: none),
 * and makes sure that there is no way back. Not root: nothing to do if this is
 * that user and group already, else RESTD_EACCES. Root asking for root: stays
 * as it is. Returns 0 or a RESTD_E* code with a sentence, after which the
 * process must end: it may be half way. */
int rd_privileges_drop(uid_t uid, gid_t gid, const char *user_name,
                       struct restd_error *error) RESTD_MUST_CHECK;

/* Whether a crash may leave a core file, which holds what requests held. To be
 * called after rd_privileges_drop(), which resets it. Without dumps no process
 * of the same user may attach either. */
void rd_privileges_core_dumps(int allowed);

#endif
