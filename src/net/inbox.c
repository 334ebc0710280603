/* SPDX-License-Identifier: MIT */
/* Sockets on their way from the acceptor to a loop, and what becomes of them
 * there. Threads: [acceptor] fills it, [loop] empties it. */
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "net/reactor.h"

RD_STATIC_ASSERT((RD_INBOX_SIZE & (RD_INBOX_SIZE - 1)) == 0, "power of two");

unsigned rd_inbox_room(const struct rd_inbox *inbox)
{
    uint32_t head = atomic_load_explicit(&inbox->head, memory_order_acquire);
    uint32_t tail = atomic_load_explicit(&inbox->tail, memory_order_relaxed);
    return RD_INBOX_SIZE - (tail - head);
}

void rd_inbox_push(struct rd_inbox *inbox, const struct rd_handover *entry)
{
    uint32_t tail = atomic_load_explicit(&inbox->tail, memory_order_relaxed);

    inbox->entries[tail % RD_INBOX_SIZE] = *entry;
    atomic_store_explicit(&inbox->tail, tail + 1, memory_order_release);
}

void rd_reactor_count_left(struct rd_reactor *r, unsigned listener)
{
    rd_count(&r->counters->closed, 1);
    rd_count(&r->counters->left[listener], 1);
}

/* Reads what is there first, or the close would reset the reply away. Counts
 * before that, so that who has the reply finds it counted. */
static void refuse(struct rd_reactor *r, int fd, unsigned listener)
{
    rd_count(&r->counters->rejected, 1);
    (void)recv(fd, r->in, r->in_size, 0);
    (void)send(fd, r->protocol->busy, r->protocol->busy_len, MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    close(fd);
    rd_reactor_count_left(r, listener);
}

static void receive(struct rd_reactor *r, const struct rd_handover *h)
{
    rd_count(&r->counters->accepted, 1);
    if (h->refuse || r->stopping) {
        refuse(r, h->fd, h->listener);
        return;
    }
    /* By its own count, as the acceptor's may be a close behind. A guest's spare
     * descriptor is there to be served by. */
    int over = rd_reactor_active(r) > r->share;
    if ((h->starved || over) &&
        !rd_reactor_close_oldest_idle(r, RD_CLOSE_LIMIT) &&
        (over || !r->is_guest)) {
        refuse(r, h->fd, h->listener);
        return;
    }
    rd_conn_open(r, h->fd, &h->peer, h->listener);
}

void rd_inbox_run(struct rd_post *post)
{
    struct rd_inbox *inbox = RD_CONTAINER_OF(post, struct rd_inbox, post);
    struct rd_reactor *r = RD_CONTAINER_OF(inbox, struct rd_reactor, inbox);
    uint32_t head = atomic_load_explicit(&inbox->head, memory_order_relaxed);

    while (head != atomic_load_explicit(&inbox->tail, memory_order_acquire)) {
        struct rd_handover h = inbox->entries[head % RD_INBOX_SIZE];
        atomic_store_explicit(&inbox->head, ++head, memory_order_release);
        receive(r, &h);
    }
}
