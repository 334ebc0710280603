#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sse_clock: events as an EventSource reads them, a reconnect, keep-alive, and
the end of a stream in a drain."""
import calendar
import signal
import time

import extest


class Source:
    """An event stream."""

    def __init__(self, example, path="/clock", last_id=None):
        self.connection = example.connect()
        headers = {"Accept": "text/event-stream"}
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        self.connection.request("GET", path, headers=headers)
        self.reply = self.connection.getresponse()

    def block(self):
        """Lines up to the next empty one; [] at the end of the stream."""
        lines = []
        while True:
            line = self.reply.readline().decode().rstrip("\n")
            if not line:
                return lines
            lines.append(line)

    def event(self):
        """Fields of the next event."""
        while True:
            lines = self.block()
            if not lines or not lines[0].startswith(":"):
                return dict(n.split(": ", 1) for n in lines)

    def close(self):
        self.connection.close()


def events(example):
    source = Source(example)
    example.same("type", source.reply.getheader("Content-Type"),
                 "text/event-stream")
    first, second = source.event(), source.event()
    source.close()
    for event in (first, second):
        example.same("event", event.get("event"), "time")
        when = time.strptime(event["data"], "%Y-%m-%dT%H:%M:%SZ")
        example.same("id is the time", int(event["id"]),
                     calendar.timegm(when))
    example.same("a second later", int(second["id"]) - int(first["id"]), 1)
    example.report.case("now", abs(int(second["id"]) - time.time()) <
                        extest.slow(5), second)
    return int(second["id"])


def reconnect(example, last_id):
    """What was missed comes first, without a gap."""
    source = Source(example, last_id=last_id - 5)
    ids = [int(source.event()["id"]) for _ in range(7)]
    source.close()
    example.same("what was missed", ids,
                 list(range(last_id - 4, last_id + 3)))
    source = Source(example, last_id=1)
    oldest = int(source.event()["id"])
    source.close()
    example.report.case("not since 1970", 50 <= time.time() - oldest <=
                        60 + extest.slow(5), oldest)
    for bad in ("none", "-1", "99999999999999"):
        source = Source(example, last_id=bad)
        example.report.case("id " + bad, int(source.event()["id"]) >= last_id)
        source.close()


def keepalive(example):
    source = Source(example, "/clock?every=3600")
    example.report.case("one now", source.event().get("id"))
    lines = source.block()
    example.report.case("comment", lines and lines[0].startswith(":"), lines)
    source.close()


def test(example):
    reply = example.curl("/")
    example.report.case("page", b"EventSource('/clock')" in reply.body and
                        reply.headers["content-type"].startswith("text/html"),
                        reply)
    last_id = events(example)
    reconnect(example, last_id)
    keepalive(example)
    source = Source(example)
    source.event()
    example.process.send_signal(signal.SIGTERM)
    while source.event():
        pass
    example.report.case("the stream ends whole", source.reply.isclosed())
    source.close()


extest.run("sse_clock", test)
