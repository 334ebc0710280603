/* SPDX-License-Identifier: MIT */
/* Responses that are made once and sent many times: the content stays where it
 * is and is sent from there, held by a count of references until the last
 * byte has gone. Thread: any. */
#include <stdatomic.h>
#include <string.h>

#include <restd/response.h>

#include "base/mem.h"
#include "base/slice.h"
#include "http/message.h"

/* A content up to this is copied: cheaper than counting. */
#define COPY_MAX 4096u

struct restd_prepared {
    atomic_uint refs;
    int status;
    struct restd_slice fields, type, body; /* in the bytes behind */
};

static char *put(char *to, struct restd_slice *slot, const void *data,
                 size_t len)
{
    if (len > 0) {
        memcpy(to, data, len);
    }
    *slot = rd_slice(to, len);
    return to + len;
}

int restd_prepared_new(int status, const struct restd_fields *set,
                       const void *body, size_t len,
                       struct restd_prepared **out)
{
    static const struct rd_fields none;
    const struct rd_fields *fields = set ? &set->fields : &none;

    if (status < 200 || status > 599) {
        return RESTD_ERANGE;
    }
    struct restd_prepared *p =
        rd_mem_alloc(sizeof(*p) + fields->len + fields->type_len + len);
    if (!p) {
        return RESTD_ENOMEM;
    }
    atomic_init(&p->refs, 1);
    p->status = status;
    char *at = put((char *)(p + 1), &p->fields, fields->text, fields->len);
    at = put(at, &p->type, fields->type, fields->type_len);
    put(at, &p->body, body, len);
    *out = p;
    return 0;
}

struct restd_prepared *restd_prepared_ref(struct restd_prepared *p)
{
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void restd_prepared_unref(struct restd_prepared *p)
{
    if (p &&
        atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1) {
        rd_mem_free(p);
    }
}

static void release(const struct rd_chunk_ref *ref)
{
    restd_prepared_unref(ref->arg);
}

/* Content that stays where it is: small, as a copy; else by reference. */
static int set_body(struct restd_response *response, struct restd_slice body,
                    struct restd_prepared *owner)
{
    restd_response_body_borrowed(response, NULL, 0);
    if (body.len <= COPY_MAX) {
        return restd_response_body(response, body.data, body.len);
    }
    struct rd_chunk_ref ref = {.data = body.data, .fd = -1, .len = body.len};
    if (owner) {
        ref.release = release;
        ref.arg = owner;
    }
    int rc = rd_chain_append_ref(&response->chain, response->chunks,
                                 RD_MEM_OUTPUT, &ref);
    if (rc == 0 && owner) {
        restd_prepared_ref(owner);
    }
    return rc;
}

int restd_response_body_static(struct restd_response *response,
                               const void *data, size_t len)
{
    return set_body(response, rd_slice(data, len), NULL);
}

int restd_response_prepared(struct restd_response *response,
                            struct restd_prepared *p)
{
    int rc = rd_fields_join(&response->fields, p->fields, p->type);

    if (rc == 0) {
        rc = set_body(response, p->body, p);
    }
    if (rc == 0) {
        response->status = p->status;
    }
    return rc;
}
