/* SPDX-License-Identifier: MIT */
/* Handlers that take contents piece by piece.
 *
 * POST, GET /take, POST /big (up to 100 MiB), POST /little (up to 1,000 bytes):
 * answers 201 with its path, the length, and how many bytes were not of the
 * pattern; `fail`, `at`: error of the piece that reaches `at`; `pause`: in each
 * piece, until a timer; `gate`: in the handler, until the gate opens;
 * `turned`: at gate 1, until gate 2; `refuse`: 403 without taking it; `error`
 * of the handler, `end` that of its end; `endless`: without an end; `body`: a
 * response that is not to be seen; `misuse`: its last call asks things of it.
 * POST /echo: sends back what comes, while it comes; `fail`, `at`, `error`.
 * POST, GET /plain: "plain" and the length, and cannot take it. */
#ifndef RD_TESTS_TAKERS_H
#define RD_TESTS_TAKERS_H

#include <stdatomic.h>

extern atomic_ullong taken; /* bytes, of all takers but echoes */
extern atomic_int gate;

/* Adds them to the site's router; the gate is shut. */
void takers_add(void);

#endif
