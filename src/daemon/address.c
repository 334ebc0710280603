/* SPDX-License-Identifier: MIT */
/* Small questions about listen addresses, answered from their text, because
 * they are asked before anything is bound.
 * No name is resolved and no socket made. Pure, any thread.
 */
#include "daemon/address.h"

#include <arpa/inet.h>
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

int rd_address_set_port(char *address, size_t size, unsigned port)
{
    size_t len = host_len(address);
    int n = snprintf(address + len, size - len, ":%u", port);
    return n > 0 && (size_t)n < size - len ? 0 : -1;
}

/* Of 0 to 65535, in network order; -1: it is none. */
static long parse_port(const char *text)
{
    unsigned value = 0;
    size_t len = strspn(text, "0123456789");
    if (len == 0 || len > 5 || text[len] != '\0') {
        return -1;
    }
    for (; *text != '\0'; text++) {
        value = value * 10 + (unsigned)(*text - '0');
    }
    return value <= 65535 ? htons((uint16_t)value) : -1;
}

static const char *parse_unix(const char *path, struct rd_address *to)
{
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof to->un.sun_path) {
        return "must have a path of 1 to 107 bytes";
    }
    to->un.sun_family = AF_UNIX;
    memcpy(to->un.sun_path, path, len + 1);
    to->len = sizeof to->un;
    return NULL;
}

static const char *parse_host(char *host, size_t len, in_port_t port,
                              struct rd_address *to)
{
    if (host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = '\0';
        to->in6.sin6_family = AF_INET6;
        to->in6.sin6_port = port;
        to->len = sizeof to->in6;
        return inet_pton(AF_INET6, host + 1, &to->in6.sin6_addr) == 1
                   ? NULL
                   : "must be an IPv6 address in brackets and a port";
    }
    if (strchr(host, ':') != NULL) {
        return "must have an IPv6 address in brackets";
    }
    to->in.sin_family = AF_INET;
    to->in.sin_port = port;
    to->len = sizeof to->in;
    if (strcmp(host, "*") == 0) {
        return "must be \":port\" for all addresses";
    }
    return len == 0 || inet_pton(AF_INET, host, &to->in.sin_addr) == 1
               ? NULL
               : "must be an IP address and a port (names are not resolved)";
}

const char *rd_address_parse(const char *address, struct rd_address *to)
{
    char host[INET6_ADDRSTRLEN + 2];
    size_t len = host_len(address);
    memset(to, 0, sizeof *to);
    if (rd_address_is_unix(address)) {
        return parse_unix(address + 5, to);
    }
    long port = address[len] == ':' ? parse_port(address + len + 1) : -1;
    if (port < 0) {
        return "must end with a port (0 to 65535)";
    }
    if (len >= sizeof host) {
        return "must be an IP address and a port";
    }
    memcpy(host, address, len);
    host[len] = '\0';
    return parse_host(host, len, (in_port_t)port, to);
}

int rd_address_is_any_port(const char *address)
{
    struct rd_address a;
    return rd_address_parse(address, &a) == NULL &&
           a.any.sa_family != AF_UNIX && a.in.sin_port == 0;
}

int rd_address_is_local(const char *address)
{
    struct rd_address a;
    if (rd_address_parse(address, &a) != NULL) {
        return 0;
    }
    return a.any.sa_family == AF_UNIX ||
           (a.any.sa_family == AF_INET6
                ? IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr)
                : ntohl(a.in.sin_addr.s_addr) >> 24 == 127);
}

int rd_address_clashes(const char *a, const char *b)
{
    struct rd_address left, right;
    if (rd_address_parse(a, &left) != NULL ||
        rd_address_parse(b, &right) != NULL ||
        left.any.sa_family != right.any.sa_family) {
        return 0;
    }
    if (left.any.sa_family == AF_UNIX) {
        return strcmp(a, b) == 0;
    }
    if (left.in.sin_port == 0 || left.in.sin_port != right.in.sin_port) {
        return 0;
    }
    if (left.any.sa_family == AF_INET) {
        return left.in.sin_addr.s_addr == htonl(INADDR_ANY) ||
               right.in.sin_addr.s_addr == htonl(INADDR_ANY) ||
               left.in.sin_addr.s_addr == right.in.sin_addr.s_addr;
    }
    return IN6_IS_ADDR_UNSPECIFIED(&left.in6.sin6_addr) ||
           IN6_IS_ADDR_UNSPECIFIED(&right.in6.sin6_addr) ||
           IN6_ARE_ADDR_EQUAL(&left.in6.sin6_addr, &right.in6.sin6_addr);
}

static int is_port_of(in_port_t wanted, in_port_t port)
{
    return wanted == 0 || wanted == port;
}

int rd_address_is_of(const char *address, int fd)
{
    struct rd_address a, bound;
    memset(&bound, 0, sizeof bound);
    bound.len = sizeof bound.un; /* the longest */
    if (rd_address_parse(address, &a) != NULL ||
        getsockname(fd, &bound.any, &bound.len) != 0 ||
        a.any.sa_family != bound.any.sa_family) {
        return 0;
    }
    switch (a.any.sa_family) {
    case AF_UNIX:
        return strncmp(bound.un.sun_path, a.un.sun_path,
                       sizeof a.un.sun_path) == 0;
    case AF_INET6:
        return memcmp(&a.in6.sin6_addr, &bound.in6.sin6_addr,
                      sizeof a.in6.sin6_addr) == 0 &&
               is_port_of(a.in6.sin6_port, bound.in6.sin6_port);
    default:
        return a.in.sin_addr.s_addr == bound.in.sin_addr.s_addr &&
               is_port_of(a.in.sin_port, bound.in.sin_port);
    }
}
