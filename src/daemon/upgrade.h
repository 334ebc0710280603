/* SPDX-License-Identifier: MIT */
/* Replacing the running program by a new one that takes over its listening
 * sockets, so that no connection is refused.
 *
 *   old                                      new
 *   spawn, with one end of a socket pair ->  reads the listeners, starts its
 *   a message for each listener, "end"   ->  loops, does not accept yet, asks
 *                                            each of them for /livez
 *                              "ready"   <-
 *   gives up its unix paths, tells the
 *   service manager,              "go"   ->  accepts
 *   drains                    "serves"   <-
 *
 * If the new one fails, ends, or is not ready in time, it is killed, and the
 * old one goes on as if nothing had been.
 *
 * struct rd_upgrade: the old side. Owner: the service. Thread: main. */
#ifndef RD_DAEMON_UPGRADE_H
#define RD_DAEMON_UPGRADE_H

#include <stdint.h>
#include <sys/types.h>

#include <restd/error.h>
#include <restd/server.h>

#define RD_UPGRADE_TIMEOUT_MS 30000
#define RD_UPGRADE_ENV "RESTDAEMON_UPGRADE"

struct rd_upgrade {
    int fd;    /* to the new process; -1: none under way */
    pid_t pid; /* of it */
    uint64_t until_ms;
    int may_go; /* it has been told so */
};

enum rd_upgrade_event {
    RD_UPGRADE_WAITS,  /* nothing new */
    RD_UPGRADE_READY,  /* it can take over: answer by rd_upgrade_go() */
    RD_UPGRADE_SERVES, /* it has taken over, and is forgotten */
    RD_UPGRADE_FAILED  /* it is gone; `why` has a sentence */
};

void rd_upgrade_init(struct rd_upgrade *upgrade);
/* A listener that is handed over: `address` is what the configuration has for
 * it, which is not where it is bound if a service manager has bound it. */
struct rd_upgrade_listener {
    int fd;
    int owns_path; /* it is for the new process to unlink */
    const char *address;
};

/* Starts `path` with `argv` and sends it `n` listeners. `env` is what is added
 * to the environment, NULL at the end. */
RESTD_MUST_CHECK int
rd_upgrade_start(struct rd_upgrade *upgrade, const char *path,
                 char *const argv[], const char *const env[],
                 const struct rd_upgrade_listener *listeners, unsigned n,
                 struct restd_error *error);
/* Looks what has come from the new process, when upgrade->fd is readable or
 * time has passed. */
enum rd_upgrade_event rd_upgrade_poll(struct rd_upgrade *upgrade, char *why,
                                      size_t size);
/* ms until rd_upgrade_poll() has to be called at the latest; -1: never. */
int rd_upgrade_wait_ms(const struct rd_upgrade *upgrade);
/* Lets the new process accept, which it confirms: that it has not died since is
 * known only then. Returns -1 if it is gone by now, with a sentence in `why`. */
int rd_upgrade_go(struct rd_upgrade *upgrade, char *why, size_t size);
/* Kills the new process. */
void rd_upgrade_abort(struct rd_upgrade *upgrade);

/* The new side. */

#define RD_INHERITED_MAX 32
#define RD_INHERITED_ADDRESS_MAX 128

/* Owner: main. */
struct rd_takeover {
    int fd; /* to the old process; -1: this is a start of its own */
    unsigned n;
    struct {
        int fd; /* listening; -1: taken */
        int owns_path;
        char address[RD_INHERITED_ADDRESS_MAX]; /* as the old process has it */
    } sockets[RD_INHERITED_MAX];
};

/* Reads what the old process sends, if there is one. */
RESTD_MUST_CHECK int rd_takeover_begin(struct rd_takeover *takeover,
                                       struct restd_error *error);
/* The descriptor of a listener that the old process has configured so, or that
 * is bound so, which is then the caller's, its path as well if `owns_path`
 * says so; -1: none. */
int rd_takeover_take(struct rd_takeover *takeover, const char *address,
                     int *owns_path);
/* Asks every loop of a server that does not accept yet for /livez. */
RESTD_MUST_CHECK int rd_takeover_probe(struct restd_server *server,
                                       unsigned loops,
                                       struct restd_error *error);
/* Says "ready" and waits for "go"; returns also when the old process is gone,
 * as then nobody else is left to serve. Descriptors that nobody has taken are
 * closed, their paths unlinked. */
void rd_takeover_finish(struct rd_takeover *takeover);
/* Says "serves": the old process may drain. */
void rd_takeover_confirm(struct rd_takeover *takeover);

#endif
