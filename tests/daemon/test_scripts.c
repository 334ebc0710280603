/* SPDX-License-Identifier: MIT */
/* Runs the tests that are no C: each script or replay binary is one Check
 * test, which starts it as a child, waits for its end and shows what it wrote
 * when it fails. The scripts are found by listing folders, so a new one needs
 * no line here:
 *
 *   daemon  tests/daemon/t_*.sh, tests/daemon/t_*.py
 *   wire    tests/wire/t_*.py
 *   fuzz    every RD_BUILD/fuzz/fuzz_*, with the corpus of its name
 *   diff    tests/diff/node_diff.js
 *   examples  tests/examples/t_*.py, one for every program in RD_BUILD/examples
 *
 * Tags say which builds can do without (CK_EXCLUDE_TAGS, scripts/run-checks):
 * those under TSan without what is "single", as it has one thread or is a small
 * program around a library that is tested for races elsewhere; those under any
 * sanitizer without what is "plain", as it compares verdicts.
 *
 * Exit status 0 is success, everything else is a failure; there is no "skip".
 * The environment (RD_TOP, RD_BUILD, RD_BIN) comes from scripts/run-checks and
 * is handed on. Single-threaded.
 */
#include <check.h>
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/suite.h"

#define SCRIPT_TIMEOUT_S 200
#define ARGS_MAX 8

static const char *top_dir, *build_dir;

enum { DAEMON, WIRE, FUZZ, DIFF, EXAMPLES, KINDS_N };

static const char *const kind_names[KINDS_N] = {"daemon", "wire", "fuzz",
                                                "diff", "examples"};
static const char *const kind_tags[KINDS_N] = {"", "", "single", "single plain",
                                               "single"};
static glob_t kinds[KINDS_N];

static void kind_add(int kind, const char *dir, const char *pattern)
{
    char path[4096];
    int flags = kinds[kind].gl_pathc > 0 ? GLOB_APPEND : 0;

    snprintf(path, sizeof(path), "%s/%s", dir, pattern);
    if (glob(path, flags, NULL, &kinds[kind]) == GLOB_NOSPACE) {
        fputs("out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
}

static long scale(void)
{
    const char *text = getenv("CK_TIMEOUT_MULTIPLIER");
    long n = text != NULL ? strtol(text, NULL, 10) : 1;
    return n > 0 ? n : 1;
}

static const char *interpreter(const char *path)
{
    static const char *const by_suffix[][2] = {
        {".sh", "sh"}, {".py", "python3"}, {".js", "node"}};
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot != NULL && i < 3; i++) {
        if (strcmp(dot, by_suffix[i][0]) == 0) {
            return by_suffix[i][1];
        }
    }
    return NULL;
}

/* In the child: only what fork() leaves safe, as the parent has one thread. */
static void exec_child(const char *const *args, int out)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    /* Scripts count descriptors, and these are Check's and make's. */
    closefrom(STDERR_FILENO + 1);
    execvp(args[0], (char *const *)(uintptr_t)args);
    dprintf(STDERR_FILENO, "%s: %s (scripts/test installs what tests need)\n",
            args[0], strerror(errno));
    _exit(127);
}

/* Waits for the child; kills its whole process group when time is up.
 * Returns its wait status, or -1 for one that was killed. */
static int wait_child(pid_t pid, const sigset_t *chld)
{
    time_t end = time(NULL) + SCRIPT_TIMEOUT_S * scale();
    int status = 0;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        struct timespec left = {end - time(NULL), 0};
        if (left.tv_sec <= 0) {
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        sigtimedwait(chld, NULL, &left);
    }
    /* Nothing that a script leaves behind outlives it. */
    kill(-pid, SIGKILL);
    return status;
}

static void show(FILE *out)
{
    char line[4096];

    rewind(out);
    while (fgets(line, sizeof(line), out) != NULL) {
        fputs(line, stdout);
    }
    fflush(stdout);
}

/* scripts/check-parity asks for scripts by name, which TAP does not give. */
static void note_passed(const char *name)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/tap/scripts/%s", build_dir, name);
    FILE *f = fopen(path, "we");
    if (f != NULL) {
        fclose(f);
    }
}

static void run(const char *const *args, const char *name)
{
    FILE *out = tmpfile();
    sigset_t chld;

    ck_assert_ptr_nonnull(out);
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        exec_child(args, fileno(out));
    }
    ck_assert_int_gt(pid, 0);
    int status = wait_child(pid, &chld);
    if (status != 0) {
        printf("--- output of %s\n", name);
        show(out);
        printf("--- end of %s\n", name);
        fflush(stdout);
    }
    fclose(out);
    ck_assert_msg(status != -1, "%s: no end after %ld s", name,
                  SCRIPT_TIMEOUT_S * scale());
    ck_assert_msg(!WIFSIGNALED(status), "%s: signal %d", name,
                  WTERMSIG(status));
    ck_assert_msg(status == 0, "%s: exit status %d", name, WEXITSTATUS(status));
    note_passed(name);
}

