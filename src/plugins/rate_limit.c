/* SPDX-License-Identifier: MIT */
/* Rate limit by client address.
 *
 * All loops share one table (rate_table.h), or a client with many connections
 * would have the limit once for each loop. That bends the rule of no shared
 * cache line on the path of a request, as little as can be: no lock, one line
 * for each address, so that only loops which serve the same client at the same
 * time meet, and only where a router or route has this plugin. The time is the
 * turn's, no clock is read. Thread: make any, the rest [loop]. */
#include "plugins/rate_limit.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include <restd/plugins.h>

#include "base/error.h"
#include "base/mem.h"
#include "http/message.h"
#include "net/reactor.h"
#include "plugins/make.h"
#include "plugins/rate_table.h"

#define NS_PER_S UINT64_C(1000000000)

void restd_rate_limit_options_init_size(
    struct restd_rate_limit_options *options, size_t size)
{
    static const struct restd_rate_limit_options defaults = {
        .rate = 10, .period_ms = 1000, .burst = 20, .entries = 4096};

    rd_sized_init(options, size, &defaults, sizeof(defaults));
}

/* An IPv4 address is a number below 2^32, which no IPv6 network in use is:
 * ::/8 is reserved (RFC 4291 2.4). */
uint64_t rd_rate_limit_key(const struct rd_addr *peer)
{
    uint64_t network;
    uint32_t ip;

    if (peer->family == RD_IPV6) {
        memcpy(&network, peer->ip, sizeof(network));
        return be64toh(network);
    }
    memcpy(&ip, peer->ip, sizeof(ip));
    return ip;
}

static int before(struct restd_request *request,
                  struct restd_response *response, void *data)
{
    const struct rd_conn *conn = request->conn;
    char seconds[24];

    if (conn->peer.family == RD_UNIX) {
        return 0;
    }
    uint64_t wait_ns = rd_rate_table_take(data, rd_rate_limit_key(&conn->peer),
                                          conn->reactor->turn_ns);
    if (__builtin_expect(wait_ns == 0, 1)) {
        return 0;
    }
    (void)snprintf(seconds, sizeof(seconds), "%llu",
                   (unsigned long long)((wait_ns + NS_PER_S - 1) / NS_PER_S));
    int rc = restd_response_problem(response, 429,
                                    "too many requests from this address");
    if (rc == 0) {
        rc = restd_response_set_header(response, "Retry-After", seconds);
    }
    return rc != 0 ? rc : RESTD_ANSWERED;
}

static void table_free(void *data)
{
    rd_rate_table_fini(data);
    rd_mem_free(data);
}

static int check(const struct restd_rate_limit_options *o,
                 struct restd_error *error)
{
    const struct {
        const char *name;
        uint32_t value, min, max;
    } limits[] = {{"rate", o->rate, 1, 1000000},
                  {"period_ms", o->period_ms, 1, 3600000},
                  {"burst", o->burst, 1, 1000000},
                  {"entries", o->entries, 4, 1048576}};

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (limits[i].value < limits[i].min ||
            limits[i].value > limits[i].max) {
            return rd_error(
                error, RESTD_EINVAL, "%s of a rate limit is %u, not %u to %u",
                limits[i].name, limits[i].value, limits[i].min, limits[i].max);
        }
    }
    return 0;
}

int restd_rate_limit(const struct restd_rate_limit_options *options,
                     struct restd_plugin *plugin, struct restd_error *error)
{
    struct restd_rate_limit_options o;

    restd_rate_limit_options_init(&o);
    int rc = rd_make_options(&o, sizeof(o), options, error);
    rc = rc ? rc : check(&o, error);
    if (rc != 0) {
        return rc;
    }
    struct rd_rate_table *table = rd_mem_alloc(sizeof(*table));
    uint64_t interval_ns = o.period_ms * UINT64_C(1000000) / o.rate;
    if (!table ||
        rd_rate_table_init(table, o.entries, interval_ns, o.burst) != 0) {
        rd_mem_free(table);
        return rd_make_no_memory(error);
    }
    rd_make_plugin(plugin, "rate limit", table_free, table);
    plugin->before = before;
    return 0;
}
