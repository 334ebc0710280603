/* SPDX-License-Identifier: MIT */
/* Where replies are owed and left. Thread: [loop], but for those who reply,
 * [any]. */
#include "http/desk.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "http/h1.h"

/* A handle: generation, desk, place. */
#define DESK_BITS 12u
#define PLACE_BITS 20u
#define DESKS_MAX (1u << DESK_BITS)
#define PLACES_MAX (1u << PLACE_BITS)
#define NONE UINT32_MAX

struct place {
    struct rd_h1_exchange *exchange; /* NULL: free */
    restd_deferred handle;
    int has_reply;
    uint32_t next_free;
};

struct rd_desk {
    struct rd_post look;
    struct rd_h1 *h1;
    unsigned number;      /* in the table; DESKS_MAX: not there any more */
    pthread_mutex_t lock; /* for what follows */
    struct place *places;
    uint32_t places_n, free;
    struct rd_desk_reply *first, **last;
};

static struct {
    pthread_rwlock_t lock;
    struct rd_desk *desks[DESKS_MAX];
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Never 0, and the same again only after four thousand million deferrals. */
static uint64_t next_generation(void)
{
    static atomic_uint_least32_t last;
    uint32_t n;

    do {
        n = (uint32_t)atomic_fetch_add_explicit(&last, 1,
                                                memory_order_relaxed) +
            1;
    } while (n == 0);
    return n;
}

static restd_deferred make_handle(unsigned desk, uint32_t place)
{
    return next_generation() << 32 | (uint64_t)desk << PLACE_BITS | place;
}

static unsigned desk_of(restd_deferred handle)
{
    return (unsigned)(handle >> PLACE_BITS) & (DESKS_MAX - 1);
}

/* The place that a handle names; NULL if it names nothing. [lock] */
static struct place *find(const struct rd_desk *desk, restd_deferred handle)
{
    uint32_t i = (uint32_t)handle & (PLACES_MAX - 1);

    return i < desk->places_n && desk->places[i].exchange &&
                   desk->places[i].handle == handle
               ? &desk->places[i]
               : NULL;
}

/* --- the desk ---------------------------------------------------------------- */

static void look(struct rd_post *post)
{
    rd_h1_defer_look(RD_CONTAINER_OF(post, struct rd_desk, look)->h1);
}

static int enter(struct rd_desk *desk)
{
    pthread_rwlock_wrlock(&table.lock);
    unsigned i = 0;
    while (i < DESKS_MAX && table.desks[i]) {
        i++;
    }
    if (i < DESKS_MAX) {
        table.desks[i] = desk;
    }
    desk->number = i; /* DESKS_MAX: in none */
    pthread_rwlock_unlock(&table.lock);
    return i < DESKS_MAX ? 0 : RESTD_ELIMIT;
}

static int desk_new(struct rd_h1 *h1)
{
    struct rd_desk *desk = rd_mem_alloc(sizeof(*desk));

    if (!desk) {
        return RESTD_ENOMEM;
    }
    desk->h1 = h1;
    desk->free = NONE;
    desk->last = &desk->first;
    rd_post_init(&desk->look, look);
    pthread_mutex_init(&desk->lock, NULL);
    int rc = enter(desk);
    h1->desk = desk;
    if (rc != 0) {
        rd_desk_free(h1);
    }
    return rc;
}

void rd_desk_close(struct rd_h1 *h1)
{
    struct rd_desk *desk = h1->desk;

    if (desk && desk->number < DESKS_MAX) {
        pthread_rwlock_wrlock(&table.lock);
        table.desks[desk->number] = NULL;
        desk->number = DESKS_MAX;
        pthread_rwlock_unlock(&table.lock);
    }
}

void rd_desk_unpost(struct rd_h1 *h1)
{
    if (h1->desk) {
        rd_loop_unpost(h1->reactor->loop, &h1->desk->look);
    }
}

void rd_desk_free(struct rd_h1 *h1)
{
    struct rd_desk *desk = h1->desk;

    if (!desk) {
        return;
    }
    rd_desk_close(h1);
    if (!h1->reactor->is_guest) {
        rd_desk_unpost(h1);
    }
    while (desk->first) {
        struct rd_desk_reply *reply = desk->first;
        desk->first = reply->next;
        rd_desk_reply_free(reply);
    }
    rd_ledger_release(&h1->reactor->ledger, RD_MEM_SCRATCH,
                      desk->places_n * sizeof(struct place));
    rd_mem_free(desk->places);
    pthread_mutex_destroy(&desk->lock);
    rd_mem_free(desk);
    h1->desk = NULL;
}

/* Twice as many places. [lock] */
static int grow(struct rd_desk *desk)
{
    uint32_t n = desk->places_n ? desk->places_n * 2 : 64;
    size_t more = (n - desk->places_n) * sizeof(struct place);

    if (n > PLACES_MAX) {
        return RESTD_ELIMIT;
    }
    if (rd_ledger_charge(&desk->h1->reactor->ledger, RD_MEM_SCRATCH, more)) {
        return RESTD_ENOMEM;
    }
    struct place *places = rd_mem_alloc(n * sizeof(*places));
    if (!places) {
        rd_ledger_release(&desk->h1->reactor->ledger, RD_MEM_SCRATCH, more);
        return RESTD_ENOMEM;
    }
    if (desk->places_n > 0) {
        memcpy(places, desk->places, desk->places_n * sizeof(*places));
    }
    for (uint32_t i = n; i-- > desk->places_n;) {
        places[i].next_free = desk->free;
        desk->free = i;
    }
    rd_mem_free(desk->places);
    desk->places = places;
    desk->places_n = n;
    return 0;
}

int rd_desk_take(struct rd_h1 *h1, struct rd_h1_exchange *ex,
                 restd_deferred *handle)
{
    int rc = h1->desk ? 0 : desk_new(h1);
    struct rd_desk *desk = h1->desk;

    if (rc != 0) {
        return rc;
    }
    pthread_mutex_lock(&desk->lock);
    if (desk->free == NONE) {
        rc = grow(desk);
    }
    if (rc == 0) {
        uint32_t i = desk->free;
        struct place *place = &desk->places[i];
        desk->free = place->next_free;
        place->exchange = ex;
        place->handle = *handle = make_handle(desk->number, i);
        place->has_reply = 0;
    }
    pthread_mutex_unlock(&desk->lock);
    return rc;
}

struct rd_h1_exchange *rd_desk_find(const struct rd_h1 *h1,
                                    restd_deferred handle)
{
    pthread_mutex_lock(&h1->desk->lock);
    const struct place *place = find(h1->desk, handle);
    struct rd_h1_exchange *ex = place ? place->exchange : NULL;
    pthread_mutex_unlock(&h1->desk->lock);
    return ex;
}

void rd_desk_give(struct rd_h1 *h1, restd_deferred handle)
{
    struct rd_desk *desk = h1->desk;

    pthread_mutex_lock(&desk->lock);
    struct place *place = find(desk, handle);
    place->exchange = NULL;
    place->next_free = desk->free;
    desk->free = (uint32_t)(place - desk->places);
    pthread_mutex_unlock(&desk->lock);
}

struct rd_desk_reply *rd_desk_replies(struct rd_h1 *h1)
{
    struct rd_desk *desk = h1->desk;

