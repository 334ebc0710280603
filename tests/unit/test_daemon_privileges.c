/* SPDX-License-Identifier: MIT */
/* Giving up root, in children: what has to be gone, and that others are told
 * why it cannot be done. Most of it needs root; without it only that is left
 * which a plain user can do. */
#include <check.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "child.h"
#include "daemon/privileges.h"
#include "support/suite.h"

enum { SOMEBODY = 65534, OTHER = 4242 };

static struct restd_error error;

static int become(void *data)
{
    gid_t groups[4] = {0, 4, 5, 6};
    uid_t user[3];
    gid_t group[3];
    (void)data;
    EXPECT(setgroups(4, groups) == 0);
    EXPECT(rd_privileges_drop(SOMEBODY, OTHER, NULL, &error) == 0);
    EXPECT(getresuid(&user[0], &user[1], &user[2]) == 0);
    EXPECT(getresgid(&group[0], &group[1], &group[2]) == 0);
    for (int i = 0; i < 3; i++) {
        EXPECT(user[i] == SOMEBODY && group[i] == OTHER);
    }
    EXPECT(getgroups(0, NULL) == 0);
    EXPECT(setuid(0) < 0 && setgid(0) < 0);
    EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    rd_privileges_core_dumps(0);
    EXPECT(prctl(PR_GET_DUMPABLE) == 0);
    rd_privileges_core_dumps(1);
    EXPECT(prctl(PR_GET_DUMPABLE) == 1);
    /* The same again is nothing to do, another user is refused. */
    EXPECT(rd_privileges_drop(SOMEBODY, OTHER, "nobody", &error) == 0);
    EXPECT(rd_privileges_drop(OTHER, OTHER, "me", &error) == RESTD_EACCES);
    EXPECT(strstr(error.message, "cannot become user me (4242, group 4242): "
                                 "started as user 65534, not as root") != NULL);
    return 0;
}

/* Groups of a name: those that the system's files give it, at least its own. */
static int with_name(void *data)
{
    gid_t groups[64];
    (void)data;
    EXPECT(rd_privileges_drop(SOMEBODY, OTHER, "nobody", &error) == 0);
    int n = getgroups(64, groups);
    EXPECT(n >= 1);
    int found = 0;
    for (int i = 0; i < n; i++) {
        EXPECT(groups[i] != 0);
        found |= groups[i] == OTHER;
    }
    EXPECT(found);
    return 0;
}

static int stay_root(void *data)
{
    (void)data;
    EXPECT(rd_privileges_drop(0, getgid(), "root", &error) == 0);
    EXPECT(geteuid() == 0);
    EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
    return 0;
}

/* A capability that lives through the change would be a way back. */
static int kept_capabilities(void *data)
{
    enum { NO_SETUID_FIXUP = 1 << 2 }; /* capabilities(7), SECBIT_... */
    (void)data;
    if (prctl(PR_SET_SECUREBITS, NO_SETUID_FIXUP, 0, 0, 0) < 0) {
        return 0; /* a container without CAP_SETPCAP */
    }
    EXPECT(rd_privileges_drop(SOMEBODY, OTHER, NULL, &error) == RESTD_EACCES);
    EXPECT(strstr(error.message, "root again") != NULL);
    return 0;
}

/* Half a change: the real user is another than the effective one. */
static int saved_root(void *data)
{
    (void)data;
    EXPECT(setresgid(OTHER, OTHER, 0) == 0);
    EXPECT(setresuid(SOMEBODY, SOMEBODY, 0) == 0);
    EXPECT(rd_privileges_drop(SOMEBODY, OTHER, NULL, &error) == RESTD_EACCES);
    return 0;
}

static int plain_user(void *data)
{
    (void)data;
    EXPECT(rd_privileges_drop(getuid(), getgid(), NULL, &error) == 0);
    EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
    EXPECT(rd_privileges_drop(getuid() + 1, getgid(), "x", &error) ==
           RESTD_EACCES);
    EXPECT(rd_privileges_drop(getuid(), getgid() + 1, NULL, &error) ==
           RESTD_EACCES);
    return 0;
}

static int plain_user_of_root(void *data)
{
    EXPECT(setresgid(OTHER, OTHER, OTHER) == 0);
    EXPECT(setresuid(OTHER, OTHER, OTHER) == 0);
    return plain_user(data);
}

static int (*const of_root[])(void *) = {
    become,     with_name,          stay_root, kept_capabilities,
    saved_root, plain_user_of_root,
};
static int (*const of_anyone[])(void *) = {plain_user};

START_TEST(test_root)
{
    run_in_child(of_root[_i], NULL);
}
END_TEST

START_TEST(test_anyone)
{
    run_in_child(of_anyone[_i], NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("daemon_privileges");
    TCase *tcase = tcase_create("privileges");
    if (geteuid() == 0) {
        tcase_add_loop_test(tcase, test_root, 0,
                            sizeof of_root / sizeof of_root[0]);
    } else {
        tcase_add_loop_test(tcase, test_anyone, 0,
                            sizeof of_anyone / sizeof of_anyone[0]);
    }
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
