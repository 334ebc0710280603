/* SPDX-License-Identifier: MIT */
/* Contents through zlib.
 *
 * A whole content lies with the caller, in the stage, in chunks, or small
 * files; what comes of it goes behind the staged part, which is room that the
 * response has anyway, and only then to chunks. So the old content stays
 * untouched until the new one is known to be smaller. Of a stream each piece is
 * flushed, so that what was written can be read. Thread: [loop]. */
#include "plugins/gzip.h"

#include <errno.h>
#include <unistd.h>

#include "base/assert.h"

#define PIECE 4096u
/* Of a stream: what goes out in one chunk, and one system call. */
#define STREAM_PIECE 8192u

struct squeeze {
    struct restd_response *response;
    z_stream *z;
    size_t left;           /* that may still come out */
    size_t staged;         /* that is for the stage */
    struct rd_chain chain; /* what comes out behind that */
    char buf[PIECE];       /* on its way there */
};

/* Moves what lies in `buf` to the chain. */
static int keep(struct squeeze *s)
{
    size_t made = (size_t)s->z->total_out;
    size_t n = made > s->staged ? made - s->staged - (size_t)s->chain.len : 0;

    return rd_chain_append(&s->chain, s->response->chunks, RD_MEM_OUTPUT,
                           s->buf, n);
}

/* -1 if nothing more may come out. */
static int make_room(struct squeeze *s)
{
    size_t room = s->left < PIECE ? s->left : PIECE;

    if (room == 0 || keep(s) != 0) {
        return -1;
    }
    s->z->next_out = (Bytef *)s->buf;
    s->z->avail_out = (uInt)room;
    s->left -= room;
    return 0;
}

static int feed(struct squeeze *s, const void *data, size_t len, int flush)
{
    int rc;

    s->z->next_in = data;
    s->z->avail_in = (uInt)len;
    do {
        if (s->z->avail_out == 0 && make_room(s) != 0) {
            return -1;
        }
        rc = deflate(s->z, flush);
        RD_ASSERT(rc != Z_STREAM_ERROR);
    } while (s->z->avail_in > 0 || (flush == Z_FINISH && rc != Z_STREAM_END));
    return 0;
}

static int feed_file(struct squeeze *s, const struct rd_chunk_ref *ref)
{
    char data[PIECE];
    uint64_t at = 0;

    while (at < ref->len) {
        uint64_t left = ref->len - at;
        ssize_t n = pread(ref->fd, data, left < PIECE ? left : PIECE,
                          (off_t)(ref->offset + at));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0 || feed(s, data, (size_t)n, Z_NO_FLUSH) != 0) {
            return -1;
        }
        at += (uint64_t)n;
    }
    return 0;
}

static int feed_chain(struct squeeze *s, const struct rd_chain *chain)
{
    int rc = 0;

    for (const struct rd_chunk *c = chain->head; c && rc == 0; c = c->next) {
        if (c->kind == RD_CHUNK_DATA) {
            rc = feed(s, c->data + c->off, c->len, Z_NO_FLUSH);
        } else if (c->ref.data) {
            rc = feed(s, c->ref.data, (size_t)c->ref.len, Z_NO_FLUSH);
        } else {
            rc = feed_file(s, &c->ref);
        }
    }
    return rc;
}

static void replace(struct squeeze *s)
{
    struct restd_response *response = s->response;

    rd_chain_clear(&response->chain, response->chunks, RD_MEM_OUTPUT);
    response->borrowed_len = 0;
    response->stage += response->stage_len;
    response->stage_size -= response->stage_len;
    response->stage_len = s->staged;
    response->chain = s->chain;
}

int rd_gzip_content(struct restd_response *response, struct rd_zstate *state)
{
    struct squeeze s = {.response = response, .z = &state->z};
    uint64_t len = restd_response_body_len(response);
    size_t most = len > 0 ? (size_t)len - 1 : 0;
    size_t room = response->stage_size - response->stage_len;

    room = room < most ? room : most;
    s.left = most - room;
    s.z->next_out = (Bytef *)response->stage + response->stage_len;
    s.z->avail_out = (uInt)room;
    s.staged = room;
    int rc =
        response->borrowed_len > 0
            ? feed(&s, response->borrowed, response->borrowed_len, Z_NO_FLUSH)
            : feed(&s, response->stage, response->stage_len, Z_NO_FLUSH);
    rc = rc ? rc : feed_chain(&s, &response->chain);
    rc = rc ? rc : feed(&s, NULL, 0, Z_FINISH);
    rc = rc ? rc : keep(&s);
    if (rc != 0) {
        rd_chain_clear(&s.chain, response->chunks, RD_MEM_OUTPUT);
        return -1;
    }
    if (s.z->total_out < s.staged) {
        s.staged = (size_t)s.z->total_out;
    }
    replace(&s);
    return 0;
}

static int stream_write(struct restd_stream *stream, void *arg,
                        const void *data, size_t len, int end)
{
    struct rd_zstate *state = arg;
    z_stream *z = &state->z;
    char buf[STREAM_PIECE];
    int rc = 0;

    z->next_in = data;
    z->avail_in = (uInt)len;
    do {
        z->next_out = (Bytef *)buf;
        z->avail_out = sizeof(buf);
        int done = deflate(z, end ? Z_FINISH : Z_SYNC_FLUSH);
        RD_ASSERT(done != Z_STREAM_ERROR);
        size_t n = sizeof(buf) - z->avail_out;
        rc = n > 0 ? rd_h1_stream_send(stream, buf, n) : 0;
    } while (rc == 0 && z->avail_out == 0);
    return rc;
}

static void stream_free(void *arg)
{
    rd_zstate_give(arg);
}

void rd_gzip_stream(struct restd_stream *stream, struct rd_zstate *state)
{
    static const struct rd_stream_filter filter = {stream_write, stream_free};

    stream->filter = &filter;
    stream->filter_state = state;
}
