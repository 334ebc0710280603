#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plays every case of cases_*.py against a daemon of its own.

    t_wire.py [PATTERN]      only cases whose name matches
    RD_TARGET=HOST:PORT      a server that runs already, instead
"""
import glob
import importlib
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import rdproc  # noqa: E402
import wire  # noqa: E402

JOBS = 12
MINIMUM = 160


def collect(pattern):
    for path in sorted(glob.glob(os.path.join(HERE, "cases_*.py"))):
        importlib.import_module(os.path.basename(path)[:-3])
    chosen = []
    for one in wire.CASES:
        if re.search(pattern, one["name"]):
            chosen.append((one, False))
            if one["cut"]:
                chosen.append((one, True))
    return chosen


def attempt(target, one, cut):
    try:
        return wire.run(target, one, cut)
    except Exception as fault:
        return ["%s: %s" % (type(fault).__name__, fault)]


def play_all(target, chosen, report):
    def job(item):
        return attempt(target, *item)

    with ThreadPoolExecutor(JOBS) as pool:
        for (one, cut), faults in zip(chosen, pool.map(job, chosen)):
            title = one["name"] + (" (in pieces)" if cut else "")
            report.case(title, not faults, "; ".join(faults)[:400])


def leaves_nothing(report, daemon, files_before):
    """Once all clients have gone, so have their descriptors and counts."""
    end = time.monotonic() + rdproc.slow(8)
    while daemon.files() > files_before and time.monotonic() < end:
        time.sleep(0.05)
    now = daemon.files()
    report.case("descriptors given back", now <= files_before,
                "%d before, %d after" % (files_before, now))
    reply = wire.fetch(daemon.target(), wire.request(
        "GET", "/status?detail=full", "Connection: close"))
    active = reply and reply.json()["daemon"]["connections"]["active"]
    report.case("no connection left in the counters", active == 1, active)


def main():
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    report = rdproc.Report("wire")
    chosen = collect(pattern)
    if not pattern:
        report.case("at least %d cases" % MINIMUM,
                    len(wire.CASES) >= MINIMUM, len(wire.CASES))
    given = os.environ.get("RD_TARGET")
    if given:
        host, _, port = given.rpartition(":")
        play_all((host, int(port)), chosen, report)
        return report.finish()
    daemon = rdproc.Daemon("-w", "2")
    try:
        for _ in range(4):
            wire.fetch(daemon.target(), wire.request())
        time.sleep(0.2)
        files_before = daemon.files()
        play_all(daemon.target(), chosen, report)
        report.case("daemon still runs", daemon.alive())
        if daemon.alive():
            leaves_nothing(report, daemon, files_before)
    finally:
        code = daemon.stop()
    report.case("clean exit", code == 0, "exit status %s: %s" % (
        code, daemon.last_words()))
    report.case("no sanitizer report", not daemon.sanitizer_report(),
                daemon.sanitizer_report())
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
