#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ab against four loops: kept and closing connections at once, while others
read the figures. Nothing fails, nothing is lost, and the counters agree.

Needs: ab (apache2-utils).
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (ONCE, Daemon, eventually, fetch,  # noqa: E402
                    finish, full, run_groups, sanitized)

SCALE = 2 if sanitized() else 10


def start_ab(daemon, requests, *options):
    host, port = daemon.target()
    return subprocess.Popen(
        ["ab", "-q", "-l", "-n", str(requests), "-c", "50", *options,
         "http://%s:%d/status" % (host, port)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def figure(output, name):
    found = re.search(r"^%s: +(\d+)" % name, output, re.M)
    return int(found.group(1)) if found else None


def four_loops(report):
    daemon = Daemon("-w", "4")
    kept, closing = 4000 * SCALE, 1000 * SCALE
    runs = [(start_ab(daemon, kept, "-k"), kept),
            (start_ab(daemon, closing), closing)]
    extra = 0
    while any(run.poll() is None for run, _ in runs):
        reply = fetch(daemon.target(), ONCE)
        extra += 1
        if not reply or reply.status != 200:
            report.case("load: others are served", False, reply)
            break
        full(daemon)
        extra += 1
    for run, wanted in runs:
        output = run.communicate()[0]
        report.case("load: all complete", figure(
            output, "Complete requests") == wanted, output[-300:])
        report.case("load: none fails", figure(
            output, "Failed requests") == 0 and not re.search(
                "Non-2xx", output), output[-300:])
    report.case("load: all are gone", eventually(
        lambda: full(daemon)["connections"]["active"] == 1))
    end = full(daemon)
    report.case("load: each request is counted once",
                end["requests"]["total"] >= kept + closing + extra,
                (end["requests"]["total"], kept + closing + extra))
    shares = [w["connections"]["accepted"] for w in end["workers"]]
    report.case("load: the loops have even shares",
                max(shares) - min(shares) <= max(shares) // 4 + 4, shares)
    finish(report, daemon)


if __name__ == "__main__":
    sys.exit(run_groups("load", (four_loops,)))
