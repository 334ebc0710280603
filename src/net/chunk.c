/* SPDX-License-Identifier: MIT */
/* Chains of pooled chunks. Thread: the owner's loop. */
#include "net/chunk.h"

#include <string.h>

#include "base/assert.h"

#include <restd/error.h>

RD_STATIC_ASSERT(sizeof(struct rd_chunk) == RD_CHUNK_BYTES, "chunk size");

void rd_chunk_pool_init(struct rd_chunk_pool *pool, struct rd_ledger *ledger)
{
    rd_slab_init(&pool->slab, ledger, RD_MEM_POOL, RD_CHUNK_BYTES, 0);
}

void rd_chunk_pool_fini(struct rd_chunk_pool *pool)
{
    rd_slab_fini(&pool->slab);
}

static struct rd_chunk *chunk_take(struct rd_chunk_pool *pool,
                                   enum rd_mem_owner owner)
{
    struct rd_chunk *chunk = rd_slab_take(&pool->slab);

    if (chunk) {
        rd_ledger_move(pool->slab.ledger, RD_MEM_POOL, owner, RD_CHUNK_BYTES);
        chunk->next = NULL;
        chunk->off = 0;
        chunk->len = 0;
    }
    return chunk;
}

static void chunk_give(struct rd_chunk_pool *pool, enum rd_mem_owner owner,
                       struct rd_chunk *chunk)
{
    rd_ledger_move(pool->slab.ledger, owner, RD_MEM_POOL, RD_CHUNK_BYTES);
    rd_slab_give(&pool->slab, chunk);
}

int rd_chain_append(struct rd_chain *chain, struct rd_chunk_pool *pool,
                    enum rd_mem_owner owner, const char *data, size_t len)
{
    while (len > 0) {
        struct rd_chunk *tail = chain->tail;
        size_t room = tail ? sizeof(tail->data) - tail->off - tail->len : 0;

        if (room == 0) {
            tail = chunk_take(pool, owner);
            if (!tail) {
                return RESTD_ENOMEM;
            }
            if (chain->tail) {
                chain->tail->next = tail;
            } else {
                chain->head = tail;
            }
            chain->tail = tail;
            room = sizeof(tail->data);
        }
        size_t n = len < room ? len : room;
        memcpy(tail->data + tail->off + tail->len, data, n);
        tail->len = (uint16_t)(tail->len + n);
        chain->len += n;
        data += n;
        len -= n;
    }
    return 0;
}

void rd_chain_consume(struct rd_chain *chain, struct rd_chunk_pool *pool,
                      enum rd_mem_owner owner, size_t len)
{
    RD_ASSERT(len <= chain->len);
    chain->len -= len;
    while (len > 0) {
        struct rd_chunk *head = chain->head;

        RD_ASSERT(head);
        size_t n = len < head->len ? len : head->len;

        head->off = (uint16_t)(head->off + n);
        head->len = (uint16_t)(head->len - n);
        len -= n;
        if (head->len == 0) {
            chain->head = head->next;
            if (!chain->head) {
                chain->tail = NULL;
            }
            chunk_give(pool, owner, head);
        }
    }
}

void rd_chain_clear(struct rd_chain *chain, struct rd_chunk_pool *pool,
                    enum rd_mem_owner owner)
{
    if (chain->len > 0) {
        rd_chain_consume(chain, pool, owner, chain->len);
    }
}

void rd_chain_join(struct rd_chain *to, struct rd_chain *from,
                   struct rd_chunk_pool *pool, enum rd_mem_owner to_owner,
                   enum rd_mem_owner from_owner)
{
    if (!from->head) {
        return;
    }
    for (struct rd_chunk *c = from->head; c; c = c->next) {
        rd_ledger_move(pool->slab.ledger, from_owner, to_owner, RD_CHUNK_BYTES);
    }
    if (to->tail) {
        to->tail->next = from->head;
    } else {
        to->head = from->head;
    }
    to->tail = from->tail;
    to->len += from->len;
    memset(from, 0, sizeof(*from));
}

void rd_chain_copy(const struct rd_chain *chain, char *out)
{
    for (const struct rd_chunk *c = chain->head; c; c = c->next) {
        memcpy(out, c->data + c->off, c->len);
        out += c->len;
    }
}

int rd_chain_iov(const struct rd_chain *chain, struct iovec *iov, int max)
{
    int n = 0;

    for (struct rd_chunk *c = chain->head; c && n < max; c = c->next) {
        iov[n].iov_base = c->data + c->off;
        iov[n].iov_len = c->len;
        n++;
    }
    return n;
}
