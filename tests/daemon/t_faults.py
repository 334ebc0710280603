#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that misbehave: slow ones by the hundred, half-closed ones, ones
that never read, resets in the midst; each time the others are served.

Needs: 700 descriptors for the test itself.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (GET, ONCE, Daemon, Wire, at_rest,  # noqa: E402
                    eventually, fetch, finish, full, raise_files, request,
                    run_groups, sanitized, slow)
from swarm import Swarm, address  # noqa: E402

MANY = 300
BUDGET = 10 << 20


def warm(daemon):
    """Descriptors of a daemon that has served."""
    for _ in range(4):
        fetch(daemon.target(), GET)
    eventually(lambda: full(daemon)["connections"]["active"] == 1)
    time.sleep(0.2)
    return daemon.files()


class Prompt:
    """Asks again and again while others misbehave; keeps the worst time."""

    def __init__(self, daemon):
        self.wire, self.times, self.asked = Wire(daemon.target()), [], 0.0

    def ask(self):
        if self.asked and time.monotonic() - self.asked < 0.05:
            return
        self.asked = time.monotonic()
        count = len(self.wire.replies)
        self.wire.send(GET)
        if not self.wire.wait_replies(count + 1, slow(3)):
            self.times.append(float("inf"))
            return
        self.times.append(time.monotonic() - self.asked)

    def check(self, report, title):
        worst = max(self.times or [float("inf")])
        report.case("%s: others are served promptly" % title,
                    len(self.times) >= 10 and worst < slow(0.5),
                    "%d asked, worst %.3f s" % (len(self.times), worst))
        report.case("%s: each of them with 200" % title, all(
            r.status == 200 for r in self.wire.replies))
        self.wire.close()


def slow_group(report, title, options, first, drip, low, high, silent=False):
    """MANY clients send `first`, then `drip` byte by byte. Each has to be
    cut off between `low` and `high` seconds, with 408 or without a word."""
    daemon = Daemon("-w", "2", "-o", "tuning.defer_accept=0", *options)
    files = warm(daemon)
    before = full(daemon)["connections"]["timed_out"]
    with Swarm(daemon.target()) as swarm:
        clients = swarm.open(MANY, first, source=address)
        prompt, place = Prompt(daemon), [0, 0.0]

        def tick():
            prompt.ask()
            if drip and time.monotonic() - place[1] > 0.1:
                piece = drip[place[0]:place[0] + 1]
                place[0], place[1] = place[0] + 1, time.monotonic()
                for client in clients:
                    swarm.send(client, piece)

        done = swarm.run(slow(high) + 2, lambda: all(
            not c.open for c in clients), tick)
        report.case("%s: all are cut off" % title, done,
                    "%d of %d still open" % (sum(c.open for c in clients),
                                             MANY))
        times = [c.closed_at - c.opened for c in clients if not c.open]
        report.case("%s: none too early" % title, times and
                    min(times) >= low, times and min(times))
        report.case("%s: none too late" % title, times and
                    max(times) <= slow(high), times and max(times))
        wanted = ([],) if silent else ([408], [])
        report.case("%s: %s" % (title, "nothing said" if silent else
                                "408 or nothing"), all(
            c.statuses() in wanted for c in clients),
            [c.statuses() for c in clients if c.statuses() not in wanted][:3])
        if not silent:
            said = sum(c.statuses() == [408] for c in clients)
            report.case("%s: most are told 408" % title,
                        said > MANY * 0.9, said)
            report.case("%s: 408 says close" % title, all(
                r.says("close") for c in clients for r in c.replies))
        prompt.check(report, title)
    count = full(daemon)["connections"]["timed_out"] - before
    report.case("%s: counted" % title, count == MANY or silent, count)
    at_rest(report, daemon, files, title + ": all given back")
    finish(report, daemon)


def slow_header(report):
    slow_group(report, "slow header", ("-o", "timeouts.header=1s"),
               GET[:10], GET[10:-4] + b"x" * 500, 0.9, 3)


def silent_header(report):
    slow_group(report, "silent header", ("-o", "timeouts.header=1s"),
               GET[:-2], b"", 0.9, 3)


def slow_body(report):
    slow_group(report, "slow body", ("-o", "timeouts.body=20s", "-o",
                                     "timeouts.body_grace=1s"),
               request("POST", "/echo", "Content-Length: 5000", body=b"x"),
               b"y" * 500, 0.9, 4)


