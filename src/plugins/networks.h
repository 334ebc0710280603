/* SPDX-License-Identifier: MIT */
/* Sets of addresses and networks, as restd_networks_new() makes them, for those
 * who have an address and no request. Pure, any thread. */
#ifndef RD_PLUGINS_NETWORKS_H
#define RD_PLUGINS_NETWORKS_H

#include <restd/plugins.h>

#include "net/addr.h"

/* 1 if `peer` is in the set, or 0. */
int rd_networks_contains(const struct restd_networks *networks,
                         const struct rd_addr *peer);

#endif
