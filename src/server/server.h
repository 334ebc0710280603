/* SPDX-License-Identifier: MIT */
/* The body of struct restd_server, for the files of this layer: server.c
 * (life), control.c (the control thread), loops.c (loop threads), reload.c
 * (snapshots), stats.c (figures), plan.c (sizes).
 *
 * Thread: fields are [init], then read only, unless tagged. */
#ifndef RD_SERVER_SERVER_H
#define RD_SERVER_SERVER_H

#include <pthread.h>
#include <stdatomic.h>

#include <restd/server.h>

#include "base/hist.h"
#include "base/ledger.h"
#include "base/log.h"
#include "http/h1.h"
#include "route/router.h"
#include "net/acceptor.h"
#include "net/listener.h"
#include "net/reactor.h"

/* Stages of the 1 Hz sampler. */
#define RD_RATE_SECONDS 60
#define RD_WINDOW_SECONDS 10
#define RD_WINDOWS_N 7 /* 6 whole ones and the running one */
#define RD_LAG_SECONDS 10

/* What the sampler derives of one loop. */
struct rd_loop_sample {
    double requests_per_second, busy_ratio, lag_seconds, p99_seconds;
};

/* What the sampler derives of all. */
struct rd_sample {
    double per_second[3];
    uint64_t latency_count;
    double mean, min, max, p50, p90, p95, p99, p999;
};

/* Sizes, decided before anything is allocated. */
struct rd_plan {
    int is_guest; /* on a loop of another server */
    unsigned loops_n;
    uint32_t connections_max, fd_max;
    size_t in_size;
    uint64_t fixed_bytes; /* without what the reactors charge */
};

/* One loop with all that belongs to it. */
struct rd_server_loop {
    struct rd_reactor reactor;
    struct rd_h1 h1;
    pthread_t thread;
    int started;
    struct rd_post drained; /* loop posts to control */
    struct restd_server *server;
    /* [control] */
    uint64_t last_requests, last_busy_ns;
    double lags[RD_LAG_SECONDS];
    struct rd_hist_sum window_start, window_before;
    /* [any] to read: two buffers, see rd_sampler. */
    _Atomic uint64_t
        samples[2][sizeof(struct rd_loop_sample) / sizeof(uint64_t)];
};

/* The sampler writes into the buffer that is not shown, then shows it; the
 * other is not touched for a second, and a reader that was overtaken sees that
 * the number has moved on and reads again. */
struct rd_sampler {
    struct restd_server *server;
    struct rd_timer timer;
    _Atomic uint32_t shown; /* [any] to read; buffer shown % 2 */
    _Atomic uint64_t samples[2][sizeof(struct rd_sample) / sizeof(uint64_t)];
    /* [control] */
    uint64_t last_ns;
    unsigned seconds;
    uint64_t totals[RD_RATE_SECONDS + 1];
    struct rd_hist_sum last;
    struct rd_hist_sum windows[RD_WINDOWS_N];
};

/* A configuration with its routes, and what each thread has of it. A router
 * may be that of several.
 * Owner: the server's list. Lifetime: until all threads have let it go, or to
 * restd_server_free(). Thread: [control], but for the views. */
struct rd_snapshot {
    struct rd_snapshot *next;
    struct restd_server *server;
    struct restd_options options;
    struct restd_router *router;
    int is_taken;              /* in the list, and charged */
    unsigned views_n, held_n;  /* held: by its loop */
    struct rd_h1_view views[]; /* by loop */
};

/* A call of restd_server_reload(), for control. Owner: that call. */
struct rd_reload {
    struct rd_snapshot *snapshot;
    struct restd_options asked;
    int done, rc; /* [lock: lock] */
};

struct restd_server {
    /* As they are in use; [control] while it runs. */
    struct restd_options options;
    struct restd_options asked; /* as they were given */
    struct rd_plan plan;
    struct rd_budget budget;
    struct rd_ledger ledger; /* of what is not a loop's */
    struct rd_log *log;
    struct restd_router *router;   /* that of the newest snapshot */
    struct rd_snapshot *snapshots; /* [control] newest first */
    struct rd_listener listeners[RD_LISTENERS_MAX];
    unsigned listeners_n; /* slots used so far; [lock: lock], main changes it */
    /* RD_REACTORS_MAX places; NULL: not started. [any] to read below loops_n,
     * which is released when a loop is ready. */
    struct rd_server_loop **loops;
    _Atomic unsigned loops_n;
    struct rd_acceptor acceptor;
    struct rd_offload offload;
    pthread_t acceptor_thread, control_thread;
    int acceptor_started, control_started;
    struct restd_loop *control;
    struct rd_sampler *sampler;
    struct rd_post drain, stop, reload; /* [any] to post, control runs */
    struct rd_timer drain_timer;        /* [control] */
    unsigned drained_n;                 /* [control] */
    int drain_told, drain_begun;        /* [control] before, after its delay */
    _Atomic int state;                  /* enum restd_state; control writes */
    uint64_t started_ns;
    int64_t started_unix_ms;
    int stopped_fd;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    int finished, joining, joined; /* [lock: lock] */
    struct rd_reload *reloading;   /* [lock: lock] */
    struct rd_post begin, gone;    /* of a guest; [control] */
    int detached;                  /* of a guest; [lock: lock] */
};

