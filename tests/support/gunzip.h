/* SPDX-License-Identifier: MIT */
/* zlib's own reader of gzip, as the oracle for what we send. */
#ifndef RD_TESTS_GUNZIP_H
#define RD_TESTS_GUNZIP_H

#include <stddef.h>

/* Length of what exactly one whole gzip member of `len` bytes holds; -1 if it
 * is none, is cut, has something behind it, or holds more than `size`. */
long gunzip(const void *data, size_t len, char *out, size_t size);

#endif
