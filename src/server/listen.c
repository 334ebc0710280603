/* SPDX-License-Identifier: MIT */
/* Listeners of a server, and the rule that only a server that was not started
 * can be changed. Thread: [init], addresses any. */
#include "base/error.h"
#include "server/server.h"

int rd_server_check_starting(const struct restd_server *s,
                             struct restd_error *error)
{
    if (s->loops || atomic_load(&s->state) != RESTD_STATE_STARTING) {
        return rd_error(error, RESTD_ESTATE, "the server has been started");
    }
    return 0;
}

int restd_server_listen(struct restd_server *s, const char *address,
                        struct restd_error *error)
{
    int rc = rd_server_check_starting(s, error);

    if (rc != 0) {
        return rc;
    }
    if (s->listeners_n == RD_LISTENERS_MAX) {
        return rd_error(error, RESTD_ELIMIT, "more than %d listeners",
                        RD_LISTENERS_MAX);
    }
    struct rd_listener *listener = &s->listeners[s->listeners_n];
    rc = rd_listener_open(listener, address, (int)s->options.backlog,
                          (int)s->options.defer_accept_s, error);
    if (rc == 0) {
        listener->index = (uint16_t)s->listeners_n++;
    }
    return rc;
}

int restd_server_port(const struct restd_server *s, unsigned index)
{
    struct rd_addr addr;

    for (unsigned i = 0; i < s->listeners_n; i++) {
        if (s->listeners[i].addr.ss_family == AF_UNIX || index-- > 0) {
            continue;
        }
        rd_addr_from_sockaddr(&addr, (const void *)&s->listeners[i].addr);
        return addr.port;
    }
    return RESTD_ENOENT;
}

int restd_server_address(const struct restd_server *s, unsigned index,
                         char *buf, size_t size)
{
    return index < s->listeners_n
               ? rd_listener_format(&s->listeners[index], buf, size)
               : RESTD_ENOENT;
}
