/* SPDX-License-Identifier: MIT */
/* The acceptor: accepting and dealing. What may change meanwhile and how it ends
 * is acceptor_life.c's.
 *
 * Sockets are dealt round-robin. A loop is skipped while it holds more than
 * its share of the connection limit, has been inside one turn for more than
 * 100 ms, or has no room in its inbox. When all are at their share the next in
 * turn gets the socket marked `over` and must close an idle one for it.
 *
 * Out of descriptors: the spare one is given up to take a connection off the
 * queue, for which a loop closes an idle one or which it refuses; accepting
 * pauses until the spare can be had again, so there is no spin on a readable
 * listener. Thread: [acceptor], see acceptor.h. */
#include "net/acceptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"

#define BATCH 64
#define RETRY_MAX_MS 160
#define STUCK_NS 100000000u

int rd_acceptor_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void pause_accepting(struct rd_acceptor *a)
{
    if (!a->paused && !a->ending) {
        a->paused = 1;
        rd_acceptor_watch(a);
        rd_timer_start(a->loop, &a->retry, a->retry_ms, a->retry_ms);
    }
}

static void episode_begin(struct rd_acceptor *a, int saved_errno)
{
    if (a->starved_ns == 0) {
        a->starved_ns = rd_clock_ns();
        rd_log(a->log, RESTD_LOG_WARNING,
               "cannot accept: %s; idle connections are closed, others wait",
               strerror(saved_errno));
    }
}

static void episode_end(struct rd_acceptor *a)
{
    rd_log(a->log, RESTD_LOG_NOTICE,
           "accepting again after %llu ms, %llu took the spare descriptor",
           (unsigned long long)((rd_clock_ns() - a->starved_ns) / 1000000),
           (unsigned long long)a->starved_n);
    a->starved_ns = 0;
    a->retry_ms = RD_ACCEPT_RETRY_MS;
}

static uint64_t active(const struct rd_acceptor *a, unsigned i)
{
    return a->dealt[i] - rd_counter(&a->reactors[i]->counters->closed);
}

static uint64_t idle_n(const struct rd_reactor *r)
{
    return rd_counter(&r->counters->states[RD_CONN_IDLE]);
}

static int is_stuck(const struct rd_reactor *r, uint64_t now_ns)
{
    uint64_t start =
        atomic_load_explicit(&r->turn_start_ns, memory_order_relaxed);
    return start != 0 && now_ns > start && now_ns - start > STUCK_NS;
}

/* The loop for the next socket, -1 if no inbox has room. One at its share must
 * close an idle connection for it, so one that has such is taken then. */
static int pick(const struct rd_acceptor *a, uint64_t now_ns)
{
    const unsigned reactors_n = a->reactors_n;
    int full = -1;
    int stuck = -1;

    for (unsigned n = 0; n < reactors_n; n++) {
        unsigned i = (a->next + n) % reactors_n;
        const struct rd_reactor *r = a->reactors[i];
        if (rd_inbox_room(&r->inbox) == 0) {
            continue;
        }
        if (active(a, i) >=
            atomic_load_explicit(&r->share, memory_order_relaxed)) {
            if (full < 0 || idle_n(a->reactors[full]) == 0) {
                full = (int)i;
            }
        } else if (is_stuck(r, now_ns)) {
            stuck = (int)i;
        } else {
            return (int)i;
        }
    }
    return stuck >= 0 ? stuck : full;
}

static void deal(struct rd_acceptor *a, unsigned i,
                 const struct rd_handover *entry, uint64_t *woken)
{
    rd_inbox_push(&a->reactors[i]->inbox, entry);
    a->dealt[i]++;
    a->next = i + 1;
    woken[i / 64] |= (uint64_t)1 << (i % 64);
}

/* Accepts one connection. 0, or errno. */
static int take(const struct rd_acceptor *a, struct rd_listener *listener,
                struct rd_handover *entry)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof(sa);
    int fd = accept4(listener->fd, (struct sockaddr *)&sa, &len,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0) {
        return errno;
    }
    rd_count(&listener->accepted, 1);
    entry->fd = fd;
    entry->listener = listener->index;
    rd_addr_from_sockaddr(&entry->peer, (const struct sockaddr *)&sa);
    /* A number that libev's array does not hold, should the program around
     * us have that many open. */
    entry->refuse = (uint32_t)fd >= rd_loop_fds_n(a->loop);
    return 0;
}

