/* SPDX-License-Identifier: MIT */
/* From a file to text that libConfuse reads without surprises.
 *
 * libConfuse 3.3 counts the lines of comments twice, takes the end of a file
 * for the end of every open section, ends a word at a '+', loses the memory of
 * an argument list with a fault, and puts nothing in for a variable that is not
 * set. So words leave here quoted, with their
 * variables put in, comments do not leave at all, and strings, braces and
 * control characters are judged where they begin. Line breaks stay, so that
 * lines keep their numbers.
 *
 *     ${NAME}           variable of the environment; an error without it
 *     ${NAME:-default}  default where it is unset or empty
 *
 * in words and double quotes; not in single ones, nor behind a backslash.
 * Thread: main.
 */
#include "daemon/config_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <restd/api.h>

#include "daemon/config_read.h"

#define DEPTH_MAX 8
#define NAME_MAX_LEN 128
/* libConfuse takes time by the square of it. */
#define STRING_MAX_KIB 64
/* Quotes around words of one letter, and values of variables. */
#define GROWTH 4

/* Between parentheses: what may come next. */
enum arguments { OUTSIDE, FIRST, VALUE, BEHIND_VALUE };

struct scan {
    struct rd_text *out;
    const char *at, *end;
    int line;
    int long_string; /* line of the first one that runs over several; 0 */
    int depth;
    int opened[DEPTH_MAX]; /* lines of the open braces */
    enum arguments arguments;
};

static int fail(struct rd_text *text, int line, const char *format, ...)
    RESTD_PRINTF(3, 4);

static int fail(struct rd_text *text, int line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(text->fault, sizeof text->fault, format, list);
    va_end(list);
    text->line = line;
    return -1;
}

static int put(struct scan *s, char c)
{
    struct rd_text *out = s->out;
    if (out->len == out->size) {
        return fail(out, s->line, "the values of variables are too long");
    }
    out->data[out->len++] = c;
    return 0;
}

/* A character of the file, whose lines are counted. */
static int copy(struct scan *s)
{
    s->line += *s->at == '\n';
    return put(s, *s->at++);
}

/* A character within the double quotes that libConfuse will see. */
static int put_escaped(struct scan *s, char c)
{
    if (c == '\n') {
        return put(s, '\\') < 0 ? -1 : put(s, 'n');
    }
    if ((c == '"' || c == '\\' || c == '$') && put(s, '\\') < 0) {
        return -1;
    }
    return put(s, c);
}

