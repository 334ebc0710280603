#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the service manager is told, and the sockets that it hands over."""
import os
import shutil
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from manager import Manager, activated, listener, module  # noqa: E402
from rdtest import (SLOW, Wire, eventually, fetch,  # noqa: E402
                    finish, free_port, request, run_groups, slow)
from service import Service, once  # noqa: E402
from t_upgrade import Clients, Upgraded  # noqa: E402

TEXT = """
listen "main" { address = "127.0.0.1:0" }
workers = 2
route "/hello" { respond = "hello" }
"""


def answers(target):
    try:
        reply = fetch(target, once("/hello"), seconds=5)
        return reply is not None and reply.status == 200
    except OSError:
        return False


def sane(report, daemon):
    fault = daemon.sanitizer_report()
    report.case("no sanitizer report", fault is None, fault)


# --- the protocol -----------------------------------------------------------


def ready(report):
    """READY=1 comes when a request is answered, and only once."""
    for abstract in (False, True):
        port = free_port()
        manager, served = Manager(abstract), []
        manager.on_message = lambda m: m.get("READY") and served.append(
            answers(("127.0.0.1", port)))
        daemon = Service(TEXT.replace(":0", ":%d" % port), env=manager.env)
        title = "abstract" if abstract else "path"
        first = manager.hears("READY", "1")
        report.case("%s: READY=1" % title, first)
        report.case("%s: it serves then" % title, served == [True], served)
        report.case("%s: it is the first word" % title,
                    manager.messages[0] is first, manager.messages)
        report.case("%s: STATUS" % title, first and first.get("STATUS"))
        report.case("%s: from main" % title, first.pid == daemon.pid)
        said = manager.hears("STATUS", count=2)
        report.case("%s: STATUS has figures" % title,
                    "req/s" in said.get("STATUS") and
                    "conns" in said.get("STATUS"), said)
        report.case("%s: the environment is gone" % title,
                    daemon.get("/hello").status == 200)
        finish(report, daemon)
        report.case("%s: READY once" % title, len(
            manager.all("READY")) == 1, manager.messages)
        manager.close()


def failing(report):
    """A start that fails says why, and is never ready."""
    manager = Manager()
    taken = listener()
    daemon = Service(TEXT.replace(":0", ":%d" % taken.getsockname()[1]),
                     env=manager.env, wait=False)
    report.case("exit status", daemon.wait_exit() == 69, daemon.last_words())
    report.case("ERRNO", manager.hears("ERRNO", "98"), manager.messages)
    report.case("STATUS", manager.all("STATUS"), manager.messages)
    report.case("not ready", not manager.all("READY"))
    daemon.stop()
    taken.close()
    manager.close()
    daemon = Service(TEXT, env={"NOTIFY_SOCKET": "relative"})
    report.case("a bad NOTIFY_SOCKET is said",
                daemon.said("NOTIFY_SOCKET"), daemon.last_words())
    finish(report, daemon)
    daemon = Service(TEXT, env={"NOTIFY_SOCKET": "/nonexistent/notify"})
    report.case("a manager that is gone hurts nobody", daemon.reload())
    finish(report, daemon)


def reloading(report):
    manager = Manager()
    daemon = Service(TEXT, env=manager.env)
    manager.hears("READY")
    for count, (title, text, good) in enumerate((
            ("good", TEXT, True), ("bad", TEXT + "limitz { }", False)), 2):
        before = time.monotonic()
        report.case(title, daemon.reload(text, good))
        begin = manager.hears("RELOADING", "1", count - 1)
        end = manager.hears("READY", "1", count)
        report.case("%s: RELOADING, then READY" % title, begin and end and
                    manager.messages.index(begin) <
                    manager.messages.index(end), manager.messages)
        stamp = int(begin.get("MONOTONIC_USEC") or 0) / 1e6
        report.case("%s: MONOTONIC_USEC" % title,
                    before <= stamp <= end.time, (before, stamp))
        report.case("%s: STATUS" % title, good or
                    "limitz" in end.get("STATUS"), end)
    finish(report, daemon)
    manager.close()


