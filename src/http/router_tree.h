/* SPDX-License-Identifier: MIT */
/* What router.c builds and router_match.c walks. Owner, lifetime and threads:
 * see router.h. */
#ifndef RD_HTTP_ROUTER_TREE_H
#define RD_HTTP_ROUTER_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "http/router.h"

struct rd_router_node {
    struct rd_router_node *next;     /* sibling */
    struct rd_router_node *children; /* text segments */
    struct rd_router_node *variable;
    struct rd_route *routes[RD_METHODS_MAX];
    uint32_t methods; /* bit per route; HEAD with GET */
    size_t len;
    char text[];
};

struct rd_router_path {
    struct rd_router_path *next; /* all, until frozen */
    const struct rd_router_node *node;
    uint32_t hash;
    size_t len;
    char text[];
};

struct rd_router {
    struct rd_router_node *root;
    struct rd_router_path *paths;
    size_t paths_n;
    const struct rd_router_path **table; /* open addressing */
    uint32_t mask;
    unsigned methods_n;
    /* Tokens by number; from RESTD_METHODS_N on they are the router's. */
    const char *methods[RD_METHODS_MAX];
    uint32_t allowed;
    size_t bytes; /* of nodes, routes, paths and the table */
};

static inline uint32_t rd_router_hash(const char *text, size_t len)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < len; i++) {
        h = (h ^ (unsigned char)text[i]) * 16777619u;
    }
    return h;
}

#endif
