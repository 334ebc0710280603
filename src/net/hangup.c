/* SPDX-License-Identifier: MIT */
/* Peers that leave: a ring of those that are looked after for less than
 * RD_HANGUP_MS, a timer while it has any, and an epoll set for the others.
 * Thread: [loop]. */
#include "net/hangup.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/clock.h"

#define NS_PER_MS UINT64_C(1000000)
#define EVENTS_MAX 64

enum { IDLE, YOUNG, WATCHED };

static int set_fd(const struct rd_hangup_set *set)
{
    return rd_io_fd(&set->io);
}

static void unlink_young(struct rd_hangup *h)
{
    h->prev->next = h->next;
    h->next->prev = h->prev;
}

static void control(const struct rd_hangup_set *set, int op,
                    struct rd_hangup *h, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = h};

    /* Without memory in the kernel it goes unseen until the reply. */
    (void)epoll_ctl(set_fd(set), op, h->fd, &event);
}

static void see(struct rd_hangup_set *set, struct rd_hangup *h, uint32_t events)
{
    if (h->state != WATCHED) {
        return; /* another one's call has stopped it */
    }
    if ((events & (EPOLLHUP | EPOLLERR)) || h->by_fin) {
        rd_hangup_stop(set, h);
        h->left(h);
    } else {
        control(set, EPOLL_CTL_MOD, h, 0); /* half-closed: the rest only */
    }
}

static void on_event(struct rd_io *io, int flags)
{
    struct rd_hangup_set *set = RD_CONTAINER_OF(io, struct rd_hangup_set, io);
    struct epoll_event events[EVENTS_MAX];

    (void)flags;
    int n = epoll_wait(set_fd(set), events, EVENTS_MAX, 0);
    for (int i = 0; i < n; i++) {
        see(set, events[i].data.ptr, events[i].events);
    }
}

static void on_timer(struct rd_timer *timer)
{
    struct rd_hangup_set *set =
        RD_CONTAINER_OF(timer, struct rd_hangup_set, timer);
    uint64_t now_ns = rd_clock_ns();
    struct rd_hangup *h = set->young.next;

    while (h != &set->young &&
           h->since_ns + RD_HANGUP_MS * NS_PER_MS <= now_ns) {
        struct rd_hangup *next = h->next;
        unlink_young(h);
        h->state = WATCHED;
        control(set, EPOLL_CTL_ADD, h, EPOLLRDHUP);
        rd_io_watch(set->loop, &set->io, RD_READ);
        h = next;
    }
    if (set->young.next == &set->young) {
        rd_timer_stop(set->loop, &set->timer);
    }
}

int rd_hangup_set_init(struct rd_hangup_set *set, struct restd_loop *loop)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);

    if (fd < 0) {
        return RESTD_EOS;
    }
    set->loop = loop;
    set->young.next = set->young.prev = &set->young;
    rd_io_init(&set->io, fd, on_event);
    rd_timer_init(&set->timer, on_timer);
    return 0;
}

void rd_hangup_set_stop(struct rd_hangup_set *set)
{
    rd_io_watch(set->loop, &set->io, 0);
    rd_timer_stop(set->loop, &set->timer);
}

void rd_hangup_set_fini(struct rd_hangup_set *set)
{
    if (set->loop) {
        close(set_fd(set));
        set->loop = NULL;
    }
}

void rd_hangup_start(struct rd_hangup_set *set, struct rd_hangup *h, int fd,
                     uint64_t now_ns)
{
    if (h->state != IDLE) {
        return;
    }
    h->fd = fd;
    h->since_ns = now_ns;
    h->state = YOUNG;
    h->prev = set->young.prev;
    h->next = &set->young;
    h->prev->next = h->next->prev = h;
    if (!rd_timer_is_active(&set->timer)) {
        rd_timer_start(set->loop, &set->timer, RD_HANGUP_MS, RD_HANGUP_MS);
    }
}

void rd_hangup_stop(struct rd_hangup_set *set, struct rd_hangup *h)
{
    if (h->state == YOUNG) {
        unlink_young(h);
    } else if (h->state == WATCHED) {
        control(set, EPOLL_CTL_DEL, h, 0);
    }
    h->state = IDLE;
}
