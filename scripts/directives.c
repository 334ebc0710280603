/* SPDX-License-Identifier: MIT */
/* Writes what is made from the table of directives, to standard output:
 *
 *   directives man     the sections of restdaemon.conf(5) that list them
 *   directives sample  conf/restdaemon.conf
 *   directives bash    conf/completion/restdaemon.bash
 *
 * `make directives` puts the three where they belong; a test compares. A tool
 * of the build, so that the daemon need not carry it. Single-threaded.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config_table.h"

#define WIDTH 78

/* "limits.connections", for the reader. */
static int is_settable(const struct rd_section_info *info)
{
    return info->title == NULL && info->parent == RD_SECTION_TOP;
}

/* Name of what a value is. */
static const char *type_name(enum rd_type type)
{
    switch (type) {
    case RD_TYPE_BOOL:
        return "boolean";
    case RD_TYPE_COUNT:
        return "count";
    case RD_TYPE_SIZE:
        return "size";
    case RD_TYPE_DURATION:
        return "time";
    case RD_TYPE_STRING:
        return "text";
    case RD_TYPE_ENUM:
    case RD_TYPE_WORD:
        return "word";
    case RD_TYPE_FORMAT:
        return "format";
    case RD_TYPE_MODE:
        return "mode";
    case RD_TYPE_USER:
    case RD_TYPE_UID:
        return "user";
    case RD_TYPE_GROUP:
    case RD_TYPE_GID:
        return "group";
    case RD_TYPE_ADDRESS:
        return "address";
    case RD_TYPE_PATH:
        return "path";
    case RD_TYPE_MEDIA:
        return "type";
    case RD_TYPE_FIELD:
        return "value";
    case RD_TYPE_NETWORKS:
        return "networks";
    case RD_TYPE_FIELDS:
        return "fields";
    }
    return "value";
}

/* What could stand there where there is no default. */
static const char *example(const struct rd_directive *d)
{
    if (strcmp(d->name, "origins") == 0) {
        return "\"https://a.example\"";
    }
    switch (d->type) {
    case RD_TYPE_USER:
    case RD_TYPE_GROUP:
    case RD_TYPE_UID:
    case RD_TYPE_GID:
        return "root";
    case RD_TYPE_MODE:
        return "0660";
    case RD_TYPE_PATH:
        return "\"/path/to/file\"";
    case RD_TYPE_NETWORKS:
        return "{\"127.0.0.0/8\", \"::1\"}";
    case RD_TYPE_FIELDS:
        return "{\"X-Name: value\"}";
    default:
        return "\"text\"";
    }
}

/* "1M to 1G", or "a|b"; "" for what has no range. */
static void range_text(const struct rd_directive *d, char *buf, size_t size)
{
    char least[32], most[32];
    struct rd_directive_range range;
    rd_directive_range(d, &range);
    buf[0] = '\0';
    if (d->type == RD_TYPE_COUNT || d->type == RD_TYPE_SIZE ||
        d->type == RD_TYPE_DURATION) {
        rd_directive_format(least, sizeof least, range.min, range.unit);
        rd_directive_format(most, sizeof most, range.max, range.unit);
        snprintf(buf, size, "%s to %s%s%s", least, most,
                 d->words != NULL ? " or " : "",
                 d->words != NULL ? d->words : "");
    } else if (d->words != NULL) {
        snprintf(buf, size, "%s%s", d->words,
                 d->type == RD_TYPE_FORMAT ? ", or a pattern" : "");
    }
}

static const char *default_of(const struct rd_directive *d,
                              struct rd_directive_range *range)
{
    rd_directive_range(d, range);
    return range->def;
}

static int needs_quotes(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyz_"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.")] != '\0';
}

/* Text in lines that begin with `start`. */
static void put_wrapped(const char *start, const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t len = strcspn(text, " ");
        if (column > 0 && column + 1 + len > WIDTH) {
            putchar('\n');
            column = 0;
        }
        column +=
            (size_t)printf("%s%.*s", column == 0 ? start : " ", (int)len, text);
        text += len + (text[len] == ' ');
    }
    putchar('\n');
}

/* --- manual page ---------------------------------------------------------- */

/* Text for mdoc: one clause on each line, nothing that begins with a dot. */
static void man_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\\') {
            fputs("\\e", stdout);
        } else if (*text == '.' && text[1] == ' ') {
            fputs(".\n", stdout);
            text++;
        } else {
            putchar(*text);
        }
    }
}

static void man_directive(const struct rd_directive *d)
{
    char range[160];
    struct rd_directive_range unused;
    const char *def = default_of(d, &unused);
    range_text(d, range, sizeof range);
    printf(".It Ic %s No = Ar %s\n", d->name, type_name(d->type));
    putchar(toupper((unsigned char)*d->help));
    man_text(d->help + 1);
    puts(".");
    if (*range != '\0') {
        printf("Values: %s.\n", range);
    }
    if (def != NULL) {
        printf("Default:\n.Li \"%s\" .\n", def);
    }
    if (d->restart) {
        puts("A change needs a restart.");
    }
}

static void man(void)
{
    for (int kind = RD_SECTION_TOP; kind < RD_SECTIONS_N; kind++) {
        const struct rd_section_info *info = rd_section_info(kind);
        const struct rd_directive *d = NULL;
        if (kind == RD_SECTION_TOP) {
            puts(".Ss Outside of sections");
        } else if (info->parent != RD_SECTION_TOP) {
            printf(".Ss %s of a %s\n", info->name,
                   rd_section_info(info->parent)->name);
        } else if (info->title != NULL) {
            printf(".Ss %s \"%s\"\n", info->name, info->title);
        } else {
            printf(".Ss %s\n", info->name);
        }
        man_text(info->help);
        puts("\n.Bl -tag -width Ds");
        while ((d = rd_directive_next(d)) != NULL) {
            if (d->section == (enum rd_section)kind) {
                man_directive(d);
            }
        }
        puts(".El");
    }
}

