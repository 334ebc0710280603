#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits reached: descriptors and connections. Each client is served or
cleanly refused, the daemon does not spin, and recovers.

Needs: 700 descriptors for the test itself; the daemon gets 64 in some.
"""
import os
import resource
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (GET, ONCE, Daemon, answers,  # noqa: E402
                    eventually, finish, full, raise_files, run_groups, slow)
from swarm import Swarm  # noqa: E402

FILES = 64


def settled(client):
    """Served, refused with 503, or closed."""
    return client.replies or not client.open


def few_files(report):
    """500 clients that ask and stay: the idle ones make room."""
    daemon = Daemon("-w", "2", files=FILES)
    with Swarm(daemon.target()) as swarm:
        clients = swarm.open(500, GET)
        swarm.run(slow(10), lambda: all(settled(c) for c in clients))
        waiting = [c for c in clients if not settled(c)]
        served = sum(c.statuses() == [200] for c in clients)
        odd = [c.statuses() for c in clients
               if c.statuses() not in ([200], [503], [])]
        report.case("64 files: each is served or refused", not waiting,
                    "%d wait" % len(waiting))
        report.case("64 files: 200, 503 or closed", not odd, odd[:3])
        report.case("64 files: many are served", served >= 20, served)
        report.case("64 files: never more open than there may be",
                    daemon.files() <= FILES, daemon.files())
    report.case("64 files: serves again", eventually(
        lambda: answers(daemon), 5))
    finish(report, daemon)


def full_house(report):
    """As many busy clients as 64 descriptors allow, 400 more knock."""
    daemon = Daemon("-w", "2", "-o", "tuning.defer_accept=0", "-o",
                    "timeouts.header=60s", files=FILES)
    limit = full(daemon)["connections"]["limit"]
    report.case("full house: fewer connections by the limit",
                5 <= limit < FILES, limit)
    knock(report, "full house", daemon, daemon.files() + limit - 2)
    finish(report, daemon)


def starved(report):
    """The descriptors run out in the midst: accept() fails, the acceptor
    waits and does not spin."""
    daemon = Daemon("-w", "2", "-o", "tuning.defer_accept=0", "-o",
                    "timeouts.header=60s")
    answers(daemon)
    eventually(lambda: full(daemon)["connections"]["active"] == 1)
    limit = daemon.files() + 10
    resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (limit, limit))
    knock(report, "starved", daemon, limit - 2)
    told = [n for n in daemon.lines if "cannot accept" in n]
    report.case("starved: the log says so, and not often",
                1 <= len(told) <= 3, daemon.lines[-5:])
    finish(report, daemon)


def share_of_core(swarm, daemon):
    used, start = daemon.cpu_seconds(), time.monotonic()
    swarm.run(2)
    return (daemon.cpu_seconds() - used) / (time.monotonic() - start)


def knock(report, title, daemon, wanted):
    with Swarm(daemon.target()) as swarm:
        busy = swarm.open(100, GET[:20])
        # Silent ones would make room for those who come next.
        swarm.run(slow(3), lambda: daemon.files() >= wanted and all(
            c.sent_at or not c.open for c in busy))
        swarm.run(slow(0.3))
        more = swarm.open(400, ONCE)
        swarm.run(slow(3), lambda: all(c.sent_at or not c.open
                                       for c in more))
        swarm.run(0.5)
        report.case("%s: the daemon is full" % title,
                    daemon.files() >= wanted, (daemon.files(), wanted))
        lines = len(daemon.lines)
        # Neighbours on the same cores can make a window dear, never cheap.
        used = min(share_of_core(swarm, daemon) for _ in range(3))
        report.case("%s: no spin" % title, used <= slow(0.02),
                    "%.1f %% of a core" % (100 * used))
        report.case("%s: the log does not fill" % title, len(
            daemon.lines) - lines <= 3, daemon.lines[-4:])
        odd = [c.statuses() for c in busy + more
               if c.statuses() not in ([], [200], [503], [408])]
        report.case("%s: nothing but 200, 503 or a close" % title, not odd,
                    odd[:3])
        report.case("%s: none is served while all are busy" % title,
                    sum(c.statuses() == [200] for c in more) <= 20,
                    sum(c.statuses() == [200] for c in more))
        for client in busy:
            swarm.drop(client)
        done = swarm.run(slow(8), lambda: all(settled(c) for c in more))
        report.case("%s: then those that waited have their turn" % title,
                    done, sum(not settled(c) for c in more))
    report.case("%s: serves again" % title, eventually(
        lambda: answers(daemon), 5))
    before = daemon.cpu_seconds()
    time.sleep(1)
    report.case("%s: calm again" % title, daemon.cpu_seconds() - before <=
                slow(0.05), daemon.cpu_seconds() - before)


def connection_limit(report):
    """The oldest idle one makes room for a newcomer. Idle times are kept in
    ticks of 100 ms, so the 20 come in groups of five."""
    for workers in ("1", "2"):
        title = "20 connections, -w " + workers
        daemon = Daemon("-w", workers, "-o", "limits.connections=20")
        with Swarm(daemon.target()) as swarm:
            old = []
            for number in range(20):
                client = swarm.open(1, GET)[0]
                swarm.run(slow(3), lambda: client.replies)
                old.append(client)
                if number % 5 == 4:
                    swarm.run(0.3)
            report.case("%s: all are served" % title, all(
                c.statuses() == [200] and c.open for c in old))
            for number in range(6):
                new = swarm.open(1, GET)[0]
                swarm.run(slow(3), lambda: settled(new))
                report.case("%s: newcomer %d is served" % (title, number),
                            new.statuses() == [200], new.statuses())
            swarm.run(slow(3), lambda: sum(not c.open for c in old) == 6)
            gone = [c.number for c in old if not c.open]
            report.case("%s: each takes the place of one" % title,
                        len(gone) == 6, gone)
            report.case("%s: of one of the oldest" % title,
                        gone and max(gone) < 10 and
                        sum(n < 5 for n in gone) >= 4 + (workers == "1"),
                        gone)
            report.case("%s: without a word" % title, all(
                c.statuses() == [200] and not c.broken for c in old))
            left = [c for c in old if c.open]
            for client in left:
                swarm.send(client, GET)
            swarm.run(slow(3), lambda: all(len(c.replies) == 2
                                           for c in left))
            report.case("%s: the others go on" % title, all(
                c.statuses() == [200, 200] for c in left))
        finish(report, daemon)


def none_idle(report):
    """All are busy: 503, which says close and can be read."""
    daemon = Daemon("-w", "1", "-o", "limits.connections=20", "-o",
                    "tuning.defer_accept=0")
    files = daemon.files()
    with Swarm(daemon.target()) as swarm:
        busy = swarm.open(20, GET[:25])
        swarm.run(slow(3), lambda: daemon.files() >= files + 20)
        swarm.run(0.2)
        more = swarm.open(30, GET)
        done = swarm.run(slow(5), lambda: all(not c.open for c in more))
        report.case("none idle: newcomers end", done,
                    sum(c.open for c in more))
        # One that is still sending may see a reset instead of the reply.
        told = [c for c in more if c.statuses() == [503]]
        report.case("none idle: nothing but 503", all(
            c.statuses() in ([503], []) for c in more))
        report.case("none idle: most can read it", len(told) >= 25,
                    len(told))
        for client in told[:1]:
            reply = client.replies[0]
            report.case("none idle: 503 says close", reply.says("close"))
            report.case("none idle: 503 is a problem document",
                        reply.get("content-type") ==
                        "application/problem+json" and
                        reply.json()["status"] == 503, reply.body)
            report.case("none idle: 503 says when to come again",
                        (reply.get("retry-after") or "").isdigit(),
                        reply.fields)
        report.case("none idle: the busy ones are left alone",
                    all(c.open and not c.replies for c in busy))
        for client in busy:
            swarm.send(client, GET[25:])
        done = swarm.run(slow(3), lambda: all(c.replies for c in busy))
        report.case("none idle: and are served in the end", done and all(
            c.statuses() == [200] for c in busy))
        late = swarm.open(1, GET)[0]
        swarm.run(slow(3), lambda: settled(late))
        report.case("none idle: then there is room again",
                    late.statuses() == [200], late.statuses())
    now = eventually(lambda: (lambda s: s["connections"]["rejected"] >= 25
                              and s)(full(daemon)), 3)
    report.case("none idle: counted as rejected", now,
                full(daemon)["connections"])
    finish(report, daemon)


if __name__ == "__main__":
    raise_files(700)
    sys.exit(run_groups("limits", (
        few_files, full_house, starved, connection_limit, none_idle)))
