/* SPDX-License-Identifier: MIT */
/* A pid file belongs to whoever holds the flock() on it: a number alone may
 * have gone to another process by now, and a lock cannot be left behind.
 *
 * A file is written and locked under a name of its own first and then put in
 * place whole, by link() where there was none and by rename() over a stale one
 * whose lock is held meanwhile. So nobody reads half a number, and of two that
 * start at once one finds the other's lock. A lock is worth something only
 * while the path still names the locked file, which is looked at afterwards.
 * Main thread.
 */
#include "daemon/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/fault.h"

#define TEMPORARY_MAX (sizeof(((struct rd_pidfile *)0)->path) + 32)
#define TRIES 16 /* others may start and stop meanwhile, but not forever */

static int is_at(int fd, const char *path)
{
    struct stat own, there;
    return fstat(fd, &own) == 0 && lstat(path, &there) == 0 &&
           own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

static int write_number(int fd)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    ssize_t written = write(fd, text, (size_t)n);
    if (written >= 0 && written != n) {
        errno = ENOSPC;
    }
    return written == n ? 0 : -1;
}

/* A locked file with our number; its name goes to `temporary`. */
static int make_file(const char *path, char temporary[TEMPORARY_MAX],
                     struct restd_error *error)
{
    snprintf(temporary, TEMPORARY_MAX, "%s.%ld", path, (long)getpid());
    unlink(temporary); /* of a crash long ago; O_EXCL decides */
    int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                  0644);
    if (fd < 0) {
        return rd_fault_os(error, errno, "pid file %.128s", path);
    }
    /* Whatever the umask: a number is no secret. */
    if (fchmod(fd, 0644) < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 ||
        write_number(fd) < 0) {
        int saved = errno;
        unlink(temporary);
        close(fd);
        return rd_fault_os(error, saved, "pid file %.128s", path);
    }
    return fd;
}

/* Who holds it, for people; the answer may be old by the time it is read. */
static int tell_holder(int fd, const char *path, struct restd_error *error)
{
    char text[32];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    text[strspn(text, "0123456789")] = '\0';
    return rd_fault(error, RESTD_EADDRINUSE,
                    "pid file %.128s: process %s is running", path,
                    *text != '\0' ? text : "of unknown number");
}

/* Locks what is at the path. Returns a descriptor, RESTD_ENOENT if there is
 * nothing, RESTD_EAGAIN if it went away meanwhile, or another error. */
static int lock_existing(const char *path, struct restd_error *error)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return errno == ENOENT
                   ? RESTD_ENOENT
                   : rd_fault_os(error, errno, "pid file %.128s", path);
    }
    int rc = fd;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        rc = rd_fault(error, RESTD_EINVAL, "pid file %.128s: no plain file",
                      path);
    } else if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        rc = errno == EWOULDBLOCK
                 ? tell_holder(fd, path, error)
                 : rd_fault_os(error, errno, "pid file %.128s", path);
    } else if (!is_at(fd, path)) {
        rc = RESTD_EAGAIN;
    }
    if (rc < 0) {
        close(fd);
    }
    return rc;
}

/* Puts a new file in place; `replace` tells whether there may be one. */
static int put_file(struct rd_pidfile *pidfile, const char *path, int replace,
                    struct restd_error *error)
{
    char temporary[TEMPORARY_MAX];
    int fd = make_file(path, temporary, error);
    if (fd < 0) {
        return fd;
    }
    int rc = replace ? rename(temporary, path) : link(temporary, path);
    int saved = errno;
    if (rc < 0 || !replace) {
        unlink(temporary);
    }
    if (rc < 0) {
        close(fd);
        return saved == EEXIST
                   ? RESTD_EAGAIN
                   : rd_fault_os(error, saved, "pid file %.128s", path);
    }
    if (pidfile->fd >= 0) {
        close(pidfile->fd);
    }
    pidfile->fd = fd;
    memmove(pidfile->path, path, strlen(path) + 1);
    return 0;
}

static int check_path(const char *path, struct restd_error *error)
{
    if (*path != '/' ||
        strlen(path) >= sizeof(((struct rd_pidfile *)0)->path)) {
        return rd_fault(error, RESTD_EINVAL,
                        "pid file %.128s: not an absolute path of less than "
                        "%zu bytes",
                        path, sizeof(((struct rd_pidfile *)0)->path));
    }
    return 0;
}

int rd_pidfile_create(struct rd_pidfile *pidfile, const char *path,
                      struct restd_error *error)
{
    int rc = check_path(path, error);
    if (rc < 0) {
        return rc;
    }
    for (int i = 0; i < TRIES; i++) {
        int stale = lock_existing(path, error);
        if (stale >= 0) {
            rc = put_file(pidfile, path, 1, error);
            close(stale);
        } else if (stale == RESTD_ENOENT) {
            rc = put_file(pidfile, path, 0, error);
        } else {
            rc = stale;
        }
        if (rc != RESTD_EAGAIN) {
            return rc;
        }
    }
    return rd_fault(error, RESTD_EADDRINUSE,
                    "pid file %.128s: other processes come and go", path);
}

int rd_pidfile_take_over(struct rd_pidfile *pidfile, const char *path,
                         struct restd_error *error)
{
    int rc = check_path(path, error);
    return rc < 0 ? rc : put_file(pidfile, path, 1, error);
}

void rd_pidfile_remove(struct rd_pidfile *pidfile)
{
    if (pidfile->fd < 0) {
        return;
    }
    if (is_at(pidfile->fd, pidfile->path)) {
        unlink(pidfile->path);
    }
    close(pidfile->fd);
    pidfile->fd = -1;
}
