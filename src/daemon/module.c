/* SPDX-License-Identifier: MIT */
/* Handler modules by dlopen(3): all symbols are resolved at once, and stay
 * local, so that two modules never meet. The loader takes the same object once
 * for all snapshots that name it; a file that was replaced (renamed over, not
 * written into) is a new one, and the old lives as long as its snapshot.
 *
 * dlopen() compares names before it looks at files, and would give the old
 * object for the new file while the old snapshot lives. So each file is opened
 * by a name that only it has: the path behind a row of "." that spells its
 * inode, which no other file gets while the object is mapped.
 * Threads: see module.h. */
#include "daemon/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <restd/module.h>

#include "daemon/fault.h"

static int fail_at(const struct rd_config_module *module,
                   struct restd_error *error, const char *why)
{
    return rd_fault(error, RESTD_EINVAL, "%s:%d: module \"%s\": %s",
                    module->origin.file, module->origin.line, module->path,
                    why);
}

enum { BITS = 64, PREFIX_MAX = 3 * BITS };

/* "/." is a 0 and "//." a 1; returns the length. */
static size_t spell(uint64_t number, char prefix[PREFIX_MAX + 1])
{
    size_t len = 0;
    for (unsigned i = 0; i < BITS; i++, number >>= 1) {
        len += (size_t)snprintf(prefix + len, PREFIX_MAX + 1 - len, "%s",
                                (number & 1) != 0 ? "//." : "/.");
    }
    return len;
}

/* The loader maps what the headers say, and half a file, as while it is being
 * copied, would end the process by SIGBUS. NULL if it is whole. */
static const char *file_fault(const char *path)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) part;
    struct stat st;
    const char *why = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return strerror(errno);
    }
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_phentsize != sizeof part) {
        why = "is no shared object (invalid ELF header)";
    }
    const uint64_t size = why == NULL ? (uint64_t)st.st_size : 0;
    if (why == NULL &&
        (head.e_shoff > size ||
         (uint64_t)head.e_shnum * head.e_shentsize > size - head.e_shoff)) {
        why = "is only a part of a file";
    }
    for (unsigned i = 0; why == NULL && i < head.e_phnum; i++) {
        off_t at = (off_t)(head.e_phoff + (uint64_t)i * sizeof part);
        if (pread(fd, &part, sizeof part, at) != (ssize_t)sizeof part ||
            part.p_offset > size || part.p_filesz > size - part.p_offset) {
            why = "is only a part of a file";
        }
    }
    close(fd);
    return why;
}

/* NULL: RESTD_EINVAL. What the loader says begins with the name. */
static void *open_object(const struct rd_config_module *module,
                         struct restd_error *error)
{
    char name[PATH_MAX];
    struct stat st;
    if (stat(module->path, &st) < 0) {
        fail_at(module, error, strerror(errno));
        return NULL;
    }
    const char *fault = file_fault(module->path);
    if (fault != NULL) {
        fail_at(module, error, fault);
        return NULL;
    }
    size_t len = spell((uint64_t)st.st_ino ^ ((uint64_t)st.st_dev << 48), name);
    if (strlen(module->path) >= PATH_MAX - len) {
        fail_at(module, error, strerror(ENAMETOOLONG));
        return NULL;
    }
    snprintf(name + len, sizeof name - len, "%s", module->path);
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *why = dlerror();
        len = strlen(name);
        fail_at(module, error,
                strncmp(why, name, len) == 0 && why[len] == ':'
                    ? why + len + strlen(": ")
                    : why);
    }
    return handle;
}

static int check(const struct rd_config_module *module,
                 const struct restd_module *exported, struct restd_error *error)
{
    if (exported == NULL || exported->magic != RESTD_MODULE_MAGIC) {
        return fail_at(module, error,
                       "is no module (it exports no restd_module)");
    }
    if (strcmp(exported->fingerprint, RESTD_MODULE_FINGERPRINT) != 0) {
        return rd_fault(error, RESTD_EINVAL,
                        "%s:%d: module \"%s\" was built for \"%.60s\", this is "
                        "\"%s\": build it again",
                        module->origin.file, module->origin.line, module->path,
                        exported->fingerprint, RESTD_MODULE_FINGERPRINT);
    }
    return 0;
}

static int mount(const struct rd_config_module *module,
                 const struct restd_module *exported,
                 struct restd_router *router, struct restd_error *error)
{
    struct restd_router *own = NULL;
    struct restd_error why = {0};
    int rc = restd_router_new(RESTD_ROUTER_EXACT, &own);
    if (rc == 0) {
        rc = exported->routes(own, module->argument, &why);
    }
    if (rc == 0) {
        rc = restd_router_mount(
            router, module->base != NULL ? module->base : "", own, &why);
    }
    if (rc != 0) {
        restd_router_free(own);
        why.message[sizeof why.message - 1] = '\0';
        return fail_at(module, error,
                       why.message[0] != '\0' ? why.message
                                              : restd_strerror(rc));
    }
    return 0;
}

static int load(struct rd_modules *modules,
                const struct rd_config_module *module,
                struct restd_router *router, struct restd_error *error)
{
    void *handle = open_object(module, error);
    if (handle == NULL) {
        return RESTD_EINVAL;
    }
    modules->handles[modules->n++] = handle;
    const struct restd_module *exported = dlsym(handle, "restd_module");
    int rc = check(module, exported, error);
    return rc != 0 ? rc : mount(module, exported, router, error);
}

int rd_modules_load(struct rd_modules *modules, const struct rd_config *config,
                    struct restd_router *router, struct restd_error *error)
{
    if (config->modules_n > RD_MODULES_MAX) {
        return rd_fault(error, RESTD_ELIMIT, "more than %d modules",
                        RD_MODULES_MAX);
    }
    for (unsigned i = 0; i < config->modules_n; i++) {
        int rc = load(modules, &config->modules[i], router, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

void rd_modules_unload(struct rd_modules *modules)
{
    while (modules->n > 0) {
        dlclose(modules->handles[--modules->n]);
    }
}
