/* SPDX-License-Identifier: MIT */
/* Health of the server from its own figures; checks of other services come
 * with a later version and will be asked here.
 * Nothing is cached; the only state is what the administrator has asked for,
 * which outlives every configuration. Any thread.
 */
#include "daemon/health.h"

#include <stdatomic.h>

static _Atomic int is_drain_asked;

void rd_health_set_draining(int on)
{
    atomic_store_explicit(&is_drain_asked, on, memory_order_relaxed);
}

int rd_health_alive(const struct restd_server *server)
{
    struct restd_loop_stats loop;
    if (restd_server_state(server) >= RESTD_STATE_DRAINING) {
        return 1; /* a loop that has ended answers no beats */
    }
    for (unsigned i = 0; restd_server_loop_stats(server, i, &loop) == 0; i++) {
        if (loop.beat_age_ms >= RD_HEALTH_STUCK_MS) {
            return 0;
        }
    }
    return 1;
}

int rd_health_ready(const struct restd_stats *stats, const char **why)
{
    if (stats->state != RESTD_STATE_RUNNING) {
        *why = restd_state_name(stats->state);
        return 0;
    }
    if (atomic_load_explicit(&is_drain_asked, memory_order_relaxed)) {
        *why = "drained by the administrator";
        return 0;
    }
    if (stats->counters.active >= stats->connections_max) {
        *why = "connection limit reached";
        return 0;
    }
    return 1;
}

const char *rd_health_word(const struct restd_server *server,
                           const struct restd_stats *stats)
{
    if (!rd_health_alive(server)) {
        return "fail";
    }
    return stats->counters.active >= stats->connections_max ? "warn" : "pass";
}
