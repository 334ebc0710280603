# SPDX-License-Identifier: MIT
"""The service manager's side: a NOTIFY_SOCKET, and sockets by LISTEN_FDS."""
import array
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from rdtest import BIN, ROOT, eventually  # noqa: E402


class Message:
    """What was sent, by whom, when, with which descriptors."""

    def __init__(self, text, pid, fds):
        self.time, self.pid, self.fds = time.monotonic(), pid, fds
        self.fields = dict(n.partition("=")[::2] for n in text.split("\n"))

    def get(self, name):
        return self.fields.get(name)

    def __repr__(self):
        return "%d: %s" % (self.pid, self.fields)


class Manager:
    """Takes the messages. `name` for NOTIFY_SOCKET: a path, or "@..."."""

    def __init__(self, abstract=False):
        self.folder = tempfile.mkdtemp(prefix="rdmanager-")
        path = os.path.join(self.folder, "notify")
        self.name = "@" + path if abstract else path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(self.name.replace("@", "\0", 1))
        self.messages = []
        self.env = {"NOTIFY_SOCKET": self.name}
        # Called for each message, in the thread that receives them.
        self.on_message = None
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while True:
            try:
                text, extra, _, _ = self.socket.recvmsg(4096, 1024)
            except OSError:
                return
            if not text:
                return
            fds, pid = array.array("i"), 0
            for level, kind, data in extra:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    fds.frombytes(data)
                elif kind == socket.SCM_CREDENTIALS:
                    pid = struct.unpack("iii", data)[0]
            message = Message(text.decode(), pid, list(fds))
            if self.on_message:
                self.on_message(message)
            self.messages.append(message)

    def all(self, name, value=None, pid=None):
        return [m for m in list(self.messages) if m.get(name) is not None and
                value in (None, m.get(name)) and pid in (None, m.pid)]

    def hears(self, name, value=None, count=1, seconds=10, pid=None):
        """Waits for that many messages with the field; the last of them."""
        found = eventually(lambda: len(self.all(name, value, pid)) >= count
                           and self.all(name, value, pid), seconds)
        return found and found[count - 1]

    def stored(self):
        """{name: descriptor}, as a manager would have it now."""
        have = {}
        for m in list(self.messages):
            name = m.get("FDNAME")
            if m.get("FDSTORE"):
                if not any(os.path.sameopenfile(fd, m.fds[0])
                           for fd in have.values()):
                    have[name] = m.fds[0]
            elif m.get("FDSTOREREMOVE"):
                have.pop(name, None)
        return have

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(5)
        self.socket.close()
        for m in self.messages:
            for fd in m.fds:
                os.close(fd)
        if not self.name.startswith("@"):
            os.unlink(self.name)
        os.rmdir(self.folder)


# Becomes the daemon, with descriptors from 3 on and the environment for it.
LAUNCH = """
import fcntl, os, sys
fds = [fcntl.fcntl(int(n), fcntl.F_DUPFD, 100) for n in sys.argv[1].split(',')]
for i, fd in enumerate(fds):
    os.dup2(fd, 3 + i)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(fds)))
if sys.argv[2]:
    os.environ['LISTEN_FDNAMES'] = sys.argv[2]
os.execv(sys.argv[3], sys.argv[3:])
"""


def activated(fds, names=""):
    """Arguments for Daemon(): starts it with these descriptors."""
    return {"prefix": [sys.executable, "-SEc", LAUNCH,
                       ",".join(str(fd) for fd in fds), names],
            "pass_fds": list(fds)}


def listener(address=("127.0.0.1", 0), kind=socket.SOCK_STREAM, backlog=4096):
    """A socket as a .socket unit has it."""
    family = socket.AF_UNIX if isinstance(address, str) else \
        socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    s = socket.socket(family, kind)
    if family != socket.AF_UNIX:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(address)
    if kind == socket.SOCK_STREAM and backlog is not None:
        s.listen(backlog)
    return s


def module(folder, name="block"):
    """Builds tests/daemon/modules/NAME.c as a user does; its path."""
    source = os.path.join(ROOT, "tests", "daemon", "modules", name + ".c")
    path = os.path.join(folder, name + ".so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source,
                    "-I" + os.path.join(ROOT, "include")], check=True)
    return path


__all__ = ["BIN", "Manager", "activated", "listener", "module"]
