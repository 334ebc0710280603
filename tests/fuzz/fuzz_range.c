/* SPDX-License-Identifier: MIT */
/* Range, entity-tag lists and dates. The first octet picks the size of the
 * representation, from 0 to 64 bits. Checked: ranges are inside it, together
 * not larger, and written plainly they are read as the same; a tag that
 * matches strongly does weakly and stands in the list; a date that is read is
 * that of its IMF-fixdate. */
#include <inttypes.h>

#include "base/slice.h"
#include "fuzz.h"
#include "codec/date.h"
#include "codec/etag.h"
#include "codec/range.h"

#define MAX 8u

static void check_range(struct restd_slice value, uint64_t size)
{
    struct rd_range ranges[MAX], again[MAX];
    char text[MAX * 48] = "bytes=";
    size_t len = strlen(text);
    uint64_t left = size;
    int n = rd_range_parse(value, size, ranges, MAX);
    FUZZ_CHECK(n == -416 || (n >= 0 && n <= (int)MAX));
    for (int i = 0; i < n; i++) {
        FUZZ_CHECK(ranges[i].first <= ranges[i].last && ranges[i].last < size);
        FUZZ_CHECK(ranges[i].last - ranges[i].first < left);
        left -= ranges[i].last - ranges[i].first + 1;
        len += (size_t)snprintf(text + len, sizeof(text) - len,
                                "%" PRIu64 "-%" PRIu64 ", ", ranges[i].first,
                                ranges[i].last);
    }
    if (n > 0) {
        FUZZ_CHECK(rd_range_parse(rd_slice(text, len), size, again, MAX) == n);
        FUZZ_CHECK(memcmp(ranges, again, (size_t)n * sizeof(again[0])) == 0);
    }
}

static void check_etags(struct restd_slice value)
{
    static const char *const tags[] = {"\"a\"", "W/\"a\"", "\"\"", "\"a,\\\""};
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        struct restd_slice tag = rd_slice_str(tags[i]);
        int strong = rd_etag_list_has(value, tag, 0);
        int weak = rd_etag_list_has(value, tag, 1);
        const char *opaque = strchr(tags[i], '"');
        FUZZ_CHECK(weak || !strong);
        FUZZ_CHECK(!weak || rd_slice_eq(value, rd_slice("*", 1)) ||
                   memmem(value.data, value.len, opaque, strlen(opaque)) !=
                       NULL);
        FUZZ_CHECK(!rd_etag_is(value) ||
                   weak == rd_etag_list_has(tag, value, 1));
        FUZZ_CHECK(!rd_etag_if_range(value, tag, 0, 1) || tags[i][0] == '"');
    }
}

static void check_date(struct restd_slice value)
{
    char text[RD_DATE_LEN];
    int64_t seconds, again;
    if (rd_date_parse(value, 0, &seconds) == 0 && seconds >= 0) {
        rd_date_format(seconds, text);
        FUZZ_CHECK(rd_date_parse(rd_slice(text, sizeof(text)), 0, &again) == 0);
        /* A leap second at the end of 9999 has no text. */
        FUZZ_CHECK(again == seconds || again == seconds - 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[] = {
        0, 1, 10, 1000, UINT32_MAX, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
    if (size == 0) {
        return 0;
    }
    struct restd_slice value = rd_slice((const char *)data + 1, size - 1);
    check_range(value, sizes[data[0] % 8]);
    check_etags(value);
    check_date(value);
    return 0;
}
