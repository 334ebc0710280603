/* SPDX-License-Identifier: MIT */
/* Why connections end: log text, counter and test expectation at once. */
#ifndef RD_NET_CONN_TABLE_H
#define RD_NET_CONN_TABLE_H

/* X(NAME, name in /status, text) */
#define RD_CLOSE_REASONS(X)                                                    \
    X(DONE, "done", "reply said close")                                        \
    X(PEER, "peer", "peer closed")                                             \
    X(RESET, "reset", "peer reset")                                            \
    X(ABORTED, "aborted", "peer left within a request")                        \
    X(REFUSED, "refused", "request refused")                                   \
    X(KEEPALIVE, "keepalive_timeout", "idle for too long")                     \
    X(SILENT, "silent", "no request came")                                     \
    X(READ_TIMEOUT, "read_timeout", "request came too slowly")                 \
    X(WRITE_TIMEOUT, "write_timeout", "reply was not taken")                   \
    X(LIMIT, "connection_limit", "oldest idle, connection limit")              \
    X(PRESSURE, "memory_pressure", "oldest idle, memory pressure")             \
    X(NO_MEMORY, "no_memory", "no memory")                                     \
    X(TRUNCATED, "truncated", "reply given up before its end")                 \
    X(DRAIN, "drain", "draining")                                              \
    X(STOP, "stop", "stopped")

/* X(NAME, name): what a connection waits for. */
#define RD_CONN_STATES(X)                                                      \
    X(IDLE, "idle")             /* the first byte of a request */              \
    X(READING, "reading")       /* the rest of a request */                    \
    X(PROCESSING, "processing") /* its handler */                              \
    X(WRITING, "writing")       /* the peer to take output */                  \
    X(LINGERING, "lingering")   /* the peer to see an early reply */           \
    X(CLOSED, "closed")         /* the end of the turn */

enum rd_close_reason {
#define X(name, word, text) RD_CLOSE_##name,
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

/* For the log, and for /status. */
const char *rd_close_reason_text(enum rd_close_reason reason);
const char *rd_close_reason_name(enum rd_close_reason reason);

#endif
