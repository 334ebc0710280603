/* SPDX-License-Identifier: MIT */
/* Chains of pooled chunks: what must be kept beyond a turn, such as half a
 * head, a content being received, or output that the peer has not taken. Of
 * output a chunk may hold a reference instead of bytes: to memory, or to a
 * stretch of a file.
 *
 * Owner: a connection or a request; the chunks come from its loop's pool.
 * Lifetime: empty chains hold nothing. Thread: [loop]. */
#ifndef RD_NET_CHUNK_H
#define RD_NET_CHUNK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/slab.h"

/* Three to a page. */
#define RD_CHUNK_BYTES 1344u

enum rd_chunk_kind { RD_CHUNK_DATA, RD_CHUNK_REF };

/* What a chunk of kind RD_CHUNK_REF stands for. */
struct rd_chunk_ref {
    const char *data; /* next byte; NULL: of the file */
    int fd;
    uint64_t offset; /* of the next byte in the file */
    uint64_t len;
    /* Called once it has gone; NULL: nobody wants to know. */
    void (*release)(const struct rd_chunk_ref *ref);
    void *arg;
};

struct rd_chunk {
    struct rd_chunk *next;
    uint16_t off, len; /* data[off .. off + len) is in use */
    uint8_t kind;      /* enum rd_chunk_kind */
    union {
        char data[RD_CHUNK_BYTES - 16];
        struct rd_chunk_ref ref;
    };
};

struct rd_chain {
    struct rd_chunk *head, *tail;
    uint64_t len;
};

/* The pool charges its pages to RD_MEM_POOL and each chunk in use to the owner
 * that took it. */
struct rd_chunk_pool {
    struct rd_slab slab;
};

void rd_chunk_pool_init(struct rd_chunk_pool *pool, struct rd_ledger *ledger);
void rd_chunk_pool_fini(struct rd_chunk_pool *pool);

/* An object of up to RD_CHUNK_BYTES in a place of the pool, not initialised;
 * NULL when there is none. It is charged to `owner`. */
void *rd_chunk_pool_take(struct rd_chunk_pool *pool, enum rd_mem_owner owner);
void rd_chunk_pool_give(struct rd_chunk_pool *pool, enum rd_mem_owner owner,
                        void *object);

/* Appends a copy. RESTD_ENOMEM when the budget has no room; what was appended
 * before stays. */
int rd_chain_append(struct rd_chain *chain, struct rd_chunk_pool *pool,
                    enum rd_mem_owner owner, const char *data, size_t len);
/* Appends a reference, `ref->len` > 0 bytes; `release` is called when they
 * have gone, whether they were sent or not. On RESTD_ENOMEM it is not. */
int rd_chain_append_ref(struct rd_chain *chain, struct rd_chunk_pool *pool,
                        enum rd_mem_owner owner,
                        const struct rd_chunk_ref *ref);
/* The stretch of a file that comes next; NULL if it is something else. */
struct rd_chunk_ref *rd_chain_file(const struct rd_chain *chain);
/* Removes `len` bytes from the front. */
void rd_chain_consume(struct rd_chain *chain, struct rd_chunk_pool *pool,
                      enum rd_mem_owner owner, uint64_t len);
void rd_chain_clear(struct rd_chain *chain, struct rd_chunk_pool *pool,
                    enum rd_mem_owner owner);
/* Moves all of `from` behind `to`; both are of one loop. */
void rd_chain_join(struct rd_chain *to, struct rd_chain *from,
                   struct rd_chunk_pool *pool, enum rd_mem_owner to_owner,
                   enum rd_mem_owner from_owner);
/* Copies everything to `out` (chain->len bytes); nothing in it may be of a
 * file. */
void rd_chain_copy(const struct rd_chain *chain, char *out);
/* Fills at most `max` vectors from the front, up to where a file comes; returns
 * how many. */
int rd_chain_iov(const struct rd_chain *chain, struct iovec *iov, int max);

#endif
