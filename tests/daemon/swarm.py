# SPDX-License-Identifier: MIT
"""Many client connections in one thread, over one epoll set.

Swarm.open() makes clients, Swarm.run() moves their bytes for a while or until
something has come true. What a client got stands in its replies, its times in
seconds of time.monotonic().
"""
import errno
import os
import select
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "wire"))
import wire  # noqa: E402


def address(number):
    """A loopback address for each client: one address may hold only a share
    of the memory for contents."""
    return "127.1.%d.%d" % (number // 200, number % 200 + 1)


class Client:
    """`refused`: the connect failed. `broken`: reset, or no reply at all."""

    def __init__(self, number):
        self.number, self.out, self.buf = number, b"", b""
        self.replies, self.sock = [], None
        self.opened = time.monotonic()
        self.sent_at = self.replied_at = self.closed_at = None
        self.asked_at = self.asked_before = None    # times of send() calls
        self.refused = self.broken = self.reading = False
        self.received = 0

    @property
    def open(self):
        return self.sock is not None and self.closed_at is None

    def statuses(self):
        return [r.status for r in self.replies]


class Swarm:
    def __init__(self, target):
        self.target, self.clients, self.by_file = target, [], {}
        self.epoll = select.epoll()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self, count, data=b"", source=None, reading=True, buffer=0):
        """`count` clients that connect and then send `data`. `source(n)`
        gives the address to connect from; `reading` false: never reads."""
        made = []
        for _ in range(count):
            client = Client(len(self.clients))
            client.out, client.reading = data, reading
            client.asked_at = client.opened
            family = socket.AF_INET6 if ":" in self.target[0] \
                else socket.AF_INET
            sock = socket.socket(family, socket.SOCK_STREAM)
            sock.setblocking(False)
            if buffer:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            if source:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sock.bind((source(client.number), 0))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.sock = sock
            code = sock.connect_ex(self.target)
            if code not in (0, errno.EINPROGRESS):
                self._end(client, refused=True)
            else:
                self.by_file[sock.fileno()] = client
                self.epoll.register(sock.fileno(), self._events(client))
            self.clients.append(client)
            made.append(client)
        return made

    def _events(self, client):
        return ((select.EPOLLIN if client.reading else 0) |
                (select.EPOLLOUT if client.out else 0))

    def _watch(self, client):
        if client.open:
            self.epoll.modify(client.sock.fileno(), self._events(client))

    def _end(self, client, broken=False, refused=False):
        if client.closed_at is not None:
            return
        client.closed_at = time.monotonic()
        client.broken, client.refused = broken, refused
        self.by_file.pop(client.sock.fileno(), None)
        client.sock.close()

    def send(self, client, data):
        if client.open:
            client.asked_before = client.asked_at
            client.asked_at = time.monotonic()
            client.out += data
            self._write(client)
            self._watch(client)

    def _write(self, client):
        try:
            while client.out:
                sent = client.sock.send(client.out[:1 << 16])
                client.out = client.out[sent:]
                client.sent_at = time.monotonic()
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            client.out = b""

    def _read(self, client):
        try:
            data = client.sock.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._end(client, broken=True)
            return
        client.received += len(data)
        client.buf += data
        while client.buf:
            taken = wire.take_reply(client.buf, False, not data)
            if taken is None:
                break
            reply, client.buf = taken
            client.replies.append(reply)
            client.replied_at = time.monotonic()
        if not data:
            self._end(client, broken=bool(client.buf))

    def run(self, seconds, until=None, tick=None):
        """Moves bytes; ends after `seconds` or once until() is true, which
        it returns. tick() is called about every 20 ms."""
        end = time.monotonic() + seconds
        while True:
            if until and until():
                return True
            left = end - time.monotonic()
            if left <= 0:
                return bool(until and until())
            for number, events in self.epoll.poll(min(left, 0.02)):
                client = self.by_file.get(number)
                if client is None:
                    continue
                if events & select.EPOLLOUT:
                    self._write(client)
                    self._watch(client)
                if client.open and events & (select.EPOLLIN |
                                             select.EPOLLHUP |
                                             select.EPOLLERR):
                    if client.reading:
                        self._read(client)
                    elif events & (select.EPOLLHUP | select.EPOLLERR):
                        self._end(client, broken=True)
            if tick:
                tick()

    def fin(self, client):
        if client.open:
            try:
                client.sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass

    def drop(self, client, reset=False):
        """Closes on our side, by a reset when asked."""
        if client.open:
            if reset:
                client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                       struct.pack("ii", 1, 0))
            self._end(client)

    def close(self):
        for client in self.clients:
            self.drop(client)
        self.epoll.close()
