#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The memory budget reached: contents are refused with 503 or connections are
closed, the process stays within it, and all comes back.

Needs: 1,200 descriptors for the test itself.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (GET, ONCE, Daemon, answers, at_rest,  # noqa: E402
                    eventually, fetch, finish, full, raise_files, request,
                    run_groups, sanitized, slow)
from swarm import Swarm, address  # noqa: E402


def memory_bodies(report):
    """Many half-sent contents: 503 for new ones, never beyond the budget."""
    budget = 6 << 20
    daemon = Daemon("-w", "2", "-o", "memory_budget=6M", "-o",
                    "limits.connections=2000", "-o", "tuning.defer_accept=0",
                    "-o", "timeouts.body_grace=60s", "-o",
                    "timeouts.body=60s")
    answers(daemon)
    time.sleep(0.3)
    files, start = daemon.files(), full(daemon)["memory"]["owners"]
    worst = [0]

    def tick():
        worst[0] = max(worst[0], daemon.anon_bytes())

    with Swarm(daemon.target()) as swarm:
        big = request("POST", "/echo", "Content-Length: 60000",
                      body=b"b" * 50000)
        clients = swarm.open(300, big, source=address)
        swarm.run(slow(6), lambda: all(not c.out or not c.open or c.replies
                                       for c in clients), tick)
        swarm.run(slow(3), lambda: sum(c.statuses() == [503]
                                       for c in clients) >= 50, tick)
        swarm.run(0.5, None, tick)
        told = [c for c in clients if c.statuses() == [503]]
        held = [c for c in clients if c.open and not c.replies]
        report.case("memory, contents: some are refused with 503",
                    len(told) >= 50, "%d told, %d held" % (len(told),
                                                           len(held)))
        report.case("memory, contents: some are held", len(held) >= 10,
                    len(held))
        report.case("memory, contents: nothing else is said", all(
            c.statuses() in ([503], []) for c in clients))
        report.case("memory, contents: 503 says when to come again", told
                    and all((c.replies[0].get("retry-after") or "").isdigit()
                            for c in told))
        report.case("memory, contents: what needs no content is served",
                    answers(daemon))
        bodies = full(daemon)["memory"]
        report.case("memory, contents: at most half the budget",
                    bodies["owners"]["bodies"]["live_bytes"] <= budget / 2,
                    bodies["owners"]["bodies"])
        for client in held:
            swarm.send(client, b"b" * 10000)
        swarm.run(slow(6), lambda: all(c.replies or not c.open
                                       for c in held), tick)
        good = sum(c.statuses() == [200] and len(c.replies[0].body) == 60000
                   for c in held)
        report.case("memory, contents: those held are served in the end",
                    good >= len(held) * 0.9, "%d of %d" % (good, len(held)))
    check_memory(report, "contents", daemon, files, start, worst[0], budget)
    reply = fetch(daemon.target(), request(
        "POST", "/echo", "Content-Length: 60000", body=b"b" * 60000))
    report.case("memory, contents: new ones are taken again",
                reply and reply.status == 200, reply and reply.status)
    finish(report, daemon)


def check_memory(report, title, daemon, files, start, worst, budget):
    title = "memory, " + title
    if not sanitized():
        report.case("%s: never beyond the budget" % title, worst <= budget,
                    "%d of %d" % (worst, budget))
    at_rest(report, daemon, files, "%s: all given back" % title)

    def back():
        owners = full(daemon)["memory"]["owners"]
        return all(o["live_bytes"] <= start[n]["live_bytes"] + 65536
                   for n, o in owners.items() if n not in ("pool", "fixed",
                                                           "scratch"))
    report.case("%s: owners are back where they began" % title,
                eventually(back), full(daemon)["memory"]["owners"])


def memory_address(report):
    """One address cannot take it all: a quarter of the half."""
    budget = 6 << 20
    daemon = Daemon("-w", "2", "-o", "memory_budget=6M", "-o",
                    "tuning.defer_accept=0", "-o", "timeouts.body_grace=60s")
    big = request("POST", "/echo", "Content-Length: 60000",
                  body=b"b" * 50000)
    with Swarm(daemon.target()) as swarm:
        greedy = swarm.open(100, big, source=lambda n: "127.9.9.9")
        swarm.run(slow(5), lambda: all(not c.out or not c.open or c.replies
                                       for c in greedy))
        swarm.run(0.5)
        held = sum(c.open and not c.replies for c in greedy)
        report.case("memory, one address: some are refused", 0 < held < 60,
                    held)
        live = full(daemon)["memory"]["owners"]["bodies"]["live_bytes"]
        report.case("memory, one address: at most a quarter of the half",
                    live <= budget / 8 + 65536, live)
        other = fetch(daemon.target(), request(
            "POST", "/echo", "Content-Length: 60000", body=b"b" * 60000))
        report.case("memory, one address: another is served",
                    other and other.status == 200, other and other.status)
    finish(report, daemon)


def memory_heads(report):
    """A thousand half heads of 15 KB are more than there is: accepting
    pauses or connections end, the budget holds."""
    budget = 4 << 20
    daemon = Daemon("-w", "2", "-o", "memory_budget=4M", "-o",
                    "limits.connections=2000", "-o", "timeouts.header=4s",
                    "-o", "tuning.defer_accept=0")
    answers(daemon)
    time.sleep(0.3)
    files, start = daemon.files(), full(daemon)["memory"]["owners"]
    worst = [0]

    def tick():
        worst[0] = max(worst[0], daemon.anon_bytes())

    with Swarm(daemon.target()) as swarm:
        idle = swarm.open(100, GET)
        swarm.run(slow(5), lambda: all(c.replies for c in idle))
        report.case("memory, heads: 100 idle ones", all(
            c.open and c.statuses() == [200] for c in idle))
        clients = swarm.open(1000, request(
            "GET", "/status", *["X-%d: %s" % (n, "h" * 1500)
                                for n in range(10)])[:-2])
        swarm.run(slow(3), lambda: sum(not c.open for c in idle) >= 20, tick)
        swarm.run(1, None, tick)
        report.case("memory, heads: lives", daemon.alive())
        whole = fetch(daemon.target(), ONCE)
        report.case("memory, heads: whole requests are served all the same",
                    whole and whole.status == 200, whole and whole.status)
        gone = [c.number for c in idle if not c.open]
        report.case("memory, heads: idle ones make room", len(gone) >= 20,
                    "%d of 100" % len(gone))
        report.case("memory, heads: without a word", all(
            c.statuses() == [200] for c in idle))
        used, begin = daemon.cpu_seconds(), time.monotonic()
        swarm.run(1, None, tick)
        used = (daemon.cpu_seconds() - used) / (time.monotonic() - begin)
        report.case("memory, heads: no spin", used <= slow(0.15),
                    "%.2f of a core" % used)
        done = swarm.run(slow(12), lambda: all(not c.open for c in clients),
                         tick)
        report.case("memory, heads: all end", done,
                    sum(c.open for c in clients))
        odd = [c.statuses() for c in clients
               if c.statuses() not in ([], [408], [503])]
        report.case("memory, heads: 408, 503 or a close", not odd, odd[:3])
    report.case("memory, heads: serves again", eventually(
        lambda: answers(daemon), 5))
    check_memory(report, "heads", daemon, files, start, worst[0], budget)
    finish(report, daemon)


if __name__ == "__main__":
    raise_files(1200)
    sys.exit(run_groups("memory", (memory_bodies, memory_address,
                                   memory_heads)))
