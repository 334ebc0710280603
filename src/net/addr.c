/* SPDX-License-Identifier: MIT */
/* Addresses: numbers only, names are never resolved here, as that may block.
 * Any thread. */
#include "net/addr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

void rd_addr_from_sockaddr(struct rd_addr *addr, const struct sockaddr *sa)
{
    memset(addr, 0, sizeof(*addr));
    if (sa->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)sa;
        addr->family = RD_IPV4;
        addr->port = ntohs(in->sin_port);
        memcpy(addr->ip, &in->sin_addr, 4);
    } else if (sa->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)sa;
        addr->port = ntohs(in6->sin6_port);
        if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
            addr->family = RD_IPV4;
            memcpy(addr->ip, in6->sin6_addr.s6_addr + 12, 4);
        } else {
            addr->family = RD_IPV6;
            memcpy(addr->ip, &in6->sin6_addr, 16);
        }
    }
}

int rd_addr_format_host(const struct rd_addr *addr, char *buf, size_t size)
{
    if (addr->family == RD_UNIX) {
        int n = snprintf(buf, size, "unix:");
        return (size_t)n < size ? n : RESTD_ERANGE;
    }
    if (!inet_ntop(addr->family == RD_IPV6 ? AF_INET6 : AF_INET, addr->ip, buf,
                   (socklen_t)size)) {
        return RESTD_ERANGE;
    }
    return (int)strlen(buf);
}

int rd_addr_format(const struct rd_addr *addr, char *buf, size_t size)
{
    char ip[INET6_ADDRSTRLEN];

    int n = rd_addr_format_host(addr, ip, sizeof(ip));
    if (n >= 0 && addr->family == RD_UNIX) {
        n = snprintf(buf, size, "%s", ip);
    } else if (n >= 0) {
        n = snprintf(buf, size, addr->family == RD_IPV6 ? "[%s]:%u" : "%s:%u",
                     ip, addr->port);
    }
    return n >= 0 && (size_t)n < size ? n : RESTD_ERANGE;
}

int rd_addr_same_host(const struct rd_addr *a, const struct rd_addr *b)
{
    return a->family == b->family && memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

static int parse_port(const char *text, uint16_t *port)
{
    unsigned value = 0;

    if (*text == '\0' || strlen(text) > 5) {
        return -1;
    }
    for (; *text; text++) {
        if (*text < '0' || *text > '9') {
            return -1;
        }
        value = value * 10 + (unsigned)(*text - '0');
    }
    if (value > 65535) {
        return -1;
    }
    *port = (uint16_t)value;
    return 0;
}

static int parse_unix(const char *path, struct sockaddr_storage *sa,
                      socklen_t *len, struct restd_error *error)
{
    struct sockaddr_un *un = (void *)sa;
    size_t n = strlen(path);

    if (n == 0 || n >= sizeof(un->sun_path)) {
        return rd_error(error, RESTD_EINVAL,
                        "unix path must have 1 to %zu bytes: \"%s\"",
                        sizeof(un->sun_path) - 1, path);
    }
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, path, n + 1);
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
    return 0;
}

int rd_addr_parse(const char *text, struct sockaddr_storage *sa, socklen_t *len,
                  struct restd_error *error)
{
    char host[INET6_ADDRSTRLEN];
    struct sockaddr_in *in = (void *)sa;
    struct sockaddr_in6 *in6 = (void *)sa;
    uint16_t port;

    memset(sa, 0, sizeof(*sa));
    if (strncmp(text, "unix:", 5) == 0) {
        return parse_unix(text + 5, sa, len, error);
    }
    const char *start = *text == '[' ? text + 1 : text;
    const char *end = *text == '[' ? strchr(text, ']') : strrchr(text, ':');
    const char *colon = end && *end == ']' ? end + 1 : end;

    if (!colon || *colon != ':' || parse_port(colon + 1, &port) != 0) {
        return rd_error(error, RESTD_EINVAL,
                        "address needs a port 0..65535, as in "
                        "127.0.0.1:8888 or [::1]:8888: \"%s\"",
                        text);
    }
    size_t n = (size_t)(end - start);
    if (n >= sizeof(host)) {
        return rd_error(error, RESTD_EINVAL, "no IP address: \"%s\"", text);
    }
    memcpy(host, start, n);
    host[n] = '\0';
    if (*text == '[') {
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(port);
        *len = sizeof(*in6);
        if (inet_pton(AF_INET6, host, &in6->sin6_addr) == 1) {
            return 0;
        }
    } else {
        in->sin_family = AF_INET;
        in->sin_port = htons(port);
        *len = sizeof(*in);
        if (n == 0 || inet_pton(AF_INET, host, &in->sin_addr) == 1) {
            return 0;
        }
    }
    return rd_error(error, RESTD_EINVAL,
                    "no IP address (names are not resolved): \"%s\"", text);
}
