#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where lines go, what they look like, and that none is lost or forged."""
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (Wire, eventually, fetch, finish,  # noqa: E402
                    full, request, run_groups, slow)
from service import Service, once  # noqa: E402

BASE = """
listen "main" { address = "127.0.0.1:0" }
listen "admin" { address = "unix:@/admin" admin = true }
workers = 2
tuning { log_ring = "1M" }
builtins { echo = true }
route "/hello" { respond = "hello" }
"""
FILES = BASE + """
log { target = file file = "@/log" }
access_log { target = file file = "@/access" format = "$request_uri" }
"""
STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def lines(*parts):
    """Of a file, without their ends; none if it is not there."""
    try:
        with open(os.path.join(*parts), "rb") as f:
            return f.read().decode("latin-1").split("\n")[:-1]
    except FileNotFoundError:
        return []


class Quiet(Service):
    """Its log goes elsewhere, so it is found by the admin listener."""

    def __init__(self, text, **more):
        super().__init__(text, wait=False, **more)
        self.admin = os.path.join(self.home, "admin")
        if not eventually(self.is_ready):
            text = "\n".join(self.lines[-5:])
            self.stop()
            raise RuntimeError("daemon did not get ready: %s" % text)

    def is_ready(self):
        if not self.alive():
            return False
        try:
            reply = fetch(self.admin, once("/status?detail=full"), seconds=2)
        except OSError:
            return False
        if reply is None or reply.status != 200:
            return False
        listeners = reply.json()["daemon"]["listeners"]
        self.addresses = ["http://" + n["address"].split("//")[-1]
                          for n in listeners
                          if not n["address"].startswith("unix:")]
        return bool(self.addresses)

    def file(self, *names):
        return lines(self.home, *names)

    def has(self, name, pattern, count=1, seconds=10):
        return eventually(lambda: sum(
            1 for n in self.file(name) if re.search(pattern, n)) >= count,
            seconds)

    def generation(self):
        return self.config(self.admin)["generation"]

    def renew(self, text, good=True):
        before = self.config(self.admin)
        self.write(text)
        self.signal(signal.SIGHUP)
        return eventually(
            lambda: self.generation() > before["generation"] if good else
            not self.config(self.admin)["last_reload_ok"])


# --- targets and formats ----------------------------------------------------


def message_formats(report):
    shapes = {
        "text": STAMP + r" notice listening on http://\S+$",
        "logfmt": "time=" + STAMP +
                  r' level=notice msg="listening on http://[^"]+"$',
        "json": r'\{"time":"' + STAMP +
                r'","level":"notice","msg":"listening on http://[^"]+"\}$',
    }
    for name, shape in shapes.items():
        for target in ("stderr", "file"):
            daemon = Quiet(BASE + 'log { target = %s file = "@/log" '
                                  'format = %s }' % (target, name))
            daemon.reload = None
            title = "%s to %s" % (name, target)
            report.case(title, eventually(lambda: any(
                re.match(shape, n) for n in
                (daemon.lines if target == "stderr" else daemon.file("log")))),
                daemon.lines + daemon.file("log"))
            report.case("%s: and nowhere else" % title, not (
                daemon.lines if target == "file" else daemon.file("log")))
            finish(report, daemon)
    daemon = Quiet(BASE + 'log { target = file file = "@/log" format = json }'
                   'route "/x" { respond = "x" }')
    daemon.renew(BASE + 'quote "\\"\\\\" { }', good=False)
    eventually(lambda: daemon.has("log", "reload refused"))
    report.case("JSON of a text with quotes", all(
        json.loads(n) for n in daemon.file("log")), daemon.file("log"))
    finish(report, daemon)


def journal(report):
    daemon = Service(BASE + "log { target = journal }\n"
                     "access_log { target = journal format = common }\n",
                     listeners=2)
    report.case("prefix", daemon.hears(r"^<5>listening on http://"))
    daemon.get("/hello")
    report.case("access line", daemon.hears(r'^<6>127\.0\.0\.1 .*"GET /hello'),
                daemon.last_words())
    daemon.reload("{", good=False)
    report.case("an error", daemon.hears(r"^<3>reload: \S*restdaemon.conf:1: error"),
                daemon.last_words())
    finish(report, daemon)
    daemon = Service(BASE, listeners=2, prefix=["sh", "-c", 'JOURNAL_STREAM=$('
                     'stat -Lc %d:%i /proc/self/fd/2) exec "$0" "$@"'])
    report.case("auto on a journal stream", daemon.hears("^<5>listening"),
                daemon.last_words())
    finish(report, daemon)
    daemon = Service(BASE, listeners=2, env={"JOURNAL_STREAM": "1:2"})
    report.case("auto on another stream", daemon.hears(
        STAMP + " notice listening"), daemon.last_words())
    finish(report, daemon)
    daemon = Quiet(BASE + "log { target = off }")
    finish(report, daemon)
    report.case("off", not [n for n in daemon.lines if n], daemon.lines)


