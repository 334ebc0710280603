/* SPDX-License-Identifier: MIT */
/* Parsers of /proc and /sys texts.
 *
 * They walk the text by hand with strtoull and strtod (the daemon never calls
 * setlocale(), so the point stays a point) and allocate nothing. Where a text
 * may be cut, because the reader's buffer was too small, a value counts only
 * if something follows it, so that nobody gets half a number.
 * No file is opened here; host.c does that. Pure functions, any thread.
 */
#include "daemon/proc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads an unsigned number and moves behind it. Leading blanks are skipped,
 * newlines are not. */
static int take_u64(const char **text, uint64_t *value)
{
    const char *p = *text;
    while (*p == ' ' || *p == '\t') {
        p++;
    }
    if (*p < '0' || *p > '9') {
        return -1;
    }
    char *end = NULL;
    *value = strtoull(p, &end, 10);
    *text = end;
    return 0;
}

static int take_double(const char **text, double *value)
{
    const char *p = *text;
    while (*p == ' ') {
        p++;
    }
    if (*p < '0' || *p > '9') {
        return -1;
    }
    char *end = NULL;
    *value = strtod(p, &end);
    *text = end;
    return 0;
}

/* Start of the line that begins with `prefix`, or NULL. */
static const char *find_line(const char *text, const char *prefix)
{
    size_t len = strlen(prefix);
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, prefix, len) == 0) {
            return line;
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return NULL;
}

int rd_proc_loadavg(const char *text, double load[3], int64_t *running)
{
    double l[3];
    uint64_t n;
    for (int i = 0; i < 3; i++) {
        if (take_double(&text, &l[i]) < 0) {
            return -1;
        }
    }
    if (take_u64(&text, &n) < 0 || *text != '/') {
        return -1;
    }
    memcpy(load, l, sizeof l);
    *running = (int64_t)n;
    return 0;
}

int rd_proc_cpu(const char *text, struct rd_proc_cpu *cpu)
{
    /* user nice system idle iowait irq softirq steal; the guest columns behind
     * them are contained in user and nice, proc(5). */
    uint64_t t[8];
    if (strncmp(text, "cpu ", 4) != 0) {
        return -1;
    }
    text += 4;
    for (int i = 0; i < 8; i++) {
        if (take_u64(&text, &t[i]) < 0) {
            return -1;
        }
    }
    cpu->user = t[0] + t[1];
    cpu->system = t[2] + t[5] + t[6];
    cpu->iowait = t[4];
    cpu->steal = t[7];
    cpu->total = 0;
    for (int i = 0; i < 8; i++) {
        cpu->total += t[i];
    }
    return 0;
}

int rd_proc_field(const char *text, const char *name, int64_t *value)
{
    size_t len = strlen(name);
    uint64_t n;
    const char *p = text;
    for (;;) {
        p = find_line(p, name);
        if (p == NULL) {
            return -1;
        }
        p += len;
        if (*p == ':') {
            break;
        }
    }
    p++;
    if (take_u64(&p, &n) < 0 || (*p != ' ' && *p != '\n')) {
        return -1;
    }
    if (*p == ' ') {
        if (strncmp(p, " kB\n", 4) != 0) {
            return -1;
        }
        n *= 1024;
    }
    *value = (int64_t)n;
    return 0;
}

int rd_proc_statm(const char *text, int64_t *virtual_pages, int64_t *rss_pages)
{
    uint64_t v, r;
    if (take_u64(&text, &v) < 0 || take_u64(&text, &r) < 0 || *text != ' ') {
        return -1;
    }
    *virtual_pages = (int64_t)v;
    *rss_pages = (int64_t)r;
    return 0;
}

