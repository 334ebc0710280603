/* SPDX-License-Identifier: MIT */
/* Configuration files, by way of the daemon's whole loading. Checked: there is
 * a configuration or there are errors, their text is whole lines without
 * control characters, and what a configuration is dumped as loads again to the
 * same dump but for the origins. */
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/args.h"
#include "daemon/config.h"
#include "fuzz.h"

static struct rd_config_errors errors;

static struct rd_config *load(const void *data, size_t size)
{
    static char path[64], name[] = "restdaemon", dash_c[] = "-c";
    static struct rd_args args;
    char *argv[] = {name, dash_c, path, NULL};
    struct rd_config *config = NULL;
    int fd = memfd_create("config", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    FUZZ_CHECK(lseek(fd, 0, SEEK_SET) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    FUZZ_CHECK(rd_args_parse(&args, 3, argv) == 0);
    int rc = rd_config_load(&config, &args, &errors);
    close(fd);
    FUZZ_CHECK((rc == 0) == (config != NULL) && (rc == 0) == (errors.n == 0));
    return config;
}

static char *dump(const struct rd_config *config, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    FUZZ_CHECK(out != NULL);
    rd_config_dump(config, out);
    FUZZ_CHECK(fclose(out) == 0 && text != NULL);
    return text;
}

/* Origins, which stand behind two blanks and a '#', made equal. */
static void hide_origins(char *text)
{
    char *end = text;
    for (char *line = text; line != NULL && *line != '\0';) {
        char *next = strchr(line, '\n');
        char *last = NULL;
        size_t len = next != NULL ? (size_t)(next - line) + 1 : strlen(line);
        for (size_t i = 0; i + 3 < len; i++) {
            last = memcmp(line + i, "  # ", 4) == 0 ? line + i : last;
        }
        size_t keep = last != NULL ? (size_t)(last - line) : len;
        memmove(end, line, line == text ? 0 : keep);
        end += line == text ? 0 : keep;
        line = next != NULL ? next + 1 : NULL;
    }
    *end = '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd_config *config;
    if (size > 100000 || (config = load(data, size)) == NULL) {
        for (unsigned i = 0; size <= 100000 && i < errors.shown_n; i++) {
            unsigned char c = (unsigned char)errors.text[i];
            FUZZ_CHECK((c >= 0x20 && c != 0x7f) || c == '\n');
        }
        return 0;
    }
    size_t first_size, again_size;
    char *first = dump(config, &first_size);
    rd_config_free(config);
    config = load(first, first_size);
    if (config == NULL) {
        fputs(errors.text, stderr);
    }
    FUZZ_CHECK(config != NULL);
    char *again = dump(config, &again_size);
    rd_config_free(config);
    hide_origins(first);
    hide_origins(again);
    FUZZ_CHECK(strcmp(first, again) == 0);
    free(first);
    free(again);
    return 0;
}
