/* SPDX-License-Identifier: MIT */
/* Files, by libConfuse, whose only user this is.
 *
 * Its options are built from the table of directives, all of them as text with
 * a call-back that hands file, line and value to the tree; nothing is kept in
 * libConfuse. Of a section it tells the end and not the beginning, so each has
 * one more option, a list that nobody can write, whose default value makes the
 * call-back run when the section is opened. An included file is parsed from
 * within the call of include().
 * Values that are wrong do not end the parsing, so all are found in one run;
 * an unknown name and a fault of syntax do. Thread: main; the state of a run is
 * static, as libConfuse's call-backs get no pointer of ours.
 */
#include "daemon/config_parse.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <confuse.h>

#include "daemon/config_text.h"

#define FILES_BYTES_MAX (1024 * 1024)
#define FILES_MAX 1000
#define INCLUDE_DEPTH_MAX 8
#define NESTED_MAX 4
#define OPTIONS_MAX 32
#define TOP_OPTIONS_MAX (OPTIONS_MAX + RD_SECTIONS_N)
/* No word is read as this name. */
#define BEGIN_NAME "\001begin"

/* One run. */
static struct {
    struct rd_config_tree *tree;
    cfg_t *root;
    size_t bytes;   /* read so far */
    unsigned files; /* likewise */
    int over;       /* a fault has ended it */
    unsigned depth; /* of files */
    struct {
        const char *path;
        dev_t device;
        ino_t inode;
    } stack[INCLUDE_DEPTH_MAX];
    unsigned open_n;
    struct rd_config_section *open[NESTED_MAX]; /* NULL: one too many */
} run;

static cfg_opt_t options[RD_SECTIONS_N][TOP_OPTIONS_MAX];

static struct rd_config_origin here(const cfg_t *cfg)
{
    struct rd_config_origin origin = {run.stack[run.depth - 1].path, cfg->line};
    return origin;
}

/* --- call-backs ----------------------------------------------------------- */

static void on_begin(cfg_t *cfg)
{
    struct rd_config_section *parent =
        run.open_n == 0 ? run.tree->sections : run.open[run.open_n - 1];
    struct rd_config_section *section = NULL;
    if (parent != NULL) {
        section = rd_tree_section(run.tree, parent,
                                  rd_section_find(parent->kind, cfg_name(cfg)),
                                  cfg_title(cfg), here(cfg));
    }
    if (run.open_n < NESTED_MAX) {
        run.open[run.open_n++] = section;
    }
    /* The rest is not worth the time, which libConfuse takes by the square. */
    run.over |= parent != NULL && section == NULL;
}

static int on_end(cfg_t *cfg, cfg_opt_t *opt)
{
    (void)cfg;
    (void)opt;
    run.open_n--;
    return run.over ? -1 : 0;
}

static int on_value(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
    static const char kept[] = ""; /* by libConfuse, in place of the value */
    *(const char **)result = kept;
    if (strcmp(opt->name, BEGIN_NAME) == 0) {
        on_begin(cfg);
        return 0;
    }
    struct rd_config_section *section =
        run.open_n == 0 ? run.tree->sections : run.open[run.open_n - 1];
    if (section != NULL) {
        const struct rd_directive *d =
            rd_directive_find(section->kind, opt->name);
        /* The first item of an assignment is number 1. */
        rd_tree_set(run.tree, section, d, value, here(cfg),
                    rd_directive_is_list(d) && opt->nvalues > 1);
    }
    return 0;
}

static void unknown_name(const cfg_t *cfg, const char *name)
{
    char hint[120];
    const struct rd_config_section *section =
        run.open_n == 0 ? run.tree->sections : run.open[run.open_n - 1];
    enum rd_section kind = section != NULL ? section->kind : RD_SECTION_TOP;
    rd_directive_suggest(kind, name, hint, sizeof hint);
    rd_config_fault(run.tree->errors, EX_CONFIG, here(cfg),
                    "'%.60s' is not %s%s", name, rd_section_info(kind)->noun,
                    hint);
}

static void missing_brace(const cfg_t *cfg, const char *name)
{
    const struct rd_config_section *section =
        run.open_n == 0 ? run.tree->sections : run.open[run.open_n - 1];
    int kind =
        section == NULL ? RD_SECTIONS_N : rd_section_find(section->kind, name);
    int is_titled =
        kind != RD_SECTIONS_N && rd_section_info(kind)->title != NULL;
    rd_config_fault(run.tree->errors, EX_CONFIG, here(cfg),
                    is_titled ? "'%.60s' needs a '{' behind its name"
                              : "'%.60s' is a section: '{' has to follow, "
                                "without a name or '='",
                    name);
}

