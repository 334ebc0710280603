/* SPDX-License-Identifier: MIT */
/* The loop threads of a server: those of its start, and those that a reload
 * adds. They are made and started before anybody is told of them. Threads: see
 * restd_server_start() and restd_server_reload(). */
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "server/server.h"

int rd_loops_make(struct restd_server *s, struct rd_snapshot *snapshot,
                  unsigned from, struct restd_error *error)
{
    const struct rd_plan *plan = &s->plan;

    for (unsigned i = from; i < snapshot->views_n; i++) {
        /* Pages, because the heap does not align to cache lines. */
        struct rd_server_loop *loop = rd_page_alloc(sizeof(*loop));
        int rc = RESTD_ENOMEM;

        s->loops[i] = loop;
        if (loop) {
            loop->server = s;
            rd_sampler_add(loop);
            rc = rd_reactor_init(&loop->reactor, i, &snapshot->options,
                                 &s->budget, s->log, &rd_h1_protocol,
                                 plan->in_size, plan->fd_max,
                                 plan->is_guest ? s->control : NULL);
        }
        if (rc == 0) {
            loop->reactor.listeners = s->listeners;
            rc = rd_h1_init(&loop->h1, &loop->reactor, &snapshot->views[i]);
            loop->h1.offload = &s->offload;
        }
        if (rc != 0) {
            return rd_error(error, rc, "cannot make loop %u: %s", i,
                            restd_strerror(rc));
        }
    }
    return 0;
}

static void *loop_main(void *arg)
{
    struct rd_server_loop *loop = arg;
    rd_reactor_run(&loop->reactor);
    return NULL;
}

int rd_loops_start(struct restd_server *s, unsigned from, unsigned to)
{
    char name[24];
    int rc = 0;

    for (unsigned i = from; rc == 0 && i < to; i++) {
        struct rd_server_loop *loop = s->loops[i];
        snprintf(name, sizeof(name), "restd-loop-%u", i);
        rc = rd_thread_start(&loop->thread, name, s->asked.stack_bytes,
                             loop_main, loop);
        loop->started = rc == 0;
    }
    return rc;
}

void rd_loops_join(struct restd_server *s, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        if (s->loops[i] && s->loops[i]->started) {
            pthread_join(s->loops[i]->thread, NULL);
            s->loops[i]->started = 0;
        }
    }
}

void rd_loops_free(struct restd_server *s, unsigned from)
{
    for (unsigned i = from; s->loops && i < RD_REACTORS_MAX; i++) {
        struct rd_server_loop *loop = s->loops[i];
        if (loop) {
            rd_h1_fini(&loop->h1);
            rd_reactor_fini(&loop->reactor);
            rd_page_free(loop, sizeof(*loop));
            s->loops[i] = NULL;
        }
    }
}
