/* SPDX-License-Identifier: MIT */
/* Replies that come later, the loop's side. Thread: [loop]. */
#include "http/deferred.h"

#include <string.h>

#include "base/assert.h"
#include "http/desk.h"
#include "http/h1.h"

int restd_request_defer(struct restd_request *request,
                        const struct restd_deferred_ops *ops, void *data,
                        restd_deferred *handle)
{
    struct rd_h1 *h1 = request->h1;

    /* Only a handler on its loop has a response that could be a stream. */
    if (h1->response.request != request || h1->response.stream ||
        request->may_receive) {
        return RESTD_ESTATE;
    }
    if (ops && ops->size < sizeof(*ops)) {
        return RESTD_EINVAL;
    }
    struct rd_h1_exchange *ex = rd_h1_promoted(request);
    if (!ex) {
        return RESTD_ENOMEM;
    }
    int rc =
        ex->owed.handle ? RESTD_ESTATE : rd_desk_take(h1, ex, &ex->owed.handle);
    if (rc != 0) {
        return rc;
    }
    memset(&ex->owed.ops, 0, sizeof(ex->owed.ops));
    if (ops) {
        ex->owed.ops = *ops;
    }
    ex->owed.data = data;
    ex->deadline_tick =
        h1->reactor->tick_now + rd_ticks(h1->options->handler_timeout_ms);
    *handle = ex->owed.handle;
    return 0;
}

void rd_h1_defer_wait(struct rd_h1_exchange *ex)
{
    rd_conn_hold(ex->conn);
    rd_h1_watch_client(ex, ex->route->options.abandon_on_fin);
}

void rd_h1_defer_drop(struct rd_h1_exchange *ex)
{
    restd_deferred handle = ex->owed.handle;

    if (handle) {
        ex->owed.handle = 0;
        ex->owed.lost = handle;
        rd_desk_give(ex->h1, handle);
    }
}

void rd_h1_defer_tell(const struct rd_h1_exchange *ex)
{
    if (ex->owed.lost && ex->owed.ops.left) {
        ex->owed.ops.left(ex->owed.lost, ex->owed.data);
    }
}

void rd_h1_defer_timeout(struct rd_h1 *h1, struct rd_h1_exchange *ex)
{
    rd_h1_defer_drop(ex);
    if (rd_h1_begin(h1, ex->conn) == 0) {
        rd_h1_restore(h1, ex->conn, ex, 1);
        rd_h1_refuse(h1, ex->conn, 503, "no reply in time", 0);
    }
    if (!ex->is_left) {
        rd_h1_todo(ex);
    }
}

/* [rd_conn_call] */
static void answer(struct rd_conn *conn)
{
    struct rd_h1_exchange *ex = conn->request;
    struct rd_h1 *h1 = ex->h1;

    if (rd_h1_begin(h1, conn) == 0) {
        rd_h1_restore(h1, conn, ex, 1);
        int rc = restd_response_prepared(&h1->response, ex->owed.reply);
        rd_h1_handled(h1, conn, rc, 0);
        if (conn->request == ex) {
            rd_h1_todo(ex);
        }
    }
}

void rd_h1_defer_look(struct rd_h1 *h1)
{
    struct rd_desk_reply *next;

    for (struct rd_desk_reply *reply = rd_desk_replies(h1); reply;
         reply = next) {
        struct rd_h1_exchange *ex = rd_desk_find(h1, reply->handle);
        next = reply->next;
        if (ex) {
            rd_desk_give(h1, reply->handle);
            ex->owed.handle = 0;
            ex->owed.reply = reply->prepared;
            rd_conn_call(ex->conn, answer);
        }
        rd_desk_reply_free(reply);
    }
}
