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

void *rd_chunk_pool_take(struct rd_chunk_pool *pool, enum rd_mem_owner owner)
{
    void *object = rd_slab_take(&pool->slab);

    if (object) {
        rd_ledger_move(pool->slab.ledger, RD_MEM_POOL, owner, RD_CHUNK_BYTES);
    }
    return object;
}

void rd_chunk_pool_give(struct rd_chunk_pool *pool, enum rd_mem_owner owner,
                        void *object)
{
    rd_ledger_move(pool->slab.ledger, owner, RD_MEM_POOL, RD_CHUNK_BYTES);
    rd_slab_give(&pool->slab, object);
}

static struct rd_chunk *chunk_take(struct rd_chunk_pool *pool,
                                   enum rd_mem_owner owner)
{
    struct rd_chunk *chunk = rd_chunk_pool_take(pool, owner);

    if (chunk) {
        chunk->next = NULL;
        chunk->off = 0;
        chunk->len = 0;
        chunk->kind = RD_CHUNK_DATA;
    }
    return chunk;
}

static void chain_link(struct rd_chain *chain, struct rd_chunk *chunk)
{
    if (chain->tail) {
        chain->tail->next = chunk;
    } else {
        chain->head = chunk;
    }
    chain->tail = chunk;
}

static size_t chunk_room(const struct rd_chunk *chunk)
{
    return chunk && chunk->kind == RD_CHUNK_DATA
               ? sizeof(chunk->data) - chunk->off - chunk->len
               : 0;
}

int rd_chain_append(struct rd_chain *chain, struct rd_chunk_pool *pool,
                    enum rd_mem_owner owner, const char *data, size_t len)
{
    while (len > 0) {
        struct rd_chunk *tail = chain->tail;
        size_t room = chunk_room(tail);

        if (room == 0) {
            tail = chunk_take(pool, owner);
            if (!tail) {
                return RESTD_ENOMEM;
            }
            chain_link(chain, tail);
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

int rd_chain_append_ref(struct rd_chain *chain, struct rd_chunk_pool *pool,
                        enum rd_mem_owner owner, const struct rd_chunk_ref *ref)
{
    RD_ASSERT(ref->len > 0);
    struct rd_chunk *chunk = chunk_take(pool, owner);

    if (!chunk) {
        return RESTD_ENOMEM;
    }
    chunk->kind = RD_CHUNK_REF;
    chunk->ref = *ref;
    chain_link(chain, chunk);
    chain->len += ref->len;
    return 0;
}

struct rd_chunk_ref *rd_chain_file(const struct rd_chain *chain)
{
    struct rd_chunk *head = chain->head;

    return head && head->kind == RD_CHUNK_REF && !head->ref.data ? &head->ref
                                                                 : NULL;
}

/* Takes up to `len` bytes off the front of a chunk; how many. */
static uint64_t chunk_consume(struct rd_chunk *chunk, uint64_t len)
{
    if (chunk->kind == RD_CHUNK_REF) {
        uint64_t n = len < chunk->ref.len ? len : chunk->ref.len;
        if (chunk->ref.data) {
            chunk->ref.data += n;
        }
        chunk->ref.offset += n;
        chunk->ref.len -= n;
        return n;
    }
    uint16_t n = len < chunk->len ? (uint16_t)len : chunk->len;
    chunk->off = (uint16_t)(chunk->off + n);
    chunk->len = (uint16_t)(chunk->len - n);
    return n;
}

static int chunk_is_empty(const struct rd_chunk *chunk)
{
    return chunk->kind == RD_CHUNK_REF ? chunk->ref.len == 0 : chunk->len == 0;
}

void rd_chain_consume(struct rd_chain *chain, struct rd_chunk_pool *pool,
                      enum rd_mem_owner owner, uint64_t len)
{
    RD_ASSERT(len <= chain->len);
    chain->len -= len;
    while (len > 0) {
        struct rd_chunk *head = chain->head;

        RD_ASSERT(head);
        len -= chunk_consume(head, len);
        if (chunk_is_empty(head)) {
            chain->head = head->next;
            if (!chain->head) {
                chain->tail = NULL;
            }
            if (head->kind == RD_CHUNK_REF && head->ref.release) {
                head->ref.release(&head->ref);
            }
            rd_chunk_pool_give(pool, owner, head);
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
        if (c->kind == RD_CHUNK_REF) {
            RD_ASSERT(c->ref.data);
            memcpy(out, c->ref.data, c->ref.len);
            out += c->ref.len;
        } else {
            memcpy(out, c->data + c->off, c->len);
            out += c->len;
        }
    }
}

int rd_chain_iov(const struct rd_chain *chain, struct iovec *iov, int max)
{
    int n = 0;

    for (struct rd_chunk *c = chain->head; c && n < max; c = c->next) {
        if (c->kind == RD_CHUNK_DATA) {
            iov[n].iov_base = c->data + c->off;
            iov[n++].iov_len = c->len;
        } else if (c->ref.data) {
            iov[n].iov_base = (void *)(uintptr_t)c->ref.data;
            iov[n++].iov_len = c->ref.len;
        } else {
            break;
        }
    }
    return n;
}
