/* SPDX-License-Identifier: MIT */
/* The old side of an upgrade: spawn, hand over, wait, go or kill.
 *
 * The channel is a pair of sequenced-packet sockets, so that a message is a
 * record and the end of either process is an end of file. The new process gets
 * it as descriptor CHILD_FD, which the environment names; every other
 * descriptor of ours is closed on exec. The program is started by its path, not
 * by what runs, as a package has put a new file there.
 * Thread: main. */
#include "daemon/upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/clock.h"
#include "daemon/fault.h"
#include "daemon/fd_pass.h"

/* Some orchestrators put a dozen variables there for every service they run. */
enum { CHILD_FD = 3, ENV_MAX = 8192, LOOK_MS = 500 };

void rd_upgrade_init(struct rd_upgrade *upgrade)
{
    upgrade->fd = -1;
    upgrade->pid = -1;
    upgrade->until_ms = 0;
    upgrade->may_go = 0;
}

/* --- hand over ----------------------------------------------------------- */

static int send_listener(int channel, const struct rd_upgrade_listener *one)
{
    struct iovec parts[] = {
        {(char *)(uintptr_t)(one->owns_path ? "+" : "-"), 1},
        {(char *)(uintptr_t)one->address, strlen(one->address)}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    return rd_fd_send(channel, &message, one->fd, 0);
}

static int send_all(int channel, const struct rd_upgrade_listener *listeners,
                    unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (send_listener(channel, &listeners[i]) != 0) {
            return -1;
        }
    }
    return send(channel, "end", 3, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* --- spawn --------------------------------------------------------------- */

/* The environment without what belongs to this process, and with `more`. */
static int make_env(const char *const more[], char *env[ENV_MAX])
{
    static const char *const own[] = {"NOTIFY_SOCKET=", "WATCHDOG_", "LISTEN_",
                                      RD_UPGRADE_ENV "="};
    static char channel[] = RD_UPGRADE_ENV "=3";
    unsigned n = 0;
    for (char **at = environ; *at != NULL; at++) {
        unsigned i = 0;
        while (i < sizeof own / sizeof own[0] &&
               strncmp(*at, own[i], strlen(own[i])) != 0) {
            i++;
        }
        if (i < sizeof own / sizeof own[0]) {
            continue;
        }
        if (n == ENV_MAX - 8) {
            return -1;
        }
        env[n++] = *at;
    }
    for (unsigned i = 0; i < 6 && more[i] != NULL; i++) {
        env[n++] = (char *)(uintptr_t)more[i];
    }
    env[n++] = channel;
    env[n] = NULL;
    return 0;
}

/* Default dispositions and an empty mask: what this process does with signals
 * is not to be inherited. */
static int make_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int rc = posix_spawnattr_init(attr);
    if (rc == 0) {
        rc = posix_spawnattr_setsigmask(attr, &none);
    }
    if (rc == 0) {
        rc = posix_spawnattr_setsigdefault(attr, &all);
    }
    if (rc == 0) {
        rc = posix_spawnattr_setpgroup(attr, 0);
    }
    if (rc == 0) {
        rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
                                                POSIX_SPAWN_SETSIGDEF |
                                                POSIX_SPAWN_SETPGROUP);
    }
    return rc;
}

static int spawn(const char *path, char *const argv[], char *const env[],
                 int channel, pid_t *pid)
{
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t actions;
    int rc = make_attributes(&attr);
    if (rc != 0) {
        return rc;
    }
    rc = posix_spawn_file_actions_init(&actions);
    if (rc == 0) {
        rc = posix_spawn_file_actions_adddup2(&actions, channel, CHILD_FD);
        if (rc == 0) {
            rc = posix_spawn(pid, path, &actions, &attr, argv, env);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attr);
    return rc;
}

/* A pair, of which the one that is passed on has another number than CHILD_FD:
 * only then dup2() makes a copy that survives the exec. */
static int make_pair(int pair[2])
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return -1;
    }
    if (pair[1] == CHILD_FD) {
        int other = fcntl(pair[1], F_DUPFD_CLOEXEC, CHILD_FD + 1);
        close(pair[1]);
        pair[1] = other;
    }
    return pair[1] < 0 ? -1 : 0;
}

