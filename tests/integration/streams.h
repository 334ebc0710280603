/* SPDX-License-Identifier: MIT */
/* Handlers that stream.
 *
 * GET, POST /stream: `len` bytes of the pattern, offered in pieces of `piece`;
 * `status`; `trailers`; `timer`: nothing before a timer is due; `hold`: not
 * ended; `abort`: given up where it would be ended; `ended`, `aborted`:
 * in the handler; `dropped`: another response in its place; `fails`: the
 * handler returns an error; `misuse`: its last call asks things of it;
 * `waiting`: /release goes on with it.
 * GET /release: has the waiting one send up to `len` and end, or `abort`.
 * GET /plain: "plain". */
#ifndef RD_TESTS_STREAMS_H
#define RD_TESTS_STREAMS_H

/* Adds them to the site's router. */
void streams_add(void);

#endif
