/* SPDX-License-Identifier: MIT */
/* Modules: shared objects that add routes to a server which loads them, such
 * as restdaemon by its directive `module`. A module is C code with the public
 * interface of this library, whose functions it finds in the program that has
 * loaded it, and one line:
 *
 *     RESTD_MODULE("hello", add_routes)
 */
#ifndef RESTD_MODULE_H
#define RESTD_MODULE_H

#include <restd/api.h>
#include <restd/error.h>
#include <restd/options.h>
#include <restd/plugin.h>
#include <restd/router.h>
#include <restd/version.h>

RESTD_BEGIN_DECLS

/** "restd" read as a little-endian number, to tell a module from any other
 * object. */
#define RESTD_MODULE_MAGIC UINT64_C(0x6474736572)

/**
 * Adds a module's routes and plugins to a router of its own, which its loader
 * mounts at the configured base. Called once for each time that the
 * configuration is loaded, so what it keeps belongs into `data` of routes and
 * plugins, which `free` of a plugin gives back. `argument` is the text that the
 * configuration has for the module, NULL for none; it dies with the call.
 * Returns 0, or a negative RESTD_E* with a sentence in `error`; then the
 * configuration is refused. Thread: the loader's main thread.
 */
typedef int restd_module_fn(struct restd_router *router, const char *argument,
                            struct restd_error *error);

/** What a module exports under the name `restd_module`. Static memory. */
struct restd_module {
    uint64_t magic;          /* RESTD_MODULE_MAGIC */
    const char *fingerprint; /* RESTD_MODULE_FINGERPRINT of its headers */
    const char *name;        /* for messages */
    restd_module_fn *routes;
};
extern RESTD_API const struct restd_module restd_module;

#define RESTD_MODULE_TEXT_(x) #x
#define RESTD_MODULE_NUMBER_(x) RESTD_MODULE_TEXT_(x)
/** The binary interface that a module was built for, as text: the version that
 * changes with it (before 1.0 the minor one as well) and the size of a pointer.
 * A loader takes no module with another one than its own. */
#define RESTD_MODULE_FINGERPRINT                                                 \
    "restd " RESTD_MODULE_NUMBER_(RESTD_VERSION_MAJOR) "." RESTD_MODULE_NUMBER_( \
        RESTD_VERSION_MINOR) " pointer " RESTD_MODULE_NUMBER_(__SIZEOF_POINTER__)

/** Defines what a module exports. */
#define RESTD_MODULE(name, routes)                                             \
    const struct restd_module restd_module = {                                 \
        RESTD_MODULE_MAGIC, RESTD_MODULE_FINGERPRINT, name, routes};

RESTD_END_DECLS

#endif
