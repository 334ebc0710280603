/* SPDX-License-Identifier: MIT */
/* Members of a JSON object in one call each, with the way /status writes what
 * is absent: null. Inline, any thread. */
#ifndef RD_DAEMON_JSON_PUT_H
#define RD_DAEMON_JSON_PUT_H

#include <math.h>
#include <string.h>

#include <restd/json.h>

static inline void put_uint(struct restd_json *json, const char *key,
                            uint64_t value)
{
    restd_json_key(json, key);
    restd_json_uint(json, value);
}

/* Negative: absent. */
static inline void put_count(struct restd_json *json, const char *key,
                             int64_t value)
{
    restd_json_key(json, key);
    if (value < 0) {
        restd_json_null(json);
    } else {
        restd_json_int(json, value);
    }
}

/* NaN: absent. */
static inline void put_double(struct restd_json *json, const char *key,
                              double value)
{
    restd_json_key(json, key);
    restd_json_double(json, value);
}

/* Negative: absent. */
static inline void put_seconds(struct restd_json *json, const char *key,
                               double value)
{
    put_double(json, key, value < 0 ? (double)NAN : value);
}

/* NULL or "": absent. */
static inline void put_text(struct restd_json *json, const char *key,
                            const char *value)
{
    restd_json_key(json, key);
    if (value == NULL || *value == '\0') {
        restd_json_null(json);
    } else {
        restd_json_string(json, value, strlen(value));
    }
}

static inline void put_bool(struct restd_json *json, const char *key, int value)
{
    restd_json_key(json, key);
    restd_json_bool(json, value);
}

static inline void put_time(struct restd_json *json, const char *key,
                            int64_t unix_ms)
{
    restd_json_key(json, key);
    restd_json_time(json, unix_ms);
}

static inline void put_object(struct restd_json *json, const char *key)
{
    restd_json_key(json, key);
    restd_json_object_begin(json);
}

static inline void put_end(struct restd_json *json)
{
    restd_json_object_end(json);
}

#endif
