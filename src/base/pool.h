/* SPDX-License-Identifier: MIT */
/* Threads that run jobs which may wait: a bounded queue, first in, first out,
 * and threads that are started when all are busy and end when they have had
 * nothing to do.
 *
 * struct rd_pool
 * Owner: who made it. Lifetime: rd_pool_init() to rd_pool_fini().
 * Thread: rd_pool_submit() and rd_pool_read() [any], the rest its owner's. */
#ifndef RD_BASE_POOL_H
#define RD_BASE_POOL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded in what is to be done. Owner: the submitter until it is submitted,
 * then the pool until `run` is called with it. */
struct rd_job {
    struct rd_job *next;
};

struct rd_pool_ops {
    /* What a thread has of its own; NULL: there is no memory for one more.
     * [any] */
    void *(*local_new)(void *data);
    /* 1 if the job has been done, 0 if it was not worth it. [the thread] */
    int (*run)(struct rd_job *job, void *local, void *data);
    /* [any] */
    void (*local_free)(void *local, void *data);
};

struct rd_pool_limits {
    unsigned threads_max, queue_max;
    size_t stack_bytes;
    unsigned idle_ms; /* after which a thread ends */
};

/* What it does now, and has done. */
struct rd_pool_figures {
    unsigned threads, running, queued;
    uint64_t done, dropped, refused;
};

struct rd_pool_thread;

struct rd_pool {
    pthread_mutex_t lock; /* for all that follows */
    pthread_cond_t ended; /* a thread has */
    const struct rd_pool_ops *ops;
    void *data;
    struct rd_pool_limits limits;
    struct rd_job *head, **tail;
    struct rd_pool_thread *threads; /* all */
    struct rd_pool_thread *idle;    /* the one that has waited least first */
    struct rd_pool_thread *retired; /* has ended, to be joined */
    int waking; /* a thread is on its way to the queue: one is enough */
    int stopping;
    uint64_t run_ns; /* mean time of a job, newer ones weigh more */
    struct rd_pool_figures figures;
};

/* No thread is started. */
void rd_pool_init(struct rd_pool *pool, const struct rd_pool_ops *ops,
                  void *data, const struct rd_pool_limits *limits);
/* Lets what is queued run, and joins the threads; nobody submits any more. */
void rd_pool_fini(struct rd_pool *pool);

/* 0; RESTD_EAGAIN if the queue is full; RESTD_ENOMEM or RESTD_ELIMIT if not
 * even one thread can be had. Waits for nothing but the lock. */
int rd_pool_submit(struct rd_pool *pool, struct rd_job *job);
void rd_pool_read(struct rd_pool *pool, struct rd_pool_figures *figures);
/* In which time what is queued will have been begun, as far as can be told; in
 * s, 1 to 60. */
unsigned rd_pool_wait_s(struct rd_pool *pool);
/* Calls `fn` for what each thread has of its own. Under the lock. */
void rd_pool_each(struct rd_pool *pool, void (*fn)(void *local, void *arg),
                  void *arg);

#endif
