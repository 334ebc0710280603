#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TERM under kept connections, as tests/drain_client sees it: no request that
was there in time goes unanswered."""
import json
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import ROOT, fetch, run_groups, slow  # noqa: E402
from service import Service, once  # noqa: E402

TEXT = """
listen "main" { address = "127.0.0.1:0" }
listen "unix" { address = "unix:@/s" }
workers = 2
route "/hello" { respond = "hello" }
"""


def client(daemon, address=None, *args):
    """Runs it across a TERM; its document."""
    address = address or daemon.addresses[0].split("//")[-1]
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "tests", "drain_client"), address,
         "--term", str(daemon.pid), "--seconds", str(slow(30)), *args],
        stdout=subprocess.PIPE, timeout=slow(60))
    found = json.loads(done.stdout)
    found["code"] = done.returncode
    return found


def judge(report, title, daemon, seen, connections=50):
    short = {k: v for k, v in seen.items() if k != "end_s"}
    report.case("%s: none lost" % title, seen["code"] == 0 and
                seen["lost"] == 0 and seen["not_200"] == 0, short)
    report.case("%s: there was something to lose" % title,
                seen["answered"] > 4 * connections, short)
    report.case("%s: all ended by FIN or close" % title,
                seen["ends"].get("fin", 0) + seen["ends"].get("close", 0) ==
                connections, short)
    code = daemon.wait_exit()
    report.case("%s: exit status" % title, code == 0, code)
    daemon.reader.join(slow(5))
    report.case("%s: receipt" % title, daemon.said(
        r"drained: \d+ requests? finished, 0 cut") == 1, daemon.last_words())
    fault = daemon.sanitizer_report()
    report.case("%s: no sanitizer report" % title, fault is None, fault)


def plain(report):
    for title, index in (("TCP", 0), ("unix", 1)):
        daemon = Service(TEXT, listeners=2)
        seen = client(daemon, daemon.addresses[index].split("//")[-1])
        judge(report, title, daemon, seen)
        report.case("%s: within the idle time" % title,
                    seen["end_s"][-1] < slow(1.2), seen["end_s"][-3:])
        report.case("%s: both ways" % title, len(seen["ends"]) == 2,
                    seen["ends"])
        daemon.stop()


def shutdown_delay(report):
    """For so long nothing ends and new connections are served; only readiness
    is gone."""
    daemon = Service(TEXT + 'timeouts { shutdown_delay = "1500ms" }',
                     listeners=2)
    answers = []

    def ask():
        daemon.hears("draining")
        for path in ("/readyz", "/hello"):
            answers.append(fetch(daemon.target(), once(path)).status)

    thread = threading.Thread(target=ask)
    thread.start()
    seen = client(daemon)
    thread.join()
    judge(report, "delay", daemon, seen)
    report.case("not ready, but serving", answers == [503, 200], answers)
    report.case("none ends before", seen["end_s"][0] >= 1.45,
                seen["end_s"][:3])
    report.case("all end behind it", seen["end_s"][-1] < slow(2.7),
                seen["end_s"][-3:])
    daemon.stop()


def close_spread(report):
    """Idle connections do not come back all at once."""
    daemon = Service(TEXT + 'timeouts { close_spread = "2s" }', listeners=2)
    # Each makes its requests once, and is idle when TERM comes.
    seen = client(daemon, None, "--interval", "60", "60", "--burst", "5")
    ends = seen["end_s"]
    report.case("all by FIN", seen["ends"] == {"fin": 50}, seen["ends"])
    report.case("over the whole time", ends[-1] - ends[0] > 1.5 and
                ends[-1] < slow(3), (ends[0], ends[-1]))
    most = max(sum(1 for e in ends if t <= e < t + 0.5) for t in ends)
    report.case("evenly", most <= 25, ends)
    report.case("exit status", daemon.wait_exit() == 0)
    daemon.stop()


if __name__ == "__main__":
    sys.exit(run_groups("drain_client", [plain, shutdown_delay,
                                         close_spread]))
