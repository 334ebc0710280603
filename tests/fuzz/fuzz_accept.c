/* SPDX-License-Identifier: MIT */
/* Accept-Encoding and Accept. Checked: elements fed one by one from the last
 * to the first give the same weights as the whole line, weights are at most
 * 1000, and what is chosen is not excluded. */
#include "base/slice.h"
#include "fuzz.h"
#include "codec/field.h"
#include "codec/negotiate.h"

#define ELEMENTS_MAX 64u

static const char *const types[] = {"text/plain;version=0.0.4",
                                    "application/json", "text/html",
                                    "application/problem+json"};
#define TYPES_N 4u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct restd_slice elements[ELEMENTS_MAX];
    struct restd_slice line = rd_slice((const char *)data, size);
    struct restd_slice rest = line;
    struct rd_accept_encoding coding = {0};
    struct rd_accept_encoding coding_back = {0};
    struct rd_accept accept = {0};
    struct rd_accept accept_back = {0};
    unsigned n = 0;
    while (rd_field_list_next(&rest, &elements[n])) {
        if (++n == ELEMENTS_MAX) {
            return 0;
        }
    }
    rd_accept_encoding_feed(&coding, line);
    rd_accept_feed(&accept, types, TYPES_N, line);
    while (n-- > 0) {
        rd_accept_encoding_feed(&coding_back, elements[n]);
        rd_accept_feed(&accept_back, types, TYPES_N, elements[n]);
    }
    FUZZ_CHECK(memcmp(&coding, &coding_back, sizeof(coding)) == 0);
    FUZZ_CHECK(memcmp(&accept, &accept_back, sizeof(accept)) == 0);
    FUZZ_CHECK(coding.gzip <= 1001 && coding.identity <= 1001);
    FUZZ_CHECK(coding.any <= 1001);
    enum rd_coding best = rd_accept_encoding_best(&coding);
    FUZZ_CHECK(best != RD_CODING_GZIP || coding.gzip > 1 ||
               (coding.gzip == 0 && coding.any > 1));
    FUZZ_CHECK(best != RD_CODING_IDENTITY || coding.identity != 1);
    FUZZ_CHECK(best != RD_CODING_NONE || coding.identity == 1 ||
               coding.any == 1);
    int type = rd_accept_best(&accept, TYPES_N);
    FUZZ_CHECK(type >= -1 && type < (int)TYPES_N);
    FUZZ_CHECK(accept.heard || type == 0);
    for (unsigned i = 0; i < TYPES_N; i++) {
        FUZZ_CHECK(accept.weight[i] <= 1000);
        FUZZ_CHECK(accept.rank[i] > 0 || accept.weight[i] == 0);
        FUZZ_CHECK(!accept.heard || accept.weight[i] == 0 ||
                   (type >= 0 && accept.weight[type] >= accept.weight[i]));
    }
    return 0;
}
