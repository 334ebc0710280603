/* SPDX-License-Identifier: MIT */
/* Addresses of listeners and peers. Pure, any thread. */
#ifndef RD_NET_ADDR_H
#define RD_NET_ADDR_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <restd/error.h>

enum rd_family { RD_UNIX = 0, RD_IPV4 = 4, RD_IPV6 = 6 };

/* A peer, small enough for a connection slot. IPv4-mapped IPv6 addresses are
 * stored as IPv4, so that both compare equal. */
struct rd_addr {
    uint8_t ip[16]; /* network order; the first 4 for IPv4 */
    uint16_t port;  /* host order */
    uint8_t family; /* enum rd_family */
};

/* Longest text: "[ffff:...]:65535" or "unix:" and a path. */
#define RD_ADDR_TEXT_MAX (sizeof(((struct sockaddr_un *)0)->sun_path) + 8)

void rd_addr_from_sockaddr(struct rd_addr *addr, const struct sockaddr *sa);
/* Text with port; its length, or RESTD_ERANGE. */
int rd_addr_format(const struct rd_addr *addr, char *buf, size_t size);
/* The same without the port ("192.0.2.1", "::1", "unix:"). */
int rd_addr_format_host(const struct rd_addr *addr, char *buf, size_t size);
/* Same host, whatever the port. */
int rd_addr_same_host(const struct rd_addr *a, const struct rd_addr *b);

/* Parses a listen address, see restd_server_listen(). RESTD_EINVAL with a
 * sentence in `error`. */
int rd_addr_parse(const char *text, struct sockaddr_storage *sa, socklen_t *len,
                  struct restd_error *error);

#endif
