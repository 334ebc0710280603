/* SPDX-License-Identifier: MIT */
/* The acceptor: one thread over the listening sockets that deals connections
 * round-robin to the loops, one wake-up per loop and batch. It never reads or
 * writes a client socket.
 *
 * Owner: the server. Lifetime: as the reactors'. Thread: [acceptor], but for
 * init, fini and the posts. */
#ifndef RD_NET_ACCEPTOR_H
#define RD_NET_ACCEPTOR_H

#include <stdint.h>

#include <restd/options.h>

#include "base/log.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/reactor.h"

struct rd_acceptor {
    struct restd_loop *loop;
    const struct restd_options *options;
    struct rd_budget *budget;
    struct rd_log *log;
    struct rd_listener *listeners; /* the server's */
    unsigned listeners_n;
    struct rd_reactor **reactors; /* the server's */
    unsigned reactors_n, next;
    uint64_t *dealt; /* sockets given to each reactor */
    uint32_t fds_n;  /* libev's arrays hold descriptors below this */
    int spare;       /* held open for when there are none left; -1: in use */
    struct rd_timer retry;
    uint32_t retry_ms;          /* until then; grows while nobody makes room */
    int paused, ending;         /* waits for `retry`; drains */
    uint64_t starved_ns;        /* begin of an episode without descriptors */
    uint64_t starved_n;         /* taken by the spare in this episode */
    struct rd_timer silence;    /* of a drain, before the listeners close */
    struct rd_post drain, stop; /* [any] to post */
    _Atomic int tid;
};

int rd_acceptor_init(struct rd_acceptor *acceptor,
                     const struct restd_options *options,
                     struct rd_budget *budget, struct rd_log *log,
                     struct rd_listener *listeners, unsigned listeners_n,
                     unsigned reactors_max, uint32_t fd_max);
/* Before the acceptor runs. */
void rd_acceptor_add(struct rd_acceptor *acceptor, struct rd_reactor *reactor);
void rd_acceptor_fini(struct rd_acceptor *acceptor);
/* Thread body: runs until drained or stopped; then every listener is closed and
 * every reactor has got its `accept_end`. */
void rd_acceptor_run(struct rd_acceptor *acceptor);

#endif
