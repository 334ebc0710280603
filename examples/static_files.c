/* SPDX-License-Identifier: MIT */
/* Serves a folder, first argument: below /static/ with a lifetime for caches,
 * at / without. HEAD, ranges, preconditions, NAME.gz for those who take gzip,
 * and the index of folders come by themselves; what lies outside the folder,
 * or is hidden, is not there. */
#include "example.h"

static int make_files(const char *root, const char *cache_control,
                      struct restd_files **files, struct restd_error *error)
{
    struct restd_files_options options;

    restd_files_options_init(&options);
    options.root = root;
    options.cache_control = cache_control;
    return restd_files_new(&options, files, error);
}

int main(int argc, char **argv)
{
    struct restd_files *cached = NULL;
    struct restd_files *plain = NULL;
    struct restd_error error;
    int status;

    if (argc < 2) {
        fprintf(stderr, "usage: static_files FOLDER [PORT]\n");
        return EXIT_FAILURE;
    }
    if (make_files(argv[1], "public, max-age=3600", &cached, &error) == 0 &&
        make_files(argv[1], NULL, &plain, &error) == 0) {
        const struct example_route routes[] = {
            {"GET", "/static/{path...}", restd_files_handler, cached},
            {"GET", "/{path...}", restd_files_handler, plain},
        };
        /* The port comes behind the folder. */
        status = example_main(routes, EXAMPLE_N(routes), argc - 1, argv + 1);
    } else {
        status = example_failed(&error);
    }
    restd_files_free(plain);
    restd_files_free(cached);
    return status;
}
