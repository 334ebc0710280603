/* SPDX-License-Identifier: MIT */
/* A descriptor that goes along with a message over a unix socket. Any thread.
 */
#ifndef RD_DAEMON_FD_PASS_H
#define RD_DAEMON_FD_PASS_H

#include <sys/socket.h>

/* Room for the one that may come; aligned as its head has to be. */
union rd_fd_room {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* Sends `message` with `fd`, unless that is -1. 0, or -1 with errno. */
int rd_fd_send(int channel, struct msghdr *message, int fd, int flags);

#endif
