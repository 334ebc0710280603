/* SPDX-License-Identifier: MIT */
/* Who counts as one client. Pure, any thread. */
#ifndef RD_PLUGINS_RATE_LIMIT_H
#define RD_PLUGINS_RATE_LIMIT_H

#include <stdint.h>

#include "net/addr.h"

/* Number of an IPv4 address, or of an IPv6 network of 64 bits. */
uint64_t rd_rate_limit_key(const struct rd_addr *peer);

#endif
