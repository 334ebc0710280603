/* SPDX-License-Identifier: MIT */
/* Replies that are owed, as the driver sees them; see http/desk.h. [loop] */
#ifndef RD_HTTP_DEFERRED_H
#define RD_HTTP_DEFERRED_H

#include <restd/deferred.h>

struct rd_h1;
struct rd_h1_exchange;

/* Of an exchange. [loop] */
struct rd_owed {
    restd_deferred handle; /* 0: nothing is owed */
    restd_deferred lost;   /* was, until nobody waited any more; 0: not so */
    struct restd_deferred_ops ops;
    void *data;
    struct restd_prepared *reply; /* while it is written */
};

/* The handler has returned: the request waits. */
void rd_h1_defer_wait(struct rd_h1_exchange *exchange);
/* Nothing is owed any more; nothing to do if nothing is. */
void rd_h1_defer_drop(struct rd_h1_exchange *exchange);
/* Tells whoever has owed it, if that was dropped. */
void rd_h1_defer_tell(const struct rd_h1_exchange *exchange);
/* No reply has come in time. */
void rd_h1_defer_timeout(struct rd_h1 *h1, struct rd_h1_exchange *exchange);
/* Replies lie at the desk. */
void rd_h1_defer_look(struct rd_h1 *h1);

#endif
