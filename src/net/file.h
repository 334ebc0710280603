/* SPDX-License-Identifier: MIT */
/* Descriptors of files that are being sent.
 *
 * libev's arrays hold the numbers up to what the plan has given to sockets
 * (rd_loop_fds_n()), and the kernel gives out the lowest free number. A file
 * that outlives its turn would take one of them and push a socket beyond the
 * arrays, so its descriptor is moved above: nobody watches a file. Where the
 * limit has no room there, files share the low numbers with the connections:
 * a loop keeps at most a quarter of its share of them, and one more.
 *
 * Thread: [loop]. */
#ifndef RD_NET_FILE_H
#define RD_NET_FILE_H

#include <restd/error.h>

struct rd_reactor;

/* Takes the descriptor of a file that will outlive the turn, and returns the
 * one to use from now on; RESTD_ELIMIT, and it is closed, if there are too
 * many. */
RESTD_MUST_CHECK int rd_file_keep(struct rd_reactor *reactor, int fd);
/* Closes one that rd_file_keep() has returned. */
void rd_file_close(struct rd_reactor *reactor, int fd);

#endif
