#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""HUP: a good file serves at once, a bad one changes nothing and says why."""
import os
import shutil
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (Daemon, Wire, eventually, fetch, finish,  # noqa: E402
                    free_port, full, request, run_groups)
from service import Service, once, refused  # noqa: E402

BASE = """
listen "main" { address = "127.0.0.1:0" }
workers = 2
route "/hello" { respond = "one\\n" }
"""


def body(daemon, path):
    reply = daemon.get(path)
    return reply.status, bytes(reply.body)


def routes(report):
    """Routes change, on a kept connection as well."""
    daemon = Service(BASE)
    with Wire(daemon.target()) as wire:
        wire.send(request("GET", "/hello"))
        wire.wait_replies(1)
        report.case("before", wire.replies[0].body == b"one\n")
        report.case("reload", daemon.reload(BASE.replace("one", "two") +
                                            'route "/new" { respond = "n" }'),
                    daemon.last_words())
        wire.send(request("GET", "/hello"))
        wire.wait_replies(2)
        report.case("a kept connection sees the new one",
                    wire.replies[1].body == b"two\n", wire.replies[1].body)
    report.case("added", body(daemon, "/new") == (200, b"n"))
    report.case("removed", daemon.reload(BASE) and
                daemon.get("/new").status == 404)
    config = daemon.config()
    report.case("generation", config["generation"] == 3 and
                config["last_reload_ok"] is True, config)
    finish(report, daemon)


def bad_file(report):
    """Every kind of fault leaves the old configuration in place."""
    daemon = Service(BASE)
    bad = {
        "syntax": BASE + "route {",
        "unknown name": BASE + "limitz { }",
        "value": BASE + 'timeouts { header = "soon" }',
        "reference": BASE + 'route "/x" { file = "@/missing" }',
        "route": BASE + 'route "/{" { respond = "x" }',
        "fewer workers": BASE.replace("workers = 2", "workers = 1"),
        "budget": BASE + 'memory_budget = "20M"',
        "port in use": BASE + 'listen "b" { address = "127.0.0.1:%d" }' %
                       daemon.target()[1],
        "module": BASE + 'module "@/nothing.so" { }',
    }
    for count, (name, text) in enumerate(sorted(bad.items()), 1):
        report.case("%s: refused" % name, daemon.reload(text, good=False),
                    daemon.last_words())
        config = daemon.config()
        report.case("%s: said" % name, config["last_reload_ok"] is False and
                    config["last_reload_error"] and
                    config["generation"] == 1, config)
        report.case("%s: the old one serves" % name,
                    body(daemon, "/hello") == (200, b"one\n"))
    report.case("and a good one again", daemon.reload(BASE) and
                daemon.config()["last_reload_ok"] is True)
    os.unlink(daemon.path)
    report.case("no file", daemon.reload(good=False))
    daemon.write(BASE)
    report.case("the file again", daemon.reload())
    finish(report, daemon)


def listeners(report):
    """Listeners are added, kept and removed; connections live on."""
    first, second = free_port(), free_port()
    text = 'listen "a" { address = "127.0.0.1:%d" }\n' \
           'route "/hello" { respond = "x" }\n'
    daemon = Service(text % first)
    before = inodes(daemon, first)
    wire = Wire(("127.0.0.1", first))
    wire.send(request("GET", "/hello"))
    wire.wait_replies(1)
    both = text % first + \
        'listen "b" { address = "127.0.0.1:%d" }\n' % second
    report.case("added", daemon.reload(both) and fetch(
        ("127.0.0.1", second), once("/hello")).status == 200)
    report.case("the first is the same socket",
                before and before == inodes(daemon, first))
    report.case("removed", daemon.reload(text % second) and
                eventually(lambda: refused(("127.0.0.1", first))))
    wire.send(request("GET", "/hello"))
    report.case("its connection lives on", wire.wait_replies(2))
    wire.close()
    path = os.path.join(daemon.home, "s")
    unix = text % second + 'listen "u" { address = "unix:@/s" mode = 0600 }\n'
    report.case("unix added", daemon.reload(unix) and
                fetch(path, once("/hello")).status == 200)
    report.case("its mode", os.stat(path).st_mode & 0o777 == 0o600)
    report.case("unix removed", daemon.reload(text % second) and
                eventually(lambda: not os.path.exists(path)))
    report.case("told", daemon.said("listening on http://127.0.0.1:%d$"
                                    % second) == 1 and
                daemon.said("no longer listening on 127.0.0.1:%d$" % first)
                == 1, list(daemon.lines))
    report.case("same port, other address", daemon.reload(
        (text % second).replace("127.0.0.1", "0.0.0.0"), good=False) and
        daemon.said(r'listener "b" of this process is at 127.0.0.1:%d: '
                    "such a change needs a restart" % second) == 1,
        list(daemon.lines)[-3:])
    report.case("moved to another port", daemon.reload(
        text % first) and fetch(("127.0.0.1", first),
                                once("/hello")).status == 200)
    finish_at(report, daemon, ("127.0.0.1", first))