static inline unsigned rd_loops_n(const struct restd_server *server)
{
    return atomic_load_explicit(&server->loops_n, memory_order_acquire);
}

/* server.c. `host`: a loop to be a guest on, or NULL. */
int rd_server_make(struct restd_loop *host, const struct restd_options *options,
                   struct restd_server **server, struct restd_error *error);

/* listen.c: RESTD_ESTATE once the server was started. */
int rd_server_check_starting(const struct restd_server *server,
                             struct restd_error *error);

/* loops.c */

/* Makes loops number `from` up to that of the snapshot's last view; on an error
 * the rest is rd_loops_free()'s. */
int rd_loops_make(struct restd_server *server, struct rd_snapshot *snapshot,
                  unsigned from, struct restd_error *error);
int rd_loops_start(struct restd_server *server, unsigned from, unsigned to);
/* Waits for those that run: they have been told to end. */
void rd_loops_join(struct restd_server *server, unsigned from, unsigned to);
void rd_loops_free(struct restd_server *server, unsigned from);

/* reload.c */

/* RESTD_ENOMEM. Nothing is charged. The router is frozen. */
int rd_snapshot_new(struct restd_server *server,
                    const struct restd_options *options,
                    struct restd_router *router, unsigned loops_n,
                    struct rd_snapshot **snapshot);
/* Charges it, seals its router and makes it the newest. RESTD_EBUDGET. */
int rd_snapshot_take(struct rd_snapshot *snapshot);
/* Frees one, taken or not, and of a taken one the router if it is nobody's. */
void rd_snapshot_free(struct rd_snapshot *snapshot);
void rd_reload_run(struct rd_post *post);

/* listen.c: of a server whose acceptor does not run. */
void rd_server_close_listener(const struct restd_server *server,
                              struct rd_listener *listener);

/* lint.c: warns of the routes; the router is frozen. */
void rd_server_lint(struct restd_server *server);

/* plan.c */
unsigned rd_plan_log_rings(unsigned loops);
int rd_plan_make(const struct restd_options *options, struct rd_plan *plan,
                 struct restd_error *error);
/* RESTD_EBUDGET if so many loops do not fit. */
int rd_plan_check(const struct rd_plan *plan,
                  const struct restd_options *options, unsigned loops,
                  struct restd_error *error);
/* What a server with so many loops charges by itself. */
uint64_t rd_plan_fixed(const struct rd_plan *plan, unsigned loops);

/* control.c */
int rd_control_init(struct restd_server *server, uint32_t fd_max);
void *rd_control_main(void *arg);
/* From now on the drain of that loop is waited for. */
void rd_control_add(struct rd_server_loop *loop);

/* The loops have ended: the state, and the last line of the log. */
void rd_control_over(struct restd_server *server);
/* Tells those who wait for that. */
void rd_control_tell(struct restd_server *server);

/* attach.c: of guests. Asks the loop's host; takes that back. */
int rd_attach_reserve(struct restd_server *server, struct restd_error *error);
void rd_attach_cancel(struct restd_server *server);
void rd_attach_start(struct restd_server *server);
/* [any] Posts `drain` or `stop`; where nobody runs the loop the end is now. */
void rd_attach_post(struct restd_server *server, struct rd_post *post);
/* [control] Its loop has ended. */
void rd_attach_leave(struct restd_server *server);

/* stats.c */
void rd_sampler_init(struct restd_server *server);
void rd_sampler_add(struct rd_server_loop *loop);
/* Of a drain: requests finished, and cut by its end. [any] */
void rd_stats_drain(const struct restd_server *server, uint64_t *finished,
                    uint64_t *cut);
void rd_sampler_tick(struct restd_server *server, uint64_t now_ns);

#endif
