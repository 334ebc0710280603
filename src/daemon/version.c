/* SPDX-License-Identifier: MIT */
/* Build facts, for -V, /version and /status.
 *
 * This is the only file that is compiled with RD_REVISION (and RD_BUILT and
 * RD_LIBEV, all string literals), so a new revision costs one compilation.
 * There is no __DATE__: two builds of one tree are equal; a packager who wants
 * a time sets RD_BUILT, from SOURCE_DATE_EPOCH say. Any thread.
 */
#include "daemon/version.h"

#include <stddef.h>

#include <restd/version.h>

#ifndef RD_REVISION
#define RD_REVISION "unknown"
#endif

const char *rd_version_revision(void)
{
    return RD_REVISION;
}

const char *rd_version_built(void)
{
#ifdef RD_BUILT
    return RD_BUILT;
#else
    return NULL;
#endif
}

const char *rd_version_compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

const char *rd_version_feature(unsigned index)
{
    static const char *const names[] = {"epoll", "tls", "websocket", "gzip",
                                        "regex"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (restd_has(names[i]) && index-- == 0) {
            return names[i];
        }
    }
    return NULL;
}

void rd_version_print(FILE *out)
{
    fprintf(out, "restdaemon %s\n", restd_version());
    fprintf(out, "revision: %s\n", rd_version_revision());
    const char *built = rd_version_built();
    if (built != NULL) {
        fprintf(out, "built: %s\n", built);
    }
    fprintf(out, "compiler: %s\n", rd_version_compiler());
#ifdef RD_LIBEV
    fprintf(out, "libev: %s\n", RD_LIBEV);
#endif
    fputs("features:", out);
    const char *name;
    for (unsigned i = 0; (name = rd_version_feature(i)) != NULL; i++) {
        fprintf(out, " %s", name);
    }
    fputc('\n', out);
}
