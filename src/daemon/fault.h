/* SPDX-License-Identifier: MIT */
/* Fills in a struct restd_error, as the library does for its own calls. The
 * code decides how the daemon exits. Any thread. */
#ifndef RD_DAEMON_FAULT_H
#define RD_DAEMON_FAULT_H

#include <restd/error.h>

/* Both return the code that `error` (may be NULL) now holds. */
int rd_fault(struct restd_error *error, int code, const char *format, ...)
    RESTD_PRINTF(3, 4);
/* The text of `os_errno` is added after a colon and the code follows it. */
int rd_fault_os(struct restd_error *error, int os_errno, const char *format,
                ...) RESTD_PRINTF(3, 4);

#endif
