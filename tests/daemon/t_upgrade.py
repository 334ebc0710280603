#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""USR2: the program that stands at the path takes over without a refused
connection, or the old one goes on."""
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import (BIN, Wire, eventually, fetch, request,  # noqa: E402
                    run_groups, slow)
from service import Service, once, process_gone  # noqa: E402

TEXT = """
listen "main" { address = "127.0.0.1:0" }
listen "unix" { address = "unix:@/s" }
listen "admin" { address = "unix:@/admin" admin = true }
workers = 2
route "/hello" { respond = "hello" }
"""
STARTED = re.compile(r"upgrade: started \S+ as process (\d+)")


class Upgraded(Service):
    """Runs a copy of the program, which tests replace. `now` is the pid of the
    process that serves."""

    def __init__(self, text=TEXT, listeners=3, **more):
        self.programs = tempfile.mkdtemp(prefix="rdprogram-")
        self.program = os.path.join(self.programs, "restdaemon")
        self.install(BIN)
        super().__init__(text, program=self.program, listeners=listeners,
                         **more)
        self.now = self.pid
        self.paths = [os.path.join(self.home, n) for n in ("s", "admin")]

    def install(self, source):
        """Puts another program there, as a package does."""
        part = self.program + ".new"
        shutil.copy(source, part)
        os.chmod(part, 0o755)
        os.rename(part, self.program)

    def install_script(self, text):
        part = os.path.join(self.programs, "script")
        with open(part, "w") as f:
            f.write("#!/bin/sh\n" + text)
        self.install(part)

    def upgrade(self):
        """Sends USR2; the pid of the new process once it has been started."""
        before = self.said(STARTED.pattern)
        os.kill(self.now, signal.SIGUSR2)
        if not self.hears(STARTED.pattern, before + 1):
            return None
        found = [STARTED.search(line) for line in list(self.lines)]
        return int([f for f in found if f][-1].group(1))

    def replaced(self):
        """Upgrades, and waits for the end of the old process."""
        old, new = self.now, self.upgrade()
        if new is None:
            return False
        self.now = new
        if old == self.pid:
            return self.wait_exit(20) == 0
        return process_gone(old, 20)

    def end(self, report):
        if self.now != self.pid:
            os.kill(self.now, signal.SIGTERM)
            report.case("the last one ends", process_gone(self.now, 20))
            report.case("its paths are gone", not any(
                os.path.exists(p) for p in self.paths))
        code = self.stop()
        report.case("the first one ended well", code == 0, self.last_words())
        fault = self.sanitizer_report()
        report.case("no sanitizer report", fault is None, fault)
        shutil.rmtree(self.programs)


class Clients:
    """Threads that connect, ask and close until they are told to stop."""

    def __init__(self, target, count=3):
        self.target, self.good, self.bad = target, 0, []
        self.running = True
        self.threads = [threading.Thread(target=self.run)
                        for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def run(self):
        while self.running:
            try:
                reply = fetch(self.target, once("/hello"), seconds=10)
                if reply is None or reply.status != 200:
                    self.bad.append(reply and reply.status)
                self.good += 1
            except OSError as fault:
                self.bad.append(fault)

    def stop(self):
        self.running = False
        for thread in self.threads:
            thread.join(slow(20))


def takes_over(report):
    """Three upgrades in a row, under load, over TCP and unix sockets."""
    daemon = Upgraded()
    target = daemon.target()
    loads = [Clients(target), Clients(daemon.paths[0])]
    for turn in range(3):
        report.case("upgrade %d" % turn, daemon.replaced(),
                    daemon.last_words())
        report.case("the new one says its pid", fetch(
            target, once("/status")).json()["pid"] == daemon.now)
        report.case("its admin listener", fetch(
            daemon.paths[1], once("/livez")).status == 200)
    for load in loads:
        load.stop()
        report.case("none refused", not load.bad and load.good > 10,
                    (load.good, load.bad[:3]))
    daemon.end(report)


def kept_connections(report):
    """A kept connection is served by the old process until it says close."""
    daemon = Upgraded()
    wire = Wire(daemon.target())
    wire.send(request("GET", "/hello"))
    wire.wait_replies(1)
    half = Wire(daemon.target())
    half.send(b"GET /hello HTTP/1.1\r\nHost: a\r\n")
    new = daemon.upgrade()
    report.case("drains", daemon.hears("the new process serves"))
    half.send(b"\r\n")
    report.case("half a request is finished", half.wait_replies(1) and
                half.replies[0].status == 200)
    report.case("and says close", half.replies[0].says("close"))
    report.case("the idle one is closed", wire.wait_eof(slow(5)))
    report.case("the old one ends", daemon.wait_exit(20) == 0)
    daemon.now = new
    for w in (wire, half):
        w.close()
    daemon.end(report)


FAILURES = {
    # Each stage at which a new program may fail.
    "ends at once": "exit 3",
    "is killed": "kill -SEGV $$",
    "reads nothing and ends": "exec 3<&-; sleep 0.2",
    "talks nonsense": "printf nonsense >&3; exec sleep 60",
    "cannot read its configuration":
        'exec "$0.real" -c /nonexistent/restdaemon.conf',
    "is gone when it may serve":
        'exec python3 -c "import os, socket, time\n'
        's = socket.socket(fileno=int(os.environ[\'RESTDAEMON_UPGRADE\']))\n'
        'while s.recv(200) != b\'end\': pass\n'
        's.shutdown(socket.SHUT_RD)\n'
        's.send(b\'ready\')\n'
        'time.sleep(60)"',
    "ends when it has been told to serve":
        'exec python3 -c "import os, socket\n'
        's = socket.socket(fileno=int(os.environ[\'RESTDAEMON_UPGRADE\']))\n'
        'while s.recv(200) != b\'end\': pass\n'
        's.send(b\'ready\')\n'
        's.recv(9)"',
    "leaves a child that keeps the channel": "sleep 5 & exit 3",
    "cannot have its budget":
        'exec "$0.real" "$@" -o memory_budget=300M -o tuning.stack=1K',
}


def rolls_back(report):
    daemon = Upgraded()
    shutil.copy(BIN, daemon.program + ".real")
    for count, (title, script) in enumerate(sorted(FAILURES.items()), 1):
        daemon.install_script(script + "\n")
        daemon.upgrade()
        report.case("%s: said" % title, daemon.hears(
            r"upgrade: .*this process goes on", count), daemon.last_words())
        report.case("%s: the old one serves" % title, fetch(
            daemon.target(), once("/status")).json()["pid"] == daemon.pid)
        report.case("%s: and its unix paths" % title, all(
            fetch(p, once("/livez")).status == 200 for p in daemon.paths))
    # Fails when it has the listeners already.
    daemon.install(BIN)
    daemon.write(TEXT + 'module "@/restdaemon.conf" { }\n')
    daemon.upgrade()
    report.case("late: said", daemon.hears(
        r"upgrade: .*this process goes on", len(FAILURES) + 1))
    report.case("late: the old one's unix paths", all(
        fetch(p, once("/livez")).status == 200 for p in daemon.paths))
    daemon.write(TEXT)
    os.unlink(daemon.program)
    os.kill(daemon.pid, signal.SIGUSR2)
    report.case("no program", daemon.hears("cannot start"))
    daemon.install(BIN)
    report.case("and then a good one", daemon.replaced())
    daemon.end(report)


def stop_meanwhile(report):
    """TERM during an upgrade ends both."""
    daemon = Upgraded()
    daemon.install_script("exec sleep 60\n")
    new = daemon.upgrade()
    daemon.signal(signal.SIGHUP)
    report.case("no reload meanwhile", daemon.hears("HUP ignored"))
    daemon.signal(signal.SIGTERM)
    report.case("ends", daemon.wait_exit(10) == 0)
    report.case("the new one too", process_gone(new))
    report.case("paths are gone", not any(
        os.path.exists(p) for p in daemon.paths))
    daemon.end(report)


def old_killed(report):
    """The old one dies before it has let the new one serve: that serves."""
    daemon = Upgraded()
    os.kill(daemon.pid, signal.SIGSTOP)
    os.kill(daemon.pid, signal.SIGUSR2)
    os.kill(daemon.pid, signal.SIGCONT)
    report.case("upgrade", daemon.hears(STARTED.pattern))
    found = [STARTED.search(line) for line in list(daemon.lines)]
    daemon.now = int([f for f in found if f][-1].group(1))
    os.kill(daemon.pid, signal.SIGKILL)
    daemon.process.wait()
    report.case("somebody serves", eventually(lambda: serves(daemon)))
    os.kill(daemon.now, signal.SIGTERM)
    report.case("and ends", process_gone(daemon.now))
    daemon.stop()
    shutil.rmtree(daemon.programs)


def paths(report):
    """A path belongs to the new process if it was the old one's, and is still
    that listener's file."""
    daemon = Upgraded()
    os.unlink(daemon.paths[0])
    with open(daemon.paths[0], "w") as f:
        f.write("somebody else's")
    report.case("upgrade with a path that is another's", daemon.replaced())
    os.kill(daemon.now, signal.SIGTERM)
    report.case("ends", process_gone(daemon.now))
    report.case("which stays", os.path.exists(daemon.paths[0]))
    report.case("its own is gone", not os.path.exists(daemon.paths[1]))
    daemon.stop()
    daemon = Upgraded()
    daemon.write(TEXT.replace('listen "unix" { address = "unix:@/s" }\n', ""))
    report.case("upgrade without a listener", daemon.replaced())
    report.case("whose path is gone",
                eventually(lambda: not os.path.exists(daemon.paths[0])))
    daemon.end(report)


