/* SPDX-License-Identifier: MIT */
/* A recursive JSON validator after RFC 8259, for tests.
 *
 * Stricter in two places: no white space and no exponent, neither of which is
 * ever written. Does not look at UTF-8.
 */
#include "json_valid.h"

#include <string.h>

/* Each takes one thing from *p, or returns 0. */

static int valid_value(const char **p, int depth);

static int valid_string(const char **p)
{
    if (*(*p)++ != '"') {
        return 0;
    }
    while (**p != '"') {
        if ((unsigned char)**p < 0x20) {
            return 0;
        }
        if (*(*p)++ == '\\') {
            char c = *(*p)++;
            if (c == 'u') {
                if (strspn(*p, "0123456789abcdefABCDEF") < 4) {
                    return 0;
                }
                *p += 4;
            } else if (c == '\0' || strchr("\"\\/bfnrt", c) == NULL) {
                return 0;
            }
        }
    }
    (*p)++;
    return 1;
}

static int valid_digits(const char **p)
{
    size_t n = strspn(*p, "0123456789");
    *p += n;
    return n > 0;
}

static int valid_number(const char **p)
{
    *p += **p == '-';
    if (**p == '0') {
        (*p)++;
    } else if (!valid_digits(p)) {
        return 0;
    }
    if (**p == '.') {
        (*p)++;
        return valid_digits(p);
    }
    return 1; /* an exponent is never written, so it is not allowed here */
}

static int valid_list(const char **p, char end, int named, int depth)
{
    (*p)++;
    if (**p == end) {
        (*p)++;
        return 1;
    }
    for (;;) {
        if (named && (!valid_string(p) || *(*p)++ != ':')) {
            return 0;
        }
        if (!valid_value(p, depth + 1)) {
            return 0;
        }
        if (**p == end) {
            (*p)++;
            return 1;
        }
        if (*(*p)++ != ',') {
            return 0;
        }
    }
}

static int valid_value(const char **p, int depth)
{
    static const char *const words[] = {"true", "false", "null"};
    if (depth > 20) {
        return 0;
    }
    switch (**p) {
    case '{':
        return valid_list(p, '}', 1, depth);
    case '[':
        return valid_list(p, ']', 0, depth);
    case '"':
        return valid_string(p);
    default:
        break;
    }
    for (int i = 0; i < 3; i++) {
        if (strncmp(*p, words[i], strlen(words[i])) == 0) {
            *p += strlen(words[i]);
            return 1;
        }
    }
    return valid_number(p);
}

int json_valid(const char *text)
{
    return valid_value(&text, 0) && *text == '\0';
}
