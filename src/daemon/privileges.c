/* SPDX-License-Identifier: MIT */
/* Groups first, then the group, then the user: each needs what the next gives
 * up. Then every way back is tried, as a call that fails silently (a wrapper,
 * capabilities kept across the change) would leave a daemon that only looks
 * harmless.
 * no_new_privs is set only here, after root has gone: a binary that was given
 * CAP_NET_BIND_SERVICE as a file capability and started by a plain user needs
 * it again when it executes its successor. Main thread, before any other.
 */
#include "daemon/privileges.h"

#include <errno.h>
#include <grp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/fault.h"

static int is_already(uid_t uid, gid_t gid)
{
    uid_t user[3];
    gid_t group[3];
    if (getresuid(&user[0], &user[1], &user[2]) < 0 ||
        getresgid(&group[0], &group[1], &group[2]) < 0) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        if (user[i] != uid || group[i] != gid) {
            return 0;
        }
    }
    return 1;
}

/* Tries to become root again; 1 if that works or cannot be ruled out. */
static int can_return(uid_t uid, gid_t gid)
{
    return setuid(0) == 0 || seteuid(0) == 0 ||
           setresuid((uid_t)-1, 0, (uid_t)-1) == 0 ||
           (gid != 0 && (setgid(0) == 0 || setegid(0) == 0)) ||
           setgroups(0, NULL) == 0 || !is_already(uid, gid);
}

int rd_privileges_drop(uid_t uid, gid_t gid, const char *user_name,
                       struct restd_error *error)
{
    const char *name = user_name != NULL ? user_name : "(no name)";
    if (is_already(uid, gid)) {
        return 0;
    }
    if (geteuid() != 0) {
        return rd_fault(error, RESTD_EACCES,
                        "cannot become user %.64s (%lu, group %lu): started "
                        "as user %lu, not as root",
                        name, (unsigned long)uid, (unsigned long)gid,
                        (unsigned long)geteuid());
    }
    int rc =
        user_name != NULL ? initgroups(user_name, gid) : setgroups(0, NULL);
    if (rc < 0 || setresgid(gid, gid, gid) < 0) {
        return rd_fault_os(error, errno, "groups of user %.64s", name);
    }
    if (uid == 0) {
        return 0; /* root on purpose, in another group */
    }
    if (setresuid(uid, uid, uid) < 0) {
        return rd_fault_os(error, errno, "cannot become user %.64s", name);
    }
    if (can_return(uid, gid)) {
        return rd_fault(error, RESTD_EACCES,
                        "became user %.64s, but could become root again", name);
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        return rd_fault_os(error, errno, "no_new_privs");
    }
    return 0;
}

void rd_privileges_core_dumps(int allowed)
{
    struct rlimit limit;
    if (allowed && getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_CORE, &limit);
    }
    prctl(PR_SET_DUMPABLE, allowed ? 1 : 0, 0, 0, 0);
}
