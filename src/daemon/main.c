/* SPDX-License-Identifier: MIT */
/* The daemon's main thread: starts everything, then waits for signals.
 *
 * Order: arguments, one malloc arena, signals blocked (threads inherit that),
 * descriptor limit, server, listeners, status and routes, start, poll. Every
 * failure before the start is one line on stderr and an exit code of
 * sysexits.h; after it, lines go to the server's log. TERM, INT and QUIT drain,
 * a second one stops at once.
 * This is the only file that ends the process, and it serves no request.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include <restd/restd.h>

#include "daemon/address.h"
#include "daemon/args.h"
#include "daemon/builtin.h"
#include "daemon/logsink.h"
#include "daemon/status.h"
#include "daemon/version.h"

static const struct {
    int number;
    const char *name;
} handled_signals[] = {
    {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},
    {SIGHUP, "SIGHUP"},   {SIGUSR1, "SIGUSR1"},
};

/* Static, as a log writer that hangs in it may outlive run(). */
static struct rd_logsink log_sink;

enum { HANDLED_SIGNALS_N = sizeof handled_signals / sizeof handled_signals[0] };

static void complain(const char *format, ...) RESTD_PRINTF(1, 2);

static void complain(const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "restdaemon: %s\n", text);
}

/* Exit code of a failed library call. */
static int exit_code(int error)
{
    switch (error) {
    case RESTD_EADDRINUSE:
        return EX_UNAVAILABLE;
    case RESTD_EACCES:
        return EX_NOPERM;
    case RESTD_EOS:
    case RESTD_ENOMEM:
        return EX_OSERR;
    case RESTD_EINVAL:
    case RESTD_ERANGE:
    case RESTD_ENOENT:
    case RESTD_EEXIST:
    case RESTD_EBUDGET:
        return EX_CONFIG;
    default:
        return EXIT_FAILURE;
    }
}

static int complain_of(const struct restd_error *error)
{
    complain("%s", error->message);
    return exit_code(error->code);
}

/* Blocks every signal but those that stop a job or tell of a fault of our own,
 * and returns a descriptor for the ones that are handled. */
static int signals_open(void)
{
    static const int left_alone[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGSEGV,
                                     SIGBUS,  SIGFPE,  SIGILL,  SIGABRT,
                                     SIGTRAP, SIGSYS};
    sigset_t blocked, wanted;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof left_alone / sizeof left_alone[0]; i++) {
        sigdelset(&blocked, left_alone[i]);
    }
    sigemptyset(&wanted);
    for (size_t i = 0; i < HANDLED_SIGNALS_N; i++) {
        sigaddset(&wanted, handled_signals[i].number);
    }
    if (sigprocmask(SIG_BLOCK, &blocked, NULL) < 0) {
        return -1;
    }
    return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

static const char *signal_name(uint32_t number)
{
    for (size_t i = 0; i < HANDLED_SIGNALS_N; i++) {
        if ((uint32_t)handled_signals[i].number == number) {
            return handled_signals[i].name;
        }
    }
    return "signal";
}

/* Acts on one signal; `stopping` tells whether a drain has begun. */
static void on_signal(const struct rd_builtin *builtin, uint32_t number,
                      int *stopping)
{
    const char *name = signal_name(number);
    if (number == SIGUSR1) {
        rd_logsink_reopen(&log_sink);
        restd_server_log_flush(builtin->server);
        restd_server_log(builtin->server, RESTD_LOG_NOTICE,
                         "%s: log files are opened anew", name);
    } else if (number == SIGHUP) {
        restd_server_log(builtin->server, RESTD_LOG_NOTICE,
                         "%s ignored: nothing to reload", name);
    } else if (!*stopping) {
        *stopping = 1;
        restd_server_log(builtin->server, RESTD_LOG_NOTICE,
                         "%s: draining, once more stops at once", name);
        restd_server_drain(builtin->server);
    } else {
        restd_server_log(builtin->server, RESTD_LOG_NOTICE,
                         "%s: stopping at once", name);
        restd_server_stop(builtin->server);
    }
}

