/* SPDX-License-Identifier: MIT */
/* The end of a process whose invariant is broken.
 *
 * Writes straight to descriptor 2: stdio and the log may be what is broken,
 * and the log writer would not get the line out before abort(). Any thread.
 */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void rd_assert_failed(const char *cond, const char *file, int line)
{
    char text[256];
    int len = snprintf(text, sizeof(text),
                       "restd: %s:%d: assertion failed: ", file, line);
    if (len > 0 && (size_t)len < sizeof(text)) {
        size_t used = (size_t)len;
        int more = snprintf(text + used, sizeof(text) - used, "%s\n", cond);
        size_t room = sizeof(text) - used - 1;
        used += more < 0 ? 0 : (size_t)more < room ? (size_t)more : room;
        text[used - 1] = '\n';
        /* Nothing is left to do about a failure to write. */
        ssize_t ignored = write(STDERR_FILENO, text, used);
        (void)ignored;
    }
    abort();
}
