/* SPDX-License-Identifier: MIT */
/* A pool of threads.
 *
 * One thread is woken, or started, at a time; it sees to the next one itself if
 * it finds more work than its own. So a batch of short jobs costs one wake-up,
 * and a batch of long ones has all the threads it may have within as many
 * times the time of a wake-up. Idle threads stand on a stack, so that those
 * that are not needed sleep undisturbed and end.
 *
 * Threads are joined by the next one that ends, the last ones by
 * rd_pool_fini(). Thread: any. */
#include "base/pool.h"

#include <errno.h>
#include <time.h>

#include <restd/error.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"

#define NS_PER_S UINT64_C(1000000000)
#define WAIT_MAX_S 60u
/* Weight of the newest job in the mean. */
#define MEAN_SHIFT 3

/* Owner: the pool. Lifetime: from its start until it is joined. */
struct rd_pool_thread {
    struct rd_pool_thread *next, **pprev; /* of all */
    struct rd_pool_thread *next_idle;
    struct rd_pool *pool;
    pthread_t thread;
    pthread_cond_t wake;
    int is_woken;
    void *local;
};

void rd_pool_init(struct rd_pool *pool, const struct rd_pool_ops *ops,
                  void *data, const struct rd_pool_limits *limits)
{
    static const struct rd_pool empty;

    *pool = empty;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->ended, NULL);
    pool->ops = ops;
    pool->data = data;
    pool->limits = *limits;
    pool->tail = &pool->head;
}

static void thread_free(struct rd_pool_thread *t)
{
    if (t->local) {
        t->pool->ops->local_free(t->local, t->pool->data);
    }
    pthread_cond_destroy(&t->wake);
    rd_mem_free(t);
}

static struct rd_pool_thread *thread_new(struct rd_pool *pool)
{
    struct rd_pool_thread *t = rd_mem_alloc(sizeof(*t));
    pthread_condattr_t attr;

    if (!t) {
        return NULL;
    }
    t->pool = pool;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->wake, &attr);
    pthread_condattr_destroy(&attr);
    t->local = pool->ops->local_new(pool->data);
    if (!t->local) {
        thread_free(t);
        return NULL;
    }
    return t;
}

/* Takes itself off the stack. */
static void leave_idle(struct rd_pool_thread *t)
{
    struct rd_pool_thread **at = &t->pool->idle;

    while (*at != t) {
        at = &(*at)->next_idle;
    }
    *at = t->next_idle;
}

/* Waits to be woken; 0 if that has not been for too long, or will not be. */
static int wait_idle(struct rd_pool_thread *t)
{
    struct rd_pool *pool = t->pool;
    uint64_t until =
        rd_clock_ns() + (uint64_t)pool->limits.idle_ms * (NS_PER_S / 1000);
    const struct timespec at = {.tv_sec = (time_t)(until / NS_PER_S),
                                .tv_nsec = (long)(until % NS_PER_S)};
    int rc = 0;

    t->next_idle = pool->idle;
    pool->idle = t;
    t->is_woken = 0;
    while (!t->is_woken && rc != ETIMEDOUT && !pool->stopping) {
        rc = pthread_cond_timedwait(&t->wake, &pool->lock, &at);
    }
    if (!t->is_woken) {
        leave_idle(t);
    }
    return t->is_woken;
}

static void *thread_main(void *arg);

static int thread_start(struct rd_pool *pool)
{
    struct rd_pool_thread *t = thread_new(pool);

    if (!t) {
        return RESTD_ENOMEM;
    }
    int rc = rd_thread_start(&t->thread, "restd-offload",
                             pool->limits.stack_bytes, thread_main, t);
    if (rc != 0) {
        thread_free(t);
        return rc;
    }
    /* The new one waits for the lock before it looks at anything. */
    t->next = pool->threads;
    t->pprev = &pool->threads;
    if (t->next) {
        t->next->pprev = &t->next;
    }
    pool->threads = t;
    pool->figures.threads++;
    return 0;
}

/* Has somebody look at the queue. */
static int wake_one(struct rd_pool *pool)
{
    struct rd_pool_thread *t = pool->idle;
    int rc = 0;

    if (pool->waking) {
        return 0;
    }
    if (t) {
        pool->idle = t->next_idle;
        t->is_woken = 1;
        pthread_cond_signal(&t->wake);
        pool->waking = 1;
    } else if (pool->figures.threads < pool->limits.threads_max) {
        rc = thread_start(pool);
        pool->waking = rc == 0;
    }
    return rc;
}

