/* SPDX-License-Identifier: MIT */
/* Handlers that wait, and therefore run on threads of their own.
 *
 * The request is promoted and gets a job for the pool. While that is out, the
 * loop touches nothing of it but `cancelled`, and the thread nothing of the
 * loop; however it ends it is posted back, and only then may the exchange go.
 * So all that passes between threads is one object and who has it.
 *
 *   promoted --submit--> queued --> running ---+--post--> back: answered,
 *                           |                  |          or freed if its
 *                           +- not worth it ---+          client has left
 *
 * struct rd_offload
 * Owner: the server. Lifetime: restd_server_start() to restd_server_free(),
 * where its threads end before the loops are freed. Thread: [any]. */
#ifndef RD_HTTP_OFFLOAD_H
#define RD_HTTP_OFFLOAD_H

#include <stdatomic.h>

#include "base/ledger.h"
#include "base/pool.h"
#include "http/message.h"
#include "net/reactor.h"

struct rd_h1_exchange;

struct rd_offload {
    struct rd_pool pool;
    struct restd_options options; /* of the start */
    const struct rd_listener *listeners;
    struct rd_budget *budget;
    struct rd_log *log;
    pthread_mutex_t lock;
    struct rd_ledger ledger; /* [lock: lock] what the threads hold */
};

/* What an exchange needs to be away from its loop.
 * Owner: its exchange, from the loop's slab. Thread: whose it is by the drawing
 * above; fields tagged otherwise are the loop's all the time. */
struct rd_offloaded {
    struct rd_job job;
    struct rd_post back;
    struct rd_h1_exchange *exchange;
    int is_out;            /* [loop] */
    _Atomic int cancelled; /* [loop] writes: nobody waits for it any more */
    uint64_t deadline_ns;
    struct rd_addr peer;
    uint16_t listener;
    struct restd_slice body; /* contiguous */
    size_t body_bytes;       /* of memory of its own; RD_MEM_BODIES */
    /* The response. Its memory comes and goes with it. */
    int rc, status;
    int is_late; /* not begun: its time was over */
    struct rd_ledger ledger;
    struct rd_chunk_pool chunks;
    struct rd_chain fields;  /* type and fields, if they are not in `small` */
    struct rd_chain content; /* what of it is not in `small` */
    uint16_t type_len, fields_len, small_len;
    char small[640];
};

/* Starts no thread. */
void rd_offload_init(struct rd_offload *offload,
                     const struct restd_options *options,
                     struct rd_budget *budget, struct rd_log *log,
                     const struct rd_listener *listeners);
/* Waits for the jobs that run; again: nothing to do. */
void rd_offload_fini(struct rd_offload *offload);
void rd_offload_read(const struct rd_offload *offload,
                     struct rd_pool_figures *figures);

/* [loop] */

/* Has the handler of the request in h1->head run elsewhere, with that content;
 * or answers at once that it cannot be. */
void rd_h1_offload(struct rd_h1 *h1, struct rd_conn *conn,
                   struct restd_slice body);
/* Nobody waits for it any more. */
void rd_offload_cancel(struct rd_offloaded *job);
/* It has taken too long. */
void rd_h1_offload_timeout(struct rd_h1 *h1, struct rd_h1_exchange *exchange);
/* The threads have ended, and so has the loop: what they have posted to it is
 * taken back. */
void rd_h1_offload_recall(struct rd_h1 *h1);
/* Frees the job of an exchange, which is not out. */
void rd_h1_offload_free(struct rd_h1_exchange *exchange);

#endif