/* --- sample file ---------------------------------------------------------- */

static void sample_directive(const struct rd_directive *d, const char *indent)
{
    char start[16], text[400], range[160];
    struct rd_directive_range unused;
    const char *def = default_of(d, &unused);
    range_text(d, range, sizeof range);
    snprintf(start, sizeof start, "%s# ", indent);
    snprintf(text, sizeof text, "%s%s%s%s", d->help, *range ? " (" : "", range,
             *range ? ")" : "");
    put_wrapped(start, text);
    const char *quote = def != NULL && needs_quotes(def) ? "\"" : "";
    printf("%s#%s = %s%s%s\n", indent, d->name, quote,
           def != NULL ? def : example(d), quote);
}

static void sample_example(enum rd_section kind)
{
    switch (kind) {
    case RD_SECTION_LISTEN:
        puts("listen \"main\" {\n    address = \"127.0.0.1:8888\"\n}\n"
             "#listen \"admin\" {\n#    address = "
             "\"unix:/run/restdaemon/admin.sock\"\n#    admin = true\n#}");
        break;
    case RD_SECTION_ROUTE:
        puts("#route \"/hello\" { respond = \"Hello world!\\n\" }\n"
             "#route \"/static\" { docroot = \"/srv/www\" }");
        break;
    default:
        puts("#module \"/usr/lib/restdaemon/hello.so\" { base = \"/hello\" }");
        break;
    }
}

static void sample_titled(enum rd_section kind)
{
    char text[400];
    const struct rd_directive *d = NULL;
    put_wrapped("# ", rd_section_info(kind)->help);
    while ((d = rd_directive_next(d)) != NULL) {
        if (d->section == kind) {
            snprintf(text, sizeof text, "%s: %s", d->name, d->help);
            put_wrapped("#   ", text);
        }
    }
    sample_example(kind);
}

static void sample_section(enum rd_section kind)
{
    const struct rd_section_info *info = rd_section_info(kind);
    const struct rd_directive *d = NULL;
    /* Sections that do something by being there. */
    int is_switch = kind == RD_SECTION_CORS || kind == RD_SECTION_RATE_LIMIT;
    put_wrapped("# ", info->help);
    if (kind != RD_SECTION_TOP) {
        printf("%s%s {\n", is_switch ? "#" : "", info->name);
    }
    while ((d = rd_directive_next(d)) != NULL) {
        if (d->section == kind) {
            sample_directive(d, kind == RD_SECTION_TOP ? "" : "    ");
        }
    }
    if (kind != RD_SECTION_TOP) {
        puts(is_switch ? "#}" : "}");
    }
}

static void sample(void)
{
    puts("# Configuration of restdaemon, see restdaemon.conf(5). Lines that\n"
         "# begin with '#' and a name show the default, or an example.\n"
         "# `restdaemon -t` tests this file, `restdaemon -T` shows what "
         "holds.\n");
    for (int kind = RD_SECTION_TOP; kind < RD_SECTIONS_N; kind++) {
        const struct rd_section_info *info = rd_section_info(kind);
        if (info->parent != RD_SECTION_TOP) {
            continue;
        }
        if (info->title != NULL) {
            sample_titled(kind);
        } else {
            sample_section(kind);
        }
        putchar('\n');
    }
    puts("# Files of other packages and of this site, in the order of their "
         "names.\ninclude(\"conf.d/*.conf\")");
}

/* --- completion ----------------------------------------------------------- */

static void bash(void)
{
    const struct rd_directive *d = NULL;
    puts("# SPDX-License-Identifier: MIT\n"
         "# bash completion for restdaemon; made by `make directives`.\n"
         "# shellcheck shell=bash disable=SC2207\n"
         "_restdaemon() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD "
         "- 1]}\n"
         "    local directives='");
    while ((d = rd_directive_next(d)) != NULL) {
        const struct rd_section_info *info = rd_section_info(d->section);
        if (is_settable(info)) {
            printf("        %s%s%s=\n", info->name, *info->name ? "." : "",
                   d->name);
        }
    }
    puts("    '\n"
         "    case $prev in\n"
         "    -c) COMPREPLY=($(compgen -W none -f -- \"$cur\")) ;;\n"
         "    -o)\n"
         "        COMPREPLY=($(compgen -W \"$directives\" -- \"$cur\"))\n"
         "        compopt -o nospace\n"
         "        ;;\n"
         "    -w) COMPREPLY=($(compgen -W 'auto 1 2 4 8' -- \"$cur\")) ;;\n"
         "    -l | -p) COMPREPLY=() ;;\n"
         "    *)\n"
         "        COMPREPLY=($(compgen -W '-c -d -f -h -l -o -p -q -t -T -v -V "
         "-w \\\n"
         "            --healthcheck --help --version' -- \"$cur\"))\n"
         "        ;;\n"
         "    esac\n"
         "}\n"
         "complete -F _restdaemon restdaemon");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(void);
    } kinds[] = {{"man", man}, {"sample", sample}, {"bash", bash}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (argc == 2 && strcmp(argv[1], kinds[i].name) == 0) {
            kinds[i].write();
            return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
        }
    }
    fputs("usage: directives man|sample|bash\n", stderr);
    return EXIT_FAILURE;
}