    pthread_mutex_lock(&desk->lock);
    struct rd_desk_reply *first = desk->first;
    desk->first = NULL;
    desk->last = &desk->first;
    pthread_mutex_unlock(&desk->lock);
    return first;
}

void rd_desk_reply_free(struct rd_desk_reply *reply)
{
    restd_prepared_unref(reply->prepared);
    rd_mem_free(reply);
}

/* --- who replies, [any] --------------------------------------------------------- */

static int put_reply(struct rd_desk *desk, restd_deferred handle,
                     struct restd_prepared *prepared)
{
    struct place *place = find(desk, handle);

    if (!place || place->has_reply) {
        return place ? RESTD_ESTATE : RESTD_ECLOSED;
    }
    struct rd_desk_reply *reply = rd_mem_alloc(sizeof(*reply));
    if (!reply) {
        return RESTD_ENOMEM;
    }
    reply->handle = handle;
    reply->prepared = restd_prepared_ref(prepared);
    place->has_reply = 1;
    *desk->last = reply;
    desk->last = &reply->next;
    return 0;
}

int restd_deferred_reply(restd_deferred handle, struct restd_prepared *prepared)
{
    int rc = RESTD_ECLOSED;

    pthread_rwlock_rdlock(&table.lock);
    struct rd_desk *desk = table.desks[desk_of(handle)];
    if (desk) {
        pthread_mutex_lock(&desk->lock);
        rc = put_reply(desk, handle, prepared);
        pthread_mutex_unlock(&desk->lock);
    }
    if (rc == 0) {
        /* Under the table's lock, or the loop might go meanwhile. */
        rd_loop_post(desk->h1->reactor->loop, &desk->look);
    }
    pthread_rwlock_unlock(&table.lock);
    return rc;
}

int restd_deferred_is_awaited(restd_deferred handle)
{
    int awaited = 0;

    pthread_rwlock_rdlock(&table.lock);
    struct rd_desk *desk = table.desks[desk_of(handle)];
    if (desk) {
        pthread_mutex_lock(&desk->lock);
        const struct place *place = find(desk, handle);
        awaited = place && !place->has_reply;
        pthread_mutex_unlock(&desk->lock);
    }
    pthread_rwlock_unlock(&table.lock);
    return awaited;
}
