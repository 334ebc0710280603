/* SPDX-License-Identifier: MIT */
/* One small GET that waits: --healthcheck, and how an upgraded daemon asks
 * itself whether it serves.
 * Any thread that may wait; never a loop.
 */
#ifndef RD_DAEMON_PROBE_H
#define RD_DAEMON_PROBE_H

#include <stddef.h>

/* Both ask for `path` and return the status code of the answer, or -1 with a
 * sentence in `why` (of `size` bytes) when there was none within timeout_ms,
 * which bounds everything together.
 *
 * `address` is a listen address: "127.0.0.1:8888", "[::1]:8888", "unix:/path";
 * one that means all addresses (":8888", "0.0.0.0:1", "[::]:1") is reached
 * over loopback. */
int rd_probe_address(const char *address, const char *path, int timeout_ms,
                     char *why, size_t size);
/* Over a connected stream socket, which stays the caller's and is of no use
 * for another request. Its flags are left as they are. */
int rd_probe_fd(int fd, const char *path, int timeout_ms, char *why,
                size_t size);

#endif
