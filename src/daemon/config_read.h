/* SPDX-License-Identifier: MIT */
/* Bytes of a configuration file. Thread: main. */
#ifndef RD_DAEMON_CONFIG_READ_H
#define RD_DAEMON_CONFIG_READ_H

#include <sys/types.h>

/* Up to `size` bytes, fewer at the end of the file. -1 with errno, which is
 * EPIPE for a pipe that nobody writes to. */
ssize_t rd_config_read(int fd, char *data, size_t size);

#endif
