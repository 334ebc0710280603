/* SPDX-License-Identifier: MIT */
/* Listeners of a server, before it starts and while it runs, and the rule that
 * some things can be changed only before.
 *
 * The table's slots are filled and given up here, under the lock for readers of
 * any thread; what an open one does is the acceptor's. A slot is free once its
 * socket is closed and every connection that came through it has gone.
 * Threads: as server.h says. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "server/server.h"

int rd_server_check_starting(const struct restd_server *s,
                             struct restd_error *error)
{
    if (s->loops || atomic_load(&s->state) != RESTD_STATE_STARTING) {
        return rd_error(error, RESTD_ESTATE, "the server has been started");
    }
    return 0;
}

/* 1 while it runs, 0 before the start, else RESTD_ESTATE. */
static int check_running(const struct restd_server *s,
                         struct restd_error *error)
{
    int state = atomic_load(&s->state);

    if (state == RESTD_STATE_STARTING && !s->loops) {
        return 0;
    }
    return state == RESTD_STATE_RUNNING
               ? 1
               : rd_error(error, RESTD_ESTATE, "the server does not run");
}

static pthread_mutex_t *lock_of(const struct restd_server *s)
{
    return (pthread_mutex_t *)(uintptr_t)&s->lock;
}

void restd_listen_options_init_size(struct restd_listen_options *options,
                                    size_t size)
{
    const struct restd_listen_options all = {
        .size = size < sizeof(all) ? size : sizeof(all),
        .fd = -1,
        .mode = -1,
        .uid = (uint32_t)-1,
        .gid = (uint32_t)-1,
        .defer_accept_s = UINT32_MAX};

    memcpy(options, &all, all.size);
}

/* Makes `own` complete. */
static int complete(const struct restd_server *s,
                    const struct restd_listen_options *options,
                    struct restd_listen_options *own, struct restd_error *error)
{
    restd_listen_options_init(own);
    if (options) {
        if (options->size <= offsetof(struct restd_listen_options, name) ||
            options->size > sizeof(*own)) {
            return rd_error(error, RESTD_EINVAL,
                            "options were not set up by "
                            "restd_listen_options_init");
        }
        memcpy(own, options, options->size);
    }
    if (own->name && strlen(own->name) >= sizeof(s->listeners[0].name)) {
        return rd_error(error, RESTD_EINVAL, "name of a listener too long: %s",
                        own->name);
    }
    if (own->backlog == 0 && own->fd < 0) {
        own->backlog = s->options.backlog;
    }
    if (own->defer_accept_s == UINT32_MAX) {
        own->defer_accept_s = s->options.defer_accept_s;
    }
    return 0;
}

/* Who has left is counted first: none of them can be missing in `accepted`
 * then, though both go on meanwhile. */
static uint64_t connections_n(const struct restd_server *s, unsigned slot)
{
    uint64_t left = 0;

    for (unsigned i = 0; i < rd_loops_n(s); i++) {
        left += rd_counter(&s->loops[i]->reactor.counters->left[slot]);
    }
    atomic_thread_fence(memory_order_acquire);
    uint64_t accepted = s->listeners[slot].accepted;
    return accepted > left ? accepted - left : 0;
}

static struct rd_listener *free_slot(struct restd_server *s)
{
    for (unsigned i = 0; i < RD_LISTENERS_MAX; i++) {
        struct rd_listener *l = &s->listeners[i];
        if (i >= s->listeners_n ||
            (!l->is_listed && l->fd < 0 && connections_n(s, i) == 0)) {
            l->index = (uint16_t)i;
            return l;
        }
    }
    return NULL;
}

static int check_name(const struct restd_server *s, const char *name,
                      struct restd_error *error)
{
    for (unsigned i = 0; name && *name && i < s->listeners_n; i++) {
        if (s->listeners[i].is_listed &&
            strcmp(s->listeners[i].name, name) == 0) {
            return rd_error(error, RESTD_EEXIST,
                            "there is a listener named \"%s\" already", name);
        }
    }
    return 0;
}

