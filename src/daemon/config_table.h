/* SPDX-License-Identifier: MIT */
/* The directives of the configuration: one table that the parser, the dump,
 * the manual page, the sample file and the completion are made from.
 *
 * Static and immutable. Thread: any.
 */
#ifndef RD_DAEMON_CONFIG_TABLE_H
#define RD_DAEMON_CONFIG_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum rd_section {
    RD_SECTION_TOP,
    RD_SECTION_LOG,
    RD_SECTION_ACCESS_LOG,
    RD_SECTION_LIMITS,
    RD_SECTION_TIMEOUTS,
    RD_SECTION_TUNING,
    RD_SECTION_BUILTINS,
    RD_SECTION_STATUS,
    RD_SECTION_CORS,
    RD_SECTION_RATE_LIMIT,
    RD_SECTION_LISTEN,
    RD_SECTION_ROUTE,
    RD_SECTION_ROUTE_RATE_LIMIT,
    RD_SECTION_MODULE,
    RD_SECTIONS_N
};

struct rd_section_info {
    const char *name;  /* "" at the top */
    const char *noun;  /* what each of its directives is: "a timeout" */
    const char *title; /* what its name is; NULL: it has none */
    enum rd_section parent;
    unsigned max;     /* of them in a configuration */
    const char *help; /* one or more sentences */
};

/* What a value is, and how it is kept. */
enum rd_type {
    RD_TYPE_BOOL,
    RD_TYPE_COUNT,
    RD_TYPE_SIZE,
    RD_TYPE_DURATION,
    RD_TYPE_STRING,
    RD_TYPE_ENUM,   /* one of words, kept as min + its place */
    RD_TYPE_WORD,   /* one of words, kept as text */
    RD_TYPE_FORMAT, /* one of words, or text with a '$' */
    RD_TYPE_MODE,   /* octal */
    RD_TYPE_USER,   /* kept as text */
    RD_TYPE_GROUP,
    RD_TYPE_UID, /* kept as number */
    RD_TYPE_GID,
    RD_TYPE_ADDRESS,
    RD_TYPE_PATH,     /* relative to the file that has it */
    RD_TYPE_MEDIA,    /* media type */
    RD_TYPE_FIELD,    /* value of a header field */
    RD_TYPE_NETWORKS, /* list, of addresses with or without a prefix length */
    RD_TYPE_FIELDS    /* list, of "Name: value" */
};

struct rd_directive {
    enum rd_section section;
    const char *name;
    enum rd_type type;
    const char *def;    /* NULL: none, or that of the option */
    const char *option; /* of the library: default, range, unit; else NULL */
    uint64_t min, max;  /* of numbers without an option */
    const char *words;  /* "a|b|c"; of a count: one word for its minimum */
    const char *unit;   /* of a duration: "ms" or "s" */
    size_t offset;      /* in the struct of its section */
    size_t bytes;       /* 0: no place of its own */
    uint8_t restart;    /* a reload does not change it */
    const char *help;
};

const struct rd_section_info *rd_section_info(enum rd_section section);
/* Section of that name within another; RD_SECTIONS_N if there is none. */
enum rd_section rd_section_find(enum rd_section parent, const char *name);

/* The row behind `row`, or the first for NULL; NULL behind the last. Those
 * whose option the library has not got do not exist. */
const struct rd_directive *rd_directive_next(const struct rd_directive *row);
/* NULL if there is none. */
const struct rd_directive *rd_directive_find(enum rd_section section,
                                             const char *name);
/* "section.name" of a section without a title; NULL if there is none. */
const struct rd_directive *rd_directive_find_path(const char *path);
int rd_directive_is_list(const struct rd_directive *directive);

/* Least and largest number, unit and text of the default, whether they stand
 * in the table or with the option; the default NULL if there is none. */
struct rd_directive_range {
    uint64_t min, max;
    const char *unit;
    const char *def;
    char buf[32];
};
void rd_directive_range(const struct rd_directive *directive,
                        struct rd_directive_range *range);
/* A number in the largest unit that leaves a whole one. */
void rd_directive_format(char *buf, size_t size, uint64_t value,
                         const char *unit);

/* Writes " (did you mean 'x'?)" or the like for a name that `section` has
 * not; "" if nothing is near. */
void rd_directive_suggest(enum rd_section section, const char *name, char *buf,
                          size_t size);
/* The same for one of "a|b|c". */
void rd_words_suggest(const char *words, const char *word, char *buf,
                      size_t size);
/* The same for the unit behind a number, as people write it: "10 min" is 10m,
 * "5MB" is 5M. */
void rd_unit_suggest(const char *text, const char *suffix, enum rd_type type,
                     char *buf, size_t size);
/* Place of a word in "a|b|c", -1 if it is not there. */
int rd_words_find(const char *words, const char *word);

#endif