/* "  eth0: received ... (7 more) sent ..." */
static void add_device(const char *line, uint64_t *received, uint64_t *sent)
{
    uint64_t columns[9];
    while (*line == ' ') {
        line++;
    }
    const char *colon = line + strcspn(line, ":\n");
    if (*colon != ':' || strncmp(line, "lo:", 3) == 0) {
        return;
    }
    const char *p = colon + 1;
    for (int i = 0; i < 9; i++) {
        if (take_u64(&p, &columns[i]) < 0) {
            return; /* one of the two heading lines */
        }
    }
    *received += columns[0];
    *sent += columns[8];
}

long rd_proc_net_dev(const char *text, uint64_t *received, uint64_t *sent)
{
    const char *line = text;
    for (;;) {
        const char *end = strchr(line, '\n');
        if (end == NULL) {
            return line == text ? -1 : (long)(line - text);
        }
        add_device(line, received, sent);
        line = end + 1;
    }
}

int rd_proc_net_column(const char *text, const char *proto, const char *name,
                       int64_t *value)
{
    size_t proto_len = strlen(proto), name_len = strlen(name);
    const char *names = text;
    for (;;) {
        names = find_line(names, proto);
        if (names == NULL) {
            return -1;
        }
        names += proto_len;
        if (*names == ':') { /* not another whose name starts the same */
            break;
        }
    }
    const char *values = strchr(names, '\n');
    if (values == NULL || strncmp(++values, proto, proto_len) != 0 ||
        values[proto_len] != ':') {
        return -1;
    }
    values += proto_len + 1;
    names++;
    while (*names == ' ') {
        names++;
        size_t len = strcspn(names, " \n");
        values += strspn(values, " ");
        size_t value_len = strcspn(values, " \n");
        if (values[value_len] == '\0') {
            return -1;
        }
        if (len == name_len && memcmp(names, name, len) == 0) {
            uint64_t n;
            if (take_u64(&values, &n) < 0) {
                return -1;
            }
            *value = (int64_t)n;
            return 0;
        }
        names += len;
        values += value_len;
    }
    return -1;
}

int rd_proc_pressure(const char *text, double *ratio)
{
    static const char start[] = "some avg10=";
    double percent;
    if (strncmp(text, start, sizeof start - 1) != 0) {
        return -1;
    }
    text += sizeof start - 1;
    if (take_double(&text, &percent) < 0 || *text != ' ') {
        return -1;
    }
    *ratio = percent / 100;
    return 0;
}

int rd_proc_cgroup(const char *text, char *path, size_t size)
{
    const char *line = find_line(text, "0::/");
    if (line == NULL) {
        return -1;
    }
    line += 3;
    size_t len = strcspn(line, "\n");
    if (line[len] != '\n' || len >= size) {
        return -1;
    }
    memcpy(path, line, len);
    path[len] = '\0';
    return 0;
}

int rd_proc_cgroup_bytes(const char *text, int64_t *value)
{
    uint64_t n;
    if (strncmp(text, "max\n", 4) == 0) {
        *value = -1;
        return 0;
    }
    if (take_u64(&text, &n) < 0 || *text != '\n' || n > INT64_MAX) {
        return -1;
    }
    *value = (int64_t)n;
    return 0;
}

int rd_proc_cgroup_cpus(const char *text, double *cpus)
{
    uint64_t quota, period;
    if (strncmp(text, "max ", 4) == 0) {
        *cpus = NAN;
        return 0;
    }
    if (take_u64(&text, &quota) < 0 || take_u64(&text, &period) < 0 ||
        *text != '\n' || period == 0) {
        return -1;
    }
    *cpus = (double)quota / (double)period;
    return 0;
}

int rd_proc_os_name(const char *text, char *name, size_t size)
{
    static const char key[] = "PRETTY_NAME=";
    const char *p = find_line(text, key);
    if (p == NULL) {
        return -1;
    }
    p += sizeof key - 1;
    size_t len = strcspn(p, "\n");
    if (len >= 2 && (*p == '"' || *p == '\'') && p[len - 1] == *p) {
        p++;
        len -= 2;
    }
    if (len == 0 || len >= size) {
        return -1;
    }
    memcpy(name, p, len);
    name[len] = '\0';
    return 0;
}