/* Two descriptors may be of one socket. */
static int check_address(const struct restd_server *s,
                         const struct rd_listener *fresh,
                         struct restd_error *error)
{
    char text[RD_ADDR_TEXT_MAX];

    for (unsigned i = 0; i < s->listeners_n; i++) {
        const struct rd_listener *l = &s->listeners[i];
        if (l->is_listed && l->addr_len == fresh->addr_len &&
            memcmp(&l->addr, &fresh->addr, fresh->addr_len) == 0) {
            return rd_error(
                error, RESTD_EADDRINUSE, "there is a listener on %s already",
                rd_listener_format(l, text, sizeof(text)) < 0 ? "it" : text);
        }
    }
    return 0;
}

static void set_listed(struct restd_server *s, struct rd_listener *slot,
                       const struct rd_listener *fresh)
{
    pthread_mutex_lock(&s->lock);
    if (fresh) {
        uint64_t accepted = slot->accepted;
        uint16_t index = slot->index;
        *slot = *fresh;
        slot->accepted = slot->accepted_before = accepted;
        slot->index = index;
        if (index >= s->listeners_n) {
            s->listeners_n = index + 1u;
        }
    }
    slot->is_listed = fresh != NULL;
    pthread_mutex_unlock(&s->lock);
}

void rd_server_close_listener(const struct restd_server *s,
                              struct rd_listener *listener)
{
    if (atomic_load(&s->acceptor.is_shared)) {
        listener->owns_path = 0;
    }
    rd_listener_close(listener);
}

/* What opening it has done but for the descriptor, if that was given. */
static int undo(struct rd_listener *l, int inherited, int rc)
{
    if (inherited) {
        l->fd = -1;
    } else {
        rd_listener_close(l);
    }
    return rc;
}

static int open_listener(struct restd_server *s, struct rd_listener *l,
                         const char *address,
                         const struct restd_listen_options *o, int running,
                         struct restd_error *error)
{
    int rc = rd_listener_open(l, address, o, error);

    /* It may be held by one that was given up a moment ago. */
    if (rc == RESTD_EADDRINUSE && running &&
        rd_acceptor_call(&s->acceptor, rd_acceptor_hasten, NULL) > 0) {
        rc = rd_listener_open(l, address, o, error);
    }
    if (rc == 0 && check_address(s, l, error) != 0) {
        return undo(l, o->fd >= 0, RESTD_EADDRINUSE);
    }
    return rc;
}

int restd_server_listen_with(struct restd_server *s, const char *address,
                             const struct restd_listen_options *options,
                             struct restd_error *error)
{
    struct restd_listen_options own;
    struct rd_listener fresh = {.fd = -1};
    int running = check_running(s, error);
    int rc = running < 0 ? running : complete(s, options, &own, error);

    if (rc == 0) {
        rc = check_name(s, own.name, error);
    }
    if (rc != 0) {
        return rc;
    }
    struct rd_listener *slot = free_slot(s);
    if (!slot) {
        return rd_error(error, RESTD_ELIMIT, "more than %u listeners",
                        RD_LISTENERS_MAX);
    }
    rc = open_listener(s, &fresh, address, &own, running, error);
    if (rc != 0) {
        return rc;
    }
    if (own.name) {
        memcpy(fresh.name, own.name, strlen(own.name) + 1);
    }
    set_listed(s, slot, &fresh);
    if (running &&
        (rc = rd_acceptor_call(&s->acceptor, rd_acceptor_listen, slot)) != 0) {
        set_listed(s, slot, NULL);
        return rd_error(error, undo(slot, own.fd >= 0, rc),
                        "cannot accept connections now: %s",
                        restd_strerror(rc));
    }
    return 0;
}

int restd_server_listen(struct restd_server *s, const char *address,
                        struct restd_error *error)
{
    return restd_server_listen_with(s, address, NULL, error);
}

/* Listener number `index` of all, or of those over TCP; NULL behind the last.
 */
