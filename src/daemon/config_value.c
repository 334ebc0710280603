/* SPDX-License-Identifier: MIT */
/* One parser for each type of value, which judges and explains.
 *
 * The sentence names what was expected, with the range in the units that
 * people write, and what was found, cut short. Nothing is opened; users and
 * groups are looked up, which may read files or ask a server. Thread: main.
 */
#include "daemon/config_value.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <restd/restd.h>

#include "daemon/address.h"

struct why {
    char *buf;
    size_t size;
};

static int refuse(struct why why, const char *format, ...) RESTD_PRINTF(2, 3);

static int refuse(struct why why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(why.buf, why.size, format, list);
    va_end(list);
    return -1;
}

#define CUT "\"%.60s\""

static int parse_bool(const char *text, uint64_t *number, struct why why)
{
    char lower[8] = "";
    for (size_t i = 0; i < sizeof lower - 1 && text[i] != '\0'; i++) {
        lower[i] = (char)tolower((unsigned char)text[i]);
    }
    int place = rd_words_find("false|no|off|true|yes|on", lower);
    *number = place >= 3;
    return place >= 0 ? 0
                      : refuse(why, "must be true or false, not " CUT, text);
}

/* Factor of a suffix, 0 if there is none such. A plain time is in seconds. */
static uint64_t suffix_factor(const char *suffix, enum rd_type type)
{
    static const struct {
        enum rd_type type;
        const char *suffix;
        uint64_t factor;
    } factors[] = {
        {RD_TYPE_COUNT, "", 1},           {RD_TYPE_SIZE, "", 1},
        {RD_TYPE_SIZE, "K", 1024},        {RD_TYPE_SIZE, "k", 1024},
        {RD_TYPE_SIZE, "M", 1 << 20},     {RD_TYPE_SIZE, "m", 1 << 20},
        {RD_TYPE_SIZE, "G", 1 << 30},     {RD_TYPE_SIZE, "g", 1 << 30},
        {RD_TYPE_DURATION, "", 1000},     {RD_TYPE_DURATION, "ms", 1},
        {RD_TYPE_DURATION, "s", 1000},    {RD_TYPE_DURATION, "m", 60000},
        {RD_TYPE_DURATION, "h", 3600000}, {RD_TYPE_DURATION, "d", 86400000},
    };
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        if (factors[i].type == type && strcmp(factors[i].suffix, suffix) == 0) {
            return factors[i].factor;
        }
    }
    return 0;
}

static int parse_number(const struct rd_directive *directive, const char *text,
                        uint64_t *number, struct why why)
{
    static const char *const forms[] = {
        [RD_TYPE_COUNT] = "a number",
        [RD_TYPE_SIZE] = "a size such as 64K or 10M",
        [RD_TYPE_DURATION] = "a time such as 300ms, 10s or 5m"};
    struct rd_directive_range range;
    char least[32], most[32], *end;
    rd_directive_range(directive, &range);
    if (directive->words != NULL && strcmp(text, directive->words) == 0) {
        *number = range.min;
        return 0;
    }
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    uint64_t factor = suffix_factor(end, directive->type);
    if (*text < '0' || *text > '9' || factor == 0) {
        char hint[64];
        rd_unit_suggest(text, end, directive->type, hint, sizeof hint);
        return refuse(
            why, "must be %s%s%s, not " CUT "%s", forms[directive->type],
            directive->words != NULL ? " or " : "",
            directive->words != NULL ? directive->words : "", text, hint);
    }
    uint64_t unit = strcmp(range.unit, "s") == 0 ? 1000 : 1;
    int fits = errno != ERANGE && value <= UINT64_MAX / factor;
    if (fits && value * factor % unit != 0) {
        return refuse(why, "must be whole seconds, not " CUT, text);
    }
    *number = fits ? value * factor / unit : UINT64_MAX;
    if (!fits || *number < range.min || *number > range.max) {
        rd_directive_format(least, sizeof least, range.min, range.unit);
        rd_directive_format(most, sizeof most, range.max, range.unit);
        return refuse(why, "must be %s to %s, not " CUT, least, most, text);
    }
    return 0;
}

