#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TERM and INT let what runs finish: replies say close, an idle connection has
300 ms, new ones are refused, exit status 0. A second signal stops at once.

Needs: 700 descriptors for the test itself.
"""
import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (GET, Daemon, Wire, eventually,  # noqa: E402
                    raise_files, request, run_groups, slow)
from swarm import Swarm  # noqa: E402

HALF = request("POST", "/echo", "Content-Length: 10", body=b"12345")
SILENCE = 0.3
# A client sees a timer that is rounded to clock ticks.
EARLY = 0.28


def kept(daemon):
    """A connection that has made a request and is idle now."""
    wire = Wire(daemon.target())
    wire.send(GET)
    if not wire.wait_replies(1):
        raise RuntimeError("no reply")
    return wire


def half(daemon, count=1):
    """Connections with half a request, which the daemon has read."""
    wires = [Wire(daemon.target()) for _ in range(count)]
    for wire in wires:
        wire.send(HALF)
    return wires


def refused(daemon):
    try:
        Wire(daemon.target(), seconds=1).close()
        return False
    except ConnectionRefusedError:
        return True


def until_eof(wire, since):
    wire.wait_eof(slow(6))
    return time.monotonic() - since if wire.eof else None


def check_end(report, title, daemon, code=0):
    got = daemon.wait_exit(8)
    report.case("%s: exit status" % title, got == code, (
        got, daemon.last_words()))
    fault = daemon.sanitizer_report()
    report.case("%s: no sanitizer report" % title, fault is None, fault)
    daemon.stop()


def drain_by(report, number, title):
    daemon = Daemon("-w", "2")
    idle, asking, speaking = kept(daemon), kept(daemon), kept(daemon)
    busy = half(daemon)[0]
    time.sleep(0.1)     # for the half request to be read; not vital
    start = time.monotonic()
    daemon.signal(number)
    time.sleep(0.1)
    asking.send(GET)
    report.case("%s: a request within the silence is answered" % title,
                asking.wait_replies(2) and asking.replies[1].status == 200,
                len(asking.replies))
    report.case("%s: that reply says close" % title,
                asking.replies[-1].says("close") and asking.wait_eof(2))
    # The first byte comes within the silence, the rest after it.
    speaking.send(GET[:9])
    took = until_eof(idle, start)
    report.case("%s: an idle one is closed" % title, took is not None)
    report.case("%s: not before 300 ms of silence" % title,
                took and took >= EARLY, took)
    report.case("%s: nor long after" % title,
                took and took < slow(1.0), took)
    report.case("%s: nothing was said to it" % title,
                len(idle.replies) == 1 and not idle.buf)
    report.case("%s: new connections are refused" % title,
                eventually(lambda: refused(daemon), 2))
    report.case("%s: waits for a request" % title, daemon.alive())
    speaking.send(GET[9:])
    report.case("%s: a request begun within the silence" % title,
                speaking.wait_replies(2) and
                speaking.replies[1].status == 200 and
                speaking.replies[1].says("close"))
    busy.send(b"67890")
    report.case("%s: a request that ran is answered" % title,
                busy.wait_replies(1) and
                busy.replies[0].body == b"1234567890")
    report.case("%s: that reply says close too" % title, busy.replies and
                busy.replies[0].says("close") and busy.wait_eof(2))
    check_end(report, title, daemon)


def term(report):
    drain_by(report, signal.SIGTERM, "TERM")


def interrupt(report):
    drain_by(report, signal.SIGINT, "INT")


def nothing_open(report):
    for number, name in ((signal.SIGTERM, "TERM"), (signal.SIGINT, "INT")):
        daemon = Daemon("-w", "2")
        start = time.monotonic()
        daemon.signal(number)
        code = daemon.wait_exit(5)
        report.case("%s without connections: ends at once" % name,
                    code == 0 and time.monotonic() - start < slow(1),
                    (code, time.monotonic() - start))
        daemon.stop()


def resources(report):
    """While draining: /status says so, /readyz is 503, /livez is not."""
    daemon = Daemon("-w", "2")
    first, second, third = kept(daemon), kept(daemon), kept(daemon)
    daemon.signal(signal.SIGTERM)
    time.sleep(0.05)
    first.send(request("GET", "/status"))
    second.send(request("GET", "/readyz"))
    third.send(request("GET", "/livez"))
    first.wait_replies(2)
    report.case("draining: /status", first.replies[-1].status == 200 and
                first.replies[-1].json()["state"] == "draining",
                first.replies[-1].body)
    report.case("draining: /readyz", second.wait_replies(2) and
                second.replies[1].status == 503, second.replies[-1].status)
    report.case("draining: /livez", third.wait_replies(2) and
                third.replies[1].status == 200, third.replies[-1].status)
    check_end(report, "draining", daemon)


def second_signal(report):
    for pair in ((signal.SIGTERM, signal.SIGTERM),
                 (signal.SIGINT, signal.SIGTERM)):
        title = "second signal (%s)" % pair[0].name
        daemon = Daemon("-w", "2")
        busy = half(daemon)[0]
        eventually(lambda: daemon.sockets() >= 2, 2)
        time.sleep(0.1)
        daemon.signal(pair[0])
        report.case("%s: the first waits" % title,
                    eventually(lambda: refused(daemon), 2) and
                    daemon.alive())
        start = time.monotonic()
        daemon.signal(pair[1])
        code = daemon.wait_exit(5)
        took = time.monotonic() - start
        report.case("%s: stops at once" % title,
                    code is not None and took < slow(1), took)
        report.case("%s: dies of no signal" % title,
                    code is not None and code >= 0, code)
        busy.wait_eof(2)
        report.case("%s: closes what ran" % title, busy.eof)
        daemon.stop()


def hard_end(report):
    daemon = Daemon("-w", "2", "-o", "timeouts.drain=1s")
    busy = half(daemon, 3)
    time.sleep(0.1)
    start = time.monotonic()
    daemon.signal(signal.SIGTERM)
    code = daemon.wait_exit(6)
    took = time.monotonic() - start
    report.case("drain_timeout: ends the wait", code is not None and
                0.9 <= took < slow(3), (code, took))
    report.case("drain_timeout: closes what ran", all(
        w.wait_eof(2) and not w.replies for w in busy))
    daemon.stop()


def burst(report):
    """What was sent before the signal is answered, accepted or not."""
    daemon = Daemon("-w", "2")
    with Swarm(daemon.target()) as swarm:
        swarm.open(200, GET)
        swarm.run(slow(5), lambda: all(
            c.sent_at or c.refused for c in swarm.clients))
        daemon.signal(signal.SIGTERM)
        swarm.run(slow(6), lambda: all(not c.open for c in swarm.clients))
        lost = [c for c in swarm.clients if c.statuses() != [200]]
        report.case("burst: 200 requests before the signal are answered",
                    not lost, "%d lost" % len(lost))
    check_end(report, "burst", daemon)


def load(report):
    """400 clients that pause for less than the silence: none loses a
    request. What counts is that each request whose first byte was sent
    before the close came is answered, or the connection had been silent."""
    daemon = Daemon("-w", "2")
    dice = random.Random(5)
    with Swarm(daemon.target()) as swarm:
        clients = swarm.open(400, GET)
        due = {}

        def asks():
            now = time.monotonic()
            for client in clients:
                if not client.open:
                    continue
                waiting = client.wanted == len(client.replies) and \
                    not client.replies[-1].says("close")
                if waiting and client.number not in due:
                    due[client.number] = now + dice.random() * 0.15
                elif waiting and now >= due[client.number]:
                    del due[client.number]
                    client.wanted += 1
                    swarm.send(client, GET)

        for client in clients:
            client.wanted = 1
        swarm.run(slow(5), lambda: all(c.replies for c in clients), asks)
        swarm.run(slow(1), tick=asks)
        report.case("load: all are served before it",
                    all(c.replies for c in clients))
        daemon.signal(signal.SIGTERM)
        done = swarm.run(slow(8), lambda: all(not c.open for c in clients),
                         tick=asks)
        report.case("load: all are closed", done,
                    sum(c.open for c in clients))
        lost = late = 0
        for client in clients:
            if client.wanted == len(client.replies):
                continue
            # The daemon replied after the request before, so it cannot have
            # seen a longer silence than this, however late we read it.
            if client.asked_before and \
                    client.asked_at - client.asked_before >= EARLY:
                late += 1
            else:
                lost += 1
        report.case("load: no request is lost", lost == 0,
                    "%d lost, %d sent after the silence" % (lost, late))
        report.case("load: every reply is good", all(
            s == 200 for c in clients for s in c.statuses()))
        report.case("load: the last reply says close", all(
            c.replies[-1].says("close") for c in clients
            if c.closed_at - c.replied_at < EARLY))
        report.case("load: and only the last", not any(
            r.says("close") for c in clients for r in c.replies[:-1]))
    check_end(report, "load", daemon)


if __name__ == "__main__":
    raise_files(700)
    sys.exit(run_groups("drain", (term, interrupt, nothing_open, resources,
                                  second_signal, hard_end, burst, load)))
