/* SPDX-License-Identifier: MIT */
/* Whether a text is JSON as the library writes it. */
#ifndef TESTS_JSON_VALID_H
#define TESTS_JSON_VALID_H

/* 1 if `text` is one JSON value without white space and exponents. */
int json_valid(const char *text);

#endif