static int put_text(struct scan *s, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (put_escaped(s, text[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* At "${". */
static int put_variable(struct scan *s)
{
    char name[NAME_MAX_LEN];
    size_t room = (size_t)(s->end - s->at);
    const char *close = memchr(s->at, '}', room);
    const char *newline = memchr(s->at, '\n', room);
    const char *start = s->at + 2, *rest = start;
    if (close == NULL || (newline != NULL && newline < close)) {
        return fail(s->out, s->line, "'${' is not closed by '}' in its line");
    }
    while (rest < close && (isalnum((unsigned char)*rest) || *rest == '_')) {
        rest++;
    }
    size_t len = (size_t)(rest - start);
    int has_default = close - rest >= 2 && rest[0] == ':' && rest[1] == '-';
    if (len == 0 || len >= sizeof name || isdigit((unsigned char)*start) ||
        (rest != close && !has_default)) {
        return fail(s->out, s->line,
                    "'%.*s' is neither ${NAME} nor ${NAME:-default}",
                    close - s->at < 60 ? (int)(close - s->at + 1) : 60, s->at);
    }
    memcpy(name, start, len);
    name[len] = '\0';
    s->at = close + 1;
    const char *value = getenv(name);
    if (value != NULL && (*value != '\0' || !has_default)) {
        return put_text(s, value, strlen(value));
    }
    if (!has_default) {
        return fail(s->out, s->line,
                    "the variable %.60s is not set (and has no default, as in "
                    "${NAME:-default})",
                    name);
    }
    return put_text(s, rest + 2, (size_t)(close - rest - 2));
}

static int is_variable(const struct scan *s)
{
    return s->end - s->at >= 2 && s->at[0] == '$' && s->at[1] == '{';
}

static int check_length(struct scan *s, size_t before, int line)
{
    return s->out->len - before <= STRING_MAX_KIB * (size_t)1024
               ? 0
               : fail(s->out, line, "a value of more than %d KiB",
                      STRING_MAX_KIB);
}

/* A quoted string, as it is but for variables. */
static int scan_string(struct scan *s)
{
    char quote = *s->at;
    int start = s->line;
    size_t before = s->out->len;
    int rc = copy(s);
    while (rc == 0 && s->at < s->end && *s->at != quote) {
        if (quote == '"' && is_variable(s)) {
            rc = put_variable(s);
            continue;
        }
        if (*s->at == '\\' && s->end - s->at >= 2) {
            rc = copy(s);
        }
        rc = rc < 0 ? rc : copy(s);
    }
    if (rc == 0 && s->at >= s->end && s->long_string > 0) {
        /* With a quote missing each one behind it opens what it should close. */
        return fail(s->out, start,
                    "the string that begins here has no end (or one before it: "
                    "that of line %d runs over several lines)",
                    s->long_string);
    }
    if (rc == 0 && s->at >= s->end) {
        return fail(s->out, start, "the string that begins here has no end");
    }
    if (s->long_string == 0 && s->line > start) {
        s->long_string = start;
    }
    rc = rc < 0 ? rc : check_length(s, before, start);
    return rc < 0 ? rc : copy(s);
}

/* Whether a word ends here. */
static int ends_word(const struct scan *s)
{
    if (*s->at == '+') {
        return s->end - s->at >= 2 && s->at[1] == '=';
    }
    return strchr(" \t\r\n#\"'{}()=,", *s->at) != NULL;
}

static int scan_word(struct scan *s)
{
    size_t before = s->out->len;
    int rc = put(s, '"');
    while (rc == 0 && s->at < s->end && !ends_word(s)) {
        rc = is_variable(s) ? put_variable(s) : put_escaped(s, *s->at++);
    }
    if (rc == 0 && s->at[-1] == ';') {
        return fail(s->out, s->line,
                    "nothing ends with ';' here (what does needs quotes)");
    }
    if (rc == 0 && s->at < s->end && *s->at == '{' && s->at[-1] == '/') {
        return fail(s->out, s->line, "a pattern with braces needs quotes");
    }
    rc = rc < 0 ? rc : check_length(s, before, s->line);
    return rc < 0 ? rc : put(s, '"');
}

/* From '#' or "//" to the end of the line. */
static int skip_line(struct scan *s)
{
    while (s->at < s->end && *s->at != '\n') {
        s->at++;
    }
    return 0;
}

static int skip_comment(struct scan *s)
{
    int start = s->line;
    for (s->at += 2; s->end - s->at >= 2; s->at++) {
        if (s->at[0] == '*' && s->at[1] == '/') {
            s->at += 2;
            return put(s, ' ');
        }
        if (*s->at == '\n') {
            s->line++;
            if (put(s, '\n') < 0) {
                return -1;
            }
        }
    }
    return fail(s->out, start, "the comment that begins here has no end");
}

static int scan_brace(struct scan *s)
{
    if (*s->at == '{') {
        if (s->depth == DEPTH_MAX) {
            return fail(s->out, s->line, "more than %d braces are open",
                        DEPTH_MAX);
        }
        s->opened[s->depth++] = s->line;
    } else if (s->depth > 0) {
        s->depth--;
    }
    return copy(s);
}

/* 0 if this may stand here between parentheses; also follows them. */
static int check_arguments(struct scan *s)
{
    enum arguments next = BEHIND_VALUE;
    int fits = s->arguments != BEHIND_VALUE;
    switch (*s->at) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case '#':
        return 0;
    case '(':
        next = FIRST;
        fits = s->arguments == OUTSIDE;
        break;
    case ')':
        next = OUTSIDE;
        fits = s->arguments == FIRST || s->arguments == BEHIND_VALUE;
        break;
    case ',':
        next = VALUE;
        fits = s->arguments == BEHIND_VALUE;
        break;
    default:
        fits = fits && strchr("{}=+", *s->at) == NULL;
        break;
    }
    if (s->arguments == OUTSIDE && *s->at != '(') {
        return 0;
    }
    s->arguments = next;
    return fits ? 0
                : fail(s->out, s->line, "'%c' does not fit between parentheses",
                       *s->at);
}

static int scan_one(struct scan *s)
{
    char next = '\0';
    if (s->end - s->at >= 2) {
        next = s->at[1];
    }
    if ((*s->at != '/' || (next != '/' && next != '*')) &&
        check_arguments(s) < 0) {
        return -1;
    }
    switch (*s->at) {
    case '"':
    case '\'':
        return scan_string(s);
    case '{':
    case '}':
        return scan_brace(s);
    case '#':
        return skip_line(s);
    case '/':
        return next == '/'   ? skip_line(s)
               : next == '*' ? skip_comment(s)
                             : scan_word(s);
    default:
        return ends_word(s) ? copy(s) : scan_word(s);
    }
}

/* Everything else relies on there being no NUL. */
static int check_characters(struct rd_text *text, const char *data, size_t len)
{
    int line = 1;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)data[i];
        line += c == '\n';
        if ((c < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7f) {
            return fail(text, line,
                        "this is no text: it has a byte of value 0x%02x", c);
        }
    }
    return 0;
}

static int scan_all(struct rd_text *text, const char *data, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
    struct scan s = {.out = text, .at = data, .end = data + len, .line = 1};
    if (len >= 3 && memcmp(data, mark, 3) == 0) {
        s.at += 3;
    }
    while (s.at < s.end) {
        if (scan_one(&s) < 0) {
            return -1;
        }
    }
    if (s.arguments != OUTSIDE) {
        return fail(text, s.line, "a ')' is missing at the end");
    }
    return s.depth == 0 ? 0
                        : fail(text, s.opened[s.depth - 1],
                               "the '{' in this line is not closed");
}

int rd_text_load(struct rd_text *text, int fd, size_t max)
{
    memset(text, 0, sizeof *text);
    /* Read into the last part of what the result goes into. */
    size_t size = (max + 1) * (GROWTH + 1);
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        text->os_errno = errno;
        return fail(text, 0, "%s", strerror(errno));
    }
    madvise(map, size, MADV_NOHUGEPAGE);
    text->data = map;
    text->size = (max + 1) * GROWTH;
    char *file = map + text->size;
    ssize_t len = rd_config_read(fd, file, max + 1);
    if (len < 0) {
        text->os_errno = errno;
        if (errno == EPIPE) {
            return fail(text, 0, "a pipe that nobody writes to");
        }
        return fail(text, 0, "%s", strerror(errno));
    }
    if ((size_t)len > max) {
        return fail(text, 0, "the files have more than 1 MiB in all");
    }
    text->file_len = (size_t)len;
    return check_characters(text, file, (size_t)len) < 0
               ? -1
               : scan_all(text, file, (size_t)len);
}

void rd_text_free(struct rd_text *text)
{
    if (text->data != NULL) {
        /* As it was mapped: the file stands behind the result. */
        munmap(text->data, text->size / GROWTH * (GROWTH + 1));
    }
    text->data = NULL;
}
