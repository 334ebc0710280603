#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""10,000 connections opened and closed, in sequence and side by side: all
answered, nothing left behind.

Needs: 10,100 descriptors for the test and as many for the daemon, to have
10,000 open at once; with fewer (hard limit) it takes as many as there are in
turn.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (GET, ONCE, Daemon, Wire, at_rest,  # noqa: E402
                    finish, full, raise_files, run_groups, sanitized,
                    slow)
from swarm import Swarm  # noqa: E402

ALL = 10000


def warm(daemon):
    for _ in range(8):
        with Wire(daemon.target()) as wire:
            wire.send(ONCE)
            wire.wait_eof()
    time.sleep(0.3)
    return daemon.files()


def balance(report, title, daemon, before, count, requests):
    now = full(daemon)
    for key, value in (("accepted", count), ("closed", count)):
        change = now["connections"][key] - before["connections"][key]
        # The asking connections themselves come on top.
        report.case("%s: %s" % (title, key), value <= change <= value + 200,
                    change)
    change = now["requests"]["total"] - before["requests"]["total"]
    report.case("%s: requests" % title, requests <= change <= requests + 200,
                change)
    for key in ("rejected", "timed_out"):
        report.case("%s: none %s" % (title, key), now["connections"][key] ==
                    before["connections"][key], now["connections"])


def sequence(report):
    """One after the other; three ways to end, in turn."""
    daemon = Daemon("-w", "2")
    files, before = warm(daemon), None
    before, anon = full(daemon), daemon.anon_bytes()
    bad = 0
    for number in range(ALL):
        with Wire(daemon.target()) as wire:
            way = number % 3
            wire.send(ONCE if way == 0 else GET)
            good = wire.wait_replies(1) and wire.replies[0].status == 200
            if way == 0:
                good = good and wire.wait_eof()
            elif way == 1:
                wire.rst()
            bad += not good
    report.case("sequence: all answered", bad == 0, bad)
    at_rest(report, daemon, files, "sequence: all given back")
    balance(report, "sequence", daemon, before, ALL, ALL)
    if not sanitized():
        grown = daemon.anon_bytes() - anon
        report.case("sequence: memory does not grow", grown <= 512 << 10,
                    grown)
    finish(report, daemon)


def side_by_side(report):
    daemon = Daemon("-w", "2", "-o", "timeouts.keepalive=300s")
    wave = max(100, min(ALL, raise_files(ALL + 100) - 100))
    files = warm(daemon)
    before, anon = full(daemon), daemon.anon_bytes()
    done = 0
    while done < ALL:
        count = min(wave, ALL - done)
        with Swarm(daemon.target()) as swarm:
            # In steps, so that the listening socket's queue never is full.
            while len(swarm.clients) < count:
                step = swarm.open(min(500, count - len(swarm.clients)), GET)
                swarm.run(slow(10), lambda: all(c.replies or not c.open
                                                for c in step))
            held = sum(c.open and c.statuses() == [200]
                       for c in swarm.clients)
            report.case("side by side: %d open and served" % count,
                        held == count, held)
            idle = full(daemon)["connections"]
            report.case("side by side: counted as idle",
                        idle["active"] == count + 1, idle)
            if not sanitized() and count == ALL:
                each = (daemon.anon_bytes() - anon) / count
                report.case("side by side: at most 240 bytes each",
                            each <= 240, "%.0f" % each)
            for client in swarm.clients:
                swarm.send(client, GET)
            swarm.run(slow(15), lambda: all(len(c.replies) == 2
                                            for c in swarm.clients))
            good = sum(c.statuses() == [200, 200] for c in swarm.clients)
            report.case("side by side: all serve once more", good == count,
                        good)
            for client in swarm.clients:
                swarm.drop(client, reset=client.number % 2)
        done += count
    at_rest(report, daemon, files, "side by side: all given back")
    balance(report, "side by side", daemon, before, ALL, 2 * ALL)
    finish(report, daemon)


def crowd(report):
    """Many at once that each come, ask and go, without a pause."""
    daemon = Daemon("-w", "2")
    files, before = warm(daemon), full(daemon)
    lost = 0
    with Swarm(daemon.target()) as swarm:
        done = 0
        while done < ALL:
            clients = swarm.open(400, ONCE)
            swarm.run(slow(10), lambda: all(not c.open for c in clients))
            lost += sum(c.statuses() != [200] for c in clients)
            done += len(clients)
            swarm.clients.clear()
    report.case("crowd: all answered and closed", lost == 0, lost)
    at_rest(report, daemon, files, "crowd: all given back")
    balance(report, "crowd", daemon, before, ALL, ALL)
    finish(report, daemon)


if __name__ == "__main__":
    raise_files(ALL + 100)
    sys.exit(run_groups("churn", (sequence, side_by_side, crowd)))
