/* SPDX-License-Identifier: MIT */
/* A folder with files of all kinds, and a server for it. */
#include "files_tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"

struct restd_files *files;
struct restd_files_options file_options;
char etag[80];
struct client readers[FILES_READERS];
static char folder[FOLDER_MAX];

const char *at(const char *name)
{
    static char path[AT_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

void age(const char *name, time_t modified)
{
    struct timespec times[2] = {{modified, 0}, {modified, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, at(name), times, 0), 0);
}

void write_file(const char *name, const void *data, size_t len)
{
    FILE *f = fopen(at(name), "w");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
    age(name, MODIFIED);
}

void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static void make_tree(void)
{
    folder_make(folder);
    ck_assert_int_eq(mkdir(at("out"), 0755), 0);
    ck_assert_int_eq(mkdir(at("root"), 0755), 0);
    ck_assert_int_eq(mkdir(at("root/dir"), 0755), 0);
    ck_assert_int_eq(mkdir(at("root/bare"), 0755), 0);
    ck_assert_int_eq(mkdir(at("root/odd"), 0755), 0);
    ck_assert_int_eq(mkdir(at("root/odd/index.html"), 0755), 0);
    ck_assert_int_eq(mkdir(at("root/.git"), 0755), 0);
    ck_assert_int_eq(mkdir(at("root/\\host"), 0755), 0);
    write_text("out/secret", "secret");
    write_text("root/index.html", "root index");
    write_text("root/a.txt", TEXT);
    write_text("root/empty", "");
    write_text("root/dir/index.html", "dir index");
    write_text("root/dir/b c.TXT", "b c");
    write_text("root/.hidden", "hidden");
    write_text("root/.git/config", "config");
    write_text("root/x%2Fy", "slash");
    write_file("root/big.bin", fill, BIG_LEN);
    ck_assert_int_eq(symlink("a.txt", at("root/inside")), 0);
    ck_assert_int_eq(symlink("dir", at("root/inside-dir")), 0);
    ck_assert_int_eq(symlink("../a.txt", at("root/dir/up")), 0);
    ck_assert_int_eq(symlink("../out/secret", at("root/escape")), 0);
    ck_assert_int_eq(symlink("../out", at("root/escape-dir")), 0);
    ck_assert_int_eq(symlink("/etc/passwd", at("root/absolute")), 0);
    ck_assert_int_eq(symlink("loop", at("root/loop")), 0);
    ck_assert_int_eq(symlink("/proc/self/root", at("root/magic")), 0);
    ck_assert_int_eq(mkfifo(at("root/fifo"), 0644), 0);
}

void files_set_up(void)
{
    char root[AT_MAX];

    server_options(&options);
    make_server();
    make_tree();
    (void)snprintf(root, sizeof(root), "%s", at("root"));
    restd_files_options_init(&file_options);
    file_options.root = root;
    must(restd_files_new(&file_options, &files, &error));
    for (size_t i = 0; i < FILES_READERS; i++) {
        readers[i].fd = -1;
    }
}

/* With other options than the defaults. */
void make_files(void)
{
    char root[AT_MAX];

    (void)snprintf(root, sizeof(root), "%s", at("root"));
    file_options.root = root;
    restd_files_free(files);
    files = NULL;
    must(restd_files_new(&file_options, &files, &error));
}

void serve(void)
{
    must(restd_router_add(plugin_router, "GET", "/s/{path...}",
                          restd_files_handler, files, &error));
    must(restd_router_add(plugin_router, "GET", "/one/{name}",
                          restd_files_handler, files, &error));
    start();
}

static void remove_tree(void)
{
    char command[128];

    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

void files_tear_down(void)
{
    for (size_t i = 0; i < FILES_READERS; i++) {
        client_close(&readers[i]);
    }
    tear_down();
    restd_files_free(files);
    files = NULL;
    remove_tree();
}

/* GET, or another method, with further fields. */
void get_by(const char *method, const char *path, const char *lines, int status)
{
    char text[6600];

    (void)snprintf(text, sizeof(text), "%s %s" HOST "%s\r\n", method, path,
                   lines);
    ask(text, status);
}

void get(const char *path, const char *lines, int status)
{
    get_by("GET", path, lines, status);
}

void body_is(const char *text)
{
    ck_assert_uint_eq(reply.body_len, strlen(text));
    ck_assert_str_eq(reply.body, text);
}

void with_etag(const char *text, char *out, size_t size)
{
    size_t n = 0;

    for (; *text; text++) {
        n += (size_t)snprintf(out + n, size - n, "%s",
                              *text == '@' ? etag : (char[]){*text, '\0'});
    }
    (void)snprintf(out + n, size - n, "\r\n");
}
