#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Faults that were found from outside, each under the name of what it did.

Needs: 100 descriptors.
"""
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (GET, ONCE, Daemon, Wire, eventually,  # noqa: E402
                    fetch, finish, full, request, run_groups, slow)
import rdproc  # noqa: E402


def stopped(daemon, act):
    """Does `act` while the daemon stands still."""
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        act()
    finally:
        os.kill(daemon.pid, signal.SIGCONT)


def silent_clients_in_a_drain(report):
    """A connection that TCP_DEFER_ACCEPT holds back was reset."""
    daemon = Daemon("-w", "2")
    wires = [Wire(daemon.target()) for _ in range(10)]
    daemon.signal(signal.SIGTERM)
    eventually(lambda: any("draining" in n for n in daemon.lines))
    for wire in wires:
        wire.send(GET)
    got = [wire.wait_replies(1) and wire.replies[0].status for wire in wires]
    report.case("drain: deferred clients are answered", got == [200] * 10, got)
    for wire in wires:
        wire.close()
    report.case("drain: exit status", daemon.wait_exit(8) == 0)


def sacrificed_with_a_request(report):
    """An idle connection was closed for a newcomer although its next request
    had come."""
    daemon = Daemon("-w", "1", "-o", "limits.connections=4", "-o",
                    "tuning.defer_accept=0")
    kept = [Wire(daemon.target()) for _ in range(4)]
    for wire in kept:
        wire.send(GET)
        wire.wait_replies(1)
    new = []

    def act():
        for wire in kept:
            wire.send(GET)
        for _ in range(4):
            new.append(Wire(daemon.target()))
            new[-1].send(GET)

    stopped(daemon, act)
    got = [wire.wait_replies(2) and wire.replies[1].status for wire in kept]
    report.case("limit: what has come is served first", got == [200] * 4, got)
    for wire in kept + new:
        wire.close()
    finish(report, daemon)


def late_because_we_were_away(report):
    """408 for a request whose rest was in the kernel in time."""
    daemon = Daemon("-w", "1", "-o", "timeouts.header=1s", "-o",
                    "tuning.defer_accept=0")
    wire = Wire(daemon.target())
    wire.send(GET[:20])
    eventually(lambda: full(daemon)["connections"]["reading"] == 1)

    def act():
        wire.send(GET[20:])
        time.sleep(1.4)

    stopped(daemon, act)
    got = wire.wait_replies(1) and wire.replies[0].status
    report.case("deadline: the rest that was there counts", got == 200, got)
    wire.close()
    finish(report, daemon)


def path_of_another(report):
    """A daemon that ended took away the socket of the one after it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s")
        first = Daemon("-l", "unix:" + path)
        os.unlink(path)
        second = Daemon("-l", "unix:" + path)
        first.signal(signal.SIGTERM)
        report.case("unix: the first ends", first.wait_exit(8) == 0)
        report.case("unix: the path of the second stays",
                    os.path.exists(path))
        finish(report, second)
        report.case("unix: its own is removed", not os.path.exists(path))


def one_connection_at_a_time(report):
    """503 for a client that never had two connections open."""
    daemon = Daemon("-w", "1", "-o", "limits.connections=1")
    got = [fetch(daemon.target(), ONCE).status for _ in range(200)]
    report.case("limit of one: no 503 in turn", got == [200] * 200,
                got.count(503))
    finish(report, daemon)


def log_that_nobody_reads(report):
    """Neither signal ended a daemon whose stderr was a full pipe."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    probe = socket.socket()
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    probe.close()
    child = subprocess.Popen(
        [rdproc.BIN, "-c", "none", "-l", "127.0.0.1:%d" % port,
         "-o", "log.level=debug"], stderr=writer)

    def is_up():
        try:
            return fetch(("127.0.0.1", port), ONCE).status == 200
        except OSError:
            return False

    report.case("stuck log: is up", eventually(is_up))
    try:
        while True:
            os.write(writer, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(writer, True)
    got = [fetch(("127.0.0.1", port), ONCE).status for _ in range(100)]
    report.case("stuck log: serves on", got == [200] * 100)
    child.send_signal(signal.SIGTERM)
    try:
        code = child.wait(slow(8))
    except subprocess.TimeoutExpired:
        child.kill()
        code = None
    report.case("stuck log: ends all the same", code == 0, code)
    os.close(reader)
    os.close(writer)


def reset_within_a_large_reply(report):
    """Slots of connections that were closed in the same turn were lost."""
    daemon = Daemon("-w", "1", "-o", "tuning.defer_accept=0")
    start = full(daemon)["memory"]["owners"]["connections"]["live_bytes"]
    big = request("POST", "/echo", "Content-Length: 10000", body=b"b" * 10000)
    wires = [Wire(daemon.target()) for _ in range(40)]

    def act():
        for number, wire in enumerate(wires):
            wire.send(big if number % 2 else ONCE)
            if number % 2:
                wire.rst()

    stopped(daemon, act)
    for wire in wires:
        wire.close()
    report.case("resets: slots come back", eventually(
        lambda: full(daemon)["memory"]["owners"]["connections"]["live_bytes"]
        <= start + 8192))
    finish(report, daemon)


if __name__ == "__main__":
    sys.exit(run_groups("regress", (
        silent_clients_in_a_drain, sacrificed_with_a_request,
        late_because_we_were_away, path_of_another, one_connection_at_a_time,
        log_that_nobody_reads, reset_within_a_large_reply)))
