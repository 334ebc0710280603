/* SPDX-License-Identifier: MIT */
/* Deadlines of a loop's connections: a hashed wheel, ticks of 100 ms, one node
 * per connection. A later deadline is only stored; the node moves when its old
 * slot comes round. An earlier one moves the node at once.
 *
 * Owner: a reactor. Lifetime: its loop's. Thread: [loop]. Pure: no clock. */
#ifndef RD_NET_WHEEL_H
#define RD_NET_WHEEL_H

#include <stdint.h>

#define RD_TICK_MS 100u
/* One lap is 102 s, above the default keep-alive, so that slots read from now
 * on give idle connections in the order of their deadlines. */
#define RD_WHEEL_SLOTS 1024u

struct rd_wheel_link {
    struct rd_wheel_link *next, *prev; /* NULL: in no slot */
};

struct rd_wheel_node {
    struct rd_wheel_link link;
    uint32_t deadline; /* tick */
    uint32_t armed;    /* tick of the slot that it is in */
};

struct rd_wheel {
    uint32_t now;    /* last tick that was handled */
    uint32_t picked; /* ticks from now that rd_wheel_pick() has been through */
    uint32_t n;
    struct rd_wheel_link slots[RD_WHEEL_SLOTS]; /* first in, first out */
};

typedef void rd_wheel_fn(struct rd_wheel_node *node, void *data);
/* 1: this one, stop; 0: go on. */
typedef int rd_wheel_pick_fn(struct rd_wheel_node *node, void *data);

/* Ticks that are at least `ms` long, as seen from within the current one. */
static inline uint32_t rd_ticks(uint32_t ms)
{
    return (ms + RD_TICK_MS - 1) / RD_TICK_MS + 1;
}

void rd_wheel_init(struct rd_wheel *wheel, uint32_t now);
void rd_wheel_set(struct rd_wheel *wheel, struct rd_wheel_node *node,
                  uint32_t deadline);
void rd_wheel_remove(struct rd_wheel *wheel, struct rd_wheel_node *node);
/* Calls `fn` for every node whose deadline is at or before `now`; the node is
 * in no slot then and may be set again. */
void rd_wheel_advance(struct rd_wheel *wheel, uint32_t now, rd_wheel_fn *fn,
                      void *data);
/* Offers nodes by their deadlines, soonest first (within one lap), until
 * `pick` takes one; returns it, still in its slot, or NULL. */
struct rd_wheel_node *rd_wheel_pick(struct rd_wheel *wheel,
                                    rd_wheel_pick_fn *pick, void *data);
/* Calls `fn` for every node, in no order; `fn` may set or remove it. */
void rd_wheel_each(struct rd_wheel *wheel, rd_wheel_fn *fn, void *data);

#endif
