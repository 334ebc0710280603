/* SPDX-License-Identifier: MIT */
/* Regular expressions of route patterns, by PCRE2.
 *
 * A struct rd_regex is PCRE2's code itself under a name of ours. Hostile
 * segments meet three limits (steps, depth, memory); a match that reaches one
 * counts as none. The limit of memory is what PCRE2 takes for its first frames,
 * so that it never asks for more; rd_regex_work_new() matches once to have them
 * taken before the first request. Thread: see regex.h. */
#include "route/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/slice.h"

#define DEPTH_MAX 1000u
#define HEAP_MAX_KIB 20u

static void *pcre2_alloc(size_t size, void *data)
{
    (void)data;
    return rd_mem_alloc(size);
}

static void pcre2_release(void *ptr, void *data)
{
    (void)data;
    rd_mem_free(ptr);
}

static const pcre2_code *code_of(const struct rd_regex *regex)
{
    return (const pcre2_code *)(const void *)regex;
}

int rd_regex_new(struct restd_slice source, struct rd_regex **regex,
                 struct restd_error *error)
{
    pcre2_general_context *memory =
        pcre2_general_context_create(pcre2_alloc, pcre2_release, NULL);
    pcre2_compile_context *context =
        memory ? pcre2_compile_context_create(memory) : NULL;
    pcre2_code *code = NULL;
    int number = PCRE2_ERROR_HEAP_FAILED;
    size_t offset = 0;

    if (context) {
        code = pcre2_compile((PCRE2_SPTR)source.data, source.len,
                             PCRE2_ANCHORED | PCRE2_ENDANCHORED |
                                 PCRE2_NO_AUTO_CAPTURE | PCRE2_NEVER_UTF |
                                 PCRE2_NEVER_BACKSLASH_C,
                             &number, &offset, context);
    }
    pcre2_compile_context_free(context);
    pcre2_general_context_free(memory);
    *regex = (struct rd_regex *)(void *)code;
    if (code) {
        return 0;
    }
    if (number == PCRE2_ERROR_HEAP_FAILED) {
        return rd_error(error, RESTD_ENOMEM, "out of memory");
    }
    PCRE2_UCHAR text[128] = "";
    (void)pcre2_get_error_message(number, text, sizeof(text));
    return rd_error(error, RESTD_EINVAL, "regex \"%.*s\": %s at offset %zu",
                    source.len < 64 ? (int)source.len : 64, source.data,
                    (const char *)text, offset);
}

void rd_regex_free(struct rd_regex *regex)
{
    pcre2_code_free((pcre2_code *)(void *)regex);
}

size_t rd_regex_bytes(const struct rd_regex *regex)
{
    size_t size = 0;

    (void)pcre2_pattern_info(code_of(regex), PCRE2_INFO_SIZE, &size);
    return size;
}

int rd_regex_work_new(struct rd_regex_work **out)
{
    pcre2_general_context *memory =
        pcre2_general_context_create(pcre2_alloc, pcre2_release, NULL);
    struct rd_regex_work *work = rd_mem_alloc(sizeof(*work));
    struct rd_regex *regex = NULL;
    int rc = RESTD_ENOMEM;

    if (memory && work) {
        work->data = pcre2_match_data_create(1, memory);
        work->context = pcre2_match_context_create(memory);
        rc = rd_regex_new(rd_slice("", 0), &regex, NULL);
    }
    pcre2_general_context_free(memory);
    if (rc == 0 && work->data && work->context) {
        pcre2_set_match_limit(work->context, RD_REGEX_STEPS_MAX);
        pcre2_set_depth_limit(work->context, DEPTH_MAX);
        pcre2_set_heap_limit(work->context, HEAP_MAX_KIB);
        rc = rd_regex_match(regex, rd_slice("", 0), work) ? 0 : RESTD_ENOMEM;
    } else {
        rc = RESTD_ENOMEM;
    }
    rd_regex_free(regex);
    if (rc != 0) {
        rd_regex_work_free(work);
        return rc;
    }
    *out = work;
    return 0;
}

void rd_regex_work_free(struct rd_regex_work *work)
{
    if (work) {
        pcre2_match_data_free(work->data);
        pcre2_match_context_free(work->context);
        rd_mem_free(work);
    }
}

int rd_regex_match(const struct rd_regex *regex, struct restd_slice subject,
                   struct rd_regex_work *work)
{
    int rc = pcre2_match(code_of(regex), (PCRE2_SPTR)subject.data, subject.len,
                         0, 0, work->data, work->context);

    work->limited += rc < 0 && rc != PCRE2_ERROR_NOMATCH;
    return rc >= 0;
}
