/* SPDX-License-Identifier: MIT */
/* Media types by file extension, IANA's names. Constant, any thread. */
#ifndef RD_PLUGINS_MIME_H
#define RD_PLUGINS_MIME_H

#include <restd/api.h>

struct rd_mime {
    char extension[12]; /* in small letters, terminated */
    uint8_t packed;     /* its contents are compressed already */
    const char *type;   /* at most RD_TYPE_MAX octets */
};

/* By what follows the last dot of the last segment, in any letters; a name
 * that only begins with a dot has no extension. NULL: not known. */
const struct rd_mime *rd_mime_of(struct restd_slice path);

#endif
