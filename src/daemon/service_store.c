/* SPDX-License-Identifier: MIT */
/* Sockets that the service manager keeps while the daemon is restarted, where
 * the unit allows it.
 *
 * They are stored under their address, as a name from the configuration could
 * mean another socket by then, and a next process has to be able to give up
 * what this one has stored. Unix sockets are not: their path goes away with the
 * runtime directory, and what is stored would be reached by nobody.
 * Thread: main. */
#include "daemon/service.h"

#include <stdio.h>
#include <string.h>

#include "daemon/address.h"

/* A colon ends a name in LISTEN_FDNAMES. */
static void stored_name(char *name, size_t size, const char *address)
{
    snprintf(name, size, "%s", address);
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == ':' ? ',' : *at;
    }
}

static int is_stored(const char *name)
{
    return strchr(name, ',') != NULL;
}

void rd_service_store_begin(struct rd_service *s)
{
    for (unsigned i = 0; i < s->activation.n; i++) {
        const struct rd_activation_socket *socket = &s->activation.sockets[i];
        if (socket->fd < 0) {
            continue;
        }
        if (is_stored(socket->name)) {
            rd_notify_remove_fd(&s->notify, socket->name);
        } else {
            restd_server_log(s->server, RESTD_LOG_WARNING,
                             "the service manager has handed over a socket "
                             "\"%s\" that no listener wants",
                             socket->name);
        }
    }
}

void rd_service_store(struct rd_service *s)
{
    struct restd_listener_info info;
    char name[RD_ARGS_ADDRESS_MAX];
    for (unsigned i = 0; restd_server_listener(s->server, i, &info) == 0; i++) {
        if (!rd_address_is_unix(info.address)) {
            stored_name(name, sizeof name, info.address);
            rd_notify_store_fd(&s->notify, info.fd, name);
        }
    }
}

void rd_service_store_remove(struct rd_service *s, const char *address)
{
    char name[RD_ARGS_ADDRESS_MAX];
    if (!rd_address_is_unix(address)) {
        stored_name(name, sizeof name, address);
        rd_notify_remove_fd(&s->notify, name);
    }
}
