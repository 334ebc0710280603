/* SPDX-License-Identifier: MIT */
/* The streaming JSON writer.
 *
 * Every byte goes through json_room(). Once something has not fitted, the size
 * is set to the length, so that nothing fits any more: there is never a hole in
 * what was written, and the usual path has one comparison per piece. A comma is
 * owed from the end of a value until the next key or value.
 *
 * Numbers are written without printf(), whose decimal point follows the locale
 * and which costs more than the rest of a status document. No allocation; one
 * thread at a time per writer.
 */
#include <restd/json.h>

#include <math.h>
#include <string.h>

#include <restd/error.h>

#include "base/civil.h"
#include "base/decimal.h"
#include "base/utf8.h"

/* Place for `n` bytes, or NULL. */
static inline char *json_room(struct restd_json *json, size_t n)
{
    if (__builtin_expect(n > json->size - json->len, 0)) {
        json->size = json->len;
        json->overflow = 1;
        return NULL;
    }
    return json->buf + json->len;
}

static void json_put(struct restd_json *json, const char *data, size_t len)
{
    if (len == 0) {
        return; /* `data` or the whole buffer may be NULL then */
    }
    char *at = json_room(json, len);
    if (at != NULL) {
        memcpy(at, data, len);
        json->len += len;
    }
}

static inline void json_put_char(struct restd_json *json, char c)
{
    char *at = json_room(json, 1);
    if (at != NULL) {
        *at = c;
        json->len++;
    }
}

static inline void value_begin(struct restd_json *json)
{
    if (json->comma) {
        json_put_char(json, ',');
    }
    json->comma = 1;
}

void restd_json_init(struct restd_json *json, char *buf, size_t size)
{
    json->buf = buf;
    json->len = 0;
    json->size = size;
    json->comma = 0;
    json->overflow = 0;
}

long restd_json_finish(const struct restd_json *json)
{
    return json->overflow ? RESTD_ELIMIT : (long)json->len;
}

static void nest_begin(struct restd_json *json, char c)
{
    value_begin(json);
    json_put_char(json, c);
    json->comma = 0;
}

static void nest_end(struct restd_json *json, char c)
{
    json_put_char(json, c);
    json->comma = 1;
}

void restd_json_object_begin(struct restd_json *json)
{
    nest_begin(json, '{');
}

void restd_json_object_end(struct restd_json *json)
{
    nest_end(json, '}');
}

void restd_json_array_begin(struct restd_json *json)
{
    nest_begin(json, '[');
}

void restd_json_array_end(struct restd_json *json)
{
    nest_end(json, ']');
}

void restd_json_key(struct restd_json *json, const char *key)
{
    size_t len = strlen(key);
    size_t comma = json->comma != 0;
    char *at = json_room(json, comma + len + 3);
    if (at == NULL) {
        return;
    }
    if (comma) {
        *at++ = ',';
    }
    *at++ = '"';
    memcpy(at, key, len);
    at[len] = '"';
    at[len + 1] = ':';
    json->len += comma + len + 3;
    json->comma = 0;
}

void restd_json_raw(struct restd_json *json, const char *data, size_t len)
{
    value_begin(json);
    json_put(json, data, len);
}

void restd_json_bool(struct restd_json *json, int value)
{
    restd_json_raw(json, value ? "true" : "false", value ? 4 : 5);
}

void restd_json_null(struct restd_json *json)
{
    restd_json_raw(json, "null", 4);
}

/* ---- strings */

/* Not 0 if one of 8 bytes is a control character, '"', '\\' or not ASCII. The
 * subtractions borrow from the next byte only below a byte that is one. */
static inline uint64_t word_special(uint64_t w)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t tops = UINT64_C(0x8080808080808080);
    uint64_t quote = w ^ (ones * '"');
    uint64_t slash = w ^ (ones * '\\');
    uint64_t low = (w - ones * 0x20) & ~w;
    uint64_t is_quote = (quote - ones) & ~quote;
    uint64_t is_slash = (slash - ones) & ~slash;
    return (w | low | is_quote | is_slash) & tops;
}

static inline int byte_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* How many bytes from the front can be copied as they are. */
static size_t plain_len(const unsigned char *p, size_t len)
{
    size_t i = 0;
    for (; len - i >= 8; i += 8) {
        uint64_t w;
        memcpy(&w, p + i, 8);
        if (word_special(w) != 0) {
            break;
        }
    }
    while (i < len && byte_plain(p[i])) {
        i++;
    }
    return i;
}

