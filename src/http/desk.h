/* SPDX-License-Identifier: MIT */
/* Where replies are owed and left.
 *
 * A handle is the number of a loop's desk in a table of the process, a place at
 * it, and a generation that no other deferral of the process has. Who replies
 * finds the desk in the table, and the place under the desk's lock; the reply
 * lies there in a queue until the loop, which is posted to, comes for it.
 *
 * Locks: the table's (shared by those who reply) over a desk's; neither is held
 * over a call-back.
 *
 * struct rd_desk
 * Owner: a loop's driver, made for the first deferral. Lifetime: until the
 * driver ends. Thread: [loop], but for what its lock guards. */
#ifndef RD_HTTP_DESK_H
#define RD_HTTP_DESK_H

#include <restd/deferred.h>

struct rd_desk;
struct rd_h1;
struct rd_h1_exchange;

/* A reply on its way to the loop. */
struct rd_desk_reply {
    struct rd_desk_reply *next;
    restd_deferred handle;
    struct restd_prepared *prepared;
};

/* A place for an exchange. RESTD_ENOMEM, RESTD_ELIMIT. */
RESTD_MUST_CHECK int rd_desk_take(struct rd_h1 *h1, struct rd_h1_exchange *ex,
                                  restd_deferred *handle);
/* Whose place that is; NULL: nobody's (any more). */
struct rd_h1_exchange *rd_desk_find(const struct rd_h1 *h1,
                                    restd_deferred handle);
/* It names nothing from now on. */
void rd_desk_give(struct rd_h1 *h1, restd_deferred handle);
/* All that lies there, the oldest first; rd_desk_reply_free() each. */
struct rd_desk_reply *rd_desk_replies(struct rd_h1 *h1);
void rd_desk_reply_free(struct rd_desk_reply *reply);

/* No reply reaches the desk any more. */
void rd_desk_close(struct rd_h1 *h1);
/* ... and frees it. Its loop does not run, or is another's and has looked once
 * more. */
void rd_desk_free(struct rd_h1 *h1);
/* The loop does not run: takes the desk's message out of it. */
void rd_desk_unpost(struct rd_h1 *h1);

#endif
