/* SPDX-License-Identifier: MIT */
/* GET /status: the summary and, with ?detail=full, the whole document. What
 * the fields mean stands in the manual page restdaemon(8).
 *
 * struct rd_status samples; there is one for a process.
 * Owner: main. Lifetime: within its server's; its views serve nobody any more
 * when it is freed.
 * Thread: rd_status_new() before restd_server_start() and rd_status_free() when
 * the server has stopped; rd_status_set_config() main.
 *
 * struct rd_status_view serves what has been sampled: one for a router, that
 * is, for a snapshot of the configuration. Several may serve at once.
 * Owner: whoever frees it with the router. Lifetime: its router's.
 * Thread: new main; free any, when no loop serves the router any more; the
 * handler, and the question who is private, the loops.
 */
#ifndef RD_DAEMON_STATUS_H
#define RD_DAEMON_STATUS_H

#include <stdint.h>

#include <restd/error.h>
#include <restd/http.h>
#include <restd/plugins.h>
#include <restd/server.h>

struct rd_logsink;
struct rd_status;
struct rd_status_view;

/* Takes the first sample and starts the 1 Hz sampler on the control loop.
 * `sink`: whose losses are told; NULL: none's. */
int rd_status_new(struct restd_server *server, const struct rd_logsink *sink,
                  struct rd_status **status, struct restd_error *error);
void rd_status_free(struct rd_status *status);

/* What daemon.config tells. Texts are copied, and cut when they are long. */
struct rd_status_config {
    const char *path;    /* NULL: there is no file */
    uint64_t generation; /* loads that succeeded, the first one included */
    int64_t loaded_unix_ms;
    int last_reload_ok;
    const char *last_reload_error; /* NULL: none */
    uint32_t backlog;              /* of listeners without one of their own */
};

/* Until the first call: no file, generation 1, loaded at the start. Readers
 * never wait, nor does this. */
void rd_status_set_config(struct rd_status *status,
                          const struct rd_status_config *config);

/* Who is told what. A request is private or public: public ones get the summary
 * only, with host, pid and load null, and failures are not explained to them.
 * With `allow` those of peers in it are private; without it, and guarded, those
 * through the private listeners: what has come through one that is gone, or by
 * none, is public. */
struct rd_status_view_options {
    unsigned places; /* loops that will serve it, by number */
    int full;        /* the full document is the default */
    int host;        /* 0: what is known of the host is null for all */
    const struct restd_networks *allow; /* borrowed; NULL: none */
    int is_guarded;                     /* 0 and no `allow`: all are private */
    const char *const *private_listeners; /* names, copied */
    unsigned private_n;
};

int rd_status_view_new(const struct rd_status *status,
                       const struct rd_status_view_options *options,
                       struct rd_status_view **view, struct restd_error *error);
void rd_status_view_free(struct rd_status_view *view);

/* The handler; `data` is the struct rd_status_view. */
restd_handler_fn rd_status_handle;

int rd_status_view_is_private(const struct rd_status_view *view,
                              const struct restd_request *request);

#endif