static void run_script(int kind, int i)
{
    const char *path = kinds[kind].gl_pathv[i];
    const char *args[ARGS_MAX] = {interpreter(path), path, NULL};
    const char *name = strrchr(path, '/') + 1;

    run(args[0] != NULL ? args : args + 1, name);
}

START_TEST(script_daemon)
{
    run_script(DAEMON, _i);
}
END_TEST

START_TEST(script_wire)
{
    run_script(WIRE, _i);
}
END_TEST

START_TEST(script_diff)
{
    run_script(DIFF, _i);
}
END_TEST

START_TEST(script_examples)
{
    run_script(EXAMPLES, _i);
}
END_TEST

/* fuzz_uri replays tests/fuzz/corpus/uri and tests/fuzz/regress/uri; the
 * second exists only once a fault has been found. */
START_TEST(replay_fuzz)
{
    const char *path = kinds[FUZZ].gl_pathv[_i];
    const char *name = strrchr(path, '/') + 1;
    const char *target = strncmp(name, "fuzz_", 5) == 0 ? name + 5 : name;
    char corpus[4096], regress[4096];

    snprintf(corpus, sizeof(corpus), "%s/tests/fuzz/corpus/%s", top_dir,
             target);
    snprintf(regress, sizeof(regress), "%s/tests/fuzz/regress/%s", top_dir,
             target);
    ck_assert_msg(access(corpus, R_OK) == 0, "%s has no corpus", name);
    const char *args[ARGS_MAX] = {
        path, corpus, access(regress, R_OK) == 0 ? regress : NULL, NULL};
    run(args, name);
}
END_TEST

/* A listing that finds nothing would otherwise pass. */
START_TEST(kinds_present)
{
    ck_assert_msg(kinds[_i].gl_pathc > 0, "no %s scripts found",
                  kind_names[_i]);
}
END_TEST

/* RD_PART=1/3: the first third of each kind, so that three of us run at a time.
 */
static void part_of(int n, int *from, int *to)
{
    const char *text = getenv("RD_PART");
    long part = 1, parts = 1;

    if (text != NULL) {
        char *end = NULL;
        part = strtol(text, &end, 10);
        parts = *end == '/' ? strtol(end + 1, NULL, 10) : 0;
    }
    if (part < 1 || part > parts) {
        fputs("RD_PART must be as in 1/3\n", stderr);
        exit(EXIT_FAILURE);
    }
    *from = (int)(n * (part - 1) / parts);
    *to = (int)(n * part / parts);
}

static void suite_add_kind(Suite *suite, int kind, const TTest *test)
{
    TCase *tcase = tcase_create(kind_names[kind]);
    int from, to;

    part_of((int)kinds[kind].gl_pathc, &from, &to);

    tcase_set_tags(tcase, kind_tags[kind]);
    tcase_set_timeout(tcase, SCRIPT_TIMEOUT_S + 10);
    tcase_add_loop_test(tcase, kinds_present, kind, kind + 1);
    tcase_add_loop_test(tcase, test, from, to);
    suite_add_tcase(suite, tcase);
}

int main(void)
{
    top_dir = getenv("RD_TOP");
    build_dir = getenv("RD_BUILD");
    if (top_dir == NULL || build_dir == NULL || getenv("RD_BIN") == NULL) {
        fputs("RD_TOP, RD_BUILD and RD_BIN must be set\n", stderr);
        return EXIT_FAILURE;
    }
    kind_add(DAEMON, top_dir, "tests/daemon/t_*.sh");
    kind_add(DAEMON, top_dir, "tests/daemon/t_*.py");
    kind_add(WIRE, top_dir, "tests/wire/t_*.py");
    kind_add(FUZZ, build_dir, "fuzz/fuzz_*");
    kind_add(DIFF, top_dir, "tests/diff/node_diff.js");
    kind_add(EXAMPLES, top_dir, "tests/examples/t_*.py");

    Suite *suite = suite_create("scripts");
    suite_add_kind(suite, DAEMON, script_daemon);
    suite_add_kind(suite, WIRE, script_wire);
    suite_add_kind(suite, FUZZ, replay_fuzz);
    suite_add_kind(suite, DIFF, script_diff);
    suite_add_kind(suite, EXAMPLES, script_examples);
    int status = suite_run(suite);
    for (int i = 0; i < KINDS_N; i++) {
        globfree(&kinds[i]);
    }
    return status;
}
