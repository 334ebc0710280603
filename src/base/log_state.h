/* SPDX-License-Identifier: MIT */
/* The inside of the log, for its two halves: log.c and log_writer.c. */
#ifndef RD_BASE_LOG_STATE_H
#define RD_BASE_LOG_STATE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/log.h"
#include "base/log_ring.h"

/* What ends the writer's sleep, if it sleeps: AWAKE nothing, NAPPING a message,
 * ASLEEP any line. */
enum { RD_LOG_AWAKE, RD_LOG_NAPPING, RD_LOG_ASLEEP };

struct rd_log {
    uint64_t id; /* never used again, unlike an address */
    restd_log_fn *sink;
    restd_log_flush_fn *flush;
    void *data;
    _Atomic int level;     /* enum restd_log_level */
    unsigned rings_n;      /* with ring 0 */
    unsigned char *memory; /* of all rings */
    size_t memory_bytes, self_bytes;
    _Atomic unsigned rings_used; /* with ring 0; changed under the lock */
    pthread_mutex_t lock;        /* ring 0's producers, attaching */
    sem_t wake;
    _Atomic int sleep;
    _Atomic int stopping, flush_asked;
    int running, abandoned; /* owner's */
    /* The writer's: drops that it has told of, by class; when it last told of
     * the access log's; its next nap, 0 for none. */
    uint64_t reported[2], reported_ns;
    unsigned nap_ms;
    pthread_t thread;
    struct rd_log_ring rings[];
};

uint64_t rd_log_dropped_sum(const struct rd_log *log, int access);
/* The writer's thread; `log` is the argument. */
void *rd_log_writer(void *log);

#endif
