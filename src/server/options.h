/* SPDX-License-Identifier: MIT */
/* Checks on options that are set as fields. Any thread. */
#ifndef RD_SERVER_OPTIONS_H
#define RD_SERVER_OPTIONS_H

#include <restd/options.h>

/* RESTD_ERANGE with a sentence for the first value out of range. */
int rd_options_check(const struct restd_options *options,
                     struct restd_error *error);

#endif
