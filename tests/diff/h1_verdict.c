/* SPDX-License-Identifier: MIT */
/* Prints what our codecs make of each message of tests/unit/h1_messages.h, one
 * JSON object a line, for node_diff.js:
 *
 *   {"name":..., "raw":HEX, "status":0 or that of the head,
 *    "method":..., "target":..., "body":HEX or "fault":"bad" or "incomplete"} */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/h1_messages.h"
#include "codec/chunked.h"
#include "codec/h1_parser.h"

#define FIELDS_MAX 100

static void put_text(const char *key, const char *text, size_t len)
{
    printf(",\"%s\":\"", key);
    for (size_t i = 0; i < len; i++) {
        printf(text[i] == '"' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
    }
    putchar('"');
}

static void put_hex(const char *key, const char *data, size_t len)
{
    printf(",\"%s\":\"", key);
    for (size_t i = 0; i < len; i++) {
        printf("%02x", (unsigned char)data[i]);
    }
    putchar('"');
}

static void put_body(const struct rd_h1_head *head, const char *data,
                     size_t len)
{
    struct rd_chunked chunked;
    char out[4096];
    size_t used;
    size_t made = 0;
    if (head->flags & RD_H1_CHUNKED) {
        if (len > sizeof(out)) {
            abort();
        }
        rd_chunked_init(&chunked, 4096);
        int rc = rd_chunked_decode(&chunked, data, len, out, &used, &made);
        if (rc != RD_CHUNKED_DONE) {
            printf(",\"fault\":\"%s\"", rc < 0 ? "bad" : "incomplete");
            return;
        }
        put_hex("body", out, made);
    } else if (!(head->flags & RD_H1_LENGTH)) {
        put_hex("body", data, 0);
    } else if (head->content_length > len) {
        printf(",\"fault\":\"incomplete\"");
    } else {
        put_hex("body", data, (size_t)head->content_length);
    }
}

static void put_verdict(const struct h1_message *m)
{
    static const struct rd_h1_limits limits = {8192, 16384, FIELDS_MAX};
    struct rd_h1_field fields[FIELDS_MAX];
    struct rd_h1_head head = {.fields = fields};
    int rc = rd_h1_parse(&head, &limits, m->raw, m->len);
    printf("{\"status\":%d", rc > 0 ? 0 : -rc);
    put_text("name", m->name, strlen(m->name));
    put_hex("raw", m->raw, m->len);
    if (rc == 0) {
        fprintf(stderr, "%s: not a whole head\n", m->name);
        exit(EXIT_FAILURE);
    }
    if (rc > 0) {
        put_text("method", m->raw + head.method.off, head.method.len);
        put_text("target", m->raw + head.target.off, head.target.len);
        put_body(&head, m->raw + rc, m->len - (size_t)rc);
    }
    printf("}\n");
}

int main(void)
{
    for (size_t i = 0; i < H1_MESSAGES_N; i++) {
        put_verdict(&h1_messages[i]);
    }
    return EXIT_SUCCESS;
}
