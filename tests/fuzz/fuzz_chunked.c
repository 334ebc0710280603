/* SPDX-License-Identifier: MIT */
/* The chunked decoder. The first octet picks how the input, the rest, is cut.
 * Checked: any cut gives the same verdict, content and length, in place and to
 * another buffer; no more comes out than went in; a message of the content so
 * decoded, coded again, decodes to it. */
#include <stdio.h>

#include "base/mem.h"
#include "fuzz.h"
#include "codec/chunked.h"

#define TRAILER_MAX 64

struct outcome {
    int rc;
    size_t used, made;
    char *content;
};

static void decode(struct outcome *o, const char *data, size_t len, size_t step,
                   int in_place)
{
    struct rd_chunked c;
    rd_chunked_init(&c, TRAILER_MAX);
    *o = (struct outcome){.content = rd_mem_alloc(len + 1)};
    for (size_t at = 0; at < len && o->rc == RD_CHUNKED_MORE; at += step) {
        size_t n = step < len - at ? step : len - at;
        size_t used, made;
        char *in = rd_mem_alloc(n);
        char *out = in_place ? in : rd_mem_alloc(n);
        memcpy(in, data + at, n);
        o->rc = rd_chunked_decode(&c, in, n, out, &used, &made);
        FUZZ_CHECK(made <= used && used <= n);
        FUZZ_CHECK(o->rc != RD_CHUNKED_MORE || used == n);
        memcpy(o->content + o->made, out, made);
        o->used += used;
        o->made += made;
        rd_mem_free(in);
        if (!in_place) {
            rd_mem_free(out);
        }
    }
    FUZZ_CHECK(o->rc == RD_CHUNKED_MORE || o->rc == RD_CHUNKED_DONE ||
               o->rc == -400 || o->rc == -431);
}

static void check_again(const struct outcome *whole)
{
    struct outcome again;
    char *message = rd_mem_alloc(whole->made + 64);
    int n = 0;
    if (whole->made > 0) {
        n = snprintf(message, 32, "%zx\r\n", whole->made);
        memcpy(message + n, whole->content, whole->made);
    }
    size_t len = (size_t)n + whole->made;
    len +=
        (size_t)snprintf(message + len, 32, "%s0\r\n\r\n", n > 0 ? "\r\n" : "");
    decode(&again, message, len, 7, 1);
    FUZZ_CHECK(again.rc == RD_CHUNKED_DONE && again.used == len);
    FUZZ_CHECK(again.made == whole->made);
    FUZZ_CHECK(memcmp(again.content, whole->content, again.made) == 0);
    rd_mem_free(again.content);
    rd_mem_free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole, pieces;
    if (size < 2) {
        return 0;
    }
    const char *input = (const char *)data + 1;
    size_t len = size - 1;
    decode(&whole, input, len, len, 0);
    for (unsigned i = 0; i < 3; i++) {
        size_t step = i < 2 ? i + 1 : (size_t)(data[0] >> 1) + 1;
        decode(&pieces, input, len, step, (data[0] + i) & 1);
        FUZZ_CHECK(pieces.rc == whole.rc && pieces.used == whole.used);
        FUZZ_CHECK(pieces.made == whole.made);
        FUZZ_CHECK(memcmp(pieces.content, whole.content, whole.made) == 0);
        rd_mem_free(pieces.content);
    }
    if (whole.rc == RD_CHUNKED_DONE) {
        check_again(&whole);
    }
    rd_mem_free(whole.content);
    return 0;
}