def stopping(report):
    """A drain says STOPPING=1 and asks for time as long as it lasts."""
    manager = Manager()
    daemon = Service(TEXT, env=manager.env)
    wire = Wire(daemon.target())
    wire.send(request("GET", "/hello")[:-2])
    report.case("a request is open", eventually(
        lambda: daemon.config() and True))
    daemon.signal(signal.SIGTERM)
    stop = manager.hears("STOPPING", "1")
    report.case("STOPPING=1", stop, manager.messages)
    first = manager.hears("EXTEND_TIMEOUT_USEC")
    second = manager.hears("EXTEND_TIMEOUT_USEC", count=2)
    report.case("EXTEND_TIMEOUT_USEC", first and second and
                (second.time - first.time) * 1e6 <
                int(first.get("EXTEND_TIMEOUT_USEC")), manager.messages)
    report.case("STATUS", "drain" in second.get("STATUS"), second)
    wire.send(b"\r\n")
    report.case("the request is answered", wire.wait_replies(1))
    wire.close()
    report.case("ends", daemon.wait_exit() == 0, daemon.last_words())
    report.case("no READY after STOPPING", manager.all("READY")[-1].time <
                stop.time)
    sane(report, daemon)
    daemon.stop()
    manager.close()


# --- watchdog ---------------------------------------------------------------


def watchdog(report):
    """WATCHDOG=1 at half the time, and not while a loop is stuck."""
    manager = Manager()
    env = dict(manager.env, WATCHDOG_USEC="1000000")
    text = TEXT + 'module "@/block.so" { base = "/block" argument = "@/fifo" }'
    daemon = Prepared(text, env)
    report.case("starts", daemon.wait_listening(1), daemon.last_words())
    report.case("WATCHDOG=1", manager.hears("WATCHDOG", "1", 7))
    beats = [m.time for m in manager.all("WATCHDOG")][:7]
    gaps = sorted(b - a for a, b in zip(beats, beats[1:]))
    report.case("twice a second", 0.4 < gaps[3] < 0.6 * SLOW and
                gaps[-1] < 0.9 * SLOW, gaps)
    wire = Wire(daemon.target())
    wire.send(request("GET", "/block/now"))

    def silent():
        return time.monotonic() - manager.all("WATCHDOG")[-1].time > 1.5

    report.case("silent while a loop is stuck", eventually(silent, 20))
    report.case("and stays so", not manager.hears(
        "WATCHDOG", count=len(manager.all("WATCHDOG")) + 1, seconds=1 / SLOW))
    before = len(manager.all("WATCHDOG"))
    fd = os.open(os.path.join(daemon.home, "fifo"), os.O_WRONLY)
    os.close(fd)
    report.case("released", wire.wait_replies(1))
    report.case("again once it turns", manager.hears(
        "WATCHDOG", count=before + 2))
    wire.close()
    report.case("clean exit", daemon.stop() == 0, daemon.last_words())
    sane(report, daemon)
    manager.close()


def never_ends(report):
    """A handler that does not return holds up neither a second TERM nor, for
    longer than a drain may take, the first."""
    text = TEXT + ('module "@/block.so" { base = "/block" argument = "@/fifo" }'
                   "\ntimeouts { drain = 1s }\n")
    for signals in (1, 2):
        daemon = Prepared(text, {})
        daemon.wait_listening(1)
        with Wire(daemon.target()) as wire:
            wire.send(request("GET", "/block/now"))
            for turn in range(signals):
                daemon.signal(signal.SIGTERM)
                daemon.hears("SIGTERM: ", turn + 1)
            report.case("%d times TERM: ends" % signals,
                        daemon.wait_exit(20) == 70, daemon.last_words())
            report.case("and says why", daemon.hears("giving up"))
        daemon.stop()


class Prepared(Service):
    """With a module and a FIFO in its folder before it starts."""

    def __init__(self, text, env):
        super().__init__(text, env=env, wait=False)

    def write(self, text):
        if not os.path.exists(os.path.join(self.home, "fifo")):
            os.mkfifo(os.path.join(self.home, "fifo"))
            module(self.home)
        super().write(text)


def watchdog_of_another(report):
    manager = Manager()
    daemon = Service(TEXT, env=dict(manager.env, WATCHDOG_USEC="100000",
                                    WATCHDOG_PID=str(os.getpid())))
    report.case("its STATUS comes", manager.hears("STATUS", count=3))
    report.case("but no WATCHDOG", not manager.all("WATCHDOG"))
    finish(report, daemon)
    manager.close()


# --- stored descriptors -----------------------------------------------------


def inode(fd):
    return os.fstat(fd).st_ino