def managed_path(report):
    """The path of a socket of the service manager is not unlinked."""
    home = tempfile.mkdtemp(prefix="rdmanaged-")
    path = os.path.join(home, "s")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
        s.listen()
        code = ("import os, sys; os.dup2(%d, 3); os.execve(sys.argv[1], "
                "sys.argv[1:], dict(os.environ, LISTEN_FDS='1', "
                "LISTEN_PID=str(os.getpid())))" % s.fileno())
        daemon = Upgraded(
            'listen "unix" { address = "unix:%s" }\n' % path, 1,
            prefix=(sys.executable, "-c", code), pass_fds=(s.fileno(),))
        report.case("upgrade", daemon.replaced(), daemon.last_words())
        report.case("the new one is there", fetch(
            path, once("/status")).json()["pid"] == daemon.now)
        os.kill(daemon.now, signal.SIGTERM)
        report.case("ends", process_gone(daemon.now))
        report.case("the path stays", os.path.exists(path))
    daemon.stop()
    shutil.rmtree(home)


def linked_program(report):
    """A symbolic link to the program: what it leads to by then is started."""
    home = tempfile.mkdtemp(prefix="rdlinked-")
    for version in ("one", "two"):
        os.mkdir(os.path.join(home, version))
        shutil.copy(BIN, os.path.join(home, version))
    name = os.path.basename(BIN)
    link = os.path.join(home, "now")
    os.symlink("one", link)
    daemon = Service(TEXT, listeners=3, program=os.path.join(link, name))
    os.unlink(link)
    os.symlink("two", link)
    daemon.signal(signal.SIGUSR2)
    report.case("upgrade", daemon.wait_exit(20) == 0, daemon.last_words())
    new = fetch(daemon.target(), once("/status")).json()["pid"]
    report.case("the other file runs", os.readlink("/proc/%d/exe" % new) ==
                os.path.join(home, "two", name))
    os.kill(new, signal.SIGTERM)
    report.case("ends", process_gone(new))
    daemon.stop()
    shutil.rmtree(home)


def serves(daemon):
    try:
        return fetch(daemon.target(), once("/status")).status == 200
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(run_groups("upgrade", [takes_over, kept_connections, rolls_back,
                                    stop_meanwhile, old_killed, paths,
                                    managed_path, linked_program]))
