/* SPDX-License-Identifier: MIT */
/* Error codes, their texts, and filling in struct restd_error.
 *
 * Codes, names and texts all come from RESTD_ERROR_MAP. Messages are made in
 * the caller's struct, so that reporting an error never allocates. Control
 * characters are blanked, for the message is promised to be one line and often
 * quotes what a user typed. Pure, any thread.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *restd_strerror(int code)
{
    switch (code) {
    case RESTD_OK:
        return "success";
#define X(name, value, text)                                                   \
    case value:                                                                \
        return text;
        RESTD_ERROR_MAP(X)
#undef X
    default:
        return "unknown error";
    }
}

const char *restd_error_name(int code)
{
    switch (code) {
    case RESTD_OK:
        return "RESTD_OK";
#define X(name, value, text)                                                   \
    case value:                                                                \
        return #name;
        RESTD_ERROR_MAP(X)
#undef X
    default:
        return "RESTD_UNKNOWN";
    }
}

static void message_clean(char *message)
{
    for (unsigned char *p = (unsigned char *)message; *p != '\0'; p++) {
        if (*p < 0x20 || *p == 0x7f) {
            *p = ' ';
        }
    }
}

RESTD_PRINTF(4, 0)
static void error_fill(struct restd_error *error, int code, int os_errno,
                       const char *format, va_list args)
{
    error->code = code;
    error->os_errno = os_errno;
    if (vsnprintf(error->message, sizeof(error->message), format, args) < 0) {
        error->message[0] = '\0';
    }
    message_clean(error->message);
}

int rd_error(struct restd_error *error, int code, const char *format, ...)
{
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        error_fill(error, code, 0, format, args);
        va_end(args);
    }
    return code;
}

int rd_error_os(struct restd_error *error, int os_errno, const char *format,
                ...)
{
    int code = rd_error_from_errno(os_errno);
    if (error != NULL) {
        va_list args;
        va_start(args, format);
        error_fill(error, code, os_errno, format, args);
        va_end(args);
        char buf[96];
        const char *text = strerror_r(os_errno, buf, sizeof(buf));
        size_t len = strlen(error->message);
        snprintf(error->message + len, sizeof(error->message) - len, ": %s",
                 text);
    }
    return code;
}

int rd_error_from_errno(int os_errno)
{
    switch (os_errno) {
    case EAGAIN:
#if EWOULDBLOCK != EAGAIN
    case EWOULDBLOCK:
#endif
    case EINPROGRESS:
    case EINTR:
        return RESTD_EAGAIN;
    case ENOMEM:
    case ENOBUFS:
        return RESTD_ENOMEM;
    case EINVAL:
    case ENAMETOOLONG:
        return RESTD_EINVAL;
    case ERANGE:
    case EOVERFLOW:
        return RESTD_ERANGE;
    case ENOENT:
    case ENOTDIR:
        return RESTD_ENOENT;
    case EEXIST:
        return RESTD_EEXIST;
    case EADDRINUSE:
        return RESTD_EADDRINUSE;
    case EACCES:
    case EPERM:
    case EROFS:
        return RESTD_EACCES;
    case EMFILE:
    case ENFILE:
        return RESTD_ELIMIT;
    case EPIPE:
    case ECONNRESET:
    case ECONNABORTED:
    case ENOTCONN:
        return RESTD_ECLOSED;
    default:
        return RESTD_EOS;
    }
}