def store(report):
    """The store follows the listeners; unix sockets stay out of it."""
    first, second = free_port(), free_port()
    manager = Manager()
    text = 'listen "a" { address = "127.0.0.1:%d" }\n' \
           'route "/hello" { respond = "hello" }\n'
    unix = 'listen "u" { address = "unix:@/s" }\n'
    daemon = Service(text % first + unix, listeners=2, env=manager.env)
    names = ["127.0.0.1,%d" % p for p in (first, second)]
    report.case("stored", manager.hears("FDSTORE", "1") and
                list(manager.stored()) == names[:1], manager.messages)
    kept = manager.stored()[names[0]]
    report.case("it listens there", socket.socket(
        fileno=os.dup(kept)).getsockname() == ("127.0.0.1", first))
    both = text % first + 'listen "b" { address = "127.0.0.1:%d" }\n' % second
    report.case("a listener more", daemon.reload(both) and eventually(
        lambda: list(manager.stored()) == names), manager.messages)
    report.case("one less", daemon.reload(text % second) and eventually(
        lambda: list(manager.stored()) == names[1:]), manager.messages)
    daemon.signal(signal.SIGTERM)
    report.case("ends", daemon.wait_exit() == 0)
    # The next one finds what is stored, one of which it does not want.
    fds = [os.dup(kept), os.dup(manager.stored()[names[1]])]
    own = inode(fds[1])
    next_one = Service(text % second, env=manager.env,
                       **activated(fds, ":".join(names)))
    report.case("taken by its address", eventually(
        lambda: any(inode(m.fds[0]) == own for m in
                    manager.all("FDSTORE", pid=next_one.pid))))
    report.case("the other is given up", manager.hears(
        "FDSTOREREMOVE", "1", 2).get("FDNAME") == names[0],
        manager.messages)
    report.case("no warning", not next_one.said("no listener wants"))
    finish(report, next_one)
    for fd in fds:
        os.close(fd)
    daemon.stop()
    manager.close()


def restart(report):
    """Restarts with the stored descriptors, under load: none is refused."""
    manager = Manager()
    port = free_port()
    text = TEXT.replace(":0", ":%d" % port)
    daemon = Service(text, env=manager.env)
    manager.hears("FDSTORE")
    load = Clients(("127.0.0.1", port))
    for turn in range(4):
        stored = manager.stored()
        report.case("stored %d" % turn, len(stored) == 1, stored)
        daemon.signal(signal.SIGTERM)
        report.case("ends %d" % turn, daemon.wait_exit() == 0,
                    daemon.last_words())
        sane(report, daemon)
        daemon.stop()
        daemon = Service(text, env=manager.env, **activated(
            list(stored.values()), ":".join(stored)))
        report.case("ready %d" % turn, manager.hears(
            "READY", pid=daemon.pid))
    load.stop()
    report.case("none failed", not load.bad and load.good > 10,
                (load.good, load.bad[:3]))
    finish(report, daemon)
    manager.close()


# --- upgrade ----------------------------------------------------------------


def upgrade(report):
    """MAINPID comes from the old main process, READY from the new one, and
    the old one says nothing after that."""
    manager = Manager()
    os.environ.update(manager.env, WATCHDOG_USEC="1000000")
    try:
        daemon = Upgraded()
    finally:
        del os.environ["NOTIFY_SOCKET"], os.environ["WATCHDOG_USEC"]
    manager.hears("READY")
    for turn in range(2):
        old = daemon.now
        report.case("upgrade %d" % turn, daemon.replaced())
        word = manager.hears("MAINPID", str(daemon.now))
        report.case("MAINPID", word and word.pid == old, manager.messages)
        new = manager.hears("READY", pid=daemon.now)
        report.case("READY of the new", new and manager.messages.index(
            word) < manager.messages.index(new), manager.messages)
        later = [m for m in manager.messages[
            manager.messages.index(word) + 1:] if m.pid == old]
        report.case("nothing more of the old", not later, later)
        report.case("WATCHDOG of the new", manager.hears(
            "WATCHDOG", pid=daemon.now, count=2))
    report.case("one socket is stored", len(manager.stored()) == 1,
                manager.stored())
    daemon.end(report)
    manager.close()


# --- activation -------------------------------------------------------------


def activation(report):
    """Sockets go to the listeners of their names, or of their addresses."""
    a, b, other = listener(), listener(), listener()
    text = """
listen "main" { address = "127.0.0.1:1" }
listen "second" { address = "127.0.0.1:%d" }
route "/hello" { respond = "hello" }
""" % b.getsockname()[1]
    # The port of "main" is never bound: its name says more than its address.
    daemon = Service(text, listeners=2, **activated(
        [s.fileno() for s in (b, other, a)], "x:spare:main"))
    for s, title in ((a, "by name"), (b, "by address")):
        report.case(title, answers(s.getsockname()), daemon.last_words())
    report.case("the third is told", daemon.hears(
        r'warning .*"spare" that no listener wants'), daemon.lines)
    report.case("reload keeps them", daemon.reload() and
                answers(a.getsockname()) and answers(b.getsockname()))
    report.case("clean exit", daemon.stop() == 0)
    sane(report, daemon)
    for s in (a, b, other):
        s.close()


