/* SPDX-License-Identifier: MIT */
/* Snapshots: a running server gets other options, other routes, more loops.
 *
 * The caller's thread builds all that is new and asks control to publish it,
 * because control orders drain and stop as well: a loop is either known to
 * both or to none. Publishing offers each loop its view (http/h1_view.h) and
 * waits for nobody. A loop that has let go of an old view posts it here, and
 * with the last one the old snapshot is freed; one that was never picked up
 * comes back with the next offer. Threads: restd_* as server.h says, the rest
 * [control] unless tagged. */
#include "base/assert.h"
#include "base/error.h"
#include "base/mem.h"
#include "route/router_tree.h"
#include "server/options.h"
#include "server/server.h"

static size_t snapshot_size(unsigned views_n)
{
    return sizeof(struct rd_snapshot) + views_n * sizeof(struct rd_h1_view);
}

static uint64_t snapshot_bytes(const struct rd_snapshot *snapshot)
{
    return rd_page_round(snapshot_size(snapshot->views_n)) +
           snapshot->views_n * rd_router_work_bytes(snapshot->router, 0);
}

/* Bytes that come with it, on top of what is charged. */
static uint64_t bytes_more(const struct rd_snapshot *snapshot)
{
    const struct restd_server *s = snapshot->server;
    int is_known = s->snapshots && snapshot->router == s->router;

    return snapshot_bytes(snapshot) +
           (is_known ? 0 : rd_router_bytes(snapshot->router));
}

static void let_go(struct rd_snapshot *snapshot)
{
    if (--snapshot->held_n == 0) {
        rd_snapshot_free(snapshot);
    }
}

static void view_released(struct rd_post *post)
{
    let_go(RD_CONTAINER_OF(post, struct rd_h1_view, released)->owner);
}

int rd_snapshot_new(struct restd_server *s, const struct restd_options *options,
                    struct restd_router *router, unsigned loops_n,
                    struct rd_snapshot **out)
{
    struct rd_snapshot *snapshot = rd_page_alloc(snapshot_size(loops_n));
    int rc = 0;

    if (!snapshot) {
        return RESTD_ENOMEM;
    }
    snapshot->server = s;
    snapshot->options = *options;
    snapshot->options.workers = loops_n;
    snapshot->router = router;
    snapshot->views_n = loops_n;
    snapshot->held_n = loops_n;
    for (unsigned i = 0; rc == 0 && i < loops_n; i++) {
        struct rd_h1_view *view = &snapshot->views[i];
        rc = rd_h1_view_init(view, router, &snapshot->options);
        rd_post_init(&view->released, view_released);
        view->home = s->control;
        view->owner = snapshot;
    }
    if (rc != 0) {
        rd_snapshot_free(snapshot);
        return rc;
    }
    *out = snapshot;
    return 0;
}

int rd_snapshot_take(struct rd_snapshot *snapshot)
{
    struct restd_server *s = snapshot->server;

    if (rd_ledger_charge(&s->ledger, RD_MEM_FIXED, bytes_more(snapshot)) != 0) {
        return RESTD_EBUDGET;
    }
    rd_router_seal(snapshot->router);
    snapshot->is_taken = 1;
    snapshot->next = s->snapshots;
    s->snapshots = snapshot;
    s->router = snapshot->router;
    s->options = snapshot->options;
    return 0;
}

static struct rd_snapshot **find(struct restd_server *s,
                                 const struct rd_snapshot *snapshot,
                                 const struct restd_router *router)
{
    struct rd_snapshot **at = &s->snapshots;

    while (*at && *at != snapshot && (*at)->router != router) {
        at = &(*at)->next;
    }
    return at;
}

void rd_snapshot_free(struct rd_snapshot *snapshot)
{
    struct restd_server *s = snapshot->server;
    struct restd_router *router = snapshot->router;
    int is_taken = snapshot->is_taken;

    if (is_taken) {
        *find(s, snapshot, NULL) = snapshot->next;
        rd_ledger_release(&s->ledger, RD_MEM_FIXED, snapshot_bytes(snapshot));
    }
    for (unsigned i = 0; i < snapshot->views_n; i++) {
        rd_h1_view_fini(&snapshot->views[i]);
    }
    rd_page_free(snapshot, snapshot_size(snapshot->views_n));
    if (is_taken && router != s->router && !*find(s, NULL, router)) {
        size_t bytes = rd_router_bytes(router);
        restd_router_free(router);
        rd_ledger_release(&s->ledger, RD_MEM_FIXED, bytes);
    }
}