static const struct rd_listener *nth(const struct restd_server *s,
                                     unsigned index, int tcp)
{
    for (unsigned i = 0; i < s->listeners_n; i++) {
        const struct rd_listener *l = &s->listeners[i];
        if (l->is_listed && !(tcp && l->addr.ss_family == AF_UNIX) &&
            index-- == 0) {
            return l;
        }
    }
    return NULL;
}

int restd_server_unlisten(struct restd_server *s, unsigned index,
                          struct restd_error *error)
{
    int running = check_running(s, error);
    const struct rd_listener *found = nth(s, index, 0);

    if (running < 0 || !found) {
        return running < 0
                   ? running
                   : rd_error(error, RESTD_ENOENT, "no listener %u", index);
    }
    struct rd_listener *l = &s->listeners[found->index];
    set_listed(s, l, NULL);
    if (running) {
        /* It fails only if the acceptor has closed them all. */
        (void)rd_acceptor_call(&s->acceptor, rd_acceptor_unlisten, l);
    } else {
        rd_server_close_listener(s, l);
    }
    return 0;
}

int restd_server_listener_size(const struct restd_server *s, unsigned index,
                               struct restd_listener_info *info, size_t size)
{
    struct restd_listener_info all;

    memset(&all, 0, sizeof(all));
    pthread_mutex_lock(lock_of(s));
    const struct rd_listener *l = nth(s, index, 0);
    if (l) {
        memcpy(all.name, l->name, sizeof(all.name));
        (void)rd_listener_format(l, all.address, sizeof(all.address));
        all.fd = l->fd;
        all.connections = connections_n(s, l->index);
        all.accepted = l->accepted - l->accepted_before;
        all.owns_path = rd_listener_owns_path(l);
    }
    pthread_mutex_unlock(lock_of(s));
    rd_sized_out(info, size, &all, sizeof(all));
    return l ? 0 : RESTD_ENOENT;
}

int restd_server_port(const struct restd_server *s, unsigned index)
{
    struct rd_addr addr = {.port = 0};

    pthread_mutex_lock(lock_of(s));
    const struct rd_listener *l = nth(s, index, 1);
    if (l) {
        rd_addr_from_sockaddr(&addr, (const void *)&l->addr);
    }
    pthread_mutex_unlock(lock_of(s));
    return l ? addr.port : RESTD_ENOENT;
}

int restd_server_address(const struct restd_server *s, unsigned index,
                         char *buf, size_t size)
{
    pthread_mutex_lock(lock_of(s));
    const struct rd_listener *l = nth(s, index, 0);
    int n = l ? rd_listener_format(l, buf, size) : RESTD_ENOENT;
    pthread_mutex_unlock(lock_of(s));
    return n;
}

void restd_server_keep_paths(struct restd_server *s, int keep)
{
    atomic_store(&s->acceptor.is_shared, keep);
}

void restd_server_accept(struct restd_server *s, int on)
{
    int running = check_running(s, NULL);

    if (running == 0) {
        s->acceptor.is_on = on;
    } else if (running > 0) {
        (void)rd_acceptor_call(&s->acceptor, rd_acceptor_switch, &on);
    }
}

int restd_server_adopt(struct restd_server *s, int fd, unsigned loop,
                       struct restd_error *error)
{
    struct sockaddr_storage sa;
    socklen_t len = sizeof(sa);
    struct rd_adoption adoption = {
        .entry = {.fd = fd, .listener = RD_LISTENER_NONE}, .reactor = loop};
    int on = 1;
    int flags = fcntl(fd, F_GETFL);

    if (check_running(s, error) != 1) {
        return rd_error(error, RESTD_ESTATE, "the server does not run");
    }
    if (flags < 0 || getpeername(fd, (void *)&sa, &len) != 0 ||
        fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        return rd_error(error, RESTD_EINVAL,
                        "descriptor %d is no connected socket", fd);
    }
    if (sa.ss_family != AF_UNIX) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    rd_addr_from_sockaddr(&adoption.entry.peer, (const void *)&sa);
    int rc = rd_acceptor_call(&s->acceptor, rd_acceptor_adopt, &adoption);
    return rc ? rd_error(error, rc, "loop %u takes no connection: %s", loop,
                         restd_strerror(rc))
              : 0;
}
