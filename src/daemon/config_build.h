/* SPDX-License-Identifier: MIT */
/* The steps of rd_config_load() behind the reading. Thread: main. */
#ifndef RD_DAEMON_CONFIG_BUILD_H
#define RD_DAEMON_CONFIG_BUILD_H

#include "daemon/config_tree.h"

/* Fills in a zeroed configuration from the tree, which it keeps. Values that
 * were refused are left out. */
void rd_config_build(struct rd_config *config, struct rd_config_tree *tree);
/* Notes what does not go together. */
void rd_config_check(const struct rd_config *config);
/* Notes routes that are wrong or equal (config_routes.c). */
void rd_config_check_routes(const struct rd_config *config);

#endif
