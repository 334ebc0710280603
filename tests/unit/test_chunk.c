/* SPDX-License-Identifier: MIT */
/* Chains of chunks against a plain array of bytes; owners are charged for the
 * chunks that they hold and for nothing else. */
#include "net/chunk.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <restd/error.h>
#include "support/suite.h"

#define LIMIT (8u * 1024 * 1024)
#define DATA_BYTES (RD_CHUNK_BYTES - 16)
#define MODEL_MAX 60000u
#define CHAINS 3

static struct rd_budget budget;
static struct rd_ledger ledger;
static struct rd_chunk_pool pool;
static unsigned seed;

static const enum rd_mem_owner owners[CHAINS] = {RD_MEM_INPUT, RD_MEM_OUTPUT,
                                                 RD_MEM_BODIES};

static struct model {
    struct rd_chain chain;
    size_t len;
    char bytes[MODEL_MAX];
} models[CHAINS];

static uint64_t live(enum rd_mem_owner owner)
{
    return atomic_load(&ledger.live[owner]);
}

static void set_up(void)
{
    seed = 3;
    memset(models, 0, sizeof(models));
    rd_budget_init(&budget, LIMIT, 1);
    rd_ledger_init(&ledger, &budget);
    rd_chunk_pool_init(&pool, &ledger);
}

static void tear_down(void)
{
    for (int i = 0; i < CHAINS; i++) {
        rd_chain_clear(&models[i].chain, &pool, owners[i]);
        ck_assert_uint_eq(live(owners[i]), 0);
    }
    rd_chunk_pool_fini(&pool);
    ck_assert_uint_eq(live(RD_MEM_POOL), 0);
    ck_assert_uint_eq(ledger.used, 0);
}

static unsigned chunks_of(const struct rd_chain *chain)
{
    unsigned n = 0;
    for (const struct rd_chunk *c = chain->head; c; c = c->next) {
        ck_assert_uint_gt(c->len, 0);
        ck_assert_uint_le(c->off + c->len, DATA_BYTES);
        ck_assert(c->next != NULL || c == chain->tail);
        n++;
    }
    return n;
}

static void check_model(int i)
{
    static char copy[MODEL_MAX];
    const struct model *m = &models[i];

    ck_assert_uint_eq(m->chain.len, m->len);
    ck_assert_uint_eq(live(owners[i]), chunks_of(&m->chain) * RD_CHUNK_BYTES);
    ck_assert_int_eq(m->chain.head == NULL, m->len == 0);
    ck_assert_int_eq(m->chain.tail == NULL, m->len == 0);
    rd_chain_copy(&m->chain, copy);
    ck_assert(memcmp(copy, m->bytes, m->len) == 0);

    struct iovec iov[64];
    int max = 1 + rand_r(&seed) % 64;
    int n = rd_chain_iov(&m->chain, iov, max);
    size_t at = 0;
    ck_assert_int_le(n, max);
    ck_assert(n == max || (unsigned)n == chunks_of(&m->chain));
    for (int k = 0; k < n; k++) {
        ck_assert_uint_gt(iov[k].iov_len, 0);
        ck_assert(memcmp(iov[k].iov_base, m->bytes + at, iov[k].iov_len) == 0);
        at += iov[k].iov_len;
    }
    ck_assert(n == max || at == m->len);
}

static size_t some_len(void)
{
    static const size_t edges[] = {0, 1, DATA_BYTES - 1, DATA_BYTES,
                                   DATA_BYTES + 1};
    return rand_r(&seed) % 3 == 0 ? edges[rand_r(&seed) % 5]
                                  : (size_t)(rand_r(&seed) % 5000);
}

static void append(int i)
{
    static char data[6000];
    struct model *m = &models[i];
    size_t len = some_len();
    if (m->len + len > MODEL_MAX) {
        return;
    }
    for (size_t k = 0; k < len; k++) {
        data[k] = (char)rand_r(&seed);
    }
    ck_assert_int_eq(rd_chain_append(&m->chain, &pool, owners[i], data, len),
                     0);
    memcpy(m->bytes + m->len, data, len);
    m->len += len;
}

