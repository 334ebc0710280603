/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over files, without libFuzzer: a main() for
 *
 *   int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
 *
 * usage: fuzz_NAME FOLDER|FILE...
 * A target that finds a fault ends the process by a signal. Fails also if
 * there was nothing to run. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "fuzz.h"

static int run_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    /* At least one octet, as libFuzzer has an address for an empty input. */
    uint8_t *data = rd_mem_alloc(size + 1);
    int rc = -1;
    if (file != NULL && data != NULL && fread(data, 1, size, file) == size) {
        /* Said first, so that it is known when the target dies. */
        printf("%s\n", path);
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, size);
        rc = 0;
    } else {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    rd_mem_free(data);
    if (file != NULL) {
        fclose(file);
    }
    return rc;
}

/* Number of files run, or -1. */
static long run(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    if (!S_ISDIR(st.st_mode)) {
        return run_file(path, (size_t)st.st_size) == 0 ? 1 : -1;
    }
    DIR *dir = opendir(path);
    struct dirent *entry;
    long files = 0;
    while (dir != NULL && files >= 0 && (entry = readdir(dir)) != NULL) {
        char name[4096];
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        long n = run(name);
        files = n < 0 ? -1 : files + n;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return files;
}

int main(int argc, char **argv)
{
    long files = 0;
    for (int i = 1; i < argc; i++) {
        long n = run(argv[i]);
        if (n < 0) {
            return EXIT_FAILURE;
        }
        files += n;
    }
    printf("%ld files\n", files);
    return files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