/* A job has been run, outside of the lock. */
static void note_done(struct rd_pool *pool, uint64_t took_ns)
{
    uint64_t mean = pool->run_ns;

    pool->figures.done++;
    pool->run_ns = mean == 0
                       ? took_ns
                       : mean - (mean >> MEAN_SHIFT) + (took_ns >> MEAN_SHIFT);
}

static void run_one(struct rd_pool_thread *t)
{
    struct rd_pool *pool = t->pool;
    struct rd_job *job = pool->head;

    pool->head = job->next;
    if (!pool->head) {
        pool->tail = &pool->head;
    }
    pool->figures.queued--;
    pool->figures.running++;
    if (pool->head) {
        (void)wake_one(pool); /* or else those who run come back for it */
    }
    pthread_mutex_unlock(&pool->lock);
    uint64_t start = rd_clock_ns();
    int is_done = pool->ops->run(job, t->local, pool->data);
    uint64_t end = rd_clock_ns();
    pthread_mutex_lock(&pool->lock);
    pool->figures.running--;
    if (is_done) {
        note_done(pool, end - start);
    } else {
        pool->figures.dropped++;
    }
}

/* Joined by the next one, or by rd_pool_fini(). */
static void retire(struct rd_pool_thread *t)
{
    struct rd_pool *pool = t->pool;
    struct rd_pool_thread *before = pool->retired;

    *t->pprev = t->next;
    if (t->next) {
        t->next->pprev = t->pprev;
    }
    pool->retired = t;
    pool->figures.threads--;
    pthread_cond_signal(&pool->ended);
    pthread_mutex_unlock(&pool->lock);
    if (before) {
        pthread_join(before->thread, NULL);
        thread_free(before);
    }
}

static void *thread_main(void *arg)
{
    struct rd_pool_thread *t = arg;
    struct rd_pool *pool = t->pool;

    pthread_mutex_lock(&pool->lock);
    pool->waking = 0;
    for (;;) {
        while (pool->head) {
            run_one(t);
        }
        if (!wait_idle(t)) {
            break;
        }
        pool->waking = 0;
    }
    retire(t);
    return NULL;
}

int rd_pool_submit(struct rd_pool *pool, struct rd_job *job)
{
    int rc = 0;

    pthread_mutex_lock(&pool->lock);
    RD_ASSERT(!pool->stopping);
    if (pool->figures.queued >= pool->limits.queue_max) {
        rc = RESTD_EAGAIN;
    } else {
        rc = wake_one(pool);
        if (pool->figures.threads > 0) {
            rc = 0; /* one of them will come to it */
        }
    }
    if (rc == 0) {
        job->next = NULL;
        *pool->tail = job;
        pool->tail = &job->next;
        pool->figures.queued++;
    } else {
        pool->figures.refused++;
    }
    pthread_mutex_unlock(&pool->lock);
    return rc;
}

void rd_pool_fini(struct rd_pool *pool)
{
    if (!pool->ops) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->stopping = 1;
    for (struct rd_pool_thread *t = pool->idle; t; t = t->next_idle) {
        pthread_cond_signal(&t->wake);
    }
    while (pool->figures.threads > 0) {
        pthread_cond_wait(&pool->ended, &pool->lock);
    }
    struct rd_pool_thread *last = pool->retired;
    pthread_mutex_unlock(&pool->lock);
    if (last) {
        pthread_join(last->thread, NULL);
        thread_free(last);
    }
    pthread_cond_destroy(&pool->ended);
    pthread_mutex_destroy(&pool->lock);
    pool->ops = NULL;
}

void rd_pool_read(struct rd_pool *pool, struct rd_pool_figures *figures)
{
    pthread_mutex_lock(&pool->lock);
    *figures = pool->figures;
    pthread_mutex_unlock(&pool->lock);
}

unsigned rd_pool_wait_s(struct rd_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    uint64_t ns = pool->run_ns * pool->figures.queued /
                  (pool->figures.threads ? pool->figures.threads : 1);
    pthread_mutex_unlock(&pool->lock);
    uint64_t s = (ns + NS_PER_S - 1) / NS_PER_S;
    return s < 1 ? 1 : s > WAIT_MAX_S ? WAIT_MAX_S : (unsigned)s;
}

void rd_pool_each(struct rd_pool *pool, void (*fn)(void *local, void *arg),
                  void *arg)
{
    pthread_mutex_lock(&pool->lock);
    for (struct rd_pool_thread *t = pool->threads; t; t = t->next) {
        fn(t->local, arg);
    }
    pthread_mutex_unlock(&pool->lock);
}
