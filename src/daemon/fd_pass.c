/* SPDX-License-Identifier: MIT */
/* Sending a descriptor by SCM_RIGHTS, see unix(7). A signal in between is no
 * failure. Any thread. */
#include "daemon/fd_pass.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>

int rd_fd_send(int channel, struct msghdr *message, int fd, int flags)
{
    union rd_fd_room room;
    ssize_t n;
    if (fd >= 0) {
        memset(&room, 0, sizeof room);
        message->msg_control = room.bytes;
        message->msg_controllen = sizeof room.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    do {
        n = sendmsg(channel, message, flags | MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -1 : 0;
}
