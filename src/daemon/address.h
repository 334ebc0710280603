/* SPDX-License-Identifier: MIT */
/* Listen addresses as text: "127.0.0.1:8888", "[::1]:8888", ":8888" (all of
 * IPv4), "unix:/path". Whether one is valid is for restd_server_listen() to
 * say. Pure, any thread. */
#ifndef RD_DAEMON_ADDRESS_H
#define RD_DAEMON_ADDRESS_H

#include <stddef.h>

int rd_address_is_unix(const char *address);
/* 1 if only this machine can reach it: loopback or unix. */
int rd_address_is_local(const char *address);
/* Replaces the port in `address` (of `size` bytes), or adds one. Returns 0, or
 * -1 if there is no room. */
int rd_address_set_port(char *address, size_t size, unsigned port);

#endif
