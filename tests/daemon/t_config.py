#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Configuration files: what is said of mistakes (config_cases.txt), broken
files, -T and its round trip, precedence, includes, variables, -t beside a
running daemon, and that documents are made from the table."""
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (Daemon, answers, fetch, finish, request,  # noqa: E402
                    run_groups, slow)
from rdproc import BIN, ROOT  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20


class Folder:
    """A folder of files in which the daemon is run to its end."""

    def __init__(self, **files):
        self.path = tempfile.mkdtemp(prefix="rdconf-")
        for name, text in files.items():
            self.write(name + ".conf", text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, name, text):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return path

    def run(self, *args, env=None, file="t.conf", **more):
        clean = {k: v for k, v in os.environ.items()
                 if not k.startswith(("RESTDAEMON_", "RD_TEST_"))}
        command = [BIN, *(["-c", file] if file else []), *args]
        return subprocess.run(
            command, cwd=self.path, env={**clean, **(env or {})},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=slow(30), check=False,
            encoding="utf-8", errors="replace", **more)

    def dump(self, *args, **more):
        """{"section.name": (value, origin)} of -T; titles are left out."""
        done = self.run("-T", *args, **more)
        if done.returncode != 0:
            raise RuntimeError("-T: %s" % done.stderr)
        return parse_dump(done.stdout)


def parse_dump(text):
    found, sections = {}, []
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if re.match(r"\s*\w.* \{(  # .*)?$", line):
            sections.append(words[0])
        elif words == ["}"]:
            sections.pop()
        else:
            match = re.match(r"\s*(\w+) = (.*)  # (.*)$", line)
            if match:
                name = ".".join(sections + [match.group(1)])
                found[name] = (match.group(2).strip('"'), match.group(3))
    return found


def values(text):
    """What -T says without the origins."""
    return [line.split("  # ")[0] for line in text.splitlines()[1:]]


def golden_cases():
    title, parts = None, None
    with open(os.path.join(HERE, "config_cases.txt"), encoding="utf-8") as f:
        for line in f:
            if line.startswith("== "):
                if title:
                    yield title, parts
                title, parts = line[3:].strip(), [[]]
            elif line == "--\n":
                parts.append([])
            elif title:
                parts[-1].append(line)
    yield title, parts


def golden(report):
    count = 0
    with Folder() as folder:
        for title, (text, want) in golden_cases():
            folder.write("t.conf", "".join(text))
            for option in ("-t", "-T"):
                done = folder.run(option)
                n = len(want)
                last = "%d error%s; configuration not loaded\n" % (
                    n, "" if n == 1 else "s")
                report.case("%s: what is said" % title,
                            done.stderr == "".join(want) + last,
                            "%r, not %r" % (done.stderr, "".join(want) + last))
                report.case("%s: exit status" % title,
                            done.returncode == 78 and not done.stdout,
                            "%s %s" % (done.returncode, done.stdout))
            count += 1
    report.case("there are cases", count >= 100, count)


def broken_files(report):
    files = (
        ("NUL bytes", b"workers = 2\nuser = \0\n", ":2: ", "0x00"),
        ("a binary", bytes(range(256)) * 40, ":1: ", "no text"),
        ("1 MiB of '{'", b"{" * MIB, ":1: ", "braces"),
        ("1 MiB of '}'", b"}" * MIB, ":1: ", "closes nothing"),
        ("1 MiB of quotes", b"\"" * MIB, ":1: ", "empty"),
        ("an empty name in a section", b"\nlog {\n\"\" = 1 }\n", ":2: ",
         "empty"),
        ("1 MiB of one word", b"a" * MIB, ":1: ", "more than 64 KiB"),
        ("1 MiB of one string", b"\n'" + b"a" * (MIB - 9) + b"\n'", ":2: ",
         "more than 64 KiB"),
        ("1 MiB of commas", b"," * MIB, ":1: ", "not expected"),
        ("more than 1 MiB", b"#" * (MIB + 1), ": error", "1 MiB"),
        ("more than 1 MiB of values", b"user = ${HOME}\n" * 80000, ": error",
         "1 MiB"),
        ("UTF-16", "workers = 2\n".encode("utf-16"), ":1: ", "no text"),
        ("CRLF", b"workers = 2\r\n\r\ngzip = 7\r\n", ":3: ", "'gzip'"),
        ("CR alone", b"workers = 2\rgzip = 7\r", ":1: ", "'gzip'"),
        ("no newline at the end", b"gzip = 7", ":1: ", "'gzip'"),
        ("control characters in a string", b"user = \"\x1b[1m\"\n", ":1: ",
         "0x1b"),
        ("escaped controls are not shown", b"user = \"\\x1b[1m\"\n", ":1: ",
         "?[1m"),
        ("half an escape", b"user = \"\\", ":1: ", "no end"),
        ("a path with a newline", b"log { file = \"/x\\nforged\" }\n", ":1: ",
         "control characters"),
        ("an address with a newline",
         b"listen a { address = \"unix:/x\\nforged\" }\n", ":1: ",
         "control characters"),
        ("the rest after too many routes is not read", b"".join(
            b"route \"/%d\" { respond = \"\" }\n" % i for i in range(1001)) +
         b"gzip = 7\n", ":1001: ", "\n1 error;"),
        ("too many routes", b"".join(
            b"route \"/%d\" { respond = \"\" }\n" % i for i in range(1001)),
         ":1001: ", "more than 1000"),
        ("too many listeners", b"".join(
            b"listen \"l%d\" { address = \":%d\" }\n" % (i, i + 1)
            for i in range(65)), ":65: ", "more than 64"),
        ("hundreds of faults", b"".join(
            b"route \"/%d\" { }\n" % i for i in range(900)), ":1: ",
         "900 errors"),
        ("a long list", b"allow = {" + b"x," * 3000 + b"x}\n", ":1: ",
         "3001 errors"),
    )
    with Folder() as folder:
        for title, text, where, says in files:
            folder.write("t.conf", text)
            done = folder.run("-t")
            good = (done.returncode == 78 and where in done.stderr and
                    says in done.stderr and not done.stdout and
                    re.match(r"t\.conf(:\d+)?: error: ", done.stderr) and
                    len(done.stderr) < 20000 and "\x1b" not in done.stderr)
            report.case(title, good, "%s: %.300s" % (done.returncode,
                                                     done.stderr))
        for title, text in (("empty", b""), ("blanks", b" \n\t\r\n"),
                            ("a byte order mark", b"\xef\xbb\xbfworkers = 2"),
                            ("a comment without newline", b"# x"),
                            ("a long value", b"route \"/\" { respond = \"" +
                             b"x" * 65000 + b"\" }"),
                            ("1 MiB of comments", b"#\n" * (MIB // 2)),
                            ("UTF-8", "route \"/ü\" { respond = \"ü\" }"
                             .encode())):
            folder.write("t.conf", text)
            done = folder.run("-t")
            report.case("%s: good" % title, done.returncode == 0 and
                        done.stdout.startswith("configuration OK: ") and
                        not done.stderr, "%s: %.300s" % (done.returncode,
                                                         done.stderr))


def no_files(report):
    with Folder(t="workers = 2\n") as folder:
        os.mkdir(os.path.join(folder.path, "dir"))
        os.mkfifo(os.path.join(folder.path, "fifo"))
        folder.write("closed", "workers = 2\n")
        os.chmod(os.path.join(folder.path, "closed"), 0)
        for name, code, says in (
                ("missing", 66, "No such file"),
                ("t.conf/x", 66, "Not a directory"),
                ("no/such/folder", 66, "No such file"),
                ("dir", 78, "Is a directory")):
            done = folder.run("-t", file=name)
            report.case(name, done.returncode == code and says in done.stderr
                        and done.stderr.startswith(name + ": error: "),
                        "%s: %s" % (done.returncode, done.stderr))
        done = folder.run("-t", file="fifo")
        report.case("a FIFO without a writer is no empty file, nor hangs",
                    done.returncode == 78 and "nobody writes" in done.stderr,
                    "%s: %s" % (done.returncode, done.stderr))
        done = subprocess.run(
            ["bash", "-c", "exec \"$0\" -T -c <(sleep 0.2; echo workers = 7)",
             BIN], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=slow(30), check=False)
        report.case("a pipe whose writer takes its time",
                    b'workers = "7"' in done.stdout, done.stderr)
        if os.getuid() != 0:
            done = folder.run("-t", file="closed")
            report.case("no permission", done.returncode == 77, done.stderr)
        done = folder.run("-t", "-q")
        report.case("-q: says nothing", done.returncode == 0 and
                    not done.stdout and not done.stderr, done.stderr)


EVERYTHING = r'''
workers = 3  gzip = on  request_id = yes
allow = {10.0.0.0/8, ::1}  deny = {"10.1.0.0/16"}
headers = {"X-A: 1, 2", 'X-B: "q" \d $x ${y}'}
log { level = debug  target = file  file = logs/main.log  format = json }
access_log { target = syslog  format = "$remote_addr \"$request\" #"
             sample = 10  slow = 250ms  min_status = 400 }
limits { connections = 321  target_size = 4k  body_size = 2M }
timeouts { header = 5  keepalive = 2m  shutdown_delay = 1500ms }
tuning { defer_accept = 3s  output_low = 8K }
builtins { echo = true  index = off }
status { detail = summary  host = false  allow = {127.0.0.1} }
cors { origins = "https://a.example"  max_age = 1h  credentials = true }
rate_limit { rate = 7 }
listen main { address = 127.0.0.1:0 }
listen "admin" { address = "unix:admin.sock"  mode = 0600  admin = true
                 owner = 0  group = 0  backlog = 7 }
route /hello { respond = "tab\there \"q\" \\ \$ \x01 ü\n"  status = 201
               type = "text/html; charset=utf-8"  summary = "says hello"
               headers = {"X-C: 3"}  allow = {::1}
               rate_limit { rate = 5  period = 1m } }
route "PUT, DELETE /hello" { builtin = echo  body_size = 5M
                             low_priority = true }
route "/s/{path...}" { docroot = sub
                       index = ""  cache_control = "max-age=5" }
route "/f" { file = "t.conf" }
route "/r" { redirect = "/hello"  status = 308 }
route "/h" { builtin = live }
module /lib/x.so { base = "/x"  argument = "a b" }
'''


def round_trip(report):
    with Folder(t=EVERYTHING) as folder:
        first = folder.run("-T")
        report.case("dumps", first.returncode == 0, first.stderr)
        folder.write("again.conf", first.stdout)
        # From elsewhere, as relative paths are relative to their file.
        folder.write("else/where/again.conf", first.stdout)
        for name in ("again.conf", "else/where/again.conf"):
            again = folder.run("-T", file=name)
            report.case("%s: loads again" % name, again.returncode == 0,
                        again.stderr)
            report.case("%s: to the same" % name,
                        values(first.stdout) == values(again.stdout),
                        [pair for pair in zip(values(first.stdout),
                                              values(again.stdout))
                         if pair[0] != pair[1]][:3])
        found = parse_dump(first.stdout)
        for name, want, line in (
                ("workers", "3", "t.conf:2"), ("gzip", "on", "t.conf:2"),
                ("log.file", folder.path + "/logs/main.log", "t.conf:5"),
                ("access_log.slow", "250ms", "t.conf:7"),
                ("limits.header_count", "100", "default"),
                ("timeouts.header", "5", "t.conf:9"),
                ("status.allow", '{"127.0.0.1"}', "t.conf:12"),
                ("route.rate_limit.period", "1m", "t.conf:21"),
                ("listen.mode", "0600", "t.conf:16")):
            report.case("-T: %s" % name, found.get(name) == (want, line),
                        found.get(name))
        report.case("-T: no route is lost",
                    first.stdout.count("\nroute ") == 6)
        none = folder.run("-T", file=None, env={"HOME": "/"}).stdout
        builtin = folder.run("-T", file="none").stdout
        folder.write("none.conf", builtin)
        again = folder.run("-T", file="none.conf").stdout
        report.case("built-ins: load as a file to the same",
                    values(builtin) == values(again))
        report.case("built-ins: echo", 'echo = "true"' in builtin)
        if not os.path.exists("/etc/restdaemon/restdaemon.conf"):
            report.case("no file: the built-ins", none == builtin)


def precedence(report):
    with Folder(t="limits { connections = 100 }\n") as folder:
        name = "limits.connections"
        env = {"RESTDAEMON_LIMITS_CONNECTIONS": "200"}
        option = ("-o", name + "=300")
        for title, got, want in (
                ("default", folder.dump(file="none"), ("16384", "default")),
                ("file", folder.dump(), ("100", "t.conf:1")),
                ("environment", folder.dump(env=env), ("200", "environment")),
                ("command line", folder.dump(*option, env=env),
                 ("300", "command line")),
                ("the last on the line", folder.dump(
                    *option, "-o", name + "=301"), ("301", "command line")),
                ("environment without file", folder.dump(
                    file="none", env=env), ("200", "environment"))):
            report.case(title, got[name] == want, got[name])
        found = folder.dump("-w", "3", "-vv", "-f", env={
            "RESTDAEMON_WORKERS": "2", "RESTDAEMON_DAEMON": "true",
            "RESTDAEMON_ALLOW": "10.0.0.0/8, ::1",
            "RESTDAEMON_HEADERS": "X-A: 1, 2",
            "RESTDAEMON_ACCESS_LOG_SLOW": "1s",
            "RESTDAEMON_PORT": "tcp://10.0.0.1:80",
            "RESTDAEMON_SERVICE_HOST": "10.0.0.1"})
        for name, want in (
                ("workers", ("3", "command line")),
                ("log.level", ("debug", "command line")),
                ("daemon", ("false", "command line")),
                ("allow", ('{"10.0.0.0/8", "::1"}', "environment")),
                ("headers", ('{"X-A: 1, 2"}', "environment")),
                ("access_log.slow", ("1s", "environment"))):
            report.case(name, found[name] == want, found[name])
        for title, args, env, says in (
                ("environment", (), {"RESTDAEMON_WORKERS": "x"},
                 "environment: error: 'workers' must be a number or auto, "
                 "not \"x\"\n"),
                ("environment, section", (), {"RESTDAEMON_LOG_LEVEL": "x"},
                 "environment: error: 'log.level' must be one of"),
                ("-o", ("-o", "timeouts.header=x"), {},
                 "command line: error: 'timeouts.header' must be a time"),
                ("-o, unknown", ("-o", "timeouts.heeder=1s"), {},
                 "command line: error: -o: there is no directive "
                 "'timeouts.heeder' (did you mean 'header'?)\n"),
                ("-o, unknown section", ("-o", "timeout.header=1s"), {},
                 "(did you mean 'timeouts'?)\n"),
                ("-o, old name", ("-o", "connections=5"), {},
                 "(its place is in 'limits')\n"),
                ("-o, a listener", ("-o", "listen.address=:80"), {},
                 "there is no directive 'listen.address'"),
                ("-p without TCP", ("-l", "unix:/x", "-p", "80"), {},
                 "-p: there is no TCP listener to set\n")):
            done = folder.run("-t", *args, env=env)
            report.case("%s: a mistake" % title, done.returncode == 78 and
                        says in done.stderr, "%s: %s" % (done.returncode,
                                                         done.stderr))


def listeners(report):
    text = ('listen "a" { address = "unix:/run/a" }\n'
            'listen "b" { address = "127.0.0.1:80" }\n'
            'listen "c" { address = "[::1]:80" }\n'
            'listen "adm" { address = "unix:/run/b" admin = true }\n')

    def addresses(*args, **more):
        done = folder.run("-T", *args, **more)
        return re.findall(r'^listen "(.*)" \{.*\n    address = "(.*)"  #',
                          done.stdout, re.M)
    with Folder(t=text, admin='listen "adm" { address = "unix:/x" '
                'admin = true }', empty="") as folder:
        for title, got, want in (
                ("file", addresses(), [
                    ("a", "unix:/run/a"), ("b", "127.0.0.1:80"),
                    ("c", "[::1]:80"), ("adm", "unix:/run/b")]),
                ("-p: the first with a port", addresses("-p", "81"), [
                    ("a", "unix:/run/a"), ("b", "127.0.0.1:81"),
                    ("c", "[::1]:80"), ("adm", "unix:/run/b")]),
                ("-l: in place of all", addresses("-l", ":1", "-l",
                                                  "[::1]:2", "-p", "3"),
                 [("main", ":3"), ("listen2", "[::1]:2")]),
                ("none", addresses(file="empty.conf"),
                 [("default", "127.0.0.1:8888")]),
                ("none, -p", addresses("-p", "0", file="none"),
                 [("default", "127.0.0.1:0")]),
                ("admin alone", addresses(file="admin.conf"),
                 [("adm", "unix:/x"), ("default", "127.0.0.1:8888")])):
            report.case(title, got == want, got)


def includes(report):
    files = {
        "t.conf": 'workers = 1\ninclude("conf.d/*.conf")\ngzip = true\n'
                  'include("none/*.conf")\ninclude("./plain.inc")\n',
        "conf.d/b.conf": "workers = 3\nlimits { connections = 3 }\n",
        "conf.d/a.conf": 'include("deep/x.inc")\nworkers = 2\n'
                         "limits { connections = 2 }\n",
        "conf.d/deep/x.inc": 'log { target = file  file = "rel.log" }\n',
        "conf.d/.hidden.conf": "nonsense\n",
        "conf.d/c.conf~": "nonsense\n",
        "plain.inc": "tuning {\n  backlog = 7 }\n"}
    with Folder() as folder:
        for name, text in files.items():
            folder.write(name, text)
        found = folder.dump()
        for name, want in (
                ("workers", ("3", "conf.d/b.conf:1")),
                ("limits.connections", ("3", "conf.d/b.conf:2")),
                ("log.file", (folder.path + "/conf.d/deep/rel.log",
                              "conf.d/deep/x.inc:1")),
                ("gzip", ("true", "t.conf:3")),
                ("tuning.backlog", ("7", "./plain.inc:2"))):
            report.case("include: %s" % name, found[name] == want, found[name])
        absolute = folder.dump(file=os.path.join(folder.path, "t.conf"))
        report.case("include: by an absolute path",
                    absolute["workers"][1] == folder.path + "/conf.d/b.conf:1",
                    absolute["workers"])
        for title, files, says in (
                ("a mistake within",
                 {"t.conf": '\ninclude("a")\n', "a": "\n\nworkers = x\n"},
                 "a:3: error: 'workers'"),
                ("a mistake behind",
                 {"t.conf": '\ninclude("a")\nworkers = x\n', "a": "\n\n\n\n"},
                 "t.conf:3: error: 'workers'"),
                ("an unknown name within ends it",
                 {"t.conf": 'include("a")\nworkers = x\n', "a": "zzz = 1\n"},
                 "a:1: error: 'zzz' is not a directive\n1 error;"),
                ("a brace within is its own",
                 {"t.conf": 'include("a")\n}\n', "a": "log {\n"},
                 "a:1: error: the '{' in this line is not closed\n1 error;"),
                ("itself", {"t.conf": '\ninclude("t.conf")\n'},
                 "t.conf:2: error: t.conf includes itself\n"),
                ("each other", {"t.conf": 'include("a")\n',
                                "a": '\ninclude("./t.conf")\n'},
                 "a:2: error: ./t.conf includes itself\n"),
                ("by a glob", {"t.conf": 'include("*.conf")\n'},
                 "t.conf:1: error: t.conf includes itself\n"),
                ("a folder", {"t.conf": 'include("conf.d")\n'},
                 "t.conf:1: error: conf.d: Is a directory\n"),
                ("deep", dict([("t.conf", 'include("i1")\n')] + [
                    ("i%d" % i, 'include("i%d")\n' % (i + 1))
                    for i in range(1, 10)]),
                 "i7:1: error: more than 1000 files, or 8 within each other"),
                ("more than 1 MiB in all", {
                    "t.conf": 'include("big*")\n', "big1": "#" * (MIB // 2),
                    "big2": "#" * (MIB // 2)},
                 "big2: error: the files have more than 1 MiB in all"),
                ("twice the same", {
                    "t.conf": 'include("a")\ninclude("a")\n',
                    "a": "workers = 2\n"},
                 "a:1: error: 'workers' has a value already")):
            for name, text in files.items():
                folder.write(name, text)
            done = folder.run("-t")
            report.case("include: %s" % title, done.returncode == 78 and
                        says in done.stderr, "%s: %s" % (done.returncode,
                                                         done.stderr))


def variables(report):
    env = {"RD_TEST_A": "7", "RD_TEST_E": "",
           "RD_TEST_Q": "a\"b\\cd${RD_TEST_A}$x'e", "RD_TEST_L": "x" * 5000}
    for text, want in (
            ("workers = ${RD_TEST_A}", "7"),
            ("workers = 1${RD_TEST_A}2", "172"),
            ('workers = "1${RD_TEST_A}2"', "172"),
            ("workers = ${RD_TEST_B:-8}", "8"),
            ("workers = ${RD_TEST_E:-9}", "9"),
            ("workers = 6${RD_TEST_E}", "6"),
            ('pid_file = "/${RD_TEST_B:-a b#c}"', "/a b#c"),
            ("pid_file = '/${RD_TEST_A}'", "/\\${RD_TEST_A}"),
            ('pid_file = "/\\${RD_TEST_A}"', "/\\${RD_TEST_A}"),
            ("pid_file = /${RD_TEST_Q}",
             "/a\\\"b\\\\cd\\${RD_TEST_A}\\$x'e"),
            ('pid_file = "/${RD_TEST_Q}"',
             "/a\\\"b\\\\cd\\${RD_TEST_A}\\$x'e"),
            ('pid_file = "/${RD_TEST_L}${RD_TEST_L}"', "/" + "x" * 10000),
            ("pid_file = /a+b;c", "/a+b;c"),
            ("pid_file = /a//b", "/a//b"),
            ('pid_file = "/$HOME/x"', "/\\$HOME/x")):
        name = text.split()[0]
        with Folder(t=text + "\n") as folder:
            got = folder.dump(env=env)[name][0]
            report.case("variable: %s" % text, got == want, got)
    with Folder(t="user = ${RD_TEST_L}\n" * 20000) as folder:
        done = folder.run("-t", env={"RD_TEST_L": "x" * 50000})
        report.case("variables that grow without end", done.returncode == 78
                    and "too long" in done.stderr, done.stderr[:200])


def long_lists(report):
    """No item of a list is lost, however many there are."""
    for n in (100, 105, 110, 400, 4000):
        nets = ["127.0.0.1"] + ["10.%d.%d.0/24" % divmod(i, 256)
                                for i in range(n)]
        with Folder(t='route "/x" { respond = "x" deny = {%s} }\n'
                    % ", ".join('"%s"' % net for net in nets)) as folder:
            daemon = Daemon(config=os.path.join(folder.path, "t.conf"))
            report.case("the first of %d denied" % (n + 1), fetch(
                daemon.target(), request("GET", "/x", "Connection: close")
            ).status == 403)
            finish(report, daemon)


def opens(report):
    """What -t opens, and that it leaves nothing behind."""
    with Folder() as folder:
        folder.write("page.html", "hello")
        os.mkdir(os.path.join(folder.path, "root"))
        before = sorted(os.listdir(folder.path)) + ["t.conf"]
        for text, says in (
                ('route "/a" { file = "page.html" }', None),
                ('route "/a" { file = "missing.html" }', "No such file"),
                ('route "/a" { file = "root" }', "Is a directory"),
                ('route "/a/{p...}" { docroot = root }', None),
                ('route "/a/{p...}" { docroot = missing }', "docroot"),
                ('route "/a/{p...}" { docroot = page.html }', "docroot"),
                ('module "/missing/x.so" { }', "No such file"),
                ("log { target = file file = root/x.log }", None),
                ("log { target = file file = missing/x.log }",
                 "cannot be written"),
                ("access_log { target = file file = root }",
                 "Is a directory"),
                ("access_log { target = off file = missing/x }", None),
                ("pid_file = root/x.pid", None),
                ("memory_budget = 2M\nworkers = 64", "budget")):
            folder.write("t.conf", text + "\n")
            done = folder.run("-t")
            report.case("-t: %s" % text, done.returncode == (78 if says else 0)
                        and (says or "") in done.stderr,
                        "%s: %s" % (done.returncode, done.stderr))
            report.case("-T opens nothing: %s" % text,
                        folder.run("-T").returncode == 0)
            if says:
                done = folder.run("-p", "0")
                report.case("start: %s" % text, done.returncode == 78 and
                            says in done.stderr, "%s: %s" % (
                                done.returncode, done.stderr))
        folder.write("t.conf", "pid_file = missing/x.pid\n")
        done = folder.run("-t")
        report.case("-t: the pid file's folder", done.returncode == 78 and
                    "cannot be written" in done.stderr, done.stderr)
        folder.write("t.conf", "\n")
        done = folder.run("-t")
        report.case("-t names the file", done.stdout.endswith("t.conf\n"),
                    done.stdout)
        report.case("-t leaves nothing behind",
                    sorted(os.listdir(folder.path)) == sorted(before),
                    os.listdir(folder.path))


def beside(report):
    """-t while a daemon runs on the same file, and a start from a file."""
    with Folder(t='workers = 2\nlimits { connections = 77 }\n'
                'listen "main" { address = "127.0.0.1:0" }\n'
                'listen "unix" { address = "unix:@/s" }\n') as folder:
        path = os.path.join(folder.path, "t.conf")
        with open(path) as f:
            text = f.read()
        folder.write("t.conf", text.replace("@", folder.path))
        daemon = Daemon(listen=(), config=path, wait=False)
        report.case("starts", daemon.wait_listening(2), daemon.last_words())
        report.case("serves", answers(daemon))
        done = folder.run("-t")
        report.case("-t beside it", done.returncode == 0, done.stderr)
        report.case("the socket is untouched", answers(daemon) and
                    os.path.exists(os.path.join(folder.path, "s")))
        second = folder.run()
        report.case("a second one cannot", second.returncode == 69,
                    "%s: %s" % (second.returncode, second.stderr))
        finish(report, daemon)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen(1)
            folder.write("t.conf", 'listen "a" { address = "127.0.0.1:%d" }'
                         % taken.getsockname()[1])
            report.case("a busy port is no matter to -t",
                        folder.run("-t").returncode == 0)
            report.case("a busy port: exit status",
                        folder.run().returncode == 69)


def admin_memory(report):
    """-t knows that the admin listener has a part of the memory."""
    least = 1
    with Folder() as folder:
        def tested(admin):
            folder.write("t.conf", 'workers = 1 memory_budget = %dM\n%s' % (
                least, admin + '{ address = "unix:@/a" admin = on }\n'
                'listen b { address = ":0" }\n' if admin else ""))
            return folder.run("-t").returncode
        while least < 64 and tested("") != 0:
            least += 1
        report.case("some budget will do", 1 < least < 64, least)
        report.case("but not with it", tested("listen a ") == 78)
        least += 1
        report.case("with as much more", tested("listen a ") == 0)


def limits(report):
    """Little memory, and a folder that is gone."""
    with Folder(t="workers = 1\n") as folder:
        path = os.path.join(folder.path, "gone")
        os.mkdir(path)
        script = ("import os, sys; os.chdir(sys.argv[1]);"
                  "os.rmdir(sys.argv[1]); os.execv(sys.argv[2],"
                  "sys.argv[2:])")
        done = subprocess.run(
            [sys.executable, "-c", script, path, BIN, "-t", "-c",
             os.path.join(folder.path, "t.conf")], check=False,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        report.case("from a deleted folder", done.returncode == 0,
                    done.stderr)

        def few():
            resource.setrlimit(resource.RLIMIT_AS, (24 * MIB, 24 * MIB))
        if not os.environ.get("RD_SAN"):
            done = folder.run("-t", preexec_fn=few)
            report.case("no address space: an exit status, no crash",
                        done.returncode in (71, 78, 127),
                        "%s: %s" % (done.returncode, done.stderr))
        done = folder.run("-T", preexec_fn=lambda: signal.signal(
            signal.SIGPIPE, signal.SIG_DFL))
        report.case("-T: exit status", done.returncode == 0, done.stderr)


def made(name):
    """What the tool makes from the table."""
    build = os.environ.get("RD_BUILD") or os.path.join(ROOT, "build", "cc")
    return subprocess.run([os.path.join(build, "directives"), name],
                          stdout=subprocess.PIPE, check=True,
                          encoding="utf-8").stdout


def source(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def documents(report):
    """The sample, the manual page and the completion are those of the
    table; a directive without documentation fails here."""
    for path, name in (("conf/restdaemon.conf", "sample"),
                       ("conf/completion/restdaemon.bash", "bash")):
        report.case("%s: `make directives`" % path, source(path) == made(name))
    page = source("docs/man/restdaemon.conf.5")
    part = re.search(r'^\.\\" directives begin.*?\n(.*)^\.\\" directives end',
                     page, re.M | re.S)
    report.case("restdaemon.conf.5: `make directives`",
                part and part.group(1) == made("man"))
    with Folder(t=made("sample")) as folder:
        found = folder.dump()
        report.case("the sample sets nothing but its listener", all(
            origin == "default" for name, (_, origin) in found.items()
            if not name.startswith("listen.")), found)
        for name in ("log.file", "listen.mode", "user"):
            report.case("(%s has no default)" % name, name not in found)
        # All lines as they would be without their '#'.
        text = re.sub(r"^( *)#(?=[a-z}]| {4})", r"\1", made("sample"),
                      flags=re.M)
        text = re.sub(r"^module.*\n", "", text, flags=re.M)
        folder.write("all.conf", text)
        done = folder.run("-T", file="all.conf")
        report.case("the sample's examples are valid", done.returncode == 0,
                    done.stderr)
        full = parse_dump(done.stdout)
        for name in ("user", "log.file", "cors.origins", "rate_limit.rate"):
            report.case("the sample shows %s" % name, "all.conf" in
                        full.get(name, ("", ""))[1], full.get(name))
        for name in found:
            if "." in name and not name.startswith(("listen.", "route.")):
                report.case("completion has %s" % name,
                            " %s=\n" % name in made("bash"))
    check = subprocess.run(["bash", "-n", os.path.join(
        ROOT, "conf/completion/restdaemon.bash")], check=False)
    report.case("completion: bash reads it", check.returncode == 0)


if __name__ == "__main__":
    sys.exit(run_groups("config", (
        golden, broken_files, no_files, round_trip, precedence, listeners,
        includes, variables, long_lists, opens, beside,
        admin_memory, limits, documents)))
