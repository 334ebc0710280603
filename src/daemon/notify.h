/* SPDX-License-Identifier: MIT */
/* What a service manager is told: sd_notify(3)'s datagrams.
 *
 * Owner: main. Lifetime: rd_notify_open() to rd_notify_fini().
 * Thread: main; rd_notify_open() before any other thread, as it changes the
 * environment. Without a manager every call does nothing and succeeds.
 */
#ifndef RD_DAEMON_NOTIFY_H
#define RD_DAEMON_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <restd/api.h>

struct rd_notify {
    int fd; /* -1: there is no manager */
    struct sockaddr_un to;
    socklen_t to_len;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
    uint64_t watchdog_us; /* 0: none. To hand on as WATCHDOG_USEC. */
};

/* Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment.
 * Returns 0, or -1 with errno for a socket that cannot be used; later calls
 * then do nothing. */
int rd_notify_open(struct rd_notify *notify);
void rd_notify_fini(struct rd_notify *notify);

/* Sends lines such as "READY=1\nSTATUS=serving". Never blocks: returns -1 with
 * errno EAGAIN when the manager's queue is full, so that what matters can be
 * said again. EMSGSIZE: more than 1,023 bytes. */
int rd_notify_send(struct rd_notify *notify, const char *format, ...)
    RESTD_PRINTF(2, 3);
/* RELOADING=1 with its time; READY=1 has to follow. */
int rd_notify_reloading(struct rd_notify *notify);
/* Has the manager keep a copy of `fd` under a name (printable ASCII, no colon;
 * else EINVAL), which comes back in LISTEN_FDS at the next start. */
int rd_notify_store_fd(struct rd_notify *notify, int fd, const char *name);
int rd_notify_remove_fd(struct rd_notify *notify, const char *name);

/* How often WATCHDOG=1 is due, half of what is allowed; 0: never. */
unsigned rd_notify_watchdog_ms(const struct rd_notify *notify);
/* NOTIFY_SOCKET for a process that takes over; NULL: there is none. */
const char *rd_notify_socket_path(const struct rd_notify *notify);

#endif