def syslog(report):
    """With a /dev/log of its own, in a mount namespace of its own."""
    folder = tempfile.mkdtemp(prefix="rdsyslog-")
    for name in ("null", "urandom"):
        open(os.path.join(folder, name), "w").close()
    script = ("mount --bind /dev/null %s/null && mount --bind /dev/urandom "
              "%s/urandom && mount --rbind %s /dev && exec \"$0\" \"$@\"" % (
                  (folder,) * 3))
    prefix = ["unshare", "-m", "sh", "-c", script]
    if subprocess.run(prefix[:4] + [script.replace('exec "$0" "$@"', ":")],
                      stderr=subprocess.DEVNULL).returncode != 0:
        print("no mount namespace here: syslog left out")
        shutil.rmtree(folder)
        return
    path = os.path.join(folder, "log")
    text = BASE + "log { target = syslog }\n" \
                  "access_log { target = syslog format = common }\n"
    daemon = Quiet(text, prefix=prefix)
    report.case("starts without a syslog", daemon.get("/hello").status == 200)
    log, got = Syslog(path), []
    daemon.renew(text)
    report.case("found once it is there", eventually(lambda: log.has(
        r"^<29>\w{3} [ \d]\d \d\d:\d\d:\d\d restdaemon\[%d\]: configuration "
        "reloaded" % daemon.pid, got)), got)
    daemon.get("/hello")
    report.case("access line", eventually(lambda: log.has(
        r'^<30>.*restdaemon\[\d+\]: 127\.0\.0\.1 .*"GET /hello', got)), got)
    log.close()
    log = Syslog(path)
    daemon.get("/hello")
    report.case("a syslog that is started anew", eventually(lambda: (
        daemon.get("/hello") and log.has("GET /hello", got))), got)
    finish(report, daemon)
    log.close()
    shutil.rmtree(folder)


class Syslog:
    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.setblocking(False)
        self.lines = []

    def has(self, pattern, got):
        while True:
            try:
                self.lines.append(self.socket.recv(8192).decode("latin-1"))
                got.append(self.lines[-1])
            except BlockingIOError:
                break
        return any(re.search(pattern, n) for n in self.lines)

    def close(self):
        self.socket.close()
        os.unlink(self.path)


# --- access log -------------------------------------------------------------

HOSTILE = [
    (b"/hello?q=\"%0a%00\\", b"agent"),
    (b"/hello?" + bytes(range(0x80, 0x100)), b"agent"),
    (b"/hello", b'" 200 0 "-" "forged'),
    (b"/hello", b"tab\there \\n \\x22 $status {\"a\":1}"),
    (b"/hello", bytes(range(0x80, 0x100))),
    (b"/hello", "h\u00e9llo \u2028 \U0001f600".encode()),
    (b"/hello", b"\xed\xa0\x80 \xc0\x80 \xf5 \xe2\x80"),
    (b"/" + b"x" * 7000, b"y" * 7000),
    (b"/hello", b"esc \x1b[31m"), (b"/hello", b"nul \x00"),
    (b"/hello", b"del \x7f"), (b"/hello", b"bare \r cr"),
    (b"/he\x01llo", b"agent"), (b"/he\x7fllo", b"agent"),
]
COMMON = (r'127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] '
          r'"[ !#-\[\]-~]*(?:\\(?:x[0-9a-f]{2})[ !#-\[\]-~]*)*" \d{3} \d+')
QUOTED = r'"[ !#-\[\]-~]*(?:\\(?:x[0-9a-f]{2})[ !#-\[\]-~]*)*"'
LOGFMT = r'[a-z_]+=(?:"(?:[^"\\]|\\.)*"|[^\s"=\\]+)'
SHAPES = {
    "common": COMMON,
    "combined": COMMON + " " + QUOTED + " " + QUOTED,
    "vcombined": r"\S+ " + COMMON + " " + QUOTED + " " + QUOTED,
    "logfmt": LOGFMT + "( " + LOGFMT + ")*",
    "json": r"\{.*\}",
    "$remote_addr [$http_user_agent] $status $request_time":
        r"127\.0\.0\.1 \[.*\] \d{3} \d+\.\d{6}",
}


