/* SPDX-License-Identifier: MIT */
/* Filling in struct restd_error and mapping errno. Pure, any thread. */
#ifndef RD_BASE_ERROR_H
#define RD_BASE_ERROR_H

#include <restd/error.h>

/* Fills `error` (NULL: nothing) and returns `code`, so that a caller can say
 * `return rd_error(...)`. The text is cut to fit. */
int rd_error(struct restd_error *error, int code, const char *format, ...)
    RESTD_PRINTF(3, 4);

/* The same for a failed system call: maps `os_errno` to a RESTD_E* code,
 * appends ": " and its text, and returns the code. */
int rd_error_os(struct restd_error *error, int os_errno, const char *format,
                ...) RESTD_PRINTF(3, 4);

/* RESTD_E* code of an errno value. */
int rd_error_from_errno(int os_errno);

#endif