static int parse_word(const struct rd_directive *directive, const char *text,
                      uint64_t *number, struct why why)
{
    char hint[80];
    struct rd_directive_range range;
    int place = rd_words_find(directive->words, text);
    if (place < 0) {
        rd_words_suggest(directive->words, text, hint, sizeof hint);
        return refuse(why, "must be one of %s, not " CUT "%s", directive->words,
                      text, hint);
    }
    rd_directive_range(directive, &range);
    *number = range.min + (unsigned)place;
    return 0;
}

static int parse_mode(const char *text, uint64_t *number, struct why why)
{
    size_t len = strspn(text, "01234567");
    *number = strtoul(text, NULL, 8);
    if (len == 0 || len > 4 || text[len] != '\0' || *number > 0777) {
        return refuse(why, "must be octal permissions such as 0660, not " CUT,
                      text);
    }
    return 0;
}

/* By number or by name. */
static int parse_account(int is_group, const char *text, uint64_t *number,
                         struct why why)
{
    size_t digits = strspn(text, "0123456789");
    if (digits > 0 && digits < 10 && text[digits] == '\0') {
        *number = strtoull(text, NULL, 10);
        return 0;
    }
    const struct group *group = is_group ? getgrnam(text) : NULL;
    const struct passwd *user = is_group ? NULL : getpwnam(text);
    if (group == NULL && user == NULL) {
        return refuse(why, "names no %s of this system: " CUT,
                      is_group ? "group" : "user", text);
    }
    *number = group != NULL ? group->gr_gid : user->pw_uid;
    return 0;
}

static int is_token(const char *text, size_t len)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        int letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        if (!letter && !(c >= '0' && c <= '9') &&
            (c == '\0' || strchr(others, c) == NULL)) {
            return 0;
        }
    }
    return len > 0;
}

static int has_control(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            return 1;
        }
    }
    return 0;
}

static int parse_media(const char *text, struct why why)
{
    size_t whole = strcspn(text, ";");
    size_t type = strcspn(text, "/;");
    while (whole > 0 && text[whole - 1] == ' ') {
        whole--;
    }
    if (strlen(text) > 128 || has_control(text) || type >= whole ||
        !is_token(text, type) || !is_token(text + type + 1, whole - type - 1)) {
        return refuse(why, "must be a media type such as text/html, not " CUT,
                      text);
    }
    return 0;
}

/* The library knows what a field is, and which it writes itself. */
static int try_field(const char *name, const char *value)
{
    struct restd_fields *fields;
    int rc = restd_fields_new(&fields);
    if (rc == 0) {
        rc = restd_fields_add(fields, name, value);
        restd_fields_free(fields);
    }
    return rc;
}

static int parse_field(const char *text, struct why why)
{
    char name[128];
    size_t len = strcspn(text, ":");
    if (text[len] != ':' || len >= sizeof name || !is_token(text, len)) {
        return refuse(why, "must be of the form \"Name: value\", not " CUT,
                      text);
    }
    memcpy(name, text, len);
    name[len] = '\0';
    const char *value = text + len + 1 + strspn(text + len + 1, " \t");
    if (strcasecmp(name, "Content-Type") == 0) {
        return refuse(why, "cannot have Content-Type, which is the 'type' of a "
                           "route");
    }
    int rc = try_field(name, value);
    if (rc == RESTD_ELIMIT) {
        return refuse(why, "has a field that is too long: " CUT, name);
    }
    return rc == 0 ? 0
                   : refuse(why,
                            "cannot have the field " CUT
                            ": the server writes it, or its value has a "
                            "control character",
                            text);
}

/* The library knows what a network is. */
static int parse_network(const char *text, struct why why)
{
    struct restd_networks *networks;
    struct restd_error error;
    if (strlen(text) > 60) { /* whose sentence would be cut */
        return refuse(why, "has " CUT ", which is no address or network", text);
    }
    if (restd_networks_new(text, &networks, &error) < 0) {
        return refuse(why, "has a fault: %s", error.message);
    }
    restd_networks_free(networks);
    return 0;
}

