/* SPDX-License-Identifier: MIT */
/* Runs a part of a test in a process of its own, for what a process can do only
 * once: change its user, its descriptors, its session.
 *
 * The function returns 0, or the number of the line that went wrong, for which
 * EXPECT() is. Nothing of Check may be called in it. */
#ifndef RD_TESTS_CHILD_H
#define RD_TESTS_CHILD_H

#include <check.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(condition)                                                      \
    do {                                                                       \
        if (!(condition)) {                                                    \
            return __LINE__;                                                   \
        }                                                                      \
    } while (0)

static inline void run_in_child(int (*function)(void *data), void *data)
{
    int status, *line = mmap(NULL, sizeof *line, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(line, MAP_FAILED);
    *line = -1;
    pid_t pid = fork();
    if (pid == 0) {
        *line = function(data);
        _exit(0);
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "child ended with status %d", status);
    ck_assert_msg(*line == 0, "child: line %d", *line);
    munmap(line, sizeof *line);
}

#endif