static unsigned most_idle(const struct rd_acceptor *a)
{
    unsigned best = 0;
    uint64_t most = 0;

    for (unsigned i = 0; i < a->reactors_n; i++) {
        uint64_t n = idle_n(a->reactors[i]);
        if (n > most && rd_inbox_room(&a->reactors[i]->inbox) > 0) {
            most = n;
            best = i;
        }
    }
    return best;
}

/* Takes one connection off the queue by means of the spare descriptor; its
 * loop closes an idle one for it, or says why it cannot. 0 if none waits. */
static int accept_starved(struct rd_acceptor *a, struct rd_listener *listener,
                          int saved_errno, uint64_t *woken)
{
    struct rd_handover entry = {.starved = 1};
    unsigned i = most_idle(a);

    if (a->spare >= 0 && (saved_errno == EMFILE || saved_errno == ENFILE) &&
        rd_inbox_room(&a->reactors[i]->inbox) > 0) {
        close(a->spare);
        a->spare = -1;
        if (take(a, listener, &entry) == 0) {
            a->starved_n++;
            deal(a, i, &entry, woken);
        } else if ((a->spare = rd_acceptor_spare()) >= 0) {
            return 0; /* nobody waits: it was the last descriptor, no more */
        }
    }
    episode_begin(a, saved_errno);
    /* With nobody idle to make room there is little sense in haste. */
    a->retry_ms = idle_n(a->reactors[i]) > 0       ? RD_ACCEPT_RETRY_MS
                  : a->retry_ms * 2 < RETRY_MAX_MS ? a->retry_ms * 2
                                                   : RETRY_MAX_MS;
    pause_accepting(a);
    return 1;
}

enum accepted { ACCEPTED, QUEUE_EMPTY, BLOCKED };

static enum accepted accept_one(struct rd_acceptor *a,
                                struct rd_listener *listener, uint64_t now_ns,
                                uint64_t *woken)
{
    struct rd_handover entry = {0};
    int i = pick(a, now_ns);

    if (i < 0) {
        pause_accepting(a);
        return BLOCKED;
    }
    int rc = take(a, listener, &entry);
    switch (rc) {
    case 0:
        deal(a, (unsigned)i, &entry, woken);
        return ACCEPTED;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
        return accept_starved(a, listener, rc, woken) ? BLOCKED : QUEUE_EMPTY;
    case EAGAIN:
        if (a->starved_ns != 0) {
            episode_end(a);
        }
        return QUEUE_EMPTY;
    default:
        /* The connection went while it waited, accept(2). */
        return ACCEPTED;
    }
}

static void wake(struct rd_acceptor *a, const uint64_t *woken)
{
    for (unsigned i = 0; i < a->reactors_n; i++) {
        if (woken[i / 64] & ((uint64_t)1 << (i % 64))) {
            rd_loop_post(a->reactors[i]->loop, &a->reactors[i]->inbox.post);
        }
    }
}

#define WOKEN_WORDS ((RD_REACTORS_MAX + 63) / 64)

void rd_acceptor_event(struct rd_io *io, int events)
{
    struct rd_listener *listener = RD_CONTAINER_OF(io, struct rd_listener, io);
    struct rd_acceptor *a = listener->acceptor;
    uint64_t woken[WOKEN_WORDS] = {0};
    uint64_t now_ns = rd_clock_ns();

    (void)events;
    if (rd_budget_level(a->budget) == RD_LEVEL_FULL) {
        pause_accepting(a);
        return;
    }
    for (int n = 0; n < BATCH; n++) {
        if (accept_one(a, listener, now_ns, woken) != ACCEPTED) {
            break;
        }
    }
    wake(a, woken);
}

int rd_acceptor_empty(struct rd_acceptor *a, struct rd_listener *listener)
{
    uint64_t woken[WOKEN_WORDS] = {0};
    uint64_t now_ns = rd_clock_ns();
    enum accepted rc = ACCEPTED;

    /* The kernel queues one more than it is told, and new ones come. */
    for (uint32_t n = 0; listener->fd >= 0 && rc == ACCEPTED &&
                         n < 2 * atomic_load(&a->backlog) + BATCH;
         n++) {
        rc = accept_one(a, listener, now_ns, woken);
    }
    wake(a, woken);
    return rc != BLOCKED;
}

int rd_acceptor_deal(struct rd_acceptor *a, unsigned i,
                     const struct rd_handover *entry)
{
    uint64_t woken[WOKEN_WORDS] = {0};

    if (rd_inbox_room(&a->reactors[i]->inbox) == 0) {
        return RESTD_EAGAIN;
    }
    deal(a, i, entry, woken);
    wake(a, woken);
    return 0;
}