static void offer(struct rd_snapshot *snapshot, unsigned loops_n)
{
    struct restd_server *s = snapshot->server;

    for (unsigned i = 0; i < loops_n; i++) {
        struct rd_h1_view *view =
            rd_h1_offer(&s->loops[i]->h1, &snapshot->views[i]);
        if (view) {
            let_go(view->owner);
        }
    }
    rd_acceptor_reload(&s->acceptor, &snapshot->options);
}

static int publish(struct rd_snapshot *snapshot)
{
    struct restd_server *s = snapshot->server;
    unsigned have = rd_loops_n(s);
    unsigned want = snapshot->views_n;
    uint64_t added =
        rd_plan_fixed(&s->plan, want) - rd_plan_fixed(&s->plan, have);

    if (rd_ledger_charge(&s->ledger, RD_MEM_FIXED, added) != 0) {
        return RESTD_EBUDGET;
    }
    if (rd_snapshot_take(snapshot) != 0) {
        rd_ledger_release(&s->ledger, RD_MEM_FIXED, added);
        return RESTD_EBUDGET;
    }
    for (unsigned i = have; i < want; i++) {
        rd_control_add(s->loops[i]);
        rd_acceptor_add(&s->acceptor, &s->loops[i]->reactor);
    }
    rd_budget_share(&s->budget, want + 1);
    atomic_store_explicit(&s->loops_n, want, memory_order_release);
    offer(snapshot, have);
    return 0;
}

void rd_reload_run(struct rd_post *post)
{
    struct restd_server *s = RD_CONTAINER_OF(post, struct restd_server, reload);
    int rc = RESTD_ESTATE;

    pthread_mutex_lock(&s->lock);
    struct rd_reload *reload = s->reloading;
    pthread_mutex_unlock(&s->lock);
    /* Who has asked waits, unless the server has stopped, which is for this
     * thread to decide. */
    if (reload && restd_server_state(s) == RESTD_STATE_RUNNING) {
        rc = publish(reload->snapshot);
    }
    pthread_mutex_lock(&s->lock);
    if (s->reloading) {
        s->reloading->rc = rc;
        s->reloading->done = 1;
        pthread_cond_broadcast(&s->stopped);
    }
    pthread_mutex_unlock(&s->lock);
}

/* --- the caller's thread --------------------------------------------------- */

/* Takes the place of the one reload that there may be. */
static int begin(struct restd_server *s, struct rd_reload *reload,
                 struct restd_error *error)
{
    int may = 0;

    if (s->loops && !s->plan.is_guest &&
        !(rd_loop_is_running(s->control) && rd_loop_is_current(s->control))) {
        pthread_mutex_lock(&s->lock);
        may = !s->reloading && !s->finished &&
              restd_server_state(s) == RESTD_STATE_RUNNING;
        s->reloading = may ? reload : s->reloading;
        pthread_mutex_unlock(&s->lock);
    }
    return may ? 0
               : rd_error(error, RESTD_ESTATE,
                          "the server does not run, or reloads already");
}

static void end(struct restd_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->reloading = NULL;
    pthread_mutex_unlock(&s->lock);
}

static int check_options(struct restd_server *s, struct rd_reload *reload,
                         const struct restd_options *options,
                         struct restd_error *error)
{
    int rc = options ? rd_options_copy(options, &reload->asked, error) : 0;
    rc = rc ? rc : rd_options_check(&reload->asked, error);

    if (rc == 0) {
        rc = rd_options_check_fixed(&reload->asked, &s->asked, &s->options,
                                    error);
    }
    if (rc == 0 && reload->asked.workers != 0 &&
        reload->asked.workers < s->options.workers) {
        rc = rd_error(error, RESTD_ESTATE,
                      "fewer workers need a restart: %u run, not %u",
                      s->options.workers, reload->asked.workers);
    }
    return rc;
}

static int check_router(const struct restd_server *s,
                        struct restd_router *router, struct restd_error *error)
{
    int rc = router == s->router ? 0 : rd_router_check_open(router, error);