static void consume(int i)
{
    struct model *m = &models[i];
    size_t len = some_len();
    len = len < m->len ? len : m->len;
    rd_chain_consume(&m->chain, &pool, owners[i], len);
    memmove(m->bytes, m->bytes + len, m->len - len);
    m->len -= len;
}

static void join(int to, int from)
{
    struct model *a = &models[to];
    struct model *b = &models[from];
    if (to == from || a->len + b->len > MODEL_MAX) {
        return;
    }
    rd_chain_join(&a->chain, &b->chain, &pool, owners[to], owners[from]);
    memcpy(a->bytes + a->len, b->bytes, b->len);
    a->len += b->len;
    b->len = 0;
}

START_TEST(random_against_bytes)
{
    seed = (unsigned)_i + 1;
    for (int round = 0; round < 6000; round++) {
        int i = rand_r(&seed) % CHAINS;
        switch (rand_r(&seed) % 10) {
        case 0:
            join(i, rand_r(&seed) % CHAINS);
            break;
        case 1:
            rd_chain_clear(&models[i].chain, &pool, owners[i]);
            models[i].len = 0;
            break;
        case 2:
        case 3:
        case 4:
        case 5:
            consume(i);
            break;
        default:
            append(i);
        }
        for (int k = 0; k < CHAINS; k++) {
            check_model(k);
        }
    }
}
END_TEST

START_TEST(small_appends_share_a_chunk)
{
    struct rd_chain *chain = &models[0].chain;
    for (unsigned i = 0; i < DATA_BYTES; i++) {
        ck_assert_int_eq(rd_chain_append(chain, &pool, RD_MEM_INPUT, "x", 1),
                         0);
    }
    ck_assert_uint_eq(live(RD_MEM_INPUT), RD_CHUNK_BYTES);
    ck_assert_int_eq(rd_chain_append(chain, &pool, RD_MEM_INPUT, "x", 1), 0);
    ck_assert_uint_eq(live(RD_MEM_INPUT), 2 * RD_CHUNK_BYTES);
    rd_chain_consume(chain, &pool, RD_MEM_INPUT, DATA_BYTES - 1);
    ck_assert_uint_eq(live(RD_MEM_INPUT), 2 * RD_CHUNK_BYTES);
    rd_chain_consume(chain, &pool, RD_MEM_INPUT, 1);
    ck_assert_uint_eq(live(RD_MEM_INPUT), RD_CHUNK_BYTES);
}
END_TEST

START_TEST(three_chunks_to_a_page)
{
    static const char data[3 * DATA_BYTES];
    ck_assert_int_eq(rd_chain_append(&models[0].chain, &pool, RD_MEM_INPUT,
                                     data, sizeof(data)),
                     0);
    ck_assert_uint_eq(ledger.used, 4096);
    ck_assert_uint_eq(live(RD_MEM_INPUT), 3 * RD_CHUNK_BYTES);
    ck_assert_uint_eq(live(RD_MEM_POOL), 4096 - 3 * RD_CHUNK_BYTES);
}
END_TEST

START_TEST(without_memory_what_was_appended_stays)
{
    static char data[40000];
    static char copy[40000];
    struct rd_chain *chain = &models[0].chain;
    for (size_t i = 0; i < sizeof(data); i++) {
        data[i] = (char)(i * 7 + i / 256);
    }
    rd_budget_init(&budget, 5 * 4096, 1);
    rd_ledger_init(&ledger, &budget);
    ck_assert_int_eq(
        rd_chain_append(chain, &pool, RD_MEM_INPUT, data, sizeof(data)),
        RESTD_ENOMEM);
    ck_assert_uint_eq(chain->len, 15 * DATA_BYTES);
    ck_assert_uint_eq(live(RD_MEM_INPUT), 15 * RD_CHUNK_BYTES);
    rd_chain_copy(chain, copy);
    ck_assert(memcmp(copy, data, chain->len) == 0);
    rd_chain_consume(chain, &pool, RD_MEM_INPUT, DATA_BYTES);
    ck_assert_int_eq(rd_chain_append(chain, &pool, RD_MEM_INPUT, data, 100), 0);
}
END_TEST

/* --- references -------------------------------------------------------------- */

