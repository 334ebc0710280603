/* SPDX-License-Identifier: MIT */
/* Configuration files into a tree.
 * Thread: main, one at a time: libConfuse's lexer is the process's. */
#ifndef RD_DAEMON_CONFIG_PARSE_H
#define RD_DAEMON_CONFIG_PARSE_H

#include "daemon/config_tree.h"

/* Reads a file and what it includes; faults are noted in the tree's errors. */
void rd_config_parse(struct rd_config_tree *tree, const char *path);

#endif