def silent_body(report):
    slow_group(report, "silent body", ("-o", "timeouts.body=1s", "-o",
                                       "timeouts.body_grace=20s"),
               request("POST", "/echo", "Content-Length: 5000", body=b"x"),
               b"", 0.9, 4)


def slow_chunks(report):
    slow_group(report, "slow chunks", ("-o", "timeouts.body=20s", "-o",
                                       "timeouts.body_grace=1s"),
               request("POST", "/echo", "Transfer-Encoding: chunked"),
               b"1\r\nx\r\n" * 80, 0.9, 4)


def no_request(report):
    """Connects and says nothing: closed without a word."""
    slow_group(report, "no request", ("-o", "timeouts.keepalive=1s", "-o",
                                      "timeouts.header=1s"), b"", b"", 0.9, 4,
               silent=True)


def idle(report):
    daemon = Daemon("-w", "2", "-o", "timeouts.keepalive=1s")
    with Swarm(daemon.target()) as swarm:
        clients = swarm.open(MANY, GET)
        done = swarm.run(slow(4), lambda: all(not c.open for c in clients))
        report.case("idle: all closed", done, sum(c.open for c in clients))
        times = [c.closed_at - c.asked_at for c in clients if not c.open]
        # Deadlines are kept in ticks of 100 ms.
        report.case("idle: after a second of silence", len(times) == MANY and
                    min(times) >= 0.85 and max(times) < slow(3),
                    times and (min(times), max(times)))
        report.case("idle: without a word", all(
            c.statuses() == [200] for c in clients))
    finish(report, daemon)


def steady_body(report):
    """Slow, but as fast as is asked for: served."""
    daemon = Daemon("-w", "1", "-o", "timeouts.body=%ds" % slow(2), "-o",
                    "timeouts.body_grace=500ms", "-o", "limits.body_rate=1K")
    with Wire(daemon.target()) as wire:
        wire.send(request("POST", "/echo", "Content-Length: 16000"))
        for _ in range(16):
            wire.send(b"z" * 1000)
            wire.wait(lambda: False, 0.15)
        report.case("steady body: served", wire.wait_replies(1) and
                    wire.replies[0].status == 200 and
                    wire.replies[0].body == b"z" * 16000,
                    [r.status for r in wire.replies])
    finish(report, daemon)


def half_closed(report):
    daemon = Daemon("-w", "2")
    files = warm(daemon)
    with Swarm(daemon.target()) as swarm:
        clients = swarm.open(MANY, GET * 3)
        swarm.run(slow(5), lambda: all(not c.out for c in clients))
        for client in clients:
            swarm.fin(client)
        done = swarm.run(slow(6), lambda: all(not c.open for c in clients))
        report.case("half-closed: all end", done,
                    sum(c.open for c in clients))
        report.case("half-closed: all answered", all(
            c.statuses() == [200] * 3 for c in clients),
            sum(c.statuses() != [200] * 3 for c in clients))
    at_rest(report, daemon, files, "half-closed: all given back")
    finish(report, daemon)


def never_read(report):
    """Pipelines without end and reads nothing: what is kept for them is
    bounded, they are cut off once nothing moves for write_timeout."""
    daemon = Daemon("-w", "2", "-o", "timeouts.write=2s")
    files = warm(daemon)
    with Swarm(daemon.target()) as swarm:
        before = full(daemon)["connections"]["timed_out"]
        clients = swarm.open(40, GET * 20000, reading=False, buffer=4096)
        prompt, worst = Prompt(daemon), [0, 0]

        def tick():
            prompt.ask()
            worst[0] = max(worst[0], daemon.anon_bytes())

        done = swarm.run(slow(12), lambda: all(not c.open for c in clients),
                         tick)
        report.case("never read: all are cut off", done,
                    sum(c.open for c in clients))
        if not sanitized():
            report.case("never read: memory stays in the budget",
                        worst[0] <= BUDGET, worst[0])
        prompt.check(report, "never read")
        live = full(daemon)["memory"]["owners"].get("output")
        report.case("never read: output is given back",
                    live is None or live["live_bytes"] < 65536, live)
        count = full(daemon)["connections"]["timed_out"] - before
        report.case("never read: counted", count >= 40, count)
    at_rest(report, daemon, files, "never read: all given back")
    finish(report, daemon)