static int released[8]; /* how often each was */
static int order[8], order_n;

static void release(const struct rd_chunk_ref *ref)
{
    int i = (int)((int *)ref->arg - released);
    released[i]++;
    order[order_n++ % 8] = i;
}

static void append_ref(struct rd_chain *chain, const char *data, size_t len,
                       int number)
{
    struct rd_chunk_ref ref = {.data = data,
                               .fd = -1,
                               .len = len,
                               .release = release,
                               .arg = &released[number]};
    ck_assert_int_eq(rd_chain_append_ref(chain, &pool, RD_MEM_OUTPUT, &ref), 0);
}

static void append_text(struct rd_chain *chain, const char *text)
{
    ck_assert_int_eq(
        rd_chain_append(chain, &pool, RD_MEM_OUTPUT, text, strlen(text)), 0);
}

static void set_up_refs(void)
{
    set_up();
    memset(released, 0, sizeof(released));
    order_n = 0;
}

/* Bytes, references and bytes again keep their order, however consumed. */
START_TEST(references_between_bytes)
{
    static const char want[] = "one-TWO-three-FOUR-FIVE";
    struct rd_chain *chain = &models[1].chain;
    char copy[sizeof(want)];
    size_t step = (size_t)_i + 1;

    append_text(chain, "one-");
    append_ref(chain, "TWO-", 4, 0);
    append_text(chain, "three-");
    append_ref(chain, "FOUR-", 5, 1);
    append_ref(chain, "FIVE", 4, 2);
    ck_assert_uint_eq(chain->len, sizeof(want) - 1);
    ck_assert_uint_eq(live(RD_MEM_OUTPUT), 5 * RD_CHUNK_BYTES);
    ck_assert_ptr_null(rd_chain_file(chain));
    for (size_t at = 0; at < sizeof(want) - 1; at += step) {
        struct iovec iov[8];
        size_t left = sizeof(want) - 1 - at;
        size_t n = 0;
        rd_chain_copy(chain, copy);
        ck_assert(memcmp(copy, want + at, left) == 0);
        int iov_n = rd_chain_iov(chain, iov, 8);
        for (int i = 0; i < iov_n; i++) {
            ck_assert(memcmp(iov[i].iov_base, want + at + n, iov[i].iov_len) ==
                      0);
            n += iov[i].iov_len;
        }
        ck_assert_uint_eq(n, left);
        ck_assert_int_eq(released[0], at >= 8);
        ck_assert_int_eq(released[1], at >= 19);
        ck_assert_int_eq(released[2], 0);
        rd_chain_consume(chain, &pool, RD_MEM_OUTPUT,
                         step < left ? step : left);
    }
    ck_assert_int_eq(order_n, 3);
    ck_assert_int_eq(order[0], 0);
    ck_assert_int_eq(order[1], 1);
    ck_assert_int_eq(order[2], 2);
    ck_assert_uint_eq(live(RD_MEM_OUTPUT), 0);
}
END_TEST

START_TEST(references_are_released_once_by_clear_and_not_by_join)
{
    struct rd_chain *to = &models[1].chain;
    struct rd_chain from = {NULL, NULL, 0};

    append_ref(to, "a", 1, 0);
    append_ref(&from, "bc", 2, 1);
    append_text(&from, "d");
    append_ref(&from, "e", 1, 2);
    rd_chain_join(to, &from, &pool, RD_MEM_OUTPUT, RD_MEM_OUTPUT);
    ck_assert_int_eq(order_n, 0);
    ck_assert_ptr_null(from.head);
    ck_assert_uint_eq(to->len, 5);
    rd_chain_consume(to, &pool, RD_MEM_OUTPUT, 2);
    ck_assert_int_eq(order_n, 1);
    rd_chain_clear(to, &pool, RD_MEM_OUTPUT);
    rd_chain_clear(to, &pool, RD_MEM_OUTPUT);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(released[i], 1);
        ck_assert_int_eq(order[i], i);
    }
}
END_TEST

