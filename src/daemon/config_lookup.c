/* SPDX-License-Identifier: MIT */
/* Questions about the table of directives: what has which name, its range and
 * default as text, and the nearest name to one that does not exist.
 *
 * Names are near when few letters have to be added, left out, changed or
 * swapped, one or a third of the name, or when one is the other's beginning. Thread: any, no state.
 */
#include "daemon/config_table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <restd/options.h>

#define NAME_MAX_LEN 32

enum rd_section rd_section_find(enum rd_section parent, const char *name)
{
    for (int i = RD_SECTION_TOP + 1; i < RD_SECTIONS_N; i++) {
        const struct rd_section_info *info = rd_section_info(i);
        if (info->parent == parent && strcmp(info->name, name) == 0) {
            return i;
        }
    }
    return RD_SECTIONS_N;
}

const struct rd_directive *rd_directive_find_path(const char *path)
{
    char name[NAME_MAX_LEN];
    size_t len = strcspn(path, ".");
    if (path[len] == '\0') {
        return rd_directive_find(RD_SECTION_TOP, path);
    }
    if (len >= sizeof name) {
        return NULL;
    }
    memcpy(name, path, len);
    name[len] = '\0';
    enum rd_section section = rd_section_find(RD_SECTION_TOP, name);
    if (section == RD_SECTIONS_N || rd_section_info(section)->title != NULL) {
        return NULL;
    }
    return rd_directive_find(section, path + len + 1);
}

int rd_directive_is_list(const struct rd_directive *directive)
{
    return directive->type == RD_TYPE_NETWORKS ||
           directive->type == RD_TYPE_FIELDS;
}

void rd_directive_format(char *buf, size_t size, uint64_t value,
                         const char *unit)
{
    static const char *const letters[] = {"", "K", "M", "G"};
    unsigned power = 0;
    if (strcmp(unit, "bytes") == 0) {
        for (; power < 3 && value != 0 && value % 1024 == 0; power++) {
            value /= 1024;
        }
        unit = letters[power];
    } else if (strcmp(unit, "ms") == 0 && value % 1000 == 0) {
        value /= 1000;
        unit = "s";
    }
    snprintf(buf, size, "%llu%s", (unsigned long long)value, unit);
}

/* Text of an option's default, as this directive would have it. */
static const char *default_text(const struct rd_directive *directive,
                                uint64_t value,
                                struct rd_directive_range *range)
{
    if (directive->type == RD_TYPE_ENUM) {
        const char *word = directive->words;
        for (uint64_t i = range->min; i < value && word != NULL; i++) {
            word = strchr(word, '|');
            word += word != NULL;
        }
        snprintf(range->buf, sizeof range->buf, "%.*s",
                 (int)strcspn(word != NULL ? word : "", "|"),
                 word != NULL ? word : "");
    } else if (directive->words != NULL && value == range->min) {
        return directive->words;
    } else {
        rd_directive_format(range->buf, sizeof range->buf, value, range->unit);
    }
    return range->buf;
}

void rd_directive_range(const struct rd_directive *directive,
                        struct rd_directive_range *range)
{
    struct restd_option_info info;
    range->min = directive->min;
    range->max = directive->max;
    range->unit = directive->unit != NULL ? directive->unit : "";
    range->def = directive->def;
    for (unsigned i = 0; directive->option != NULL; i++) {
        if (restd_option_info(i, &info) != 0) {
            return;
        }
        if (strcmp(info.name, directive->option) == 0) {
            range->min = info.min;
            range->max = info.max;
            range->unit = info.unit;
            range->def = default_text(directive, info.default_value, range);
            return;
        }
    }
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Letters to add, leave out, change or swap; at least NAME_MAX_LEN for a name
 * that is too long to be near any. */
static unsigned distance(const char *a, size_t a_len, const char *b,
                         size_t b_len)
{
    unsigned rows[3][NAME_MAX_LEN + 1];
    if (a_len > NAME_MAX_LEN || b_len > NAME_MAX_LEN) {
        return NAME_MAX_LEN;
    }
    for (unsigned j = 0; j <= b_len; j++) {
        rows[0][j] = j;
    }
    for (unsigned i = 1; i <= a_len; i++) {
        unsigned *row = rows[i % 3], *up = rows[(i + 2) % 3];
        const unsigned *above = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= b_len; j++) {
            unsigned change = a[i - 1] != b[j - 1];
            row[j] = least(least(up[j], row[j - 1]) + 1, up[j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], above[j - 2] + 1);
            }
        }
    }
    return rows[a_len % 3][b_len];
}

/* The nearest name so far. */
struct nearest {
    const char *name;
    size_t name_len;
    const char *found;
    size_t found_len;
    unsigned best; /* distance below which a name is nearer */
};

