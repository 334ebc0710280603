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
    return suite_run(suite);
}
