/* SPDX-License-Identifier: MIT */
/* The hashed wheel. A slot may hold nodes of later laps and nodes whose
 * deadline was moved back since; both are put where they belong when the slot
 * is visited, so each deferral costs one move, however many requests pushed
 * the deadline meanwhile. Thread: the owner's loop. */
#include "net/wheel.h"

#include <stddef.h>
#include <string.h>

#include "base/assert.h"

static void list_init(struct rd_wheel_link *list)
{
    list->next = list;
    list->prev = list;
}

static struct rd_wheel_node *node_of(struct rd_wheel_link *link)
{
    return RD_CONTAINER_OF(link, struct rd_wheel_node, link);
}

void rd_wheel_init(struct rd_wheel *wheel, uint32_t now)
{
    wheel->now = now;
    wheel->n = 0;
    wheel->picked = 0;
    for (uint32_t i = 0; i < RD_WHEEL_SLOTS; i++) {
        list_init(&wheel->slots[i]);
    }
}

static void slot_insert(struct rd_wheel *wheel, struct rd_wheel_node *node,
                        uint32_t tick)
{
    struct rd_wheel_link *slot = &wheel->slots[tick % RD_WHEEL_SLOTS];

    node->armed = tick;
    node->link.next = slot;
    node->link.prev = slot->prev;
    slot->prev->next = &node->link;
    slot->prev = &node->link;
}

static void slot_remove(struct rd_wheel_node *node)
{
    node->link.prev->next = node->link.next;
    node->link.next->prev = node->link.prev;
    node->link.prev = NULL;
}

void rd_wheel_set(struct rd_wheel *wheel, struct rd_wheel_node *node,
                  uint32_t deadline)
{
    if ((int32_t)(deadline - wheel->now) < 1) {
        deadline = wheel->now + 1;
    }
    node->deadline = deadline;
    if (deadline - wheel->now <= wheel->picked) {
        wheel->picked = deadline - wheel->now - 1;
    }
    if (node->link.prev) {
        if ((int32_t)(deadline - node->armed) >= 0) {
            return;
        }
        slot_remove(node);
    } else {
        wheel->n++;
    }
    slot_insert(wheel, node, deadline);
}

void rd_wheel_remove(struct rd_wheel *wheel, struct rd_wheel_node *node)
{
    if (node->link.prev) {
        slot_remove(node);
        wheel->n--;
    }
}

/* Moves a slot's nodes to `list`; they stay removable from within. */
static void slot_detach(struct rd_wheel *wheel, uint32_t tick,
                        struct rd_wheel_link *list)
{
    struct rd_wheel_link *slot = &wheel->slots[tick % RD_WHEEL_SLOTS];

    list_init(list);
    if (slot->next != slot) {
        *list = *slot;
        list->next->prev = list;
        list->prev->next = list;
        list_init(slot);
    }
}

void rd_wheel_advance(struct rd_wheel *wheel, uint32_t now, rd_wheel_fn *fn,
                      void *data)
{
    /* After a long pause one lap visits everything. */
    if (now - wheel->now > RD_WHEEL_SLOTS) {
        wheel->now = now - RD_WHEEL_SLOTS;
    }
    while ((int32_t)(now - wheel->now) > 0) {
        struct rd_wheel_link list;
        uint32_t tick = ++wheel->now;

        wheel->picked = 0;

        slot_detach(wheel, tick, &list);
        while (list.next != &list) {
            struct rd_wheel_node *node = node_of(list.next);
            slot_remove(node);
            if ((int32_t)(node->deadline - now) > 0) {
                slot_insert(wheel, node, node->deadline);
            } else {
                wheel->n--;
                fn(node, data);
            }
        }
    }
}

/* 1 if the node belongs to a later slot of this lap. */
static int is_deferred(const struct rd_wheel *wheel,
                       const struct rd_wheel_node *node, uint32_t tick)
{
    /* What was moved back by more than a lap stays: it would go where the
     * search has been. */
    return node->armed == tick && node->deadline != tick &&
           node->deadline - wheel->now <= RD_WHEEL_SLOTS;
}

struct rd_wheel_node *rd_wheel_pick(struct rd_wheel *wheel,
                                    rd_wheel_pick_fn *pick, void *data)
{
    /* Slots found without one are not searched again before the next tick. */
    for (uint32_t i = wheel->picked + 1; i <= RD_WHEEL_SLOTS; i++) {
        uint32_t tick = wheel->now + i;
        struct rd_wheel_link *slot = &wheel->slots[tick % RD_WHEEL_SLOTS];
        struct rd_wheel_link *at = slot->next;

        while (at != slot) {
            struct rd_wheel_node *node = node_of(at);
            at = at->next;
            if (is_deferred(wheel, node, tick)) {
                slot_remove(node);
                slot_insert(wheel, node, node->deadline);
            } else if (pick(node, data)) {
                return node;
            }
        }
        wheel->picked = i;
    }
    wheel->picked = 0;
    return NULL;
}

void rd_wheel_each(struct rd_wheel *wheel, rd_wheel_fn *fn, void *data)
{
    for (uint32_t i = 0; i < RD_WHEEL_SLOTS; i++) {
        /* From a list of its own: `fn` may put the node anywhere. */
        struct rd_wheel_link list;
        slot_detach(wheel, i, &list);
        while (list.next != &list) {
            struct rd_wheel_node *node = node_of(list.next);
            slot_remove(node);
            slot_insert(wheel, node, node->armed);
            fn(node, data);
        }
    }
}