def access_formats(report):
    """Whatever clients send, a line is one line of its form."""
    for name, shape in SHAPES.items():
        daemon = Quiet(BASE + "access_log { target = file file = \"@/access\" "
                              "format = '%s' }" % name)
        for target, agent in HOSTILE:
            with Wire(daemon.target()) as wire:
                wire.send(b"GET " + target + b" HTTP/1.1\r\nHost: a\r\n"
                          b"User-Agent: " + agent + b"\r\nReferer: " + agent +
                          b"\r\nConnection: close\r\n\r\n")
                wire.wait_eof()
        last = request("GET", "/hello?last", "Connection: close")
        fetch(daemon.target(), last)
        daemon.has("access", "last")
        with open(os.path.join(daemon.home, "access"), "rb") as f:
            raw = f.read()
        got = raw.split(b"\n")
        report.case("%s: whole lines" % name, got.pop() == b"")
        report.case("%s: no control characters" % name, not any(
            b < 32 or b == 127 for n in got for b in n))
        wrong = [n for n in got
                 if not re.fullmatch(shape, n.decode("utf-8", "replace"))]
        report.case("%s: form" % name, not wrong, wrong[:2])
        answered = [h for h in HOSTILE if served(h)]
        report.case("%s: each that was served has a line" % name,
                    len(got) >= len(answered) + 1, len(got))
        if name == "json":
            report.case("JSON: all parse", check_json(got), got[:3])
        if name in ("json", "logfmt"):
            report.case("%s: UTF-8" % name, raw.decode("utf-8"))
        finish(report, daemon)


def served(hostile):
    target, agent = hostile
    return not any(b < 32 and b != 9 or b == 127 for b in target + agent) \
        and len(target) < 8000


def check_json(got):
    agents = [json.loads(n).get("user_agent") for n in got]
    return HOSTILE[2][1].decode() in agents and \
        HOSTILE[3][1].decode() in agents and \
        HOSTILE[5][1].decode() in agents


def sampling(report):
    """One of so many; errors and slow ones always."""
    daemon = Quiet(BASE + 'access_log { target = file file = "@/access" '
                   'format = "$status $request_uri" sample = 10 '
                   'slow = "80ms" }')
    with Wire(daemon.target()) as wire:
        for n in range(100):
            wire.send(request("GET", "/hello?%d" % n))
            wire.wait_replies(n + 1)
        for n in range(5):
            wire.send(request("GET", "/missing"))
            wire.wait_replies(101 + n)
        head = request("POST", "/echo", "Content-Length: 4")
        wire.send(head + b"ab")
        time.sleep(0.2)  # what is tested is that time passes
        wire.send(b"cd")
        wire.wait_replies(106)
    report.case("all errors", daemon.has("access", "^404 /missing", 5),
                daemon.file("access"))
    report.case("the slow one", daemon.has("access", "^200 /echo"),
                daemon.file("access"))
    fetch(daemon.target(), once("/missing?end"))
    daemon.has("access", "end")
    n = sum(1 for n in daemon.file("access") if "/hello" in n)
    report.case("one of ten", 9 <= n <= 11, n)
    report.case("min_status", daemon.renew(
        BASE + 'access_log { target = file file = "@/access" '
        'format = "$status $request_uri" min_status = 400 }'))
    fetch(daemon.target(), once("/hello?after"))
    fetch(daemon.target(), once("/missing?after"))
    report.case("the error", daemon.has("access", "missing.after"))
    report.case("not the other", not daemon.has(
        "access", "hello.after", seconds=0))
    finish(report, daemon)


# --- files come and go ------------------------------------------------------


class Counter(threading.Thread):
    """Asks for /hello?N on a kept connection until it is told to stop, at a
    rate that the log can follow under a sanitizer as well."""

    def __init__(self, target, first):
        super().__init__()
        self.target, self.first, self.sent = target, first, 0
        self.running = True
        self.start()

    def run(self):
        with Wire(self.target) as wire:
            while self.running:
                wire.send(b"".join(
                    request("GET", "/hello?%d" % (self.first + self.sent + n))
                    for n in range(20)))
                self.sent += 20
                if not wire.wait_replies(self.sent, slow(10)):
                    break

    def stop(self):
        self.running = False
        self.join()
        return range(self.first, self.first + self.sent)


