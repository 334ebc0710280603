/* SPDX-License-Identifier: MIT */
/* Why connections end: log text, counter and test expectation at once. */
#ifndef RD_NET_CONN_TABLE_H
#define RD_NET_CONN_TABLE_H

/* X(NAME, text) */
#define RD_CLOSE_REASONS(X)                                                    \
    X(DONE, "reply said close")                                                \
    X(PEER, "peer closed")                                                     \
    X(RESET, "peer reset")                                                     \
    X(ABORTED, "peer left within a request")                                   \
    X(REFUSED, "request refused")                                              \
    X(KEEPALIVE, "idle for too long")                                          \
    X(SILENT, "no request came")                                               \
    X(READ_TIMEOUT, "request came too slowly")                                 \
    X(WRITE_TIMEOUT, "reply was not taken")                                    \
    X(LIMIT, "oldest idle, connection limit")                                  \
    X(PRESSURE, "oldest idle, memory pressure")                                \
    X(NO_MEMORY, "no memory")                                                  \
    X(DRAIN, "draining")                                                       \
    X(STOP, "stopped")

/* X(NAME, name): what a connection waits for. */
#define RD_CONN_STATES(X)                                                      \
    X(IDLE, "idle")             /* the first byte of a request */              \
    X(READING, "reading")       /* the rest of a request */                    \
    X(PROCESSING, "processing") /* its handler */                              \
    X(WRITING, "writing")       /* the peer to take output */                  \
    X(LINGERING, "lingering")   /* the peer to see an early reply */           \
    X(CLOSED, "closed")         /* the end of the turn */

enum rd_close_reason {
#define X(name, text) RD_CLOSE_##name,
    RD_CLOSE_REASONS(X)
#undef X
        RD_CLOSE_REASONS_N
};

enum rd_conn_state {
#define X(name, text) RD_CONN_##name,
    RD_CONN_STATES(X)
#undef X
        RD_CONN_STATES_N
};

#endif
