# SPDX-License-Identifier: MIT
"""Starts a daemon of its own for a test, and looks at its process.

RD_BIN names the daemon; without it bin/restdaemon under the source root is
taken. RD_SLOW multiplies every deadline (sanitizer builds: 4). A Daemon works
in a temporary folder of its own and is stopped by its pid, never by name.
"""
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BIN = os.path.abspath(os.environ.get("RD_BIN") or
                      os.path.join(ROOT, "bin", "restdaemon"))
SLOW = max(1.0, float(os.environ.get("RD_SLOW") or 1))
LISTENING = re.compile(r"listening on (\S+)")


def slow(seconds):
    """A deadline, scaled for slow builds."""
    return seconds * SLOW


def sanitized():
    """True when the figures of a plain build say nothing about this one."""
    return SLOW > 1 or bool(os.environ.get("RD_SANITIZED"))


def eventually(check, seconds=10):
    """The first true value of check(), or its last value."""
    end = time.monotonic() + slow(seconds)
    while True:
        value = check()
        if value or time.monotonic() > end:
            return value
        time.sleep(0.05)


def raise_files(need):
    """Raises the descriptor limit of this process; returns what it is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < need:
        want = need if hard == resource.RLIM_INFINITY else min(need, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (want, hard))
        soft = want
    return soft


def free_port():
    """A port that nobody has now."""
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Daemon:
    """A running daemon. `addresses` are as the daemon logged them."""

    def __init__(self, *args, listen=("127.0.0.1:0",), files=None,
                 config="none", wait=True, env=None, program=None,
                 prefix=(), pass_fds=()):
        self.folder = tempfile.mkdtemp(prefix="rdtest-")
        command = list(prefix) + [program or BIN]
        if config is not None:
            command += ["-c", config]
        for address in listen:
            command += ["-l", address.replace("@", self.folder)]
        command += list(args)
        self.lines, self.addresses = [], []
        self.changed = threading.Condition()

        def limit():
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, cwd=self.folder, preexec_fn=limit,
            pass_fds=pass_fds,
            env=dict(os.environ, **env) if env else None)
        self.pid = self.process.pid
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        if wait and not self.wait_listening(len(listen) or 1):
            text = "\n".join(self.lines[-5:])
            self.stop()
            raise RuntimeError("daemon did not get ready: %s" % text)

    def _read(self):
        for raw in self.process.stderr:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            with self.changed:
                self.lines.append(line)
                found = LISTENING.search(line)
                if found:
                    self.addresses.append(found.group(1))
                self.changed.notify_all()
        with self.changed:
            self.lines.append("")
            self.changed.notify_all()

    def wait_listening(self, count, seconds=10):
        end = time.monotonic() + slow(seconds)
        with self.changed:
            while len(self.addresses) < count:
                left = end - time.monotonic()
                if left <= 0 or self.process.poll() is not None:
                    return len(self.addresses) >= count
                self.changed.wait(min(left, 0.2))
        return True

    def target(self, index=0):
        """("127.0.0.1", port), ("::1", port) or a path, for wire.Wire."""
        address = self.addresses[index]
        if address.startswith("unix:"):
            return address[len("unix:"):]
        host, _, port = address.split("//", 1)[1].rpartition(":")
        return host.strip("[]"), int(port)

    def signal(self, number):
        self.process.send_signal(number)

    def alive(self):
        return self.process.poll() is None

    def wait_exit(self, seconds=10):
        """Exit status (negative: the signal), or None when it still runs."""
        try:
            return self.process.wait(slow(seconds))
        except subprocess.TimeoutExpired:
            return None

    def stop(self):
        """Ends the daemon and removes its folder; returns the exit status."""
        if self.alive():
            self.signal(signal.SIGTERM)
            if self.wait_exit(5) is None:
                self.signal(signal.SIGTERM)
                if self.wait_exit(5) is None:
                    self.signal(signal.SIGKILL)
        code = self.process.wait()
        self.reader.join(2)
        self.process.stderr.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return code

    def last_words(self):
        """End of what it said on stderr, in one line."""
        return " | ".join(n for n in self.lines[-6:] if n)

    def sanitizer_report(self):
        """First line of a sanitizer's report on stderr, or None."""
        for line in self.lines:
            if re.search(r"(Address|Thread|Leak|Undefined\w*)Sanitizer|"
                         r"runtime error:", line):
                return line
        return None

    # What /proc says of it.
    def cpu_seconds(self):
        """Of its living threads; schedstat has ns, stat only clock ticks."""
        total = 0
        folder = "/proc/%d/task" % self.pid
        try:
            for name in os.listdir(folder):
                with open("%s/%s/schedstat" % (folder, name)) as f:
                    total += int(f.read().split()[0])
            return total / 1e9
        except FileNotFoundError:
            with open("/proc/%d/stat" % self.pid) as f:
                fields = f.read().rpartition(")")[2].split()
            ticks = int(fields[11]) + int(fields[12])
            return ticks / os.sysconf("SC_CLK_TCK")

    def status_kb(self, key):
        with open("/proc/%d/status" % self.pid) as f:
            for line in f:
                if line.startswith(key + ":"):
                    return int(line.split()[1])
        raise KeyError(key)

    def anon_bytes(self):
        return self.status_kb("RssAnon") * 1024

    def files(self):
        return len(os.listdir("/proc/%d/fd" % self.pid))

    def sockets(self):
        """Sockets that the process holds."""
        count = 0
        folder = "/proc/%d/fd" % self.pid
        for name in os.listdir(folder):
            try:
                count += os.readlink(os.path.join(folder, name)).startswith(
                    "socket:")
            except OSError:
                pass
        return count


class Report:
    """Counts cases and prints one line for each that failed."""

    def __init__(self, name):
        self.name, self.passed, self.failed = name, 0, 0
        self.lock = threading.Lock()

    def case(self, title, good, detail=""):
        with self.lock:
            if good:
                self.passed += 1
            else:
                self.failed += 1
                print("FAIL %s: %s%s" % (self.name, title, detail and
                                         " -- %s" % (detail,)), flush=True)
        return bool(good)

    def finish(self):
        print("%s: %d passed, %d failed" % (self.name, self.passed,
                                            self.failed), flush=True)
        return 1 if self.failed or not self.passed else 0


def run_groups(name, groups):
    """Runs functions f(report) in turn; an exception is a failed case."""
    import sys
    import traceback
    report = Report(name)
    wanted = sys.argv[1:]
    for group in groups:
        if wanted and group.__name__ not in wanted:
            continue
        start = time.monotonic()
        try:
            group(report)
        except Exception as fault:
            where = traceback.extract_tb(fault.__traceback__)[-1]
            report.case(group.__name__, False, "%s: %s (%s:%d)" % (
                type(fault).__name__, fault, os.path.basename(where.filename),
                where.lineno))
        if os.environ.get("RD_VERBOSE"):
            print("     %s %.1f s" % (group.__name__,
                                      time.monotonic() - start), flush=True)
    return report.finish()
