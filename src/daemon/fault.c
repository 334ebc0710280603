/* SPDX-License-Identifier: MIT */
/* Sentences about what went wrong, for the calls of the daemon's modules.
 * A sentence that is too long is cut; nothing is allocated. Any thread.
 */
#include "daemon/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int fill(struct restd_error *error, int code, int os_errno,
                const char *format, va_list list) RESTD_PRINTF(4, 0);

static int fill(struct restd_error *error, int code, int os_errno,
                const char *format, va_list list)
{
    if (error == NULL) {
        return code;
    }
    error->code = code;
    error->os_errno = os_errno;
    int n = vsnprintf(error->message, sizeof error->message, format, list);
    if (os_errno != 0 && n >= 0 && (size_t)n < sizeof error->message) {
        snprintf(error->message + n, sizeof error->message - (size_t)n, ": %s",
                 strerror(os_errno));
    }
    return code;
}

int rd_fault(struct restd_error *error, int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fill(error, code, 0, format, list);
    va_end(list);
    return code;
}

int rd_fault_os(struct restd_error *error, int os_errno, const char *format,
                ...)
{
    int code = os_errno == EACCES || os_errno == EPERM ? RESTD_EACCES
               : os_errno == EADDRINUSE                ? RESTD_EADDRINUSE
               : os_errno == ENOMEM                    ? RESTD_ENOMEM
                                                       : RESTD_EOS;
    va_list list;
    va_start(list, format);
    fill(error, code, os_errno, format, list);
    va_end(list);
    return code;
}
