/* SPDX-License-Identifier: MIT */
/* Asking a router without a server, for test_call*.c. In a header, as each of
 * them has a router of its own. */
#ifndef RD_TESTS_CALL_HELP_H
#define RD_TESTS_CALL_HELP_H

#include <check.h>
#include <string.h>

#include <restd/restd.h>

#include "base/mem.h"

static struct restd_router *router;
static struct restd_reply *reply;
static struct restd_error error;

/* How streams end. */
static enum { ENDED, ABORTED, TRAILER_BEHIND_IT } stream_end;

static void add(const char *method, const char *pattern,
                restd_handler_fn *handler)
{
    ck_assert_int_ge(
        restd_router_add(router, method, pattern, handler, NULL, &error), 0);
}

static int ask_all(const struct restd_call *call)
{
    restd_reply_free(reply);
    reply = NULL;
    ck_assert_int_eq(restd_router_call(router, call, &reply, &error), 0);
    return restd_reply_status(reply);
}

static int ask(const char *method, const char *target)
{
    struct restd_call call;
    restd_call_init(&call);
    call.method = method;
    call.target = target;
    return ask_all(&call);
}

static const char *body(void)
{
    static char text[8192];
    struct restd_slice s = restd_reply_body(reply);
    ck_assert_uint_lt(s.len, sizeof(text));
    memcpy(text, s.data, s.len);
    text[s.len] = '\0';
    return text;
}

static void set_up(void)
{
    rd_mem_fail_nth(0);
    reply = NULL;
    stream_end = ENDED;
    ck_assert_int_eq(restd_router_new(RESTD_ROUTER_EXACT, &router), 0);
}

static void tear_down(void)
{
    restd_reply_free(reply);
    restd_router_free(router);
}

#endif
