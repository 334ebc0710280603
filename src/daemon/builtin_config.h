/* SPDX-License-Identifier: MIT */
/* Which built-in resources are served, as a configuration says it. */
#ifndef RD_DAEMON_BUILTIN_CONFIG_H
#define RD_DAEMON_BUILTIN_CONFIG_H

#include <stdint.h>

struct rd_config_builtins {
    uint8_t status;
    uint8_t health; /* /livez, /readyz, /healthz */
    uint8_t version;
    uint8_t index; /* the list at "/" */
    uint8_t echo;  /* and /ok: for tries, not for a service */
};

#endif
