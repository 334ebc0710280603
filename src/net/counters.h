/* SPDX-License-Identifier: MIT */
/* A loop's counters.
 *
 * Owner: a reactor. Lifetime: the server's. Thread: written by the loop alone,
 * hence load and store and no locked instruction; read by any. */
#ifndef RD_NET_COUNTERS_H
#define RD_NET_COUNTERS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/hist.h"
#include "net/conn_table.h"
#include "net/listener.h"

struct rd_counters {
    /* Once per connection; the acceptor reads them for each accept. */
    alignas(64) _Atomic uint64_t accepted;
    _Atomic uint64_t closed;
    _Atomic uint64_t rejected;
    _Atomic uint64_t timed_out;
    /* Once per request. */
    alignas(64) _Atomic uint64_t requests;
    _Atomic uint64_t requests_pending; /* that outlive their turn */
    _Atomic uint64_t handling; /* 1 + state of the one in its handler, or 0 */
    _Atomic uint64_t responses[5]; /* by class, 1xx first */
    _Atomic uint64_t parse_errors;
    _Atomic uint64_t aborted;
    _Atomic uint64_t received_bytes;
    _Atomic uint64_t sent_bytes;
    _Atomic uint64_t busy_ns; /* from the poll to the last clock read */
    _Atomic uint64_t states[RD_CONN_STATES_N]; /* connections in each */
    _Atomic uint64_t reasons[RD_CLOSE_REASONS_N];
    _Atomic uint64_t lost; /* requests whose connection went too early */
    _Atomic uint64_t cut;  /* the same by a stop, half heads too */
    /* 1 + requests that were over when a drain was announced; 0: none was. */
    _Atomic uint64_t drain_base;
    /* Connections that have gone, by the listener through which they came. */
    _Atomic uint64_t left[RD_LISTENERS_MAX + 1];
    struct rd_hist latency;
};

static inline void rd_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(
        counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
        memory_order_relaxed);
}

static inline uint64_t rd_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
