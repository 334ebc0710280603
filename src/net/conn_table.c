/* SPDX-License-Identifier: MIT */
/* Names of the close reasons. Pure, any thread. */
#include "net/conn_table.h"

const char *rd_close_reason_text(enum rd_close_reason reason)
{
    static const char *const texts[] = {
#define X(name, word, text) text,
        RD_CLOSE_REASONS(X)
#undef X
    };
    return texts[reason];
}

const char *rd_close_reason_name(enum rd_close_reason reason)
{
    static const char *const words[] = {
#define X(name, word, text) word,
        RD_CLOSE_REASONS(X)
#undef X
    };
    return words[reason];
}
