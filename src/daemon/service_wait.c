/* SPDX-License-Identifier: MIT */
/* What main does while the daemon serves: it waits for signals, the server's
 * end, and an upgrade, and tells the service manager how things are.
 *
 * TERM, INT and QUIT drain, a second one stops at once; HUP reloads; USR1 opens
 * the logs anew; USR2 starts the program that stands at our path now, which
 * takes over. Thread: main. */
#include "daemon/service.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "daemon/clock.h"
#include "daemon/health.h"

/* END_S: for a loop to end, beyond what it may take. */
enum { STATUS_MS = 5000, DRAIN_EXTEND_MS = 5000, END_S = 5 };

/* --- signals ------------------------------------------------------------- */

static void give_up(int number)
{
    static const char text[] =
        "restdaemon: a loop is held up and does not end: giving up\n";
    ssize_t n;
    alarm(1); /* nobody may read what is written: the default action, then */
    n = write(STDERR_FILENO, text, sizeof text - 1);
    (void)number;
    (void)n;
    _exit(EX_SOFTWARE);
}

/* A handler that never returns would keep the process, and main where it waits
 * for the loops; the old one of an upgrade nobody would miss. */
static void end_within(uint64_t ms)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigset_t alarms;
    sigaction(SIGALRM, &action, NULL); /* drops one that is pending */
    action.sa_handler = give_up;
    action.sa_flags = SA_NODEFER | (int)SA_RESETHAND;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    alarm((unsigned)(ms / 1000) + END_S);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
}

static void drain(struct rd_service *s, const char *why)
{
    const struct restd_options *options = &s->config->options;
    s->stopping = 1;
    restd_server_log(s->server, RESTD_LOG_NOTICE,
                     "%s: draining, once more stops at once", why);
    if (s->upgrade.fd >= 0) {
        rd_upgrade_abort(&s->upgrade);
        rd_service_keep_paths(s, 0);
    }
    rd_notify_send(&s->notify, "STOPPING=1\nSTATUS=draining");
    s->status_due_ms = 0;
    end_within((uint64_t)options->shutdown_delay_ms +
               options->drain_timeout_ms);
    restd_server_drain(s->server);
}

static void upgrade(struct rd_service *s)
{
    struct rd_upgrade_listener listeners[RD_SERVICE_LISTENERS_MAX];
    char notify[160], watchdog[48];
    const char *env[3] = {NULL, NULL, NULL};
    struct restd_error error;
    if (rd_notify_socket_path(&s->notify) != NULL) {
        snprintf(notify, sizeof notify, "NOTIFY_SOCKET=%s",
                 rd_notify_socket_path(&s->notify));
        env[0] = notify;
        snprintf(watchdog, sizeof watchdog, "WATCHDOG_USEC=%llu",
                 (unsigned long long)s->notify.watchdog_us);
        env[1] = s->notify.watchdog_us > 0 ? watchdog : NULL;
    }
    unsigned n = rd_service_hand_over(s, listeners);
    if (rd_upgrade_start(&s->upgrade, s->program, s->argv, env, listeners, n,
                         &error) != 0) {
        restd_server_log(s->server, RESTD_LOG_ERROR,
                         "upgrade: %s; this process goes on", error.message);
        return;
    }
    restd_server_log(s->server, RESTD_LOG_NOTICE,
                     "upgrade: started %s as process %d", s->program,
                     (int)s->upgrade.pid);
}

static void on_stop(struct rd_service *s, const char *name)
{
    if (!s->stopping) {
        drain(s, name);
        return;
    }
    restd_server_log(s->server, RESTD_LOG_NOTICE, "%s: stopping at once", name);
    end_within(0);
    restd_server_stop(s->server);
}

static void on_signal(struct rd_service *s, int number)
{
    char name[24];
    int busy = s->stopping || s->upgrade.fd >= 0;
    switch (number) {
    case SIGHUP:
        if (!busy) {
            rd_service_reload(s);
            return;
        }
        break;
    case SIGUSR2:
        if (!busy) {
            upgrade(s);
            return;
        }
        break;
    case SIGUSR1:
        rd_logsink_reopen(s->sink);
        restd_server_log_flush(s->server);
        restd_server_log(s->server, RESTD_LOG_NOTICE,
                         "SIGUSR1: opening log files anew");
        return;
    default:
        snprintf(name, sizeof name, "SIG%s", sigabbrev_np(number));
        on_stop(s, name);
        return;
    }
    restd_server_log(
        s->server, RESTD_LOG_WARNING, "SIG%s ignored: %s", sigabbrev_np(number),
        s->stopping ? "the daemon is stopping" : "an upgrade is under way");
}