int rd_upgrade_start(struct rd_upgrade *upgrade, const char *path,
                     char *const argv[], const char *const env[],
                     const struct rd_upgrade_listener *listeners, unsigned n,
                     struct restd_error *error)
{
    static char *whole_env[ENV_MAX]; /* large, main alone */
    int pair[2];
    if (upgrade->fd >= 0) {
        return rd_fault(error, RESTD_ESTATE, "an upgrade is under way");
    }
    if (make_env(env, whole_env) != 0) {
        return rd_fault(error, RESTD_ELIMIT,
                        "more than %d variables in the environment",
                        ENV_MAX - 8);
    }
    if (make_pair(pair) != 0) {
        return rd_fault(error, RESTD_EOS, "socketpair: %s", strerror(errno));
    }
    int rc = spawn(path, argv, whole_env, pair[1], &upgrade->pid);
    close(pair[1]);
    if (rc != 0) {
        close(pair[0]);
        return rd_fault(error, RESTD_EOS, "cannot start %s: %s", path,
                        strerror(rc));
    }
    upgrade->fd = pair[0];
    upgrade->until_ms = rd_now_ms() + RD_UPGRADE_TIMEOUT_MS;
    if (fcntl(pair[0], F_SETFL, O_NONBLOCK) != 0 ||
        send_all(pair[0], listeners, n) != 0) {
        rd_fault(error, RESTD_EOS, "cannot hand over the listeners: %s",
                 strerror(errno));
        rd_upgrade_abort(upgrade);
        return RESTD_EOS;
    }
    return 0;
}

/* --- what becomes of it -------------------------------------------------- */

static void forget(struct rd_upgrade *upgrade)
{
    close(upgrade->fd);
    rd_upgrade_init(upgrade);
}

/* Kills it if it has not ended, and says how it ended. */
static void end(struct rd_upgrade *upgrade, const char *what, char *why,
                size_t size)
{
    int status = 0;
    int gone = waitpid(upgrade->pid, &status, WNOHANG) == upgrade->pid;
    if (!gone) {
        kill(upgrade->pid, SIGKILL);
        while (waitpid(upgrade->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        snprintf(why, size, "%s", what);
    } else if (WIFSIGNALED(status)) {
        snprintf(why, size, "%s: killed by signal %d", what, WTERMSIG(status));
    } else {
        snprintf(why, size, "%s: exit status %d", what, WEXITSTATUS(status));
    }
    forget(upgrade);
}

/* Its end of the channel is closed a moment before it has ended. */
static void await_end(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd >= 0) {
        struct pollfd end = {fd, POLLIN, 0};
        (void)poll(&end, 1, 500);
        close(fd);
    }
}

/* A child of its own may keep its end of the channel open. */
static int has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid;
}

enum rd_upgrade_event rd_upgrade_poll(struct rd_upgrade *upgrade, char *why,
                                      size_t size)
{
    char text[16];
    ssize_t n = recv(upgrade->fd, text, sizeof text, MSG_DONTWAIT);
    if (n == 5 && memcmp(text, "ready", 5) == 0 && !upgrade->may_go) {
        return RD_UPGRADE_READY;
    }
    if (n == 6 && memcmp(text, "serves", 6) == 0 && upgrade->may_go) {
        forget(upgrade);
        return RD_UPGRADE_SERVES;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (rd_now_ms() < upgrade->until_ms && !has_ended(upgrade->pid)) {
            return RD_UPGRADE_WAITS;
        }
        end(upgrade,
            rd_now_ms() < upgrade->until_ms
                ? "the new process has failed"
                : "the new process was not ready in time",
            why, size);
    } else if (n > 0) {
        end(upgrade, "the new process talks nonsense", why, size);
    } else {
        await_end(upgrade->pid);
        end(upgrade, "the new process has failed", why, size);
    }
    return RD_UPGRADE_FAILED;
}

int rd_upgrade_wait_ms(const struct rd_upgrade *upgrade)
{
    if (upgrade->fd < 0) {
        return -1;
    }
    uint64_t now = rd_now_ms();
    uint64_t left = now < upgrade->until_ms ? upgrade->until_ms - now : 0;
    return left < LOOK_MS ? (int)left : LOOK_MS;
}

int rd_upgrade_go(struct rd_upgrade *upgrade, char *why, size_t size)
{
    if (send(upgrade->fd, "go", 2, MSG_NOSIGNAL) < 0) {
        await_end(upgrade->pid);
        end(upgrade, "the new process has failed", why, size);
        return -1;
    }
    upgrade->may_go = 1;
    return 0;
}

void rd_upgrade_abort(struct rd_upgrade *upgrade)
{
    char why[80];
    if (upgrade->fd >= 0) {
        end(upgrade, "given up", why, sizeof why);
    }
}
