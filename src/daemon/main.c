/* SPDX-License-Identifier: MIT */
/* Beginning and end of the process: arguments, configuration, what was asked for
 * instead of serving; then what has to be so before any thread is: one malloc
 * arena, signals blocked (threads inherit that), the background, descriptors.
 * Failures are lines on stderr and an exit code of sysexits.h. Thread: main. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <restd/restd.h>

#include "daemon/args.h"
#include "daemon/config.h"
#include "daemon/daemonize.h"
#include "daemon/logsink.h"
#include "daemon/probe.h"
#include "daemon/service.h"
#include "daemon/upgrade.h"
#include "daemon/version.h"

enum { HEALTHCHECK_MS = 3000 };

static const int handled_signals[] = {SIGTERM, SIGINT,  SIGQUIT,
                                      SIGHUP,  SIGUSR1, SIGUSR2};

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
    for (size_t i = 0; i < sizeof handled_signals / sizeof *handled_signals;
         i++) {
        sigaddset(&wanted, handled_signals[i]);
    }
    if (sigprocmask(SIG_BLOCK, &blocked, NULL) < 0) {
        return -1;
    }
    return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
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

/* Absolute, with its symbolic links as they are: to which file they lead is
 * for each reload to find out. -1: it does not fit. */
static int make_absolute(const char *path, char out[PATH_MAX])
{
    char cwd[PATH_MAX] = "";
    if (*path != '/' && getcwd(cwd, sizeof cwd) == NULL) {
        return -1;
    }
    int n =
        snprintf(out, PATH_MAX, "%s%s%s", cwd, *path != '/' ? "/" : "", path);
    return n < PATH_MAX ? 0 : -1;
}

/* A reload, and the program that an upgrade starts, must find the file from
 * another folder. */
static void fix_config_path(struct rd_args *args, char **argv)
{
    static char path[PATH_MAX], word[PATH_MAX + 32];
    if (args->config == NULL || strcmp(args->config, "none") == 0 ||
        make_absolute(args->config, path) != 0) {
        return;
    }
    for (char **at = argv; *at != NULL; at++) {
        size_t len = strlen(*at), before = 0;
        while (before <= len && *at + before != args->config) {
            before++; /* "-c" or a longer word in front of it */
        }
        if (before <= len && before < 32) {
            snprintf(word, sizeof word, "%.*s%s", (int)before, *at, path);
            *at = word;
            break;
        }
    }
    args->config = path;
}

/* What an upgrade starts: our path as we were called, which may lead to another
 * file by then, or else what the kernel says. "" if neither is known; USR2 then
 * says that it cannot start it. */
static void find_program(const char *called, char out[PATH_MAX])
{
    struct stat own, there;
    if (strchr(called, '/') != NULL && stat("/proc/self/exe", &own) == 0 &&
        stat(called, &there) == 0 && own.st_dev == there.st_dev &&
        own.st_ino == there.st_ino && make_absolute(called, out) == 0) {
        return;
    }
    if (realpath("/proc/self/exe", out) == NULL) {
        out[0] = '\0';
    }
}

/* Serves in this process, or in one in the background. Takes the
 * configuration. */
static int run(struct rd_args *args, char **argv, struct rd_config *config)
{
    /* Static, as a log writer that hangs in the sink may outlive this call. */
    static struct rd_logsink sink;
    static struct rd_service service;
    static char program[PATH_MAX];
    static struct rd_daemonize daemonize = RD_DAEMONIZE_NONE;
    struct restd_error error;
    int code = EX_OSERR;
    fill_standard_descriptors();
    find_program(argv[0], program);
    fix_config_path(args, argv);
    if (config->daemon && getenv(RD_UPGRADE_ENV) == NULL) {
        int rc = rd_daemonize(&daemonize, &code, &error);
        if (rc != 0) {
            if (rc < 0) {
                complain("%s", error.message);
            }
            rd_config_free(config);
            return code;
        }
    }
    service.args = args;
    service.argv = argv;
    service.program = program;
    service.sink = &sink;
    service.daemonize = &daemonize;
    service.pidfile.fd = -1;
    service.signals = signals_open();
    if (service.signals < 0) {
        complain("signalfd: %s", strerror(errno));
        rd_config_free(config);
        return EX_OSERR;
    }
    raise_descriptor_limit();
    umask(027);
    rd_logsink_init(&sink, STDERR_FILENO, getenv("JOURNAL_STREAM"));
    /* The sink is left open: a writer that hangs in it may still be there. */
    return rd_service_run(&service, config);
}

static int complain_of_config(const struct rd_config_errors *errors)
{
    fprintf(stderr, "%s%u error%s; configuration not loaded\n", errors->text,
            errors->n, errors->n == 1 ? "" : "s");
    return errors->code;
}

/* GET /livez, for container runtimes: of the admin listener, which answers
 * whatever happens, or of the first one. */
static int healthcheck(const struct rd_config *config)
{
    char why[160] = "";
    unsigned i = 0;
    while (i + 1 < config->listens_n && !config->listens[i].admin) {
        i++;
    }
    const char *address =
        config->listens[config->listens[i].admin ? i : 0].address;
    int status =
        rd_probe_address(address, "/livez", HEALTHCHECK_MS, why, sizeof why);
    if (status == 200) {
        return EXIT_SUCCESS;
    }
    if (status < 0) {
        complain("%s: /livez: %s", address, why);
    } else {
        complain("%s: /livez: %d %s", address, status, why);
    }
    return EXIT_FAILURE;
}

/* Loads the configuration and does with it what was asked for. */
static int run_config(struct rd_args *args, char **argv)
{
    static struct rd_config_errors errors;
    struct rd_config *config;
    int code = EXIT_SUCCESS;
    if (rd_config_load(&config, args, &errors) < 0) {
        int bad = complain_of_config(&errors);
        return args->action == RD_ARGS_HEALTHCHECK ? EXIT_FAILURE : bad;
    }
    switch (args->action) {
    case RD_ARGS_DUMP:
        rd_config_dump(config, stdout);
        break;
    case RD_ARGS_HEALTHCHECK:
        code = healthcheck(config);
        break;
    default:
        if (rd_config_probe(config, args->action == RD_ARGS_TEST, &errors) <
            0) {
            code = complain_of_config(&errors);
        } else if (args->action == RD_ARGS_RUN) {
            return run(args, argv, config);
        } else if (!args->quiet) {
            printf("configuration OK: %s\n",
                   config->file != NULL ? config->file : "built-ins, no file");
        }
    }
    rd_config_free(config);
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
    case RD_ARGS_TEST:
    case RD_ARGS_DUMP:
    case RD_ARGS_HEALTHCHECK:
        break;
    }
    /* One arena: each costs address space and up to a heap's worth of pages,
     * and nothing allocates on the request path. */
    mallopt(M_ARENA_MAX, 1);
    return run_config(&args, argv);
}
