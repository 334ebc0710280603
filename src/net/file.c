/* SPDX-License-Identifier: MIT */
/* Descriptors of files under way. Which kind one is follows from its number,
 * so nothing is remembered for each but that. Thread: [loop]. */
#include "net/file.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/assert.h"
#include "net/reactor.h"

static int is_low(const struct rd_reactor *r, int fd)
{
    return (uint32_t)fd < rd_loop_fds_n(r->loop);
}

int rd_file_keep(struct rd_reactor *r, int fd)
{
    if (!is_low(r, fd)) {
        return fd;
    }
    int high = fcntl(fd, F_DUPFD_CLOEXEC, (int)rd_loop_fds_n(r->loop));
    if (high >= 0) {
        close(fd);
        return high;
    }
    if (r->low_files_n > r->share / 4) {
        close(fd);
        return RESTD_ELIMIT;
    }
    r->low_files_n++;
    return fd;
}

void rd_file_close(struct rd_reactor *r, int fd)
{
    if (is_low(r, fd)) {
        RD_ASSERT(r->low_files_n > 0);
        r->low_files_n--;
    }
    close(fd);
}