def reopen(report):
    """USR1 after a rename, again and again under load: no line is lost, torn
    or there twice."""
    daemon = Quiet(FILES)
    loads = [Counter(daemon.target(), n * 10 ** 7) for n in range(1, 4)]
    for turn in range(15):
        for name in ("log", "access"):
            os.rename(os.path.join(daemon.home, name),
                      os.path.join(daemon.home, "%s.%d" % (name, turn)))
        daemon.signal(signal.SIGUSR1)
        report.case("turn %d" % turn, daemon.has("log", "SIGUSR1") and
                    eventually(lambda: len(daemon.file("access")) > 3))
    wanted = sorted(n for load in loads for n in load.stop())
    report.case("exit", daemon.process.send_signal(signal.SIGTERM) is None and
                daemon.wait_exit() == 0)
    got = daemon.file("access")
    for turn in range(15):
        got += daemon.file("access.%d" % turn)
    numbers = sorted(int(n.partition("?")[2]) for n in got if "hello?" in n)
    report.case("every request has its line", numbers == wanted and
                len(wanted) > 1000, "%d requests, %d lines" % (
                    len(wanted), len(numbers)))
    log = [n for t in range(15) for n in daemon.file("log.%d" % t)]
    log += daemon.file("log")
    report.case("the log is whole", sum(
        1 for n in log if "SIGUSR1" in n) == 15 and not [
        n for n in log if not re.match(STAMP, n)], log)
    fault = daemon.sanitizer_report()
    report.case("no sanitizer report", fault is None, fault)
    daemon.stop()


def gone_folder(report):
    """Reopening fails: the old file goes on, and says so."""
    daemon = Quiet(FILES.replace("@/log", "@/d/log"), prefix=[
        "sh", "-c", 'mkdir "$(dirname "$2")/d"; exec "$0" "$@"'])
    old = os.path.join(daemon.home, "e")
    os.rename(os.path.join(daemon.home, "d"), old)
    daemon.signal(signal.SIGUSR1)
    report.case("said in the old file", eventually(lambda: any(
        "the old one goes on" in n for n in lines(old, "log"))),
        lines(old, "log"))
    os.mkdir(os.path.join(daemon.home, "d"))
    daemon.signal(signal.SIGUSR1)
    report.case("and then the new one", eventually(
        lambda: daemon.file("d", "log")))
    finish(report, daemon)


def reload_targets(report):
    """Targets change by a reload, and do not by one that is refused."""
    daemon = Quiet(FILES)
    report.case("first", daemon.has("log", "listening"))
    moved = FILES.replace("@/log", "@/log2").replace("@/access", "@/access2")
    report.case("reload", daemon.renew(moved))
    daemon.get("/hello")
    report.case("the new one", daemon.has("log2", "configuration reloaded") and
                daemon.has("access2", "/hello"))
    before = len(daemon.file("log"))
    late = moved.replace("@/log2", "@/log3") + 'memory_budget = "20M"\n'
    report.case("refused late", daemon.renew(late, good=False))
    report.case("said in the one that stays", daemon.has(
        "log2", "reload refused"), daemon.file("log3"))
    bad = moved.replace("@/log2", "@/missing/log")
    report.case("no such folder", daemon.renew(bad, good=False) and
                daemon.has("log2", "reload refused", 2))
    report.case("off", daemon.renew(
        BASE + 'log { target = file file = "@/log2" }'))
    n = len(daemon.file("access2"))
    daemon.get("/hello")
    report.case("to stderr", daemon.renew(BASE) and daemon.hears(
        "configuration reloaded"))
    report.case("no access line since", len(daemon.file("access2")) == n)
    report.case("nothing more in the first", len(daemon.file("log")) == before)
    finish(report, daemon)