def slow_reader(report):
    """Reads, but slowly: gets everything, in order."""
    daemon = Daemon("-w", "1", "-o", "timeouts.write=%ds" % slow(2))
    body = bytes(range(256)) * 200
    with Wire(daemon.target(), receive_buffer=4096, seconds=20) as wire:
        one = request("POST", "/echo", "Content-Length: %d" % len(body),
                      body=body)
        wire.sock.setblocking(False)
        left, got = one * 20, b""
        end = time.monotonic() + slow(20)
        while time.monotonic() < end and got.count(b"HTTP/1.1 200") < 20:
            try:
                left = left[wire.sock.send(left[:30000]):] if left else left
            except BlockingIOError:
                pass
            try:
                got += wire.sock.recv(20000)
            except BlockingIOError:
                time.sleep(0.002)
        wire.sock.settimeout(slow(3))
        while got.count(body) < 20:
            more = wire.sock.recv(1 << 16)
            if not more:
                break
            got += more
        report.case("slow reader: twenty replies whole",
                    got.count(body) == 20, got.count(body))
    finish(report, daemon)


def resets(report):
    """Hundreds of resets at every point of a request."""
    daemon = Daemon("-w", "2")
    files = warm(daemon)
    start = full(daemon)["memory"]["owners"]["connections"]["live_bytes"]
    echo = request("POST", "/echo", "Content-Length: 40000", body=b"e" * 40000)
    parts = (b"", GET[:1], GET[:30], GET[:-1], GET, GET * 50, echo[:80],
             echo[:20000], echo, echo * 3)
    prompt = Prompt(daemon)
    for turn in range(5):
        with Swarm(daemon.target()) as swarm:
            for part in parts:
                swarm.open(10, part)
            swarm.run(slow(3), lambda: all(
                c.sent_at or not c.open for c in swarm.clients
                if c.number >= 10), prompt.ask)
            for client in swarm.clients:
                swarm.drop(client, reset=True)
            for _ in range(3):
                prompt.ask()
                time.sleep(0.06)
    prompt.check(report, "resets")
    report.case("resets: daemon lives", daemon.alive() and
                fetch(daemon.target(), ONCE).status == 200)
    now = at_rest(report, daemon, files, "resets: all given back")
    def back():
        owner = full(daemon)["memory"]["owners"]["connections"]
        return owner["live_bytes"] <= start + 16384
    report.case("resets: slots are given back", eventually(back, 10),
                full(daemon)["memory"]["owners"])
    report.case("resets: accepted is closed and active",
                now["connections"]["accepted"] ==
                now["connections"]["closed"] + now["connections"]["active"],
                now["connections"])
    finish(report, daemon)


def reset_replies(report):
    """Resets that meet the reply to a content which came in many pieces."""
    daemon = Daemon("-w", "2")
    files = warm(daemon)
    echo = request("POST", "/echo", "Content-Length: 40000", body=b"e" * 40000)
    for _ in range(15):
        with Swarm(daemon.target()) as swarm:
            swarm.open(20, echo, source=address)
            swarm.run(slow(1), lambda: all(
                c.sent_at or not c.open for c in swarm.clients))
            for client in swarm.clients:
                swarm.drop(client, reset=True)
    at_rest(report, daemon, files, "reset replies: all given back")
    # Slots that are lost show at the end: the daemon aborts.
    finish(report, daemon)


def lingering(report):
    """More refused uploads at once than may linger: all read their reply."""
    daemon = Daemon("-w", "2")
    files = warm(daemon)
    with Swarm(daemon.target()) as swarm:
        clients = swarm.open(MANY, request(
            "POST", "/echo", "Content-Length: 200000", body=b"x" * 30000))
        done = swarm.run(slow(8), lambda: all(c.replies for c in clients))
        report.case("lingering: all read their 413", done and all(
            c.statuses() == [413] for c in clients),
            [c.statuses() for c in clients if c.statuses() != [413]][:3])
        for client in clients:
            swarm.fin(client)
        report.case("lingering: all end", swarm.run(slow(6), lambda: all(
            not c.open for c in clients)), sum(c.open for c in clients))
    at_rest(report, daemon, files, "lingering: all given back")
    finish(report, daemon)


if __name__ == "__main__":
    raise_files(700)
    sys.exit(run_groups("faults", (
        slow_header, silent_header, slow_body, silent_body, slow_chunks,
        no_request, idle, steady_body, half_closed, never_read, slow_reader,
        resets, reset_replies, lingering)))
