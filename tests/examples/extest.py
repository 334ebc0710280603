# SPDX-License-Identifier: MIT
"""Runs an example program of RD_BUILD/examples on a free port, asks it by curl,
and ends it by SIGTERM, after which its exit status has to be 0."""
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests", "wire"))
from rdproc import Report, eventually, sanitized, slow  # noqa: E402,F401

BUILD = os.environ.get("RD_BUILD") or os.path.join(TOP, "build", "cc")


class Reply:
    """What curl got: status, headers by lower-case name, body."""

    def __init__(self, status, head, body):
        self.status, self.body = status, body
        self.headers = {}
        for line in head.split("\r\n")[1:]:
            name, colon, value = line.partition(":")
            if colon:
                self.headers[name.lower()] = value.strip()

    def json(self):
        return json.loads(self.body.decode("utf-8"))

    def __repr__(self):
        return "%s %s %r" % (self.status, self.headers, self.body[:200])


class Example:
    """A running example; `lines` is what it has printed so far."""

    def __init__(self, name, report, *args, port="0", front=()):
        self.report, self.lines = report, []
        self.changed = threading.Condition()
        self.folder = tempfile.TemporaryDirectory(prefix="rdtest-")
        self.errors = open(os.path.join(self.folder.name, "stderr"), "w+")
        self.process = subprocess.Popen(
            [os.path.join(BUILD, "examples", name), *front, port, *args],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.errors, cwd=self.folder.name)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        ready = self.line(r"^listening on http://127\.0\.0\.1:(\d+)$")
        if ready is None:
            self.process.kill()
            raise RuntimeError("%s did not get ready: %s" % (name,
                                                             self.stderr()))
        self.port = int(ready.group(1))

    def _read(self):
        for raw in self.process.stdout:
            with self.changed:
                self.lines.append(raw.decode("utf-8", "replace").rstrip("\n"))
                self.changed.notify_all()

    def line(self, pattern, seconds=10):
        """The match of the first line printed that has one, or None."""
        def found():
            return next(filter(None, (re.search(pattern, n)
                                      for n in self.lines)), None)
        with self.changed:
            self.changed.wait_for(found, slow(seconds))
            return found()

    def stderr(self):
        self.errors.flush()
        self.errors.seek(0)
        return self.errors.read()

    def curl(self, path, *args):
        """Reply to a request that curl makes."""
        head, body = (os.path.join(self.folder.name, n)
                      for n in ("head", "body"))
        open(body, "w").close()  # curl makes none for an empty content
        status = subprocess.run(
            ["curl", "-sS", "-g", "--max-time", str(slow(20)), "-D", head,
             "-o", body, "-w", "%{http_code}", *args,
             "http://127.0.0.1:%d%s" % (self.port, path)],
            stdout=subprocess.PIPE, check=True).stdout
        with open(head, encoding="latin-1", newline="") as h:
            # Behind an interim reply stands the one that counts.
            text = h.read().rstrip("\r\n").split("\r\n\r\n")[-1]
        with open(body, "rb") as b:
            return Reply(int(status), text, b.read())

    def connect(self):
        """A connection of http.client's, for streams."""
        return http.client.HTTPConnection("127.0.0.1", self.port,
                                          timeout=slow(10))

    def same(self, title, got, want):
        return self.report.case(title, got == want, "%.300r, wanted %.300r" % (
            got, want))

    def wait(self, seconds=20):
        """Exit status, or None if it still runs."""
        try:
            return self.process.wait(slow(seconds))
        except subprocess.TimeoutExpired:
            return None

    def stop(self):
        """Ends it, which has to give status 0 and nothing on stderr."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.wait()
        if status is None:
            self.process.kill()
            self.process.wait()
        self.reader.join(slow(5))
        self.same("exit status", status, 0)
        self.same("stderr", self.stderr(), "")
        self.errors.close()
        self.process.stdout.close()
        self.folder.cleanup()


def run(name, test, *args, **options):
    """The script of one example: test(example), and how it ends."""
    report = Report(name)
    example = Example(name, report, *args, **options)
    try:
        test(example)
    finally:
        example.stop()
    sys.exit(report.finish())
