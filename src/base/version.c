/* SPDX-License-Identifier: MIT */
/* Version and built-in features of the library.
 *
 * The Makefile defines RD_WITH_<FEATURE> for what a build may leave out.
 * Static memory only, any thread.
 */
#include <restd/version.h>

#include <string.h>

static const char *const features[] = {
    "epoll", "regex",
#ifdef RD_WITH_GZIP
    "gzip",
#endif
#ifdef RD_WITH_TLS
    "tls",
#endif
#ifdef RD_DEBUG
    "debug",
#endif
};

const char *restd_version(void)
{
    return RESTD_VERSION;
}

int restd_has(const char *feature)
{
    if (feature == NULL) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        if (strcmp(features[i], feature) == 0) {
            return 1;
        }
    }
    return 0;
}
