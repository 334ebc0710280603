# SPDX-License-Identifier: MIT
"""A daemon with a configuration file, for the tests of the service."""
import os
import re
import signal
import socket
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import Daemon, eventually, fetch, request, slow  # noqa: E402


def once(path, method="GET"):
    return request(method, path, "Connection: close",
                   *(["Content-Length: 0"] if method == "POST" else []))


class Service(Daemon):
    """Reads `text` from a file of its own; "@" in it is its folder. The
    listeners are those of the file."""

    def __init__(self, text, *args, listeners=1, env=None, program=None,
                 wait=True, **more):
        self.home = tempfile.mkdtemp(prefix="rdservice-")
        self.path = os.path.join(self.home, "restdaemon.conf")
        self.write(text)
        super().__init__(*args, listen=(), config=self.path, env=env,
                         program=program, wait=False, **more)
        if wait and not self.wait_listening(listeners):
            text = "\n".join(self.lines[-5:])
            self.stop()
            raise RuntimeError("daemon did not get ready: %s" % text)

    def write(self, text):
        """A new file in place of the old one, never half of it."""
        part = self.path + ".new"
        with open(part, "w") as f:
            f.write(text.replace("@", self.home))
        os.rename(part, self.path)

    def said(self, pattern):
        return sum(1 for line in list(self.lines) if re.search(pattern, line))

    def hears(self, pattern, count=1, seconds=10):
        """Waits for that many log lines."""
        return eventually(lambda: self.said(pattern) >= count, seconds)

    def reload(self, text=None, good=True):
        """Reloads and waits for the outcome; whether it was as wanted."""
        if text is not None:
            self.write(text)
        pattern = "configuration reloaded" if good else "reload refused"
        before = self.said(pattern)
        self.signal(signal.SIGHUP)
        return self.hears(pattern, before + 1)

    def get(self, path, target=None, method="GET"):
        return fetch(target or self.target(), once(path, method), seconds=10)

    def config(self, target=None):
        reply = self.get("/status?detail=full", target)
        return reply.json()["daemon"]["config"]

    def stop(self):
        code = super().stop()
        for root, folders, files in os.walk(self.home, topdown=False):
            for name in files:
                os.unlink(os.path.join(root, name))
            for name in folders:
                os.rmdir(os.path.join(root, name))
        os.rmdir(self.home)
        return code


def refused(target):
    """Nobody listens there."""
    family = socket.AF_UNIX if isinstance(target, str) else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(slow(2))
        try:
            s.connect(target)
            return False
        except OSError:
            return True


def process_gone(pid, seconds=10):
    """Waits until a process that is no child has ended."""
    def gone():
        try:
            with open("/proc/%d/stat" % pid) as f:
                return f.read().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True
    return eventually(gone, seconds)
