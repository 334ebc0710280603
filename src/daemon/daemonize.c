/* SPDX-License-Identifier: MIT */
/* fork, setsid, fork; the first process waits until the daemon is ready.
 *
 *   caller's child --fork--> leader (setsid) --fork--> daemon
 *         |  <---------------- pid, then "ready" ---------+
 *
 * The first process makes itself the one that orphans below it fall to, so
 * that it can still wait for the daemon after the leader has ended: its exit
 * code reaches the caller whatever way it ends, crashes included. The daemon
 * is waited for by its number, as the first process may have children from
 * before. Nothing here exits: main() returns. Main thread, before any other.
 */
#include "daemon/daemonize.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/fault.h"

static void close_all(struct rd_daemonize *daemonize)
{
    if (daemonize->parent >= 0) {
        close(daemonize->parent);
    }
    if (daemonize->null >= 0) {
        close(daemonize->null);
    }
    daemonize->parent = daemonize->null = -1;
}

/* Exit code of a process that ended before the daemon was ready. */
static int code_of(pid_t pid)
{
    int status;
    pid_t got;
    do {
        got = waitpid(pid, &status, 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return EXIT_FAILURE;
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "restdaemon: ended by signal %d before it was ready\n",
                WTERMSIG(status));
        return EXIT_FAILURE;
    }
    return WEXITSTATUS(status);
}

static ssize_t receive(int fd, void *data, size_t size)
{
    ssize_t n;
    do {
        n = recv(fd, data, size, 0);
    } while (n < 0 && errno == EINTR);
    return n;
}

/* The exit code for the caller. */
static int wait_for_daemon(int fd, pid_t leader)
{
    pid_t daemon;
    char byte;
    if (receive(fd, &daemon, sizeof daemon) != (ssize_t)sizeof daemon) {
        int code = code_of(leader);
        return code != 0 ? code : EXIT_FAILURE;
    }
    code_of(leader);
    if (receive(fd, &byte, 1) == 1) {
        return EXIT_SUCCESS;
    }
    int code = code_of(daemon);
    /* Told to stop while it started: that is no start. */
    return code != 0 ? code : EXIT_FAILURE;
}

/* In the leader and in the daemon; the result is rd_daemonize()'s. */
static int detach(struct rd_daemonize *daemonize, int *exit_code,
                  struct restd_error *error)
{
    setsid(); /* cannot fail in a process that has just been made */
    pid_t pid = fork();
    if (pid < 0) {
        return rd_fault_os(error, errno, "fork");
    }
    if (pid > 0) {
        *exit_code = EXIT_SUCCESS;
        return 1;
    }
    umask(027);
    pid = getpid();
    if (send(daemonize->parent, &pid, sizeof pid, MSG_NOSIGNAL) < 0) {
        return rd_fault_os(error, errno, "the process that waits");
    }
    return 0;
}

int rd_daemonize(struct rd_daemonize *daemonize, int *exit_code,
                 struct restd_error *error)
{
    int pair[2];
    daemonize->parent = -1;
    daemonize->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (daemonize->null < 0) {
        return rd_fault_os(error, errno, "/dev/null");
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        int saved = errno;
        close_all(daemonize);
        return rd_fault_os(error, saved, "socketpair");
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL); /* or the same text would be written by three */
    pid_t leader = fork();
    if (leader == 0) {
        close(pair[0]);
        daemonize->parent = pair[1];
        int rc = detach(daemonize, exit_code, error);
        if (rc != 0) {
            close_all(daemonize);
        }
        return rc;
    }
    int saved = errno;
    close(pair[1]);
    close_all(daemonize);
    if (leader > 0) {
        *exit_code = wait_for_daemon(pair[0], leader);
    }
    close(pair[0]);
    return leader > 0 ? 1 : rd_fault_os(error, saved, "fork");
}

void rd_daemonize_ready(struct rd_daemonize *daemonize)
{
    if (daemonize->parent < 0) {
        return;
    }
    int rc = chdir("/");
    (void)rc; /* the root folder is always there */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        dup2(daemonize->null, fd);
    }
    /* Nobody waiting any more is no reason to stop. */
    send(daemonize->parent, "", 1, MSG_NOSIGNAL);
    close_all(daemonize);
}
