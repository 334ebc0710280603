/* SPDX-License-Identifier: MIT */
/* Checks on options that are set as fields. Any thread. */
#ifndef RD_SERVER_OPTIONS_H
#define RD_SERVER_OPTIONS_H

#include <restd/options.h>

/* RESTD_ERANGE with a sentence for the first value out of range. */
int rd_options_check(const struct restd_options *options,
                     struct restd_error *error);

/* Copies what a caller has set, NULL: the defaults, and checks it. As that, or
 * RESTD_EINVAL. */
int rd_options_copy(const struct restd_options *from, struct restd_options *to,
                    struct restd_error *error);
/* RESTD_ESTATE with a sentence for the first value that a server is built
 * around and that is neither the one it was asked for nor the one it uses. */
int rd_options_check_fixed(const struct restd_options *options,
                           const struct restd_options *asked,
                           const struct restd_options *used,
                           struct restd_error *error);

#endif