static int parse_text(const struct rd_directive *directive, const char *text,
                      struct why why)
{
    struct rd_address address;
    const char *reason;
    switch (directive->type) {
    case RD_TYPE_ADDRESS:
        reason = has_control(text) ? "must not have control characters"
                                   : rd_address_parse(text, &address);
        return reason == NULL ? 0 : refuse(why, "%s, not " CUT, reason, text);
    case RD_TYPE_PATH:
        return *text == '\0' ? refuse(why, "must not be empty")
               : has_control(text)
                   ? refuse(why, "must not have control characters")
                   : 0;
    case RD_TYPE_FIELD:
        return try_field("Cache-Control", text) == 0 && *text != '\0'
                   ? 0
                   : refuse(why, "must be the value of a field, not " CUT,
                            text);
    case RD_TYPE_NETWORKS:
        return parse_network(text, why);
    default:
        return 0;
    }
}

static int parse_format(const struct rd_directive *directive, const char *text,
                        struct why why)
{
    uint64_t place;
    if (strchr(text, '$') == NULL) {
        return parse_word(directive, text, &place, why);
    }
    return !has_control(text) ? 0
                              : refuse(why, "must not have control characters");
}

int rd_value_parse(const struct rd_directive *directive, const char *text,
                   uint64_t *number, char *buf, size_t size)
{
    struct why why = {buf, size};
    uint64_t unused;
    *number = 0;
    switch (directive->type) {
    case RD_TYPE_BOOL:
        return parse_bool(text, number, why);
    case RD_TYPE_COUNT:
    case RD_TYPE_SIZE:
    case RD_TYPE_DURATION:
        return parse_number(directive, text, number, why);
    case RD_TYPE_ENUM:
    case RD_TYPE_WORD:
        return parse_word(directive, text, number, why);
    case RD_TYPE_FORMAT:
        return parse_format(directive, text, why);
    case RD_TYPE_MODE:
        return parse_mode(text, number, why);
    case RD_TYPE_USER:
    case RD_TYPE_GROUP:
        return parse_account(directive->type == RD_TYPE_GROUP, text, &unused,
                             why);
    case RD_TYPE_UID:
    case RD_TYPE_GID:
        return parse_account(directive->type == RD_TYPE_GID, text, number, why);
    case RD_TYPE_MEDIA:
        return parse_media(text, why);
    case RD_TYPE_FIELDS:
        return parse_field(text, why);
    case RD_TYPE_STRING:
    case RD_TYPE_ADDRESS:
    case RD_TYPE_PATH:
    case RD_TYPE_FIELD:
    case RD_TYPE_NETWORKS:
        break;
    }
    return parse_text(directive, text, why);
}

/* Whether a value is kept as a number. */
static int is_number(enum rd_type type)
{
    switch (type) {
    case RD_TYPE_BOOL:
    case RD_TYPE_COUNT:
    case RD_TYPE_SIZE:
    case RD_TYPE_DURATION:
    case RD_TYPE_ENUM:
    case RD_TYPE_MODE:
    case RD_TYPE_UID:
    case RD_TYPE_GID:
        return 1;
    default:
        return 0;
    }
}

void rd_value_store(const struct rd_directive *directive, void *base,
                    uint64_t number, const char *text)
{
    char *place = (char *)base + directive->offset;
    uint8_t u8 = (uint8_t)number;
    uint32_t u32 = (uint32_t)number;
    if (directive->bytes == 0) {
        return;
    }
    if (!is_number(directive->type)) {
        memcpy(place, &text, sizeof text);
    } else if (directive->bytes == sizeof u8) {
        memcpy(place, &u8, sizeof u8);
    } else if (directive->bytes == sizeof u32) {
        memcpy(place, &u32, sizeof u32);
    } else {
        memcpy(place, &number, sizeof number);
    }
}
