/* SPDX-License-Identifier: MIT */
/* Decoder of the chunked coding. An automaton over single octets for all that
 * is not content, which is copied in one go. So any cut of the input goes
 * through the same states. Trailer fields are checked and dropped: nothing in
 * them can change the framing. Any thread, one decoder per message.
 *
 *   SIZE -> (EXT_*) -> SIZE_LF -> DATA -> DATA_CR -> DATA_LF -> SIZE
 *                             \-> LINE -> NAME -> VALUE -> VALUE_LF -> LINE
 *                                    \-> END_LF -> DONE
 */
#include "codec/chunked.h"

#include <string.h>

#include "codec/chars.h"

#define DIGITS_MAX 16

enum state {
    SIZE,
    EXT_SPACE, /* behind the size or a value: only ';' may follow */
    EXT_START, /* behind ';' */
    EXT_NAME,
    EXT_NAME_SPACE, /* behind a name: ';' or '=' */
    EXT_EQUAL,      /* behind '=' */
    EXT_TOKEN,
    EXT_QUOTED,
    EXT_ESCAPE, /* behind '\' in a quoted string */
    EXT_CLOSED, /* right behind a quoted string */
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    LINE, /* start of a trailer line */
    NAME,
    VALUE,
    VALUE_LF,
    END_LF,
    DONE,
    BAD,
    TOO_LARGE
};

void rd_chunked_init(struct rd_chunked *c, uint32_t trailer_max)
{
    *c = (struct rd_chunked){.trailer_max = trailer_max, .state = SIZE};
}

static int is_space(char octet)
{
    return octet == ' ' || octet == '\t';
}

/* What may come behind a complete size, name or value. */
static enum state after(char octet, enum state space)
{
    if (is_space(octet)) {
        return space;
    }
    return octet == ';' ? EXT_START : octet == '\r' ? SIZE_LF : BAD;
}

static enum state step_size(struct rd_chunked *c, char octet)
{
    if (!rd_chars_is(octet, RD_CHARS_HEX)) {
        return c->digits > 0 ? after(octet, EXT_SPACE) : BAD;
    }
    if (c->digits == DIGITS_MAX) {
        return BAD;
    }
    c->digits++;
    c->left = c->left << 4 | rd_chars_hex(octet);
    return SIZE;
}

/* RFC 9112 7.1.1: *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted ) ] ) */
static enum state step_ext(enum state state, char octet)
{
    int token = rd_chars_is(octet, RD_CHARS_TOKEN);
    switch (state) {
    case EXT_SPACE:
        return is_space(octet) ? state : octet == ';' ? EXT_START : BAD;
    case EXT_START:
        return token ? EXT_NAME : is_space(octet) ? state : BAD;
    case EXT_NAME:
        return token          ? state
               : octet == '=' ? EXT_EQUAL
                              : after(octet, EXT_NAME_SPACE);
    case EXT_NAME_SPACE:
        return octet == '='                      ? EXT_EQUAL
               : is_space(octet) || octet == ';' ? after(octet, EXT_NAME_SPACE)
                                                 : BAD;
    case EXT_EQUAL:
        return token             ? EXT_TOKEN
               : octet == '"'    ? EXT_QUOTED
               : is_space(octet) ? state
                                 : BAD;
    case EXT_TOKEN:
        return token ? state : after(octet, EXT_SPACE);
    case EXT_QUOTED:
        return octet == '"'                         ? EXT_CLOSED
               : octet == '\\'                      ? EXT_ESCAPE
               : rd_chars_is(octet, RD_CHARS_VALUE) ? state
                                                    : BAD;
    case EXT_ESCAPE:
        return rd_chars_is(octet, RD_CHARS_VALUE) ? EXT_QUOTED : BAD;
    default: /* EXT_CLOSED */
        return after(octet, EXT_SPACE);
    }
}

static enum state step_line_end(struct rd_chunked *c, char octet)
{
    if (octet != (c->state == DATA_CR ? '\r' : '\n')) {
        return BAD;
    }
    switch ((enum state)c->state) {
    case SIZE_LF:
        c->digits = 0;
        return c->left > 0 ? DATA : LINE;
    case DATA_CR:
        return DATA_LF;
    case DATA_LF:
        return SIZE;
    case VALUE_LF:
        return LINE;
    default: /* END_LF */
        return DONE;
    }
}

static enum state step_trailer(enum state state, char octet)
{
    int token = rd_chars_is(octet, RD_CHARS_TOKEN);
    switch (state) {
    case LINE:
        return token ? NAME : octet == '\r' ? END_LF : BAD;
    case NAME:
        return token ? NAME : octet == ':' ? VALUE : BAD;
    default: /* VALUE */
        return rd_chars_is(octet, RD_CHARS_VALUE) ? VALUE
               : octet == '\r'                    ? VALUE_LF
                                                  : BAD;
    }
}

/* The state behind one octet that is not content. */
static enum state step(struct rd_chunked *c, char octet)
{
    enum state next = (enum state)c->state;
    switch (next) {
    case SIZE:
        next = step_size(c, octet);
        break;
    case EXT_SPACE:
    case EXT_START:
    case EXT_NAME:
    case EXT_NAME_SPACE:
    case EXT_EQUAL:
    case EXT_TOKEN:
    case EXT_QUOTED:
    case EXT_ESCAPE:
    case EXT_CLOSED:
        next = step_ext(next, octet);
        break;
    case SIZE_LF:
    case DATA_CR:
    case DATA_LF:
    case END_LF:
        return step_line_end(c, octet);
    case LINE:
    case NAME:
    case VALUE:
        next = step_trailer(next, octet);
        break;
    case VALUE_LF:
        next = step_line_end(c, octet);
        break;
    case DATA:
    case DONE:
    case BAD:
    case TOO_LARGE:
        break;
    }
    if (next >= EXT_SPACE && next <= EXT_CLOSED &&
        ++c->ext_len > RD_CHUNKED_EXT_MAX) {
        return BAD;
    }
    if (next >= LINE && next <= VALUE_LF && ++c->trailer_len > c->trailer_max) {
        return TOO_LARGE;
    }
    return next;
}

/* Moves as much content as there is; answers how much. */
static size_t copy(struct rd_chunked *c, const char *src, size_t len, char *dst)
{
    size_t n = c->left < len ? (size_t)c->left : len;
    if (dst != src) {
        memmove(dst, src, n);
    }
    c->left -= n;
    if (c->left == 0) {
        c->state = DATA_CR;
    }
    return n;
}

int rd_chunked_decode(struct rd_chunked *c, const char *src, size_t len,
                      char *dst, size_t *used, size_t *made)
{
    size_t in = 0;
    size_t out = 0;
    while (in < len && c->state < DONE) {
        if (c->state == DATA) {
            size_t n = copy(c, src + in, len - in, dst + out);
            in += n;
            out += n;
        } else {
            c->state = (uint8_t)step(c, src[in]);
            in += c->state < BAD;
        }
    }
    *used = in;
    *made = out;
    switch ((enum state)c->state) {
    case DONE:
        return RD_CHUNKED_DONE;
    case BAD:
        return -400;
    case TOO_LARGE:
        return -431;
    default:
        return RD_CHUNKED_MORE;
    }
}
