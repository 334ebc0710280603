/* SPDX-License-Identifier: MIT */
/* Escaping for lines of the access log. Pure. */
#ifndef RD_PLUGINS_ACCESS_TEXT_H
#define RD_PLUGINS_ACCESS_TEXT_H

#include <restd/api.h>

/* Writes a field that a client has sent by enum rd_access_escape, or what stands
 * for nothing; returns its end. It is cut, which "..." tells, so that all of it
 * ends before `end`, which is at least 8 bytes away. */
char *rd_access_text(char *p, const char *end, struct restd_slice s,
                     unsigned escape);

#endif
