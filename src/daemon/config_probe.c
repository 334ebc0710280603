/* SPDX-License-Identifier: MIT */
/* Opens what a configuration names: files, folders, modules, logs.
 *
 * As `restdaemon -t` does it, beside a daemon that runs on the same
 * configuration, so nothing is bound, created, written or kept. That a memory
 * budget is large enough the library itself says, by making a server that is
 * never started. Thread: main.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <restd/restd.h>

#include "daemon/admin.h"
#include "daemon/config_tree.h"

static const struct rd_config_origin nowhere = {"configuration", 0};

/* 0 for a regular file that can be read, else an errno. */
static int file_fault(const char *path)
{
    struct stat st;
    int rc = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0) {
        rc = errno;
    } else if (!S_ISREG(st.st_mode)) {
        rc = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    }
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

static void probe_file(struct rd_config_errors *errors,
                       struct rd_config_origin origin, const char *what,
                       const char *path)
{
    int fault = file_fault(path);
    if (fault != 0) {
        rd_config_fault(errors, EX_CONFIG, origin, "%s %.300s: %s", what, path,
                        fault == EINVAL ? "not a regular file"
                                        : strerror(fault));
    }
}

static void probe_docroot(struct rd_config_errors *errors,
                          const struct rd_config_route *route)
{
    struct restd_files_options options;
    struct restd_files *files;
    struct restd_error error;
    restd_files_options_init(&options);
    options.root = route->text;
    options.index = route->index;
    options.cache_control = route->cache_control;
    if (restd_files_new(&options, &files, &error) < 0) {
        rd_config_fault(errors, EX_CONFIG, route->origin, "docroot: %s",
                        error.message);
    } else {
        restd_files_free(files);
    }
}

/* A file that will be made or appended to. */
static void probe_output(struct rd_config_errors *errors,
                         struct rd_config_origin origin, const char *path)
{
    char folder[PATH_MAX];
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
    } else if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0) {
        return;
    } else if (errno == ENOENT) {
        const char *slash = strrchr(path, '/');
        snprintf(folder, sizeof folder, "%.*s",
                 slash == NULL ? 1 : (int)(slash - path + 1),
                 slash == NULL ? "." : path);
        if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0) {
            return;
        }
    }
    rd_config_fault(errors, EX_CONFIG, origin, "%.300s cannot be written: %s",
                    path, strerror(errno));
}

static void probe_outputs(const struct rd_config *config,
                          struct rd_config_errors *errors)
{
    if (config->log.target == RD_LOG_FILE) {
        probe_output(errors,
                     rd_tree_origin(config->tree, RD_SECTION_LOG, "file"),
                     config->log.path);
    }
    if (config->access_log.target == RD_LOG_FILE) {
        probe_output(
            errors, rd_tree_origin(config->tree, RD_SECTION_ACCESS_LOG, "file"),
            config->access_log.path);
    }
}

static void probe_pid_file(const struct rd_config *config,
                           struct rd_config_errors *errors)
{
    if (config->pid_file != NULL) {
        probe_output(errors,
                     rd_tree_origin(config->tree, RD_SECTION_TOP, "pid_file"),
                     config->pid_file);
    }
}

/* Whether the options fit together and into the memory budget. */
static void probe_options(const struct rd_config *config,
                          struct rd_config_errors *errors)
{
    struct restd_options options = config->options;
    struct restd_server *server;
    struct restd_error error;
    if (rd_config_has_admin(config)) {
        options.memory_budget_bytes -= RD_ADMIN_MEMORY_BYTES;
    }
    if (restd_server_new(&options, &server, &error) < 0) {
        rd_config_fault(errors, EX_CONFIG, nowhere, "%s", error.message);
    } else {
        restd_server_free(server);
    }
}

int rd_config_probe(const struct rd_config *config, int with_server,
                    struct rd_config_errors *errors)
{
    memset(errors, 0, sizeof *errors);
    for (unsigned i = 0; i < config->routes_n; i++) {
        const struct rd_config_route *route = &config->routes[i];
        if (route->kind == RD_ROUTE_FILE) {
            probe_file(errors, route->origin, "file", route->text);
        } else if (route->kind == RD_ROUTE_DOCROOT) {
            probe_docroot(errors, route);
        }
    }
    for (unsigned i = 0; i < config->modules_n; i++) {
        probe_file(errors, config->modules[i].origin, "module",
                   config->modules[i].path);
    }
    probe_outputs(config, errors);
    /* A start makes it and says itself what is wrong; a reload and an upgrade
     * have it already, and may be another account by now. */
    if (with_server) {
        probe_pid_file(config, errors);
        probe_options(config, errors);
    }
    return errors->n == 0 ? 0 : -1;
}
