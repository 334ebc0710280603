/* SPDX-License-Identifier: MIT */
/* Listening sockets that a service manager hands over at start:
 * sd_listen_fds(3).
 *
 * Owner: main. Lifetime: rd_activation_take() to rd_activation_fini().
 * Thread: main, before any other, as it changes the environment.
 */
#ifndef RD_DAEMON_ACTIVATION_H
#define RD_DAEMON_ACTIVATION_H

#include <restd/error.h>

#define RD_ACTIVATION_MAX 64

struct rd_activation {
    unsigned n;
    struct rd_activation_socket {
        int fd;         /* -1: claimed */
        char name[256]; /* "": the manager gave none */
    } sockets[RD_ACTIVATION_MAX];
};

/* Takes LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES out of the environment and
 * checks what they name: listening stream sockets of IPv4, IPv6 or unix, which
 * are then non-blocking and closed on exec. None, or those of another process:
 * n is 0. Returns 0, or a RESTD_E* code with a sentence; n is 0 then too. */
int rd_activation_take(struct rd_activation *activation,
                       struct restd_error *error) RESTD_MUST_CHECK;

/* The first socket of that name that has not been claimed, or -1. Ownership
 * moves. Several sockets may have one name; "" is for those without. */
int rd_activation_claim(struct rd_activation *activation, const char *name);

/* Closes what nobody claimed. */
void rd_activation_fini(struct rd_activation *activation);

#endif
