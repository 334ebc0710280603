/* SPDX-License-Identifier: MIT */
/* What was built, from what and how. Static memory, any thread. */
#ifndef RD_DAEMON_VERSION_H
#define RD_DAEMON_VERSION_H

#include <stdio.h>

/* Revision of the source tree, "unknown" outside of one. */
const char *rd_version_revision(void);
/* RFC 3339 time of the source, NULL unless the build was given one. */
const char *rd_version_built(void);
const char *rd_version_compiler(void);
/* Feature `index`, from 0, of those that this build has; NULL behind the
 * last. */
const char *rd_version_feature(unsigned index);
/* What -V prints. */
void rd_version_print(FILE *out);

#endif
