/* SPDX-License-Identifier: MIT */
/* A streaming JSON writer (RFC 8259) into memory of the caller's: no
 * allocation, no locale, valid output or a reported overflow. */
#ifndef RESTD_JSON_H
#define RESTD_JSON_H

#include <restd/api.h>

RESTD_BEGIN_DECLS

/**
 * Owner: the caller, usually on the stack. Thread: one at a time.
 * Fields are private; read the result with restd_json_finish().
 */
struct restd_json {
    char *buf;
    size_t len, size;
    int comma; /* the next value needs one in front */
    int overflow;
};

/** Writes into `buf` of `size` bytes. */
RESTD_API void restd_json_init(struct restd_json *json, char *buf, size_t size);
RESTD_API void restd_json_object_begin(struct restd_json *json);
RESTD_API void restd_json_object_end(struct restd_json *json);
RESTD_API void restd_json_array_begin(struct restd_json *json);
RESTD_API void restd_json_array_end(struct restd_json *json);
/** Name of the next member; `key` is written as it is, so it must need no
 * escape. */
RESTD_API void restd_json_key(struct restd_json *json, const char *key);
/** A string; bytes that are no UTF-8 become U+FFFD. */
RESTD_API void restd_json_string(struct restd_json *json, const char *data,
                                 size_t len);
RESTD_API void restd_json_uint(struct restd_json *json, uint64_t value);
RESTD_API void restd_json_int(struct restd_json *json, int64_t value);
/** A decimal with at most 6 significant digits behind the point and no
 * exponent; NaN and infinity become null. */
RESTD_API void restd_json_double(struct restd_json *json, double value);
RESTD_API void restd_json_bool(struct restd_json *json, int value);
RESTD_API void restd_json_null(struct restd_json *json);
/** Text that is valid JSON already, such as a value rendered before. */
RESTD_API void restd_json_raw(struct restd_json *json, const char *data,
                              size_t len);
/** Unix time in ms as an RFC 3339 string in UTC with ms. */
RESTD_API void restd_json_time(struct restd_json *json, int64_t unix_ms);
/** Length written, or a negative number when `size` was too small. */
RESTD_API long restd_json_finish(const struct restd_json *json);

RESTD_END_DECLS

#endif
