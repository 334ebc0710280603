/* SPDX-License-Identifier: MIT */
/* Judgements on a running server: alive, ready, and the word for both. They
 * read counters only, so any handler may ask. Any thread. */
#ifndef RD_DAEMON_HEALTH_H
#define RD_DAEMON_HEALTH_H

#include <restd/stats.h>

/* A loop that has not answered a beat for this long is stuck. */
#define RD_HEALTH_STUCK_MS 10000u

/* 1 if every loop has turned lately: a restart would not help. */
int rd_health_alive(const struct restd_server *server);
/* 1 if new connections are served. Else 0, and `why` (static memory) says
 * what is in the way. */
int rd_health_ready(const struct restd_stats *stats, const char **why);
/* 1: not ready although new connections are served, so that a load balancer
 * sends no more of them; 0: as the figures say. Of the process. */
void rd_health_set_draining(int on);
/* "pass", "warn" (at the connection limit) or "fail" (a loop is stuck). A
 * drain is no fault: `state` tells of it. Static memory. */
const char *rd_health_word(const struct restd_server *server,
                           const struct restd_stats *stats);

#endif