static void put_escape(struct restd_json *json, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char shorts[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    if (c >= 0x20 || shorts[c] != 0) {
        text[1] = c >= 0x20 ? (char)c : shorts[c];
        json_put(json, text, 2);
    } else {
        json_put(json, text, 6);
    }
}

void restd_json_string(struct restd_json *json, const char *data, size_t len)
{
    const unsigned char *p = (const unsigned char *)data;
    value_begin(json);
    json_put_char(json, '"');
    for (size_t i = 0; i < len;) {
        size_t plain = plain_len(p + i, len - i);
        json_put(json, data + i, plain);
        i += plain;
        if (i == len) {
            break;
        }
        if (p[i] < 0x80) {
            put_escape(json, p[i]);
            i++;
            continue;
        }
        unsigned n = rd_utf8_char(p + i, len - i);
        json_put(json, n > 0 ? data + i : "\xef\xbf\xbd", n > 0 ? n : 3);
        i += n > 0 ? n : 1;
    }
    json_put_char(json, '"');
}

/* ---- numbers */

static void put_u64(struct restd_json *json, uint64_t value)
{
    char *at = json_room(json, rd_decimal_len(value));
    if (at != NULL) {
        json->len += rd_decimal_u64(at, value);
    }
}

void restd_json_uint(struct restd_json *json, uint64_t value)
{
    value_begin(json);
    put_u64(json, value);
}

void restd_json_int(struct restd_json *json, int64_t value)
{
    value_begin(json);
    if (value < 0) {
        json_put_char(json, '-');
        put_u64(json, -(uint64_t)value);
    } else {
        put_u64(json, (uint64_t)value);
    }
}

/* A whole number of 2^64 or more, exactly: its 53 bits are shifted left in
 * base 10^9, lowest limb first. The largest double has 309 digits. */
static void put_huge(struct restd_json *json, double value)
{
    enum { LIMBS = 35, BASE = 1000000000, SHIFT_MAX = 29 };
    const uint64_t hidden = UINT64_C(1) << 52; /* left out in the format */
    uint64_t raw;
    memcpy(&raw, &value, sizeof(raw));
    uint64_t bits = (raw & (hidden - 1)) | hidden;
    uint32_t limb[LIMBS] = {(uint32_t)(bits % BASE), (uint32_t)(bits / BASE)};
    unsigned used = 2;
    int exponent = (int)(raw >> 52 & 0x7ff) - 1075;
    for (int left = exponent; left > 0; left -= SHIFT_MAX) {
        int shift = left < SHIFT_MAX ? left : SHIFT_MAX;
        uint64_t carry = 0;
        for (unsigned i = 0; i < used; i++) {
            carry += (uint64_t)limb[i] << shift;
            limb[i] = (uint32_t)(carry % BASE);
            carry /= BASE;
        }
        if (carry != 0) {
            limb[used++] = (uint32_t)carry;
        }
    }
    put_u64(json, limb[--used]);
    while (used-- > 0) {
        char text[9];
        rd_decimal_4(text, limb[used] / 100000);
        rd_decimal_4(text + 4, limb[used] / 10 % 10000);
        text[8] = (char)('0' + limb[used] % 10);
        json_put(json, text, sizeof(text));
    }
}

static void put_fraction(struct restd_json *json, unsigned millionths)
{
    char text[7] = {'.'};
    rd_decimal_2(text + 1, millionths / 10000);
    rd_decimal_4(text + 3, millionths % 10000);
    size_t len = sizeof(text);
    while (text[len - 1] == '0') {
        len--;
    }
    json_put(json, text, len);
}

void restd_json_double(struct restd_json *json, double value)
{
    if (!isfinite(value)) {
        restd_json_null(json);
        return;
    }
    value_begin(json);
    double size = fabs(value);
    uint64_t whole = 0;
    unsigned millionths = 0;
    int huge = size >= 0x1p64;
    if (!huge) {
        whole = (uint64_t)size;
        /* Exact up to the multiplication. */
        millionths = (unsigned)((size - (double)whole) * 1e6 + 0.5);
        if (millionths == 1000000) {
            whole++;
            millionths = 0;
        }
    }
    /* What rounds to nothing has no sign. */
    if (value < 0 && (huge || whole != 0 || millionths != 0)) {
        json_put_char(json, '-');
    }
    if (huge) {
        put_huge(json, size);
        return;
    }
    put_u64(json, whole);
    if (millionths != 0) {
        put_fraction(json, millionths);
    }
}

void restd_json_time(struct restd_json *json, int64_t unix_ms)
{
    /* Rounds down, also before 1970. */
    int64_t seconds = unix_ms / 1000 - (unix_ms % 1000 < 0);
    unsigned ms = (unsigned)((unix_ms % 1000 + 1000) % 1000);
    struct rd_civil c = rd_civil_from_unix(seconds);
    char text[] = "\"yyyy-mm-ddThh:mm:ss.mmmZ\"";
    rd_decimal_4(text + 1, c.year);
    rd_decimal_2(text + 6, c.month);
    rd_decimal_2(text + 9, c.day);
    rd_decimal_2(text + 12, c.hour);
    rd_decimal_2(text + 15, c.minute);
    rd_decimal_2(text + 18, c.second);
    text[21] = (char)('0' + ms / 100);
    rd_decimal_2(text + 22, ms % 100);
    restd_json_raw(json, text, sizeof(text) - 1);
}
