/* SPDX-License-Identifier: MIT */
/* From the name in a path to an open file.
 *
 * That nothing outside the root is opened is the kernel's part: openat2() with
 * RESOLVE_BENEATH has no gap between a check and its use, whatever is renamed
 * meanwhile. A kernel without it (before 5.6, or a sandbox that forbids it)
 * gets a walk, a folder at a time, that follows no symbolic link at all. The
 * name is looked at before only so that there is one name for each file, and
 * none for hidden ones.
 *
 * Nothing here blocks but the disk: a FIFO is opened without waiting for its
 * other end, and then refused. Thread: [loop]. */
#include "plugins/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/slice.h"

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
/* RESOLVE_BENEATH gives up when it has met "..", in a link, and a rename
 * elsewhere at once. */
#define TRIES 4

/* Length of the segment at the beginning; SIZE_MAX for one that no file has. */
static size_t segment_len(const struct restd_files *files, const char *p,
                          size_t len)
{
    const char *slash = memchr(p, '/', len);
    size_t n = slash ? (size_t)(slash - p) : len;

    if (n == 0 || (n == 1 && p[0] == '.') ||
        (n == 2 && p[0] == '.' && p[1] == '.') ||
        (p[0] == '.' && !files->hidden)) {
        return SIZE_MAX;
    }
    return n;
}

size_t rd_files_name(const struct restd_files *files,
                     struct restd_slice capture, int rest,
                     char name[RD_FILES_PATH_MAX])
{
    size_t len = capture.len;
    int folder = len == 0 || capture.data[len - 1] == '/';

    /* With room for ".gz". */
    if (len + files->index_len + sizeof(".gz") > RD_FILES_PATH_MAX ||
        (folder && files->index_len == 0) ||
        (!rest && memchr(capture.data, '/', len))) {
        return 0;
    }
    for (size_t i = 0; i < len;) {
        size_t n = segment_len(files, capture.data + i, len - i);
        if (n == SIZE_MAX) {
            return 0;
        }
        i += n + 1;
    }
    memcpy(name, capture.data, len);
    if (folder) {
        memcpy(name + len, files->index, files->index_len);
        len += files->index_len;
    }
    name[len] = '\0';
    return len;
}

/* One folder after the other; the descriptor, or a negative errno. */
static int open_walking(int root, const char *name)
{
    char segment[256];
    int at = root;

    for (;;) {
        size_t len = strcspn(name, "/");
        int last = name[len] == '\0';
        int fd = -ENAMETOOLONG;

        if (len < sizeof(segment)) {
            memcpy(segment, name, len);
            segment[len] = '\0';
            fd = openat(at, segment,
                        O_NOFOLLOW | (last ? OPEN_FLAGS
                                           : O_PATH | O_DIRECTORY | O_CLOEXEC));
            fd = fd < 0 ? -errno : fd;
        }
        if (at != root) {
            close(at);
        }
        if (last || fd < 0) {
            return fd;
        }
        at = fd;
        name += len + 1;
    }
}

static int open_beneath(const struct restd_files *files, const char *name)
{
    struct open_how how = {.flags = OPEN_FLAGS, .resolve = files->resolve};
    long fd = -1;

    for (int i = 0; i < TRIES; i++) {
        fd = syscall(SYS_openat2, files->root, name, &how, sizeof(how));
        if (fd >= 0) {
            return (int)fd;
        }
        if (errno != EAGAIN && errno != EINTR) {
            break;
        }
    }
    return -errno;
}

static int status_of(int os_errno)
{
    switch (os_errno) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case EXDEV:
    case ENAMETOOLONG:
    case ENXIO: /* a socket, or a device without a driver */
    case ENODEV:
        return 404;
    case EACCES:
    case EPERM:
        return 403;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case EINTR:
        return 503;
    default:
        return 500;
    }
}

int rd_files_open(const struct restd_files *files, const char *name,
                  struct rd_file *file)
{
    struct stat st;
    int status = 0;
    int fd = files->walks ? open_walking(files->root, name)
                          : open_beneath(files, name);

    file->fd = -1;
    if (fd < 0) {
        return status_of(-fd);
    }
    if (fstat(fd, &st) != 0) {
        status = status_of(errno);
    } else if (!S_ISREG(st.st_mode)) {
        status = S_ISDIR(st.st_mode) ? 301 : 404;
    }
    if (status != 0) {
        close(fd);
        return status;
    }
    file->fd = fd;
    file->size = (uint64_t)st.st_size;
    file->inode = (uint64_t)st.st_ino;
    file->mtime_s = (int64_t)st.st_mtim.tv_sec;
    file->mtime_ns = (uint32_t)st.st_mtim.tv_nsec;
    return 0;
}

void rd_files_close(struct rd_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
        file->fd = -1;
    }
}
