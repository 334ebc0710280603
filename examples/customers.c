/* SPDX-License-Identifier: MIT */
/* The store behind rest_resource: a table and a mutex. Handlers, which must not
 * block, may wait for that: who has it only copies some bytes. JSON is read by
 * libjansson. */
#include "customers.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct customer table[CUSTOMERS_MAX]; /* id 0: the place is free */
static int last_id;

/* With the lock, as `taken`. */
static struct customer *find(int id)
{
    for (int i = 0; i < CUSTOMERS_MAX; i++) {
        if (table[i].id == id) {
            return &table[i];
        }
    }
    return NULL;
}

static int taken(const struct customer *by)
{
    for (int i = 0; i < CUSTOMERS_MAX; i++) {
        if (table[i].id != 0 && table[i].id != by->id &&
            strcmp(table[i].email, by->email) == 0) {
            return 1;
        }
    }
    return 0;
}

int customers_list(struct customer *to)
{
    int n = 0;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < CUSTOMERS_MAX; i++) {
        if (table[i].id != 0) {
            to[n++] = table[i];
        }
    }
    pthread_mutex_unlock(&lock);
    return n;
}

enum customers_result customers_get(int id, struct customer *to)
{
    pthread_mutex_lock(&lock);
    const struct customer *found = id > 0 ? find(id) : NULL;
    if (found != NULL) {
        *to = *found;
    }
    pthread_mutex_unlock(&lock);
    return found != NULL ? CUSTOMERS_OK : CUSTOMERS_NONE;
}

enum customers_result customers_put(struct customer *customer)
{
    enum customers_result result = CUSTOMERS_OK;

    pthread_mutex_lock(&lock);
    struct customer *place = find(customer->id);
    if (place == NULL) {
        result = customer->id != 0 ? CUSTOMERS_NONE : CUSTOMERS_FULL;
    } else if (taken(customer)) {
        result = CUSTOMERS_TAKEN;
    } else {
        customer->id = customer->id != 0 ? customer->id : ++last_id;
        *place = *customer;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

enum customers_result customers_remove(int id)
{
    pthread_mutex_lock(&lock);
    struct customer *found = id > 0 ? find(id) : NULL;
    if (found != NULL) {
        found->id = 0;
    }
    pthread_mutex_unlock(&lock);
    return found != NULL ? CUSTOMERS_OK : CUSTOMERS_NONE;
}

int customer_parse(const char *text, size_t len, struct customer *to)
{
    json_t *root = json_loadb(text, len, 0, NULL);
    const char *name, *email;
    int rc = -1;

    if (json_unpack(root, "{s:s, s:s}", "name", &name, "email", &email) == 0 &&
        strlen(name) < sizeof(to->name) && strlen(email) < sizeof(to->email)) {
        snprintf(to->name, sizeof(to->name), "%s", name);
        snprintf(to->email, sizeof(to->email), "%s", email);
        rc = 0;
    }
    json_decref(root);
    return rc;
}