def unchanged(report):
    """The same file again, whatever its listeners are; then without the
    admin listener, whose share of the memory is not asked back."""
    text = 'listen "a" { address = "127.0.0.1:0" backlog = 10 }\n' \
           'listen "b" { address = "127.0.0.1:0" backlog = 20 }\n'
    daemon = Service(text + 'listen "admin" { address = "unix:@/admin"'
                     ' admin = on }\n', listeners=3)
    report.case("two of any port", daemon.reload(), list(daemon.lines)[-3:])
    report.case("no admin listener", daemon.reload(text),
                list(daemon.lines)[-3:])
    report.case("and again", daemon.reload())
    report.case("another backlog", daemon.reload(
        text.replace("20", "30"), good=False))
    report.case("clean exit", daemon.stop() == 0)


def inodes(daemon, port):
    """Of the sockets that listen there."""
    found = []
    for line in open("/proc/%d/net/tcp" % daemon.pid):
        fields = line.split()
        if len(fields) > 9 and fields[3] == "0A" and \
                int(fields[1].split(":")[1], 16) == port:
            found.append(fields[9])
    return found


def finish_at(report, daemon, target):
    report.case("still serves", fetch(target, once("/hello")).status == 200)
    report.case("clean exit", daemon.stop() == 0)
    fault = daemon.sanitizer_report()
    report.case("no sanitizer report", fault is None, fault)


def workers(report):
    """More workers are started, and serve."""
    daemon = Service(BASE)
    report.case("more", daemon.reload(BASE.replace("workers = 2",
                                                   "workers = 4")))
    report.case("all are there", len(full(daemon)["workers"]) == 4)
    wires = [Wire(daemon.target()) for _ in range(8)]
    for wire in wires:
        wire.send(request("GET", "/status?detail=full"))
        wire.wait_replies(1)
    served = [w["connections"]["active"] for w in full(daemon)["workers"]]
    report.case("each has connections", min(served) >= 1, served)
    for wire in wires:
        wire.close()
    finish(report, daemon)


def storm(report):
    """A hundred signals at once are one reload or some, and none is lost."""
    daemon = Service(BASE)
    for _ in range(100):
        daemon.signal(signal.SIGHUP)
    daemon.write(BASE.replace("one", "last"))
    daemon.signal(signal.SIGHUP)
    report.case("the last file serves", eventually(
        lambda: body(daemon, "/hello") == (200, b"last\n")))
    finish(report, daemon)


def working_directory(report):
    """The folder that it was started in may go."""
    daemon = Service(BASE)
    os.rmdir(daemon.folder)
    report.case("reload", daemon.reload(BASE.replace("one", "two")) and
                body(daemon, "/hello") == (200, b"two\n"))
    finish(report, daemon)


def linked(report):
    """The file is behind a symbolic link, which leads to another folder by
    then, as where a tool publishes whole folders."""
    home = tempfile.mkdtemp(prefix="rdlinked-")
    link = os.path.join(home, "now")
    for version in ("one", "two"):
        os.mkdir(os.path.join(home, version))
        with open(os.path.join(home, version, "c"), "w") as f:
            f.write(BASE.replace("one", version))
    os.symlink("one", link)
    daemon = Daemon(listen=(), config=os.path.relpath(link + "/c", "/"),
                    prefix=("env", "-C", "/"))

    def word():
        return bytes(fetch(daemon.target(), once("/hello")).body)
    report.case("the first", word() == b"one\n")
    os.unlink(link)
    os.symlink("two", link)
    daemon.signal(signal.SIGHUP)
    report.case("the second", eventually(lambda: word() == b"two\n"), word())
    finish(report, daemon)
    shutil.rmtree(home)


if __name__ == "__main__":
    sys.exit(run_groups("reload", [routes, bad_file, listeners, unchanged,
                                   workers, storm, working_directory,
                                   linked]))
