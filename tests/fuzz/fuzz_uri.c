/* SPDX-License-Identifier: MIT */
/* Percent-decoding and path splitting. Checked: decoding in place gives what
 * decoding to another buffer gives and never grows; segments lie in the path
 * or in the scratch; none but the last is empty through a dot, none is a dot
 * segment; joined and escaped again they split to the same. */
#include <stdio.h>

#include "base/mem.h"
#include "base/slice.h"
#include "fuzz.h"
#include "codec/uri.h"

static int within(struct restd_slice s, const char *data, size_t len)
{
    uintptr_t at = (uintptr_t)s.data;
    return at >= (uintptr_t)data && at + s.len <= (uintptr_t)data + len;
}

static void check_decode(const char *input, size_t len)
{
    char *other = rd_mem_alloc(len + 1);
    char *same = rd_mem_alloc(len + 1);
    memcpy(same, input, len);
    long n = rd_uri_decode(input, len, other);
    FUZZ_CHECK(n >= -1 && n <= (long)len);
    FUZZ_CHECK(rd_uri_decode(same, len, same) == n);
    if (n >= 0) {
        FUZZ_CHECK(memcmp(other, same, (size_t)n) == 0);
    }
    rd_mem_free(other);
    rd_mem_free(same);
}

/* Every octet escaped, so that nothing in it can mean anything. */
static void check_again(const struct rd_uri_path *path)
{
    static struct rd_uri_path again;
    size_t len = 0;
    for (unsigned i = 0; i < path->n; i++) {
        len += 1 + 3 * path->segments[i].len;
    }
    char *text = rd_mem_alloc(len + 1);
    char *scratch = rd_mem_alloc(len + 1);
    size_t at = 0;
    for (unsigned i = 0; i < path->n; i++) {
        text[at++] = '/';
        for (size_t k = 0; k < path->segments[i].len; k++) {
            unsigned octet = (unsigned char)path->segments[i].data[k];
            at += (size_t)snprintf(text + at, 4, "%%%02X", octet);
        }
    }
    FUZZ_CHECK(at == len);
    FUZZ_CHECK(rd_uri_split(rd_slice(text, len), scratch, &again) == 0);
    FUZZ_CHECK(again.n == path->n);
    for (unsigned i = 0; i < path->n; i++) {
        FUZZ_CHECK(rd_slice_eq(again.segments[i], path->segments[i]));
    }
    rd_mem_free(text);
    rd_mem_free(scratch);
}

static void check_split(const char *input, size_t len)
{
    static struct rd_uri_path path;
    char *scratch = rd_mem_alloc(len > 0 ? len : 1);
    int rc = rd_uri_split(rd_slice(input, len), scratch, &path);
    FUZZ_CHECK(rc == 0 || rc == -400 || rc == -404);
    if (rc == 0) {
        FUZZ_CHECK(path.n > 0 && path.n <= RD_URI_SEGMENTS_MAX);
        for (unsigned i = 0; i < path.n; i++) {
            struct restd_slice s = path.segments[i];
            FUZZ_CHECK(s.len == 0 || within(s, input, len) ||
                       within(s, scratch, len));
            FUZZ_CHECK(!rd_slice_eq(s, rd_slice_str(".")));
            FUZZ_CHECK(!rd_slice_eq(s, rd_slice_str("..")));
            FUZZ_CHECK(s.len == 0 || memchr(s.data, '\0', s.len) == NULL);
        }
        check_again(&path);
    }
    rd_mem_free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *input = (const char *)data;
    check_decode(input, size);
    /* A target has no NUL; the parser sees to that. */
    if (size == 0 || memchr(input, '\0', size) == NULL) {
        check_split(input, size);
    }
    return 0;
}
