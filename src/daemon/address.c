/* SPDX-License-Identifier: MIT */
/* Small questions about listen addresses, answered from their text, because
 * they are asked before anything is bound.
 * No name is resolved and no socket made. Pure, any thread.
 */
#include "daemon/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

int rd_address_is_unix(const char *address)
{
    return strncmp(address, "unix:", 5) == 0;
}

/* Length of the part before the port's colon; all of it without a port. */
static size_t host_len(const char *address)
{
    const char *close = strrchr(address, ']');
    const char *colon = strrchr(close != NULL ? close : address, ':');
    return colon != NULL ? (size_t)(colon - address) : strlen(address);
}

int rd_address_is_local(const char *address)
{
    char host[INET6_ADDRSTRLEN + 2];
    struct in_addr v4;
    struct in6_addr v6;
    size_t len = host_len(address);
    if (rd_address_is_unix(address)) {
        return 1;
    }
    if (len >= sizeof host) {
        return 0;
    }
    memcpy(host, address, len);
    host[len] = '\0';
    if (host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        return inet_pton(AF_INET6, host + 1, &v6) == 1 &&
               IN6_IS_ADDR_LOOPBACK(&v6);
    }
    return inet_pton(AF_INET, host, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

int rd_address_set_port(char *address, size_t size, unsigned port)
{
    size_t len = host_len(address);
    int n = snprintf(address + len, size - len, ":%u", port);
    return n > 0 && (size_t)n < size - len ? 0 : -1;
}
