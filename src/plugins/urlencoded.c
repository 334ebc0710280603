/* SPDX-License-Identifier: MIT */
/* Urlencoded forms, octet by octet: what has been decoded gathers in the block
 * until the name is whole, then until the block is full of value, so the
 * call-backs do not see how the input was cut. An escape that is cut off by
 * the end of a piece is text. Any thread, one decoder per content. */
#include "plugins/urlencoded.h"

#include "base/slice.h"
#include "codec/chars.h"

static int flush(struct rd_urlencoded *u, struct rd_form_out *out)
{
    uint32_t len = u->len;
    u->len = 0;
    return rd_form_content(out, out->block, len);
}

static int put(struct rd_urlencoded *u, struct rd_form_out *out, char c)
{
    if (!u->in_value && u->len == out->limits.name_max_bytes) {
        return RESTD_ELIMIT;
    }
    if (u->len == RD_FORM_BLOCK) {
        int rc = flush(u, out);
        if (rc < 0) {
            return rc;
        }
    }
    out->block[u->len++] = c;
    return 0;
}

static int end_name(struct rd_urlencoded *u, struct rd_form_out *out)
{
    struct restd_form_part part = {.name = rd_slice(out->block, u->len)};
    u->len = 0;
    u->in_value = 1;
    return rd_form_part(out, &part);
}

static int end_piece(struct rd_urlencoded *u, struct rd_form_out *out)
{
    int rc = 0;
    if (!u->started) {
        return 0;
    }
    if (!u->in_value) {
        rc = end_name(u, out);
    } else {
        rc = flush(u, out);
    }
    *u = (struct rd_urlencoded){0};
    return rc < 0 ? rc : rd_form_end(out);
}

/* Gives out what looked like the beginning of an escape. */
static int drop_escape(struct rd_urlencoded *u, struct rd_form_out *out)
{
    unsigned escape = u->escape;
    u->escape = 0;
    int rc = escape > 0 ? put(u, out, '%') : 0;
    return rc == 0 && escape > 1 ? put(u, out, u->digit) : rc;
}

static int step(struct rd_urlencoded *u, struct rd_form_out *out, char c)
{
    if (u->escape > 0 && rd_chars_is(c, RD_CHARS_HEX)) {
        if (u->escape == 1) {
            u->digit = c;
            u->escape = 2;
            return 0;
        }
        u->escape = 0;
        return put(u, out,
                   (char)(rd_chars_hex(u->digit) << 4 | rd_chars_hex(c)));
    }
    int rc = drop_escape(u, out);
    if (rc < 0) {
        return rc;
    }
    if (c == '&') {
        return end_piece(u, out);
    }
    u->started = 1;
    if (c == '=' && !u->in_value) {
        return end_name(u, out);
    }
    if (c == '%') {
        u->escape = 1;
        return 0;
    }
    return put(u, out, c == '+' ? ' ' : c);
}

int rd_urlencoded_feed(struct rd_urlencoded *u, struct rd_form_out *out,
                       const char *bytes, size_t len)
{
    int rc = 0;
    for (size_t i = 0; i < len && rc == 0; i++) {
        rc = step(u, out, bytes[i]);
    }
    return rc;
}

int rd_urlencoded_finish(struct rd_urlencoded *u, struct rd_form_out *out)
{
    int rc = drop_escape(u, out);
    return rc < 0 ? rc : end_piece(u, out);
}
