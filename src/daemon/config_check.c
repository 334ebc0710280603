/* SPDX-License-Identifier: MIT */
/* What does not go together in a configuration, although each value is right.
 *
 * Everything is found, not only the first. Nothing is opened: that is
 * config_probe.c. Thread: main.
 */
#include "daemon/config_build.h"

#include <ctype.h>
#include <string.h>
#include <sysexits.h>

#include <restd/restd.h>

#include "daemon/address.h"
#include "daemon/admin.h"

#define LISTEN_NAME_MAX 32

static struct rd_config_errors *errors_of(const struct rd_config *config)
{
    return config->tree->errors;
}

static int is_listen_name(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++) {
        if (!isalnum((unsigned char)name[i]) &&
            strchr("_.-", name[i]) == NULL) {
            return 0;
        }
    }
    return len > 0 && len <= LISTEN_NAME_MAX;
}

static void check_against(const struct rd_config *config,
                          const struct rd_config_listen *l,
                          const struct rd_config_listen *earlier)
{
    if (strcmp(l->name, earlier->name) == 0) {
        rd_config_fault(errors_of(config), EX_CONFIG, l->origin,
                        "there is a listener \"%s\" already, from %.300s:%d",
                        l->name, earlier->origin.file, earlier->origin.line);
    } else if (l->address != NULL && earlier->address != NULL &&
               strcmp(l->address, earlier->address) == 0 &&
               !rd_address_is_any_port(l->address)) {
        rd_config_fault(errors_of(config), EX_CONFIG, l->origin,
                        "listener \"%s\" already has the address %.120s",
                        earlier->name, l->address);
    }
}

/* Whether the section has an address, if a bad one. */
static int has_address(const struct rd_config *config, unsigned index)
{
    const struct rd_config_section *s = NULL;
    do {
        s = rd_tree_next(config->tree, RD_SECTION_LISTEN, s);
    } while (index-- > 0 && s != NULL);
    return s != NULL && rd_tree_get(s, "address") != NULL;
}

/* The administration knows its clients by a unix socket's permissions. */
static void check_tcp(const struct rd_config *config,
                      const struct rd_config_listen *l)
{
    if (l->admin) {
        rd_config_fault(errors_of(config), EX_CONFIG, l->origin,
                        "listener \"%.60s\": admin needs a unix socket",
                        l->name);
    } else if (l->uid != UINT32_MAX || l->gid != UINT32_MAX || l->mode != -1) {
        rd_config_fault(errors_of(config), EX_CONFIG, l->origin,
                        "listener \"%.60s\": mode, owner and group are "
                        "those of a unix socket",
                        l->name);
    }
}

static void check_listens(const struct rd_config *config)
{
    for (unsigned i = 0; i < config->listens_n; i++) {
        const struct rd_config_listen *l = &config->listens[i];
        if (!is_listen_name(l->name)) {
            rd_config_fault(errors_of(config), EX_CONFIG, l->origin,
                            "the name of a listener has 1 to %d letters, "
                            "digits, '_', '.' and '-', not \"%.60s\"",
                            LISTEN_NAME_MAX, l->name);
        }
        if (!has_address(config, i)) {
            rd_config_fault(errors_of(config), EX_CONFIG, l->origin,
                            "listener \"%.60s\" has no address", l->name);
        }
        if (l->address != NULL && !rd_address_is_unix(l->address)) {
            check_tcp(config, l);
        }
        for (unsigned j = 0; j < i; j++) {
            check_against(config, l, &config->listens[j]);
        }
    }
}

static void check_log(const struct rd_config *config, enum rd_section kind,
                      const struct rd_config_log *log)
{
    const struct rd_config_section *s = rd_tree_next(config->tree, kind, NULL);
    const struct rd_config_node *file =
        s != NULL ? rd_tree_get(s, "file") : NULL;
    if (file != NULL && rd_tree_get(s, "target") == NULL) {
        /* Elsewhere in vain: with a target it may be kept for later. */
        rd_config_fault(errors_of(config), EX_CONFIG, file->origin,
                        "'file' of '%s' needs target = file",
                        kind == RD_SECTION_LOG ? "log" : "access_log");
    }
    if (log->target == RD_LOG_FILE && file == NULL) {
        rd_config_fault(errors_of(config), EX_CONFIG,
                        rd_tree_origin(config->tree, kind, "target"),
                        "target = file needs a 'file'");
    }
}

static void check_marks(const struct rd_config *config)
{
    if (config->options.output_low_bytes > config->options.output_high_bytes) {
        const struct rd_config_section *s =
            rd_tree_next(config->tree, RD_SECTION_TUNING, NULL);
        rd_config_fault(errors_of(config), EX_CONFIG,
                        rd_tree_origin(config->tree, RD_SECTION_TUNING,
                                       rd_tree_get(s, "output_low") != NULL
                                           ? "output_low"
                                           : "output_high"),
                        "output_low must not be above output_high");
    }
}

static void check_cors(const struct rd_config *config)
{
    struct restd_plugin plugin;
    struct restd_error error;
    struct rd_config_origin origin =
        rd_tree_origin(config->tree, RD_SECTION_CORS, "origins");
    if (!config->plugins.cors.is_set) {
        return;
    }
    if (config->plugins.cors.origins == NULL) {
        rd_config_fault(errors_of(config), EX_CONFIG, origin,
                        "cors needs 'origins'");
    } else if (rd_config_cors(&config->plugins.cors, &plugin, &error) < 0) {
        rd_config_fault(errors_of(config), EX_CONFIG, origin, "%s",
                        error.message);
    } else {
        plugin.free(plugin.data);
    }
}

static void check_modules(const struct rd_config *config)
{
    for (unsigned i = 0; i < config->modules_n; i++) {
        const struct rd_config_module *m = &config->modules[i];
        if (*m->path != '/') {
            rd_config_fault(errors_of(config), EX_CONFIG, m->origin,
                            "module \"%.200s\" must be a path that begins "
                            "with '/'",
                            m->path);
        }
        if (m->base != NULL && *m->base != '/') {
            rd_config_fault(errors_of(config), EX_CONFIG, m->origin,
                            "the base of a module must begin with '/'");
        }
    }
}

/* The administration has a part of it for itself. */
static void check_budget(const struct rd_config *config)
{
    struct restd_option_info info;
    for (unsigned i = 0; restd_option_info(i, &info) == 0; i++) {
        if (strcmp(info.name, "memory_budget") == 0 &&
            rd_config_has_admin(config) &&
            config->options.memory_budget_bytes <
                info.min + RD_ADMIN_MEMORY_BYTES) {
            rd_config_fault(
                errors_of(config), EX_CONFIG,
                rd_tree_origin(config->tree, RD_SECTION_TOP, "memory_budget"),
                "memory_budget must be at least %uM with an admin listener, "
                "which keeps %uM of it",
                (unsigned)((info.min + RD_ADMIN_MEMORY_BYTES) >> 20),
                RD_ADMIN_MEMORY_BYTES >> 20);
        }
    }
}

void rd_config_check(const struct rd_config *config)
{
    check_budget(config);
    check_listens(config);
    check_log(config, RD_SECTION_LOG, &config->log);
    check_log(config, RD_SECTION_ACCESS_LOG, &config->access_log);
    check_marks(config);
    check_cors(config);
    check_modules(config);
    rd_config_check_routes(config);
}
