#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The admin listener: what it says, what it does, and that it answers when
nothing else does."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import eventually, fetch, run_groups  # noqa: E402
from service import Service, once  # noqa: E402

TEXT = """
listen "main" { address = "127.0.0.1:0" }
listen "admin" { address = "unix:@/admin" admin = true }
workers = 2
log { level = info }
route "/user/{id:int}" { respond = "number" summary = "a user" }
route "/user/{name}" { respond = "name" }
"""


def start(text=TEXT):
    daemon = Service(text, listeners=2)
    return daemon, os.path.join(daemon.home, "admin")


def end(report, daemon):
    report.case("clean exit", daemon.stop() == 0, daemon.last_words())
    fault = daemon.sanitizer_report()
    report.case("no sanitizer report", fault is None, fault)


def reads(report):
    daemon, admin = start()
    for path in ("/livez", "/readyz", "/status", "/status?detail=full",
                 "/admin/lint", "/admin/routes"):
        reply = daemon.get(path, admin)
        report.case(path, reply and reply.status == 200, reply and
                    reply.status)
    status = daemon.get("/status", admin).json()
    report.case("status is the main server's", status["workers"] == 2, status)
    text = daemon.get("/admin/routes", admin).body.decode()
    report.case("routes", "/user/{id:int}  a user" in text, text)
    why = daemon.get("/admin/explain?path=/user/7&method=GET", admin).json()
    report.case("explain", why["route"]["pattern"] == "/user/{id:int}" and
                any("/user/{name}" in str(m) for m in why["near_misses"]),
                why)
    report.case("explain needs a path",
                daemon.get("/admin/explain", admin).status == 400)
    report.case("mode of the socket",
                os.stat(admin).st_mode & 0o777 == 0o660)
    report.case("not on the other listener",
                daemon.get("/admin/routes").status == 404 and
                daemon.get("/admin/drain", method="POST").status == 404)
    report.case("GET drains nothing",
                daemon.get("/admin/drain", admin).status == 405)
    end(report, daemon)
    report.case("the socket is gone", not os.path.exists(admin))


def commands(report):
    daemon, admin = start()
    report.case("drain", daemon.get("/admin/drain", admin,
                                    "POST").status == 200)
    report.case("not ready", daemon.get("/readyz").status == 503 and
                daemon.get("/readyz", admin).status == 503)
    report.case("but alive, and serving", daemon.get("/livez").status == 200
                and daemon.get("/user/1").status == 200)
    report.case("undrain", daemon.get("/admin/undrain", admin,
                                      "POST").status == 200 and
                daemon.get("/readyz").status == 200)
    report.case("in the log", daemon.hears(r"admin: drain \(uid \d+, pid"))
    daemon.write(TEXT.replace("number", "digits"))
    report.case("reload", daemon.get("/admin/reload", admin,
                                     "POST").status == 202)
    report.case("reloaded", eventually(
        lambda: daemon.get("/user/7").body == b"digits"))
    why = daemon.get("/admin/explain?path=/user/x", admin).json()
    report.case("explain of the new routes",
                why["route"]["pattern"] == "/user/{name}", why)
    for level, status in (("debug", 200), ("error", 200), ("loud", 400),
                          ("", 400)):
        reply = daemon.get("/admin/log-level?level=" + level, admin, "POST")
        report.case("log level %r" % level, reply.status == status)
    before = daemon.said("undrain")
    daemon.get("/admin/undrain", admin, "POST")
    daemon.get("/admin/log-level?level=notice", admin, "POST")
    daemon.get("/admin/undrain", admin, "POST")
    report.case("a quiet log says nothing", daemon.hears(
        "undrain", before + 1) and daemon.said("undrain") == before + 1)
    end(report, daemon)


def full_house(report):
    """The main server is at its limit of connections; the admin's is not."""
    daemon, admin = start(TEXT + "limits { connections = 4 }\n")
    wires = [socket_to(daemon) for _ in range(8)]
    report.case("admin answers", fetch(admin, once("/livez")).status == 200)
    for wire in wires:
        wire.close()
    end(report, daemon)


def socket_to(daemon):
    import socket
    s = socket.create_connection(daemon.target())
    s.sendall(b"GET /status HTTP/1.1\r\nHost: x\r\n")  # half a head
    return s


if __name__ == "__main__":
    sys.exit(run_groups("admin", [reads, commands, full_house]))
