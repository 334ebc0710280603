/* SPDX-License-Identifier: MIT */
/* Folders of tests; see folder.h. */
#include "support/folder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void folder_make(char path[FOLDER_MAX])
{
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(path, FOLDER_MAX, "%s/restd-XXXXXX",
                     tmp != NULL ? tmp : "/tmp");

    ck_assert_msg(n < FOLDER_MAX, "TMPDIR is too long");
    ck_assert_ptr_nonnull(mkdtemp(path));
}

void folder_remove(const char *path)
{
    ck_assert_int_eq(rmdir(path), 0);
}