def activation_public(report):
    """Who is told what hangs on where a socket is, not on what the
    configuration says."""
    s = listener(("0.0.0.0", 0))
    daemon = Service(TEXT.replace(":0", ":1"),
                     **activated([s.fileno()], "main"))
    for turn in ("start", "reload"):
        reply = fetch(("127.0.0.1", s.getsockname()[1]),
                      once("/status?detail=full"))
        report.case("%s: no more than the summary" % turn,
                    reply.status == 200 and "daemon" not in reply.json() and
                    reply.json()["host"] is None, reply.body)
        report.case("reload", daemon.reload())
    report.case("said", daemon.said(
        "0.0.0.0:%d is not loopback" % s.getsockname()[1]), daemon.lines)
    report.case("clean exit", daemon.stop() == 0)
    sane(report, daemon)
    s.close()


def activation_upgrade(report):
    """An upgrade hands on a socket whose address is not the configured."""
    s = listener()
    text = 'listen "main" { address = "127.0.0.1:1" }\n' \
           'route "/hello" { respond = "hello" }\n'
    more = activated([s.fileno()], "main")
    daemon = Upgraded(text, listeners=1, **more)
    target = s.getsockname()
    s.close()
    load = Clients(target)
    report.case("upgrade", daemon.replaced(), daemon.last_words())
    report.case("the new one serves there", fetch(
        target, once("/status")).json()["pid"] == daemon.now)
    load.stop()
    report.case("none failed", not load.bad and load.good, load.bad[:3])
    daemon.paths = []
    daemon.end(report)


def refused_sockets(report):
    """What cannot be listened on is an error with a sentence."""
    stream = socket.socket()
    stream.bind(("127.0.0.1", 0))
    bad = {
        "datagram": (listener(kind=socket.SOCK_DGRAM), "not a stream socket"),
        "not listening": (stream, "not listening"),
        "family": (socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
                   "not a stream socket"),
        "file": (open("/dev/null"), "not a socket"),
    }
    for title, (s, words) in bad.items():
        daemon = Service(TEXT, wait=False, **activated([s.fileno()], "main"))
        code = daemon.wait_exit()
        report.case("%s: exit status" % title, code == 78, code)
        daemon.reader.join(slow(5))
        report.case("%s: said" % title, daemon.said(words),
                    daemon.last_words())
        daemon.stop()
        s.close()


def unix_activation(report):
    """The path of a socket unit is its own: it stays."""
    daemon = Service(TEXT, wait=False)
    path = os.path.join(daemon.folder, "s")
    os.makedirs(daemon.folder, exist_ok=True)
    s = listener(path)
    text = 'listen "u" { address = "unix:%s" mode = 0600 }\n' \
           'route "/hello" { respond = "hello" }\n' % path
    other = Service(text, **activated([s.fileno()], "unknown"))
    report.case("serves", answers(path), other.last_words())
    finish(report, other)
    report.case("the path stays", os.path.exists(path))
    s.close()
    os.unlink(path)
    daemon.stop()


def socket_activate(report):
    """By systemd-socket-activate, two sockets, started by the first client."""
    tool = shutil.which("systemd-socket-activate")
    if tool is None:
        print("systemd-socket-activate is not there: left out")
        return
    ports = [free_port(), free_port()]
    text = """
listen "main" { address = "127.0.0.1:1" }
listen "second" { address = "127.0.0.1:2" }
route "/hello" { respond = "hello" }
"""
    names = "--fdname=second:main"
    daemon = Service(text, wait=False, prefix=[
        tool, "-l", "127.0.0.1:%d" % ports[0],
        "-l", "127.0.0.1:%d" % ports[1], names])
    report.case("waits for a client", daemon.hears(
        "Listening on .* as 4"), daemon.last_words())
    for port in ports:
        report.case("answers", answers(("127.0.0.1", port)),
                    daemon.last_words())
    report.case("both are named", daemon.hears("listening on http", 2))
    report.case("clean exit", daemon.stop() == 0)
    sane(report, daemon)


if __name__ == "__main__":
    sys.exit(run_groups("systemd", [
        ready, failing, reloading, stopping, watchdog, watchdog_of_another,
        never_ends, store, restart, upgrade, activation, activation_public,
        activation_upgrade,
        refused_sockets, unix_activation, socket_activate]))