/* libConfuse's sentences, by their beginnings, in our words. */
static const struct {
    const char *theirs, *ours;
} syntax_faults[] = {
    {"missing equal sign", "'%.60s' needs '=' and a value"},
    {"missing title", "'%.60s' needs a name in front of its '{'"},
    {"unexpected token", "'%.60s' is not expected here"},
    {"unexpected closing brace", "this '}' closes nothing"},
    {"attempt to append", "'%.60s' is no list: '+=' cannot be used"},
    {"missing parenthesis",
     "'%.60s' has its argument in parentheses: include(\"file\")"},
    {"premature end", "something is missing at the end of the file"},
};

static void on_error(cfg_t *cfg, const char *format, va_list list)
{
    char text[256];
    const char *name = "";
    va_list again;
    run.over = 1;
    if (strstr(format, "%s") != NULL) {
        va_copy(again, list);
        name = va_arg(again, const char *);
        va_end(again);
    }
    if (strncmp(format, "no such option", 14) == 0) {
        unknown_name(cfg, name);
        return;
    }
    if (strncmp(format, "missing opening brace", 21) == 0) {
        missing_brace(cfg, name);
        return;
    }
    for (size_t i = 0; i < sizeof syntax_faults / sizeof syntax_faults[0];
         i++) {
        if (strncmp(format, syntax_faults[i].theirs,
                    strlen(syntax_faults[i].theirs)) == 0) {
            /* One "%s" at most, as the table shows. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(text, sizeof text, syntax_faults[i].ours, name);
#pragma GCC diagnostic pop
            rd_config_fault(run.tree->errors, EX_CONFIG, here(cfg), "%s", text);
            return;
        }
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    vsnprintf(text, sizeof text, format, list);
#pragma GCC diagnostic pop
    rd_config_fault(run.tree->errors, EX_CONFIG, here(cfg), "%s", text);
}

/* --- files ---------------------------------------------------------------- */

static void file_fault(const char *path, int os_errno,
                       struct rd_config_origin from)
{
    int code = os_errno == ENOENT || os_errno == ENOTDIR ? EX_NOINPUT
               : os_errno == EACCES || os_errno == EPERM ? EX_NOPERM
                                                         : EX_CONFIG;
    struct rd_config_origin origin = {path, 0};
    if (from.line > 0) {
        rd_config_fault(run.tree->errors, EX_CONFIG, from, "%.300s: %s", path,
                        strerror(os_errno));
    } else {
        rd_config_fault(run.tree->errors, code, origin, "%s",
                        strerror(os_errno));
    }
}

/* 1 if the file is being read already. */
static int is_open(const struct stat *st)
{
    for (unsigned i = 0; i < run.depth; i++) {
        if (run.stack[i].device == st->st_dev &&
            run.stack[i].inode == st->st_ino) {
            return 1;
        }
    }
    return 0;
}

static void parse_text(const char *path, int fd)
{
    struct rd_text text;
    struct rd_config_origin origin = {path, 0};
    if (rd_text_load(&text, fd, FILES_BYTES_MAX - run.bytes) < 0) {
        origin.line = text.line;
        rd_config_fault(run.tree->errors, EX_CONFIG, origin, "%s", text.fault);
        run.over = 1;
    } else {
        run.bytes += text.file_len;
        FILE *stream =
            text.len == 0 ? NULL : fmemopen(text.data, text.len, "r");
        int line = run.root->line;
        if (stream != NULL) {
            int rc = cfg_parse_fp(run.root, stream);
            fclose(stream);
            if (rc != CFG_SUCCESS && !run.over) {
                /* The one fault of syntax that it says nothing of. */
                rd_config_fault(run.tree->errors, EX_CONFIG, here(run.root),
                                "a name is empty, in this line or the section "
                                "that begins here");
                run.over = 1;
            }
        } else if (text.len > 0) {
            rd_config_fault(run.tree->errors, EX_OSERR, origin, "%s",
                            strerror(errno));
        }
        run.root->line = line;
    }
    rd_text_free(&text);
}

/* `from`: the include() that names it, or no line. */
static void parse_file(const char *path, struct rd_config_origin from)
{
    struct stat st;
    /* A FIFO without a writer would hold up the start. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int rc = fd < 0 ? -1 : fstat(fd, &st);
    if (rc == 0 && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        rc = -1;
    }
    if (rc < 0) {
        file_fault(path, errno, from);
    } else if (is_open(&st)) {
        rd_config_fault(run.tree->errors, EX_CONFIG, from,
                        "%.300s includes itself", path);
    } else if (run.depth == INCLUDE_DEPTH_MAX || run.files == FILES_MAX) {
        rd_config_fault(run.tree->errors, EX_CONFIG, from,
                        "more than %d files, or %d within each other",
                        FILES_MAX, INCLUDE_DEPTH_MAX);
        run.over = 1;
    } else {
        run.files++;
        run.stack[run.depth].path =
            rd_arena_copy(run.tree->arena, path, strlen(path));
        run.stack[run.depth].device = st.st_dev;
        run.stack[run.depth++].inode = st.st_ino;
        parse_text(run.stack[run.depth - 1].path, fd);
        run.depth--;
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* include("PATTERN"): relative to the file that says it. */
static int on_include(cfg_t *cfg, cfg_opt_t *opt, int argc, const char **argv)
{
    char pattern[PATH_MAX];
    glob_t found;
    struct rd_config_origin from = here(cfg);
    const char *slash = strrchr(from.file, '/');
    (void)opt;
    if (argc != 1 || *argv[0] == '\0') {
        rd_config_fault(run.tree->errors, EX_CONFIG, from,
                        "include() takes one name, or one pattern");
        return 0;
    }
    int n = snprintf(
        pattern, sizeof pattern, "%.*s%s",
        *argv[0] == '/' || slash == NULL ? 0 : (int)(slash - from.file + 1),
        from.file, argv[0]);
    if (n < 0 || (size_t)n >= sizeof pattern) {
        file_fault(argv[0], ENAMETOOLONG, from);
        return 0;
    }
    if (strpbrk(argv[0], "*?[") == NULL) {
        parse_file(pattern, from);
        return run.over;
    }
    int rc = glob(pattern, 0, NULL, &found);
    if (rc == 0) {
        for (size_t i = 0; i < found.gl_pathc && !run.over; i++) {
            parse_file(found.gl_pathv[i], from);
        }
        globfree(&found);
    } else if (rc != GLOB_NOMATCH) {
        file_fault(pattern, rc == GLOB_NOSPACE ? ENOMEM : EIO, from);
    }
    return run.over;
}

/* --- libConfuse's options ------------------------------------------------- */

static cfg_opt_t section_option(enum rd_section kind)
{
    const struct rd_section_info *info = rd_section_info(kind);
    cfg_opt_t option =
        CFG_SEC(info->name, options[kind],
                CFGF_MULTI | (info->title != NULL ? CFGF_TITLE : CFGF_NONE));
    option.validcb = on_end;
    return option;
}

/* Inner sections first, as each is pointed to by its outer one. */
static void options_init(enum rd_section kind)
{
    /* libConfuse wants it writable, and does not write. */
    static char begin_default[] = "{x}";
    cfg_opt_t begin =
        CFG_STR_LIST_CB(BEGIN_NAME, begin_default, CFGF_NONE, on_value);
    cfg_opt_t include = CFG_FUNC("include", on_include);
    cfg_opt_t end = CFG_END();
    const struct rd_directive *d = NULL;
    unsigned n = 0;
    while ((d = rd_directive_next(d)) != NULL) {
        if (d->section == kind && n < OPTIONS_MAX - 2) {
            cfg_opt_t single =
                CFG_STR_CB(d->name, NULL, CFGF_NODEFAULT, on_value);
            cfg_opt_t list =
                CFG_STR_LIST_CB(d->name, NULL, CFGF_NODEFAULT, on_value);
            options[kind][n++] = rd_directive_is_list(d) ? list : single;
        }
    }
    for (int inner = RD_SECTION_TOP + 1; inner < RD_SECTIONS_N; inner++) {
        if (rd_section_info(inner)->parent == kind) {
            options_init(inner);
            options[kind][n++] = section_option(inner);
        }
    }
    options[kind][n++] = kind == RD_SECTION_TOP ? include : begin;
    options[kind][n] = end;
}

void rd_config_parse(struct rd_config_tree *tree, const char *path)
{
    struct rd_config_origin from = {path, 0};
    memset(&run, 0, sizeof run);
    options_init(RD_SECTION_TOP);
    run.tree = tree;
    run.root = cfg_init(options[RD_SECTION_TOP], CFGF_NONE);
    if (run.root == NULL) {
        file_fault(path, ENOMEM, from);
        return;
    }
    cfg_set_error_function(run.root, on_error);
    parse_file(path, from);
    tree->is_partial = run.over != 0;
    cfg_free(run.root);
}
