/* SPDX-License-Identifier: MIT */
/* Version, of the headers as macros and of the library as a function. */
#ifndef RESTD_VERSION_H
#define RESTD_VERSION_H

#include <restd/api.h>

#define RESTD_VERSION_MAJOR 0
#define RESTD_VERSION_MINOR 1
#define RESTD_VERSION_PATCH 0
#define RESTD_VERSION "0.1.0"
/* 10203 for 1.2.3; for comparisons in #if. */
#define RESTD_VERSION_NUMBER                                                   \
    (RESTD_VERSION_MAJOR * 10000 + RESTD_VERSION_MINOR * 100 +                 \
     RESTD_VERSION_PATCH)

RESTD_BEGIN_DECLS

/** Version of the library that is linked, "MAJOR.MINOR.PATCH". Static memory.
 * [any thread] */
RESTD_API const char *restd_version(void);

/** 1 if the library was built with the named feature, else 0: "epoll", "regex"
 * (in patterns of routes), "gzip", "tls", "debug". [any thread] */
RESTD_API int restd_has(const char *feature);

RESTD_END_DECLS

#endif