/* --- the service manager ------------------------------------------------- */

/* A watchdog that is fed only while every loop turns. */
static void feed_watchdog(struct rd_service *s, uint64_t now)
{
    unsigned every = rd_notify_watchdog_ms(&s->notify);
    if (every == 0 || now < s->watchdog_due_ms) {
        return;
    }
    s->watchdog_due_ms = now + every;
    if (rd_health_alive(s->server)) {
        rd_notify_send(&s->notify, "WATCHDOG=1");
    }
}

static void tell_status(struct rd_service *s, uint64_t now)
{
    struct restd_stats stats;
    if (now < s->status_due_ms) {
        return;
    }
    s->status_due_ms = now + STATUS_MS;
    restd_server_stats(s->server, &stats);
    if (s->stopping) {
        rd_notify_send(&s->notify,
                       "EXTEND_TIMEOUT_USEC=%u\nSTATUS=draining, %llu conns",
                       (STATUS_MS + DRAIN_EXTEND_MS) * 1000u,
                       (unsigned long long)stats.counters.active);
    } else {
        rd_notify_send(&s->notify, "STATUS=%.0f req/s, %llu conns",
                       stats.per_second[0],
                       (unsigned long long)stats.counters.active);
    }
}

/* Until something has to be done without an event; -1: never. */
static int wait_ms(const struct rd_service *s)
{
    int wait = rd_upgrade_wait_ms(&s->upgrade);
    if (s->notify.fd < 0) {
        return wait;
    }
    uint64_t now = rd_now_ms();
    uint64_t due = s->status_due_ms;
    if (rd_notify_watchdog_ms(&s->notify) > 0 && s->watchdog_due_ms < due) {
        due = s->watchdog_due_ms;
    }
    int until = due > now ? (int)(due - now) : 0;
    return wait >= 0 && wait < until ? wait : until;
}

/* --- the wait ------------------------------------------------------------ */

/* The service manager has to know the new process before that speaks. */
static enum rd_upgrade_event let_go(struct rd_service *s, char *why,
                                    size_t size)
{
    rd_service_keep_paths(s, 1);
    rd_notify_send(&s->notify, "MAINPID=%d", (int)s->upgrade.pid);
    return rd_upgrade_go(&s->upgrade, why, size) == 0 ? RD_UPGRADE_WAITS
                                                      : RD_UPGRADE_FAILED;
}

/* It may have been the main process for a moment. */
static void take_back(struct rd_service *s, int went)
{
    rd_service_keep_paths(s, 0);
    if (went) {
        rd_notify_send(&s->notify, "MAINPID=%d", (int)getpid());
    }
}

static void on_upgrade(struct rd_service *s)
{
    char why[160];
    int went = s->upgrade.may_go;
    enum rd_upgrade_event event = rd_upgrade_poll(&s->upgrade, why, sizeof why);
    if (event == RD_UPGRADE_READY) {
        went = 1;
        event = let_go(s, why, sizeof why);
    }
    switch (event) {
    case RD_UPGRADE_WAITS:
    case RD_UPGRADE_READY:
        break;
    case RD_UPGRADE_FAILED:
        take_back(s, went);
        restd_server_log(s->server, RESTD_LOG_ERROR,
                         "upgrade: %s; this process goes on", why);
        break;
    case RD_UPGRADE_SERVES:
        /* It is the new one's word that counts from here. */
        rd_notify_fini(&s->notify);
        drain(s, "upgrade: the new process serves");
        break;
    }
}

int rd_service_wait(struct rd_service *s)
{
    struct pollfd fds[3] = {{restd_server_stopped_fd(s->server), POLLIN, 0},
                            {s->signals, POLLIN, 0},
                            {-1, POLLIN, 0}};
    while (fds[0].revents == 0) {
        struct signalfd_siginfo info;
        fds[2].fd = s->upgrade.fd;
        if (poll(fds, 3, wait_ms(s)) < 0 && errno != EINTR) {
            restd_server_log(s->server, RESTD_LOG_ERROR, "poll: %s",
                             strerror(errno));
            return EX_OSERR;
        }
        while (read(s->signals, &info, sizeof info) == sizeof info) {
            on_signal(s, (int)info.ssi_signo);
        }
        if (s->upgrade.fd >= 0) {
            on_upgrade(s);
        }
        if (s->notify.fd >= 0) {
            uint64_t now = rd_now_ms();
            feed_watchdog(s, now);
            tell_status(s, now);
        }
    }
    restd_server_wait(s->server);
    if (!s->stopping) {
        fprintf(stderr, "restdaemon: the server has stopped by itself\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