/* Returns the exit code once the server has stopped. */
static int serve(const struct rd_builtin *builtin, int signals)
{
    int stopping = 0;
    struct pollfd fds[2] = {
        {restd_server_stopped_fd(builtin->server), POLLIN, 0},
        {signals, POLLIN, 0}};
    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            complain("poll: %s", strerror(errno));
            return EXIT_FAILURE;
        }
        if (fds[0].revents != 0) {
            break;
        }
        struct signalfd_siginfo info;
        while (read(signals, &info, sizeof info) == sizeof info) {
            on_signal(builtin, info.ssi_signo, &stopping);
        }
    }
    restd_server_wait(builtin->server);
    if (!stopping) {
        complain("the server has stopped by itself");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

static int listen_all(struct restd_server *server, const struct rd_args *args,
                      struct restd_error *error)
{
    for (unsigned i = 0; i < args->listen_n; i++) {
        int rc = restd_server_listen(server, args->listen[i], error);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* A handler cannot see yet through which listener a request came, so one
 * listener that others can reach makes the whole daemon public. Allow lists and
 * tokens, which will lift that, come with configuration files. */
static int is_public(const struct rd_args *args)
{
    for (unsigned i = 0; i < args->listen_n; i++) {
        if (!rd_address_is_local(args->listen[i])) {
            return 1;
        }
    }
    return 0;
}

static void log_start(const struct rd_builtin *builtin)
{
    char address[160];
    for (unsigned i = 0;
         restd_server_address(builtin->server, i, address, sizeof address) >= 0;
         i++) {
        restd_server_log(builtin->server, RESTD_LOG_NOTICE, "listening on %s%s",
                         rd_address_is_unix(address) ? "" : "http://", address);
    }
    if (builtin->is_public) {
        restd_server_log(builtin->server, RESTD_LOG_NOTICE,
                         "an address is not loopback: /status is served to all "
                         "as the summary only, without host, pid and load");
    }
}

static int run_server(struct rd_builtin *builtin, const struct rd_args *args,
                      int signals)
{
    struct restd_error error;
    struct restd_server *server = builtin->server;
    if (listen_all(server, args, &error) < 0) {
        return complain_of(&error);
    }
    builtin->is_public = is_public(args);
    if (rd_status_new(server, args->options.backlog, builtin->is_public,
                      &builtin->status, &error) < 0) {
        return complain_of(&error);
    }
    int code;
    if (rd_builtin_routes(builtin, &error) < 0 ||
        restd_server_start(server, &error) < 0) {
        code = complain_of(&error);
    } else {
        log_start(builtin);
        code = serve(builtin, signals);
    }
    restd_server_stop(server);
    rd_status_free(builtin->status);
    return code;
}

/* The library takes the soft limit as it finds it; a daemon has no reason to
 * stay below the hard one. A failure only means fewer connections. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* A descriptor of ours that got the number 2 would receive the log. */
static void fill_standard_descriptors(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO) {
        close(fd);
    }
}

static int run(struct rd_args *args)
{
    static const struct rd_config_log to_stderr = {.target = RD_LOG_STDERR};
    struct rd_builtin builtin = {NULL, NULL, 0};
    struct restd_error error;
    fill_standard_descriptors();
    int signals = signals_open();
    if (signals < 0) {
        complain("signalfd: %s", strerror(errno));
        return EX_OSERR;
    }
    raise_descriptor_limit();
    rd_logsink_init(&log_sink, STDERR_FILENO, getenv("JOURNAL_STREAM"));
    if (rd_logsink_configure(&log_sink, &to_stderr, NULL, &error) < 0) {
        return complain_of(&error);
    }
    args->options.log = rd_logsink_write;
    args->options.log_flush = rd_logsink_flush;
    args->options.log_data = &log_sink;
    if (restd_server_new(&args->options, &builtin.server, &error) < 0) {
        return complain_of(&error);
    }
    int code = run_server(&builtin, args, signals);
    restd_server_free(builtin.server);
    return code;
}

int main(int argc, char **argv)
{
    static struct rd_args args;
    int code = rd_args_parse(&args, argc, argv);
    if (code != 0) {
        complain("%s", args.error);
        return code;
    }
    switch (args.action) {
    case RD_ARGS_HELP:
        rd_args_help(stdout);
        return EXIT_SUCCESS;
    case RD_ARGS_VERSION:
        rd_version_print(stdout);
        return EXIT_SUCCESS;
    case RD_ARGS_RUN:
        break;
    }
    /* One arena: each costs address space and up to a heap's worth of pages,
     * and nothing allocates on the request path. */
    mallopt(M_ARENA_MAX, 1);
    return run(&args);
}