START_TEST(bytes_are_not_put_behind_those_of_a_reference)
{
    static const char constant[] = "constant";
    struct rd_chain *chain = &models[1].chain;
    char copy[16];

    append_ref(chain, constant, 8, 0);
    append_text(chain, "more");
    ck_assert_uint_eq(live(RD_MEM_OUTPUT), 2 * RD_CHUNK_BYTES);
    rd_chain_copy(chain, copy);
    ck_assert(memcmp(copy, "constantmore", 12) == 0);
    ck_assert_str_eq(constant, "constant");
}
END_TEST

START_TEST(without_memory_a_reference_is_not_released)
{
    struct rd_chain *chain = &models[1].chain;
    struct rd_chunk_ref ref = {.data = "x",
                               .fd = -1,
                               .len = 1,
                               .release = release,
                               .arg = &released[0]};
    int n = 0;

    rd_budget_init(&budget, 2 * 4096, 1);
    rd_ledger_init(&ledger, &budget);
    while (rd_chain_append_ref(chain, &pool, RD_MEM_OUTPUT, &ref) == 0) {
        n++;
    }
    ck_assert_int_eq(n, 6);
    ck_assert_int_eq(order_n, 0);
    ck_assert_uint_eq(chain->len, 6);
    rd_chain_clear(chain, &pool, RD_MEM_OUTPUT);
    ck_assert_int_eq(released[0], 6);
}
END_TEST

/* Larger than what 32 bits count. */
START_TEST(stretches_of_a_file)
{
    static const uint64_t huge = UINT64_C(5) << 32;
    struct rd_chain *chain = &models[1].chain;
    struct rd_chunk_ref ref = {.fd = 7,
                               .offset = 100,
                               .len = huge,
                               .release = release,
                               .arg = &released[0]};
    struct iovec iov[8];

    append_text(chain, "head");
    append_ref(chain, "ref", 3, 1);
    ck_assert_int_eq(rd_chain_append_ref(chain, &pool, RD_MEM_OUTPUT, &ref), 0);
    append_text(chain, "tail");
    ck_assert_uint_eq(chain->len, huge + 11);
    /* Vectors go up to the file, which is not first yet. */
    ck_assert_int_eq(rd_chain_iov(chain, iov, 8), 2);
    ck_assert_ptr_null(rd_chain_file(chain));
    rd_chain_consume(chain, &pool, RD_MEM_OUTPUT, 5);
    ck_assert_int_eq(rd_chain_iov(chain, iov, 8), 1);
    ck_assert_ptr_null(rd_chain_file(chain));
    rd_chain_consume(chain, &pool, RD_MEM_OUTPUT, 2);
    ck_assert_int_eq(rd_chain_iov(chain, iov, 8), 0);
    const struct rd_chunk_ref *file = rd_chain_file(chain);
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(file->fd, 7);
    ck_assert_uint_eq(file->offset, 100);
    rd_chain_consume(chain, &pool, RD_MEM_OUTPUT, huge - 1);
    file = rd_chain_file(chain);
    ck_assert_uint_eq(file->offset, 99 + huge);
    ck_assert_uint_eq(file->len, 1);
    ck_assert_int_eq(released[0], 0);
    rd_chain_consume(chain, &pool, RD_MEM_OUTPUT, 1);
    ck_assert_int_eq(released[0], 1);
    ck_assert_ptr_null(rd_chain_file(chain));
    ck_assert_int_eq(rd_chain_iov(chain, iov, 8), 1);
    ck_assert_uint_eq(iov[0].iov_len, 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chunk");
    TCase *tc = tcase_create("chunk");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, random_against_bytes, 0, 3);
    tcase_add_test(tc, small_appends_share_a_chunk);
    tcase_add_test(tc, three_chunks_to_a_page);
    tcase_add_test(tc, without_memory_what_was_appended_stays);
    suite_add_tcase(suite, tc);
    tc = tcase_create("references");
    tcase_add_checked_fixture(tc, set_up_refs, tear_down);
    tcase_add_loop_test(tc, references_between_bytes, 0, 24);
    tcase_add_test(tc, references_are_released_once_by_clear_and_not_by_join);
    tcase_add_test(tc, bytes_are_not_put_behind_those_of_a_reference);
    tcase_add_test(tc, without_memory_a_reference_is_not_released);
    tcase_add_test(tc, stretches_of_a_file);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
