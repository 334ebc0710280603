#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the built-in resources say: /status in both forms, the health paths,
/version, / and /echo. Counters are held against the requests made here."""
import datetime
import os
import re
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (FULL, GET, Daemon, Wire, eventually,  # noqa: E402
                    fetch, finish, full, request, run_groups, slow)
import json  # noqa: E402

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
NUMBER = re.compile(r"-?\d+(\.\d{1,6})?\Z")
INT, NUM, TEXT, TIME, BOOL = "int", "num", "text", "time", "bool"


class Null:
    """A value that may be absent: null."""

    def __init__(self, kind):
        self.kind = kind


class Every:
    """An array whose elements are all of that shape."""

    def __init__(self, kind):
        self.kind = kind


class More(dict):
    """An object that may have further keys behind and between these; keys
    that start with '?' may be missing until their part exists."""


LOAD = Null([NUM, NUM, NUM])
SUMMARY = {
    "status": TEXT, "state": TEXT, "service": TEXT, "version": TEXT,
    "host": TEXT, "time": TIME, "uptime_seconds": INT, "pid": INT,
    "workers": INT, "connections": {"active": INT, "accepted": INT},
    "requests": {"total": INT, "active": INT, "per_second": INT},
    "latency_seconds": {"p50": Null(NUM), "p99": Null(NUM)},
    "rss_bytes": Null(INT), "load": LOAD}
WORKER = More({
    "id": INT, "tid": INT, "state": TEXT,
    "connections": More({"accepted": INT, "active": INT, "idle": INT}),
    "requests": More({"total": INT, "active": INT, "per_second": NUM}),
    "busy_ratio": NUM, "loop_lag_seconds": NUM,
    "latency_p99_seconds": Null(NUM), "sent_bytes": INT})
LATENCY = {"window_seconds": INT, "count": INT}
LATENCY.update({k: Null(NUM) for k in (
    "mean", "min", "p50", "p90", "p95", "p99", "p999", "max")})
DAEMON = More({
    "name": TEXT, "version": TEXT, "revision": TEXT, "pid": INT,
    "started": TIME, "uptime_seconds": NUM,
    "config": More({"path": Null(TEXT), "generation": INT, "loaded": TIME,
                    "last_reload_ok": BOOL, "last_reload_error": Null(TEXT)}),
    "event_backend": TEXT,
    "listeners": Every(More({
        "name": TEXT, "address": TEXT, "tls": BOOL, "proxy_protocol": BOOL,
        "backlog": INT,
        "connections": More({"accepted": INT, "active": INT})})),
    "memory": More({
        "rss_bytes": Null(INT), "rss_peak_bytes": Null(INT),
        "virtual_bytes": Null(INT), "pool_used_bytes": INT,
        "pool_reserved_bytes": INT, "owners": More({})}),
    "cpu": More({"user_seconds": NUM, "system_seconds": NUM,
                 "utilization_ratio": Null(NUM)}),
    "fds": More({"open": Null(INT), "limit": Null(INT)}),
    "connections": More({k: INT for k in (
        "accepted", "closed", "rejected", "timed_out", "active", "reading",
        "processing", "writing", "idle", "limit")}),
    "requests": More({
        "total": INT, "active": INT,
        "per_second": More({"1s": NUM, "10s": NUM, "60s": NUM}),
        "responses": More({k: INT for k in (
            "1xx", "2xx", "3xx", "4xx", "5xx")}),
        "parse_errors": INT, "aborted": INT, "received_bytes": INT,
        "sent_bytes": INT}),
    "latency_seconds": More(LATENCY),
    "offload": More({k: INT for k in (
        "threads", "running", "queued", "done", "dropped", "refused")}),
    "log": More({"dropped": INT, "access_dropped": INT, "lost": INT}),
    "workers": Every(WORKER), "?tls": Null(More({})),
    "?streams": More({"sse": INT, "websocket": INT})})
HOST = More({
    "hostname": TEXT, "os": Null(TEXT), "kernel": TEXT, "arch": TEXT,
    "booted": TIME, "uptime_seconds": NUM, "load": LOAD,
    "cpu": More({"count": INT, "usable": INT, "utilization_ratio": Null(NUM),
                 "user_ratio": Null(NUM), "system_ratio": Null(NUM),
                 "iowait_ratio": Null(NUM), "steal_ratio": Null(NUM)}),
    "memory": More({"total_bytes": Null(INT), "available_bytes": Null(INT),
                    "used_ratio": Null(NUM), "swap_total_bytes": Null(INT),
                    "swap_used_bytes": Null(INT)}),
    "network": More({"received_bytes": Null(INT), "sent_bytes": Null(INT),
                     "tcp_established": Null(INT),
                     "tcp_listen_overflows": Null(INT)}),
    "disk": Every(More({"mount": TEXT, "total_bytes": Null(INT),
                        "available_bytes": Null(INT),
                        "used_ratio": Null(NUM)})),
    "processes": More({"total": Null(INT), "running": Null(INT)}),
    "pressure": More({k: Null(NUM) for k in (
        "cpu_some_ratio", "memory_some_ratio", "io_some_ratio")}),
    "cgroup": More({"memory_limit_bytes": Null(INT),
                    "memory_used_bytes": Null(INT), "cpu_limit": Null(NUM)}),
    "sampled": TIME})
WHOLE = More({"schema": INT, "status": TEXT, "state": TEXT, "time": TIME,
              "daemon": DAEMON, "?checks": Every(More({})), "host": HOST})


class Number(str):
    """A number as it is written."""


def parse(text):
    return json.loads(text, parse_int=Number, parse_float=Number,
                      parse_constant=lambda name: name)


def shape_faults(value, kind, where=""):
    """Type, key order and notation of a value parsed by parse()."""
    if isinstance(kind, Null):
        if value is None:
            return
        kind = kind.kind
    if isinstance(kind, Every):
        if not isinstance(value, list):
            yield "%s is no array" % where
            return
        for number, element in enumerate(value):
            yield from shape_faults(element, kind.kind,
                                    "%s/%d" % (where, number))
    elif isinstance(kind, list):
        if not isinstance(value, list) or len(value) != len(kind):
            yield "%s is %r" % (where, value)
            return
        for element, one in zip(value, kind):
            yield from shape_faults(element, one, where)
    elif isinstance(kind, dict):
        if not isinstance(value, dict):
            yield "%s is no object" % where
            return
        yield from object_faults(value, kind, where)
    elif kind == INT:
        if not isinstance(value, Number) or not value.isdigit() or \
                int(value) >= 1 << 53:
            yield "%s is %r" % (where, value)
    elif kind == NUM:
        if not isinstance(value, Number) or not NUMBER.match(value):
            yield "%s is %r" % (where, value)
        elif float(value) < 0:
            yield "%s is negative" % where
        elif "_ratio" in where and float(value) > 1 and \
                "utilization" not in where:
            yield "%s is %s" % (where, value)
    elif kind == BOOL:
        if not isinstance(value, bool):
            yield "%s is %r" % (where, value)
    elif isinstance(value, Number) or not isinstance(value, str) or not value:
        yield "%s is %r" % (where, value)
    elif kind == TIME and not STAMP.match(value):
        yield "%s is %r" % (where, value)


def object_faults(value, kind, where):
    wanted = [k for k in kind if k.lstrip("?") in value]
    names = [k.lstrip("?") for k in wanted]
    for key in kind:
        if key not in wanted and not key.startswith("?"):
            yield "%s/%s is missing" % (where, key)
    if [k for k in value if k in names] != names:
        yield "%s: keys in the order %s" % (where, list(value))
    if not isinstance(kind, More) and list(value) != names:
        yield "%s: other keys: %s" % (where, list(value))
    for key in wanted:
        name = key.lstrip("?")
        yield from shape_faults(value[name], kind[key],
                                "%s/%s" % (where, name))


def compact(body):
    """One line, ended by LF, no white space outside of strings."""
    text = body.decode()
    bare = re.sub(r'"(\\.|[^"\\])*"', '""', text[:-1])
    return text.endswith("\n") and not re.search(r"\s", bare)


def age(stamp):
    when = datetime.datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S.%fZ")
    return (datetime.datetime.utcnow() - when).total_seconds()


def adds_up(connections):
    return connections["active"] == sum(connections[k] for k in (
        "reading", "processing", "writing", "idle"))


def summary(report):
    daemon = Daemon("-w", "3")
    reply = fetch(daemon.target(), GET)
    faults = list(shape_faults(parse(reply.body), SUMMARY))
    report.case("summary: keys, order, types", not faults,
                "; ".join(faults)[:300])
    report.case("summary: 300 to 512 bytes",
                300 <= len(reply.body) <= 512, len(reply.body))
    report.case("summary: one compact line", compact(reply.body), reply.body)
    now = reply.json()
    for key, value in {"status": "pass", "state": "running", "workers": 3,
                       "service": "restdaemon", "pid": daemon.pid,
                       "host": socket.gethostname()[:32]}.items():
        report.case("summary: %s" % key, now[key] == value, now[key])
    report.case("summary: time", abs(age(now["time"])) < slow(2),
                now["time"])
    report.case("summary: uptime", 0 <= now["uptime_seconds"] < slow(20),
                now["uptime_seconds"])
    for query in ("?", "?detail=", "?detail=none", "?other", "?fulldetail",
                  "?detail=fuller", "?xdetail=full"):
        same = fetch(daemon.target(), request("GET", "/status" + query))
        report.case("summary: also for %s" % query,
                    list(same.json()) == list(now), list(same.json())[:4])
    head = fetch(daemon.target(), request("HEAD"), head=True)
    report.case("summary: HEAD has its length",
                300 <= int(head.get("content-length")) <= 512)
    report.case("summary: not to be stored",
                reply.get("cache-control") == "no-store")
    later = eventually(lambda: (lambda s: s["latency_seconds"]["p99"] and s)(
        fetch(daemon.target(), GET).json()), 5)
    report.case("summary: latency comes with the sample",
                later and 0 < later["latency_seconds"]["p50"] <=
                later["latency_seconds"]["p99"] < slow(1), later)
    finish(report, daemon)


def whole(report):
    daemon = Daemon("-w", "2", listen=("127.0.0.1:0", "unix:@/s"))
    for _ in range(20):
        fetch(daemon.target(), GET)
    time.sleep(1.3)     # two samples, so that no rate is null any more
    reply = fetch(daemon.target(), FULL)
    faults = list(shape_faults(parse(reply.body), WHOLE))
    report.case("full: keys, order, types", not faults,
                "; ".join(faults)[:400])
    report.case("full: one compact line", compact(reply.body))
    document = reply.json()
    part, host = document["daemon"], document["host"]
    report.case("full: schema", document["schema"] == 1)
    report.case("full: state", document["state"] == "running" and
                document["status"] == "pass")
    report.case("full: pid", part["pid"] == daemon.pid)
    report.case("full: active is the sum of its parts",
                adds_up(part["connections"]), part["connections"])
    report.case("full: started and uptime agree", abs(
        age(part["started"]) - part["uptime_seconds"]) < slow(1.5),
        (part["started"], part["uptime_seconds"]))
    config = part["config"]
    report.case("full: no reload yet", config["path"] is None and
                config["generation"] == 1 and config["last_reload_ok"] and
                config["last_reload_error"] is None, config)
    addresses = [n["address"] for n in part["listeners"]]
    report.case("full: both listeners", len(addresses) == 2 and
                str(daemon.target()[1]) in addresses[0] and
                addresses[1].startswith("unix:"), addresses)
    report.case("full: event backend", part["event_backend"] == "epoll")
    tasks = os.listdir("/proc/%d/task" % daemon.pid)
    report.case("full: workers are threads", len(part["workers"]) == 2 and
                all(str(w["tid"]) in tasks for w in part["workers"]) and
                [w["id"] for w in part["workers"]] == [0, 1])
    for key in ("accepted", "active", "idle"):
        report.case("full: workers' connections.%s add up" % key, sum(
            w["connections"][key] for w in part["workers"]) ==
            part["connections"][key], part["workers"])
    report.case("full: workers' requests add up", sum(
        w["requests"]["total"] for w in part["workers"]) ==
        part["requests"]["total"])
    memory = part["memory"]
    rss = daemon.status_kb("VmRSS") * 1024
    report.case("full: rss_bytes", abs(memory["rss_bytes"] - rss) <
                max(rss / 10, 1 << 20), (memory["rss_bytes"], rss))
    report.case("full: peak is not below", memory["rss_peak_bytes"] >=
                memory["rss_bytes"], memory)
    owners = memory["owners"]
    report.case("full: owners have live and peak bytes", owners and all(
        0 <= o["live_bytes"] <= o["peak_bytes"] for o in owners.values()),
        owners)
    report.case("full: owners add up to what is used", sum(
        o["live_bytes"] for o in owners.values()) <=
        memory["pool_reserved_bytes"] and
        memory["pool_used_bytes"] <= memory["pool_reserved_bytes"], memory)
    report.case("full: fds.open", abs(part["fds"]["open"] -
                                      daemon.files()) <= 4, part["fds"])
    latency = part["latency_seconds"]
    order = [latency[k] for k in ("min", "p50", "p90", "p95", "p99", "p999",
                                  "max")]
    report.case("full: percentiles are in order", latency["count"] >= 20 and
                order == sorted(order) and latency["min"] <= latency["mean"]
                <= latency["max"], latency)
    report.case("full: host name", host["hostname"] == socket.gethostname())
    report.case("full: host memory", host["memory"]["total_bytes"] == sum(
        int(n.split()[1]) * 1024 for n in open("/proc/meminfo")
        if n.startswith("MemTotal:")), host["memory"])
    report.case("full: kernel", host["kernel"] == os.uname().release)
    report.case("full: usable CPUs", 1 <= host["cpu"]["usable"] <=
                host["cpu"]["count"], host["cpu"])
    report.case("full: sampled lately", -1 < age(host["sampled"]) < slow(3),
                host["sampled"])
    finish(report, daemon)


def listeners(report):
    """Requests through a listener that others can reach are told less, and
    those through another one are not, whatever the loop has rendered."""
    daemon = Daemon("-w", "1", listen=("127.0.0.1:0", "0.0.0.0:0",
                                       "unix:@/s"))
    held = Wire(daemon.target(1))
    held.send(GET)
    report.case("listeners: one is held", held.wait_replies(1))
    for _ in range(3):
        for index, hidden in enumerate((False, True, False)):
            now = fetch(daemon.target(index), GET).json()
            report.case("listeners: keys by %d" % index,
                        list(now) == list(SUMMARY), list(now))
            report.case("listeners: host, pid, load by %d" % index, all(
                (now[key] is None) == hidden
                for key in ("host", "pid", "load")), now)
            report.case("listeners: the rest by %d" % index, all(
                now[key] is not None for key in ("workers", "rss_bytes",
                                                 "connections")), now)
            whole = fetch(daemon.target(index), FULL).json()
            report.case("listeners: full by %d" % index,
                        ("schema" in whole) != hidden and
                        (whole.get("host") is None) == hidden, list(whole))
    names = full(daemon)["listeners"]
    report.case("listeners: names", [n["name"] for n in names] ==
                ["main", "listen2", "listen3"], names)
    # Two a round; the held one; this one.
    report.case("listeners: accepted", [
        n["connections"]["accepted"] for n in names] == [7, 7, 6], names)
    report.case("listeners: active", eventually(lambda: [
        n["connections"]["active"] for n in full(daemon)["listeners"]] ==
        [1, 1, 0]), full(daemon)["listeners"])
    held.close()
    warned = [n for n in daemon.lines if "is not loopback" in n]
    report.case("listeners: told once, of that one", len(warned) == 1 and
                daemon.addresses[1].split("//")[1] in warned[0], daemon.lines)
    finish(report, daemon)


def young(report):
    """At start there is no latency and no rate: null and 0, no lie."""
    daemon = Daemon("-w", "1")
    reply = fetch(daemon.target(), FULL)
    faults = list(shape_faults(parse(reply.body), WHOLE))
    report.case("young: keys, order, types", not faults,
                "; ".join(faults)[:300])
    latency = reply.json()["daemon"]["latency_seconds"]
    report.case("young: no latency without requests", latency["count"] > 0 or
                all(latency[k] is None for k in ("mean", "min", "p50", "p90",
                                                 "p99", "max")), latency)
    finish(report, daemon)


def difference(before, after):
    """Flat differences of all integer counters."""
    flat = {}
    for key in after:
        if isinstance(after[key], dict):
            for name, value in difference(before[key], after[key]).items():
                flat["%s/%s" % (key, name)] = value
        elif isinstance(after[key], int) and not isinstance(after[key], bool):
            flat[key] = after[key] - before[key]
    return flat


def counters(report):
    daemon = Daemon("-w", "1", "-o", "tuning.defer_accept=0")
    other = Wire(daemon.target())

    def snapshot():
        count = len(other.replies)
        other.send(FULL)
        other.wait_replies(count + 1)
        return other.replies[count].json()["daemon"]

    snapshot()
    before = snapshot()
    wire = Wire(daemon.target(), [False] * 3 + [True] + [False] * 5)
    sent = b"".join((
        GET, request("GET", "/livez"), request("GET", "/nowhere"),
        request("HEAD"), request("PUT"), request("FOO"),
        request("POST", "/echo", "Content-Length: 5", body=b"hello"),
        request("POST", "/echo", "Transfer-Encoding: chunked",
                body=b"5\r\nhello\r\n0\r\n\r\n"), b"BAD LINE\r\n\r\n"))
    wire.send(sent)
    report.case("counters: nine replies", wire.wait_replies(9) and
                wire.wait_eof(), [r.status for r in wire.replies])
    wire.close()
    classes = [r.status // 100 for r in wire.replies]
    after = eventually(lambda: (lambda s: s["connections"]["active"] == 1 and
                                s)(snapshot()), 4) or snapshot()
    # Each snapshot is a request too.
    taken = len(other.replies) - 2
    change = difference(before, after)
    for key, value in {
            "connections/accepted": 1, "connections/closed": 1,
            "connections/rejected": 0, "connections/timed_out": 0,
            "connections/active": 0, "requests/active": 0,
            "requests/total": 8 + taken,
            "requests/responses/2xx": classes.count(2) + taken,
            "requests/responses/3xx": 0,
            "requests/responses/4xx": classes.count(4),
            "requests/responses/5xx": classes.count(5),
            "requests/parse_errors": 1, "requests/aborted": 0,
            "requests/received_bytes": len(sent) + taken * len(FULL)}.items():
        report.case("counters: %s" % key, change[key] == value,
                    "by %d, not %d" % (change[key], value))
    other.close()
    left = aborted(report, daemon)
    report.case("counters: never fall", all(
        v >= 0 for k, v in difference(after, left).items()
        if k.startswith("requests/") and "active" not in k))
    finish(report, daemon)


def aborted(report, daemon):
    """Clients that leave within a request are counted."""
    before = full(daemon)["requests"]["aborted"]
    for _ in range(3):
        with Wire(daemon.target()) as wire:
            wire.send(request("POST", "/echo", "Content-Length: 50",
                              body=b"half"))
            eventually(lambda: full(daemon)["connections"]["reading"] == 1, 3)
    left = eventually(lambda: (lambda s: s["requests"]["aborted"] ==
                               before + 3 and s)(full(daemon)), 4)
    report.case("counters: aborted", left,
                full(daemon)["requests"]["aborted"] - before)
    return left or full(daemon)


def gauges(report):
    daemon = Daemon("-w", "2", "-o", "tuning.defer_accept=0")
    idle = [Wire(daemon.target()) for _ in range(7)]
    for wire in idle:
        wire.send(GET)
        wire.wait_replies(1)
    reading = [Wire(daemon.target()) for _ in range(5)]
    for number, wire in enumerate(reading):
        wire.send(GET[:20] if number < 3 else request(
            "POST", "/echo", "Content-Length: 9", body=b"half"))

    def settled():
        now = full(daemon)["connections"]
        return now["active"] == 13 and now["reading"] == 5 and now
    now = eventually(settled, 5)
    report.case("gauges: 7 idle, 5 reading, 1 asks", now,
                full(daemon)["connections"])
    report.case("gauges: idle ones", now and now["idle"] in (7, 8), now)
    report.case("gauges: they add up", now and adds_up(now), now)
    for wire in idle + reading:
        wire.close()
    report.case("gauges: back to one", eventually(
        lambda: full(daemon)["connections"]["active"] == 1),
        full(daemon)["connections"])
    finish(report, daemon)


def spread(report):
    """Two loops: nothing is lost between them."""
    daemon = Daemon("-w", "2")
    before = full(daemon)
    for _ in range(300):
        fetch(daemon.target(), GET)
    now = eventually(lambda: (lambda s: s["connections"]["closed"] >=
                              before["connections"]["closed"] + 301 and s)(
        full(daemon)), 5) or full(daemon)
    change = difference(before, now)
    asked = change["requests/total"] - 300
    report.case("spread: every request counted once", 1 <= asked < 200 and
                change["requests/responses/2xx"] == change["requests/total"],
                change)
    report.case("spread: both loops work", all(
        w["requests"]["total"] >= 100 for w in now["workers"]),
        now["workers"])
    finish(report, daemon)


def paths(report):
    daemon = Daemon("-w", "1")

    def ask(*args, **more):
        return fetch(daemon.target(), request(*args, **more))
    for path in ("/livez", "/readyz", "/healthz"):
        reply = ask("GET", path)
        report.case("%s says ok" % path, reply.status == 200 and
                    reply.body == b"ok\n" and reply.get(
                        "content-type").startswith("text/plain"), reply.body)
        report.case("%s: POST is refused" % path,
                    ask("POST", path).status == 405)
    reply = ask("GET", "/version")
    version = reply.json()
    report.case("/version: keys", list(version)[:6] == [
        "name", "version", "revision", "built", "compiler", "features"],
        list(version))
    report.case("/version: values", version["name"] == "restdaemon" and
                re.match(r"\d+\.\d+\.\d+", version["version"]) and
                isinstance(version["features"], list) and
                reply.get("content-type") == "application/json", version)
    report.case("/version: as in /status", version["version"] ==
                ask().json()["version"])
    reply = ask("GET", "/")
    report.case("/ lists the endpoints", reply.status == 200 and
                reply.get("content-type").startswith("text/plain") and all(
                    path in reply.body for path in (
                        b"/status", b"/livez", b"/readyz", b"/healthz",
                        b"/version", b"/echo", b"/ok")), reply.body)
    reply = ask("GET", "/ok")
    report.case("/ok is empty", reply.status == 200 and reply.body == b"" and
                reply.get("content-length") == "0", reply.body)
    finish(report, daemon)


def echo(report):
    daemon = Daemon("-w", "1")
    every = bytes(range(256))
    for title, body, kind in (
            ("empty", b"", "text/plain"), ("one NUL", b"\0", "image/png"),
            ("every byte value", every, "application/octet-stream"),
            ("every byte value, 64 KiB", every[::-1] * 256,
             "application/json; charset=utf-8"),
            ("CR and LF", b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
             "multipart/form-data; boundary=\"x y\"")):
        for chunked in (False, True):
            framing = "Transfer-Encoding: chunked" if chunked else \
                "Content-Length: %d" % len(body)
            sent = body if not chunked else b"".join(
                b"%x\r\n%s\r\n" % (len(body[n:n + 999]), body[n:n + 999])
                for n in range(0, len(body), 999)) + b"0\r\n\r\n"
            reply = fetch(daemon.target(), request(
                "POST", "/echo", framing, "Content-Type: " + kind, body=sent))
            title = title + (", chunked" if chunked else "")
            report.case("echo: %s" % title, reply and reply.status == 200 and
                        reply.body == body, reply and reply.body[:40])
            report.case("echo: type of %s" % title,
                        reply and reply.get("content-type") == kind,
                        reply and reply.get("content-type"))
    reply = fetch(daemon.target(), request(
        "POST", "/echo", "Content-Length: 2", body=b"hi"))
    report.case("echo: a content without type gets one",
                reply.body == b"hi" and reply.get("content-type"))
    finish(report, daemon)


if __name__ == "__main__":
    sys.exit(run_groups("status", (summary, whole, listeners, young, counters,
                                   gauges, spread, paths, echo)))
