/* SPDX-License-Identifier: MIT */
/* Error codes: every fallible call returns 0 or more for success and one of
 * the negative RESTD_E* values otherwise. */
#ifndef RESTD_ERROR_H
#define RESTD_ERROR_H

#include <restd/api.h>

/* X(name, value, text) */
#define RESTD_ERROR_MAP(X)                                                     \
    X(RESTD_EAGAIN, -1, "operation would block")                               \
    X(RESTD_EOF, -2, "end of stream")                                          \
    X(RESTD_ENOMEM, -3, "out of memory")                                       \
    X(RESTD_EINVAL, -4, "invalid argument")                                    \
    X(RESTD_ERANGE, -5, "value out of range")                                  \
    X(RESTD_ENOENT, -6, "no such name")                                        \
    X(RESTD_EEXIST, -7, "already exists")                                      \
    X(RESTD_ESTATE, -8, "not possible in this state")                          \
    X(RESTD_EADDRINUSE, -9, "address in use")                                  \
    X(RESTD_EACCES, -10, "permission denied")                                  \
    X(RESTD_EOS, -11, "operating system error")                                \
    X(RESTD_EBUDGET, -12, "memory budget too small")                           \
    X(RESTD_ELIMIT, -13, "limit reached")                                      \
    X(RESTD_ECLOSED, -14, "connection closed")

RESTD_BEGIN_DECLS

enum restd_error_code {
#define RESTD_X_(name, value, text) name = value,
    RESTD_ERROR_MAP(RESTD_X_)
#undef RESTD_X_
        RESTD_OK = 0
};

/**
 * What went wrong, for people. Filled by the calls that take one (NULL is
 * allowed there); untouched on success.
 */
struct restd_error {
    int code;          /* RESTD_E*, the same as the return value */
    int os_errno;      /* errno of the failed system call, else 0 */
    char message[240]; /* one line without newline, always terminated */
};

/** Short English text of a RESTD_E* code. Static memory. [any thread] */
RESTD_API const char *restd_strerror(int code);

/** Name of a RESTD_E* code, such as "RESTD_ENOMEM". Static memory.
 * [any thread] */
RESTD_API const char *restd_error_name(int code);

RESTD_END_DECLS

#endif
