#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Modules: routes from a shared object, new words and new code by a reload,
and what is no module of ours is refused with a reason."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import finish, run_groups  # noqa: E402
from service import Service  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILT = os.environ.get("RD_BUILD") or \
    os.path.dirname(os.path.dirname(os.environ["RD_BIN"]))
HELLO = os.path.join(BUILT, "modules", "hello.so")
BASE = """
listen "main" { address = "127.0.0.1:0" }
workers = 2
route "/ok" { respond = "here\\n" }
"""
MODULE = 'module "%s" { base = "%s" argument = "%s" }\n'


def built(path, text, *flags):
    """A module of that source; as sanitized as the others."""
    sanitizers = os.environ.get("RD_SAN", "")
    command = os.environ.get("CC", "cc").split() + [
        "-shared", "-fPIC", "-std=c11", "-D_POSIX_C_SOURCE=200809L",
        "-Werror", "-I%s/include" % TOP, "-x", "c", "-",
        "-o", path + ".new", *flags]
    if sanitizers:
        command.append("-fsanitize=" + sanitizers)
    subprocess.run(command, input=text.encode(), check=True)
    os.rename(path + ".new", path)
    return path


def body(daemon, path):
    reply = daemon.get(path)
    return reply.status, bytes(reply.body)


def served(report):
    """With base and argument, several times, and without either."""
    daemon = Service(BASE + MODULE % (HELLO, "/a", "Good day") +
                     MODULE % (HELLO, "/b/c", "Ahoy") +
                     'module "%s" { }\n' % HELLO)
    report.case("base, argument", body(daemon, "/a/Ann") ==
                (200, b"Good day, Ann!\n"), body(daemon, "/a/Ann"))
    report.case("the same once more", body(daemon, "/b/c/Bob") ==
                (200, b"Ahoy, Bob!\n"))
    report.case("neither", body(daemon, "/Eve") == (200, b"Hello, Eve!\n"))
    report.case("the configuration wins", body(daemon, "/ok") ==
                (200, b"here\n"))
    report.case("another word", daemon.reload(
        BASE + MODULE % (HELLO, "/a", "Moin")) and
        body(daemon, "/a/Ann") == (200, b"Moin, Ann!\n"))
    report.case("what is gone", daemon.get("/b/c/Bob").status == 404)
    report.case("no module", daemon.reload(BASE) and
                daemon.get("/a/Ann").status == 404)
    report.case("and again", daemon.reload(
        BASE + MODULE % (HELLO, "/a", "Hi")) and
        body(daemon, "/a/Ann") == (200, b"Hi, Ann!\n"))
    finish(report, daemon)


def new_code(report):
    """A file that was renamed over serves after the next reload."""
    with open(os.path.join(TOP, "examples/modules/hello.c")) as f:
        source = f.read()
    daemon = Service(BASE)
    path = os.path.join(daemon.home, "own.so")
    text = BASE + MODULE % (path, "/a", "Hello")
    for word in ("first", "second", "third"):
        built(path, source.replace("%s, %.*s!", "%%s, %%.*s, %s!" % word))
        report.case("%s code" % word, daemon.reload(text) and
                    body(daemon, "/a/Ann") ==
                    (200, b"Hello, Ann, %s!\n" % word.encode()),
                    body(daemon, "/a/Ann"))
    mapped = {line.split()[4] for line in open("/proc/%d/maps" % daemon.pid)
              if "own.so" in line}
    report.case("only the last is there", len(mapped) == 1, mapped)
    finish(report, daemon)


ROUTES = """
#include <restd/module.h>
static int routes(struct restd_router *router, const char *argument,
                  struct restd_error *error)
{
    (void)router, (void)argument, (void)error;
    %s
}
"""


def faults(home):
    """What is no module: its file, and what has to be said."""
    def at(name):
        return os.path.join(home, name)
    with open(at("text.so"), "w") as f:
        f.write("hello\n" * 1000)
    os.mkdir(at("folder.so"))
    shutil.copy(HELLO, at("half.so"))
    os.truncate(at("half.so"), os.path.getsize(HELLO) // 2)
    shutil.copy(HELLO, at("head.so"))
    os.truncate(at("head.so"), 200)
    shutil.copy(HELLO, at("end.so"))
    os.truncate(at("end.so"), os.path.getsize(HELLO) - 1)
    good = ROUTES % "return 0;"
    yield "no file", at("nothing.so"), "No such file"
    yield "text", at("text.so"), "invalid ELF header"
    yield "folder", at("folder.so"), "annot read|directory"
    yield "half a file", at("half.so"), "only a part"
    yield "the beginning of a file", at("head.so"), "only a part"
    yield "a file without its end", at("end.so"), "only a part"
    yield "no restd_module", built(
        at("other.so"), "int other(void) { return 0; }\n"), "is no module"
    yield "wrong magic", built(at("magic.so"), good + """
        const struct restd_module restd_module = {
            1, RESTD_MODULE_FINGERPRINT, "x", routes};"""), "is no module"
    yield "wrong fingerprint", built(at("print.so"), good + """
        const struct restd_module restd_module = {
            RESTD_MODULE_MAGIC, "restd 9.9 pointer 4", "x", routes};"""), \
        'was built for "restd 9.9 pointer 4", this is "restd .*build it again'
    yield "missing symbol", built(at("symbol.so"), ROUTES %
                                  "int nobody(void); return nobody();" +
                                  'RESTD_MODULE("x", routes)'), \
        "undefined symbol: nobody"
    yield "its own word", built(at("own.so"), """
        #include <stdio.h>
        """ + ROUTES % """snprintf(error->message, sizeof error->message,
            "I will not"); return RESTD_ESTATE;""" +
        'RESTD_MODULE("x", routes)'), "I will not"
    yield "its code alone", built(at("code.so"), ROUTES %
                                  "return RESTD_EINVAL;" +
                                  'RESTD_MODULE("x", routes)'), "nvalid"


def refused(report):
    """At a reload the old one goes on; a start ends with 78."""
    daemon = Service(BASE + MODULE % (HELLO, "/a", "Hello"))
    cases = list(faults(daemon.home))
    report.case("all made", len(cases) == 12)
    for name, path, words in cases:
        # Behind a good one, which has to be given back.
        text = BASE + MODULE % (HELLO, "/b", "Hi") + MODULE % (path, "/x", "")
        report.case("%s: reload refused" % name,
                    daemon.reload(text, good=False), daemon.last_words())
        said = daemon.config()["last_reload_error"] or ""
        report.case("%s: with the reason" % name,
                    re.search(words, said) and daemon.path + ":6: " in said
                    and "/.//." not in said, said)
        report.case("%s: the old one serves" % name, body(daemon, "/a/Ann") ==
                    (200, b"Hello, Ann!\n") and
                    daemon.get("/b/Ann").status == 404)
        try:
            second = Service(text.replace("@", daemon.home), wait=False)
            code = second.wait_exit()
            second.stop()
            lines = list(second.lines)
        except RuntimeError as e:
            code, lines = None, [str(e)]
        report.case("%s: no start" % name, code == 78, (code, lines))
        report.case("%s: told at the start" % name, any(
            re.search(words, line) for line in lines), lines)
    clash = BASE + MODULE % (HELLO, "/a", "x") + MODULE % (HELLO, "/a", "y")
    report.case("twice the same route", daemon.reload(clash, good=False),
                daemon.last_words())
    shutil.rmtree(os.path.join(daemon.home, "folder.so"))
    finish(report, daemon)


if __name__ == "__main__":
    sys.exit(run_groups("module", [served, new_code, refused]))
