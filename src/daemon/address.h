/* SPDX-License-Identifier: MIT */
/* Listen addresses as text: "127.0.0.1:8888", "[::1]:8888", ":8888" (all of
 * IPv4), "unix:/path". restd_server_listen() has the last word on them. Pure, any
 * thread. */
#ifndef RD_DAEMON_ADDRESS_H
#define RD_DAEMON_ADDRESS_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

int rd_address_is_unix(const char *address);
/* 1 if only this machine can reach it: loopback or unix. */
int rd_address_is_local(const char *address);
/* 1 if its port is 0, which takes a free one. */
int rd_address_is_any_port(const char *address);
struct rd_address {
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    };
    socklen_t len;
};

/* Takes an address apart. NULL, or what is wrong with it, as "must be ...". */
const char *rd_address_parse(const char *address, struct rd_address *to);
/* 1 if two sockets cannot be bound so at once. */
int rd_address_clashes(const char *a, const char *b);
/* Replaces the port in `address` (of `size` bytes), or adds one. Returns 0, or
 * -1 if there is no room. */
int rd_address_set_port(char *address, size_t size, unsigned port);

/* 1 if a socket is bound to what the address says; port 0 says any. */
int rd_address_is_of(const char *address, int fd);

#endif