def level(report):
    """Of the configuration, and of the administrator until the next reload."""
    daemon = Quiet(FILES)
    quiet = FILES.replace('@/log"', '@/log" level = error')
    report.case("reload", daemon.renew(quiet))
    before = len(daemon.file("log"))
    daemon.get("/admin/undrain", daemon.admin, "POST")
    daemon.get("/admin/log-level?level=notice", daemon.admin, "POST")
    daemon.get("/admin/drain", daemon.admin, "POST")
    report.case("the administrator's level", daemon.has("log", "admin: drain"))
    report.case("error: silent before", not any(
        "undrain" in n for n in daemon.file("log")[before:]),
        daemon.file("log"))
    report.case("reload", daemon.renew(quiet))
    before = len(daemon.file("log"))
    daemon.get("/admin/undrain", daemon.admin, "POST")
    report.case("quiet again", daemon.renew(FILES) and daemon.has(
        "log", "configuration reloaded") and not any(
        "undrain" in n for n in daemon.file("log")[before:]))
    finish(report, daemon)


# --- nobody takes them ------------------------------------------------------


def full_device(report):
    """/dev/full: said once on stderr, and nothing else changes."""
    daemon = Service(BASE + 'access_log { target = file file = "/dev/full" '
                     'format = common }', listeners=2)
    for _ in range(300):
        daemon.get("/hello")
    report.case("said", daemon.hears(
        r"restdaemon: log /dev/full: No space left"), daemon.last_words())
    report.case("once", daemon.said("No space left") == 1, daemon.lines[-4:])
    report.case("still serves", daemon.get("/hello").status == 200)
    finish(report, daemon)


def full_disk(report):
    """A small file system is full, and then has room again."""
    folder = tempfile.mkdtemp(prefix="rdfull-")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs",
                       folder], stderr=subprocess.DEVNULL).returncode != 0:
        print("no mount here: full disk left out")
        os.rmdir(folder)
        return
    try:
        daemon = Service(BASE + 'access_log { target = file file = '
                         '"%s/access" format = combined }' % folder,
                         listeners=2)
        load = Counter(daemon.target(), 10 ** 7)
        report.case("said", daemon.hears(r"No space left"),
                    daemon.last_words())
        sent = load.sent
        report.case("serves on", eventually(lambda: load.sent > sent + 1000))
        os.truncate(os.path.join(folder, "access"), 0)
        report.case("how many were lost", daemon.hears(
            r"warning \d+ lines of the access log lost"), daemon.last_words())
        report.case("and lines again", eventually(
            lambda: lines(folder, "access")))
        load.stop()
        log = full(daemon)["log"]
        report.case("/status tells it as well", log["lost"] > 0, log)
        finish(report, daemon)
    finally:
        subprocess.run(["umount", folder], check=True)
        os.rmdir(folder)


def pipe_nobody_reads(report):
    """A FIFO without a reader, and a stderr that is full, hold nobody up."""
    folder = tempfile.mkdtemp(prefix="rdfifo-")
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    daemon = Service(BASE + 'access_log { target = file file = "%s" }' % fifo,
                     listeners=2)
    load = Counter(daemon.target(), 10 ** 7)
    report.case("serves more than a pipe holds", eventually(
        lambda: load.sent > 5000, 20), load.sent)
    fd = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    report.case("a reader finds lines", os.read(fd, 100).startswith(
        b"127.0.0.1"))
    report.case("reloads", daemon.reload())
    load.stop()
    os.close(fd)
    start = time.monotonic()
    finish(report, daemon)
    report.case("ends in time", time.monotonic() - start < slow(4),
                time.monotonic() - start)
    shutil.rmtree(folder)


def stderr_nobody_reads(report):
    reader, writer = os.pipe()
    daemon = Quiet(BASE + 'access_log { target = stderr }', prefix=[
        "sh", "-c", 'exec "$0" "$@" 2>&%d' % writer if writer < 10 else
        'exec 2>/proc/self/fd/%d; exec "$0" "$@"' % writer],
        pass_fds=(writer,))
    load = Counter(daemon.target(), 10 ** 7)
    report.case("serves more than a pipe holds", eventually(
        lambda: load.sent > 5000, 20), load.sent)
    report.case("reloads", daemon.renew(BASE))
    load.stop()
    daemon.signal(signal.SIGTERM)
    start = time.monotonic()
    report.case("ends", daemon.wait_exit(15) == 0)
    report.case("in time", time.monotonic() - start < slow(10),
                time.monotonic() - start)
    daemon.stop()
    os.close(reader)
    os.close(writer)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.exit(run_groups("logs", [
        message_formats, journal, syslog, access_formats, sampling, reopen,
        gone_folder, reload_targets, level, full_device, full_disk,
        pipe_nobody_reads, stderr_nobody_reads]))