static void nearest_init(struct nearest *nearest, const char *name)
{
    nearest->name = name;
    nearest->name_len = strlen(name);
    nearest->found = NULL;
    nearest->found_len = 0;
    nearest->best =
        (nearest->name_len < 6 ? 1 : (unsigned)nearest->name_len / 3) + 1;
}

static void nearest_try(struct nearest *nearest, const char *name, size_t len)
{
    unsigned d = distance(nearest->name, nearest->name_len, name, len);
    if (nearest->name_len >= 3 && nearest->name_len < len &&
        memcmp(nearest->name, name, nearest->name_len) == 0) {
        d = least(d, 1); /* cut short */
    }
    if (d < nearest->best) {
        nearest->best = d;
        nearest->found = name;
        nearest->found_len = len;
    }
}

static void nearest_say(const struct nearest *nearest, char *buf, size_t size)
{
    buf[0] = '\0';
    if (nearest->found != NULL) {
        snprintf(buf, size, " (did you mean '%.*s'?)", (int)nearest->found_len,
                 nearest->found);
    }
}

/* Where else there is a directive of just that name. */
static void say_place(enum rd_section section, const char *name, char *buf,
                      size_t size)
{
    const struct rd_directive *d = NULL;
    if (section != RD_SECTION_TOP && strcmp(name, "include") == 0) {
        snprintf(buf, size, " (its place is outside of any section)");
        return;
    }
    while ((d = rd_directive_next(d)) != NULL) {
        if (d->section == section || strcmp(d->name, name) != 0) {
            continue;
        }
        const char *place = rd_section_info(d->section)->name;
        if (d->section == RD_SECTION_TOP) {
            snprintf(buf, size, " (its place is outside of any section)");
        } else {
            snprintf(buf, size, " (its place is in '%s')", place);
        }
        return;
    }
}

void rd_directive_suggest(enum rd_section section, const char *name, char *buf,
                          size_t size)
{
    struct nearest nearest;
    const struct rd_directive *d = NULL;
    nearest_init(&nearest, name);
    while ((d = rd_directive_next(d)) != NULL) {
        if (d->section == section) {
            nearest_try(&nearest, d->name, strlen(d->name));
        }
    }
    for (int i = RD_SECTION_TOP + 1; i < RD_SECTIONS_N; i++) {
        const struct rd_section_info *info = rd_section_info(i);
        if (info->parent == section) {
            nearest_try(&nearest, info->name, strlen(info->name));
        }
    }
    if (section == RD_SECTION_TOP) {
        nearest_try(&nearest, "include", 7);
    }
    nearest_say(&nearest, buf, size);
    if (nearest.found == NULL) {
        say_place(section, name, buf, size);
    }
}

void rd_words_suggest(const char *words, const char *word, char *buf,
                      size_t size)
{
    struct nearest nearest;
    nearest_init(&nearest, word);
    for (const char *at = words; *at != '\0';) {
        size_t len = strcspn(at, "|");
        nearest_try(&nearest, at, len);
        at += len + (at[len] == '|');
    }
    nearest_say(&nearest, buf, size);
}

int rd_words_find(const char *words, const char *word)
{
    size_t word_len = strlen(word);
    int place = 0;
    for (const char *at = words; *at != '\0'; place++) {
        size_t len = strcspn(at, "|");
        if (len == word_len && memcmp(at, word, len) == 0) {
            return place;
        }
        at += len + (at[len] == '|');
    }
    return -1;
}

void rd_unit_suggest(const char *text, const char *suffix, enum rd_type type,
                     char *hint, size_t size)
{
    static const struct {
        enum rd_type type;
        const char *suffix, *words;
    } units[] = {
        {RD_TYPE_DURATION, "ms", "ms|msec|millisecond|milliseconds"},
        {RD_TYPE_DURATION, "s", "s|sec|secs|second|seconds"},
        {RD_TYPE_DURATION, "m", "m|min|mins|minute|minutes"},
        {RD_TYPE_DURATION, "h", "h|hr|hrs|hour|hours"},
        {RD_TYPE_DURATION, "d", "d|day|days"},
        {RD_TYPE_SIZE, "", "b|byte|bytes"},
        {RD_TYPE_SIZE, "K", "k|kb|kib"},
        {RD_TYPE_SIZE, "M", "m|mb|mib"},
        {RD_TYPE_SIZE, "G", "g|gb|gib"},
    };
    char word[16] = "";
    suffix += strspn(suffix, " ");
    for (size_t i = 0; i < sizeof word - 1 && suffix[i] != '\0'; i++) {
        word[i] = (char)tolower((unsigned char)suffix[i]);
    }
    size_t digits = strspn(text, "0123456789");
    *hint = '\0';
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (units[i].type == type && digits > 0 && digits < 10 &&
            rd_words_find(units[i].words, word) >= 0) {
            snprintf(hint, size, " (did you mean '%.*s%s'?)", (int)digits, text,
                     units[i].suffix);
        }
    }
}
