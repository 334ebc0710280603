/* SPDX-License-Identifier: MIT */
/* Contents of responses that lie in files. A small one is read at once, so
 * that it joins the one send; of a larger one a chunk remembers what is to be
 * sent, a piece per turn. Thread: [loop],
 * or that of the handler. */
#include <errno.h>
#include <unistd.h>

#include <restd/response.h>

#include "http/message.h"
#include "net/file.h"

#define READ_MAX 16384u

/* `arg` is the reactor, or NULL. */
static void close_file(const struct rd_chunk_ref *ref)
{
    if (ref->arg) {
        rd_file_close(ref->arg, ref->fd);
    } else {
        close(ref->fd);
    }
}

static int append_ref(struct restd_response *response, int fd, uint64_t offset,
                      uint64_t len, int owned)
{
    struct rd_chunk_ref ref = {.fd = fd, .offset = offset, .len = len};

    if (owned) {
        ref.release = close_file;
        if (response->request) {
            ref.arg = response->request->conn->reactor;
            ref.fd = rd_file_keep(ref.arg, fd);
            if (ref.fd < 0) {
                return ref.fd;
            }
        }
    }
    int rc = rd_chain_append_ref(&response->chain, response->chunks,
                                 RD_MEM_OUTPUT, &ref);
    if (rc != 0 && owned) {
        close_file(&ref);
    }
    return rc;
}

int rd_response_take_ref(struct restd_response *response,
                         struct rd_reactor *reactor, struct rd_chunk_ref *ref)
{
    struct rd_chunk_ref taken = *ref;

    if (ref->release == close_file) {
        taken.fd = rd_file_keep(reactor, ref->fd);
        ref->release = NULL;
        if (taken.fd < 0) {
            return taken.fd;
        }
        taken.arg = reactor;
    }
    int rc = rd_chain_append_ref(&response->chain, response->chunks,
                                 RD_MEM_OUTPUT, &taken);
    if (rc == 0) {
        ref->release = NULL;
    } else if (taken.release == close_file) {
        close_file(&taken);
    }
    return rc;
}

/* The whole stretch as a copy. RESTD_EOF if the file ends within. */
static int read_file(struct restd_response *response, int fd, uint64_t offset,
                     uint64_t len)
{
    char buf[4096];

    while (len > 0) {
        ssize_t n = pread(fd, buf, len < sizeof(buf) ? len : sizeof(buf),
                          (off_t)offset);
        if (n <= 0) {
            if (n < 0 && errno == EINTR) {
                continue;
            }
            return n == 0 ? RESTD_EOF : RESTD_EOS;
        }
        int rc = restd_response_append(response, buf, (size_t)n);
        if (rc != 0) {
            return rc;
        }
        offset += (uint64_t)n;
        len -= (uint64_t)n;
    }
    return 0;
}

int rd_response_append_file(struct restd_response *response, int fd,
                            uint64_t offset, uint64_t len, int owned)
{
    if (len > READ_MAX) {
        return append_ref(response, fd, offset, len, owned);
    }
    int rc = read_file(response, fd, offset, len);
    if (owned) {
        close(fd);
    }
    return rc;
}

int restd_response_file(struct restd_response *response, int fd,
                        uint64_t offset, uint64_t len)
{
    restd_response_body_borrowed(response, NULL, 0);
    return rd_response_append_file(response, fd, offset, len, 1);
}
