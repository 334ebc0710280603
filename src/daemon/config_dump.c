/* SPDX-License-Identifier: MIT */
/* `restdaemon -T`: the effective configuration as a file.
 *
 * Values are written as they were given, so what loads them again gets the
 * same; those that nobody gave are written with their default, and those that
 * have none as a comment. Thread: main.
 */
#include <stdio.h>
#include <string.h>

#include <restd/version.h>

#include "daemon/config_tree.h"

static void put_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\' || c == '$') {
            fprintf(out, "\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            fprintf(out, "\\x%02x", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

static void put_origin(FILE *out, struct rd_config_origin origin)
{
    fprintf(out, origin.line > 0 ? "  # %s:%d\n" : "  # %s\n", origin.file,
            origin.line);
}

static void put_directive(FILE *out, const struct rd_directive *directive,
                          const struct rd_config_node *node, const char *indent)
{
    static const struct rd_config_origin none = {"default", 0};
    struct rd_directive_range range;
    rd_directive_range(directive, &range);
    if (node == NULL && range.def == NULL) {
        fprintf(out, "%s# %s is not set\n", indent, directive->name);
        return;
    }
    /* Which of a route's directives fit depends on what it does. */
    fprintf(out, "%s%s%s = ", indent,
            node == NULL && directive->section == RD_SECTION_ROUTE ? "# " : "",
            directive->name);
    if (rd_directive_is_list(directive)) {
        fputc('{', out);
        for (unsigned i = 0; node != NULL && i < node->values.n; i++) {
            fputs(i > 0 ? ", " : "", out);
            put_quoted(out, node->values.items[i]);
        }
        fputc('}', out);
    } else {
        put_quoted(out, node != NULL ? node->values.items[0] : range.def);
    }
    put_origin(out, node != NULL ? node->origin : none);
}

static void put_directives(FILE *out, enum rd_section kind,
                           const struct rd_config_section *section,
                           const char *indent)
{
    const struct rd_directive *d = NULL;
    while ((d = rd_directive_next(d)) != NULL) {
        if (d->section == kind) {
            put_directive(
                out, d, section != NULL ? rd_tree_get(section, d->name) : NULL,
                indent);
        }
    }
}

static void put_titled(FILE *out, const struct rd_config_section *section)
{
    const struct rd_config_section *inner = section->next;
    fprintf(out, "\n%s ", rd_section_info(section->kind)->name);
    put_quoted(out, section->title);
    fputs(" {", out);
    put_origin(out, section->origin);
    put_directives(out, section->kind, section, "    ");
    for (; inner != NULL && inner->parent == section; inner = inner->next) {
        fprintf(out, "    %s {\n", rd_section_info(inner->kind)->name);
        put_directives(out, inner->kind, inner, "        ");
        fputs("    }\n", out);
    }
    fputs("}\n", out);
}

/* Some sections are a switch as well: without them nothing is done. */
static int is_switch(enum rd_section kind)
{
    return kind == RD_SECTION_CORS || kind == RD_SECTION_RATE_LIMIT;
}

static void put_plain(FILE *out, const struct rd_config *config,
                      enum rd_section kind)
{
    const struct rd_config_section *section =
        rd_tree_next(config->tree, kind, NULL);
    const char *name = rd_section_info(kind)->name;
    if (kind == RD_SECTION_TOP) {
        put_directives(out, kind, section, "");
    } else if (section == NULL && is_switch(kind)) {
        fprintf(out, "\n# there is no section %s\n", name);
    } else {
        fprintf(out, "\n%s {\n", name);
        put_directives(out, kind, section, "    ");
        fputs("}\n", out);
    }
}

void rd_config_dump(const struct rd_config *config, FILE *out)
{
    fprintf(out, "# restdaemon %s, configuration of %s\n", restd_version(),
            config->file != NULL ? config->file : "the built-ins");
    for (int kind = RD_SECTION_TOP; kind < RD_SECTIONS_N; kind++) {
        const struct rd_section_info *info = rd_section_info(kind);
        const struct rd_config_section *s = NULL;
        if (info->title == NULL && info->parent == RD_SECTION_TOP) {
            put_plain(out, config, kind);
        }
        while (info->title != NULL &&
               (s = rd_tree_next(config->tree, kind, s)) != NULL) {
            put_titled(out, s);
        }
    }
}
