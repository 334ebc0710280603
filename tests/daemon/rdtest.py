# SPDX-License-Identifier: MIT
"""What the daemon tests share: the wire library and small helpers."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "wire"))
from rdproc import (BIN, ROOT, SLOW, Daemon, eventually,  # noqa: E402,F401
                    free_port, raise_files, run_groups, sanitized, slow)
from wire import Wire, fetch, request  # noqa: E402,F401

GET = request()
ONCE = request("GET", "/status", "Connection: close")
FULL = request("GET", "/status?detail=full")
FULL_ONCE = request("GET", "/status?detail=full", "Connection: close")


def full(daemon, index=0):
    """The full status document, over a connection of its own."""
    reply = fetch(daemon.target(index), FULL_ONCE, seconds=10)
    if reply is None or reply.status != 200:
        raise RuntimeError("no full status: %s" % (reply and reply.status))
    return reply.json()["daemon"]


def answers(daemon):
    """The daemon serves a new connection."""
    try:
        reply = fetch(daemon.target(), ONCE, seconds=2)
    except OSError:
        return False
    return reply is not None and reply.status == 200


def finish(report, daemon, code=0):
    """Stops a daemon: a clean exit and no sanitizer report."""
    if not daemon.alive():
        report.case("daemon still runs", False, "exit status %s: %s" % (
            daemon.process.returncode, daemon.last_words()))
    got = daemon.stop()
    report.case("clean exit", got == code, "exit status %s: %s" % (
        got, daemon.last_words()))
    fault = daemon.sanitizer_report()
    report.case("no sanitizer report", fault is None, fault)


def at_rest(report, daemon, files, title="all given back"):
    """All clients have gone: no connection and no descriptor is left, and
    the daemon answers at once."""
    def calm():
        now = full(daemon)
        return (now["connections"]["active"] <= 1 and
                daemon.files() <= files and now)
    now = eventually(calm, 10)
    report.case(title, now, "active %s, descriptors %d (%d before)" % (
        full(daemon)["connections"], daemon.files(), files))
    return now or full(daemon)