    if (rc == 0 && rd_router_freeze(router) != 0) {
        rc = rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    return rc;
}

/* Asked first, as a charge that is refused would have connections closed. */
static int check_room(const struct rd_snapshot *snapshot,
                      struct restd_error *error)
{
    struct restd_server *s = snapshot->server;
    unsigned have = s->options.workers;
    unsigned want = snapshot->views_n;
    uint64_t need = bytes_more(snapshot) + rd_plan_fixed(&s->plan, want) -
                    rd_plan_fixed(&s->plan, have) +
                    (want - have) * (rd_reactor_fixed_bytes(s->plan.in_size,
                                                            s->plan.fd_max) +
                                     rd_h1_fixed_bytes(&snapshot->options));
    uint64_t taken =
        atomic_load_explicit(&s->budget.taken, memory_order_relaxed);

    if (need > s->budget.limit || taken > s->budget.limit - need) {
        return rd_error(error, RESTD_EBUDGET,
                        "the old routes and the new ones, which need %llu "
                        "bytes, do not fit memory_budget together",
                        (unsigned long long)need);
    }
    return want == have
               ? 0
               : rd_plan_check(&s->plan, &snapshot->options, want, error);
}

/* All that is new, without anybody knowing of it. */
static int build(struct restd_server *s, struct rd_reload *reload,
                 struct restd_router *router, struct restd_error *error)
{
    struct restd_options options = reload->asked;
    unsigned have = s->options.workers;
    unsigned want = options.workers ? options.workers : have;

    options.connections_max = s->options.connections_max;
    options.log = s->options.log;
    options.log_data = s->options.log_data;
    options.log_flush = s->options.log_flush;
    int rc = rd_snapshot_new(s, &options, router, want, &reload->snapshot);
    if (rc != 0) {
        return rd_error(error, rc, "out of memory");
    }
    rc = check_room(reload->snapshot, error);
    if (rc == 0) {
        rc = rd_loops_make(s, reload->snapshot, have, error);
    }
    if (rc == 0) {
        rc = rd_loops_start(s, have, want);
        rc = rc ? rd_error(error, rc, "cannot start a loop thread: %s",
                           restd_strerror(rc))
                : 0;
    }
    return rc;
}

static void undo(struct restd_server *s, struct rd_reload *reload)
{
    unsigned have = rd_loops_n(s);

    if (!reload->snapshot) {
        return;
    }
    for (unsigned i = have; i < reload->snapshot->views_n; i++) {
        if (s->loops[i] && s->loops[i]->started) {
            struct rd_reactor *r = &s->loops[i]->reactor;
            rd_loop_post(r->loop, &r->stop);
            rd_loop_post(r->loop, &r->accept_end);
        }
    }
    rd_loops_join(s, have, reload->snapshot->views_n);
    rd_loops_free(s, have);
    rd_snapshot_free(reload->snapshot);
}

/* Waits until control has published it, which waits for nobody. */
static int hand_over(struct restd_server *s, struct rd_reload *reload,
                     struct restd_error *error)
{
    rd_loop_post(s->control, &s->reload);
    pthread_mutex_lock(&s->lock);
    while (!reload->done && !s->finished) {
        pthread_cond_wait(&s->stopped, &s->lock);
    }
    int rc = reload->done ? reload->rc : RESTD_ESTATE;
    pthread_mutex_unlock(&s->lock);
    return rc ? rd_error(error, rc,
                         rc == RESTD_ESTATE ? "the server drains"
                                            : "no room in memory_budget")
              : 0;
}

int restd_server_reload(struct restd_server *s,
                        const struct restd_options *options,
                        struct restd_router *router, struct restd_error *error)
{
    struct rd_reload reload = {.asked = s->asked};
    int rc = begin(s, &reload, error);

    if (rc != 0) {
        return rc;
    }
    router = router ? router : s->router;
    int is_new = router != s->router;
    rc = check_options(s, &reload, options, error);
    if (rc == 0) {
        rc = check_router(s, router, error);
    }
    if (rc == 0) {
        rc = build(s, &reload, router, error);
    }
    if (rc == 0) {
        rc = hand_over(s, &reload, error);
    }
    if (rc != 0) {
        undo(s, &reload);
    } else {
        s->asked = reload.asked;
        if (options) {
            restd_server_set_log_level(
                s, (enum restd_log_level)reload.asked.log_level);
        }
        if (is_new) {
            rd_server_lint(s);
        }
    }
    end(s);
    return rc;
}

void restd_server_set_log_level(struct restd_server *s,
                                enum restd_log_level level)
{
    rd_log_set_level(s->log, level);
}
