/* SPDX-License-Identifier: MIT */
/* Values of directives: from text, by their types.
 * Thread: main, as users and groups are looked up. */
#ifndef RD_DAEMON_CONFIG_VALUE_H
#define RD_DAEMON_CONFIG_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/config_table.h"

/* Checks a value, or one item of a list, and gives its number, if it is kept
 * as one: in the unit of the directive. Returns 0, or -1 with what follows the
 * directive's name in a sentence ("must be ..., not ...") in `why`. */
int rd_value_parse(const struct rd_directive *directive, const char *text,
                   uint64_t *number, char *why, size_t size);
/* Stores it where the table says, relative to `base`. A directive that has no
 * place is left alone. `text` must live as long as what `base` points to. */
void rd_value_store(const struct rd_directive *directive, void *base,
                    uint64_t number, const char *text);

#endif
