/* SPDX-License-Identifier: MIT */
/* The acceptor: one thread over the listening sockets that deals connections
 * round-robin to the loops, one wake-up per loop and batch. It never reads or
 * writes a client socket.
 *
 * Owner: the server. Lifetime: as the reactors'. Thread: [acceptor], but for
 * init, fini and the posts. */
#ifndef RD_NET_ACCEPTOR_H
#define RD_NET_ACCEPTOR_H

#include <pthread.h>
#include <stdint.h>

#include <restd/options.h>

#include "base/log.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/reactor.h"

#define RD_ACCEPT_RETRY_MS 10

struct rd_acceptor;
typedef int rd_acceptor_fn(struct rd_acceptor *acceptor, void *arg);

/* Of who waits for it. Thread: [lock: the acceptor's]. */
struct rd_acceptor_call {
    rd_acceptor_fn *fn;
    void *arg;
    int rc, done;
};

/* A socket for one loop, which nobody has accepted. */
struct rd_adoption {
    struct rd_handover entry;
    unsigned reactor;
};

struct rd_acceptor {
    struct restd_loop *loop;
    struct rd_budget *budget;
    struct rd_log *log;
    struct rd_listener *listeners; /* the server's */
    unsigned listeners_n;
    struct rd_reactor **reactors; /* RD_REACTORS_MAX, the server's */
    unsigned next;
    /* What a reload changes. [any] to read, control writes. */
    _Atomic unsigned reactors_n;
    _Atomic uint32_t backlog, drain_silence_ms;
    uint64_t *dealt; /* sockets given to each reactor */
    int spare;       /* held open for when there are none left; -1: in use */
    struct rd_timer retry;
    uint32_t retry_ms;       /* until then; grows while nobody makes room */
    int is_guest;            /* the loop is another's, and goes on */
    int is_on;               /* accepts at all */
    int paused, ending;      /* waits for `retry`; drains */
    _Atomic int is_shared;   /* [any] the sockets live on elsewhere */
    uint64_t starved_ns;     /* begin of an episode without descriptors */
    uint64_t starved_n;      /* taken by the spare in this episode */
    struct rd_timer silence; /* of a drain, before the listeners close */
    struct rd_timer leaving; /* the same of listeners that are given up */
    struct rd_post drain, stop, call; /* [any] to post */
    pthread_mutex_t lock;
    pthread_cond_t called;
    struct rd_acceptor_call *calls; /* [lock: lock] one or none */
    int ended;                      /* [lock: lock] */
    _Atomic int tid;
};

/* `host`: a loop that others run, as for rd_reactor_init(). */
int rd_acceptor_init(struct rd_acceptor *acceptor,
                     const struct restd_options *options,
                     struct rd_budget *budget, struct rd_log *log,
                     struct rd_listener *listeners, unsigned listeners_n,
                     uint32_t fd_max, struct restd_loop *host);
/* Before the acceptor is told of so many, by init or below. */
void rd_acceptor_add(struct rd_acceptor *acceptor, struct rd_reactor *reactor);
/* [control] From now on it deals to as many loops as the options have workers,
 * which are never fewer than before. */
void rd_acceptor_reload(struct rd_acceptor *acceptor,
                        const struct restd_options *options);
void rd_acceptor_fini(struct rd_acceptor *acceptor);
/* Thread body: runs until drained or stopped; then every listener is closed and
 * every reactor has got its `accept_end`. */
void rd_acceptor_run(struct rd_acceptor *acceptor);

/* Closes every listener and says that nothing follows; rd_acceptor_run() then
 * returns. Idempotent. */
void rd_acceptor_end(struct rd_acceptor *acceptor);

/* [any but the acceptor] Has the acceptor call `fn`, and waits: what that
 * returns, or RESTD_ESTATE if it ends or has ended. */
int rd_acceptor_call(struct rd_acceptor *acceptor, rd_acceptor_fn *fn,
                     void *arg);
/* For that. `arg` is a struct rd_listener that is open: takes it up; RESTD_ESTATE
 * in a drain, RESTD_ELIMIT if its descriptor is too high. */
rd_acceptor_fn rd_acceptor_listen;
/* ... gives it up: it is closed a while later. */
rd_acceptor_fn rd_acceptor_unlisten;
/* ... closes at once what was given up; how many. No `arg`. */
rd_acceptor_fn rd_acceptor_hasten;
/* ... hands over a struct rd_adoption; RESTD_EAGAIN if its loop is behind. */
rd_acceptor_fn rd_acceptor_adopt;
/* ... accepts or not, by an int. */
rd_acceptor_fn rd_acceptor_switch;

/* Between acceptor.c and acceptor_life.c: a descriptor to be given up, or -1;
 * has the listeners watched as the state asks; what to call for one; takes
 * everything off a queue (0: not all of it) and hands a socket over. */
int rd_acceptor_spare(void);
void rd_acceptor_watch(struct rd_acceptor *acceptor);
void rd_acceptor_event(struct rd_io *io, int events);
int rd_acceptor_empty(struct rd_acceptor *acceptor,
                      struct rd_listener *listener);
int rd_acceptor_deal(struct rd_acceptor *acceptor, unsigned reactor,
                     const struct rd_handover *entry);

#endif
