/* SPDX-License-Identifier: MIT */
/* The store behind rest_resource: customers in memory, at most 100. All
 * functions copy, and may be called by any thread. */
#ifndef CUSTOMERS_H
#define CUSTOMERS_H

#include <stddef.h>

enum { CUSTOMERS_MAX = 100, CUSTOMER_TEXT_MAX = 64 };
enum customers_result {
    CUSTOMERS_OK,
    CUSTOMERS_NONE,  /* no customer of that id */
    CUSTOMERS_TAKEN, /* another one has that email address */
    CUSTOMERS_FULL
};

struct customer {
    int id; /* from 1 */
    char name[CUSTOMER_TEXT_MAX], email[CUSTOMER_TEXT_MAX];
};

/* Copies all of them to `to`, which has room for CUSTOMERS_MAX; how many. */
int customers_list(struct customer *to);
enum customers_result customers_get(int id, struct customer *to);
/* Stores one in place of that of its id, or, with id 0, as a new one, and sets
 * that. */
enum customers_result customers_put(struct customer *customer);
enum customers_result customers_remove(int id);

/* Reads {"name": "...", "email": "..."}; 0, or -1 if the text is not that. */
int customer_parse(const char *text, size_t len, struct customer *to);

#endif
